//! Sparse matrices: compressed rows, and the formats that products are faster in where a matrix suits them.
//!
//! N. Bell, M. Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented processors", SC 2009; M.
//! Kreutzer et al., "A unified sparse matrix data format for efficient general sparse matrix-vector multiplication on modern
//! processors with wide SIMD units", SIAM J. Sci. Comput. 36, 2014 (SELL-C-sigma).
//!
//! **Padding.** DIA, ELL and SELL store zeros where a row has no entry. A zero changes a sum only where it meets what is
//! not finite, and then it makes it not a number: such rows are computed again from the compressed rows.

mod csr;
mod dia;
mod ell;
pub mod features;
pub mod generate;
mod sell;

pub use csr::Csr;
pub use dia::Dia;
pub use ell::Ell;
pub use sell::Sell;

use rayon::prelude::*;

/// Rows whose results are kept in the nearest cache while a format is walked through.
const ROWS_AT_ONCE: usize = 1024;

/// Entries that are not worth another thread.
const ALONE: usize = 1 << 15;

/// Does all the work, by several threads where so many values are stored that it is worth it.
fn shared<T: Send>(items: Vec<T>, stored: usize, work: impl Fn(T) + Send + Sync) {
    match stored < ALONE {
        true => items.into_iter().for_each(work),
        false => items.into_par_iter().for_each(work),
    }
}

/// Rows of the result in chunks, with the number of the first row of each.
fn by_chunks(y: &mut [f64], rows: usize, stored: usize, work: impl Fn(usize, &mut [f64]) + Sync) {
    match stored < ALONE {
        true => y.chunks_mut(rows).enumerate().for_each(|(chunk, own)| work(chunk * rows, own)),
        false => y.par_chunks_mut(rows).enumerate().for_each(|(chunk, own)| work(chunk * rows, own)),
    }
}

/// A row times a vector, by four sums that do not wait for each other.
#[inline(always)]
fn four_sums(places: &[u32], values: &[f64], x: &[f64]) -> f64 {
    let ((fours, left), (own, last)) = (places.as_chunks::<4>(), values.as_chunks::<4>());
    let [mut a, mut b, mut c, mut d] = [0.0; 4];
    for (places, values) in fours.iter().zip(own) {
        a += values[0] * x[places[0] as usize];
        b += values[1] * x[places[1] as usize];
        c += values[2] * x[places[2] as usize];
        d += values[3] * x[places[3] as usize];
    }
    let rest = left.iter().zip(last).fold(0.0, |sum, (&at, value)| sum + value * x[at as usize]);
    (a + b) + (c + d) + rest
}
