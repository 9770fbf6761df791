//! What a cost model is, whatever the machine.

use crate::energy::EnergyTerms;
use crate::explain::{Change, Explanation, Loss, Parameter, Part, Sensitivity};
use crate::memory::Constraint;
use crate::time::Prediction;
use serde::Serialize;

/// Time and energy of an execution, as far as a search compares them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spent {
    /// `T` in seconds.
    pub seconds: f64,
    /// Joules that do not depend on time; 0 of a model without constants of energy.
    pub dynamic_j: f64,
    /// `P_static`: watts that flow whatever happens.
    pub static_w: f64,
}

impl Spent {
    /// `E` in joules.
    #[inline]
    pub fn joules(&self) -> f64 {
        self.dynamic_j + self.static_w * self.seconds
    }

    /// `E / T` in watts.
    #[inline]
    pub fn watts(&self) -> f64 {
        self.dynamic_j / self.seconds + self.static_w
    }
}

/// Bounds of what many tiles spend: every one of them spends at least `least`, and at most `most`, in time and in dynamic
/// energy, each for itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpentBounds {
    /// Not more than any.
    pub least: Spent,
    /// Not less than any; infinite where nothing is known.
    pub most: Spent,
}

/// What a tile costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// Time.
    pub prediction: Prediction,
    /// Energy; `None` of a model without its constants.
    pub energy: Option<EnergyTerms>,
    /// What the tile needs of the machine's memories, and what there is: of the kernel that needs most.
    pub constraints: Vec<Constraint>,
}

impl Cost {
    /// Joules.
    pub fn joules(&self) -> Option<f64> {
        self.energy.map(|terms| terms.sum())
    }

    /// Watts: `E / T`.
    pub fn watts(&self) -> Option<f64> {
        self.joules().map(|joules| joules / self.prediction.seconds)
    }

    /// Whether the machine can execute the tile.
    pub fn feasible(&self) -> bool {
        self.constraints.iter().all(|constraint| constraint.satisfied || !constraint.hard)
    }
}

/// A model of what tiles cost on a machine: counts in; time, energy, memory and their parts out.
///
/// The same trait serves a search over tiles on a machine that is given ([`GpuCost`](crate::gpu::GpuCost) of a described
/// GPU, [`CpuCost`](crate::cpu::CpuCost)) and one over machines, where every design is a model of its own.
pub trait CostModel: Clone + Send + Sync {
    /// What a tile does on such a machine.
    type Counts;
    /// What is known of the counts of many tiles at once.
    type Range;

    /// `T` in seconds, and nothing else.
    fn seconds(&self, counts: &Self::Counts) -> f64;

    /// What a search compares.
    fn spend(&self, counts: &Self::Counts) -> Spent;

    /// Bounds over all tiles of a range. They are exact, but for rounding, where the range is one tile.
    fn bounds(&self, range: &Self::Range) -> SpentBounds;

    /// Whether the machine can execute the tile.
    fn fits(&self, counts: &Self::Counts) -> bool;

    /// Everything that the tile costs.
    fn cost(&self, counts: &Self::Counts) -> Cost;

    /// Terms of time and energy with their formulas.
    fn breakdown(&self, counts: &Self::Counts) -> Vec<Part>;

    /// What lies between the ideal time and the predicted one; adds up to their difference.
    fn losses(&self, counts: &Self::Counts) -> Vec<Loss>;

    /// What the model depends on.
    fn parameters(&self) -> Vec<Parameter<Self>>;

    /// How the time of a tile reacts to each parameter. `count` counts the tile on a machine that was changed; parameters
    /// for which it cannot are left out.
    fn sensitivities(&self, count: &dyn Fn(&Self) -> Option<Self::Counts>) -> Vec<Sensitivity> {
        let seconds = |model: &Self| count(model).map(|counts| model.cost(&counts).prediction.seconds);
        let Some(base) = seconds(self) else { return Vec::new() };
        let reaction = |parameter: Parameter<Self>| {
            let Parameter { name, value, change } = parameter;
            let (derivative, elasticity) = match change {
                Change::Times(times) => {
                    let difference = seconds(&times(self, 1.01))? - seconds(&times(self, 0.99))?;
                    let derivative = if value > 0.0 { difference / (0.02 * value) } else { 0.0 };
                    (derivative, difference / 0.02 / base)
                }
                Change::OneMore(one_more) => {
                    let difference = seconds(&one_more(self))? - base;
                    (difference, difference * value / base)
                }
            };
            Some(Sensitivity { parameter: name, value, derivative, elasticity })
        };
        self.parameters().into_iter().filter_map(reaction).collect()
    }

    /// All that can be said about a tile; `None` where `count` cannot count it.
    fn explain(&self, count: &dyn Fn(&Self) -> Option<Self::Counts>) -> Option<Explanation> {
        let counts = count(self)?;
        let prediction = self.cost(&counts).prediction;
        Some(Explanation {
            bottleneck: prediction.terms.largest().0,
            ideal_s: prediction.ideal_s,
            overhead_s: prediction.overhead_s(),
            breakdown: self.breakdown(&counts),
            losses: self.losses(&counts),
            sensitivities: self.sensitivities(count),
        })
    }
}
