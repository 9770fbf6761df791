//! One measured configuration. A failed one is data as well.

use crate::space::Point;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a measurement ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Measured, and right as far as was checked.
    Ok,
    /// Refused before it was compiled: a constraint of the device or of the program.
    Invalid,
    /// The compiler failed.
    CompileError,
    /// It failed while it ran.
    RunError,
    /// It ran, and the result was wrong.
    WrongResult,
    /// It took too long.
    Timeout,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 6] = [
        Status::Ok,
        Status::Invalid,
        Status::CompileError,
        Status::RunError,
        Status::WrongResult,
        Status::Timeout,
    ];

    /// As files name it.
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Invalid => "invalid",
            Status::CompileError => "compile-error",
            Status::RunError => "run-error",
            Status::WrongResult => "wrong-result",
            Status::Timeout => "timeout",
        }
    }

    /// The status of this name.
    pub fn named(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// A measured quantity.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// What counts, often a mean or median of the repetitions; finite.
    pub value: f64,
    /// Every repetition, in the order measured; empty where they were not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repetitions: Vec<f64>,
    /// Its unit, such as `s` or `ms`; empty where it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
}

/// When, where and by what a trial was measured; empty where it is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Date and time, as RFC 3339 or as the file has it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub when: String,
    /// The device.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// The program that measured.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
}

/// One measured configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The configuration: for each parameter of the space, the index of its level.
    pub point: Point,
    /// How it ended.
    pub status: Status,
    /// Every measured quantity by name. A failed trial may have some, such as the time it took to compile.
    pub metrics: BTreeMap<String, Metric>,
    /// Why it failed.
    pub message: String,
    /// When, where and by what.
    pub origin: Origin,
}

impl Trial {
    /// A successful trial with one metric.
    pub fn measured(point: Point, metric: &str, value: f64) -> Trial {
        let metric = (metric.to_owned(), Metric { value, ..Metric::default() });
        let metrics = BTreeMap::from([metric]);
        Trial { point, status: Status::Ok, metrics, message: String::new(), origin: Origin::default() }
    }

    /// A failed trial.
    pub fn failed(point: Point, status: Status, message: impl Into<String>) -> Trial {
        let message = message.into();
        Trial { point, status, metrics: BTreeMap::new(), message, origin: Origin::default() }
    }

    /// Value of a metric; `None` where the trial failed or did not measure it.
    pub fn response(&self, metric: &str) -> Option<f64> {
        if self.status != Status::Ok {
            return None;
        }
        self.metrics.get(metric).map(|metric| metric.value)
    }
}
