//! The journal of a sweep: finished groups, one JSON line each, so that an interrupted sweep goes on where it was.
//!
//! The first line names what the journal is of: a digest of the workload's text and budget, and the version of this
//! crate. A journal of something else, and a line that was not written to its end, count as absent. Numbers are kept as
//! their bits, so that a resumed sweep equals an uninterrupted one exactly.

use super::CodesignError;
use super::inner::{Effort, Outcome};
use super::sweep::{GroupResult, Verdict};
use super::workload::Strategy;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The files of a journal in the folder of a study: itself, and what becomes it.
pub const FILES: [&str; 2] = ["sweep.journal", "sweep.partial"];

/// Whether a file is a journal, of whatever study, or the beginning of one, and no file of somebody else's.
pub fn is_own(path: &Path) -> bool {
    use std::io::{BufRead, BufReader, Read};
    let Ok(file) = File::open(path) else { return false };
    let mut line = Vec::new();
    let read = BufReader::new(file.take(4096)).read_until(b'\n', &mut line);
    let header = String::from_utf8_lossy(&line);
    read.is_ok() && (line.is_empty() || header.starts_with('{') && header.contains("\"journal\":"))
}

/// A journal that is open.
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    known: BTreeMap<usize, GroupResult>,
}

impl Journal {
    /// Opens or begins a journal of what `identity` names.
    ///
    /// # Errors
    /// [`CodesignError::Journal`] where the file cannot be read or written.
    pub fn open(path: &Path, identity: &str) -> Result<Journal, CodesignError> {
        let failed = |source| CodesignError::Journal { path: path.to_path_buf(), source };
        let header = json!({ "journal": identity, "version": env!("CARGO_PKG_VERSION") }).to_string();
        let text = match std::fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        // A line without its end was being written.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut lines = whole.lines();
        let mut known = BTreeMap::new();
        let ours = lines.next() == Some(header.as_str());
        let mut kept = format!("{header}\n");
        for line in lines.filter(|_| ours) {
            if let Some((index, result)) = read(line) {
                known.insert(index, result);
                kept.push_str(line);
                kept.push('\n');
            }
        }
        let partial = path.with_extension("partial");
        std::fs::write(&partial, &kept).map_err(failed)?;
        std::fs::rename(&partial, path).map_err(failed)?;
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        Ok(Journal { path: path.to_path_buf(), file: Mutex::new(file), known })
    }

    /// The groups that were finished when it was opened.
    pub fn groups(&self) -> BTreeMap<usize, GroupResult> {
        self.known.clone()
    }

    /// Adds a finished group.
    ///
    /// # Errors
    /// [`CodesignError::Journal`] where it cannot be written.
    pub fn append(&self, index: usize, result: &GroupResult) -> Result<(), CodesignError> {
        let line = write(index, result).to_string() + "\n";
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (file.write_all(line.as_bytes()).and_then(|()| file.flush()))
            .map_err(|source| CodesignError::Journal { path: self.path.clone(), source })
    }

    /// Removes the file: everything in it has become a report.
    pub fn remove(self) {
        // A journal that stays does no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn write(index: usize, (verdicts, effort): &GroupResult) -> Value {
    let of_outcome = |outcome: &Outcome| {
        let strategy = Strategy::ALL.iter().position(|(_, own)| *own == outcome.strategy);
        let bits = [outcome.seconds.to_bits(), outcome.joules.to_bits()];
        json!([strategy, outcome.sizes, outcome.k, bits])
    };
    let of_verdict = |(design, verdict): &(usize, Verdict)| match verdict {
        Verdict::Pruned => json!([design, "pruned"]),
        Verdict::Infeasible(stencil) => json!([design, stencil]),
        Verdict::Evaluated(outcomes) => {
            let all: Vec<Vec<Value>> =
                outcomes.iter().map(|runs| runs.iter().map(of_outcome).collect()).collect();
            json!([design, all])
        }
    };
    let verdicts: Vec<Value> = verdicts.iter().map(of_verdict).collect();
    json!({ "group": index, "verdicts": verdicts, "effort": [effort.candidates, effort.evaluated] })
}

fn read(line: &str) -> Option<(usize, GroupResult)> {
    let line: Value = serde_json::from_str(line).ok()?;
    let index = usize::try_from(line.get("group")?.as_u64()?).ok()?;
    let [candidates, evaluated] = line.get("effort")?.as_array()?.as_slice() else { return None };
    let effort = Effort { candidates: candidates.as_u64()?, evaluated: evaluated.as_u64()? };
    let of_outcome = |value: &Value| {
        let [strategy, sizes, k, bits] = value.as_array()?.as_slice() else { return None };
        let [seconds, joules] = bits.as_array()?.as_slice() else { return None };
        let sizes: Vec<i64> = sizes.as_array()?.iter().map(Value::as_i64).collect::<Option<_>>()?;
        Some(Outcome {
            strategy: Strategy::ALL.get(usize::try_from(strategy.as_u64()?).ok()?)?.1,
            sizes: sizes.try_into().ok()?,
            k: k.as_i64()?,
            seconds: f64::from_bits(seconds.as_u64()?),
            joules: f64::from_bits(joules.as_u64()?),
        })
    };
    let of_verdict = |value: &Value| {
        let [design, verdict] = value.as_array()?.as_slice() else { return None };
        let design = usize::try_from(design.as_u64()?).ok()?;
        let verdict = match verdict {
            Value::String(_) => Verdict::Pruned,
            Value::Number(stencil) => Verdict::Infeasible(usize::try_from(stencil.as_u64()?).ok()?),
            Value::Array(stencils) => {
                let of_stencil =
                    |runs: &Value| runs.as_array()?.iter().map(of_outcome).collect::<Option<Vec<_>>>();
                Verdict::Evaluated(stencils.iter().map(of_stencil).collect::<Option<_>>()?)
            }
            _ => return None,
        };
        Some((design, verdict))
    };
    let verdicts = line.get("verdicts")?.as_array()?.iter().map(of_verdict).collect::<Option<_>>()?;
    Some((index, (verdicts, effort)))
}
