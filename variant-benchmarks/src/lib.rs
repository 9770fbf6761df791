//! Functions with several correct variants, each of which is the best for some inputs: what learned choices are measured on.
//!
//! The benchmarks are those of S. Muralidharan, "Abstractions and strategies for adaptive programming", PhD thesis, University of
//! Utah, 2016 (Tables 2.3 and 3.4), with the tables' variants and features, for processors instead of GPUs. A
//! [`Benchmark`](benchmark::Benchmark) makes its function and its inputs; [`study`] measures, trains and scores.
//!
//! Threads are those of the current pool of rayon. No variant has unsafe code.

pub mod benchmark;
pub mod bfs;
pub mod clocks;
pub mod convergence;
pub mod histogram;
pub mod random;
pub mod score;
pub mod solvers;
pub mod sort;
pub mod sparse;
pub mod spmv;
pub mod study;
pub mod transpose;
