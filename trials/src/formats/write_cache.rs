//! Trials as a cache file of Kernel Tuner, which its simulation mode replays and its tuning goes on from.

use super::write::{different, publish};
use crate::entries::Entries;
use crate::error::{Result, TrialsError};
use crate::trial::{Metric, Status, Trial};
use crate::value::Value;
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::collections::HashSet;
use std::path::Path;

/// Writes trials with these parameters as a cache file of Kernel Tuner. Metrics called `time` or `.._time` are in milliseconds
/// there, and are converted where their unit is known. A failure keeps its kind as far as Kernel Tuner has one: what was
/// wrong or took too long has failed at run time.
///
/// # Errors
/// A parameter with the name of a metric, and a file that cannot be written.
pub fn write_kernel_tuner(
    path: &Path,
    names: &[&str],
    trials: &[Trial],
    response: &str,
    kernel: &str,
) -> Result<()> {
    different(
        names.iter().copied().chain([response, "times", "timestamp"]),
        "write T4, with a name that ends in .json",
    )?;
    let levels = |place: usize| {
        let mut levels: Vec<&Value> = Vec::new();
        for trial in trials {
            let value = &trial.configuration.values()[place];
            if !levels.contains(&value) {
                levels.push(value);
            }
        }
        json!(levels)
    };
    // A configuration that was measured again keeps its first record, as Kernel Tuner has it.
    let mut seen = HashSet::new();
    let records = trials.iter().map(|trial| (key(trial), record(trial, names, response)));
    let records: Vec<(String, Json)> = records.filter(|(key, _)| seen.insert(key.clone())).collect();
    let setting = trials.first().map(|trial| &trial.setting);
    let extents = setting.map_or("", |setting| &setting.size).split('x').map(|extent| extent.parse().ok());
    let document = Document {
        device_name: setting.map_or("", |setting| &setting.machine),
        kernel_name: kernel,
        problem_size: extents.collect(),
        tune_params_keys: names,
        tune_params: Entries(
            names.iter().enumerate().map(|(at, &name)| (name.to_owned(), levels(at))).collect(),
        ),
        objective: response,
        cache: Entries(records),
    };
    let text = serde_json::to_vec_pretty(&document).map_err(|error| TrialsError::File {
        action: "write",
        path: path.to_owned(),
        reason: error.into(),
    })?;
    // It ends with the three letters that Kernel Tuner takes away to append.
    publish(path, &text)
}

#[derive(Serialize)]
struct Document<'a> {
    device_name: &'a str,
    kernel_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem_size: Option<Vec<u64>>,
    tune_params_keys: &'a [&'a str],
    tune_params: Entries<Json>,
    objective: &'a str,
    cache: Entries<Json>,
}

/// A configuration as Python's `",".join(str(value) ..)` writes it.
fn key(trial: &Trial) -> String {
    let words: Vec<String> = trial.configuration.values().iter().map(word).collect();
    words.join(",")
}

fn word(value: &Value) -> String {
    match value {
        Value::Boolean(true) => "True".to_owned(),
        Value::Boolean(false) => "False".to_owned(),
        Value::Real(value) => {
            // Both languages write the shortest digits that read back, with exponents for the same numbers.
            let text = format!("{value:?}");
            match text.split_once('e') {
                Some((digits, exponent)) => match exponent.strip_prefix('-') {
                    Some(exponent) => format!("{digits}e-{exponent:0>2}"),
                    None => format!("{digits}e+{exponent:0>2}"),
                },
                None => text,
            }
        }
        Value::Integer(_) | Value::Text(_) => value.to_string(),
    }
}

fn record(trial: &Trial, names: &[&str], response: &str) -> Json {
    let outcome = &trial.outcome;
    let values = names.iter().zip(trial.configuration.values());
    let mut record: serde_json::Map<String, Json> =
        values.map(|(&name, value)| (name.to_owned(), json!(value))).collect();
    for (name, metric) in &outcome.metrics {
        // A parameter may be called like a metric that does not count.
        if record.contains_key(name) {
            continue;
        }
        let factor = milliseconds(name, metric);
        record.insert(name.clone(), json!(metric.value * factor));
        if name == "time" && !metric.repetitions.is_empty() {
            let times: Vec<f64> = metric.repetitions.iter().map(|time| time * factor).collect();
            record.insert("times".to_owned(), json!(times));
        }
    }
    // All versions take the name of the error in place of the value.
    let failure = match outcome.status {
        Status::Ok => None,
        Status::Invalid => Some("InvalidConfig"),
        Status::CompileError => Some("CompilationFailedConfig"),
        Status::RunError | Status::WrongResult | Status::Timeout => Some("RuntimeFailedConfig"),
    };
    if let Some(failure) = failure {
        record.insert(response.to_owned(), json!(failure));
    }
    record.insert("timestamp".to_owned(), json!(outcome.when));
    Json::Object(record)
}

/// What a metric is multiplied by.
fn milliseconds(name: &str, metric: &Metric) -> f64 {
    if name != "time" && !name.ends_with("_time") {
        return 1.0;
    }
    match metric.unit.as_str() {
        "s" => 1e3,
        "us" => 1e-3,
        "ns" => 1e-6,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::roles::ReadOptions;
    use crate::{Configuration, Outcome, Recording, Setting};
    use std::sync::Arc;

    #[test]
    fn what_is_written_is_read_back() {
        let setting = Arc::new(Setting { machine: "GPU".into(), size: "64x32".into(), ..Setting::default() });
        let names = ["block", "flag", "fast", "rate"];
        let configuration = |block, fast, rate| {
            let values = [Value::Integer(block), Value::from("-O3"), Value::Boolean(fast), Value::Real(rate)];
            Configuration::of(names.map(str::to_owned).into_iter().zip(values))
        };
        let measured = Outcome::measured("score", 2.5).with("time", 0.25, "s").now();
        let trials: Vec<Trial> = [
            (configuration(32, true, 1e-5), measured),
            (configuration(64, true, 0.5), Outcome::failed(Status::CompileError, "no")),
            (configuration(64, false, 1e16), Outcome::failed(Status::Timeout, "late")),
        ]
        .into_iter()
        .map(|(configuration, outcome)| Trial {
            configuration,
            outcome,
            setting: Arc::clone(&setting),
            round: 0,
        })
        .collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.cache.json");
        write_kernel_tuner(&path, &names, &trials, "score", "kernel").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.ends_with("}\n}"), "{text}");
        for key in ["\"32,-O3,True,1e-05\"", "\"64,-O3,True,0.5\"", "\"64,-O3,False,1e+16\""] {
            assert!(text.contains(key), "{key} {text}");
        }
        let again = Recording::open(&path, &ReadOptions::default()).unwrap();
        assert_eq!(
            (again.response.as_str(), again.kernel.as_str(), again.device.as_str()),
            ("score", "kernel", "GPU")
        );
        assert_eq!(again.names(), names);
        let of = |all: &[Trial]| -> Vec<(Vec<Value>, bool)> {
            all.iter()
                .map(|one| (one.configuration.values().to_vec(), one.outcome.status == Status::Ok))
                .collect()
        };
        assert_eq!(of(&again.trials), of(&trials));
        assert_eq!(again.trials[0].outcome.metrics["time"].value, 250.0);
        assert_eq!(again.trials[1].outcome.status, Status::CompileError);
        // Two things of one name cannot be told apart in a record.
        assert!(write_kernel_tuner(&path, &names, &trials, "block", "kernel").is_err());
    }

    #[test]
    fn newer_versions_are_read() {
        // The objective is a list, and what failed has no value.
        let of = |objective: &str, response: Option<&str>| {
            let text = format!(
                "{{\"kernel_name\": \"k\", \"tune_params_keys\": [\"x\"], \"objective\": {objective}, \"cache\": {{\
                 \"1\": {{\"x\": 1, \"time\": 2.5}}, \"2\": {{\"x\": 2, \"__error__\": \"CompilationFailedConfig\"}}}}}}"
            );
            let options = ReadOptions { response: response.map(str::to_owned), ..ReadOptions::default() };
            Recording::from_bytes(Path::new("file"), text.as_bytes(), &options)
        };
        let found = of("[\"time\"]", None).unwrap();
        assert_eq!(found.response, "time");
        assert_eq!(found.trials[1].outcome.status, Status::CompileError);
        assert_eq!(found.trials[0].outcome.response("time"), Some(2.5));
        // Another objective is not the time.
        assert!(of("[\"energy\"]", None).unwrap_err().to_string().contains("it has no `energy`"));
        let several = of("[\"time\", \"energy\"]", None).unwrap_err();
        assert!(several.to_string().contains("2 objectives"), "{several}");
        assert_eq!(of("[\"time\", \"energy\"]", Some("time")).unwrap().response, "time");
    }
}
