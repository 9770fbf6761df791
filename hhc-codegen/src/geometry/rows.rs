//! How code for cores walks a box: rows at once, and blocks of points along each.

use polyhedral::program::{ElementType, Expr, ExprKind, Program, Statement};

/// More operations at a point are worth no more than four rows at once, and than two: loads are then a small part, and the compiler has as
/// much to do as there are copies. A Gray-Scott step of 35 ran as fast by eights, fours and pairs of rows on a Zen 4.
const MANY_OPERATIONS: [usize; 2] = [20, 48];

/// How many neighbouring rows (along dimension 0) the code of a statement computes at once, in order of
/// preference; 1 comes last. More rows share more loads, but need registers for their values. Statements along an end of the grid, of
/// which a program may have a dozen, have less code: one row where there is no other, and few forms where each row is a point.
pub fn rows_at_once(program: &Program, statement: &Statement) -> Vec<usize> {
    let operands = statement.reads.len();
    let [many, very_many] = MANY_OPERATIONS;
    let is_one = |d: usize| statement.domain.get(d).is_some_and(|interval| !interval.is_wide());
    match (program.dimension(), operands) {
        (1, _) => vec![1],
        _ if is_one(0) => vec![1],
        (dimension, 0..=40) if is_one(dimension - 1) => vec![4, 1],
        (2, 0..=14) if operations(statement) <= many => vec![8, 4, 2, 1],
        (_, 0..=40) if operations(statement) <= very_many => vec![4, 2, 1],
        _ => vec![2, 1],
    }
}

/// Operations at a point; a choice is two of them, with its comparison.
fn operations(statement: &Statement) -> usize {
    let of = |expr: &Expr| {
        let mut sum = 0;
        expr.walk(|part| {
            sum += match part.kind {
                ExprKind::Literal(_)
                | ExprKind::Parameter(_)
                | ExprKind::Local(_)
                | ExprKind::Read(_)
                | ExprKind::Series(..) => 0,
                ExprKind::Select(..) => 2,
                ExprKind::Negate(_) | ExprKind::Binary(..) | ExprKind::Call(..) | ExprKind::Cast(_) => 1,
            };
        });
        sum
    };
    of(&statement.value) + statement.locals.iter().map(|local| of(&local.value)).sum::<usize>()
}

/// Rows or columns of an edge at most.
const EDGE: i64 = 8;

/// Whether a statement computes the points of an edge: they are few on all grids, and their code may be plain.
pub fn is_edge(statement: &Statement) -> bool {
    statement.domain.iter().any(|interval| interval.points().is_some_and(|points| points <= EDGE))
}

/// Whether rows of a statement ask for lines some blocks before they read them. Measured on Xeons: it pays where a line takes
/// longer to come from the second cache than what is computed of it, and where loads leave room for it (decision 113).
pub fn asks_ahead(program: &Program, statement: &Statement) -> bool {
    let mut planes = statement.reads.iter().map(|read| (read.field, read.time));
    let first = planes.next();
    match program.dimension() {
        2 => statement.reads.len() <= 5 && planes.all(|plane| Some(plane) == first),
        3 => program.field(statement.target).element == ElementType::F32,
        _ => false,
    }
}

/// Bytes of a cache line, and of the widest vectors.
const LINE_BYTES: usize = 64;

/// How many points of a row are one block: whole cache lines. A single row has no other row to overlap its
/// latencies with, so it takes several lines at a time.
pub fn block_points(program: &Program, statement: &Statement) -> usize {
    let single = rows_at_once(program, statement).len() == 1;
    let lines = if single && statement.reads.len() <= 14 { 4 } else { 1 };
    lines * LINE_BYTES / program.field(statement.target).element.bytes()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn long_values_are_computed_by_fewer_rows_at_once() {
        let of_sum = |terms: usize| {
            let sum = vec!["u[t, i-1, j] * u[t, i+1, j]"; terms].join(" + ");
            let text =
                format!("stencil many(t, i, j) {{\n    field u: f32;\n    u[t+1, i, j] = {sum};\n}}\n");
            let program = polyhedral::parse("many.stencil", &text).unwrap();
            (operations(&program.statements[0]), rows_at_once(&program, &program.statements[0]))
        };
        assert_eq!(of_sum(10), (19, vec![8, 4, 2, 1]));
        assert_eq!(of_sum(11), (21, vec![4, 2, 1]));
        assert_eq!(of_sum(25), (49, vec![2, 1]));
    }

    #[test]
    fn edges_are_narrow_on_all_grids() {
        let program = polyhedral::shipped::load("fdtd2d_driven").unwrap();
        let edges: Vec<bool> = program.statements.iter().map(is_edge).collect();
        assert_eq!(edges, [true, false, false, false]);
    }
}
