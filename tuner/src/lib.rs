//! Measured tuning: which configuration of a program is the fastest, found with few measurements.
//!
//! One vocabulary: a [`space`] has parameters and constraints, an [`evaluator`] measures its points, a [`searcher`] asks
//! for points within a budget ([`run`]), and what was measured is kept in a [store of trials](trials::Store) ([`kept`]).
//! [`recorded`] spaces are files with the trials that somebody measured before.
//!
//! ```
//! use std::sync::Arc;
//! use tuner::evaluator::Predicted;
//! use tuner::run::{Budget, Run};
//! use tuner::searcher::{SearchOptions, named};
//! use tuner::{Parameter, Space, Value};
//!
//! let block = Parameter::new("block", (1..=64).map(Value::Integer).collect())?;
//! let unroll = Parameter::new("unroll", vec![1.into(), 2.into(), 4.into()])?;
//! let space = Space::new(vec![block, unroll], &["block % unroll == 0".to_owned()])?;
//! // A formula stands in for a measurement.
//! let inner = space.clone();
//! let seconds = move |point: &tuner::Point| {
//!     let values = inner.numbers(point);
//!     Ok((values[0] - 24.0).powi(2) + 8.0 / values[1])
//! };
//! let model = Predicted::new(Arc::new(seconds), "seconds", "s", "a parabola");
//! let budget = Budget { evaluations: 60, time: None };
//! let mut run = Run::new(&space, "seconds", &model, budget, 1);
//! // A search ends by its budget; what it found is in the run.
//! let _ = named("surrogate", &SearchOptions::default())?.search(&mut run);
//! let best = run.best().ok_or("nothing was measured")?;
//! assert_eq!(space.text(&best.point), "block=24, unroll=4");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod doe;
pub mod error;
pub mod evaluator;
pub mod expression;
pub mod kept;
pub mod recorded;
pub mod repetitions;
pub mod run;
pub mod searcher;
pub mod space;
pub mod starchart;
pub mod tried;

pub use error::{Result, TunerError};
pub use space::{Point, Space};
pub use trials::{Metric, Outcome, Parameter, ParameterKind, Setting, Status, Value};
pub use tried::Tried;
