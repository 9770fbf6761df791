//! The rows of a kernel as one piece of a schedule, where the statement's number is all that they differ by.
//!
//! A sweep that is cut into cases of boundaries has a row for each of up to 32 statements, whose bounds are those of the first
//! one with the statement's number `k` in the place of a constant:
//!
//! ```text
//! row k:  11*s1 >= 11264*c1 - (25*m + k)        all:  11*s1 >= 11264*c1 - (25*m + row),  0 <= row < K
//! ```
//!
//! A piece in which `row` is a variable is all of them at once, and isl has one relation to look at instead of one for each
//! pair of statements. Where tiles do not cut a dimension, each row has the bounds of its statement there, `s2 = 0` or
//! `1 <= s2 < n2 - 1`: these are left to the rows.

use super::rows;
use crate::int_expr::{IntExpr, var};
use crate::plan::{Instance, Kernel, KernelPlan, Role};
use crate::range::Range;

/// The variable that is the statement's number, a dimension of every schedule.
pub(super) const ROW: &str = "row";

/// Fewest statements that are looked at together.
const FEWEST: usize = 4;

/// The rows of a kernel as one.
pub(super) struct All {
    /// The row; along the dimensions that are left to each, its range is that of the first one.
    pub row: Instance,
    /// The dimensions along which each row has a range of its own, which depends on sizes alone.
    pub left: Vec<usize>,
}

/// A row for all statements, in the order of the program, if the rows of a kernel are that.
pub(super) fn of_all(plan: &KernelPlan, kernel: &Kernel) -> Option<All> {
    let instances = &kernel.instances;
    let statements = plan.program.statements.len();
    let plain =
        |(at, row): (usize, &Instance)| row.statement == at && !row.joined && matches!(row.role, Role::Owner);
    if statements < FEWEST || instances.len() != statements || !instances.iter().enumerate().all(plain) {
        return None;
    }
    let first = instances.first()?;
    let order = rows::within(first);
    let same_form = |row: &Instance| {
        row.ranges.len() == first.ranges.len()
            && row.when.len() == first.when.len()
            && rows::within(row) == order
    };
    if !instances.iter().all(same_form) {
        return None;
    }
    let all = |part: &dyn Fn(&Instance) -> &IntExpr| {
        let parts: Vec<&IntExpr> = instances.iter().map(part).collect();
        if parts.iter().any(|part| part.mentions(ROW)) { None } else { with_number(&parts) }
    };
    let of_sizes = |bound: &IntExpr| {
        let own = [plan.outer.variable, kernel.rows.variable].into_iter();
        let loops = kernel.blocks.iter().chain(&kernel.sub_tiles).map(|own| own.variable);
        let bound_to = kernel.bindings.iter().map(|binding| binding.name);
        !own.chain(loops).chain(bound_to).any(|name| bound.mentions(name))
    };
    let (mut ranges, mut left) = (Vec::new(), Vec::new());
    for (d, range) in first.ranges.iter().enumerate() {
        match (all(&|row| &row.ranges[d].low), all(&|row| &row.ranges[d].high)) {
            (Some(low), Some(high)) => ranges.push(Range { low, high }),
            _ if instances
                .iter()
                .all(|row| of_sizes(&row.ranges[d].low) && of_sizes(&row.ranges[d].high)) =>
            {
                ranges.push(range.clone());
                left.push(d);
            }
            _ => return None,
        }
    }
    let when = (0..first.when.len()).map(|at| all(&|row| &row.when[at]));
    let row = Instance {
        step: all(&|row| &row.step)?,
        ranges,
        when: when.collect::<Option<_>>()?,
        ..first.clone()
    };
    Some(All { row, left })
}

/// Multiples of terms, and a constant.
type Sum = (Vec<(IntExpr, i64)>, i64);

/// An expression of [`ROW`] that is the `k`-th of these where that is `k`: sums of like terms, whose constants are `c + d*k`.
fn with_number(expressions: &[&IntExpr]) -> Option<IntExpr> {
    let sums: Vec<Sum> = expressions.iter().map(|one| one.sum()).collect();
    let (terms, constant) = sums.first()?;
    let by = sums.get(1).map_or(0, |(_, second)| second - constant);
    let fits =
        |(k, (own, value)): (usize, &Sum)| own.len() == terms.len() && *value == constant + by * k as i64;
    if !sums.iter().enumerate().all(fits) {
        return None;
    }
    let mut found = IntExpr::from(*constant);
    if by != 0 {
        found = var(ROW) * by + found;
    }
    for (at, (_, factor)) in terms.iter().enumerate() {
        if sums.iter().any(|(own, _)| own[at].1 != *factor) {
            return None;
        }
        let parts: Vec<&IntExpr> = sums.iter().map(|(own, _)| &own[at].0).collect();
        found = part_with_number(&parts)? * *factor + found;
    }
    Some(found)
}

/// The same of variables, roundings and extrema.
fn part_with_number(parts: &[&IntExpr]) -> Option<IntExpr> {
    let first = *parts.first()?;
    if parts.iter().all(|part| *part == first) {
        return Some(first.clone());
    }
    let inner = |of: &dyn Fn(&IntExpr) -> Option<IntExpr>| {
        let inner: Vec<IntExpr> = parts.iter().map(|part| of(part)).collect::<Option<_>>()?;
        with_number(&inner.iter().collect::<Vec<_>>())
    };
    match first {
        IntExpr::FloorDiv(_, by) => inner(&|part| match part {
            IntExpr::FloorDiv(a, own) if own == by => Some((**a).clone()),
            _ => None,
        })
        .map(|a| a.floor_div(*by)),
        IntExpr::Modulo(_, by) => inner(&|part| match part {
            IntExpr::Modulo(a, own) if own == by => Some((**a).clone()),
            _ => None,
        })
        .map(|a| a.modulo(*by)),
        IntExpr::Min(..) | IntExpr::Max(..) => {
            let least = matches!(first, IntExpr::Min(..));
            let side = |right: bool| {
                inner(&|part| match part {
                    IntExpr::Min(a, b) if least => Some(if right { (**b).clone() } else { (**a).clone() }),
                    IntExpr::Max(a, b) if !least => Some(if right { (**b).clone() } else { (**a).clone() }),
                    _ => None,
                })
            };
            let (a, b) = (side(false)?, side(true)?);
            Some(if least { a.min(b) } else { a.max(b) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_that_follow_the_number_become_the_number() {
        let row = |k: i64| ((var("c") * 11 - (var("m") * 25 + k)).floor_div(11)).max(var("low") + 3 * k) + 2;
        let rows: Vec<IntExpr> = (0..5).map(row).collect();
        let all = with_number(&rows.iter().collect::<Vec<_>>()).unwrap();
        for (k, own) in rows.iter().enumerate() {
            let put_in = all.substitute(ROW, &IntExpr::from(k as i64));
            for (c, m, low) in [(0, 0, 0), (7, 3, -90), (-5, 2, 4), (100, -8, 130)] {
                let mut environment = crate::int_expr::Environment::new();
                for (name, value) in [("c", c), ("m", m), ("low", low)] {
                    environment.insert(name, value);
                }
                assert_eq!(put_in.evaluate(&environment), own.evaluate(&environment), "{k}");
            }
        }
    }

    #[test]
    fn other_rows_are_not_one() {
        let squares: Vec<IntExpr> = (0..4).map(|k| var("m") + k * k).collect();
        assert_eq!(with_number(&squares.iter().collect::<Vec<_>>()), None);
        let multiples: Vec<IntExpr> = (1..5).map(|k| var("m") * k).collect();
        assert_eq!(with_number(&multiples.iter().collect::<Vec<_>>()), None);
        let different = [var("m"), var("n"), var("m"), var("m")];
        assert_eq!(with_number(&different.iter().collect::<Vec<_>>()), None);
    }
}
