//! Charts that several fronts need, as data: what is on which axis, and what it is called.

mod convergence;
mod learning;
mod parallel;
mod prediction;
mod slowdowns;

pub use convergence::convergence;
pub use learning::{Trained, learning};
pub use parallel::{Across, Upright, parallel};
pub use prediction::Prediction;
pub use slowdowns::slowdowns;
