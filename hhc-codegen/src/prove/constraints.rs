//! Bounds and conditions of a plan as isl constraints.

use crate::int_expr::IntExpr;
use crate::plan::Launch;

/// `low <= variable <= high`
pub(super) fn interval(variable: &str, low: &IntExpr, high: &IntExpr) -> Vec<String> {
    [at_least(variable, low), at_most(variable, high)].concat()
}

/// `variable >= bound`: not less than any of those of which the bound is the largest.
pub(super) fn at_least(variable: &str, bound: &IntExpr) -> Vec<String> {
    bound.largest_of().iter().map(|bound| lower_bound(variable, bound)).collect()
}

/// `variable <= bound`
pub(super) fn at_most(variable: &str, bound: &IntExpr) -> Vec<String> {
    bound.least_of().iter().map(|bound| upper_bound(variable, bound)).collect()
}

/// When a launch happens: all of a smallest of several are non-negative.
pub(super) fn launched(launch: &Launch) -> Vec<String> {
    let conditions = launch.when.iter().flat_map(IntExpr::least_of);
    conditions.map(|condition| format!("{} >= 0", condition.to_isl())).collect()
}

/// `variable >= bound`. A floor in the bound is multiplied out, which spares isl a quotient variable:
///
/// ```text
/// v >= a + floor(f/d)  <=>  d*v >= d*a + f - (d-1)        v >= a - floor(f/d)  <=>  d*v >= d*a - f
/// ```
fn lower_bound(variable: &str, bound: &IntExpr) -> String {
    let (rest, floor) = split_floor(bound);
    let Some((sign, inner, divisor)) = floor else {
        return format!("{variable} >= {}", bound.to_isl());
    };
    let bound = if sign > 0 { rest * divisor + inner - (divisor - 1) } else { rest * divisor - inner };
    format!("{divisor}*{variable} >= {}", bound.to_isl())
}

/// `variable <= bound`, with a floor multiplied out:
///
/// ```text
/// v <= a + floor(f/d)  <=>  d*v <= d*a + f                v <= a - floor(f/d)  <=>  d*v <= d*a - f + (d-1)
/// ```
fn upper_bound(variable: &str, bound: &IntExpr) -> String {
    let (rest, floor) = split_floor(bound);
    let Some((sign, inner, divisor)) = floor else {
        return format!("{variable} <= {}", bound.to_isl());
    };
    let bound = if sign > 0 { rest * divisor + inner } else { rest * divisor - inner + (divisor - 1) };
    format!("{divisor}*{variable} <= {}", bound.to_isl())
}

/// `rest + sign * floor(inner / divisor)`: the first floor among the terms of a sum.
fn split_floor(bound: &IntExpr) -> (IntExpr, Option<(i64, IntExpr, i64)>) {
    match bound {
        IntExpr::FloorDiv(inner, divisor) => (IntExpr::from(0), Some((1, (**inner).clone(), *divisor))),
        IntExpr::Add(a, b) => {
            let (rest, floor) = split_floor(a);
            if floor.is_some() {
                return (rest + (**b).clone(), floor);
            }
            let (rest, floor) = split_floor(b);
            ((**a).clone() + rest, floor)
        }
        IntExpr::Sub(a, b) => {
            let (rest, floor) = split_floor(a);
            if floor.is_some() {
                return (rest - (**b).clone(), floor);
            }
            let (rest, floor) = split_floor(b);
            ((**a).clone() - rest, floor.map(|(sign, inner, divisor)| (-sign, inner, divisor)))
        }
        _ => (bound.clone(), None),
    }
}
