//! What tells systems apart (Table 2.3 of the dissertation, after S. Bhowmick et al.), and how far a matrix is from symmetric.

use crate::sparse::Csr;

/// The logarithm of a number's size, with its sign: `sign(x) ln(1 + |x|)`.
pub fn logarithm(value: f64) -> f64 {
    value.signum() * value.abs().ln_1p()
}

/// Entries whose difference is at most this part of them are the same: a symmetric matrix that was scaled from both sides,
/// `(a s_i) s_j` and `(a s_j) s_i`, differs from its transpose in the last bits.
const ROUNDING: f64 = 1e-12;
/// Rows whose entries are looked for across the diagonal.
const SAMPLES: usize = 200;

/// Features of a square matrix, of which all but one come out of one pass over its entries: a pass for each would cost six in
/// a hundred of what a system takes to solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Sum of the diagonal.
    pub trace: f64,
    /// Mean of the diagonal.
    pub diagonal_mean: f64,
    /// Variance of the diagonal.
    pub diagonal_variance: f64,
    /// Share of rows whose diagonal element is at least as large as all others together.
    pub dominance: f64,
    /// How far an entry is to the left of the diagonal, at most.
    pub left_bandwidth: usize,
    /// The greatest sum of sizes of a column.
    pub norm_1: f64,
    /// Share of entries, of some rows, that are not the same across the diagonal, but for rounding.
    pub asymmetry: f64,
}

impl Summary {
    /// The features of a matrix.
    pub fn of(matrix: &Csr) -> Summary {
        let (mut diagonal, mut columns) = (vec![0.0; matrix.rows()], vec![0.0; matrix.columns()]);
        let (mut dominant, mut left_bandwidth) = (0, 0);
        for (row, own) in diagonal.iter_mut().enumerate() {
            let (places, values) = matrix.row(row);
            let mut sum = 0.0;
            for (&at, value) in places.iter().zip(values) {
                let size = value.abs();
                sum += size;
                columns[at as usize] += size;
                if at as usize == row {
                    *own = *value;
                }
            }
            dominant += usize::from(2.0 * own.abs() >= sum * (1.0 - ROUNDING));
            left_bandwidth =
                left_bandwidth.max(places.first().map_or(0, |&first| row.saturating_sub(first as usize)));
        }
        let rows = matrix.rows().max(1) as f64;
        let trace: f64 = diagonal.iter().sum();
        let mean = trace / rows;
        Summary {
            trace,
            diagonal_mean: mean,
            diagonal_variance: diagonal.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / rows,
            dominance: dominant as f64 / rows,
            left_bandwidth,
            norm_1: columns.into_iter().fold(0.0, f64::max),
            asymmetry: asymmetry(matrix),
        }
    }
}

fn asymmetry(matrix: &Csr) -> f64 {
    let (mut seen, mut other) = (0, 0);
    for row in (0..matrix.rows()).step_by((matrix.rows() / SAMPLES).max(1)) {
        let (places, values) = matrix.row(row);
        for (&at, value) in places.iter().zip(values).filter(|(at, _)| (**at as usize) < matrix.rows()) {
            seen += 1;
            let is_same = |across: f64| (across - value).abs() <= ROUNDING * value.abs().max(across.abs());
            other += usize::from(!matrix.get(at as usize, row).is_some_and(is_same));
        }
    }
    f64::from(other as u32) / f64::from(seen.max(1) as u32)
}
