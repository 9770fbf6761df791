//! A program on a CPU, ready for the model.

use crate::error::{Error, Result};
use crate::load::Stencil;
use crate::{strategies, text};
use cost_models::constants::{Basis, TimeConstants};
use cost_models::cpu::CpuCost;
use cost_models::machine::{self, Machine};
use hhc_codegen::strategy::{self, Target};
use optimizer::cpu::Counted;
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
    /// What tiles cost.
    pub model: CpuCost,
    /// What searches have counted.
    pub counted: Counted,
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
        let mut model = CpuCost::new(&machine, program, &analysis.cone, size, steps)
            .map_err(|error| Error::infeasible(error.to_string()))?;
        if let Some(threads) = threads {
            model.time = model.time.with_threads(threads);
        }
        Ok(CpuModel { analysis, machine, model, counted: Counted::default() })
    }

    /// The best tile of every strategy asked for, the best first.
    ///
    /// # Errors
    /// A strategy without a model; an objective that needs energies, which were not measured.
    pub fn tune(&self, strategy: &str, method: Method, objective: Objective) -> Result<Vec<Tuned>> {
        if objective.needs_energy() && self.model.energy.is_none() {
            let (machine, objective) = (self.machine.name.clone(), objective.name());
            return Err(Infeasible::NoEnergy { machine, objective }.into());
        }
        let wanted = strategies::among(strategy, &self.model.time.cores().program, Target::OpenMp)?;
        if let [only] = wanted[..] {
            strategy::taken(only, &self.model.time.cores().program, &self.analysis.cone)?;
        }
        let solved = optimizer::cpu::super_tune_cpu(&self.model, &wanted, method, objective);
        match solved.is_empty() {
            true => Err(Error::infeasible(format!("strategy {strategy} has no tiles that can be predicted"))),
            false => Ok(solved),
        }
    }

    /// The constants in the terms of the general model: `L`, `tau_sync` (a call), `T_sync`, `C_iter` (a point on a core).
    pub fn constants(&self) -> TimeConstants {
        let (t_sync_s, line_s, call_s) = self.model.time.constants();
        let basis = self.machine.calibration.as_ref().map_or(Basis::Stated, |own| own.provenance.into());
        TimeConstants {
            l_s_per_word: line_s * 4.0 / cost_models::cpu::LINE_BYTES,
            tau_sync_s: call_s,
            t_sync_s,
            c_iter_s: self.model.time.point_s(),
            machine_basis: basis,
            c_iter_basis: if self.model.time.estimated() { Basis::Estimated } else { basis },
        }
    }

    /// What to know about constants that are not those of this stencil on this machine.
    pub fn caution(&self) -> Option<String> {
        let stencil = &self.model.time.cores().program.name;
        self.model.time.estimated().then(|| {
            format!(
                "the rows of `{stencil}` were not calibrated: their costs are estimated from another stencil's; \
                 `tilewright calibrate --backend openmp --stencil SPEC -o FILE.toml` measures them"
            )
        })
    }
}
