//! What tells systems apart (Table 2.3 of the dissertation, after S. Bhowmick et al.), and how far a matrix is from symmetric.

use crate::sparse::Csr;

/// The logarithm of a number's size, with its sign: `sign(x) ln(1 + |x|)`.
pub fn logarithm(value: f64) -> f64 {
    value.signum() * value.abs().ln_1p()
}

fn diagonal(matrix: &Csr) -> impl Iterator<Item = f64> + '_ {
    (0..matrix.rows()).map(|row| matrix.get(row, row).unwrap_or(0.0))
}

/// Sum of the diagonal.
pub fn trace(matrix: &Csr) -> f64 {
    diagonal(matrix).sum()
}

/// Mean of the diagonal.
pub fn diagonal_mean(matrix: &Csr) -> f64 {
    trace(matrix) / matrix.rows().max(1) as f64
}

/// Variance of the diagonal.
pub fn diagonal_variance(matrix: &Csr) -> f64 {
    let mean = diagonal_mean(matrix);
    diagonal(matrix).map(|value| (value - mean).powi(2)).sum::<f64>() / matrix.rows().max(1) as f64
}

/// Share of rows whose diagonal element is at least as large as all others together.
pub fn dominance(matrix: &Csr) -> f64 {
    let dominant = |row: &usize| {
        let sum: f64 = matrix.row(*row).1.iter().map(|value| value.abs()).sum();
        2.0 * matrix.get(*row, *row).unwrap_or(0.0).abs() >= sum * (1.0 - 1e-12)
    };
    (0..matrix.rows()).filter(dominant).count() as f64 / matrix.rows().max(1) as f64
}

/// How far an entry is to the left of the diagonal, at most.
pub fn left_bandwidth(matrix: &Csr) -> usize {
    let far = |row: usize| matrix.row(row).0.first().map_or(0, |&first| row.saturating_sub(first as usize));
    (0..matrix.rows()).map(far).max().unwrap_or(0)
}

/// The greatest sum of sizes of a column.
pub fn norm_1(matrix: &Csr) -> f64 {
    let mut sums = vec![0.0; matrix.columns()];
    for row in 0..matrix.rows() {
        let (places, values) = matrix.row(row);
        places.iter().zip(values).for_each(|(&at, value)| sums[at as usize] += value.abs());
    }
    sums.into_iter().fold(0.0, f64::max)
}

/// Rows that are looked at.
const SAMPLES: usize = 200;

/// Share of entries, of some rows, that are not the same across the diagonal.
pub fn asymmetry(matrix: &Csr) -> f64 {
    let (mut seen, mut other) = (0, 0);
    for row in (0..matrix.rows()).step_by((matrix.rows() / SAMPLES).max(1)) {
        let (places, values) = matrix.row(row);
        for (&at, value) in places.iter().zip(values).filter(|(at, _)| (**at as usize) < matrix.rows()) {
            seen += 1;
            other += usize::from(matrix.get(at as usize, row) != Some(*value));
        }
    }
    f64::from(other as u32) / f64::from(seen.max(1) as u32)
}
