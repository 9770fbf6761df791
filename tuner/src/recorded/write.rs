//! Trials written for others: T4 JSON and CSV. Both are read back as they were.

use crate::error::{Result, TunerError};
use crate::space::Space;
use crate::trial::{Status, Trial};
use execution::{ExecutionError, output_file};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

fn publish(path: &Path, bytes: &[u8]) -> Result<()> {
    output_file::write(path, |file| file.write_all(bytes)).map_err(|error| match error {
        ExecutionError::Interrupted => TunerError::Interrupted,
        ExecutionError::File { path, source, .. } => {
            TunerError::File { action: "write", path, reason: source }
        }
        other => TunerError::File {
            action: "write",
            path: path.to_owned(),
            reason: std::io::Error::other(other.to_string()),
        },
    })
}

/// Writes trials as T4.
///
/// # Errors
/// A file that cannot be written.
pub fn write_t4(path: &Path, space: &Space, trials: &[Trial], response: &str, kernel: &str) -> Result<()> {
    let results: Vec<Json> = trials.iter().map(|trial| result(space, trial, response)).collect();
    let device = trials.first().map(|trial| trial.origin.device.as_str()).unwrap_or_default();
    let unit = trials.iter().find_map(|trial| trial.metrics.get(response).map(|metric| metric.unit.as_str()));
    let unit = match unit {
        Some("s") => "seconds",
        Some("us") => "microseconds",
        Some("ns") => "nanoseconds",
        _ => "milliseconds",
    };
    let metadata = json!({"timeunit": unit, "kernel": kernel, "device": device});
    let document = json!({"metadata": metadata, "results": results});
    publish(path, format!("{document:#}\n").as_bytes())
}

fn result(space: &Space, trial: &Trial, response: &str) -> Json {
    let names = space.parameters().iter().map(|parameter| parameter.name().to_owned());
    let configuration: Map<String, Json> =
        names.zip(space.values(&trial.point).into_iter().map(|value| json!(value))).collect();
    let invalidity = match trial.status {
        Status::Ok => "correct",
        Status::Invalid => "constraints",
        Status::CompileError => "compile",
        Status::RunError => "runtime",
        Status::WrongResult => "correctness",
        Status::Timeout => "timeout",
    };
    let mut measurements: Vec<Json> = trial
        .metrics
        .iter()
        .map(|(name, metric)| json!({"name": name, "value": metric.value, "unit": metric.unit}))
        .collect();
    let mut times = Map::new();
    match trial.metrics.get(response) {
        Some(metric) => {
            times.insert("runtimes".to_owned(), json!(metric.repetitions));
        }
        None => measurements.push(json!({"name": response, "value": trial.message, "unit": ""})),
    }
    json!({
        "timestamp": trial.origin.when,
        "configuration": configuration,
        "times": times,
        "invalidity": invalidity,
        "correctness": u8::from(trial.status == Status::Ok),
        "measurements": measurements,
        "objectives": [response],
    })
}

/// Writes trials as CSV: parameters, `status`, metrics, then `message`, `when`, `device` and `by`.
///
/// # Errors
/// A file that cannot be written.
pub fn write_csv(path: &Path, space: &Space, trials: &[Trial], response: &str) -> Result<()> {
    let others: BTreeSet<&str> =
        trials.iter().flat_map(|trial| trial.metrics.keys().map(String::as_str)).collect();
    let metrics: Vec<&str> =
        std::iter::once(response).chain(others.into_iter().filter(|name| *name != response)).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = space.parameters().iter().map(|parameter| parameter.name());
    let header: Vec<&str> = names
        .chain(["status"])
        .chain(metrics.iter().copied())
        .chain(["message", "when", "device", "by"])
        .collect();
    let failed = |error: csv::Error| TunerError::File {
        action: "write",
        path: path.to_owned(),
        reason: std::io::Error::other(error),
    };
    writer.write_record(&header).map_err(failed)?;
    for trial in trials {
        let mut cells: Vec<String> = space.values(&trial.point).iter().map(ToString::to_string).collect();
        cells.push(trial.status.name().to_owned());
        cells.extend(metrics.iter().map(|name| match trial.metrics.get(*name) {
            Some(metric) => format!("{:?}", metric.value),
            None => String::new(),
        }));
        let origin = &trial.origin;
        cells.extend([&trial.message, &origin.when, &origin.device, &origin.by].map(Clone::clone));
        writer.write_record(&cells).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| TunerError::File {
        action: "write",
        path: path.to_owned(),
        reason: std::io::Error::other(error.to_string()),
    })?;
    publish(path, &bytes)
}
