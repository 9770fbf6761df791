//! Design of experiments: model formulas, designs, and what can be learned from measured ones.
//!
//! The road of one step: a [`formula`] becomes a [`model`] of a space; [`fedorov`] chooses which points to measure for
//! it; [`box_cox`] finds the scale of the responses, [`least_squares`] fits, [`anova`] says which terms matter.
//! [`plackett_burman`] makes screening designs for factors of two levels.

pub mod anova;
pub mod box_cox;
pub mod fedorov;
pub mod formula;
pub mod least_squares;
pub mod model;
pub mod plackett_burman;

pub use anova::{Anova, AnovaRow};
pub use box_cox::BoxCox;
pub use formula::Formula;
pub use least_squares::{Fit, Interval};
pub use model::Model;

#[cfg(test)]
mod tests;
