//! The cache and the compilers. One program for all, which is linked once.
#![allow(clippy::unwrap_used)]

mod cache;
mod compiler;
