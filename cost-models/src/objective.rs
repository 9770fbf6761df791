//! What is minimised over tiles.

use crate::model::{CostModel, Spent, SpentBounds};
use serde::{Deserialize, Serialize};

/// What to minimise (paper, section 2.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// Seconds.
    Time,
    /// Joules.
    Energy,
    /// Watts, the mean over the execution.
    Power,
    /// Energy-delay product in joule seconds.
    Edp,
}

impl Objective {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Objective::Time => "time",
            Objective::Energy => "energy",
            Objective::Power => "power",
            Objective::Edp => "edp",
        }
    }

    /// The unit of its values.
    pub fn unit(self) -> &'static str {
        match self {
            Objective::Time => "s",
            Objective::Energy => "J",
            Objective::Power => "W",
            Objective::Edp => "J s",
        }
    }

    /// Whether it needs energies.
    pub fn needs_energy(self) -> bool {
        self != Objective::Time
    }

    /// Its value.
    #[inline]
    pub fn value(self, spent: &Spent) -> f64 {
        match self {
            Objective::Time => spent.seconds,
            Objective::Energy => spent.joules(),
            Objective::Power => spent.watts(),
            Objective::Edp => spent.joules() * spent.seconds,
        }
    }

    /// The value of a tile on the machine of a model.
    #[inline]
    pub fn of<M: CostModel>(self, model: &M, counts: &M::Counts) -> f64 {
        match self {
            Objective::Time => model.seconds(counts),
            _ => self.value(&model.spend(counts)),
        }
    }

    /// A value that no tile within the bounds goes below.
    pub fn bound(self, bounds: &SpentBounds) -> f64 {
        let SpentBounds { least, most } = bounds;
        match self {
            // Watts fall with the time that the joules are spread over.
            Objective::Power => self.value(&Spent { seconds: most.seconds, ..*least }),
            _ => self.value(least),
        }
    }
}
