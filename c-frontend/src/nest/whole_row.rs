//! Scalars that a loop computes for each point of another one: `sum = 0; for (j ..) sum += a[i][j] * x[j]; y[i] = sum;`.

use super::loops::SpaceLoop;
use crate::ast::{ExprKind, ForLoop, Stmt, StmtKind};
use crate::text::c_text;

/// Whether a scalar gets its first value in a loop before another one in it, and an element of the outer loop's own point is assigned by it
/// behind that.
pub(super) fn is_one(statements: &[Stmt], name: &str, [outer, inner]: [&SpaceLoop; 2]) -> bool {
    let mut found = false;
    for stmt in statements {
        stmt.walk(&mut |part| {
            let StmtKind::For(source) = &part.kind else { return };
            if source.head != outer.span {
                return;
            }
            let list = match &source.body.kind {
                StmtKind::Block(list) => list.as_slice(),
                _ => std::slice::from_ref(&source.body),
            };
            let within = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::For(other) if other.head == inner.span);
            let Some(at) = list.iter().position(within) else { return };
            found |= list[..at].iter().any(|stmt| starts(stmt, name))
                && list[at + 1..].iter().any(|stmt| is_put(stmt, name, &outer.name));
        });
    }
    found
}

/// The loop in the body of another one which runs to the same end, and in which its index is compared.
pub(super) fn asks_for_points<'a>(source: &'a ForLoop, index: &str) -> Option<&'a ForLoop> {
    let end = |source: &ForLoop| match &source.condition.as_ref()?.kind {
        ExprKind::Binary(_, _, end) => Some(c_text(end, &|_| None)),
        _ => None,
    };
    let own = end(source)?;
    let mut found = None;
    source.body.walk(&mut |part| {
        let StmtKind::For(inner) = &part.kind else { return };
        let mut asks = false;
        inner.body.walk(&mut |part| {
            asks |= matches!(&part.kind, StmtKind::If(condition, ..) if condition.mentions(index));
        });
        if asks && end(inner).is_some_and(|end| end == own) {
            found = Some(&**inner);
        }
    });
    found
}

fn starts(stmt: &Stmt, name: &str) -> bool {
    match &stmt.kind {
        StmtKind::Declaration(list) => list.iter().any(|one| one.name == name && one.value.is_some()),
        StmtKind::Expr(expr) => {
            matches!(&expr.kind, ExprKind::Assign(None, target, _) if target.is_name(name))
        }
        _ => false,
    }
}

/// Whether an element by this index is assigned with a scalar.
fn is_put(stmt: &Stmt, name: &str, index: &str) -> bool {
    let StmtKind::Expr(expr) = &stmt.kind else { return false };
    matches!(&expr.kind, ExprKind::Assign(_, target, value)
        if matches!(target.kind, ExprKind::Index(..)) && target.mentions(index) && value.mentions(name))
}
