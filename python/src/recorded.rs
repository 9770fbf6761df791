//! Files with trials, read and written for Python.

use crate::errors::raised;
use crate::interpreter::detached;
use crate::search::{Trial, levels_of, trial_of, value};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use trials::formats::{write_csv, write_kernel_tuner, write_t4};
use trials::{Configuration, Metric, Outcome, ReadOptions, Recording, Setting, Status, TrialsError};

/// The metric that counts in a file, the names of the kernel and the device, and its trials in order.
#[pyfunction]
pub fn recorded(
    py: Python<'_>,
    path: PathBuf,
    metric: Option<String>,
) -> PyResult<(String, String, String, Vec<Trial<'_>>)> {
    let options = ReadOptions { response: metric, ..ReadOptions::default() };
    let found = detached(py, || Recording::open(&path, &options));
    let found = raised(py, found.map_err(tilewright::Error::from))?;
    let trials = found.trials.iter().map(|trial| {
        let names = trial.configuration.names().iter().map(String::as_str);
        let levels = levels_of(py, names.zip(trial.configuration.values()))?;
        Ok(trial_of(levels, &trial.outcome))
    });
    let trials = trials.collect::<PyResult<_>>()?;
    Ok((found.response, found.kernel, found.device, trials))
}

/// A trial as Python gives it: as [`Trial`].
type Given<'py> = (Bound<'py, PyDict>, String, BTreeMap<String, f64>, String);

/// Writes trials; `format` is `t4`, `csv` or `kernel-tuner`.
#[pyfunction]
pub fn record(
    py: Python<'_>,
    path: PathBuf,
    format: &str,
    trials: Vec<Given<'_>>,
    metric: &str,
    kernel: &str,
    device: &str,
) -> PyResult<()> {
    let setting = Arc::new(Setting {
        program: kernel.to_owned(),
        machine: device.to_owned(),
        by: "tilewright.search".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..Setting::default()
    });
    let of = |(levels, status, metrics, message): Given<'_>| -> PyResult<trials::Trial> {
        let values = levels.iter().map(|(name, level)| Ok((name.extract()?, value(&level)?)));
        let configuration = Configuration::of(values.collect::<PyResult<Vec<_>>>()?);
        let metrics = metrics.into_iter().map(|(name, value)| (name, Metric { value, ..Metric::default() }));
        let status = Status::named(&status).unwrap_or(Status::RunError);
        let outcome = Outcome { status, metrics: metrics.collect(), message, when: String::new() };
        Ok(trials::Trial { configuration, outcome, setting: Arc::clone(&setting), round: 0 })
    };
    let trials = trials.into_iter().map(of).collect::<PyResult<Vec<_>>>()?;
    let names: Vec<String> =
        trials.first().map_or_else(Vec::new, |trial| trial.configuration.names().to_vec());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let written = detached(py, || match format {
        "t4" => write_t4(&path, &trials, metric, kernel),
        "csv" => write_csv(&path, &names, &trials, metric),
        "kernel-tuner" => write_kernel_tuner(&path, &names, &trials, metric, kernel),
        other => Err(TrialsError::Request {
            reason: format!("there is no format {other:?}"),
            hint: "the formats are t4, csv and kernel-tuner".to_owned(),
        }),
    });
    raised(py, written.map_err(tilewright::Error::from))
}
