//! Measured tuning: which configuration of a program is the fastest, found with few measurements.
//!
//! One vocabulary: a [`space`] has parameters and constraints, a [`trial`] is one measured configuration, and
//! [`recorded`] spaces are files with the trials that somebody measured before.

pub mod doe;
pub mod error;
pub mod evaluator;
pub mod expression;
mod median;
pub mod recorded;
pub mod repetitions;
pub mod run;
pub mod searcher;
pub mod space;
pub mod starchart;
pub mod store;
pub mod trial;
pub mod value;

pub use error::{Result, TunerError};
pub use space::{Parameter, ParameterKind, Point, Space};
pub use trial::{Metric, Status, Trial};
pub use value::Value;
