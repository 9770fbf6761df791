//! The library as its users call it. One program for all, which is linked once.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod allocation;
mod choosing;
mod classifiers;
mod emitted;
mod machines;
mod support;
mod tuning;
