//! Cache files of Kernel Tuner: `tune_params_keys`, `tune_params`, and `cache`, from the configuration to its record.
//! Times are in milliseconds. A failed configuration has the name of the error in place of the time.

use super::assemble::{Row, assemble};
use super::cell::{Cell, Entries};
use super::limits::check_size;
use super::recording::{Format, Recorded};
use super::roles::{Named, Roles};
use crate::error::{Result, malformed};
use crate::space::Point;
use crate::trial::{Metric, Origin, Status, Trial};
use crate::value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Older versions write this time for a failed configuration.
const FAILED_TIME: f64 = 1e20;

/// All but the records.
pub(super) struct Description {
    pub kernel: String,
    pub device: String,
    pub objective: String,
    /// What is asked for; it counts where the records lack the objective.
    pub response: Option<String>,
    pub names: Option<Vec<String>>,
    pub levels: Entries<Vec<Cell>>,
}

pub(super) fn read(path: &Path, description: Description, cache: Entries<Entries<Cell>>) -> Result<Recorded> {
    let mut objective =
        if description.objective.is_empty() { "time".to_owned() } else { description.objective };
    if let Some(response) = description.response
        && cache.0.iter().all(|(_, record)| record.get(&objective).is_none())
    {
        objective = response;
    }
    let names = match description.names {
        Some(names) if !names.is_empty() => names,
        _ => description.levels.0.iter().map(|(name, _)| name.clone()).collect(),
    };
    if names.is_empty() {
        return Err(malformed(path, "`tune_params_keys`", "there is no parameter", ""));
    }
    let levels_of = |name: &String| -> Vec<Value> {
        let cells = description.levels.get(name).map_or(&[][..], Vec::as_slice);
        cells
            .iter()
            .filter_map(|cell| if let Cell::Value(value) = cell { Some(value.clone()) } else { None })
            .collect()
    };
    check_size(path, names.len(), cache.0.len())?;
    let mut rows = Vec::with_capacity(cache.0.len());
    let mut other = BTreeSet::new();
    for (key, record) in cache.0 {
        let is_other = |(name, cell): &&(String, Cell)| !names.contains(name) && cell.number().is_none();
        other.extend(record.0.iter().filter(is_other).map(|(name, _)| name.clone()));
        let place = format!("record \"{}\"", key.chars().take(80).collect::<String>());
        check_size(path, record.0.len(), 0)?;
        rows.push(row(path, &place, &names, record, &objective, &description.device)?);
    }
    let levels: Vec<Vec<Value>> = names.iter().map(levels_of).collect();
    // Only levels that occur; the recorded points are the space.
    let levels = levels
        .into_iter()
        .enumerate()
        .map(|(place, levels)| {
            let mut used: Vec<&Value> = rows.iter().map(|row: &Row| &row.values[place]).collect();
            used.sort_by(|left, right| left.order(right));
            // A boolean has a place among the numbers, but is none.
            let occurs = |value: &Value| {
                let from = used.partition_point(|other| other.order(value).is_lt());
                used[from..]
                    .iter()
                    .take_while(|other| other.order(value).is_eq())
                    .any(|other| other.same(value))
            };
            levels.into_iter().filter(occurs).collect()
        })
        .collect();
    let (space, trials) = assemble(path, &names, levels, rows)?;
    let measured: BTreeSet<&String> = trials.iter().flat_map(|trial| trial.metrics.keys()).collect();
    other.retain(|name| !measured.contains(name));
    let why = |name: &str| if name == "times" { "the repetitions of `time`" } else { "it holds no numbers" };
    let ignored = other.iter().map(|name| Named::new(name, why(name))).collect();
    Ok(Recorded {
        path: path.to_owned(),
        damage: Vec::new(),
        format: Format::KernelTuner,
        kernel: description.kernel,
        device: description.device,
        space,
        trials,
        response: objective,
        roles: Roles { ignored, ..Roles::default() },
    })
}

fn row(
    path: &Path,
    place: &str,
    names: &[String],
    record: Entries<Cell>,
    objective: &str,
    device: &str,
) -> Result<Row> {
    let value = |name: &String| match record.get(name) {
        Some(Cell::Value(value)) => Ok(value.clone()),
        Some(_) => Err(malformed(path, place, format!("`{name}` is not a single value"), "")),
        None => Err(malformed(path, place, format!("the parameter `{name}` is missing"), "")),
    };
    let values = names.iter().map(value).collect::<Result<Vec<Value>>>()?;
    let mut status = Status::Ok;
    let mut message = String::new();
    match record.get(objective) {
        Some(Cell::Value(Value::Text(error))) => {
            status = status_of(error);
            message.clone_from(error);
        }
        Some(cell) if cell.number().is_some_and(|time| time < FAILED_TIME) => {}
        Some(_) => {
            status = Status::RunError;
            message = format!("no number was recorded as {objective}");
        }
        None => {
            let reason = format!("it has no `{objective}`");
            return Err(malformed(path, place, reason, "name the metric that counts with --metric"));
        }
    }
    let mut metrics = BTreeMap::new();
    let mut origin = Origin { device: device.to_owned(), by: "Kernel Tuner".to_owned(), ..Origin::default() };
    for (name, cell) in &record.0 {
        if names.contains(name) {
            continue;
        }
        if name == "timestamp" {
            origin.when = cell.text();
        } else if let Some(value) = cell.number().filter(|&value| value < FAILED_TIME) {
            let unit = if name == "time" || name.ends_with("_time") { "ms" } else { "" };
            metrics.insert(name.clone(), Metric { value, repetitions: Vec::new(), unit: unit.to_owned() });
        }
    }
    if let (Some(Cell::Numbers(times)), Some(time)) = (record.get("times"), metrics.get_mut("time")) {
        time.repetitions.clone_from(times);
    }
    // The point is set when all levels are known.
    let trial = Trial { point: Point::new(Vec::new()), status, metrics, message, origin };
    Ok(Row { values, trial })
}

/// What the name of an error means.
pub(super) fn status_of(error: &str) -> Status {
    let lower = error.to_lowercase();
    if lower.contains("compil") {
        Status::CompileError
    } else if lower.contains("invalid") || lower.contains("constraint") {
        Status::Invalid
    } else if lower.contains("timeout") || lower.contains("time out") {
        Status::Timeout
    } else if lower.contains("correctness") || lower.contains("verif") {
        Status::WrongResult
    } else {
        Status::RunError
    }
}
