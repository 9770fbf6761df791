//! How code for cores walks a box: rows at once, and blocks of points along each.

use polyhedral::program::{ElementType, Program, Statement};

/// How many neighbouring rows (along dimension 0) the code of a statement computes at once, in order of
/// preference; 1 comes last. More rows share more loads, but need registers for their values. Statements along an end of the grid, of
/// which a program may have a dozen, have less code: one row where there is no other, and few forms where each row is a point.
pub fn rows_at_once(program: &Program, statement: &Statement) -> Vec<usize> {
    let operands = statement.reads.len();
    let is_one = |d: usize| statement.domain.get(d).is_some_and(|interval| !interval.is_wide());
    match (program.dimension(), operands) {
        (1, _) => vec![1],
        _ if is_one(0) => vec![1],
        (dimension, 0..=40) if is_one(dimension - 1) => vec![4, 1],
        (2, 0..=14) => vec![8, 4, 2, 1],
        (_, 0..=40) => vec![4, 2, 1],
        _ => vec![2, 1],
    }
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
