//! Charts that several fronts need, as data: what is on which axis, and what it is called.

mod convergence;
mod learning;
mod prediction;
mod slowdowns;

pub use convergence::convergence;
pub use learning::{Trained, learning};
pub use prediction::Prediction;
pub use slowdowns::slowdowns;
