//! Trials: what was measured, where, with which binary, and what failed.
//!
//! A [`Trial`] is one measured configuration. A [`Store`] keeps trials in a file, record by record, so that nothing is lost
//! when a measurement is killed; trials of all commands, programs and machines can be in one. A [`Repository`] is a store, or a
//! server that a team shares. A [`Recording`] is what any
//! file has of trials: a store of ours, Kernel Tuner's cache, T4, CSV; plain or packed by gzip.
//!
//! ```
//! use std::sync::Arc;
//! use trials::{Configuration, Outcome, ReadOptions, Recording, Setting, Store, Trial, Value};
//!
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("trials.jsonl");
//! let setting = Arc::new(Setting {
//!     program: "heat2d".into(),
//!     size: "512x512".into(),
//!     machine: "AMD EPYC 9R14".into(),
//!     response: "seconds".into(),
//!     ..Setting::default()
//! });
//! let mut store = Store::open(&file)?;
//! for (st, seconds) in [(2, 0.31), (4, 0.25)] {
//!     let configuration = Configuration::of([("st".to_owned(), Value::Integer(st))]);
//!     let outcome = Outcome::measured("seconds", seconds).now();
//!     store.append(&Trial { configuration, outcome, setting: Arc::clone(&setting), round: 0 })?;
//! }
//!
//! let recording = Recording::open(&file, &ReadOptions::default())?;
//! assert_eq!(recording.trials.len(), 2);
//! assert_eq!(recording.trials[1].outcome.response(&recording.response), Some(0.25));
//! assert_eq!(recording.parameters[0].levels(), [Value::Integer(2), Value::Integer(4)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod entries;
pub mod error;
pub mod formats;
mod limits;
pub mod median;
mod mixed;
pub mod parameter;
mod place;
pub mod problem;
mod recording;
pub mod repository;
pub mod setting;
pub mod store;
pub mod trial;
pub mod value;

pub use error::{Result, TrialsError};
pub use formats::roles::{ReadOptions, Roles};
pub use mixed::Mixed;
pub use parameter::{Parameter, ParameterKind};
pub use recording::{Format, Recording};
pub use repository::Repository;
pub use setting::Setting;
pub use store::Store;
pub use trial::{Configuration, Metric, Outcome, Status, Trial};
pub use value::Value;
