//! What a time loop does besides its stencil: output every so many steps, counts of time, reductions, tests.
//!
//! A step of the loop is *quiet* if nothing but its stencil can be seen of it: conditions for output do not hold, the loop
//! goes on, and what else it computes is computed anew in the next step. Steps in a row of which all but the last are quiet
//! run in tiles; the program's own text does everything else, between them. How many there are is found out by running what
//! decides about it, the *round*, on copies of the few scalars that it counts in.
//!
//! Where the stencil's statements follow each other, they are replaced (`last_as_written` is not set), and the others run
//! around them. Where reductions stand among them, the last step runs as it is written.

mod control;
mod flow;
mod kinds;
mod names;
mod test;

pub use test::Test;

use super::refusal::Result;
use super::time::{Found, Loop};
use crate::ast::{CType, Expr, Stmt, StmtKind, Variable};
use crate::codes;
use crate::parse::Region;
use crate::text::type_text;
use control::Controls;
use kinds::{Kind, Step};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::ops::Range;

/// How steps are taken together.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// The statements of the body that the tiled loops stand for, or before which they are put.
    pub cut: Span,
    /// The same in the preprocessed text.
    pub tokens: Range<usize>,
    /// Whether the last step runs as it is written: `cut` is the whole body then.
    pub last_as_written: bool,
    /// Whether the body stands in braces.
    pub in_braces: bool,
    /// The scalars that a round counts in, and their types.
    pub scalars: Vec<(String, String)>,
    /// What decides whether the next step is quiet, in order, from the cut to the cut.
    pub round: Vec<Control>,
    /// The time index of the first step, as C.
    pub first: String,
    /// Tests of maxima, in every step.
    pub tests: Vec<Test>,
    /// Expressions of the round, which must not read what the stencil computes.
    pub(crate) asked: Vec<Expr>,
}

/// A part of a round, as C.
#[derive(Debug, Clone, PartialEq)]
pub enum Control {
    /// A statement that counts.
    Count(String),
    /// A scalar of the body: type, name and value.
    Let(String, String, String),
    /// Output that reads scalars of the round only.
    Say(String),
    /// If this holds, the step is not quiet.
    Stop(String),
}

/// A body without its observations.
pub(super) struct Split {
    /// The region, which knows what the tests need.
    pub region: Region,
    /// The stencil's statements.
    pub body: Stmt,
    pub observed: Observed,
    /// The name of the time index, its type and what it counts by.
    pub index: (String, String, i64),
}

/// The name of the time index where the program has none.
pub(super) const STEP: &str = "tw_t";

/// Takes the observations out of a time loop; `None` if there are none.
pub(super) fn split(region: &Region, found: &Found<'_>) -> Result<Option<Split>> {
    split_without(region, found, &[])
}

/// The same, without some comparisons that need no test.
fn split_without(own: &Region, found: &Found<'_>, without: &[Expr]) -> Result<Option<Split>> {
    let list: &[Stmt] = match &found.body.kind {
        StmtKind::Block(list) => list,
        _ => std::slice::from_ref(found.body),
    };
    let mut region = own.clone();
    if let Loop::For(source) = found.source
        && let Some(StmtKind::Declaration(own)) = source.start.as_ref().map(|start| &start.kind)
    {
        region.variables.extend(own.iter().map(|one| (one.name.clone(), one.clone())));
    }
    let (tested, tests) = test::find(&mut region, found, list, without);
    let step = Step::new(&region, found, list, &tested, &tests);
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
            && kinds::calls_unknown(&region, expr)
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
    let last_as_written = !step.may_be_replaced(&region, list, first, last);
    let cut = if last_as_written { 0..list.len() } else { first..last + 1 };
    if last_as_written {
        flow::check(&region, found, list, &step)?;
        region.used_behind.clear();
    }
    let round = Controls::new(&region, found, list, &step, (cut.clone(), last_as_written), &tests)?;
    let Controls { scalars, round, first, asked, used, .. } = round;
    let unused: Vec<Expr> =
        tests.iter().map(|test| &test.stops).filter(|stops| !used.contains(stops)).cloned().collect();
    if !unused.is_empty() {
        return split_without(own, found, &[without, unused.as_slice()].concat());
    }
    let Some((cut, tokens)) = place(&region, found, list, cut) else { return Ok(None) };
    let mut body = Stmt {
        kind: StmtKind::Block(step.stencil.iter().flatten().cloned().collect()),
        span: found.body.span.clone(),
    };
    let index = match &step.index {
        Some(index) => (index.name.clone(), type_of(&region.variables[&index.name]), index.by),
        None => (STEP.to_owned(), "long".to_owned(), 1),
    };
    test::name_bits(&mut body, &tests, &index);
    if step.index.is_none() {
        let ctype = CType::Integer { name: "long".to_owned(), unsigned: false };
        test::declare(&mut region, STEP, ctype, &found.head());
    }
    let observed = Observed {
        cut,
        tokens,
        last_as_written,
        in_braces: matches!(found.body.kind, StmtKind::Block(_)),
        scalars,
        round,
        first,
        tests,
        asked,
    };
    Ok(Some(Split { region, body, observed, index }))
}

/// From the end of the statement before to the end of the last one: pragmas between belong to it.
fn place(
    region: &Region,
    found: &Found<'_>,
    list: &[Stmt],
    cut: Range<usize>,
) -> Option<(Span, Range<usize>)> {
    let tokens = |span: &Span| {
        let own = region.places.iter().filter(|(other, _)| other == span).map(|(_, tokens)| tokens);
        own.max_by_key(|tokens| tokens.len()).cloned()
    };
    let (first, last) = (&list[cut.start], &list[cut.end - 1]);
    let (end, tokens_end) = (last.span.end, tokens(&last.span)?.end);
    let block = matches!(found.body.kind, StmtKind::Block(_));
    let (start, tokens_start) = match cut.start.checked_sub(1).map(|before| &list[before]) {
        Some(before) => (before.span.end, tokens(&before.span)?.end),
        None if block => (found.body.span.start + 1, tokens(&found.body.span)?.start + 1),
        None => (first.span.start, tokens(&first.span)?.start),
    };
    (start < end && tokens_start < tokens_end).then_some((start..end, tokens_start..tokens_end))
}

fn type_of(variable: &Variable) -> String {
    type_text(&variable.ctype)
}
