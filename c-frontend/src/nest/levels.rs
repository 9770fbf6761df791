//! Arrays that keep a level for each round of a loop: `A[t + 1].. = .. A[t] ..`.

use super::targets::plainly_in;
use crate::ast::{BinaryOp, Expr, ExprKind, Stmt, StmtKind};
use crate::integer;
use polyhedral::source::Span;

/// An assignment of one level of an array, `A[t + 1].. = .. A[t] ..` or `a[(t + 1) * n + i] = .. a[t * n + i] ..`, in loops
/// over its points: the place of the subscript, and the array.
pub(crate) fn keeps_levels(body: &Stmt, name: &str) -> Option<(Span, String)> {
    levels_among(body, name, false)
}

/// The same, also where the levels are members of structures, `a[t + 1].u[i] = .. a[t].u[i] ..`.
pub(crate) fn shows_levels(body: &Stmt, name: &str) -> Option<(Span, String)> {
    levels_among(body, name, true)
}

fn levels_among(body: &Stmt, name: &str, members: bool) -> Option<(Span, String)> {
    let mut found = None;
    body.walk(&mut |stmt| {
        let StmtKind::For(source) = &stmt.kind else { return };
        source.body.walk_expressions(&mut |expr| {
            let ExprKind::Assign(_, target, value) = &expr.kind else { return };
            let Some((array, own, place)) = level(target, name, members) else { return };
            let mut earlier = false;
            value.walk(&mut |part| {
                earlier |=
                    level(part, name, members).is_some_and(|(other, at, _)| other == array && at < own);
            });
            if earlier {
                found.get_or_insert((place, array));
            }
        });
    });
    found
}

/// The array of an element in whose subscripts an index stands, what is added to it there, and the subscript's place.
fn level(element: &Expr, name: &str, members: bool) -> Option<(String, i64, Span)> {
    let (mut at, mut found, mut own) = (element, None, String::new());
    loop {
        match &at.kind {
            ExprKind::Index(array, index) => {
                if plainly_in(index, name) {
                    found = Some((shift(index, name)?, index.span.clone()));
                }
                at = array;
            }
            // Subscripts of a member are points of one level.
            ExprKind::Member(whole, _, member) if members => {
                found = None;
                own = format!(".{member}{own}");
                at = whole;
            }
            _ => break,
        }
    }
    let ExprKind::Name(array) = &at.kind else { return None };
    found.map(|(by, place)| (format!("{array}{own}"), by, place))
}

/// What is added to an index, in `index + 1`, or `(index + 1) * n + i`.
fn shift(expr: &Expr, name: &str) -> Option<i64> {
    match &expr.kind {
        ExprKind::Name(other) if other == name => Some(0),
        ExprKind::Binary(operator, left, right) => match (operator, shift(left, name), shift(right, name)) {
            (BinaryOp::Add, Some(by), None) => Some(by + integer::literal(right).unwrap_or(0)),
            (BinaryOp::Add, None, Some(by)) => Some(by + integer::literal(left).unwrap_or(0)),
            (BinaryOp::Sub, Some(by), None) => Some(by - integer::literal(right).unwrap_or(0)),
            (BinaryOp::Mul, Some(by), None) | (BinaryOp::Mul, None, Some(by)) => Some(by),
            _ => None,
        },
        ExprKind::Cast(_, operand) => shift(operand, name),
        _ => None,
    }
}
