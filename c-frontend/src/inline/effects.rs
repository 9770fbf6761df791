//! Statements that do nothing, such as `x * (-1);` or `if (debug) ;`, are left out.

use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, Variable};
use std::collections::HashMap;

/// Statements without those in them that have no effect.
pub(super) fn without_idle(statements: &mut Vec<Stmt>, variables: &HashMap<String, Variable>) {
    let mut types: HashMap<String, CType> = HashMap::new();
    for stmt in statements.iter() {
        stmt.walk(&mut |part| {
            if let StmtKind::Declaration(list) = &part.kind {
                types.extend(list.iter().map(|one| (one.name.clone(), one.ctype.clone())));
            }
        });
    }
    // To read a `volatile` variable is an effect.
    let plain = |name: &str| {
        let of = |ctype: &CType| !matches!(ctype.element(), CType::Other(_));
        let known = variables.get(name).is_none_or(|one| of(&one.ctype));
        known && types.get(name).is_none_or(of)
    };
    let idle = |expr: &Expr| {
        let mut idle = true;
        expr.walk(&mut |part| match &part.kind {
            ExprKind::Assign(..) | ExprKind::Step(..) | ExprKind::Call(..) | ExprKind::Other(..) => {
                idle = false
            }
            ExprKind::Name(name) => idle &= plain(name),
            _ => {}
        });
        idle
    };
    let is_empty = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Empty => true,
        StmtKind::Block(list) => list.is_empty(),
        _ => false,
    };
    for stmt in statements.iter_mut() {
        stmt.walk_mut(&mut |part| {
            let empty = match &mut part.kind {
                StmtKind::Expr(expr) => idle(expr),
                StmtKind::Block(list) => {
                    list.retain(|stmt| stmt.kind != StmtKind::Empty);
                    false
                }
                StmtKind::For(source) => {
                    let named = |start: &Stmt| matches!(&start.kind, StmtKind::Expr(expr) if idle(expr));
                    source.start = source.start.take().filter(|start| !named(start));
                    false
                }
                StmtKind::If(condition, then, otherwise) => {
                    idle(condition) && is_empty(then) && otherwise.iter().all(|stmt| is_empty(stmt))
                }
                _ => false,
            };
            if empty {
                part.kind = StmtKind::Empty;
            }
        });
    }
    statements.retain(|stmt| stmt.kind != StmtKind::Empty);
}
