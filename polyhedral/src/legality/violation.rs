//! A dependence that a schedule breaks.

use super::instance::{Problem, Scheduled};
use crate::dependence::Dependence;
use std::fmt;

/// How the target of a violated dependence runs relative to its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misorder {
    /// In an earlier value of a sequential dimension.
    Before,
    /// In another value of a parallel dimension.
    InParallel,
    /// With the same vector.
    Together,
}

/// A dependence that a schedule breaks, with a pair of instances that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The dependence.
    pub dependence: Dependence,
    /// Name of the field whose cell is shared.
    pub field: String,
    /// The instance that must run first.
    pub source: Scheduled,
    /// The instance that must run later.
    pub target: Scheduled,
    /// How it runs instead.
    pub misorder: Misorder,
    /// Index and name of the first schedule dimension in which they differ; `None` for
    /// [`Misorder::Together`].
    pub dimension: Option<(usize, String)>,
    /// The problem in which this happens.
    pub problem: Problem,
}

impl std::error::Error for Violation {}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match (self.misorder, &self.dimension) {
            (Misorder::Before, Some((_, name))) => format!("before it in dimension `{name}`"),
            (Misorder::InParallel, Some((_, name))) => format!("in parallel with it in dimension `{name}`"),
            _ => "at the very same place".to_owned(),
        };
        write!(
            formatter,
            "the schedule breaks the {} through field {}: {} must run after {}, but runs {how} (problem: {})",
            self.dependence, self.field, self.target, self.source, self.problem
        )
    }
}
