//! Steps that run one at a time: where something must happen between every two of them, the loops over space of one step are
//! tiled alone.
//!
//! Statements of the body that follow each other and compute arrays over space are replaced; all others stay the program's
//! own text, which runs around them in every step, with arrays that hold what the original's would hold. So nothing needs to
//! be known of the others but that they do not read what the replaced ones leave in scalars.

use super::kinds::{Kind, Step};
use super::parts::{Ahead, Observed, STEP};
use super::residue::Residue;
use super::{Split, flat, flow, in_braces, names, needed, place, residue, waves, with_index};
use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, Variable};
use crate::codes;
use crate::nest::levels::keeps_levels;
use crate::nest::refusal::calls;
use crate::nest::scalars::{assigned, declared};
use crate::nest::time::Found;
use crate::parse::Region;
use crate::text::{c_text, type_text};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The statements of one step that are tiled alone, without those at some places; `None` if there are none.
pub fn split_alone(own: &Region, found: &Found<'_>, without: &[Span]) -> Option<Split> {
    let list = &flat::statements(own, found.body);
    let mut region = with_index(own, found);
    let step = Step::new(&region, found, list, list, &[]);
    let kept = |at: usize| {
        !without.contains(&list[at].span)
            && matches!(step.kinds[at], Kind::Stencil { .. })
            && computes(&region, &list[at])
            && flow::read_around(&region, found, list, at, &step).is_none()
    };
    // Of a loop that leaves something in scalars, too, these are computed behind it.
    let scalar = |at: usize| {
        !without.contains(&list[at].span)
            && computes(&region, &list[at])
            && match &list[at].kind {
                StmtKind::For(_) => true,
                StmtKind::Expr(_) | StmtKind::Declaration(_) => assigned(&list[at]).0.is_empty(),
                _ => false,
            }
    };
    // Statements of one call stand at one place, and stay together.
    let mut runs: Vec<Run> = Vec::new();
    let mut start = 0;
    while start < list.len() {
        let end = (start..list.len()).find(|at| list[*at].span != list[start].span).unwrap_or(list.len());
        let (group, hidden) = (start..end, is_hidden(list, &(start..end)));
        let goes_on = |run: &Run| run.goes_on(&list[group.clone()]);
        if hidden && group.clone().all(kept) {
            match runs.last_mut() {
                Some(run) if run.range.end == start && goes_on(run) => run.range.end = end,
                _ => runs.push(Run { range: group, residue: Residue::default() }),
            }
        } else if hidden && group.clone().all(|at| kept(at) || scalar(at)) {
            // With those before it, or by itself.
            let before = runs.last().filter(|run| run.range.end == start && run.residue.behind.is_empty());
            let from = before.map_or(start, |run| run.range.start);
            let found = [from, start].into_iter().find_map(|from| {
                let marked: Vec<bool> = (from..end).map(|at| !kept(at)).collect();
                let moved = list[from..end].iter().any(|stmt| moves_pointers(&region, stmt));
                let residue = residue::around(&region, &list[from..end], &marked).filter(|_| !moved)?;
                Some(Run { range: from..end, residue })
            });
            runs.extend(found.filter(|run| !run.residue.is_empty()));
        }
        start = end;
    }
    let loops = |run: &Run| list[run.range.clone()].iter().filter(|stmt| reads_around(stmt)).count();
    let Run { range: run, residue } =
        runs.into_iter().rev().filter(|run| loops(run) > 0).max_by_key(loops)?;
    let run = if residue.is_empty() { without_points(list, run) } else { run };
    // The rest of the step stays the program's text, in which elements of small arrays have no names.
    let used: HashSet<String> = list[run.clone()].iter().flat_map(names::within).collect();
    if list[..run.start].iter().any(|stmt| declares_elements(stmt, &used)) {
        return None;
    }
    let needed = needed::needed(&region, list[run.clone()].iter(), &[]);
    let part = |at: usize| match kept(at) {
        true => Some(list[at].clone()),
        false => needed::stripped(&region, &list[at], &needed),
    };
    let parts: Vec<Option<Stmt>> = run.clone().map(part).collect();
    let in_turn = region.own_arrays.is_empty()
        && region.handed.is_empty()
        && run.clone().all(|at| list.iter().filter(|other| other.span == list[at].span).count() == 1);
    let ahead_in_waves = || {
        let rest: Vec<&Stmt> = list[..run.start].iter().chain(&list[run.end..]).collect();
        let leaves: Vec<bool> = run.clone().map(|at| !kept(at)).collect();
        waves::find(own, &region, found, (&rest, &list[run.clone()]), &parts, &leaves, run.len())
    };
    let mut waves = if in_turn { ahead_in_waves() } else { None };
    let (mut run, mut residue) = (run, residue);
    // Loops that come later, too, where the rest of a step is to touch no array: by themselves they run as they are written.
    if in_turn
        && waves.is_none()
        && let Some(more) = Behind::find(&region, list, &run)
    {
        let rest: Vec<&Stmt> =
            list[..run.start].iter().chain(&list[more.end..]).chain(&more.scalars).collect();
        let loops = [&list[run.clone()], more.loops.as_slice()].concat();
        let more_leave: Vec<bool> = more.loops.iter().map(|stmt| !waves::left_by(stmt).is_empty()).collect();
        let needed = needed::needed(&region, more.loops.iter(), &[]);
        let more_parts = more.loops.iter().zip(&more_leave).map(|(stmt, leaves)| match leaves {
            true => needed::stripped(&region, stmt, &needed),
            false => Some(stmt.clone()),
        });
        let parts: Vec<Option<Stmt>> = parts.iter().cloned().chain(more_parts).collect();
        let leaves: Vec<bool> = run.clone().map(|at| !kept(at)).chain(more_leave).collect();
        waves = waves::find(own, &region, found, (&rest, &loops), &parts, &leaves, run.len());
        let text = |list: &[Stmt]| {
            let mut text = String::new();
            list.iter().try_for_each(|stmt| residue::write(stmt, &mut text)).map(|()| text)
        };
        match (&mut waves, text(&list[run.end..more.end]), text(&more.scalars)) {
            (Some(waves), Some(all), Some(scalars)) => {
                residue.behind.push_str(&all);
                waves.behind = scalars;
                run.end = more.end;
            }
            _ => waves = None,
        }
    }
    let computed: Vec<Stmt> = parts.into_iter().flatten().collect();
    // What the body declares is known where the loops stand, but not its value.
    for stmt in &list[..run.start] {
        if let StmtKind::Declaration(own) = &stmt.kind {
            region
                .variables
                .extend(own.iter().map(|one| (one.name.clone(), Variable { value: None, ..one.clone() })));
        }
    }
    // Within one step, a level is an array like any other.
    let keeps = |name: &str| keeps_levels(found.body, name).is_some();
    let level = step.index.as_ref().map(|index| index.name.clone()).filter(|name| keeps(name));
    let own_index = step.index.as_ref().filter(|_| level.is_none());
    let index = match own_index {
        Some(index) => (index.name.clone(), type_text(&region.variables.get(&index.name)?.ctype), index.by),
        None => (STEP.to_owned(), "long".to_owned(), 1),
    };
    if own_index.is_none() {
        let ctype = CType::Integer { name: "long".to_owned(), unsigned: false };
        region.declare(STEP, ctype, &found.head());
    }
    let mut moved = Vec::new();
    let is_number = |one: &&Variable| matches!(one.ctype, CType::Integer { .. } | CType::Floating(_));
    let number = |name: &String| region.variables.get(name).filter(is_number);
    for name in &residue.moved {
        moved.push((name.clone(), type_text(&number(name)?.ctype)));
    }
    let (cut, tokens) = place(&region, found, list, run.clone(), &|_| true)?;
    let body = Stmt { kind: StmtKind::Block(computed), span: found.body.span.clone() };
    let observed = Observed {
        unseen: false,
        cut,
        tokens,
        last_as_written: false,
        in_braces: in_braces(found, list),
        scalars: Vec::new(),
        round: Vec::new(),
        first: if own_index.is_some() { index.0.clone() } else { "0".to_owned() },
        tests: Vec::new(),
        asked: Vec::new(),
        alone: true,
        shown: false,
        ahead: Ahead { text: residue.ahead, moved },
        residue: residue.behind,
        waves: waves.filter(|_| level.is_none()),
    };
    Some(Split { region, body, observed, index, level })
}

/// Whether a statement declares an element of a small array, `row_0` of `double row[3]`, that is used.
fn declares_elements(stmt: &Stmt, used: &HashSet<String>) -> bool {
    let StmtKind::Declaration(list) = &stmt.kind else { return false };
    let is_element = |one: &Variable| {
        let number = one.name.rsplit_once('_').map(|(_, number)| number);
        one.span.len() != one.name.len()
            && number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    list.iter().any(|one| used.contains(&one.name) && is_element(one))
}

/// The place of the statement of a time loop's body that a place lies in, which may be that of a function that it calls; but
/// for some that are known.
pub fn statement_around(region: &Region, found: &Found<'_>, inner: &Span, without: &[Span]) -> Option<Span> {
    let list = flat::statements(region, found.body);
    let around = |span: &Span| span.start <= inner.start && inner.end <= span.end;
    let holds = |stmt: &&Stmt| {
        let mut holds = around(&stmt.span);
        stmt.walk_expressions(&mut |part| holds |= part.span == *inner);
        stmt.walk(&mut |part| holds |= part.span == *inner);
        holds
    };
    let spans = list.iter().filter(holds).map(|stmt| stmt.span.clone());
    spans.into_iter().find(|span| !without.contains(span))
}

/// The place of the first copy of an array over space among the statements that are tiled together.
pub fn copy_among(region: &Region, found: &Found<'_>, without: &[Span]) -> Option<Span> {
    let split = split_alone(region, found, without)?;
    let StmtKind::Block(list) = &split.body.kind else { return None };
    let copy = |stmt: &&Stmt| matches!(stmt.kind, StmtKind::For(_)) && !reads_around(stmt);
    list.iter().find(copy).map(|stmt| stmt.span.clone())
}

/// What keeps the loops over space of a step from being tiled alone: a call in them that is more than a value, or a scalar
/// that they leave to the others.
pub fn in_the_way(region: &Region, found: &Found<'_>) -> Option<Diagnostic> {
    let list = &flat::statements(region, found.body);
    let step = Step::new(region, found, list, list, &[]);
    let loops = |stmt: &Stmt| matches!(stmt.kind, StmtKind::For(_)) && !assigned(stmt).0.is_empty();
    for at in (0..list.len()).filter(|at| loops(&list[*at])) {
        let mut call = None;
        list[at].walk_expressions(&mut |expr| {
            if let ExprKind::Call(function, _) = &expr.kind
                && !names::only_reads(region, expr)
            {
                call.get_or_insert((format!("`{}`", c_text(function, &|_| None)), expr.span.clone()));
            }
        });
        if let Some((name, place)) = call {
            return Some(calls(&name, &place));
        }
        if let Some((name, place)) = flow::read_around(region, found, list, at, &step) {
            let message =
                format!("`{name}` is read here between two time steps, and loops over space assign it");
            let mut reason = Diagnostic::limitation(codes::OBSERVED, place, message)
                .related(list[at].span.clone(), "these loops")
                .note("tiles compute points in another order, and leave no scalars of the last one");
            if let Some((other, place)) = carried_into(&list[at], &name) {
                reason = reason.related(place, "from point to point").note(format!(
                    "`{name}` is computed with `{other}`, which changes from point to point, too"
                ));
            }
            return Some(reason.hint(format!("compute `{name}` in a loop of its own")));
        }
    }
    None
}

/// A scalar that loops read before they assign it, of which they compute another one, and where they assign it.
fn carried_into(loops: &Stmt, name: &str) -> Option<(String, Span)> {
    // Of which names each scalar is computed.
    let mut sources: HashMap<String, HashSet<String>> = HashMap::new();
    let (mut read, mut carried) = (HashSet::new(), Vec::new());
    let indices = names::indices(loops);
    loops.walk_expressions(&mut |part| match &part.kind {
        ExprKind::Assign(operator, target, value) => {
            let ExprKind::Name(target_name) = &target.kind else { return };
            if (operator.is_some() || read.contains(target_name)) && !indices.contains(target_name) {
                carried.push((target_name.clone(), part.span.clone()));
            }
            // What stands on the left is not read first.
            let own = sources.entry(target_name.clone()).or_default();
            value.walk(&mut |inner| {
                if let ExprKind::Name(other) = &inner.kind {
                    own.insert(other.clone());
                }
            });
            read.extend(own.iter().cloned());
        }
        ExprKind::Binary(_, a, b) => {
            for side in [a, b] {
                if let ExprKind::Name(other) = &side.kind
                    && !sources.contains_key(other)
                {
                    read.insert(other.clone());
                }
            }
        }
        _ => {}
    });
    let (mut open, mut seen) = (vec![name.to_owned()], HashSet::new());
    while let Some(one) = open.pop() {
        if seen.insert(one.clone()) {
            open.extend(sources.get(&one).into_iter().flatten().cloned());
        }
    }
    carried.into_iter().find(|(other, _)| other != name && seen.contains(other))
}

/// Statements of a step that follow each other and are tiled, and what is computed around them.
struct Run {
    range: Range<usize>,
    residue: Residue,
}

/// Statements behind a run: loops over space, which find no scalar that the run leaves, and others that neither find nor leave
/// anything of theirs.
struct Behind {
    loops: Vec<Stmt>,
    scalars: Vec<Stmt>,
    /// Where the last loop ends.
    end: usize,
}

impl Behind {
    fn find(region: &Region, list: &[Stmt], run: &Range<usize>) -> Option<Behind> {
        let from = run.end;
        let end = from + 1 + list[from..].iter().rposition(|stmt| matches!(stmt.kind, StmtKind::For(_)))?;
        let alone = |stmt: &Stmt| list.iter().filter(|other| other.span == stmt.span).count() == 1;
        let (loops, scalars): (Vec<Stmt>, Vec<Stmt>) =
            list[from..end].iter().cloned().partition(|stmt| matches!(stmt.kind, StmtKind::For(_)));
        let left: HashSet<String> = list[run.clone()].iter().flat_map(waves::left_by).collect();
        let free = |stmt: &Stmt| names::within(stmt).is_disjoint(&left);
        let fits = list[from..end].iter().all(|stmt| alone(stmt) && computes(region, stmt))
            && loops.iter().all(free)
            && scalars.iter().all(|stmt| {
                matches!(stmt.kind, StmtKind::Expr(_))
                    && assigned(stmt).0.is_empty()
                    && !moves_pointers(region, stmt)
                    && loops.iter().all(|other| {
                        names::within(other).is_disjoint(&assigned(stmt).1)
                            && names::within(stmt).is_disjoint(&names::indices(other))
                            && names::within(stmt).is_disjoint(&waves::left_by(other))
                    })
            });
        fits.then_some(Behind { loops, scalars, end })
    }
}

impl Run {
    /// Whether it may go on with statements that leave nothing else to be done: what is computed behind it must find what it
    /// finds now, and what is computed before it is no value of the loops.
    fn goes_on(&self, next: &[Stmt]) -> bool {
        let moved: HashSet<String> = self.residue.moved.iter().cloned().collect();
        let free = |stmt: &Stmt| {
            assigned(stmt).1.is_subset(&names::indices(stmt)) && names::within(stmt).is_disjoint(&moved)
        };
        self.residue.behind.is_empty() && (self.residue.ahead.is_empty() || next.iter().all(free))
    }
}

/// Whether a statement assigns something other than numbers and elements.
fn moves_pointers(region: &Region, stmt: &Stmt) -> bool {
    assigned(stmt).1.iter().any(|name| match region.variables.get(name) {
        Some(one) => !matches!(one.ctype, CType::Integer { .. } | CType::Floating(_)),
        None => !region.numbers.contains(name),
    })
}

/// Whether a statement computes elements of arrays and nothing that others must see happen.
fn computes(region: &Region, stmt: &Stmt) -> bool {
    let mut plain = true;
    stmt.walk(&mut |part| {
        plain &= !matches!(part.kind, StmtKind::While(_) | StmtKind::Return(_) | StmtKind::Other(..));
    });
    stmt.walk_expressions(&mut |expr| {
        if matches!(expr.kind, ExprKind::Call(..)) {
            plain &= names::only_reads(region, expr);
        }
    });
    plain
}

/// Without the assignments of single elements at either end: they take no time, and as sources they would need an array.
fn without_points(list: &[Stmt], mut run: Range<usize>) -> Range<usize> {
    while run.len() > 1 && is_point(list, run.end - 1) {
        run.end -= 1;
    }
    while run.len() > 1 && is_point(list, run.start) {
        run.start += 1;
    }
    run
}

/// The places of the statements that assign single elements.
pub fn points_between(region: &Region, found: &Found<'_>) -> Vec<Span> {
    let list = flat::statements(region, found.body);
    (0..list.len()).filter(|at| is_point(&list, *at)).map(|at| list[at].span.clone()).collect()
}

/// Whether a statement assigns a single element, alone at its place.
fn is_point(list: &[Stmt], at: usize) -> bool {
    let assigns = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Assign(_, target, _), .. }) => {
            !matches!(target.kind, ExprKind::Name(_))
        }
        _ => false,
    };
    let shared = |other: Option<usize>| {
        other.and_then(|other| list.get(other)).is_some_and(|other| other.span == list[at].span)
    };
    let alone = !shared(at.checked_sub(1)) && !shared(Some(at + 1));
    alone
        && match &list[at].kind {
            StmtKind::If(_, then, None) => assigns(then),
            _ => assigns(&list[at]),
        }
}

/// Whether nothing else has the names that the statements at one place declare: they are those of a call, or none.
fn is_hidden(list: &[Stmt], group: &Range<usize>) -> bool {
    let top: Vec<Stmt> = list[group.clone()]
        .iter()
        .filter(|stmt| matches!(stmt.kind, StmtKind::Declaration(_)))
        .cloned()
        .collect();
    let own = declared(&top);
    own.is_empty()
        || (0..list.len())
            .filter(|at| !group.contains(at))
            .all(|at| names::within(&list[at]).is_disjoint(&own))
}

/// Whether a loop over space computes with elements at other places than it assigns; copies of edges do not.
fn reads_around(stmt: &Stmt) -> bool {
    let StmtKind::For(source) = &stmt.kind else { return false };
    let (mut written, mut read) = (HashSet::new(), HashSet::new());
    let subscripts = |expr: &Expr, found: &mut HashSet<String>| {
        expr.walk(&mut |part| {
            if let ExprKind::Index(_, index) = &part.kind {
                found.insert(c_text(index, &|_| None));
            }
        });
    };
    let mut copies_only = true;
    source.body.walk_expressions(&mut |expr| match &expr.kind {
        ExprKind::Assign(combined, target, value) => {
            copies_only &= combined.is_none() && matches!(value.kind, ExprKind::Index(..));
            subscripts(target, &mut written);
            subscripts(value, &mut read);
        }
        ExprKind::Index(..) => subscripts(expr, &mut read),
        _ => {}
    });
    !copies_only && !written.is_empty() && !read.is_subset(&written)
}
