//! Trials written for others: T4 JSON and CSV. Both are read back as they were.

use super::evidence::{OWN_END, SETTING};
use super::sheet::Sheet;
use crate::error::{Result, TrialsError};
use crate::setting::FIELDS;
use crate::trial::{Status, Trial};
use safe_io::output_file::{self, WriteError};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use text_escape::csv_cell;

pub(super) fn publish(path: &Path, bytes: &[u8]) -> Result<()> {
    output_file::write(path, |file| file.write_all(bytes)).map_err(|error| match error {
        WriteError::Interrupted => TrialsError::Interrupted,
        WriteError::Io(reason) => TrialsError::File { action: "write", path: path.to_owned(), reason },
    })
}

/// Writes trials as T4.
///
/// # Errors
/// A file that cannot be written.
pub fn write_t4(path: &Path, trials: &[Trial], response: &str, kernel: &str) -> Result<()> {
    let results: Vec<Json> = trials.iter().map(|trial| result(trial, response)).collect();
    let device = trials.first().map(|trial| trial.setting.machine.as_str()).unwrap_or_default();
    let unit = trials
        .iter()
        .find_map(|trial| trial.outcome.metrics.get(response).map(|metric| metric.unit.as_str()));
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

fn result(trial: &Trial, response: &str) -> Json {
    let Trial { configuration, outcome, setting, .. } = trial;
    let names = configuration.names().iter().cloned();
    let configuration: Map<String, Json> =
        names.zip(configuration.values().iter().map(|value| json!(value))).collect();
    let invalidity = match outcome.status {
        Status::Ok => "correct",
        Status::Invalid => "constraints",
        Status::CompileError => "compile",
        Status::RunError => "runtime",
        Status::WrongResult => "correctness",
        Status::Timeout => "timeout",
    };
    let mut measurements: Vec<Json> = outcome
        .metrics
        .iter()
        .map(|(name, metric)| json!({"name": name, "value": metric.value, "unit": metric.unit}))
        .collect();
    let mut times = Map::new();
    match outcome.metrics.get(response) {
        Some(metric) => {
            times.insert("runtimes".to_owned(), json!(metric.repetitions));
        }
        None => measurements.push(json!({"name": response, "value": outcome.message, "unit": ""})),
    }
    let said =
        FIELDS.into_iter().zip(setting.texts()).filter(|(name, text)| *name != "job" && !text.is_empty());
    let setting: Map<String, Json> = said.map(|(name, text)| (name.to_owned(), json!(text))).collect();
    let mut result = json!({
        "timestamp": outcome.when,
        "configuration": configuration,
        "times": times,
        "invalidity": invalidity,
        "correctness": u8::from(outcome.status == Status::Ok),
        "measurements": measurements,
        "objectives": [response],
    });
    if !setting.is_empty() {
        result["tilewright"] = Json::Object(setting);
    }
    result
}

/// The fields of the setting that have columns of their own behind [`OWN_END`], which has the machine and by what.
const COLUMNS: [&str; 9] =
    ["program", "source", "strategy", "backend", "size", "steps", "threads", "compiler", "version"];

/// Whether trials with these parameters can be written as CSV: names of columns must differ, so that they can be read
/// back.
///
/// # Errors
/// A parameter with the name of another column, or a response with such a name.
pub fn check_csv<'a>(parameters: impl Iterator<Item = &'a str>, response: &'a str) -> Result<()> {
    different(parameters.chain(["status"]).chain(OWN_END).chain([response]), T4)
}

const T4: &str = "write T4, with a name that ends in .json";

/// Refuses two equal names of what is in one record; `instead` is what to do.
pub(super) fn different<'a>(names: impl Iterator<Item = &'a str>, instead: &str) -> Result<()> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(TrialsError::Request {
                reason: format!("in this format two columns would have the name `{name}`"),
                hint: instead.to_owned(),
            });
        }
    }
    Ok(())
}

/// Trials as a table: parameters, `status`, metrics, then `message`, `when`, `device` and `by`, and what else the settings
/// say.
///
/// # Errors
/// Two columns with one name.
pub fn sheet(names: &[&str], trials: &[Trial], response: &str) -> Result<Sheet> {
    let others: BTreeSet<&str> =
        trials.iter().flat_map(|trial| trial.outcome.metrics.keys().map(String::as_str)).collect();
    let metrics: Vec<&str> =
        std::iter::once(response).chain(others.into_iter().filter(|name| *name != response)).collect();
    let said: Vec<&str> = COLUMNS
        .into_iter()
        .filter(|name| trials.iter().any(|trial| !trial.setting.text(name).is_empty()))
        .collect();
    let header: Vec<String> = names
        .iter()
        .copied()
        .chain(["status"])
        .chain(metrics.iter().copied())
        .chain(OWN_END)
        .map(str::to_owned)
        .chain(said.iter().map(|name| format!("{SETTING}{name}")))
        .collect();
    different(header.iter().map(String::as_str), T4)?;
    let row = |(number, trial): (usize, &Trial)| {
        let Trial { configuration, outcome, setting, .. } = trial;
        let mut cells: Vec<String> = configuration.values().iter().map(ToString::to_string).collect();
        cells.push(outcome.status.name().to_owned());
        cells.extend(metrics.iter().map(|name| match outcome.metrics.get(*name) {
            Some(metric) => format!("{:?}", metric.value),
            None => String::new(),
        }));
        cells.extend([&outcome.message, &outcome.when, &setting.machine, &setting.by].map(Clone::clone));
        cells.extend(said.iter().map(|name| setting.text(name).to_owned()));
        (number as u64 + 2, cells)
    };
    Ok(Sheet { header, rows: trials.iter().enumerate().map(row).collect() })
}

/// Writes trials with these parameters as CSV, as [`sheet`] has them. Text that a spreadsheet would compute, such as
/// `-O3`, has an apostrophe before it, which is not part of it when it is read back.
///
/// # Errors
/// A file that cannot be written; see also [`check_csv`].
pub fn write_csv(path: &Path, names: &[&str], trials: &[Trial], response: &str) -> Result<()> {
    let sheet = sheet(names, trials, response)?;
    let failed = |error: csv::Error| TrialsError::File {
        action: "write",
        path: path.to_owned(),
        reason: std::io::Error::other(error),
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    for cells in std::iter::once(&sheet.header).chain(sheet.rows.iter().map(|(_, cells)| cells)) {
        writer.write_record(cells.iter().map(|cell| csv_cell(cell).into_owned())).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| TrialsError::File {
        action: "write",
        path: path.to_owned(),
        reason: std::io::Error::other(error.to_string()),
    })?;
    publish(path, &bytes)
}
