//! Stores of JSON lines: a journal with a record for every setting and every trial.
//!
//! ```text
//! {"record":1,"sum":"..","data":{"setting":{"program":"heat2d","machine":"..",..}}}
//! {"record":2,"sum":"..","data":{"of":"5b0f..","configuration":{"st":2},"status":"ok","metrics":{..},"when":"17.."}}
//! ```
//!
//! `of` is the checksum of the setting, which stands somewhere in front.

use super::content::Content;
use super::records::{Reader, TrialRecord};
use super::runs;
use crate::error::{Result, TrialsError, malformed};
use crate::limits::MOST_TRIALS;
use crate::setting::Setting;
use crate::trial::Trial;
use safe_io::journal::{self, Found, Journal};
use safe_io::{Damage, journal::Content as Records};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// How a file of runs of the time before there were checksums begins.
const WITHOUT_CHECKSUMS: &[u8] = b"{\"stencil\":\"";

/// Whether a file that begins with these bytes is a journal, or the beginning of one.
pub(super) fn begins(start: &[u8]) -> bool {
    journal::begins(start) || start.starts_with(WITHOUT_CHECKSUMS)
}

/// What such a store is of: trials.
fn header() -> String {
    journal::header("trials", &1)
}

/// An open store.
pub(super) struct Lines {
    path: PathBuf,
    journal: Journal,
    settings: HashSet<String>,
}

/// A record.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Record {
    Setting { setting: Setting },
    Trial(TrialRecord),
}

impl Lines {
    /// Opens a store, or makes it where it is `new`.
    pub fn open(path: &Path, new: bool) -> Result<(Lines, Content)> {
        let failed = |action| move |reason| TrialsError::File { action, path: path.to_owned(), reason };
        let header = header();
        let (mut records, content) = if new {
            (journal::read(path, &header).map_err(failed("read"))?, Content::default())
        } else {
            records(path)?
        };
        if matches!(records.found, Found::Other(_) | Found::Foreign(_)) {
            // Written by an earlier version: written anew.
            let mut seen = HashSet::new();
            let all = content.trials.iter().flat_map(|trial| records_of(trial, &mut seen));
            let text = |record: Record| serde_json::to_string(&record).map_err(std::io::Error::other);
            records.records = all.map(text).collect::<std::io::Result<_>>().map_err(failed("write"))?;
        }
        let journal = Journal::open(path, &header, &records).map_err(failed("write"))?;
        let settings = content.trials.iter().map(|trial| trial.setting.id()).collect();
        Ok((Lines { path: path.to_owned(), journal, settings }, content))
    }

    pub fn append(&mut self, trial: &Trial) -> Result<()> {
        let failed = |reason| TrialsError::File { action: "write", path: self.path.clone(), reason };
        let records = records_of(trial, &mut self.settings);
        records.iter().try_for_each(|record| self.journal.append(record)).map_err(failed)
    }
}

/// The records of a trial: its setting where that is new, and itself.
fn records_of(trial: &Trial, known: &mut HashSet<String>) -> Vec<Record> {
    let record = TrialRecord::of(trial);
    let new = known.insert(record.of.clone());
    let setting = new.then(|| Record::Setting { setting: (*trial.setting).clone() });
    setting.into_iter().chain([Record::Trial(record)]).collect()
}

/// Reads a store.
pub(super) fn read(path: &Path) -> Result<Content> {
    records(path).map(|(_, content)| content)
}

/// The records of a store, and what they say.
fn records(path: &Path) -> Result<(Records, Content)> {
    let failed = |reason| TrialsError::File { action: "read", path: path.to_owned(), reason };
    let records = journal::read(path, &header()).map_err(failed)?;
    let content = match &records.found {
        Found::Nothing | Found::Own => trials(path, &records)?,
        Found::Other(data) => runs::of_journal(path, data)?,
        Found::Foreign(text) => runs::without_checksums(path, text)?,
    };
    Ok((records, content))
}

fn trials(path: &Path, records: &Records) -> Result<Content> {
    let mut content = Content { trials: Vec::new(), damage: records.damage.clone() };
    let mut reader = Reader::default();
    for (number, text) in records.records.iter().enumerate() {
        match record(text, &mut reader) {
            Ok(trial) => content.trials.extend(trial),
            Err(reason) => content.damage.push(Damage {
                file: path.to_owned(),
                place: format!("record {}", number + 1),
                reason,
            }),
        }
        if content.trials.len() > MOST_TRIALS {
            return Err(malformed(path, "", format!("it has more than {MOST_TRIALS} trials"), ""));
        }
    }
    Ok(content)
}

/// The trial of a record; none where it is a setting.
fn record(text: &str, reader: &mut Reader) -> std::result::Result<Option<Trial>, String> {
    match serde_json::from_str(text).map_err(|error| error.to_string())? {
        Record::Setting { setting } => {
            reader.add(setting);
            Ok(None)
        }
        Record::Trial(record) => reader.trial(record).map(Some),
    }
}
