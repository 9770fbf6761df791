//! Recorded spaces: files with the trials that somebody measured before, as a space and its points.
//!
//! What files are read, and how, is the matter of the crate [`trials`]. T1 has a space and no trials.

mod points;
mod problem;

pub use trials::formats::{Sheet, check_csv, roles, table, write_csv, write_kernel_tuner, write_t4};
pub use trials::{Format, Mixed, ReadOptions, Roles};

use crate::error::Result;
use crate::space::{Point, Space};
use crate::tried::Tried;
use safe_io::Damage;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use trials::{Recording, Status};

/// What a file recorded.
#[derive(Debug, Clone)]
pub struct Recorded {
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
    /// Parameters and points. Except for T1, the valid points are the recorded ones, failed ones among them.
    pub space: Space,
    /// Trials in the order of the file. T1 has none.
    pub trials: Vec<Tried>,
    /// In what the settings of the trials differ; each is a parameter of the space.
    pub mixed: Vec<Mixed>,
    /// The metric that is to be minimised, if nobody says otherwise; empty if [`ReadOptions::no_response`] was asked for
    /// and the file does not say it.
    pub response: String,
    /// What is a parameter, a metric, the status or neither, and why.
    pub roles: Roles,
}

impl Recorded {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, or is none of the formats, with the place of the mistake.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Recorded> {
        Recorded::of(Recording::open(path, options)?)
    }

    /// Reads the content of a file, no longer compressed; `path` is for messages.
    ///
    /// # Errors
    /// As [`Recorded::open`].
    pub fn from_bytes(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Recorded> {
        Recorded::of(Recording::from_bytes(path, bytes, options)?)
    }

    /// The space of a recording.
    ///
    /// # Errors
    /// Parameters that make no space.
    pub fn of(recording: Recording) -> Result<Recorded> {
        let Recording { path, damage, format, kernel, device, parameters, trials, .. } = recording;
        let (space, trials) = match &recording.problem {
            Some(problem) => (problem::space(&path, problem)?, Vec::new()),
            None => points::points(&path, parameters, trials)?,
        };
        let (mixed, response, mut roles) = (recording.mixed, recording.response, recording.roles);
        let points: HashSet<&Point> = trials.iter().map(|trial| &trial.point).collect();
        roles.repeated = trials.len() - points.len();
        Ok(Recorded { path, damage, format, kernel, device, space, trials, mixed, response, roles })
    }

    /// Names of all metrics of the trials, in alphabetical order.
    pub fn metrics(&self) -> Vec<&str> {
        let names = self.trials.iter().flat_map(|trial| trial.metrics.keys().map(String::as_str));
        let names: BTreeSet<&str> = names.collect();
        names.into_iter().collect()
    }

    /// Number of trials of a status.
    pub fn count(&self, status: Status) -> usize {
        self.trials.iter().filter(|trial| trial.status == status).count()
    }
}

#[cfg(test)]
mod tests;
