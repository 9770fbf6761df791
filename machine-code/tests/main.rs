//! Listings read and run. One program for all, which is linked once.
#![allow(clippy::unwrap_used)]

mod counted;
mod fuzz;
mod written;
