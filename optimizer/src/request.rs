//! What is asked for, and what a tile costs.

use crate::family::Family;
use cost_models::constants::{EnergyConstants, TimeConstants};
use cost_models::energy::{EnergyTerms, dynamic, energy};
use cost_models::hardware::Hardware;
use cost_models::memory::{Constraint, constraints, fits};
use cost_models::time::{GpuTime, Prediction, Terms, TimeModel};
use hhc_codegen::counts::forms;
use hhc_codegen::counts::{Problem, TileCounts};
use hhc_codegen::strategy::{self, Strategy};
use serde::Serialize;

/// What to minimise (paper, section 2.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
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
}

/// A problem on a machine.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The program and its grid.
    pub problem: &'a Problem,
    /// The machine.
    pub hardware: &'a Hardware,
    /// The time model with its constants.
    pub time: GpuTime,
    /// The energy model's constants; needed by all objectives but time.
    pub energy: Option<EnergyConstants>,
    /// What to minimise.
    pub objective: Objective,
    /// The strategies to choose among.
    pub strategies: Vec<&'static dyn Strategy>,
    /// The largest height to look at, in logical rows; `None`: what the back end accepts.
    pub most_height: Option<i64>,
}

/// What one tile choice costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// Time.
    pub prediction: Prediction,
    /// Energy; `None` without constants.
    pub energy: Option<EnergyTerms>,
    /// Counts, one entry per statement where statements have tiles of their own.
    pub counts: Vec<TileCounts>,
    /// The constraints of the tile that needs most.
    pub constraints: Vec<Constraint>,
}

impl Evaluation {
    /// Joules.
    pub fn joules(&self) -> Option<f64> {
        self.energy.map(|terms| terms.sum())
    }

    /// Watts: `E / T`.
    pub fn watts(&self) -> Option<f64> {
        self.joules().map(|joules| joules / self.prediction.seconds)
    }
}

impl<'a> Request<'a> {
    /// A request over all strategies that a choice considers.
    pub fn new(
        problem: &'a Problem,
        hardware: &'a Hardware,
        time: TimeConstants,
        energy: Option<EnergyConstants>,
        objective: Objective,
    ) -> Self {
        let time = GpuTime { n_sm: hardware.n_sm, n_v: hardware.n_v, constants: time };
        let strategies = strategy::in_auto().collect();
        Request { problem, hardware, time, energy, objective, strategies, most_height: None }
    }

    /// The same request for one strategy.
    pub fn only(&self, strategy: &'static dyn Strategy) -> Self {
        Request { strategies: vec![strategy], ..self.clone() }
    }

    /// All families of a strategy.
    pub fn families_of(&self, strategy: &'static dyn Strategy) -> Vec<Family> {
        let (problem, on) = (self.problem, self.hardware.multiprocessor());
        if strategy.takes(&problem.program, &problem.cone).is_err() {
            return Vec::new();
        }
        let families = forms(strategy).families(problem, &on, self.most_height);
        families.into_iter().map(|tiles| Family::new(strategy, tiles, problem.dimension())).collect()
    }

    /// All families.
    pub fn families(&self) -> Vec<Family> {
        self.strategies.iter().flat_map(|&strategy| self.families_of(strategy)).collect()
    }

    /// The tile of a strategy that needs least, whether it fits or not; `None` where there is none.
    pub(crate) fn smallest(&self, strategy: &'static dyn Strategy) -> Option<(Family, [i64; 3])> {
        let (problem, on) = (self.problem, self.hardware.multiprocessor());
        strategy.takes(&problem.program, &problem.cone).ok()?;
        let (tiles, sizes) = forms(strategy).smallest(problem, &on, self.most_height)?;
        Some((Family::new(strategy, tiles, problem.dimension()), sizes))
    }

    /// The value of the objective; `None` where the tile does not fit. This is what searches evaluate.
    #[inline]
    pub fn value(&self, family: &Family, sizes: [i64; 3], k: i64) -> Option<f64> {
        let (mut seconds, mut joules) = (0.0, 0.0);
        for class in 0..family.classes() {
            let counts = family.counts(class, sizes);
            if !fits(&counts, k, self.hardware) {
                return None;
            }
            seconds += self.time.seconds(&counts, k);
            if let Some(constants) = self.energy.as_ref().filter(|_| self.objective.needs_energy()) {
                joules += dynamic(&counts, constants).sum();
            }
        }
        Some(self.combine(seconds, joules))
    }

    /// The objective from seconds and the joules that do not depend on time.
    #[inline]
    pub(crate) fn combine(&self, seconds: f64, dynamic_joules: f64) -> f64 {
        let p_static_w = self.energy.as_ref().map_or(0.0, |constants| constants.p_static_w);
        match self.objective {
            Objective::Time => seconds,
            Objective::Energy => dynamic_joules + p_static_w * seconds,
            Objective::Power => dynamic_joules / seconds + p_static_w,
            Objective::Edp => (dynamic_joules + p_static_w * seconds) * seconds,
        }
    }

    /// Everything about one choice, whether it fits or not.
    pub fn evaluate(&self, family: &Family, sizes: [i64; 3], k: i64) -> Evaluation {
        let counts: Vec<TileCounts> =
            (0..family.classes()).map(|class| family.counts(class, sizes)).collect();
        let mut terms = Terms::default();
        let mut ideal_s = 0.0;
        for counts in &counts {
            let own = self.time.predict(counts, k);
            terms.compute += own.terms.compute;
            terms.transfer += own.terms.transfer;
            terms.barrier += own.terms.barrier;
            terms.launch += own.terms.launch;
            ideal_s += own.ideal_s;
        }
        let prediction = Prediction { seconds: terms.sum(), terms, ideal_s };
        let neediest =
            counts.iter().max_by_key(|counts| (counts.tile_bytes, counts.threads * counts.registers));
        Evaluation {
            prediction,
            energy: self.energy.as_ref().map(|constants| energy(&counts, constants, prediction.seconds)),
            constraints: neediest.map_or(Vec::new(), |counts| constraints(counts, k, self.hardware)),
            counts,
        }
    }
}
