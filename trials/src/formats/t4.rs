//! T4: the results of a tuner, as the autotuning community writes them. Times are in the unit of `metadata.timeunit`
//! where it is given, else in milliseconds.

use super::cell::Cell;
use super::joined::{Joined, joined};
use super::kernel_tuner::status_of;
use super::roles::{ReadOptions, Roles};
use crate::entries::Entries;
use crate::error::{Result, malformed};
use crate::limits::check_size;
use crate::recording::{Format, Recording};
use crate::setting::{Setting, Settings};
use crate::trial::{Configuration, Metric, Outcome, Status, Trial};
use crate::value::Value;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// One result.
#[derive(Debug, Deserialize)]
pub(super) struct Result4 {
    #[serde(default)]
    timestamp: Cell,
    configuration: Entries<Cell>,
    #[serde(default)]
    times: Entries<Cell>,
    #[serde(default)]
    invalidity: Cell,
    #[serde(default)]
    measurements: Vec<Measurement>,
    #[serde(default)]
    objectives: Vec<String>,
    /// The setting, where we wrote it.
    #[serde(default)]
    tilewright: Entries<Cell>,
}

#[derive(Debug, Deserialize)]
struct Measurement {
    name: String,
    #[serde(default)]
    value: Cell,
    #[serde(default)]
    unit: Cell,
}

pub(super) fn read(
    path: &Path,
    metadata: Entries<Cell>,
    results: Vec<Result4>,
    options: &ReadOptions,
) -> Result<Recording> {
    let Some(first) = results.first() else {
        return Err(malformed(path, "`results`", "there is no result", ""));
    };
    let names: Vec<String> = first.configuration.0.iter().map(|(name, _)| name.clone()).collect();
    let objective = options.response.as_ref().or(first.objectives.first());
    let response = match objective {
        Some(objective) => objective.clone(),
        None => only_measurement(path, &results, options)?,
    };
    let metadata_text = |key: &str| metadata.get(key).map(Cell::text).unwrap_or_default();
    let unit = match metadata_text("timeunit").as_str() {
        "seconds" | "s" => "s",
        "microseconds" | "us" => "us",
        "nanoseconds" | "ns" => "ns",
        _ => "ms",
    };
    let device = metadata_text("device");
    check_size(path, names.len(), results.len())?;
    let shared: Arc<[String]> = names.clone().into();
    let mut settings = Settings::default();
    let mut trials = Vec::with_capacity(results.len());
    for (place, result) in results.iter().enumerate() {
        let place = format!("result {}", place + 1);
        check_size(path, result.configuration.0.len().max(result.measurements.len()), 0)?;
        let (values, outcome) = row(path, &place, &names, result, &response, unit)?;
        let configuration = Configuration::new(Arc::clone(&shared), values);
        let mut setting = Setting { machine: device.clone(), ..Setting::default() };
        for (name, cell) in &result.tilewright.0 {
            if let Some(field) = setting.field(name) {
                *field = cell.text();
            }
        }
        trials.push(Trial { configuration, outcome, setting: settings.shared(setting), round: 0 });
    }
    let Joined { parameters, trials, mixed } = joined(path, Vec::new(), trials)?;
    Ok(Recording {
        path: path.to_owned(),
        damage: Vec::new(),
        format: Format::T4,
        kernel: metadata_text("kernel"),
        device,
        parameters,
        trials,
        problem: None,
        mixed,
        response,
        roles: Roles::default(),
    })
}

/// What counts where `objectives` does not say it: the time, or the only thing that was measured.
fn only_measurement(path: &Path, results: &[Result4], options: &ReadOptions) -> Result<String> {
    let all = results.iter().flat_map(|result| &result.measurements);
    let names: BTreeSet<&str> = all.map(|measurement| measurement.name.as_str()).collect();
    match names.first() {
        Some(only) if names.len() == 1 => Ok((*only).to_owned()),
        Some(_) if !names.contains("time") && !options.no_response => {
            let names: Vec<&str> = names.into_iter().collect();
            let reason = format!("`objectives` is missing, and there are {} measurements", names.len());
            let hint = format!("name what counts with --metric; there are: {}", names.join(", "));
            Err(malformed(path, "result 1", reason, &hint))
        }
        _ => Ok("time".to_owned()),
    }
}

fn row(
    path: &Path,
    place: &str,
    names: &[String],
    result: &Result4,
    response: &str,
    unit: &str,
) -> Result<(Vec<Value>, Outcome)> {
    let value = |name: &String| match result.configuration.get(name) {
        Some(Cell::Value(value)) => Ok(value.clone()),
        Some(_) => Err(malformed(path, place, format!("`{name}` is not a single value"), "")),
        None => {
            let reason = format!("the configuration lacks `{name}`, which the first one has");
            Err(malformed(path, place, reason, ""))
        }
    };
    let values = names.iter().map(value).collect::<Result<Vec<Value>>>()?;
    if let Some((name, _)) = result.configuration.0.iter().find(|(name, _)| !names.contains(name)) {
        let reason = format!("the configuration has `{name}`, which the first one lacks");
        return Err(malformed(path, place, reason, ""));
    }
    let mut metrics = BTreeMap::new();
    for measurement in &result.measurements {
        if let Some(value) = measurement.value.number() {
            let mut unit_text = measurement.unit.text();
            if unit_text.is_empty() && measurement.name == "time" {
                unit.clone_into(&mut unit_text);
            }
            let metric = Metric { value, repetitions: Vec::new(), unit: unit_text };
            metrics.insert(measurement.name.clone(), metric);
        }
    }
    for (name, cell) in &result.times.0 {
        match (name.as_str(), cell) {
            ("runtimes", Cell::Numbers(times)) => {
                if let Some(metric) = metrics.get_mut(response) {
                    metric.repetitions.clone_from(times);
                }
            }
            (_, cell) => {
                if let Some(value) = cell.number() {
                    let metric = Metric { value, repetitions: Vec::new(), unit: unit.to_owned() };
                    metrics.entry(format!("{name}_time")).or_insert(metric);
                }
            }
        }
    }
    let invalidity = result.invalidity.text();
    let status = match invalidity.as_str() {
        "" | "correct" if metrics.contains_key(response) => Status::Ok,
        "" | "correct" => Status::RunError,
        other => status_of(other),
    };
    let message = match status {
        Status::Ok => String::new(),
        _ if metrics.contains_key(response) => invalidity,
        _ => {
            let recorded = result.measurements.iter().find(|measurement| measurement.name == response);
            recorded
                .map(|measurement| measurement.value.text())
                .filter(|t| !t.is_empty())
                .unwrap_or(invalidity)
        }
    };
    Ok((values, Outcome { status, metrics, message, when: result.timestamp.text() }))
}
