//! The time loop: which loop of the region it is, and its bounds.

use super::branches;
use super::counter::{Counter, counter};
use super::levels::{keeps_levels, shows_levels};
use super::loops::TimeLoop;
use super::refusal::{Result, limitation};
use super::targets::{holds_loops, indexes_all_targets, indexes_target};
use crate::ast::{CType, Expr, ForLoop, Stmt, StmtKind, WhileLoop};
use crate::codes;
use crate::parse::Region;
use crate::text::{c_text, without_parentheses};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;

/// A time loop as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Loop<'a> {
    For(&'a ForLoop),
    While(&'a WhileLoop),
}

/// Where the time loop of a region is.
pub(super) struct Found<'a> {
    pub source: Loop<'a>,
    pub body: &'a Stmt,
    /// The whole loop.
    pub span: Span,
    /// How it counts, or why that is not known.
    pub counter: Result<Counter>,
}

impl Found<'_> {
    /// From `for` to `)`, or the like.
    pub fn head(&self) -> Span {
        match self.source {
            Loop::For(source) => source.head.clone(),
            Loop::While(source) => source.head.clone(),
        }
    }

    /// Whether it counts up in a way that is known before it starts.
    pub fn counted(&self) -> bool {
        self.counter.is_ok()
    }
}

/// The time loop.
pub(super) fn find(region: &Region) -> Result<Found<'_>> {
    find_by(region, &indexes_target)
}

/// The time loop of steps that run one at a time: arrays may keep something of every step, as long as not all of them do,
/// or, with `levels`, each level is computed of earlier ones.
pub(super) fn find_alone(region: &Region, levels: bool) -> Result<Found<'_>> {
    find_by(region, &|body, name| {
        indexes_all_targets(body, name) && !(levels && keeps_levels(body, name).is_some())
    })
}

fn find_by<'r>(region: &'r Region, indexes: &dyn Fn(&Stmt, &str) -> bool) -> Result<Found<'r>> {
    let mut top = Vec::new();
    let mut open: Vec<&Stmt> = region.statements.iter().rev().collect();
    while let Some(stmt) = open.pop() {
        match &stmt.kind {
            StmtKind::Block(list) => open.extend(list.iter().rev()),
            _ => top.push(stmt),
        }
    }
    let found = |stmt: &&'_ Stmt| match &stmt.kind {
        StmtKind::For(source) => Some((stmt.span.clone(), counter(source))),
        StmtKind::While(source) => {
            let message =
                format!("a `{}` loop does not count by itself", if source.behind { "do" } else { "while" });
            Some((stmt.span.clone(), limitation(codes::TIME_LOOP, &source.head, message)))
        }
        _ => None,
    };
    let loops: Vec<Found<'_>> = top
        .iter()
        .filter_map(|stmt| {
            let (span, counter) = found(stmt)?;
            let (source, body) = match &stmt.kind {
                StmtKind::For(source) => (Loop::For(source), &source.body),
                StmtKind::While(source) => (Loop::While(source), &source.body),
                _ => return None,
            };
            Some(Found { source, body, span, counter })
        })
        .collect();
    // A time loop's index is in no subscript of what its body assigns, or only modulo something.
    let over_space =
        |found: &Found<'_>| found.counter.as_ref().is_ok_and(|counter| indexes(found.body, &counter.name));
    let mut candidates: Vec<usize> =
        (0..loops.len()).filter(|at| holds_loops(loops[*at].body) && !over_space(&loops[*at])).collect();
    match (candidates.pop(), candidates.first()) {
        (None, _) => {
            let kept = loops.iter().find_map(|one| {
                let counter = one.counter.as_ref().ok()?;
                let (place, array) = shows_levels(one.body, &counter.name)?;
                Some((counter.name.clone(), place, array))
            });
            if let Some((name, place, array)) = kept {
                let message = format!("`{array}` keeps a level for each round of the loop over `{name}`");
                return Err(Box::new(
                    Diagnostic::limitation(codes::TIME_SUBSCRIPT, place, message)
                        .note("tiles overlap several time steps and hold a few levels; arrays that keep all are tiled one step at a time, if the level is their first subscript")
                        .hint(format!(
                            "keep two levels, such as `[({name} + 1) % 2]` and `[{name} % 2]`, and copy every so many steps what is needed later"
                        )),
                ));
            }
            none(region)
        }
        (Some(only), None) => loops.into_iter().nth(only).map_or_else(|| none(region), Ok),
        (Some(_), Some(first)) => {
            let second = &loops[(first + 1..loops.len())
                .find(|at| holds_loops(loops[*at].body) && !over_space(&loops[*at]))
                .unwrap_or(*first)];
            Err(Box::new(
                Diagnostic::limitation(
                    codes::NO_TIME_LOOP,
                    second.head(),
                    "the region has more than one time loop",
                )
                .related(loops[*first].head(), "the first one")
                .hint("put the pragmas around one of them")
                .note(format!(
                    "a region holds one time loop; this is another, {} bytes long",
                    second.span.len()
                )),
            ))
        }
    }
}

fn none<T>(region: &Region) -> Result<T> {
    Err(Box::new(
        Diagnostic::error(
            codes::NO_TIME_LOOP,
            region.mark.clone(),
            "the region has no time loop around loops over space",
        )
        .note("an iterated stencil is `for (t ..) for (i ..) for (j ..) A[(t+1)%2][i][j] = ..;` or the like")
        .note("a loop whose index is a subscript of what it computes is a loop over space"),
    ))
}

/// The first loop of a body that runs under a condition, where no loop runs without one.
fn under_condition(body: &Stmt) -> Option<Diagnostic> {
    let StmtKind::Block(list) = &body.kind else { return None };
    let mut found = None;
    for stmt in list {
        match &stmt.kind {
            StmtKind::For(_) => return None,
            StmtKind::If(condition, then, otherwise) if found.is_none() => {
                found = branches::loop_within(condition, then, otherwise.as_deref());
            }
            _ => {}
        }
    }
    found
}

/// The time loop of a region that computes nothing but its stencil.
pub(super) fn time_loop(region: &Region, found: Found<'_>) -> Result<TimeLoop> {
    let (head, body) = (found.head(), found.body);
    // Where all loops run under conditions, nothing was seen to be computed in each step.
    let counter = found.counter.map_err(|reason| under_condition(body).map_or(reason, Box::new))?;
    let declared = counter.type_name.is_some();
    let type_name = match counter.type_name {
        Some(name) => name,
        None => match region.variables.get(&counter.name).map(|variable| &variable.ctype) {
            Some(CType::Integer { name, .. }) => name.clone(),
            Some(_) => {
                let message = "the time loop's index is not an integer";
                return Err(Box::new(
                    Diagnostic::limitation(codes::TIME_LOOP, head, message)
                        .hint(format!("declare `{}` as `int`", counter.name)),
                ));
            }
            None => {
                let message = format!("the declaration of `{}` is not understood", counter.name);
                return limitation(codes::UNKNOWN_NAME, &head, message);
            }
        },
    };
    let plain = |expr: &Expr| without_parentheses(&c_text(expr, &|_| None));
    let high = plain(&counter.limit);
    Ok(TimeLoop {
        name: counter.name,
        type_name,
        low: plain(&counter.first),
        high: match (counter.inclusive, counter.descending) {
            (false, _) => high,
            (true, false) => format!("({high}) + 1"),
            (true, true) => format!("({high}) - 1"),
        },
        step: if counter.descending { -counter.by } else { counter.by },
        declared,
        head,
        span: found.span,
        bounds: Some((counter.first, counter.limit)),
    })
}
