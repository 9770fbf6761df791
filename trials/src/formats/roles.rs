//! What the columns of a file are: parameters, metrics, the status, or nothing that counts. Each with the
//! reason, so that a report can state it.

pub use super::evidence::of_front;

use crate::error::{Result, TrialsError};
use crate::mixed::Mixed;
use crate::trial::Status;
use serde::Serialize;
use std::collections::HashSet;

/// A column, or what stands for one in other formats, and why it has its role.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Why it has this role.
    pub why: String,
}

impl Named {
    /// A column and the reason.
    pub fn new(name: impl Into<String>, why: impl Into<String>) -> Named {
        Named { name: name.into(), why: why.into() }
    }
}

/// The roles of all columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Roles {
    /// What is searched or explained by.
    pub parameters: Vec<Named>,
    /// What was measured.
    pub metrics: Vec<Named>,
    /// What says how a trial ended.
    pub status: Option<Named>,
    /// What nothing depends on.
    pub ignored: Vec<Named>,
    /// Trials whose configuration an earlier trial has, too.
    pub repeated: usize,
}

impl Roles {
    /// Says that parts of the setting are parameters.
    pub(crate) fn add_mixed(&mut self, mixed: &[Mixed]) {
        self.parameters.retain(|named| !mixed.iter().any(|mixed| mixed.parameter == named.name));
        let why = "the settings of the trials differ in it";
        self.parameters.extend(mixed.iter().map(|mixed| Named::new(&mixed.parameter, why)));
    }

    /// The roles as names and values for a report; columns with the same reason together.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let status: Vec<Named> = self.status.iter().cloned().collect();
        let groups = [
            ("parameters", &self.parameters),
            ("metrics", &self.metrics),
            ("status", &status),
            ("ignored", &self.ignored),
        ];
        let mut lines: Vec<(&'static str, String)> =
            groups.into_iter().map(|(name, columns)| (name, together(columns))).collect();
        if self.repeated > 0 {
            let what = format!("{} trials have the configuration of an earlier one", self.repeated);
            lines.push(("repeated", what));
        }
        lines
    }

    /// The roles of several files that are read together.
    pub fn joined<'a>(all: impl IntoIterator<Item = &'a Roles>) -> Roles {
        let mut joined = Roles::default();
        let mut seen = HashSet::new();
        for roles in all {
            let lists = [
                (&mut joined.parameters, &roles.parameters),
                (&mut joined.metrics, &roles.metrics),
                (&mut joined.ignored, &roles.ignored),
            ];
            for (role, (to, from)) in lists.into_iter().enumerate() {
                to.extend(from.iter().filter(|column| seen.insert((role, *column))).cloned());
            }
            joined.status = joined.status.or_else(|| roles.status.clone());
            joined.repeated += roles.repeated;
        }
        joined
    }
}

fn together(columns: &[Named]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for column in columns {
        match reasons.iter_mut().find(|(why, _)| *why == column.why) {
            Some((_, names)) => names.push(&column.name),
            None => reasons.push((&column.why, vec![&column.name])),
        }
    }
    let line = |(why, names): (&str, Vec<&str>)| {
        let names: Vec<&str> =
            names.into_iter().map(|name| if name.is_empty() { "(no name)" } else { name }).collect();
        format!("{}: {why}", names.join(", "))
    };
    if reasons.is_empty() {
        "none".to_owned()
    } else {
        reasons.into_iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// Options of a reader: what the user says about the columns.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The metric that is to be minimised; where it is not given, the file decides, or its name.
    pub response: Option<String>,
    /// Other metrics, or expressions over metrics and parameters.
    pub metrics: Vec<String>,
    /// The parameters: names, several of them separated by commas. Where some are given, nothing else is a
    /// parameter.
    pub parameters: Vec<String>,
    /// The column that says how a trial ended.
    pub status: Option<String>,
    /// Nothing is minimised: the file only has to say what its parameters and metrics are.
    pub no_response: bool,
}

/// Names in texts such as `a,b`. A text that is a known name as a whole is that name; quotes hold a name
/// together.
pub(super) fn split_names(texts: &[String], known: &[&str]) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for text in texts {
        if known.contains(&text.trim()) {
            names.push(text.trim().to_owned());
            continue;
        }
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(text.as_bytes());
        let record = reader.records().next().and_then(std::result::Result::ok).unwrap_or_default();
        if record.is_empty() || record.iter().any(str::is_empty) {
            return Err(TrialsError::Request {
                reason: format!("--parameters {text:?} names no column between some commas"),
                hint: "write names with commas between them, such as --parameters tile_x,tile_y".to_owned(),
            });
        }
        names.extend(record.iter().map(str::to_owned));
    }
    if let Some(place) = (1..names.len()).find(|&place| names[..place].contains(&names[place])) {
        return Err(TrialsError::Request {
            reason: format!("--parameters names `{}` twice", names[place]),
            hint: String::new(),
        });
    }
    Ok(names)
}

/// Two roles for one column.
pub(super) fn conflict(name: &str, one: &str, other: &str) -> TrialsError {
    TrialsError::Request {
        reason: format!("`{name}` has two roles: {one} names it, and it is {other}"),
        hint: "a column is either a parameter, or a metric, or the status".to_owned(),
    }
}

/// The status that a word of a file stands for; `None` for unknown words. `yes_or_no`: 1 and 0 are words as
/// well.
pub(super) fn status_of_word(word: &str, yes_or_no: bool) -> Option<Status> {
    let lower = word.trim().to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    let good = [
        "ok",
        "success",
        "successful",
        "succeeded",
        "pass",
        "passed",
        "correct",
        "valid",
        "true",
        "yes",
        "done",
        "complete",
        "completed",
        "finished",
        "measured",
        "verified",
    ];
    if good.contains(&lower.as_str()) {
        return Some(Status::Ok);
    }
    match lower.as_str() {
        "1" if yes_or_no => return Some(Status::Ok),
        "0" if yes_or_no => return Some(Status::RunError),
        "false" | "no" => return Some(Status::RunError),
        _ => {}
    }
    if let Some(status) = Status::named(&lower) {
        return Some(status);
    }
    // `no error` and `0 failures` say the contrary of what stands in them.
    if lower.starts_with(|c: char| c.is_ascii_digit())
        || ["no", "not ", "without"].iter().any(|w| lower.starts_with(w))
    {
        return None;
    }
    if has(&["compil"]) {
        Some(Status::CompileError)
    } else if has(&["timeout", "time out", "timed out", "timed-out", "timed_out"]) {
        Some(Status::Timeout)
    } else if has(&["invalid", "constraint"]) {
        Some(Status::Invalid)
    } else if has(&["wrong", "incorrect", "correctness", "verif", "mismatch"]) {
        Some(Status::WrongResult)
    } else if has(&[
        "fail",
        "error",
        "crash",
        "abort",
        "kill",
        "signal",
        "segv",
        "segf",
        "oom",
        "memory",
        "exception",
    ]) {
        Some(Status::RunError)
    } else {
        None
    }
}
