//! Tests of nested data-parallel programs.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

mod analysis;
mod cuda;
mod diagnostics;
mod language;
mod products;
mod programs;
mod random;
mod rows;
mod scans;
mod several;
mod sharing;
mod versions;
