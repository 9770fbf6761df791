//! Recorded spaces: files with the trials that somebody measured before, read as they are.
//!
//! Kernel Tuner's cache files, the T4 results and T1 problems of the autotuning community
//! (<https://github.com/odgaard/TuningSchema>), CSV, and our own stores; plain or gzip. The format is told from the content.

mod csv_file;
mod evidence;
mod json_file;
mod kernel_tuner;
mod look;
mod names;
mod read;
pub mod roles;
mod sheet;
mod t1;
mod t4;
mod write;

pub use roles::{ReadOptions, Roles};
pub use sheet::Sheet;
pub use write::{check_csv, write_csv, write_t4};

use crate::error::{Result, TunerError};
use crate::space::{Parameter, Point, Space};
use crate::trial::{Status, Trial};
use crate::value::Value;
use safe_io::Damage;
use std::path::{Path, PathBuf};

/// Most trials of a file.
pub(crate) const MOST_TRIALS: usize = 1_000_000;
/// Most parameters and metrics of a file.
pub(crate) const MOST_COLUMNS: usize = 1_000;

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
    pub trials: Vec<Trial>,
    /// The metric that is to be minimised, if nobody says otherwise; empty if [`ReadOptions::no_response`] was asked
    /// for and the file does not say it.
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

impl Recorded {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, or is none of the formats, with the place of the mistake.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Recorded> {
        if read::starts_with(path, crate::store::MAGIC)? {
            return crate::store::Store::recorded(path)?.with(options);
        }
        let bytes = read::bytes(path)?;
        Recorded::from_bytes(path, &bytes, options)
    }

    /// Reads the content of a file, no longer compressed; `path` is for messages.
    ///
    /// # Errors
    /// As [`Recorded::open`].
    pub fn from_bytes(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Recorded> {
        let content = read::without_mark(bytes);
        match content.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None => Err(malformed(path, "", "the file is empty", "")),
            Some(b'{' | b'[') => {
                read::check_values(path, content)?;
                json_file::read(path, content, options)?.with(options)
            }
            Some(_) => {
                let recorded = csv_file::read(path, content, options)?;
                recorded.check_response(options)?;
                Ok(recorded)
            }
        }
    }

    /// With the response asked for, and with the roles that the format states.
    fn with(mut self, options: &ReadOptions) -> Result<Recorded> {
        if let Some(response) = &options.response {
            self.response.clone_from(response);
        }
        let ignored = std::mem::take(&mut self.roles.ignored);
        self.roles = Roles::of_format(&self, options)?;
        self.roles.ignored = ignored;
        let points: std::collections::HashSet<&Point> =
            self.trials.iter().map(|trial| &trial.point).collect();
        self.roles.repeated = self.trials.len() - points.len();
        if self.format != Format::T1 {
            self.check_response(options)?;
        }
        Ok(self)
    }

    /// Names of all metrics of the trials, in alphabetical order.
    pub fn metrics(&self) -> Vec<&str> {
        let names = self.trials.iter().flat_map(|trial| trial.metrics.keys().map(String::as_str));
        let names: std::collections::BTreeSet<&str> = names.collect();
        names.into_iter().collect()
    }

    /// Number of trials of a status.
    pub fn count(&self, status: Status) -> usize {
        self.trials.iter().filter(|trial| trial.status == status).count()
    }

    fn check_response(&self, options: &ReadOptions) -> Result<()> {
        let metrics = self.metrics();
        if metrics.is_empty() {
            return Err(malformed(&self.path, "", "no trial has a measured value", ""));
        }
        if options.no_response {
            return Ok(());
        }
        if !metrics.contains(&self.response.as_str()) {
            return Err(TunerError::unknown("metric", &self.response, &metrics));
        }
        if options.response.is_none() && names::is_rate(&self.response) {
            return Err(TunerError::Request {
                reason: format!(
                    "{}: the file counts by `{}`, a rate, of which the least is hardly wanted",
                    self.path.display(),
                    self.response
                ),
                hint: format!("name what counts with --metric; there are: {}", metrics.join(", ")),
            });
        }
        Ok(())
    }
}

/// Refuses tables that are too large to be worked with.
fn check_size(path: &Path, columns: usize, rows: usize) -> Result<()> {
    if columns > MOST_COLUMNS {
        let reason = format!("{columns} columns, which is more than {MOST_COLUMNS}");
        return Err(malformed(path, "", reason, "leave out those that are neither parameters nor metrics"));
    }
    if rows > MOST_TRIALS {
        let reason = format!("more than {MOST_TRIALS} trials");
        return Err(malformed(path, "", reason, "take a sample of them"));
    }
    Ok(())
}

pub(crate) fn malformed(path: &Path, place: &str, reason: impl Into<String>, hint: &str) -> TunerError {
    TunerError::Malformed {
        path: path.to_owned(),
        place: if place.is_empty() { String::new() } else { format!("{place}: ") },
        reason: reason.into(),
        hint: hint.to_owned(),
    }
}

/// A trial on the way, with values instead of levels.
struct Row {
    values: Vec<Value>,
    trial: Trial,
}

/// The space of the recorded configurations, and the trials in it. `levels` are known beforehand for some parameters;
/// values that are missing there are added.
fn assemble(
    path: &Path,
    names: &[String],
    levels: Vec<Vec<Value>>,
    rows: Vec<Row>,
) -> Result<(Space, Vec<Trial>)> {
    if rows.is_empty() {
        return Err(malformed(path, "", "there is no trial in it", ""));
    }
    check_size(path, names.len(), rows.len())?;
    let mut levels = levels;
    levels.resize(names.len(), Vec::new());
    for (place, levels) in levels.iter_mut().enumerate() {
        let mut seen: std::collections::HashSet<String> = levels.iter().map(Value::to_string).collect();
        for row in &rows {
            if seen.insert(row.values[place].to_string()) {
                levels.push(row.values[place].clone());
            }
        }
    }
    let named = |error: TunerError| malformed(path, "", error.to_string(), "");
    let parameters: Vec<Parameter> = names
        .iter()
        .zip(levels)
        .map(|(name, levels)| Parameter::new(name, levels))
        .collect::<Result<_>>()
        .map_err(named)?;
    let mut points: Vec<Vec<u32>> = rows.iter().map(|_| Vec::with_capacity(parameters.len())).collect();
    for (place, parameter) in parameters.iter().enumerate() {
        // Levels without an order are found one by one; each text is looked for once.
        let mut known: std::collections::HashMap<String, u32> = std::collections::HashMap::new();
        let level_at = |at: usize, level: &Value| (level.to_string(), at as u32);
        if parameter.kind() == crate::space::ParameterKind::Categorical {
            known.extend(parameter.levels().iter().enumerate().map(|(at, level)| level_at(at, level)));
        }
        for (row, point) in rows.iter().zip(&mut points) {
            let value = &row.values[place];
            let found = match known.is_empty() {
                true => parameter.place(value).map(|place| place as u32),
                false => known.get(&value.to_string()).copied(),
            };
            // Every value of a row is among the levels.
            point.push(found.ok_or_else(|| {
                malformed(path, "", format!("`{}` has no level {value}", parameter.name()), "")
            })?);
        }
    }
    let with_point = |(row, point): (Row, Vec<u32>)| Trial { point: Point::new(point), ..row.trial };
    let trials: Vec<Trial> = rows.into_iter().zip(points).map(with_point).collect();
    let points: Vec<Point> = trials.iter().map(|trial| trial.point.clone()).collect();
    let space = Space::of_points(parameters, points).map_err(named)?;
    Ok((space, trials))
}

#[cfg(test)]
mod tests;
