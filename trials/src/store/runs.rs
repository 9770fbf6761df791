//! Files of runs, as `validate --trials` wrote them before there was one store: a journal of what was measured, and one
//! record per run of a tile; earlier still, the same lines without checksums.

use super::content::Content;
use crate::error::{Result, TrialsError, malformed};
use crate::setting::Setting;
use crate::trial::{Configuration, Outcome, Trial};
use crate::value::Value;
use safe_io::{Damage, journal};
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;

/// The first line of a journal.
#[derive(Deserialize)]
struct Header {
    journal: String,
    of: Subject,
}

/// What the runs are of.
#[derive(Deserialize)]
struct Subject {
    stencil: String,
    source: String,
    size: Vec<i64>,
    steps: i64,
    /// Absent for the preferred one.
    #[serde(default)]
    strategy: String,
    threads: usize,
    /// Hash of what tells the processor from others.
    processor: String,
}

/// One run.
#[derive(Deserialize)]
struct Run {
    tile: String,
    seconds: f64,
    #[serde(default)]
    others: f64,
}

/// What runs of a file of that time have as their job, with the hash of the processor's identity behind it.
pub const PROCESSOR: &str = "processor ";

impl Subject {
    fn setting(self) -> Setting {
        let size: Vec<String> = self.size.iter().map(i64::to_string).collect();
        let on_device = self.threads == 0;
        Setting {
            program: self.stencil,
            source: self.source,
            strategy: self.strategy,
            backend: if on_device { "cuda" } else { "openmp" }.to_owned(),
            size: size.join("x"),
            steps: self.steps.to_string(),
            job: format!("{PROCESSOR}{}", self.processor),
            threads: if on_device { String::new() } else { self.threads.to_string() },
            by: "tilewright validate".to_owned(),
            response: "seconds".to_owned(),
            ..Setting::default()
        }
    }
}

/// The runs of a journal whose first line has this data.
pub(super) fn of_journal(path: &Path, data: &str) -> Result<Content> {
    let wrong = || {
        let reason = "it is a journal of something else than trials";
        malformed(path, "line 1", reason, "name another file with --trials")
    };
    let header: Header = serde_json::from_str(data).map_err(|_| wrong())?;
    if header.journal != "runs" {
        return Err(wrong());
    }
    let failed = |reason| TrialsError::File { action: "read", path: path.to_owned(), reason };
    let records = journal::read(path, data).map_err(failed)?;
    let trials = trials(header.of, records.records.iter().map(String::as_str));
    Ok(Content { trials, damage: records.damage })
}

/// The runs of a file without checksums.
pub(super) fn without_checksums(path: &Path, text: &str) -> Result<Content> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let subject = lines.next().and_then(|first| serde_json::from_str::<Subject>(first).ok());
    let wrong = "its first line is not that of a journal of trials";
    let subject =
        subject.ok_or_else(|| malformed(path, "line 1", wrong, "name another file with --trials"))?;
    // The last line of a measurement that was killed may be half a line.
    let trials = trials(subject, lines);
    let damage = Damage {
        file: path.to_owned(),
        place: "all lines".to_owned(),
        reason: format!("the file has no checksums; its {} runs are taken as they are", trials.len()),
    };
    Ok(Content { trials, damage: vec![damage] })
}

fn trials<'a>(subject: Subject, records: impl Iterator<Item = &'a str>) -> Vec<Trial> {
    let setting = Arc::new(subject.setting());
    let mut names = Vec::new();
    let mut round = 0;
    let trial = |record: &str| {
        let run: Run = serde_json::from_str(record).ok().filter(|run: &Run| run.seconds.is_finite())?;
        let size = |size: &str| {
            let (name, value) = size.split_once('=')?;
            Some((name.to_owned(), Value::Integer(value.parse().ok()?)))
        };
        let sizes: Vec<(String, Value)> = run.tile.split(',').map(size).collect::<Option<_>>()?;
        round += 1;
        let outcome = Outcome::measured("seconds", 0.0)
            .with("seconds", run.seconds, "s")
            .with("others", run.others, "1");
        let configuration = Configuration::of(sizes).sharing(&mut names);
        Some(Trial { configuration, outcome, setting: Arc::clone(&setting), round })
    };
    records.filter_map(trial).collect()
}
