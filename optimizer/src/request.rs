//! What is asked for on a GPU, and what a tile costs there.

use crate::family::{Family, TileText, last_true};
use cost_models::constants::{EnergyConstants, TimeConstants};
use cost_models::gpu::GpuCost;
use cost_models::hardware::Hardware;
use cost_models::memory::fits;
use cost_models::model::{Cost, CostModel};
use cost_models::objective::Objective;
use hhc_codegen::counts::{Problem, TileCounts, forms};
use hhc_codegen::strategy::{self, Strategy, Target};

/// A problem on a machine.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The program and its grid.
    pub problem: &'a Problem,
    /// The model of the machine; all objectives but time need its constants of energy.
    pub model: GpuCost,
    /// What to minimise.
    pub objective: Objective,
    /// The strategies to choose among.
    pub strategies: Vec<&'static dyn Strategy>,
    /// The largest height to look at, in logical rows; `None`: what the back end accepts.
    pub most_height: Option<i64>,
    /// Tiles that are passed over, with all whose code differs from theirs in the bounds of loops alone.
    pub passed_over: Vec<TileText>,
    /// Whether tiles are passed over that may need more registers than the compiler may give.
    pub sure_of_registers: bool,
}

impl<'a> Request<'a> {
    /// A request over all strategies that a choice considers.
    pub fn new(
        problem: &'a Problem,
        hardware: &Hardware,
        time: TimeConstants,
        energy: Option<EnergyConstants>,
        objective: Objective,
    ) -> Self {
        Request::of_model(problem, GpuCost::with_constants(hardware.clone(), time, energy), objective)
    }

    /// A request over all strategies that a choice considers, by this model.
    pub fn of_model(problem: &'a Problem, model: GpuCost, objective: Objective) -> Self {
        let strategies = strategy::in_auto(Target::Cuda).collect();
        Request {
            problem,
            model,
            objective,
            strategies,
            most_height: None,
            passed_over: Vec::new(),
            sure_of_registers: false,
        }
    }

    /// The same request for one strategy.
    pub fn only(&self, strategy: &'static dyn Strategy) -> Self {
        Request { strategies: vec![strategy], ..self.clone() }
    }

    /// All families of a strategy.
    pub fn families_of(&self, strategy: &'static dyn Strategy) -> Vec<Family> {
        let (problem, on) = (self.problem, self.model.hardware.multiprocessor());
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
        let (problem, on) = (self.problem, self.model.hardware.multiprocessor());
        strategy.takes(&problem.program, &problem.cone).ok()?;
        let (tiles, sizes) = forms(strategy).smallest(problem, &on, self.most_height)?;
        Some((Family::new(strategy, tiles, problem.dimension()), sizes))
    }

    /// The value of the objective; `None` where the tile does not fit. This is what searches evaluate.
    #[inline]
    pub fn value(&self, family: &Family, sizes: [i64; 3], k: i64) -> Option<f64> {
        if self.passes_over(family, sizes) {
            return None;
        }
        let resident = family.resident(&self.model, sizes, k);
        self.model.fits(&resident).then(|| self.objective.of(&self.model, &resident))
    }

    /// How many tiles of these sizes can be resident at a time, at most `limit`; 0 where the tile is no candidate.
    pub(crate) fn most_k(&self, family: &Family, sizes: [i64; 3], limit: i64) -> i64 {
        if self.passes_over(family, sizes) {
            return 0;
        }
        let of_class = |class: usize| {
            let counts = family.counts(class, sizes);
            let counted = self.model.counted.map_or(0, |_| family.registers(class, sizes).0);
            let counts = TileCounts { registers: counts.registers.max(counted), ..counts };
            last_true(limit, |k| fits(&counts, k + 1, &self.model.hardware)) + 1
        };
        (0..family.classes()).map(of_class).min().unwrap_or(0)
    }

    fn passes_over(&self, family: &Family, sizes: [i64; 3]) -> bool {
        let too_few = |class: usize| {
            let (given, needed) = family.registers(class, sizes);
            needed > given
        };
        (self.sure_of_registers && (0..family.classes()).any(too_few))
            || (!self.passed_over.is_empty() && self.passed_over.contains(&family.text(sizes)))
    }

    /// Everything about one choice, whether it fits or not.
    pub fn evaluate(&self, family: &Family, sizes: [i64; 3], k: i64) -> Cost {
        self.model.cost(&family.resident(&self.model, sizes, k))
    }
}
