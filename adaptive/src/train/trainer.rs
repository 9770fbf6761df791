//! What all trainers have in common.

use super::data::Data;
use crate::classifier::Learned;

/// Trains one kind of classifier.
pub trait Trainer: Sync {
    /// The kind, as options name it.
    fn name(&self) -> &'static str;

    /// Number of settings that are tried, the simplest first; cross-validation chooses.
    fn settings(&self, data: &Data) -> usize;

    /// Trains with a setting on some rows of the data, of which there is at least one.
    fn fit(&self, data: &Data, rows: &[usize], setting: usize) -> Learned;
}
