//! Diagonals, each stored from end to end.

use super::{Csr, ROWS_AT_ONCE, by_chunks, features};
use std::sync::Arc;

/// A matrix by its diagonals.
#[derive(Debug, Clone)]
pub struct Dia {
    matrix: Arc<Csr>,
    /// Column minus row, ascending.
    diagonals: Vec<isize>,
    /// For each diagonal a value for each row.
    values: Vec<f64>,
}

impl Dia {
    /// The diagonals of a matrix: `features::dia_fill` says how many values that are for each entry.
    pub fn new(matrix: &Arc<Csr>) -> Dia {
        let rows = matrix.rows();
        let used = features::diagonals(matrix);
        let ends: Vec<usize> = (0..used.len()).filter(|&at| used[at]).collect();
        let mut place = vec![0; used.len()];
        ends.iter().enumerate().for_each(|(at, &end)| place[end] = at);
        let mut values = vec![0.0; ends.len() * rows];
        for row in 0..rows {
            let (places, own) = matrix.row(row);
            for (&column, value) in places.iter().zip(own) {
                values[place[column as usize + rows - 1 - row] * rows + row] = *value;
            }
        }
        let diagonals = ends.iter().map(|&end| end as isize + 1 - rows as isize).collect();
        Dia { matrix: Arc::clone(matrix), diagonals, values }
    }

    /// `y = A x`.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        let (rows, columns) = (self.matrix.rows(), self.matrix.columns() as isize);
        by_chunks(y, ROWS_AT_ONCE, self.values.len(), |first, y| {
            y.fill(0.0);
            for (at, &diagonal) in self.diagonals.iter().enumerate() {
                // Rows r of the chunk with 0 <= r + diagonal < columns.
                let row = |bound: isize| (bound - first as isize).clamp(0, y.len() as isize) as usize;
                let (from, to) = (row(-diagonal), row(columns - diagonal));
                if from >= to {
                    continue;
                }
                let values = &self.values[at * rows + first + from..at * rows + first + to];
                let left = ((first + from) as isize + diagonal) as usize;
                let x = &x[left..left + to - from];
                y[from..to].iter_mut().zip(values).zip(x).for_each(|((y, value), x)| *y += value * x);
            }
            self.matrix.repair(first, x, y);
        });
    }
}
