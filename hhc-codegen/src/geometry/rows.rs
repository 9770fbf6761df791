//! How code for cores walks a box: rows at once, and blocks of points along each.

use polyhedral::program::{Program, Statement};

/// How many neighbouring rows (along dimension 0) the code of a statement computes at once, in order of
/// preference; 1 comes last. More rows share more loads, but need registers for their values.
pub fn rows_at_once(program: &Program, statement: &Statement) -> Vec<usize> {
    let operands = statement.reads.len();
    match (program.dimension(), operands) {
        (1, _) => vec![1],
        (2, 0..=14) => vec![8, 4, 2, 1],
        (_, 0..=40) => vec![4, 2, 1],
        _ => vec![2, 1],
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
