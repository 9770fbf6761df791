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

/// Rows whose results are kept in the nearest cache while a format is walked through.
const ROWS_AT_ONCE: usize = 1024;
