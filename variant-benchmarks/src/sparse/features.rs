//! What tells matrices apart (Table 2.3 of the dissertation): lengths of rows, and what padding two formats need.

use super::Csr;

/// Entries for each row, on average; 0 without a row.
pub fn average_length(matrix: &Csr) -> f64 {
    matrix.entries() as f64 / matrix.rows().max(1) as f64
}

/// Standard deviation of the lengths of rows.
pub fn length_deviation(matrix: &Csr) -> f64 {
    let mean = average_length(matrix);
    let squares = matrix.lengths().map(|length| (length as f64 - mean).powi(2));
    (squares.sum::<f64>() / matrix.rows().max(1) as f64).sqrt()
}

/// How much longer the longest row is than the average one.
pub fn longest_deviation(matrix: &Csr) -> f64 {
    matrix.longest() as f64 - average_length(matrix)
}

/// For each diagonal, from the one through the lower left corner on, whether it has an entry.
pub(super) fn diagonals(matrix: &Csr) -> Vec<bool> {
    let rows = matrix.rows();
    let mut used = vec![false; (rows + matrix.columns()).saturating_sub(1)];
    for row in 0..rows {
        matrix.row(row).0.iter().for_each(|&column| used[column as usize + rows - 1 - row] = true);
    }
    used
}

/// Values that are stored by diagonals for each entry; 1 without an entry.
pub fn dia_fill(matrix: &Csr) -> f64 {
    fill(diagonals(matrix).into_iter().filter(|used| *used).count(), matrix)
}

/// Rows whose diagonals are looked at where not all are.
const SAMPLES: usize = 256;

/// The same as some rows, as far from each other, have it: at most what it is.
pub fn dia_fill_sampled(matrix: &Csr) -> f64 {
    let rows = matrix.rows();
    let step = rows.div_ceil(SAMPLES).max(1);
    let of_row = |row: usize| matrix.row(row).0.iter().map(move |&column| i64::from(column) - row as i64);
    let mut used: Vec<i64> = (0..rows).step_by(step).flat_map(of_row).collect();
    used.sort_unstable();
    used.dedup();
    // The rows may be empty ones.
    fill(used.len().max(1), matrix)
}

/// Values that are stored by rows of one length for each entry; 1 without an entry.
pub fn ell_fill(matrix: &Csr) -> f64 {
    fill(matrix.longest(), matrix)
}

fn fill(width: usize, matrix: &Csr) -> f64 {
    match matrix.entries() {
        0 => 1.0,
        entries => width as f64 * matrix.rows() as f64 / entries as f64,
    }
}
