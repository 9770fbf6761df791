//! Preconditioners: approximate inverses that are cheap to apply.

use crate::sparse::Csr;

/// A kind of preconditioner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The diagonal.
    Jacobi,
    /// Blocks along the diagonal.
    BlockJacobi,
    /// A factorised approximate inverse, `G^T G`, where `G` has the places of the lower triangle: L. Kolotilina, A. Yeremin,
    /// "Factorized sparse approximate inverse preconditionings I", SIAM J. Matrix Anal. Appl. 14, 1993.
    ApproximateInverse,
}

/// Rows of a block.
const BLOCK: usize = 8;
/// Most entries of a row of a factor: those nearest to the diagonal.
const MOST_ENTRIES: usize = 24;

/// A preconditioner of one matrix.
#[derive(Debug, Clone)]
pub enum Preconditioner {
    /// Reciprocals of the diagonal.
    Diagonal(Vec<f64>),
    /// Inverses of the blocks, row by row; the last block may be smaller.
    Blocks(Vec<Vec<f64>>),
    /// Rows of `G`: columns and values.
    Factor(Vec<(Vec<u32>, Vec<f64>)>),
}

impl Preconditioner {
    /// The preconditioner of a square matrix.
    ///
    /// # Errors
    /// A diagonal element or a block that has no inverse; a part of the matrix that is not positive definite, where it must be.
    pub fn new(kind: Kind, matrix: &Csr) -> Result<Preconditioner, String> {
        let element = |row: usize, column: usize| matrix.get(row, column).unwrap_or(0.0);
        match kind {
            Kind::Jacobi => {
                let one = |row: usize| match element(row, row) {
                    own if own != 0.0 && own.is_finite() => Ok(1.0 / own),
                    own => Err(format!("the diagonal element {row} is {own}")),
                };
                Ok(Preconditioner::Diagonal((0..matrix.rows()).map(one).collect::<Result<_, _>>()?))
            }
            Kind::BlockJacobi => {
                let one = |first: usize| {
                    let side = BLOCK.min(matrix.rows() - first);
                    let at = |place: usize| element(first + place / side, first + place % side);
                    let block: Vec<f64> = (0..side * side).map(at).collect();
                    inverse(block, side).ok_or_else(|| format!("the block at row {first} has no inverse"))
                };
                let firsts = (0..matrix.rows()).step_by(BLOCK);
                Ok(Preconditioner::Blocks(firsts.map(one).collect::<Result<_, _>>()?))
            }
            Kind::ApproximateInverse => {
                let rows = (0..matrix.rows()).map(|row| factor_row(matrix, row));
                Ok(Preconditioner::Factor(rows.collect::<Result<_, _>>()?))
            }
        }
    }

    /// `z` becomes the approximate inverse times `r`.
    pub fn apply(&self, r: &[f64], z: &mut [f64]) {
        match self {
            Preconditioner::Diagonal(values) => {
                z.iter_mut().zip(r).zip(values).for_each(|((z, r), value)| *z = r * value);
            }
            Preconditioner::Blocks(blocks) => {
                for ((z, r), block) in z.chunks_mut(BLOCK).zip(r.chunks(BLOCK)).zip(blocks) {
                    for (z, row) in z.iter_mut().zip(block.chunks(r.len())) {
                        *z = row.iter().zip(r).map(|(value, r)| value * r).sum();
                    }
                }
            }
            Preconditioner::Factor(rows) => {
                z.fill(0.0);
                for (columns, values) in rows {
                    let own: f64 =
                        columns.iter().zip(values).map(|(&at, value)| value * r[at as usize]).sum();
                    columns.iter().zip(values).for_each(|(&at, value)| z[at as usize] += value * own);
                }
            }
        }
    }
}

/// The inverse of a dense matrix, by elimination with row exchanges; `None` where it has none.
fn inverse(mut a: Vec<f64>, side: usize) -> Option<Vec<f64>> {
    let mut inverse = vec![0.0; side * side];
    (0..side).for_each(|at| inverse[at * side + at] = 1.0);
    for column in 0..side {
        let size = |row: &usize| a[row * side + column].abs();
        let pivot = (column..side).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        let value = a[pivot * side + column];
        if value == 0.0 || !value.is_finite() {
            return None;
        }
        for at in 0..side {
            a.swap(pivot * side + at, column * side + at);
            inverse.swap(pivot * side + at, column * side + at);
            a[column * side + at] /= value;
            inverse[column * side + at] /= value;
        }
        for row in (0..side).filter(|row| *row != column) {
            let factor = a[row * side + column];
            for at in 0..side {
                a[row * side + at] -= factor * a[column * side + at];
                inverse[row * side + at] -= factor * inverse[column * side + at];
            }
        }
    }
    inverse.iter().all(|value| value.is_finite()).then_some(inverse)
}

/// A row of the factor: with `J` its places, `A(J, J) y = e` of the diagonal, and the row is `y / sqrt(y of the diagonal)`.
fn factor_row(matrix: &Csr, row: usize) -> Result<(Vec<u32>, Vec<f64>), String> {
    let mut columns: Vec<u32> = matrix.row(row).0.iter().copied().filter(|at| (*at as usize) < row).collect();
    columns.drain(..(columns.len() + 1).saturating_sub(MOST_ENTRIES));
    columns.push(row as u32);
    let side = columns.len();
    let at = |place: usize| {
        let (row, column) = (columns[place / side] as usize, columns[place % side] as usize);
        // Of a matrix that is not symmetric, the part that is.
        let both = [matrix.get(row, column), matrix.get(column, row)];
        both.into_iter().flatten().sum::<f64>() / 2.0
    };
    let inverse = inverse((0..side * side).map(at).collect(), side);
    let last = inverse.map(|own| own[side * (side - 1)..].to_vec());
    match last {
        Some(last) if last[side - 1] > 0.0 => {
            let root = last[side - 1].sqrt();
            Ok((columns, last.into_iter().map(|value| value / root).collect()))
        }
        _ => Err(format!("the matrix is not positive definite at row {row}")),
    }
}
