//! Assignments in loops on which nothing in them depends, such as a boundary that every round of a sweep sets again:
//!
//! ```c
//! for (j ..) for (i ..) { u[j][i] = f(v, j, i); u[0][i] = 1; u[j][0] = 1; }
//! ```
//!
//! `A[s] = c` with the same `c` in each round stands behind the loop over `v`, once, if `s` has no `v` in it: no round reads
//! `A`, and of what else assigns `A` in the loops each point `w` comes no later than the last round of `A[s]` with `s = w`.
//! That is so where `w` stands before `s` in the body, is made of plain indices, and each subscript in `s` is that of `w` or
//! the same in all rounds: the two then have equal indices but `v`, and no value of `v` comes behind the last one. The loop
//! must have a round.

use super::counter::counter;
use crate::ast::{Expr, ExprKind, ForLoop, Stmt, StmtKind};
use crate::text::c_text;
use std::collections::HashSet;

/// A body whose idle assignments stand behind their loops, and the first values and conditions of loops that must have
/// rounds.
pub(super) fn behind_loops(body: &Stmt) -> Option<(Stmt, Vec<ForLoop>)> {
    let mut loops = Vec::new();
    let found = statement(body, &mut loops);
    (!loops.is_empty()).then_some((found, loops))
}

fn statement(stmt: &Stmt, loops: &mut Vec<ForLoop>) -> Stmt {
    let again = |kind| Stmt { kind, span: stmt.span.clone() };
    match &stmt.kind {
        StmtKind::Block(list) => {
            again(StmtKind::Block(list.iter().map(|stmt| statement(stmt, loops)).collect()))
        }
        StmtKind::For(source) => match nest(stmt, source, loops) {
            Some(list) => again(StmtKind::Block(list)),
            None => stmt.clone(),
        },
        _ => stmt.clone(),
    }
}

/// A perfect nest of loops, and what stands behind it instead.
fn nest(whole: &Stmt, outermost: &ForLoop, needed: &mut Vec<ForLoop>) -> Option<Vec<Stmt>> {
    let (mut loops, mut at) = (vec![outermost.clone()], &outermost.body);
    let list = loop {
        match &at.kind {
            StmtKind::Block(list) => match list.as_slice() {
                [one] => at = one,
                list => break list,
            },
            StmtKind::For(source) => {
                loops.push((**source).clone());
                at = &source.body;
            }
            _ => return None,
        }
    };
    let indices: Vec<String> =
        loops.iter().map(|one| counter(one).ok().map(|one| one.name)).collect::<Option<_>>()?;
    let boxed = loops.iter().zip(&indices).all(|(one, own)| {
        let mut used = Vec::new();
        one.start.iter().for_each(|start| start.walk_expressions(&mut |part| used.push(part.clone())));
        used.extend(one.condition.clone());
        indices
            .iter()
            .filter(|index| *index != own)
            .all(|index| used.iter().all(|part| !part.mentions(index)))
    });
    let leaves = list.iter().any(|stmt| {
        let mut found = false;
        stmt.walk(&mut |part| {
            found |= matches!(part.kind, StmtKind::Other(..) | StmtKind::Return(_) | StmtKind::While(_));
        });
        found
    });
    if !boxed || leaves {
        return None;
    }
    let is_idle = |stmt: &Stmt| idle(stmt, &indices).is_some();
    let first = list.iter().rposition(|stmt| !is_idle(stmt)).map_or(0, |at| at + 1);
    let (kept, moved) = list.split_at(first);
    if kept.is_empty() || moved.is_empty() || !moved.iter().all(|stmt| may_move(stmt, kept, moved, &indices))
    {
        return None;
    }
    let around = |loops: &[ForLoop], body: Vec<Stmt>| {
        let mut at = Stmt { kind: StmtKind::Block(body), span: whole.span.clone() };
        for source in loops.iter().rev() {
            at = Stmt {
                kind: StmtKind::For(Box::new(ForLoop { body: at, ..source.clone() })),
                span: whole.span.clone(),
            };
        }
        at
    };
    let mut found = vec![around(&loops, kept.to_vec())];
    for stmt in moved {
        let (used, idle) = idle(stmt, &indices)?;
        let own: Vec<ForLoop> = loops
            .iter()
            .zip(&indices)
            .filter(|(_, index)| used.contains(*index))
            .map(|(one, _)| one.clone())
            .collect();
        found.push(around(&own, vec![stmt.clone()]));
        needed.extend(
            loops.iter().zip(&indices).filter(|(_, index)| idle.contains(*index)).map(|(one, _)| one.clone()),
        );
    }
    Some(found)
}

/// The indices that stand in the subscripts of an assignment of the same value in each round, and those that do not; `None`
/// for other statements, and where all do.
fn idle(stmt: &Stmt, indices: &[String]) -> Option<(HashSet<String>, HashSet<String>)> {
    let StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) = &stmt.kind else {
        return None;
    };
    if !matches!(value.kind, ExprKind::Integer { .. } | ExprKind::Floating { .. })
        || target.indexed().1.is_empty()
    {
        return None;
    }
    let plain = |expr: &Expr| {
        matches!(expr.kind, ExprKind::Name(_)) || indices.iter().all(|index| !expr.mentions(index))
    };
    let pure = |expr: &Expr| {
        let mut pure = true;
        expr.walk(&mut |part| {
            pure &= matches!(
                part.kind,
                ExprKind::Name(_)
                    | ExprKind::Integer { .. }
                    | ExprKind::Binary(..)
                    | ExprKind::Unary(..)
                    | ExprKind::Cast(..)
            );
        });
        pure
    };
    if !target.indexed().1.iter().all(|index| plain(index) && pure(index)) {
        return None;
    }
    let (used, rest): (HashSet<String>, HashSet<String>) =
        indices.iter().cloned().partition(|index| target.mentions(index));
    (!rest.is_empty()).then_some((used, rest))
}

/// Whether an assignment may stand behind its loops.
fn may_move(stmt: &Stmt, kept: &[Stmt], moved: &[Stmt], indices: &[String]) -> bool {
    let parts = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Assign(_, target, value), .. }) => {
            Some(((**target).clone(), (**value).clone()))
        }
        _ => None,
    };
    let Some((target, value)) = parts(stmt) else { return false };
    let Some(array) = base(&target) else { return false };
    let text = |expr: &Expr| c_text(expr, &|_| None);
    // Of those that move, the order does not matter: they assign the same.
    let alike = moved
        .iter()
        .filter_map(parts)
        .all(|(other, own)| base(&other) != Some(array) || text(&own) == text(&value));
    let own = target.indexed().1;
    let index = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(name) if indices.contains(name));
    alike
        && kept.iter().all(|other| {
            let mut fits = true;
            // The others assign plain points of the array, or do not know it.
            other.walk(&mut |part| fits &= matches!(part.kind, StmtKind::Expr(_)));
            match parts(other) {
                Some((written, read)) if base(&written) == Some(array) => {
                    let points = written.indexed().1;
                    let same =
                        |(at, own): (&&Expr, &&Expr)| index(at) && (text(at) == text(own) || !index(own));
                    fits && !read.mentions(array)
                        && points.len() == own.len()
                        && points.iter().zip(&own).all(same)
                }
                _ => {
                    other.walk_expressions(&mut |part| fits &= !part.mentions(array));
                    fits
                }
            }
        })
}

fn base(target: &Expr) -> Option<&str> {
    match &target.indexed().0.kind {
        ExprKind::Name(name) => Some(name),
        _ => None,
    }
}
