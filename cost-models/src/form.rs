//! The two forms of the time model of a GPU.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What the time on a GPU is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeModel {
    /// Counts of the printed code; memory and computing overlap as far as resident tiles allow.
    #[default]
    Counted,
    /// The paper's: one constant per iteration; from two resident tiles on, everything overlaps.
    Paper,
}

impl TimeModel {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            TimeModel::Counted => "counted",
            TimeModel::Paper => "paper",
        }
    }
}

impl fmt::Display for TimeModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
