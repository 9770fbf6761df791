//! What counts the steps of a time loop: integers that each step moves on by a constant.

use super::names::indices;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Stmt, StmtKind};
use crate::integer::literal;
use crate::nest::scalars::assigned_within;
use crate::nest::time::{Found, Loop};
use crate::parse::Region;

/// The time index: what the stencil's statements count in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Index {
    pub name: String,
    pub by: i64,
    /// The statement that moves it; `None` if the head of the loop does.
    pub at: Option<usize>,
}

/// What moves a scalar on by a constant.
fn moved(expr: &Expr) -> Option<(String, i64)> {
    let name = |expr: &Expr| match &expr.kind {
        ExprKind::Name(name) => Some(name.clone()),
        _ => None,
    };
    let by = |expr: &Expr| literal(expr).filter(|by| *by > 0 && *by <= 1 << 20);
    match &expr.kind {
        ExprKind::Step(by, target) => Some((name(target)?, *by)),
        ExprKind::Assign(Some(BinaryOp::Add), target, value) => Some((name(target)?, by(value)?)),
        ExprKind::Assign(Some(BinaryOp::Sub), target, value) => Some((name(target)?, -by(value)?)),
        ExprKind::Assign(None, target, value) => {
            let own = name(target)?;
            let is_own = |expr: &Expr| name(expr).is_some_and(|other| other == own);
            match &value.kind {
                ExprKind::Binary(BinaryOp::Add, a, b) if is_own(a) => Some((own, by(b)?)),
                ExprKind::Binary(BinaryOp::Add, a, b) if is_own(b) => Some((own, by(a)?)),
                ExprKind::Binary(BinaryOp::Sub, a, b) if is_own(a) => Some((own, -by(b)?)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The integers that each step moves on by a constant, once, and that nothing else in the loop assigns.
pub(super) fn movers(region: &Region, found: &Found<'_>, list: &[Stmt]) -> Vec<Index> {
    let mut candidates = Vec::new();
    if let Loop::For(source) = found.source {
        let step = source.step.as_ref().and_then(moved);
        candidates.extend(step.map(|(name, by)| Index { name, by, at: None }));
    }
    for (at, stmt) in list.iter().enumerate() {
        if let StmtKind::Expr(expr) = &stmt.kind {
            candidates.extend(moved(expr).map(|(name, by)| Index { name, by, at: Some(at) }));
        }
    }
    let times = |name: &str| {
        let mut count = usize::from(candidates.iter().any(|one| one.name == name && one.at.is_none()));
        for stmt in list {
            count += assigned_within(stmt).iter().filter(|(other, _)| other == name).count();
            count += usize::from(indices(stmt).contains(name));
        }
        count
    };
    let is_integer =
        |name: &str| region.variables.get(name).is_some_and(|one| matches!(one.ctype, CType::Integer { .. }));
    let mut result = candidates.clone();
    result.retain(|one| is_integer(&one.name) && times(&one.name) == 1);
    result
}
