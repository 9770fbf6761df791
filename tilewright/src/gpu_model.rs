//! A program on a GPU, ready for the models.

use crate::error::{Error, Result};
use crate::load::Stencil;
use crate::{strategies, text};
use cost_models::constants::{Basis, EnergyConstants, TimeConstants};
use cost_models::hardware::Hardware;
use cost_models::machine::Machine;
use hhc_codegen::backend::cuda::DeviceLimits;
use hhc_codegen::counts::Problem;
use hhc_codegen::strategy;
use optimizer::{Objective, Request};

/// A problem and a machine.
pub struct GpuModel {
    /// The program on its grid.
    pub problem: Problem,
    /// The machine as it was read.
    pub machine: Machine,
    /// The machine as numbers.
    pub hardware: Hardware,
    /// The constants of the time model.
    pub time: TimeConstants,
    /// The constants of the energy model; `None` where nobody measured or stated any.
    pub energy: Option<EnergyConstants>,
}

impl GpuModel {
    /// Brings a program and a machine together.
    ///
    /// # Errors
    /// A grid of the wrong dimension, or a machine without the constants that the models need.
    pub fn new(stencil: &Stencil, size: &[i64], steps: i64, machine: Machine) -> Result<GpuModel> {
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
        let Some(facts) = machine.gpu() else {
            return Err(Error::infeasible(format!(
                "machine `{}` is a CPU, and this is for a GPU",
                machine.name
            )));
        };
        let Some(time) = TimeConstants::of(&problem, &machine) else {
            return Err(Error::infeasible(format!(
                "machine `{}` has no [calibration]: the constants L, tau_sync and T_sync are not known",
                machine.name
            ))
            .hint("measure them with `tilewright calibrate --backend cuda -o FILE.toml` on such a machine"));
        };
        let hardware = Hardware::of(&machine.name, facts);
        let energy = EnergyConstants::of(&problem, &machine);
        Ok(GpuModel { problem, machine, hardware, time, energy })
    }

    /// A request for the optimizer.
    pub fn request(&self, objective: Objective, strategy: &str) -> Result<Request<'_>> {
        let mut request = Request::new(&self.problem, &self.hardware, self.time, self.energy, objective);
        request.strategies = strategies::among(strategy)?;
        if let [only] = request.strategies[..] {
            strategy::taken(only, &self.problem.program, &self.problem.cone)?;
        }
        Ok(request)
    }

    /// What the CUDA back end may use on this machine.
    pub fn limits(&self) -> DeviceLimits {
        DeviceLimits {
            device: self.hardware.name.clone(),
            shared_bytes_per_block: self.hardware.shared_per_block_bytes,
            threads_per_block: self.hardware.threads_per_block,
        }
    }

    /// What to know about constants that were not measured; `None` where all were.
    pub fn caution(&self) -> Option<String> {
        let word = |basis: Basis| match basis {
            Basis::Measured => "measured",
            Basis::Stated => "stated in the machine file",
            Basis::Estimated => "estimated from published throughputs",
        };
        let (machine, c_iter) = (self.time.machine_basis, self.time.c_iter_basis);
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
