//! SELL-C-sigma: chunks of rows of about one length, each padded to its longest row.

use super::Csr;
use rayon::prelude::*;
use std::sync::Arc;

/// Rows of a chunk.
const C: usize = 8;
/// Rows that are sorted by their length.
const SIGMA: usize = 256;

/// A matrix in chunks of eight rows, sorted within 256.
#[derive(Debug, Clone)]
pub struct Sell {
    matrix: Arc<Csr>,
    /// The rows of each window, longest first.
    order: Vec<u32>,
    /// Where each chunk begins, in eights, and the end of the last one.
    offsets: Vec<usize>,
    places: Vec<u32>,
    values: Vec<f64>,
}

impl Sell {
    /// The chunks of a matrix.
    pub fn new(matrix: &Arc<Csr>) -> Sell {
        let rows = matrix.rows();
        let mut order: Vec<u32> = (0..rows as u32).collect();
        let longest_first = |row: &u32| std::cmp::Reverse(matrix.length(*row as usize));
        order.chunks_mut(SIGMA).for_each(|window| window.sort_by_key(longest_first));
        let (mut offsets, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
        for chunk in order.chunks(C) {
            // The first row of a chunk is its longest.
            let width = matrix.length(chunk[0] as usize);
            let begin = places.len();
            places.resize(begin + width * C, 0);
            values.resize(begin + width * C, 0.0);
            for (lane, &row) in chunk.iter().enumerate() {
                let own = matrix.row(row as usize);
                for (at, (&place, &value)) in own.0.iter().zip(own.1).enumerate() {
                    places[begin + at * C + lane] = place;
                    values[begin + at * C + lane] = value;
                }
            }
            offsets.push(places.len() / C);
        }
        Sell { matrix: Arc::clone(matrix), order, offsets, places, values }
    }

    /// `y = A x`.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        y.par_chunks_mut(SIGMA).enumerate().with_min_len(4).for_each(|(window, y)| {
            let first = window * SIGMA;
            let order = &self.order[first..first + y.len()];
            for (at, rows) in order.chunks(C).enumerate() {
                let chunk = first / C + at;
                let own = self.offsets[chunk] * C..self.offsets[chunk + 1] * C;
                let eights = self.places[own.clone()].chunks_exact(C).zip(self.values[own].chunks_exact(C));
                let mut sums = [0.0; C];
                for (places, values) in eights {
                    for lane in 0..C {
                        sums[lane] += values[lane] * x[places[lane] as usize];
                    }
                }
                rows.iter().zip(sums).for_each(|(&row, sum)| y[row as usize - first] = sum);
            }
            self.matrix.repair(first, x, y);
        });
    }
}
