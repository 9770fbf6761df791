//! A warp: registers of its lanes, and what instructions do to them.
//!
//! Floating-point values are not followed: what arithmetic gives and what memory holds is one, and *data*. Data may decide
//! (the slow ways of division and roots are for other numbers); an address that depends on data is an error.

mod exchange;
mod execute;
mod integers;
mod numbers;
mod predicates;
mod state;

pub use state::{Mask, Warp, fail};
