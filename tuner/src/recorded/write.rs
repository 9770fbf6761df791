//! Trials written for others: T4 JSON and CSV. Both are read back as they were.

use crate::error::{Result, TunerError};
use crate::space::Space;
use crate::trial::{Status, Trial};
use safe_io::output_file::{self, WriteError};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use text_escape::csv_cell;

fn publish(path: &Path, bytes: &[u8]) -> Result<()> {
    output_file::write(path, |file| file.write_all(bytes)).map_err(|error| match error {
        WriteError::Interrupted => TunerError::Interrupted,
        WriteError::Io(reason) => TunerError::File { action: "write", path: path.to_owned(), reason },
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

/// Columns of our CSV files beside parameters and metrics.
const COLUMNS: [&str; 5] = ["status", "message", "when", "device", "by"];

/// Whether trials of this space can be written as CSV: names of columns must differ, so that they can be read back.
///
/// # Errors
/// A parameter with the name of another column, or a response with such a name.
pub fn check_csv(space: &Space, response: &str) -> Result<()> {
    different(space.parameters().iter().map(|parameter| parameter.name()).chain(COLUMNS).chain([response]))
}

fn different<'a>(names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(TunerError::Request {
                reason: format!("in CSV two columns would have the name `{name}`"),
                hint: "write T4, with a name that ends in .json".to_owned(),
            });
        }
    }
    Ok(())
}

/// Writes trials as CSV: parameters, `status`, metrics, then `message`, `when`, `device` and `by`. Text that a spreadsheet
/// would compute, such as `-O3`, has an apostrophe before it, which is not part of it when it is read back.
///
/// # Errors
/// A file that cannot be written; see also [`check_csv`].
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
    different(header.iter().copied())?;
    let failed = |error: csv::Error| TunerError::File {
        action: "write",
        path: path.to_owned(),
        reason: std::io::Error::other(error),
    };
    writer.write_record(header.iter().map(|name| csv_cell(name).into_owned())).map_err(failed)?;
    for trial in trials {
        let mut cells: Vec<String> = space.values(&trial.point).iter().map(ToString::to_string).collect();
        cells.push(trial.status.name().to_owned());
        cells.extend(metrics.iter().map(|name| match trial.metrics.get(*name) {
            Some(metric) => format!("{:?}", metric.value),
            None => String::new(),
        }));
        let origin = &trial.origin;
        cells.extend([&trial.message, &origin.when, &origin.device, &origin.by].map(Clone::clone));
        writer.write_record(cells.iter().map(|cell| csv_cell(cell).into_owned())).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| TunerError::File {
        action: "write",
        path: path.to_owned(),
        reason: std::io::Error::other(error.to_string()),
    })?;
    publish(path, &bytes)
}
