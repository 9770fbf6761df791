//! Models of tables: trainers of three kinds behind one trait, cross-validation, selection of features.
//!
//! [`train`] is the whole of it. A [`Trainer`] has settings, the simplest first; cross-validation takes the one whose choices
//! come nearest to the best variants, and it is trained again on all rows.

mod data;
mod folds;
mod forest;
mod model;
mod select;
mod svm;
mod trainer;
mod tree;
mod validate;

pub use data::{Data, PENALTY, par10};
pub use folds::{folds, held_out};
pub use forest::ForestTrainer;
pub(crate) use model::train_on;
pub use model::{Kind, TrainOptions, Trained, train};
pub use select::{Worth, select_features, worth_by_cost};
pub use svm::{Grid, SvmTrainer, train_svm};
pub use trainer::Trainer;
pub use tree::TreeTrainer;
pub use validate::{Criterion, Validated, best_setting, choose, validate};
