//! Models for machines on which nothing was measured, made of what was measured on others: machines have features as inputs
//! have, and a model of both is trained on all measurements.
//!
//! S. Muralidharan, "Abstractions and strategies for adaptive programming", University of Utah, 2016, chapter 3.
//!
//! A [`Fleet`] is a file of machines. [`tune_from_source`] makes the model for one of them; [`select_by_profiles`] (P-DFS) and
//! [`select`] (CV-DFS) find the features of machines that matter. [`leave_out`] says what all that is worth, machine by machine, and
//! [`sensitivity`] how much the best variant depends on the machine.

mod fleet;
mod from_source;
mod left_out;
mod multitask;
mod profiled;
pub mod profiles;
pub mod proxies;
mod select;
mod sensitivity;
mod similarity;

pub use fleet::{Fleet, Machine, ProfileSources};
pub use from_source::{Chosen, DeviceFeatures, choose_features, tune_from_source};
pub use left_out::{LeftOut, leave_out};
pub use multitask::{concatenated, train_for};
pub use profiled::{KernelVote, Profiled, select_by_profiles, votes};
pub use select::{MOST_TOGETHER, SelectOptions, Selected, select};
pub use sensitivity::{Sensitivity, sensitivity};
pub use similarity::similarities;
