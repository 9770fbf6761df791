//! Code variants chosen at run time: one function, several correct variants, and a learned model that picks the best for
//! the input and the machine at hand.
//!
//! S. Muralidharan, "Abstractions and strategies for adaptive programming", PhD thesis, University of Utah, 2016, chapter 2
//! (Nitro).
//!
//! A [`CodeVariant`] has variants, a default, features and constraints; a call evaluates the features, asks the [model]
//! and runs the choice. [`train`] makes models of [tables](table) of features and costs.
//!
//! ```
//! use adaptive::table::{Row, Table};
//! use adaptive::train::{Kind, TrainOptions, train};
//! use adaptive::{CodeVariant, Context, model_file};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // What was measured: short slices are sorted faster by insertion.
//! let row = |length: u32| Row {
//!     input: format!("random, {length}"),
//!     features: vec![f64::from(length)],
//!     feature_costs: vec![0.0],
//!     costs: vec![1e-7 + 5e-9 * f64::from(length), 1e-10 * f64::from(length * length)],
//!     ..Row::default()
//! };
//! let table = Table {
//!     name: "sort".into(),
//!     variants: vec!["merge".into(), "insertion".into()],
//!     default: 0,
//!     features: vec!["n".into()],
//!     metric: "seconds".into(),
//!     maximize: false,
//!     cutoff: None,
//!     rows: (1..40).map(|step| row(5 * step)).collect(),
//! };
//! let rows: Vec<usize> = (0..table.rows.len()).collect();
//! let options = TrainOptions { kind: Kind::Tree, ..TrainOptions::default() };
//! let trained = train(&table, &rows, &[0], &options)?;
//! let folder = tempfile::tempdir()?;
//! model_file::write(&folder.path().join("sort.model.json"), &trained.model)?;
//!
//! // The program that uses it. Without a model it runs the default, and says so.
//! let context = Context::new().models(folder.path()).on_note(|note| eprintln!("{}: {}", note.name, note.text));
//! let sort = CodeVariant::<[i32], ()>::builder(&context, "sort")
//!     .variant("merge", |keys| keys.sort())
//!     .variant("insertion", |keys| {
//!         for end in 1..keys.len() {
//!             let mut at = end;
//!             while at > 0 && keys[at - 1] > keys[at] {
//!                 keys.swap(at - 1, at);
//!                 at -= 1;
//!             }
//!         }
//!     })
//!     .feature("n", |keys| keys.len() as f64)
//!     .build()?;
//! let mut keys = [3, 1, 2];
//! sort.call(&mut keys);
//! assert_eq!(keys, [1, 2, 3]);
//! assert_eq!(sort.choose(&[0; 30]).variant, 1);
//! assert_eq!(sort.choose(&[0; 150]).variant, 0);
//! # Ok(())
//! # }
//! ```

// Functions with variants.
mod code_variant;
mod context;
mod fixed;
pub mod instance;
pub mod limits;
pub mod note;
mod plan_cache;
mod selector;

// What maps features to variants.
mod classifier;
pub mod emit;
pub mod exp;
pub mod forest;
pub mod model;
pub mod model_file;
pub mod ranking;
pub mod svm;
pub mod tree;
mod walk;

// How it is learned.
pub mod across_folds;
pub mod aslib;
pub mod commands;
pub mod csv_table;
pub mod description;
pub mod evaluate;
pub mod machines;
pub mod table;
pub mod train;
pub mod tune;

pub mod error;

pub use classifier::{Classifier, Learned};
pub use code_variant::{Builder, CodeVariant};
pub use context::{Context, FORCED};
pub use error::{AdaptiveError, Result};
pub use fixed::Fixed;
pub use selector::{Choice, Selector};
