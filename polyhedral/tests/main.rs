//! The language, the analysis and the proofs. One program for all, which is linked once.
#![allow(clippy::expect_used, clippy::unwrap_used, dead_code)]

mod analysis;
mod analysis_dependences;
mod analysis_legality;
mod analysis_random;
mod analysis_support;
mod diagnostics;
mod fuzz;
mod invariants;
mod limits;
mod portable_exp;
mod printer;
mod shipped;
