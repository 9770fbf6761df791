//! A stencil on a machine, ready for the models: what tiles cost there and why, and which of them are best.

use crate::choice::{automatic_on_gpu, is_tried};
use crate::cpu_model::CpuModel;
use crate::error::{Error, Result};
use crate::finalists::{Finalist, finalist};
use crate::gpu_model::GpuModel;
use crate::load::Stencil;
use crate::observer::Silent;
use crate::strategies;
use cost_models::constants::{EnergyConstants, TimeConstants};
use cost_models::energy::EnergyTerms;
use cost_models::explain::Explanation;
use cost_models::gpu::{GpuCost, TimeModel};
use cost_models::machine::{Machine, MachineKind};
use cost_models::memory::Constraint;
use cost_models::model::{Cost, CostModel};
use cost_models::time::Terms;
use hhc_codegen::TileSizes;
use hhc_codegen::counts::{Problem, TileCounts};
use hhc_codegen::strategy::{self, AUTO, Strategy, Target};
use optimizer::residence::{Resident, best_k, hyper_threading};
use optimizer::{
    Family, Method, Objective, Part, Request, SubProblem, Tuned, optima, sample, super_tune_by_parts,
};
use serde::Serialize;

/// The model of a stencil on a machine, for one grid and number of steps.
pub enum Model {
    /// On a GPU.
    Gpu(GpuModel),
    /// On a CPU.
    Cpu(CpuModel),
}

/// How many tiles are resident on a multiprocessor of a GPU at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residence {
    /// So many.
    Of(i64),
    /// As many as are best.
    Best,
    /// As many as fit: what a device does, whatever a model would like.
    Most,
}

/// What a tile costs, and why.
#[derive(Debug, Clone, Serialize)]
pub struct Predicted {
    /// Tiling strategy.
    pub strategy: &'static str,
    /// The form of the time model, `counted` or `paper`; null for a CPU.
    pub model: Option<TimeModel>,
    /// Tile sizes by name.
    pub tile: TileSizes,
    /// Tiles resident on a multiprocessor at a time; 1 on a CPU.
    pub k: i64,
    /// Grid extents.
    pub size: Vec<i64>,
    /// Time steps.
    pub steps: i64,
    /// Predicted time.
    pub seconds: f64,
    /// Predicted energy; null where the machine has no energy constants.
    pub joules: Option<f64>,
    /// Predicted mean power; null where the machine has no energy constants.
    pub watts: Option<f64>,
    /// Where the time goes, in seconds; the sum is `seconds`.
    pub terms: Terms,
    /// Whether the machine can execute the tile.
    pub feasible: bool,
    /// The limits, what is needed of each, and its slack.
    pub constraints: Vec<Constraint>,
    /// Why it costs that much.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// The time by the number of resident tiles; empty for a CPU.
    pub hyper_threading: Vec<Resident>,
    /// Where the energy goes, in joules.
    pub energy_terms: Option<EnergyTerms>,
    /// Points computed per step, times steps, per second, in units of 10^9.
    pub gstencil_per_s: f64,
    /// The counts that the model works on, per statement where statements have tiles of their own; empty for a CPU.
    pub counts: Vec<TileCounts>,
    /// The constants, and where they are from.
    pub constants: Constants,
}

/// The constants of the models.
#[derive(Debug, Clone, Serialize)]
pub struct Constants {
    /// Of the time model.
    pub time: TimeConstants,
    /// Of the energy model of a GPU.
    pub energy: Option<EnergyConstants>,
}

/// The best tile that a search found, and what else it found.
#[derive(Debug)]
pub struct Optimum {
    /// The best tile, with its certificate.
    pub tuned: Tuned,
    /// Why it costs what it costs.
    pub explanation: Explanation,
    /// The optimum of every strategy that was looked at, where there are several.
    pub strategies: Vec<SubProblem>,
    /// Tiles that were passed over, and why.
    pub notes: Vec<String>,
}

impl Model {
    /// Brings a stencil and a machine together; `threads` in place of a CPU's cores.
    ///
    /// # Errors
    /// A grid of the wrong dimension or with nothing to compute, or a machine without the constants that its model needs.
    pub fn new(
        stencil: &Stencil,
        size: &[i64],
        steps: i64,
        machine: Machine,
        threads: Option<i64>,
    ) -> Result<Model> {
        match machine.kind {
            MachineKind::Gpu => GpuModel::new(stencil, size, steps, machine).map(Model::Gpu),
            MachineKind::Cpu => CpuModel::new(stencil, size, steps, machine, threads).map(Model::Cpu),
        }
    }

    /// The same with another form of the time model.
    ///
    /// # Errors
    /// A CPU, whose time model has one form.
    pub fn by(self, form: TimeModel) -> Result<Model> {
        match self {
            Model::Gpu(own) => {
                let model = GpuCost::by(form, &own.problem, &own.machine);
                let model = model.map_err(|error| Error::infeasible(error.to_string()))?;
                Ok(Model::Gpu(GpuModel { model, ..own }))
            }
            Model::Cpu(_) => {
                let message = format!("--model {form} is for GPUs: the time model of a CPU has one form");
                Err(Error::infeasible(message))
            }
        }
    }

    /// The form of the time model; `None` for a CPU, where there is one only.
    pub fn form(&self) -> Option<TimeModel> {
        match self {
            Model::Gpu(own) => Some(own.model.form()),
            Model::Cpu(_) => None,
        }
    }

    /// The machine as it was read.
    pub fn machine(&self) -> &Machine {
        match self {
            Model::Gpu(model) => &model.machine,
            Model::Cpu(model) => &model.machine,
        }
    }

    /// What to know about constants that were not measured for this stencil on this machine.
    pub fn caution(&self) -> Option<String> {
        match self {
            Model::Gpu(model) => model.caution(),
            Model::Cpu(model) => model.caution(),
        }
    }

    /// The code that runs on such a machine.
    pub fn target(&self) -> Target {
        match self {
            Model::Gpu(_) => Target::Cuda,
            Model::Cpu(_) => Target::OpenMp,
        }
    }

    /// The sizes that are given, and the strategy's own for the rest.
    ///
    /// # Errors
    /// A stencil or sizes that the strategy cannot tile.
    pub fn complete(&self, strategy: &dyn Strategy, given: Option<&TileSizes>) -> Result<TileSizes> {
        let (program, cone) = match self {
            Model::Gpu(model) => (&model.problem.program, &model.problem.cone),
            Model::Cpu(model) => (&model.model.time.cores().program, &model.analysis.cone),
        };
        strategy::taken(strategy, program, cone)?;
        strategy::has_target(strategy, program, self.target())?;
        let space = strategy.space(program, cone);
        let defaults = strategy.default_tile(program, cone, self.target());
        let tile = space.complete(strategy.id(), given.unwrap_or(&TileSizes::default()), &defaults)?;
        // What the strategy cannot tile has no cost.
        space.check(strategy.id(), &tile)?;
        Ok(tile)
    }

    /// What a tile costs, whether it fits or not, with its `k`.
    ///
    /// # Errors
    /// A tile that cannot be counted, with the reason.
    pub fn cost(
        &self,
        strategy: &'static dyn Strategy,
        tile: &TileSizes,
        residence: Residence,
    ) -> Result<(Cost, i64)> {
        let failed = |reason: String| uncounted(strategy, tile, &reason);
        match self {
            Model::Gpu(model) => {
                let request = model.request(Objective::Time, strategy.id())?;
                let hardware = &model.model.hardware;
                let (family, sizes) =
                    Family::of_tile(&model.problem, hardware, strategy, tile).map_err(failed)?;
                let k = match residence {
                    Residence::Of(k) => k,
                    Residence::Best => best_k(&request, &family, sizes),
                    Residence::Most => sample::most_resident(&request, &family, sizes),
                };
                Ok((request.evaluate(&family, sizes, k), k))
            }
            Model::Cpu(model) => {
                if matches!(residence, Residence::Of(_)) {
                    let message = "a core of a CPU works on one tile at a time: --k is for GPUs";
                    return Err(Error::infeasible(message));
                }
                let counts = model.model.counts(strategy, tile).map_err(failed)?;
                Ok((model.model.cost(&counts), 1))
            }
        }
    }

    /// Why a tile costs what it costs.
    ///
    /// # Errors
    /// A tile that cannot be counted.
    pub fn explain(&self, strategy: &'static dyn Strategy, tile: &TileSizes, k: i64) -> Result<Explanation> {
        self.explain_for(Objective::Time, strategy, tile, k)
    }

    fn explain_for(
        &self,
        objective: Objective,
        strategy: &'static dyn Strategy,
        tile: &TileSizes,
        k: i64,
    ) -> Result<Explanation> {
        let explanation = match self {
            Model::Gpu(own) => {
                let model = own.for_objective(objective);
                model.explain(&|model| model.counts(&own.problem, strategy, tile, k).ok())
            }
            Model::Cpu(own) => own.model.explain(&|model| model.counts(strategy, tile).ok()),
        };
        explanation.ok_or_else(|| uncounted(strategy, tile, "it has no counts"))
    }

    /// What a tile costs, whether it fits or not, and why.
    ///
    /// # Errors
    /// A tile that cannot be counted, with the reason; [`Residence::Of`] on a CPU.
    pub fn predict(
        &self,
        strategy: &'static dyn Strategy,
        tile: &TileSizes,
        residence: Residence,
    ) -> Result<Predicted> {
        let (cost, k) = self.cost(strategy, tile, residence)?;
        let (program, size, steps) = match self {
            Model::Gpu(own) => (&own.problem.program, &own.problem.size, own.problem.steps),
            Model::Cpu(own) => {
                let cores = own.model.time.cores();
                (&cores.program, &cores.size, cores.steps)
            }
        };
        let (constants, counts, hyper_threading) = match self {
            Model::Gpu(own) => {
                let request = own.request(Objective::Time, strategy.id())?;
                let (family, sizes) = Family::of_tile(&own.problem, &own.model.hardware, strategy, tile)
                    .map_err(|reason| uncounted(strategy, tile, &reason))?;
                let constants = Constants { time: own.model.time.constants, energy: own.model.energy };
                let counts = family.resident(&own.model, sizes, k).tiles.to_vec();
                (constants, counts, hyper_threading(&request, &family, sizes))
            }
            Model::Cpu(own) => (Constants { time: own.constants(), energy: None }, Vec::new(), Vec::new()),
        };
        let points = hhc_codegen::plan_counts::points_per_step(program, size) as f64;
        let seconds = cost.prediction.seconds;
        Ok(Predicted {
            strategy: strategy.id(),
            model: self.form(),
            tile: tile.clone(),
            k,
            size: size.clone(),
            steps,
            seconds,
            joules: cost.joules(),
            watts: cost.watts(),
            terms: cost.prediction.terms,
            feasible: cost.feasible(),
            explanation: self.explain(strategy, tile, k)?,
            hyper_threading,
            energy_terms: cost.energy,
            gstencil_per_s: points * steps as f64 / seconds / 1e9,
            counts,
            constraints: cost.constraints,
            constants,
        })
    }

    /// The best tile of a strategy, or of all that a choice considers for `auto` (super-tuning, formulation (i)).
    ///
    /// # Errors
    /// No tile fits, with the constraint and by how much; an objective without its energies; the closed form on a CPU.
    pub fn tune(&self, strategy: &str, method: Method, objective: Objective) -> Result<Optimum> {
        let (tuned, strategies, notes) = match self {
            Model::Gpu(model) => {
                let Finalist { tuned, request, mut notes, .. } =
                    finalist(model, objective, strategy, method)?;
                if strategy == AUTO && objective == Objective::Time {
                    notes.extend(self.taken_by_run(model, &request)?);
                }
                let several = method == Method::Exact && request.strategies.len() > 1;
                let strategies = if several { optima(&request, &tuned) } else { Vec::new() };
                (tuned, strategies, notes)
            }
            Model::Cpu(_) if method == Method::ClosedForm => {
                let message = "the closed form is for the model of a GPU: a CPU has no barriers to save";
                return Err(Error::infeasible(message).hint("use --method exact"));
            }
            Model::Cpu(model) => {
                let mut solved = model.tune(strategy, method, objective)?;
                let of =
                    |tuned: &Tuned| SubProblem { strategy: tuned.choice.strategy, result: Ok(tuned.clone()) };
                let all = if solved.len() > 1 { solved.iter().map(of).collect() } else { Vec::new() };
                (solved.swap_remove(0), all, Vec::new())
            }
        };
        let choice = &tuned.choice;
        let explanation =
            self.explain_for(objective, strategies::named(choice.strategy)?, &choice.tile, choice.k)?;
        Ok(Optimum { tuned, explanation, strategies, notes })
    }

    /// What `run` takes where the tiles that a search finds were not tried on a device.
    fn taken_by_run(&self, model: &GpuModel, request: &Request<'_>) -> Result<Option<String>> {
        let Problem { program, size, .. } = &model.problem;
        if request.strategies.iter().all(|own| is_tried(*own, program, size)) {
            return Ok(None);
        }
        let (taken, _) = automatic_on_gpu(model, size, &Silent)?;
        let strategy = strategies::named(&taken.strategy)?;
        let tile = self.complete(strategy, taken.tile.as_ref())?;
        let seconds = self.cost(strategy, &tile, Residence::Best)?.0.prediction.seconds;
        Ok(Some(format!(
            "`run --strategy auto` takes {} {tile} on this machine, {seconds:.3e} s by the model: of a strategy whose tiles were not \
             tried on a device, it takes one, its own where it has any, if the model says that it is clearly faster than the best \
             tile of the others",
            strategy.id()
        )))
    }

    /// The parts into which the feasible sets of the strategies cut the space, and the best tile of each (super-tuning,
    /// formulation (ii)).
    ///
    /// # Errors
    /// A CPU, whose strategies share no sizes; otherwise as for [`Model::tune`].
    pub fn parts(&self, strategy: &str, objective: Objective) -> Result<Vec<Part>> {
        match self {
            Model::Gpu(model) => {
                // Of the tiles among which the best one was found.
                let among = finalist(model, objective, strategy, Method::Exact)?.request;
                Ok(super_tune_by_parts(&among)?)
            }
            Model::Cpu(_) => {
                let message = "strategies on a CPU share no tile sizes that could be cut into parts";
                let hint = "use --formulation minimum, which has the same optimum";
                Err(Error::infeasible(message).hint(hint))
            }
        }
    }

    /// About `number` different tiles of a strategy that fit, spread over the logarithms of all sizes; `seed` chooses.
    ///
    /// # Errors
    /// A stencil that the strategy cannot tile.
    pub fn sample(
        &self,
        strategy: &'static dyn Strategy,
        number: usize,
        seed: u64,
    ) -> Result<Vec<TileSizes>> {
        Ok(match self {
            Model::Gpu(model) => {
                sample::stratified(&model.request(Objective::Time, strategy.id())?, number, seed)
            }
            Model::Cpu(model) => optimizer::cpu::stratified(&model.model.time, strategy, number, seed),
        })
    }
}

/// A tile whose counts no model can have.
fn uncounted(strategy: &dyn Strategy, tile: &TileSizes, reason: &str) -> Error {
    Error::infeasible(format!("{tile} (strategy {}) cannot be predicted: {reason}", strategy.id()))
}
