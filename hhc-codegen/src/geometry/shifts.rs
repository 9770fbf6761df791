//! Neighbours along a row: loaded by themselves, across two lines, or shifted out of whole vectors.

use polyhedral::program::{Access, BinaryOp, ElementType, Expr, ExprKind, Program, Statement};
use std::collections::BTreeSet;

/// Cycles of a load from the second cache's rows, of one across two lines, and of an operation or a shift, which share two
/// ports. Measured on Xeons with vectors of a line (decision 114).
const LOAD: f64 = 0.5;
const SPLIT: f64 = 2.0;
const OPERATION: f64 = 0.5;
/// What shifts have to save, as a part of the cycles without them.
const CLEARLY: f64 = 0.9;

/// Whether vectors that several of so many rows read are kept in registers: there are some, and values are made of sums, products and
/// quotients of one type alone. Where rows farther than the next ones share less than half of what they read, as those of `star2d2r`, so
/// many rows at once have more of them than pays (decision 115).
pub fn keeps_rows(program: &Program, statement: &Statement, rows: usize) -> bool {
    let reads = &statement.reads;
    let next = |read: &Access| {
        let mut offset = read.offset.clone();
        offset[0] += 1;
        (read.field, read.time, offset)
    };
    let is_shared = |read: &&Access| {
        reads.iter().any(|other| (other.field, other.time, other.offset.clone()) == next(read))
    };
    let shared = reads.iter().filter(is_shared).count();
    let reach = reads.iter().map(|read| read.offset[0].abs()).max().unwrap_or(0);
    let pays = shared > 0 && (reach < 2 || 2 * shared >= reads.len());
    pays && lane_operations(program, statement, rows).is_some()
}

/// Operations of a point of such a statement.
fn lane_operations(program: &Program, statement: &Statement, rows: usize) -> Option<usize> {
    let element = program.field(statement.target).element;
    let is_one_row = program.dimension() < 2 || rows < 2;
    if is_one_row
        || statement.reads.is_empty()
        || !statement.locals.is_empty()
        || !statement.congruences().is_empty()
    {
        return None;
    }
    let is_alike = |read: &Access| program.field(read.field).element == element;
    operations(&statement.value, element).filter(|_| statement.reads.iter().all(is_alike))
}

/// From which distance along the row on neighbours are shifted out of whole vectors where so many rows run at once; `None` where
/// loads are as good, or values are not made of sums, products and quotients of one type alone.
pub fn shifted_from(program: &Program, statement: &Statement, rows: usize) -> Option<i64> {
    let operations = lane_operations(program, statement, rows)?;
    let cycles = |from: i64| cycles(statement, rows, operations, from);
    let farthest = statement.reads.iter().map(|read| along(read).abs()).max()?;
    let loaded = cycles(farthest + 1);
    let best = (1..=farthest).min_by(|&a, &b| cycles(a).total_cmp(&cycles(b)))?;
    (cycles(best) < CLEARLY * loaded).then_some(best)
}

/// The offset along the row.
fn along(read: &Access) -> i64 {
    read.offset.last().copied().unwrap_or(0)
}

/// Cycles of a vector of results: those of the loads or of the operations, whichever are more.
fn cycles(statement: &Statement, rows: usize, operations: usize, from: i64) -> f64 {
    let width = 64 / statement.value.element.bytes() as i64;
    // A vector by its plane, its row, and how far it lies from the point's own: whole ones in vectors.
    let (mut whole, mut split, mut shifted) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for read in &statement.reads {
        for copy in 0..rows as i64 {
            let mut row = read.offset[..read.offset.len() - 1].to_vec();
            row[0] += copy;
            let row = (read.field.0, read.time, row);
            match along(read) {
                far if far % width == 0 => drop(whole.insert((row, far / width))),
                far if far.abs() >= from => {
                    let low = far.div_euclid(width);
                    whole.insert((row.clone(), low));
                    whole.insert((row.clone(), low + 1));
                    shifted.insert((row, far));
                }
                near => drop(split.insert((row, near))),
            }
        }
    }
    let loads = LOAD * whole.len() as f64 + SPLIT * split.len() as f64;
    let computed = OPERATION * (operations * rows + shifted.len()) as f64;
    loads.max(computed) / rows as f64
}

/// How many sums, products and quotients of this type a value is made of; `None` where there is something else in it.
fn operations(expr: &Expr, element: ElementType) -> Option<usize> {
    if expr.element != element || !matches!(element, ElementType::F32 | ElementType::F64) {
        return None;
    }
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Parameter(_) | ExprKind::Read(_) | ExprKind::Series(..) => Some(0),
        ExprKind::Negate(operand) => Some(1 + operations(operand, element)?),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div, a, b) => {
            Some(1 + operations(a, element)? + operations(b, element)?)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_kept_where_they_share_enough() {
        let keeps = |name: &str| {
            let program = polyhedral::shipped::load(name).unwrap();
            let statement = &program.statements[0];
            let rows = crate::geometry::rows_at_once(&program, statement)[0];
            keeps_rows(&program, statement, rows)
        };
        for name in ["heat2d", "box2d1r", "box2d2r", "heat3d", "box3d1r"] {
            assert!(keeps(name), "{name}");
        }
        // Stars of radius 2, a root, one row at once.
        for name in ["star2d2r", "star3d2r", "gradient2d", "heat1d"] {
            assert!(!keeps(name), "{name}");
        }
    }

    #[test]
    fn neighbours_are_shifted_where_loads_across_lines_are_the_bound() {
        let from = |name: &str| {
            let program = polyhedral::shipped::load(name).unwrap();
            let statement = &program.statements[0];
            let rows = crate::geometry::rows_at_once(&program, statement)[0];
            shifted_from(&program, statement, rows)
        };
        assert_eq!(from("star2d2r"), Some(2));
        assert_eq!(from("star2d3r"), Some(3));
        assert_eq!(from("star2d4r"), Some(3));
        assert_eq!(from("star3d2r"), Some(2));
        // Operations are the bound, or there is more than sums and products.
        for name in ["heat2d", "box2d1r", "box2d2r", "heat3d", "gradient2d", "heat1d"] {
            assert_eq!(from(name), None, "{name}");
        }
    }
}
