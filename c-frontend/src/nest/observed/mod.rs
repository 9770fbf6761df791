//! What a time loop does besides its stencil: output every so many steps, counts of time, reductions, tests.
//!
//! A step of the loop is *quiet* if nothing but its stencil can be seen of it: conditions for output do not hold, the loop
//! goes on, and what else it computes is computed anew in the next step. Steps in a row of which all but the last are quiet
//! run in tiles; the program's own text does everything else, between them. How many there are is found out by running what
//! decides about it, the *round*, on copies of the few scalars that it counts in.
//!
//! Where the stencil's statements follow each other, they are replaced (`last_as_written` is not set), and the others run
//! around them. Where reductions stand among them, the last step runs as it is written.

mod alone;
mod bits;
mod branch;
mod control;
mod flag;
mod flat;
mod flow;
mod grows;
mod index;
mod kinds;
mod left;
mod maximum;
mod names;
mod needed;
pub(super) mod parts;
mod residue;
mod rows;
mod shown;
mod signs;
mod test;
mod unrolled;
mod values;
mod waves;

pub(super) use alone::{copy_among, in_the_way, points_between, split_alone, statement_around};
pub(crate) use parts::STEP;
pub use parts::{Ahead, Control, Observed, Test, WaveArray, WaveLoop, Waves};
pub(super) use shown::writes_points;

use super::loops::TimeLoop;
use super::refusal::Result;
use super::same_names;
use super::time::{Found, Loop};
use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, UnaryOp};
use crate::codes;
use crate::nest::scalars::{assigned, assigned_within, declared};
use crate::parse::Region;
use crate::text::type_text;
use control::Controls;
use kinds::{Kind, Step};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::collections::HashSet;
use std::ops::Range;

/// A body without its observations.
pub(super) struct Split {
    /// The region, which knows what the tests need.
    pub region: Region,
    /// The stencil's statements.
    pub body: Stmt,
    pub observed: Observed,
    /// The name of the time index, its type and what it counts by.
    pub index: (String, String, i64),
    /// The variable that chooses the level, of arrays that keep all of them.
    pub level: Option<String>,
}

impl Split {
    /// The time loop of blocks of steps.
    pub fn time_loop(&self, found: &Found<'_>) -> TimeLoop {
        let (name, type_name, step) = self.index.clone();
        TimeLoop {
            name,
            type_name,
            low: self.observed.first.clone(),
            high: String::new(),
            step,
            declared: true,
            head: found.head(),
            span: found.span.clone(),
            bounds: None,
        }
    }
}

/// The region with what the head of its time loop declares.
fn with_index(own: &Region, found: &Found<'_>) -> Region {
    let mut region = own.clone();
    if let Loop::For(source) = found.source
        && let Some(StmtKind::Declaration(own)) = source.start.as_ref().map(|start| &start.kind)
    {
        region.variables.extend(own.iter().map(|one| (one.name.clone(), one.clone())));
    }
    region
}

/// Takes the observations out of a time loop; `None` if there are none.
pub(super) fn split(region: &Region, found: &Found<'_>) -> Result<Option<Split>> {
    let mut list = flat::statements(region, found.body);
    same_names::given(&mut list);
    split_without(region, found, &Body { list: &list, whole: &list, branches: &[] }, &[])
}

/// The same where loops over colours are taken apart; `None` if there are none, or that does not help.
pub(super) fn split_unrolled(region: &Region, found: &Found<'_>) -> Option<Split> {
    let whole = flat::statements(region, found.body);
    let head: Vec<&Expr> = match found.source {
        Loop::For(source) => source.step.iter().chain(&source.condition).collect(),
        Loop::While(source) => vec![&source.condition],
    };
    let mut list = Vec::new();
    for (at, stmt) in whole.iter().enumerate() {
        let others = whole.iter().enumerate().filter(|(other, _)| *other != at);
        let names = others.flat_map(|(_, stmt)| names::within(stmt));
        match unrolled::rounds(
            region,
            stmt,
            &names.chain(head.iter().flat_map(|expr| names::of(expr))).collect(),
        ) {
            Some(rounds) => list.extend(rounds),
            None => list.push(stmt.clone()),
        }
    }
    same_names::given(&mut list);
    let body = Body { list: &list, whole: &list, branches: &[] };
    if list.len() > whole.len() { split_without(region, found, &body, &[]).ok()? } else { None }
}

/// The same where loops run under conditions; of the branches with loops the deeper ones, or, for `less`, the others. `None` if
/// there are none, or what they do does not let steps run together.
pub(super) fn split_branches(region: &Region, found: &Found<'_>, less: bool) -> Option<Split> {
    let whole = flat::statements(region, found.body);
    let (list, branches) = branch::apart(region, &whole, less)?;
    split_without(region, found, &Body { list: &list, whole: &whole, branches: &branches }, &[]).ok()?
}

/// The statements of a time loop's body.
struct Body<'a> {
    list: &'a [Stmt],
    /// As they are written: branches are not apart.
    whole: &'a [Stmt],
    /// Where in the list the conditions of branches stand that the stencil does not take.
    branches: &'a [usize],
}

/// The same, without some comparisons that need no test.
fn split_without(
    own: &Region,
    found: &Found<'_>,
    statements: &Body<'_>,
    without: &[Expr],
) -> Result<Option<Split>> {
    let Body { list, whole, branches } = *statements;
    let mut region = with_index(own, found);
    let (tested, tests) = test::find(&mut region, found, list, without);
    let step = Step::new(&region, found, list, &tested, &tests);
    // What arrays are computed of is no test alone: its value would be that of a step which has not run.
    let needed = tests.iter().filter(|test| step.needed.contains(&test.of));
    let needed: Vec<Expr> = needed.map(|test| test.stops.clone()).collect();
    if !needed.is_empty() {
        return split_without(own, found, statements, &[without, needed.as_slice()].concat());
    }
    if let Some(stmt) = list.iter().find(|stmt| kinds::keeps_each_step(&step, found, stmt)) {
        return Err(Box::new(
            Diagnostic::limitation(
                codes::OBSERVED,
                stmt.span.clone(),
                "this keeps a value of every time step",
            )
            .note("steps run together in tiles, of which the last one's values are there")
            .hint("keep one every so many steps: `if (t % 10 == 0) seen[t / 10] = ..`"),
        ));
    }
    let plain = step.kinds.iter().all(|kind| matches!(kind, Kind::Stencil { whole: true }));
    if plain && found.counted() {
        return Ok(None);
    }
    let computes = |kind: &Kind| matches!(kind, Kind::Stencil { .. });
    let (Some(first), Some(last)) =
        (step.kinds.iter().position(computes), step.kinds.iter().rposition(computes))
    else {
        return Ok(None);
    };
    for (kind, stmt) in step.kinds.iter().zip(list) {
        if let (Kind::Stencil { .. }, StmtKind::Expr(expr)) = (kind, &stmt.kind)
            && names::calls_unknown(&region, expr)
        {
            return Err(Box::new(
                Diagnostic::limitation(codes::OBSERVED, stmt.span.clone(), "this runs between every two time steps")
                    .note("what a function does that is called in each of them is not known; steps run together in tiles")
                    .hint("call it every so many steps: `if (t % 100 == 0) ..`"),
            ));
        }
    }
    let mut counted: Vec<&String> = step.counts.intersection(&step.needed).collect();
    counted.retain(|name| step.index.as_ref().is_none_or(|index| index.name != **name));
    if let Some(name) = counted.first() {
        let message =
            format!("the stencil needs `{name}`, which does not just count by a constant in each time step");
        return Err(Box::new(Diagnostic::limitation(codes::TIME_LOOP, found.head(), message).hint(
            "let each step add a constant to one integer, once, and assign it nowhere else in the loop",
        )));
    }
    // Where a branch is not taken, nothing is known of what it leaves.
    let known = |at: &usize| step.kinds[*at] == Kind::Observation;
    if !branches.iter().all(known) || (!branches.is_empty() && !step.skipped.is_disjoint(&region.used_behind))
    {
        return Ok(None);
    }
    let last_as_written = !branches.is_empty() || !step.may_be_replaced(&region, list, first, last);
    let cut = if last_as_written { 0..list.len() } else { first..last + 1 };
    if last_as_written {
        flow::check(&region, found, (list, whole), &step)?;
        region.used_behind.clear();
    }
    let round = Controls::new(&region, found, list, &step, (cut.clone(), last_as_written), &tests)?;
    let Controls { scalars, round, first, asked, used, .. } = round;
    let unused: Vec<Expr> =
        tests.iter().map(|test| &test.stops).filter(|stops| !used.contains(stops)).cloned().collect();
    if !unused.is_empty() {
        return split_without(own, found, statements, &[without, unused.as_slice()].concat());
    }
    let steady = |value: &Expr| keeps(found, list, value);
    let Some((cut, tokens)) = place(&region, found, list, cut, &steady) else { return Ok(None) };
    let mut body = Stmt {
        kind: StmtKind::Block(step.stencil.iter().flatten().cloned().collect()),
        span: found.body.span.clone(),
    };
    let index = match &step.index {
        Some(index) => (index.name.clone(), type_text(&region.variables[&index.name].ctype), index.by),
        None => (STEP.to_owned(), "long".to_owned(), 1),
    };
    bits::name_bits(&mut body, &tests, &index);
    if step.index.is_none() {
        let ctype = CType::Integer { name: "long".to_owned(), unsigned: false };
        region.declare(STEP, ctype, &found.head());
    }
    let unseen = branches.is_empty() && computes_all(list, &step) && unseen(&region, list, &step, &tests);
    let observed = Observed {
        cut,
        tokens,
        last_as_written,
        alone: false,
        shown: false,
        ahead: Ahead::default(),
        residue: String::new(),
        waves: None,
        in_braces: in_braces(found, list),
        scalars,
        round,
        first,
        tests,
        unseen,
        asked,
    };
    Ok(Some(Split { region, body, observed, index, level: None }))
}

/// Whether a value is the same in all steps: it names nothing that the time loop assigns or declares, and no members.
fn keeps(found: &Found<'_>, list: &[Stmt], value: &Expr) -> bool {
    let mut changed: HashSet<String> = declared(list);
    for stmt in list {
        changed.extend(assigned_within(stmt).into_iter().map(|(name, _)| name));
        changed.extend(assigned(stmt).1);
        changed.extend(names::indices(stmt));
    }
    if let Loop::For(source) = found.source {
        changed.extend(source.step.iter().flat_map(names::of));
    }
    let mut members = false;
    value.walk(&mut |part| members |= matches!(part.kind, ExprKind::Member(..)));
    !members && names::of(value).is_disjoint(&changed)
}

/// Whether each step computes all of its stencil: one that `break` or `continue` ends before leaves what an earlier one has computed.
fn computes_all(list: &[Stmt], step: &Step) -> bool {
    let behind = step.stencil.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    list[..behind].iter().all(|stmt| {
        let mut goes_on = true;
        stmt.walk(&mut |part| goes_on &= !matches!(part.kind, StmtKind::Return(_) | StmtKind::Other(..)));
        goes_on
    })
}

/// Whether nothing in the body but the stencil looks at memory.
fn unseen(region: &Region, list: &[Stmt], step: &Step, tests: &[Test]) -> bool {
    let own = |stmt: &Stmt| {
        let is_own = |array: &Expr| match &array.kind {
            ExprKind::Name(name) => tests.iter().any(|test| test.array == *name || test.bits == *name),
            _ => false,
        };
        let mut count = 0;
        stmt.walk_expressions(&mut |part| {
            count += usize::from(match &part.kind {
                ExprKind::Index(array, _) => !is_own(array),
                ExprKind::Unary(UnaryOp::Dereference | UnaryOp::Address, _) | ExprKind::Member(..) => true,
                ExprKind::Other(kind, _) => !kind.ends_with("string") && !kind.ends_with("string literal"),
                _ => false,
            });
        });
        count
    };
    // Several tests may write what they look at several times, which would hide other uses.
    tests.len() <= 1
        && list.iter().zip(&step.stencil).all(|(stmt, kept)| {
            let kept = kept.as_ref().map_or(0, own);
            let mut passes = false;
            stmt.walk_expressions(&mut |part| {
                if let ExprKind::Call(_, arguments) = &part.kind {
                    passes |= arguments.iter().flat_map(names::of).any(|name| {
                        region.variables.get(&name).is_none_or(|one| {
                            !matches!(one.ctype, CType::Integer { .. } | CType::Floating(_))
                        })
                    });
                }
            });
            let mut runs = false;
            stmt.walk_expressions(&mut |part| {
                runs |= matches!(part.kind, ExprKind::Call(..)) && names::calls_unknown(region, part);
            });
            stmt.walk(&mut |part| {
                runs |= matches!(&part.kind, StmtKind::Other(kind, _) if !kind.starts_with("break"))
            });
            kept >= own(stmt) && !passes && !runs
        })
}

/// Whether the body is written in braces; a call without any becomes a block, too, which begins where its statements do.
fn in_braces(found: &Found<'_>, list: &[Stmt]) -> bool {
    let before = |first: &Stmt| found.body.span.start < first.span.start;
    matches!(found.body.kind, StmtKind::Block(_)) && list.first().is_none_or(before)
}

/// From the end of the statement before to the end of the last one: pragmas between belong to it. Pointers that are written out
/// stay before it, where the rest of the step may name them, if they are steady.
fn place(
    region: &Region,
    found: &Found<'_>,
    list: &[Stmt],
    cut: Range<usize>,
    steady: &dyn Fn(&Expr) -> bool,
) -> Option<(Span, Range<usize>)> {
    let tokens = |span: &Span| {
        let own = region.places.iter().filter(|(other, _)| other == span).map(|(_, tokens)| tokens);
        own.max_by_key(|tokens| tokens.len()).cloned()
    };
    let (first, last) = (&list[cut.start], &list[cut.end - 1]);
    let (end, tokens_end) = (last.span.end, tokens(&last.span)?.end);
    let block = in_braces(found, list);
    let (mut start, mut tokens_start) = match cut.start.checked_sub(1).map(|before| &list[before]) {
        Some(before) => (before.span.end, tokens(&before.span)?.end),
        None if block => (found.body.span.start + 1, tokens(&found.body.span)?.start + 1),
        None => (first.span.start, tokens(&first.span)?.start),
    };
    for one in &region.written_out {
        let (span, value) = (&one.declaration, one.pointer.value.as_ref());
        if start <= span.start && span.end <= first.span.start && value.is_some_and(steady) {
            (start, tokens_start) = (span.end, tokens(span)?.end);
        }
    }
    (start < end && tokens_start < tokens_end).then_some((start..end, tokens_start..tokens_end))
}
