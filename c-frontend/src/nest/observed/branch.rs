//! Loops over space under a condition that is known before the steps run, such as `if (t >= start) { .. } else { .. }`.
//!
//! One branch is taken for the stencil: steps that take it run together, and one that takes the other is no quiet one, as if the
//! other branch were output that happens under the opposite condition:
//!
//! ```text
//! if (c) { A } else { B }    =>    if (!c) { B }  A
//! ```
//!
//! That is true of quiet steps alone. So the last step of a block always runs as it is written, whatever it takes.

use super::flat::is_alone;
use super::names;
use crate::ast::{Expr, ExprKind, Stmt, StmtKind, UnaryOp};
use crate::nest::scalars::assigned;
use crate::parse::Region;

/// The statements of a body with the branches that hold loops apart, and where the others' conditions stand among them. Of two
/// branches the one with more loops within each other is taken for the stencil, or, for `less`, the other one. `None` if there is
/// no such branch.
pub(super) fn apart(region: &Region, list: &[Stmt], less: bool) -> Option<(Vec<Stmt>, Vec<usize>)> {
    let (mut found, mut places) = (Vec::new(), Vec::new());
    for (at, stmt) in list.iter().enumerate() {
        let StmtKind::If(condition, then, otherwise) = &stmt.kind else {
            found.push(stmt.clone());
            continue;
        };
        let empty = Stmt { kind: StmtKind::Block(Vec::new()), span: then.span.clone() };
        let otherwise = otherwise.as_deref().unwrap_or(&empty);
        let (first, second) = (depth(then), depth(otherwise));
        if first.max(second) == 0 || !names::only_reads(region, condition) {
            found.push(stmt.clone());
            continue;
        }
        let takes_first = (first >= second) != (less && first.min(second) > 0);
        let (taken, other) = if takes_first { (&**then, otherwise) } else { (otherwise, &**then) };
        if !computes_only(taken) {
            return None;
        }
        let opposite = Expr {
            kind: ExprKind::Unary(UnaryOp::Not, Box::new(condition.clone())),
            span: condition.span.clone(),
        };
        let asked = if takes_first { opposite } else { condition.clone() };
        places.push(found.len());
        found
            .push(Stmt { kind: StmtKind::If(asked, Box::new(other.clone()), None), span: stmt.span.clone() });
        let before = found.len();
        let others = || list.iter().enumerate().filter(|(own, _)| *own != at).map(|(_, stmt)| stmt);
        match &taken.kind {
            StmtKind::Block(own) if is_alone(region, own, others().chain([other])) => {
                found.extend(own.iter().cloned());
            }
            _ => found.push(taken.clone()),
        }
        // All of them have the place of what they were.
        found[before..].iter_mut().for_each(|one| one.span = stmt.span.clone());
    }
    (!places.is_empty()).then_some((found, places))
}

/// How many loops stand within each other around assignments of elements.
fn depth(stmt: &Stmt) -> usize {
    match &stmt.kind {
        StmtKind::For(source) if !assigned(stmt).0.is_empty() => 1 + depth(&source.body),
        StmtKind::Block(list) => list.iter().map(depth).max().unwrap_or(0),
        StmtKind::If(_, then, otherwise) => {
            depth(then).max(otherwise.as_ref().map_or(0, |otherwise| depth(otherwise)))
        }
        _ => 0,
    }
}

/// Whether a branch is made of loops, assignments and conditions.
fn computes_only(stmt: &Stmt) -> bool {
    let mut plain = true;
    stmt.walk(&mut |part| {
        plain &= !matches!(part.kind, StmtKind::While(_) | StmtKind::Return(_) | StmtKind::Other(..));
    });
    plain
}
