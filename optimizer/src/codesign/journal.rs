//! The journal of a sweep: finished groups, one record each, so that an interrupted sweep goes on where it was.
//!
//! The file is a [`safe_io::journal`] of a digest of the workload's text and budget and of the version of this crate.
//! A journal of something else counts as absent; of a damaged one the good records are used and the others computed
//! again. Numbers are kept as their bits, so that a resumed sweep equals an uninterrupted one exactly.

use super::CodesignError;
use super::inner::{Effort, Outcome};
use super::part::{self, Part};
use super::verdict::{GroupResult, Verdict};
use super::workload::strategies;
use safe_io::{Damage, journal};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Whether a file is a journal, of whatever study, or the beginning of one, and no file of somebody else's.
pub fn is_own(path: &Path) -> bool {
    journal::is_own(path)
}

/// A journal that is open.
pub struct Journal {
    path: PathBuf,
    part: Part,
    header: String,
    journal: journal::Journal,
    known: BTreeMap<usize, GroupResult>,
    damage: Vec<Damage>,
}

impl Journal {
    /// Opens or begins the journal of a part of what `identity` names, in the folder of a study. What other parts have finished
    /// is known, too.
    ///
    /// # Errors
    /// [`CodesignError::Journal`] where a file cannot be read or written.
    pub fn open(folder: &Path, part: Part, identity: &str) -> Result<Journal, CodesignError> {
        let path = folder.join(part.journal());
        let failed = |source| CodesignError::Journal { path: path.clone(), source };
        let header = journal::header("sweep", &json!([identity, env!("CARGO_PKG_VERSION")]));
        let content = journal::read(&path, &header).map_err(failed)?;
        let mut damage = content.damage.clone();
        if matches!(content.found, journal::Found::Foreign(_)) {
            damage.push(Damage {
                file: path.clone(),
                place: "line 1".to_owned(),
                reason: "this is no journal of this format; it is begun anew".to_owned(),
            });
        }
        let journal = journal::Journal::open(&path, &header, &content).map_err(failed)?;
        let mut own = Journal { path, part, header, journal, known: BTreeMap::new(), damage };
        let (others, damage) = own.read_others()?;
        own.known = others;
        own.damage.extend(damage);
        own.known.extend(content.records.iter().filter_map(|record| read(record)));
        Ok(own)
    }

    /// Whose it is.
    pub fn part(&self) -> Part {
        self.part
    }

    /// The groups that other parts have finished until now.
    ///
    /// # Errors
    /// [`CodesignError::Journal`] where a file cannot be read.
    pub fn of_others(&self) -> Result<BTreeMap<usize, GroupResult>, CodesignError> {
        Ok(self.read_others()?.0)
    }

    fn read_others(&self) -> Result<(BTreeMap<usize, GroupResult>, Vec<Damage>), CodesignError> {
        let (mut found, mut damage) = (BTreeMap::new(), Vec::new());
        for path in self.journals().into_iter().filter(|path| *path != self.path) {
            let content = journal::read(&path, &self.header)
                .map_err(|source| CodesignError::Journal { path: path.clone(), source })?;
            found.extend(content.records.iter().filter_map(|record| read(record)));
            damage.extend(content.damage);
        }
        Ok((found, damage))
    }

    fn journals(&self) -> Vec<PathBuf> {
        part::journals(self.path.parent().unwrap_or(Path::new("")))
    }

    /// The groups that were finished when it was opened.
    pub fn groups(&self) -> BTreeMap<usize, GroupResult> {
        self.known.clone()
    }

    /// What of the file was damaged when it was opened, and is not in use.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Adds a finished group.
    ///
    /// # Errors
    /// [`CodesignError::Journal`] where it cannot be written.
    pub fn append(&self, index: usize, result: &GroupResult) -> Result<(), CodesignError> {
        self.journal
            .append(&write(index, result))
            .map_err(|source| CodesignError::Journal { path: self.path.clone(), source })
    }

    /// Removes the files of all parts: everything in them has become a report.
    pub fn remove(self) {
        for path in self.journals() {
            // A journal that stays does no harm.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn write(index: usize, (verdicts, effort): &GroupResult) -> Value {
    let of_outcome = |outcome: &Outcome| {
        let bits = [outcome.seconds, outcome.joules, outcome.bound].map(f64::to_bits);
        json!([outcome.strategy.id(), outcome.sizes, outcome.k, outcome.threads, bits])
    };
    let of_verdict = |(design, verdict): &(usize, Verdict)| match verdict {
        Verdict::Pruned(bound) => json!([design, { "pruned": bound.to_bits() }]),
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

/// A record that does not read counts as absent; its checksum says that it was written so.
fn read(line: &str) -> Option<(usize, GroupResult)> {
    let line: Value = serde_json::from_str(line).ok()?;
    let index = usize::try_from(line.get("group")?.as_u64()?).ok()?;
    let [candidates, evaluated] = line.get("effort")?.as_array()?.as_slice() else { return None };
    let effort = Effort { candidates: candidates.as_u64()?, evaluated: evaluated.as_u64()? };
    let of_outcome = |value: &Value| {
        let [strategy, sizes, k, threads, bits] = value.as_array()?.as_slice() else { return None };
        let [seconds, joules, bound] = bits.as_array()?.as_slice() else { return None };
        let sizes: Vec<i64> = sizes.as_array()?.iter().map(Value::as_i64).collect::<Option<_>>()?;
        Some(Outcome {
            strategy: strategies().find(|own| Some(own.id()) == strategy.as_str())?,
            sizes: sizes.try_into().ok()?,
            k: k.as_i64()?,
            threads: threads.as_i64()?,
            seconds: f64::from_bits(seconds.as_u64()?),
            joules: f64::from_bits(joules.as_u64()?),
            bound: f64::from_bits(bound.as_u64()?),
        })
    };
    let of_verdict = |value: &Value| {
        let [design, verdict] = value.as_array()?.as_slice() else { return None };
        let design = usize::try_from(design.as_u64()?).ok()?;
        let verdict = match verdict {
            Value::Object(pruned) => Verdict::Pruned(f64::from_bits(pruned.get("pruned")?.as_u64()?)),
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
