//! `tilewright validate`: predictions against measurements.

mod arguments;
mod measured;
mod report;

pub use arguments::{CounterName, MetricName, ValidateArguments};
pub use report::{CounterReport, ValidateReport};

use crate::arguments::CalibratedBackend;
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::{drawing, load, outputs, trials_file};
use measured::{Measured, on_cpu, on_gpu};
use tilewright::machines;
use tilewright::text;
use tilewright::validation::Validation;

/// Validates.
///
/// # Errors
/// Wrong input, a machine without calibration, and failures of the compiler and of runs.
pub fn validate(arguments: &ValidateArguments, session: &Session) -> Result<ValidateReport> {
    let stencil = session.stage("read", || load::load(&arguments.spec, arguments.dtype, &arguments.c))?;
    let mut files = stencil.files.clone();
    files.extend(machines::file(&arguments.machine));
    let trials = trials_file::path(&arguments.trials)?;
    outputs::check(&outputs::given([("--trials", &trials), ("--svg", &arguments.svg)]), &files)?;
    let arguments = &ValidateArguments { trials, ..arguments.clone() };
    let energy = arguments.metric == MetricName::Energy;
    if energy && arguments.trials.is_some() {
        let message = "--trials keeps times, and --metric energy measures joules";
        return Err(Error::wrong_input(message).hint("leave one of them out"));
    }
    if !energy && arguments.counter != CounterName::Auto {
        let message = "--counter is for joules, and times are compared";
        return Err(Error::wrong_input(message).hint("add --metric energy"));
    }
    let machine = machines::machine(&arguments.machine)?;
    let measured = match arguments.backend {
        CalibratedBackend::OpenMp => on_cpu(arguments, &stencil, machine, session)?,
        CalibratedBackend::Cuda => on_gpu(arguments, &stencil, machine, session)?,
    };
    let report = summary(arguments, &stencil.program.name, measured)?;
    if let Some(path) = &arguments.svg {
        drawing::write(path, report.prediction().chart().svg())?;
    }
    Ok(report)
}

fn summary(arguments: &ValidateArguments, stencil: &str, measured: Measured) -> Result<ValidateReport> {
    let Measured { machine, backend, samples, disturbed, caution, counter } = measured;
    let validation = Validation::of(arguments.metric.metric(), samples)?;
    let mut notes: Vec<String> = caution.into_iter().collect();
    if disturbed > 0 {
        notes.push(format!(
            "other programs were running: {} have values that were disturbed",
            text::count(disturbed as u64, "tile", "tiles")
        ));
    }
    notes.extend(counter.as_ref().and_then(CounterReport::note));
    Ok(ValidateReport {
        stencil: stencil.to_owned(),
        machine,
        backend,
        size: arguments.size.0.clone(),
        steps: arguments.steps,
        validation,
        counter,
        notes,
    })
}
