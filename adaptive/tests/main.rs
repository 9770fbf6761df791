//! The library as its users call it. One program for all, which is linked once.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod allocation;
mod choosing;
mod classifiers;
mod clocked;
mod emitted;
mod folds;
mod machines;
mod parameters;
#[cfg(unix)]
mod redis;
mod support;
mod tuning;
