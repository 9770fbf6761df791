//! Bounds as sums with like terms gathered, so that what cancels is not in the text.

use super::super::super::bounds::expr;
use crate::int_expr::IntExpr;
use c_tree::Expr;

/// The value of an expression in which all variables cancel.
pub(super) fn constant(of: &IntExpr) -> Option<i64> {
    let (terms, value) = of.sum();
    terms.is_empty().then_some(value)
}

/// An expression with like terms gathered, those that are subtracted last.
pub(super) fn gathered_long(of: &IntExpr) -> Expr {
    let (terms, value) = of.sum();
    let (less, more): (Vec<_>, Vec<_>) = terms.into_iter().partition(|(_, factor)| *factor < 0);
    let scaled = |factor: i64, term: &IntExpr| match factor {
        1 => expr(term),
        _ => c_tree::int(factor) * expr(term),
    };
    let sum = more.iter().map(|(term, factor)| scaled(*factor, term)).reduce(|sum, term| sum + term);
    let sum = match sum {
        Some(sum) if value == 0 => sum,
        Some(sum) => sum + value,
        None => c_tree::int(value),
    };
    less.iter().fold(sum, |sum, (term, factor)| sum - scaled(-*factor, term))
}

/// The same as an `int`: it counts cells, or positions.
pub(super) fn gathered(of: &IntExpr) -> Expr {
    gathered_long(of).cast("int").integer()
}
