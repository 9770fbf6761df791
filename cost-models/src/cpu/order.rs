//! What points in order cost, of which each waits for the one before it in its line.
//!
//! Lines of a group run at once, a point of each at a *position*. A position takes as long as a point waits for the one before
//! it, or as long as all of its operations take if none waits, whatever is longer:
//!
//! ```text
//! position = max(waits from the value before to the point's own,
//!                lines * operations and accesses * EACH, lines * divisions * LONG_EACH)
//! ```
//!
//! The constants are stated, not measured: latencies and throughputs of scalar instructions on x86 cores (A. Fog, "Instruction
//! tables", Zen 4: sums and products 3, divisions and roots of doubles 13 cycles, one every 5), at 3.7 GHz. They are the same
//! for all tiles of a program, so that an error in them moves all predictions alike.

use polyhedral::counts::Counts;
use polyhedral::program::{BinaryOp, Condition, Expr, ExprKind, Function, Program};

/// Seconds after a sum, a product or the like.
const WAIT_S: f64 = 0.81e-9;
/// Seconds after a division, a root or another function.
const LONG_WAIT_S: f64 = 3.5e-9;
/// Seconds of an operation or an access among many that do not wait: four in a cycle.
const EACH_S: f64 = 0.068e-9;
/// Seconds of a division, a root or another function among many.
const LONG_EACH_S: f64 = 1.35e-9;

/// Seconds of a position of so many lines, by statement.
pub(super) fn positions_s(program: &Program, counts: &Counts, lines: i64) -> Vec<f64> {
    let of = |k: usize| {
        let statement = &program.statements[k];
        let all = &counts.statements[k];
        let long = (all.divs + all.sqrts + all.exps + all.libm) as f64;
        let others =
            all.adds + all.subs + all.muls + all.min_max + all.compares + all.selects + all.abs + all.casts;
        let each = ((others as f64 + statement.reads.len() as f64 + 1.0) * EACH_S).max(long * LONG_EACH_S);
        waits(program, k).max(lines as f64 * each)
    };
    (0..program.statements.len()).map(of).collect()
}

/// Seconds from the value of the point before in a line to that of the point: the longest way through the expression.
fn waits(program: &Program, k: usize) -> f64 {
    let statement = &program.statements[k];
    let mut locals: Vec<Option<f64>> = Vec::new();
    for local in &statement.locals {
        let own = way(program, k, &local.value, &locals);
        locals.push(own);
    }
    way(program, k, &statement.value, &locals).unwrap_or(0.0)
}

/// The longest way from the value before to an expression's; `None` where the expression does not depend on it.
fn way(program: &Program, k: usize, expr: &Expr, locals: &[Option<f64>]) -> Option<f64> {
    let of = |expr: &Expr| way(program, k, expr, locals);
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Parameter(_) | ExprKind::Series(..) => None,
        ExprKind::Local(local) => locals.get(local.0).copied().flatten(),
        ExprKind::Read(access) => {
            let (last, around) = access.offset.split_last()?;
            let before = access.field == program.statements[k].target
                && access.time == 1
                && *last < 0
                && around.iter().all(|&offset| offset == 0);
            before.then_some(0.0)
        }
        ExprKind::Negate(a) | ExprKind::Cast(a) => of(a).map(|own| own + WAIT_S),
        ExprKind::Binary(op, a, b) => {
            let own = match op {
                BinaryOp::Div | BinaryOp::Libm(_) => LONG_WAIT_S,
                _ => WAIT_S,
            };
            longer(of(a), of(b)).map(|before| before + own)
        }
        ExprKind::Call(function, a) => {
            let own = if matches!(function, Function::Abs | Function::Square) { WAIT_S } else { LONG_WAIT_S };
            of(a).map(|before| before + own)
        }
        ExprKind::Select(condition, a, b) => {
            longer(of_condition(condition, &of), longer(of(a), of(b))).map(|before| before + WAIT_S)
        }
    }
}

fn longer(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

/// The same to a truth value.
fn of_condition(condition: &Condition, of: &dyn Fn(&Expr) -> Option<f64>) -> Option<f64> {
    match condition {
        Condition::Compare(_, a, b) => longer(of(a), of(b)).map(|before| before + WAIT_S),
        Condition::And(a, b) | Condition::Or(a, b) => longer(of_condition(a, of), of_condition(b, of)),
        Condition::Not(a) => of_condition(a, of),
        Condition::Congruent(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polyhedral::counts::counts;

    /// A point of seidel-2d waits for six sums and a division, and eight lines fill that time with their divisions.
    #[test]
    fn a_line_waits_and_lines_do_not() {
        let program = polyhedral::shipped::load("seidel2d").unwrap();
        let of = |lines| positions_s(&program, &counts(&program), lines)[0];
        assert_eq!(of(1), 6.0 * WAIT_S + LONG_WAIT_S);
        assert!(of(8) > of(1) && of(8) < 2.0 * of(1), "{} {}", of(8), of(1));
    }
}
