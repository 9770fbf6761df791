//! What is known of integer expressions where a part is printed.

use super::sums::constant;
use crate::int_expr::IntExpr;

/// What is not negative where a row goes through a domain, whose box this is.
pub(super) fn of_domain(domain: &[(IntExpr, IntExpr)], row: &[IntExpr]) -> Vec<IntExpr> {
    let ends = row.iter().zip(domain);
    ends.flat_map(|(row, (low, high))| [row.clone() - low.clone(), high.clone() - 1 - row.clone()]).collect()
}

/// The expressions of which one is the greatest.
pub(super) fn parts_of_max(of: &IntExpr) -> Vec<IntExpr> {
    match of {
        IntExpr::Max(a, b) => [parts_of_max(a), parts_of_max(b)].concat(),
        other => vec![other.clone()],
    }
}

/// Whether a condition follows from those that are known.
pub(super) fn implied(condition: &IntExpr, known: &[IntExpr]) -> bool {
    match condition {
        IntExpr::Max(a, b) => implied(a, known) || implied(b, known),
        IntExpr::Min(a, b) => implied(a, known) && implied(b, known),
        condition => {
            constant(condition).is_some_and(|value| value >= 0)
                || known.iter().any(|fact| condition.minus(fact).is_some_and(|more| more >= 0))
        }
    }
}

/// Whether it contradicts one of them.
pub(super) fn refuted(condition: &IntExpr, known: &[IntExpr]) -> bool {
    match condition {
        IntExpr::Max(a, b) => refuted(a, known) && refuted(b, known),
        IntExpr::Min(a, b) => refuted(a, known) || refuted(b, known),
        condition => {
            let sum = |fact: &IntExpr| constant(&(condition.clone() + fact.clone()));
            constant(condition).is_some_and(|value| value < 0)
                || known.iter().any(|fact| sum(fact).is_some_and(|sum| sum < 0))
        }
    }
}

/// Whether an expression is not negative wherever what is known holds, by the least and the greatest of what it is made of.
pub(super) fn never_negative(of: &IntExpr, known: &[IntExpr]) -> bool {
    if implied(of, known) {
        return true;
    }
    let (least, greatest) = (of.least_of(), of.largest_of());
    match (&least[..], &greatest[..]) {
        ([_, _, ..], _) => least.iter().all(|part| never_negative(part, known)),
        (_, [_, _, ..]) => greatest.iter().any(|part| never_negative(part, known)),
        _ => false,
    }
}
