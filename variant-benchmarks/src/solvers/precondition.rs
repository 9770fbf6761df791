//! Preconditioners: approximate inverses that are cheap to apply.

use crate::sparse::Csr;
use rayon::prelude::*;

/// Entries of a matrix that are not worth another thread.
pub(super) const ALONE: usize = 50_000;

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
/// Numbers of a block.
const SQUARE: usize = BLOCK * BLOCK;
/// Most entries of a row of a factor: those nearest to the diagonal.
const MOST_ENTRIES: usize = 24;
/// Rows that a thread takes at once.
const ROWS: usize = 1024;

/// A preconditioner of one matrix.
#[derive(Debug, Clone)]
pub enum Preconditioner {
    /// Reciprocals of the diagonal.
    Diagonal(Vec<f64>),
    /// Inverses of the blocks, column by column; the last block is as large as the others, with zeros.
    Blocks(Vec<[f64; SQUARE]>),
    /// `G` and its transpose.
    Factor(Rows, Rows),
}

/// Rows of a sparse matrix.
#[derive(Debug, Clone)]
pub struct Rows {
    offsets: Vec<usize>,
    places: Vec<u32>,
    values: Vec<f64>,
}

impl Preconditioner {
    /// The preconditioner of a square matrix.
    ///
    /// # Errors
    /// A diagonal element or a block that has no inverse; a part of the matrix that is not positive definite, where it must be.
    pub fn new(kind: Kind, matrix: &Csr) -> Result<Preconditioner, String> {
        match kind {
            Kind::Jacobi => {
                let one = |row: usize| match matrix.get(row, row).unwrap_or(0.0) {
                    own if own != 0.0 && own.is_finite() => Ok(1.0 / own),
                    own => Err(format!("the diagonal element {row} is {own}")),
                };
                Ok(Preconditioner::Diagonal((0..matrix.rows()).map(one).collect::<Result<_, _>>()?))
            }
            Kind::BlockJacobi => {
                let one = |block: usize| {
                    let first = block * BLOCK;
                    let inverse = inverse(block_of(matrix, first), BLOCK.min(matrix.rows() - first));
                    inverse.ok_or_else(|| format!("the block at row {first} has no inverse"))
                };
                let count = matrix.rows().div_ceil(BLOCK);
                Ok(Preconditioner::Blocks(match matrix.entries() <= ALONE {
                    true => (0..count).map(one).collect::<Result<_, _>>()?,
                    false => (0..count).into_par_iter().map(one).collect::<Result<_, _>>()?,
                }))
            }
            Kind::ApproximateInverse => {
                let parts: Vec<usize> = (0..matrix.rows()).step_by(ROWS).collect();
                let one = |first: usize| factor_rows(matrix, first..(first + ROWS).min(matrix.rows()));
                let parts: Vec<Rows> = match matrix.entries() <= ALONE {
                    true => parts.into_iter().map(one).collect::<Result<_, _>>()?,
                    false => parts.into_par_iter().map(one).collect::<Result<_, _>>()?,
                };
                let factor = Rows::joined(&parts);
                let transposed = factor.transposed();
                Ok(Preconditioner::Factor(factor, transposed))
            }
        }
    }

    /// `z` becomes the approximate inverse times `r`; `room` is as long as they are.
    pub fn apply(&self, r: &[f64], z: &mut [f64], room: &mut [f64]) {
        match self {
            Preconditioner::Diagonal(values) => {
                z.iter_mut().zip(r).zip(values).for_each(|((z, r), value)| *z = r * value);
            }
            Preconditioner::Blocks(blocks) => {
                for ((z, r), block) in z.chunks_mut(BLOCK).zip(r.chunks(BLOCK)).zip(blocks) {
                    let mut sums = [0.0; BLOCK];
                    for (column, r) in block.chunks_exact(BLOCK).zip(r) {
                        sums.iter_mut().zip(column).for_each(|(sum, value)| *sum += value * r);
                    }
                    z.copy_from_slice(&sums[..r.len()]);
                }
            }
            Preconditioner::Factor(factor, transposed) => {
                factor.multiply(r, room);
                transposed.multiply(room, z);
            }
        }
    }
}

impl Rows {
    fn joined(parts: &[Rows]) -> Rows {
        let mut all = Rows { offsets: vec![0], places: Vec::new(), values: Vec::new() };
        for part in parts {
            let first = all.values.len();
            all.offsets.extend(part.offsets[1..].iter().map(|end| first + end));
            all.places.extend(&part.places);
            all.values.extend(&part.values);
        }
        all
    }

    /// Rows become columns.
    fn transposed(&self) -> Rows {
        let rows = self.offsets.len() - 1;
        let mut offsets = vec![0; rows + 1];
        self.places.iter().for_each(|&at| offsets[at as usize + 1] += 1);
        (0..rows).for_each(|row| offsets[row + 1] += offsets[row]);
        let mut next = offsets.clone();
        let (mut places, mut values) = (vec![0; self.places.len()], vec![0.0; self.values.len()]);
        for row in 0..rows {
            for at in self.offsets[row]..self.offsets[row + 1] {
                let place = &mut next[self.places[at] as usize];
                (places[*place], values[*place]) = (row as u32, self.values[at]);
                *place += 1;
            }
        }
        Rows { offsets, places, values }
    }

    /// `y = A x`.
    fn multiply(&self, x: &[f64], y: &mut [f64]) {
        let part = |(at, y): (usize, &mut [f64])| {
            let offsets = &self.offsets[at * ROWS..at * ROWS + y.len() + 1];
            for (y, ends) in y.iter_mut().zip(offsets.windows(2)) {
                let own = ends[0]..ends[1];
                let entries = self.places[own.clone()].iter().zip(&self.values[own]);
                *y = entries.fold(0.0, |sum, (&at, value)| sum + value * x[at as usize]);
            }
        };
        match self.values.len() <= ALONE {
            true => y.chunks_mut(ROWS).enumerate().for_each(part),
            false => y.par_chunks_mut(ROWS).enumerate().for_each(part),
        }
    }
}

/// The block whose first row is this one, column by column.
fn block_of(matrix: &Csr, first: usize) -> [f64; SQUARE] {
    let mut block = [0.0; SQUARE];
    for row in first..(first + BLOCK).min(matrix.rows()) {
        let (places, values) = matrix.row(row);
        let from = places.partition_point(|&at| (at as usize) < first);
        let own = places[from..].iter().zip(&values[from..]);
        for (&at, value) in own.take_while(|(at, _)| (**at as usize) < first + BLOCK) {
            block[(at as usize - first) * BLOCK + row - first] = *value;
        }
    }
    block
}

/// The inverse of so many columns of a dense matrix, by elimination with exchanges; `None` where it has none. It is the same whether
/// rows or columns lie one after the other.
fn inverse(mut a: [f64; SQUARE], side: usize) -> Option<[f64; SQUARE]> {
    let mut inverse = [0.0; SQUARE];
    (0..side).for_each(|at| inverse[at * BLOCK + at] = 1.0);
    for column in 0..side {
        let size = |row: &usize| a[row * BLOCK + column].abs();
        let pivot = (column..side).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        let value = a[pivot * BLOCK + column];
        if value == 0.0 || !value.is_finite() {
            return None;
        }
        for at in 0..BLOCK {
            a.swap(pivot * BLOCK + at, column * BLOCK + at);
            inverse.swap(pivot * BLOCK + at, column * BLOCK + at);
            a[column * BLOCK + at] /= value;
            inverse[column * BLOCK + at] /= value;
        }
        for row in (0..side).filter(|row| *row != column) {
            let factor = a[row * BLOCK + column];
            for at in 0..BLOCK {
                a[row * BLOCK + at] -= factor * a[column * BLOCK + at];
                inverse[row * BLOCK + at] -= factor * inverse[column * BLOCK + at];
            }
        }
    }
    inverse.iter().all(|value| value.is_finite()).then_some(inverse)
}

/// A matrix of the places of a row of the factor.
type Small = [[f64; MOST_ENTRIES]; MOST_ENTRIES];

/// Rows of the factor: with `J` its places, `A(J, J) y = e` of the diagonal, and a row is `y / sqrt(y of the diagonal)`.
fn factor_rows(matrix: &Csr, rows: std::ops::Range<usize>) -> Result<Rows, String> {
    let mut all = Rows { offsets: vec![0], places: Vec::new(), values: Vec::new() };
    let mut a: Small = [[0.0; MOST_ENTRIES]; MOST_ENTRIES];
    for row in rows {
        let places = matrix.row(row).0;
        let before = &places[..places.partition_point(|&at| (at as usize) < row)];
        all.places.extend(&before[(before.len() + 1).saturating_sub(MOST_ENTRIES)..]);
        all.places.push(row as u32);
        let own = &all.places[all.values.len()..];
        gather(matrix, own, &mut a);
        let y = last_column(&mut a, own.len())
            .ok_or_else(|| format!("the matrix is not positive definite at row {row}"))?;
        let root = y[own.len() - 1].sqrt();
        let count = own.len();
        all.values.extend(y[..count].iter().map(|value| value / root));
        all.offsets.push(all.values.len());
    }
    Ok(all)
}

/// The lower triangle of `A(J, J)`; of a matrix that is not symmetric, the part that is.
fn gather(matrix: &Csr, own: &[u32], a: &mut Small) {
    a[..own.len()].iter_mut().for_each(|row| row[..own.len()].fill(0.0));
    for (row, &place) in own.iter().enumerate() {
        let (places, values) = matrix.row(place as usize);
        let mut column = 0;
        for (at, value) in places.iter().zip(values) {
            while column < own.len() && own[column] < *at {
                column += 1;
            }
            if column == own.len() {
                break;
            }
            if own[column] == *at {
                let half = if row == column { *value } else { value / 2.0 };
                a[row.max(column)][row.min(column)] += half;
            }
        }
    }
}

/// The last column of the inverse of a symmetric matrix, of which the lower triangle is given, by `L D L^T`; `None` where it is not
/// positive definite.
fn last_column(a: &mut Small, side: usize) -> Option<[f64; MOST_ENTRIES]> {
    let mut pivots = [0.0; MOST_ENTRIES];
    for row in 0..side {
        // Behind this, the row has L.
        for column in 0..row {
            let sum: f64 = (0..column).map(|at| a[row][at] * a[column][at] * pivots[at]).sum();
            a[row][column] = (a[row][column] - sum) / pivots[column];
        }
        let sum: f64 = (0..row).map(|at| a[row][at] * a[row][at] * pivots[at]).sum();
        pivots[row] = a[row][row] - sum;
        if !(pivots[row] > 0.0 && pivots[row].is_finite()) {
            return None;
        }
    }
    let mut y = [0.0; MOST_ENTRIES];
    y[side - 1] = 1.0 / pivots[side - 1];
    for row in (0..side - 1).rev() {
        y[row] = -(row + 1..side).map(|at| a[at][row] * y[at]).sum::<f64>();
    }
    y[..side].iter().all(|value| value.is_finite()).then_some(y)
}
