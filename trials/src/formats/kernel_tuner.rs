//! Cache files of Kernel Tuner: `tune_params_keys`, `tune_params`, and `cache`, from the configuration to its record.
//! Times are in milliseconds. A failed configuration has the name of the error in place of the time, or, since version 1.4, as
//! `__error__`; there `objective` is a list.

use super::cell::Cell;
use super::joined::{Declared, Joined, joined};
use super::roles::{Named, ReadOptions, Roles};
use crate::entries::Entries;
use crate::error::{Result, malformed};
use crate::limits::check_size;
use crate::recording::{Format, Recording};
use crate::setting::Setting;
use crate::trial::{Configuration, Metric, Outcome, Status, Trial};
use crate::value::Value;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Older versions write this time for a failed configuration.
const FAILED_TIME: f64 = 1e20;
/// Where newer versions write why a configuration failed.
const ERROR: &str = "__error__";

/// What is minimised, as the file says it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Objective {
    Several(Vec<String>),
    Any(Cell),
}

impl Default for Objective {
    fn default() -> Objective {
        Objective::Any(Cell::default())
    }
}

impl Objective {
    /// The one that counts: `time` where the file says nothing.
    fn one(self, path: &Path, options: &ReadOptions) -> Result<String> {
        let mut names = match self {
            Objective::Several(names) => names,
            Objective::Any(cell) => vec![cell.text()],
        };
        names.retain(|name| !name.is_empty());
        match (names.as_slice(), &options.response) {
            ([], _) => Ok("time".to_owned()),
            ([_, _, ..], Some(asked)) => Ok(asked.clone()),
            ([_, _, ..], None) if !options.no_response => {
                let reason = format!("there are {} objectives", names.len());
                let hint = format!("name what counts with --metric; there are: {}", names.join(", "));
                Err(malformed(path, "`objective`", reason, &hint))
            }
            _ => Ok(names.swap_remove(0)),
        }
    }
}

/// All but the records.
pub(super) struct Description {
    pub kernel: String,
    pub device: String,
    pub objective: Objective,
    pub names: Option<Vec<String>>,
    pub levels: Entries<Vec<Cell>>,
}

pub(super) fn read(
    path: &Path,
    description: Description,
    cache: Entries<Entries<Cell>>,
    options: &ReadOptions,
) -> Result<Recording> {
    let mut objective = description.objective.one(path, options)?;
    // What is asked for counts where the records lack the objective.
    if let Some(response) = &options.response
        && cache.0.iter().all(|(_, record)| record.get(&objective).is_none())
    {
        objective.clone_from(response);
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
    let shared: Arc<[String]> = names.clone().into();
    let setting = Arc::new(Setting {
        program: description.kernel.clone(),
        machine: description.device.clone(),
        by: "Kernel Tuner".to_owned(),
        ..Setting::default()
    });
    let mut trials = Vec::with_capacity(cache.0.len());
    let mut other = BTreeSet::new();
    for (key, record) in cache.0 {
        let is_other = |(name, cell): &&(String, Cell)| {
            name != ERROR && !names.contains(name) && cell.number().is_none()
        };
        other.extend(record.0.iter().filter(is_other).map(|(name, _)| name.clone()));
        let place = format!("record \"{}\"", key.chars().take(80).collect::<String>());
        check_size(path, record.0.len(), 0)?;
        let (values, outcome) = row(path, &place, &names, record, &objective)?;
        let configuration = Configuration::new(Arc::clone(&shared), values);
        trials.push(Trial { configuration, outcome, setting: Arc::clone(&setting), round: 0 });
    }
    let levels: Vec<Vec<Value>> = names.iter().map(levels_of).collect();
    // Only levels that occur; the recorded points are the space.
    let levels: Vec<Vec<Value>> = levels
        .into_iter()
        .enumerate()
        .map(|(place, levels)| {
            let mut used: Vec<&Value> =
                trials.iter().map(|trial: &Trial| &trial.configuration.values()[place]).collect();
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
    let declared = names.into_iter().zip(levels);
    let declared = declared.map(|(name, levels)| Declared { name, levels, categorical: false }).collect();
    let Joined { parameters, trials, mixed } = joined(path, declared, trials)?;
    let measured: BTreeSet<&String> = trials.iter().flat_map(|trial| trial.outcome.metrics.keys()).collect();
    other.retain(|name| !measured.contains(name));
    let why = |name: &str| if name == "times" { "the repetitions of `time`" } else { "it holds no numbers" };
    let ignored = other.iter().map(|name| Named::new(name, why(name))).collect();
    Ok(Recording {
        path: path.to_owned(),
        damage: Vec::new(),
        format: Format::KernelTuner,
        kernel: description.kernel,
        device: description.device,
        parameters,
        trials,
        problem: None,
        mixed,
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
) -> Result<(Vec<Value>, Outcome)> {
    let value = |name: &String| match record.get(name) {
        Some(Cell::Value(value)) => Ok(value.clone()),
        Some(_) => Err(malformed(path, place, format!("`{name}` is not a single value"), "")),
        None => Err(malformed(path, place, format!("the parameter `{name}` is missing"), "")),
    };
    let values = names.iter().map(value).collect::<Result<Vec<Value>>>()?;
    let mut status = Status::Ok;
    let mut message = String::new();
    let measured = record.get(objective);
    let failure = [record.get(ERROR), measured].into_iter().flatten().find_map(|cell| match cell {
        Cell::Value(Value::Text(error)) => Some(error),
        _ => None,
    });
    match (failure, measured) {
        (Some(error), _) => {
            status = status_of(error);
            message.clone_from(error);
        }
        (None, Some(cell)) if cell.number().is_some_and(|time| time < FAILED_TIME) => {}
        (None, Some(_)) => {
            status = Status::RunError;
            message = format!("no number was recorded as {objective}");
        }
        (None, None) => {
            let reason = format!("it has no `{objective}`");
            return Err(malformed(path, place, reason, "name the metric that counts with --metric"));
        }
    }
    let mut metrics = BTreeMap::new();
    let mut when = String::new();
    for (name, cell) in &record.0 {
        if names.contains(name) {
            continue;
        }
        if name == "timestamp" {
            when = cell.text();
        } else if let Some(value) = cell.number().filter(|&value| value < FAILED_TIME) {
            let unit = if name == "time" || name.ends_with("_time") { "ms" } else { "" };
            metrics.insert(name.clone(), Metric { value, repetitions: Vec::new(), unit: unit.to_owned() });
        }
    }
    if let (Some(Cell::Numbers(times)), Some(time)) = (record.get("times"), metrics.get_mut("time")) {
        time.repetitions.clone_from(times);
    }
    Ok((values, Outcome { status, metrics, message, when }))
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
