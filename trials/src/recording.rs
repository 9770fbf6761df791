//! What a file recorded.

use crate::formats::roles::Roles;
use crate::mixed::Mixed;
use crate::parameter::Parameter;
use crate::problem::Problem;
use crate::trial::{Status, Trial};
use safe_io::Damage;
use std::path::PathBuf;

/// What a file recorded.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The file.
    pub path: PathBuf,
    /// What of it is damaged and left out; only stores can tell.
    pub damage: Vec<Damage>,
    /// Its format.
    pub format: Format,
    /// Name of the kernel or problem; may be empty.
    pub kernel: String,
    /// Name of the device; may be empty.
    pub device: String,
    /// The parameters of all configurations; T1 has a problem instead.
    pub parameters: Vec<Parameter>,
    /// Trials in the order of the file, each with a value for every parameter, in their order. T1 has none.
    pub trials: Vec<Trial>,
    /// The space that T1 states.
    pub problem: Option<Problem>,
    /// In what the settings of the trials differ. Each of these is a parameter, too.
    pub mixed: Vec<Mixed>,
    /// The metric that is to be minimised, if nobody says otherwise; empty if
    /// [`ReadOptions::no_response`](crate::ReadOptions::no_response) was asked for and the file does not say it.
    pub response: String,
    /// What is a parameter, a metric, the status or neither, and why.
    pub roles: Roles,
}

/// A format of recorded spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A cache file of Kernel Tuner.
    KernelTuner,
    /// A tuning problem: parameters and conditions.
    T1,
    /// Results.
    T4,
    /// Comma-separated values with a header.
    Csv,
    /// A [store](crate::store) of our own.
    Store,
}

impl Format {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Format::KernelTuner => "Kernel Tuner cache",
            Format::T1 => "T1",
            Format::T4 => "T4",
            Format::Csv => "CSV",
            Format::Store => "trial store",
        }
    }
}

impl Recording {
    /// Names of the parameters.
    pub fn names(&self) -> Vec<&str> {
        match &self.problem {
            Some(problem) => problem.parameters.iter().map(|parameter| parameter.name.as_str()).collect(),
            None => self.parameters.iter().map(Parameter::name).collect(),
        }
    }

    /// Names of all metrics of the trials, in alphabetical order.
    pub fn metrics(&self) -> Vec<&str> {
        let names = self.trials.iter().flat_map(|trial| trial.outcome.metrics.keys().map(String::as_str));
        let names: std::collections::BTreeSet<&str> = names.collect();
        names.into_iter().collect()
    }

    /// Number of trials of a status.
    pub fn count(&self, status: Status) -> usize {
        self.trials.iter().filter(|trial| trial.outcome.status == status).count()
    }
}
