//! The tree, its folding and its text. One program for all, which is linked once.
#![allow(clippy::unwrap_used)]

mod print;
mod scope;
mod values;
