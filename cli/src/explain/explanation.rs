//! The work on one table, and the limits of its trees.

use super::arguments::ExplainArguments;
use tuner::starchart::model::ModelOptions;
use tuner::starchart::{Data, Goal, GrowOptions};

/// The work on one table.
pub(super) struct Explanation<'a> {
    pub arguments: &'a ExplainArguments,
    pub data: &'a Data,
    pub goal: Goal,
}

impl Explanation<'_> {
    pub fn grow_options(&self) -> GrowOptions {
        let limits = &self.arguments.tree;
        GrowOptions {
            threshold: limits.threshold,
            max_depth: limits.max_depth,
            min_leaf: limits.min_leaf,
            min_deviation: limits.min_deviation,
            preference: 0.0,
        }
    }

    pub fn model_options(&self) -> ModelOptions {
        ModelOptions { grow: self.grow_options(), ..ModelOptions::default() }
    }
}
