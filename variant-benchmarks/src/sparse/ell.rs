//! ELLPACK: all rows as long as the longest one, stored place by place.

use super::{Csr, ROWS_AT_ONCE};
use rayon::prelude::*;
use std::sync::Arc;

/// A matrix with rows of one length.
#[derive(Debug, Clone)]
pub struct Ell {
    matrix: Arc<Csr>,
    width: usize,
    /// The first entries of all rows, then the second ones, and so on.
    places: Vec<u32>,
    values: Vec<f64>,
}

impl Ell {
    /// The padded rows of a matrix: `features::ell_fill` says how many values that are for each entry.
    pub fn new(matrix: &Arc<Csr>) -> Ell {
        let rows = matrix.rows();
        let width = (0..rows).map(|row| matrix.length(row)).max().unwrap_or(0);
        let (mut places, mut values) = (vec![0; width * rows], vec![0.0; width * rows]);
        for row in 0..rows {
            let own = matrix.row(row);
            for (at, (&place, &value)) in own.0.iter().zip(own.1).enumerate() {
                places[at * rows + row] = place;
                values[at * rows + row] = value;
            }
        }
        Ell { matrix: Arc::clone(matrix), width, places, values }
    }

    /// `y = A x`.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        let rows = self.matrix.rows();
        y.par_chunks_mut(ROWS_AT_ONCE).enumerate().for_each(|(chunk, y)| {
            let first = chunk * ROWS_AT_ONCE;
            y.fill(0.0);
            for at in 0..self.width {
                let own = at * rows + first..at * rows + first + y.len();
                let (places, values) = (&self.places[own.clone()], &self.values[own]);
                for ((y, value), &place) in y.iter_mut().zip(values).zip(places) {
                    *y += value * x[place as usize];
                }
            }
            self.matrix.repair(first, x, y);
        });
    }
}
