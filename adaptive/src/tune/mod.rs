//! The tuner: measures variants on training inputs, and makes models of what it finds.
//!
//! A [`Workload`] says what can be measured: [`Calls`] of functions of this program, commands
//! ([`Commands`](crate::commands::Commands)), or what is [`Recorded`]. [`Measured`] keeps what was measured in a store of trials.
//! [`tune`] labels all inputs, [`tune_incrementally`] as few as do.

mod calls;
mod exhaustive;
mod incremental;
mod measured;
mod objective;
mod recorded;
mod workload;

pub use calls::{Calls, SECONDS};
pub use exhaustive::{TuneOptions, Tuned, tune};
pub use incremental::{Incremental, Order, Step, Stopping, tune_incrementally};
pub use measured::{FEATURES, Measured};
pub use objective::{Judge, Objective};
pub use recorded::{COST, Recorded};
pub use workload::{Evaluated, Workload};
