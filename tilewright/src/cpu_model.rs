//! A program on a CPU, ready for the model.

use crate::error::{Error, Result};
use crate::load::Stencil;
use crate::{strategies, text};
use cost_models::constants::{Basis, TimeConstants};
use cost_models::cpu::CpuTime;
use cost_models::energy::EnergyTerms;
use cost_models::machine::{self, Machine, MachineKind};
use cost_models::time::Prediction;
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::{self, Strategy};
use optimizer::bottleneck::{Loss, Sensitivity};
use optimizer::cpu::Goal;
use optimizer::{Infeasible, Method, Objective, Tuned};
use polyhedral::analysis::Analysis;
use std::sync::Arc;

/// The shipped CPU whose constants serve where no machine is named.
const USUAL: &str = "zen4";

/// A program on a CPU.
pub struct CpuModel {
    /// What is known of the program.
    pub analysis: Arc<Analysis>,
    /// The machine as it was read.
    pub machine: Machine,
    /// The model.
    pub model: CpuTime,
}

/// The machine that stands for this computer where none is named: constants of the shipped CPU.
///
/// # Errors
/// None, if the shipped machines are in order.
pub fn usual_machine() -> Result<Machine> {
    let shipped = machine::shipped(USUAL).ok_or_else(|| Error::internal("no shipped CPU"))?;
    shipped.map_err(|error| Error::internal(error.to_string()))
}

/// Processors that this program may use.
pub fn usable_threads() -> i64 {
    std::thread::available_parallelism().map_or(1, |number| i64::try_from(number.get()).unwrap_or(1))
}

impl CpuModel {
    /// Brings a program and a CPU together; `threads` in place of the machine's cores.
    ///
    /// # Errors
    /// A grid of the wrong dimension or with nothing to compute, or a machine without calibration.
    pub fn new(
        stencil: &Stencil,
        size: &[i64],
        steps: i64,
        machine: Machine,
        threads: Option<i64>,
    ) -> Result<CpuModel> {
        let program = &stencil.program;
        execution::layout::grid_points(program, size)?;
        let analysis = stencil.analysis()?;
        if hhc_codegen::plan_counts::points_per_step(program, size) == 0 {
            return Err(Error::wrong_input(format!(
                "on a grid of {} no point of `{}` is computed: its boundary is as large as the grid",
                text::size(size),
                program.name
            ))
            .hint("use larger extents"));
        }
        let model = CpuTime::new(&machine, program, &analysis.cone, size, steps)
            .map_err(|error| Error::infeasible(error.to_string()))?;
        let model = match threads {
            Some(threads) => model.with_threads(threads),
            None => model,
        };
        Ok(CpuModel { analysis, machine, model })
    }

    /// The best tile of every strategy asked for, the best first.
    ///
    /// # Errors
    /// A strategy without a model; an objective that needs energies, which were not measured.
    pub fn tune(&self, strategy: &str, method: Method, objective: Objective) -> Result<Vec<Tuned>> {
        let energy = self.machine.calibration.as_ref().and_then(|own| own.energy.as_ref());
        let goal = Goal { objective, energy };
        if !goal.possible() {
            let (machine, objective) = (self.machine.name.clone(), objective.name());
            return Err(Infeasible::NoEnergy { machine, objective }.into());
        }
        let wanted = strategies::among(strategy)?;
        if let [only] = wanted[..] {
            strategy::taken(only, &self.model.cores().program, &self.analysis.cone)?;
        }
        let solved = optimizer::cpu::super_tune_cpu(&self.model, &wanted, method, goal);
        match solved.is_empty() {
            true => Err(Error::infeasible(format!("strategy {strategy} has no tiles that can be predicted"))),
            false => Ok(solved),
        }
    }

    /// The prediction for a tile.
    ///
    /// # Errors
    /// A tile that cannot be counted, with the reason.
    pub fn predict(&self, strategy: &'static dyn Strategy, tile: &TileSizes) -> Result<Prediction> {
        self.model.predict(strategy, tile).map_err(|reason| uncounted(strategy, tile, &reason))
    }

    /// Where the energy goes; `None` where none was measured on this machine.
    pub fn energy(&self, prediction: &Prediction) -> Option<EnergyTerms> {
        let constants = self.machine.calibration.as_ref()?.energy.as_ref()?;
        Some(self.model.energy(prediction, constants))
    }

    /// The constants in the terms of the general model: `L`, `tau_sync` (a call), `T_sync`, `C_iter` (a point on a core).
    pub fn constants(&self) -> TimeConstants {
        let (t_sync_s, line_s, call_s) = self.model.constants();
        let basis = self.machine.calibration.as_ref().map_or(Basis::Stated, |own| own.provenance.into());
        TimeConstants {
            l_s_per_word: line_s * 4.0 / cost_models::cpu::LINE_BYTES,
            tau_sync_s: call_s,
            t_sync_s,
            c_iter_s: self.model.point_s(),
            machine_basis: basis,
            c_iter_basis: if self.model.estimated() { Basis::Estimated } else { basis },
        }
    }

    /// What lies between the ideal time and the predicted one; adds up to their difference.
    pub fn losses(&self, prediction: &Prediction) -> Vec<Loss> {
        let terms = prediction.terms;
        let loss = |name, meaning, seconds: f64| Loss {
            name,
            meaning,
            seconds,
            share: seconds / prediction.seconds,
        };
        vec![
            loss(
                "rows",
                "narrow rows, partial blocks, the start of runs, and cores that idle at a wavefront's end",
                terms.compute - prediction.ideal_s,
            ),
            loss("transfer", "lines from memory, or from caches that are too small", terms.transfer),
            loss("barrier", "calls: one per row of a tile", terms.barrier),
            loss("launch", "parallel regions", terms.launch),
        ]
    }

    /// How the time of a tile reacts to each constant and to one core more.
    pub fn sensitivities(&self, strategy: &'static dyn Strategy, tile: &TileSizes) -> Vec<Sensitivity> {
        let seconds = |model: &CpuTime| model.predict(strategy, tile).map_or(0.0, |found| found.seconds);
        let base = seconds(&self.model);
        let (t_sync_s, line_s, call_s) = self.model.constants();
        type Scaled = fn(&CpuTime, f64) -> CpuTime;
        let continuous: [(&'static str, f64, Scaled); 4] = [
            ("c_iter_s", self.model.point_s(), CpuTime::with_rows_times),
            ("memory_line_s", line_s, CpuTime::with_lines_times),
            ("call_s", call_s, CpuTime::with_calls_times),
            ("t_sync_s", t_sync_s, CpuTime::with_launches_times),
        ];
        let reaction = |(parameter, value, scaled): (&'static str, f64, Scaled)| {
            let difference = seconds(&scaled(&self.model, 1.01)) - seconds(&scaled(&self.model, 0.99));
            let derivative = if value > 0.0 { difference / (0.02 * value) } else { 0.0 };
            Sensitivity { parameter, value, derivative, elasticity: difference / 0.02 / base }
        };
        let mut all: Vec<Sensitivity> = continuous.into_iter().map(reaction).collect();
        let cores = self.model.threads();
        let change = seconds(&self.model.with_threads(cores + 1)) - base;
        let value = cores as f64;
        let elasticity = change * value / base;
        all.push(Sensitivity { parameter: "cores", value, derivative: change, elasticity });
        all
    }

    /// What to know about constants that are not those of this stencil on this machine.
    pub fn caution(&self, stencil: &str) -> Option<String> {
        self.model.estimated().then(|| {
            format!(
                "the rows of `{stencil}` were not calibrated: their costs are estimated from another stencil's; \
                 `tilewright calibrate --backend openmp --stencil SPEC -o FILE.toml` measures them"
            )
        })
    }
}

/// A tile whose counts no model can have.
pub fn uncounted(strategy: &dyn Strategy, tile: &TileSizes, reason: &str) -> Error {
    Error::infeasible(format!("{tile} (strategy {}) cannot be predicted: {reason}", strategy.id()))
}

/// Whether a machine is a CPU.
pub fn is_cpu(machine: &Machine) -> bool {
    machine.kind == MachineKind::Cpu
}
