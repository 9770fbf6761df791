//! ELLPACK: all rows as long as the longest one.
//!
//! Processors have a row's entries side by side, in lines of the cache, and for each length a loop of that length, without a branch;
//! what has thousands of threads has the first entries of all rows side by side instead.

use super::{Csr, ROWS_AT_ONCE, by_chunks, four_sums, shared};
use std::sync::Arc;

/// A matrix with rows of one length.
#[derive(Debug, Clone)]
pub struct Ell {
    matrix: Arc<Csr>,
    width: usize,
    /// The entries of each row.
    places: Vec<u32>,
    values: Vec<f64>,
}

/// Products of rows that have so many entries.
type Product = fn(&[u32], &[f64], &[f64], &mut [f64]);

/// The products of rows of 1, 2, 3 and more entries.
const PRODUCTS: [Product; 32] = [
    rows::<1>, rows::<2>, rows::<3>, rows::<4>, rows::<5>, rows::<6>, rows::<7>, rows::<8>, rows::<9>,
    rows::<10>, rows::<11>, rows::<12>, rows::<13>, rows::<14>, rows::<15>, rows::<16>, rows::<17>,
    rows::<18>, rows::<19>, rows::<20>, rows::<21>, rows::<22>, rows::<23>, rows::<24>, rows::<25>,
    rows::<26>, rows::<27>, rows::<28>, rows::<29>, rows::<30>, rows::<31>, rows::<32>,
];

fn rows<const WIDTH: usize>(places: &[u32], values: &[f64], x: &[f64], y: &mut [f64]) {
    let (places, values) = (places.as_chunks::<WIDTH>().0, values.as_chunks::<WIDTH>().0);
    for (own, (places, values)) in y.iter_mut().zip(places.iter().zip(values)) {
        *own = four_sums(places, values, x);
    }
}

impl Ell {
    /// The padded rows of a matrix: `features::ell_fill` says how many values that are for each entry.
    pub fn new(matrix: &Arc<Csr>) -> Ell {
        let rows = matrix.rows();
        let width = matrix.longest();
        let (mut places, mut values) = (vec![0; width * rows], vec![0.0; width * rows]);
        let (each, stored) = ((ROWS_AT_ONCE * width).max(1), values.len());
        shared(
            places.chunks_mut(each).zip(values.chunks_mut(each)).enumerate().collect(),
            stored,
            |(chunk, (places, values))| {
                let padded = places.chunks_exact_mut(width).zip(values.chunks_exact_mut(width));
                for (row, (places, values)) in padded.enumerate() {
                    let own = matrix.row(chunk * ROWS_AT_ONCE + row);
                    places[..own.0.len()].copy_from_slice(own.0);
                    values[..own.1.len()].copy_from_slice(own.1);
                }
            },
        );
        Ell { matrix: Arc::clone(matrix), width, places, values }
    }

    /// `y = A x`.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        let width = self.width;
        by_chunks(y, ROWS_AT_ONCE, self.values.len(), |first, y| {
            let own = first * width..(first + y.len()) * width;
            let (places, values) = (&self.places[own.clone()], &self.values[own]);
            match (width, PRODUCTS.get(width.wrapping_sub(1))) {
                (0, _) => y.fill(0.0),
                (_, Some(product)) => product(places, values, x, y),
                _ => {
                    let rows = places.chunks_exact(width).zip(values.chunks_exact(width));
                    y.iter_mut().zip(rows).for_each(|(own, row)| *own = four_sums(row.0, row.1, x));
                }
            }
            self.matrix.repair(first, x, y);
        });
    }
}
