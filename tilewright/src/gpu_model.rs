//! A program on a GPU, ready for the models.

use crate::error::{Error, Result};
use crate::load::Stencil;
use crate::{strategies, text};
use cost_models::constants::Basis;
use cost_models::gpu::{GpuCost, GpuModelError, TimeModel};
use cost_models::machine::Machine;
use hhc_codegen::backend::cuda::DeviceLimits;
use hhc_codegen::counts::Problem;
use hhc_codegen::strategy::{self, Target};
use optimizer::{Objective, Request};

/// A problem and a machine.
pub struct GpuModel {
    /// The program on its grid.
    pub problem: Problem,
    /// The machine as it was read.
    pub machine: Machine,
    /// What tiles cost.
    pub model: GpuCost,
}

impl GpuModel {
    /// Brings a program and a machine together.
    ///
    /// # Errors
    /// A grid of the wrong dimension, or a machine without the constants that the models need.
    pub fn new(stencil: &Stencil, size: &[i64], steps: i64, machine: Machine) -> Result<GpuModel> {
        GpuModel::by(TimeModel::default(), stencil, size, steps, machine)
    }

    /// The same with this form of the time model.
    ///
    /// # Errors
    /// As for [`GpuModel::new`].
    pub fn by(
        form: TimeModel,
        stencil: &Stencil,
        size: &[i64],
        steps: i64,
        machine: Machine,
    ) -> Result<GpuModel> {
        let program = &stencil.program;
        execution::layout::grid_points(program, size)?;
        let problem = Problem::of(program, &*stencil.analysis()?, size, steps);
        if problem.total_iterations() == 0 {
            return Err(Error::wrong_input(format!(
                "on a grid of {} no point of `{}` is computed: its boundary is as large as the grid",
                text::size(size),
                program.name
            ))
            .hint("use larger extents"));
        }
        let model = GpuCost::by(form, &problem, &machine).map_err(|error| {
            let hint =
                "measure them with `tilewright calibrate --backend cuda -o FILE.toml` on such a machine";
            let own = Error::infeasible(error.to_string());
            if matches!(error, GpuModelError::NotCalibrated(_)) { own.hint(hint) } else { own }
        })?;
        Ok(GpuModel { problem, machine, model })
    }

    /// The model that is minimised for an objective: the paper's form for power, because nothing bounds the counted time from
    /// above, and fewer watts are a longer time.
    pub(crate) fn for_objective(&self, objective: Objective) -> GpuCost {
        let model = self.model.clone();
        if objective == Objective::Power { model.paper() } else { model }
    }

    /// A request for the optimizer.
    pub fn request(&self, objective: Objective, strategy: &str) -> Result<Request<'_>> {
        let mut request = Request::of_model(&self.problem, self.for_objective(objective), objective);
        request.strategies = strategies::among(strategy, &self.problem.program, Target::Cuda)?;
        if let [only] = request.strategies[..] {
            strategy::taken(only, &self.problem.program, &self.problem.cone)?;
            strategy::has_target(only, &self.problem.program, Target::Cuda)?;
        } else {
            let Problem { program, cone, .. } = &self.problem;
            request.strategies.retain(|own| own.takes(program, cone).is_ok());
        }
        Ok(request)
    }

    /// What the CUDA back end may use on this machine.
    pub fn limits(&self) -> DeviceLimits {
        let hardware = &self.model.hardware;
        DeviceLimits {
            device: hardware.name.clone(),
            shared_bytes_per_block: hardware.shared_per_block_bytes,
            threads_per_block: hardware.threads_per_block,
        }
    }

    /// What to know about constants that were not measured; `None` where all were.
    pub fn caution(&self) -> Option<String> {
        let word = |basis: Basis| match basis {
            Basis::Measured => "measured",
            Basis::Stated => "stated in the machine file",
            Basis::Estimated => "estimated from published throughputs",
            Basis::Counted => "counted from the instructions of the code",
        };
        let constants = &self.model.time.constants;
        let (machine, c_iter) = (constants.machine_basis, constants.c_iter_basis);
        (machine != Basis::Measured || c_iter != Basis::Measured).then(|| {
            format!(
                "L, tau_sync and T_sync are {}, C_iter is {}: good for comparing tiles, not for absolute times; \
                 `tilewright calibrate` measures them",
                word(machine),
                word(c_iter)
            )
        })
    }
}
