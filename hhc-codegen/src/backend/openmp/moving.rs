//! Bounds that move from step to step: of a box with ghosts, only the points are computed that are needed, and those that need
//! no ghosts before the others ([`polyhedral::slant`]).
//!
//! The caller has, for each statement and dimension, the first point of step 0, by how much it moves with each step, and the same of the
//! point after the last one. Boxes of rows are narrowed to them: what runs is a part of the plan's instances, in the plan's order.

use super::super::points::{INT, max, min};
use crate::plan::{KernelPlan, joined_rows};
use c_tree::{Block, Expr, Stmt, Type, name, var};
use polyhedral::slant::Slants;

/// The member of the grid, and the argument.
pub(super) const MOVING: &str = "tw_moving";

/// Its type.
pub(super) fn kind() -> Type {
    Type::new("long long").constant().pointer()
}

/// Whether the rows of a plan can be narrowed: all of them are boxes in the arrays, and statements that are computed together have
/// the same bounds.
pub(super) fn can_move(plan: &KernelPlan, slants: &Slants, margins: &[Vec<[i64; 2]>]) -> bool {
    let alike = |a: usize, b: usize| slants.margins[a] == slants.margins[b] && margins[a] == margins[b];
    plan.kernels.iter().all(|kernel| {
        !kernel.in_parts()
            && joined_rows(kernel).all(|rows| rows.iter().all(|row| alike(row.statement, rows[0].statement)))
    })
}

/// Narrows the box `low0 <= .. < high0, ..` of a statement at step `time`.
pub(super) fn narrowed(dimension: usize, statement: usize, time: &str) -> Stmt {
    let own = |at: usize| name("tw_bounds").at(at as i64).integer();
    let at_step = |first: usize| own(first) + var(time) * own(first + 1);
    let bounds: Expr = name("grid").arrow(MOVING) + (4 * dimension * statement) as i64;
    let mut body = Block::from(Stmt::declare(kind(), "tw_bounds", bounds));
    for d in 0..dimension {
        let (low, high) = (format!("low{d}"), format!("high{d}"));
        body.push(Stmt::assign(var(&low), max(var(&low), at_step(4 * d).cast(INT).integer())));
        body.push(Stmt::assign(var(&high), min(var(&high), at_step(4 * d + 2).cast(INT).integer())));
    }
    Stmt::when(name("grid").arrow(MOVING), body)
}
