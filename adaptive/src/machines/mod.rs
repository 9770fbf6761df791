//! Models for machines on which nothing was measured, made of what was measured on others: machines have features as inputs
//! have, and a model of both is trained on all measurements.
//!
//! S. Muralidharan, "Abstractions and strategies for adaptive programming", University of Utah, 2016, chapter 3.
//!
//! A [`Fleet`] is a file of machines; [`train_for`] is `tune_from_source`; [`select`] finds the features of machines that matter
//! (CV-DFS); [`leave_out`] says what all that is worth, machine by machine.

mod fleet;
mod left_out;
mod multitask;
mod select;
mod similarity;

pub use fleet::{Fleet, Machine};
pub use left_out::{LeftOut, leave_out};
pub use multitask::{concatenated, train_for};
pub use select::{MOST_TOGETHER, SelectOptions, Selected, select};
pub use similarity::similarities;
