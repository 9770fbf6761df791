//! What runs of a stencil are as trials: which program ran where, and what came of it.

use crate::build::{BuildRequest, Built};
use crate::error::Error;
use crate::load::Stencil;
use crate::record::{SECONDS, on_cpu, setting};
use crate::run::Measured;
use crate::runner::Runner;
use execution::ExecutionError;
use execution::compare::Comparison;
use hhc_codegen::PlanError;
use hhc_codegen::strategy;
use toolchain::machine::cpu_name;
use trials::{Metric, Outcome, Setting, Status};

/// Points per second, in units of 10^9.
const RATE: &str = "gstencil_per_s";

/// What a run of a stencil is, and where it was; without what was not built.
pub fn run_setting(
    stencil: &Stencil,
    request: &BuildRequest<'_>,
    built: Option<&Built>,
    by: &str,
) -> Setting {
    let plan = built.and_then(|built| built.planned.as_ref()).map(|planned| &planned.plan);
    let strategy = match plan {
        Some(plan) => plan.strategy,
        None => strategy::all()
            .iter()
            .map(|strategy| strategy.id())
            .find(|id| *id == request.tiling.strategy)
            .unwrap_or(""),
    };
    let backend = request.backend.name();
    let setting = setting(&stencil.program, strategy, backend, request.size, request.steps, by);
    match built.map(|built| (&built.runner, &built.compiler)) {
        Some((Runner::Cuda(_, device), _)) => {
            let facts = device.facts();
            let compiler =
                format!("NVRTC for sm_{}, driver for CUDA {}", facts.architecture, facts.driver_version);
            Setting { machine: facts.name.clone(), compiler, ..setting }
        }
        Some((runner, compiler)) => {
            on_cpu(setting, runner.threads().unwrap_or(1), compiler.as_deref().unwrap_or_default())
        }
        None => Setting { machine: cpu_name(), ..setting },
    }
}

/// What runs have shown, as an outcome. Values may differ from those of the reference by so much: 0 where code computes what the
/// program says.
pub fn outcome(measured: &Measured, permitted: f64) -> Outcome {
    let seconds = Metric {
        value: measured.timing.median,
        repetitions: measured.timing.seconds_all.clone(),
        unit: "s".to_owned(),
    };
    let wrong = |message: String| Outcome::failed(Status::WrongResult, message);
    let beyond = |found: &&Comparison| permitted == 0.0 || found.max_abs_error > permitted;
    let mismatches = measured.comparison.as_ref().filter(beyond).map_or(0, |found| found.mismatches);
    let violations = measured.last.emulator.as_ref().map_or(0, |report| report.total_violations);
    let mut outcome = match (mismatches, violations) {
        (0, 0) => Outcome::measured(SECONDS, seconds.value),
        (0, violations) => wrong(format!("the emulator found {violations} violations")),
        (mismatches, _) => wrong(format!("{mismatches} values differ from the reference")),
    };
    outcome.metrics.insert(SECONDS.to_owned(), seconds);
    outcome.with(RATE, measured.gstencil_per_s, "GStencil/s").now()
}

/// A failure as an outcome; `None` where it is not one of the configuration.
pub fn failure(error: &Error) -> Option<Outcome> {
    let status = match error {
        Error::Plan(PlanError::TileText { .. } | PlanError::UnknownStrategy { .. }) => return None,
        Error::Plan(_) => Status::Invalid,
        Error::Execution(error) => match error {
            ExecutionError::Plan(_) | ExecutionError::Generate(_) => Status::Invalid,
            ExecutionError::Toolchain(toolchain::Error::CompilerFailed { .. }) => Status::CompileError,
            ExecutionError::Native { .. }
            | ExecutionError::Toolchain(toolchain::Error::Load { .. })
            | ExecutionError::OutOfMemory { .. } => Status::RunError,
            _ => return None,
        },
        _ => return None,
    };
    Some(Outcome::failed(status, error.to_string()).now())
}
