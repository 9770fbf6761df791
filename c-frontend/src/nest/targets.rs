//! What the loops within a body assign, and whether an index is in the subscripts of it: that is a loop over space.

use crate::ast::{BinaryOp, Expr, ExprKind, Stmt, StmtKind};

/// Whether a name is in a subscript of something that the loops within a body assign, other than modulo something; where
/// they assign nothing, of something that the body itself does. What runs under a condition does not count.
pub(crate) fn indexes_target(body: &Stmt, name: &str) -> bool {
    let (mut within, mut alone) = (Vec::new(), Vec::new());
    targets(body, false, &mut within, &mut alone);
    let list = if within.is_empty() { alone } else { within };
    list.iter().any(|target| is_subscript(target, name))
}

/// The same of every assignment in loops.
pub(super) fn indexes_all_targets(body: &Stmt, name: &str) -> bool {
    let mut within = Vec::new();
    targets(body, false, &mut within, &mut Vec::new());
    within.iter().all(|target| is_subscript(target, name))
}

fn is_subscript(target: &Expr, name: &str) -> bool {
    let mut found = false;
    target.walk(&mut |part| {
        if let ExprKind::Index(_, index) = &part.kind {
            found |= plainly_in(index, name);
        }
    });
    found
}

/// The elements that a statement assigns: within loops, and in no loop.
fn targets<'a>(stmt: &'a Stmt, inner: bool, within: &mut Vec<&'a Expr>, alone: &mut Vec<&'a Expr>) {
    match &stmt.kind {
        StmtKind::Block(list) => list.iter().for_each(|stmt| targets(stmt, inner, within, alone)),
        StmtKind::For(source) => targets(&source.body, true, within, alone),
        StmtKind::If(_, then, otherwise) => {
            let mut loops = holds_loops(then);
            loops |= otherwise.as_ref().is_some_and(|otherwise| holds_loops(otherwise));
            if inner || !loops {
                targets(then, inner, within, alone);
                otherwise.iter().for_each(|otherwise| targets(otherwise, inner, within, alone));
            }
        }
        StmtKind::Expr(expr) => expr.walk(&mut |part| {
            if let ExprKind::Assign(_, target, _) = &part.kind
                && !matches!(target.kind, ExprKind::Name(_))
            {
                if inner { within.push(target) } else { alone.push(target) }
            }
        }),
        _ => {}
    }
}

pub(super) fn holds_loops(body: &Stmt) -> bool {
    let mut found = false;
    body.walk(&mut |stmt| found |= matches!(stmt.kind, StmtKind::For(_)));
    found
}

pub(super) fn plainly_in(expr: &Expr, name: &str) -> bool {
    match &expr.kind {
        ExprKind::Name(other) => other == name,
        ExprKind::Binary(BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::Equal | BinaryOp::NotEqual, ..) => {
            false
        }
        ExprKind::Binary(_, left, right) => plainly_in(left, name) || plainly_in(right, name),
        ExprKind::Unary(_, operand) | ExprKind::Cast(_, operand) => plainly_in(operand, name),
        _ => false,
    }
}
