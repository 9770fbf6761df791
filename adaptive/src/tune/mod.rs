//! The tuner: measures variants on training inputs, and makes models of what it finds.
//!
//! A [`Workload`] says what can be measured: [`Calls`] of functions of this program, commands
//! ([`Commands`](crate::commands::Commands)), or what is [`Recorded`]. [`Measured`] keeps what was measured in a store of trials.
//! [`search_parameters`] looks for values of variants' parameters, [`tune`] labels all inputs, [`tune_incrementally`] as few as do.

mod calls;
mod clocked;
mod exhaustive;
mod incremental;
mod measured;
mod objective;
mod parameters;
mod recorded;
mod workload;

pub use calls::{Calls, SECONDS};
pub use clocked::{
    Clocked, FREQUENCY, PairEvaluation, SetClock, TrainedPair, evaluate_pair, split, train_pair,
};
pub use exhaustive::{TuneOptions, Tuned, tune};
pub use incremental::{Incremental, Order, Step, Stopping, tune_incrementally};
pub use measured::{FEATURES, Measured};
pub use objective::{Judge, Objective};
pub use parameters::{Levels, ParameterOptions, Searched, search_parameters};
pub use recorded::{COST, Recorded};
pub use workload::{Evaluated, Workload};
