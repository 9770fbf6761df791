//! SELL-C-sigma: chunks of rows of about one length, each padded to its longest row.

use super::{Csr, by_chunks, shared};
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
        let length = |row: u32| matrix.length(row as usize);
        let windows = order.chunks_mut(SIGMA).collect();
        shared(windows, rows, |window: &mut [u32]| window.sort_by_key(|row| std::cmp::Reverse(length(*row))));
        // The first row of a chunk is its longest.
        let mut offsets = vec![0];
        offsets.extend(order.chunks(C).scan(0, |end, chunk| {
            *end += length(chunk[0]);
            Some(*end)
        }));
        let stored = offsets[offsets.len() - 1] * C;
        let (mut places, mut values) = (vec![0; stored], vec![0.0; stored]);
        let (mut places_left, mut values_left) = (&mut places[..], &mut values[..]);
        let mut windows = Vec::with_capacity(rows.div_ceil(SIGMA));
        for order in order.chunks(SIGMA) {
            let entries = C * order.chunks(C).map(|chunk| length(chunk[0])).sum::<usize>();
            let (places, rest) = places_left.split_at_mut(entries);
            places_left = rest;
            let (values, rest) = values_left.split_at_mut(entries);
            values_left = rest;
            windows.push((order, places, values));
        }
        shared(windows, stored, |(order, places, values)| {
            let mut begin = 0;
            for chunk in order.chunks(C) {
                for (lane, &row) in chunk.iter().enumerate() {
                    let own = matrix.row(row as usize);
                    for (at, (&place, &value)) in own.0.iter().zip(own.1).enumerate() {
                        places[begin + at * C + lane] = place;
                        values[begin + at * C + lane] = value;
                    }
                }
                begin += C * length(chunk[0]);
            }
        });
        Sell { matrix: Arc::clone(matrix), order, offsets, places, values }
    }

    /// `y = A x`.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        by_chunks(y, 4 * SIGMA, self.values.len(), |first, y| {
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
