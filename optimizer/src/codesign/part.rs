//! Processes that share a sweep, through nothing but the journals in a folder that all of them see.
//!
//! Each computes every n-th group of a batch and keeps it in a journal of its own. Whoever needs the whole batch, because its bounds
//! serve the next one or the report is made of it, reads the others' journals until all groups are there. Where nothing comes any
//! more, it computes what is missing: a process that never started, stopped or died costs time and nothing else. A group's
//! result depends on nothing but the workload, so that it does not matter who computed it, nor whether two did.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// One of several processes that share a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Which one, from 0 on; the first one makes the report.
    pub index: usize,
    /// How many there are.
    pub of: usize,
    /// How long nothing may come from the others before their work is taken over.
    pub patience: Duration,
}

impl Part {
    /// The only one.
    pub const ALONE: Part = Part { index: 0, of: 1, patience: Duration::ZERO };
    /// The usual patience.
    pub const PATIENCE: Duration = Duration::from_secs(5);

    /// Whether it makes the report.
    pub fn is_first(self) -> bool {
        self.index == 0
    }

    /// Whether the group at this place of a batch is its own.
    pub fn has(self, place: usize) -> bool {
        place % self.of == self.index
    }

    /// Its journal in the folder of a study.
    pub fn journal(self) -> String {
        match self.index {
            0 => "sweep.journal".to_owned(),
            other => format!("sweep-{}.journal", other + 1),
        }
    }

    /// The files in the folder of a study that are its own: the journal, and what becomes it.
    pub fn files(self) -> [PathBuf; 2] {
        let journal = PathBuf::from(self.journal());
        [journal.with_extension("partial"), journal]
    }
}

/// The journals of all parts in a folder, however many there were.
pub fn journals(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let of_part = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix("sweep")?.strip_suffix(".journal"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        number.is_some_and(|number| number.is_empty() || number.strip_prefix('-').is_some_and(digits))
    };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(of_part)
        .filter(|path| safe_io::journal::is_own(path))
        .collect();
    found.sort();
    found
}
