//! The store: trials in one file, written record by record, so that a measurement that is killed loses at most the trial
//! that was under way.
//!
//! A store takes trials of any program, strategy, machine and command. Whoever goes on with a measurement takes those whose
//! [setting](crate::Setting) agrees with its own. There are two forms, and files are known by their content:
//!
//! | form | file | records |
//! |---|---|---|
//! | SQLite (feature `sqlite`) | any name | tables `setting` and `trial`; every trial is one transaction |
//! | JSON lines | a name in `.jsonl` or `.json`, and every name without the feature | a [journal](safe_io::journal) |
//!
//! Every record has a checksum. One that does not fit is told and left out. What earlier versions wrote (a store of one
//! search, a file of runs) is read, and becomes a store of today when something is added.

mod content;
mod lines;
pub(crate) mod records;
mod runs;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use content::Content;
pub use runs::PROCESSOR;

use crate::error::{Result, TrialsError, malformed};
use crate::place;
use crate::trial::Trial;
use lines::Lines;
use safe_io::Damage;
use std::io::Read;
use std::path::{Path, PathBuf};

/// First bytes of every SQLite file.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The forms of a store.
enum Form {
    #[cfg(feature = "sqlite")]
    Sqlite(sqlite::Sqlite),
    Lines(Lines),
}

/// A store that is open for more trials.
pub struct Store {
    path: PathBuf,
    form: Form,
    trials: Vec<Trial>,
    damage: Vec<Damage>,
}

/// What a file is, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Sqlite,
    Lines,
    Other,
}

impl Store {
    /// Opens a store, or makes it. What is damaged is left out of the file, which is written anew then; of an SQLite file
    /// the old one stays beside it, its name ending in `.damaged`.
    ///
    /// # Errors
    /// A file that is something else, or cannot be read or written.
    pub fn open(path: &Path) -> Result<Store> {
        place::refuse_server(path)?;
        let lines = |found: Found| -> Result<(Form, Content)> {
            let (lines, content) = Lines::open(path, found == Found::Nothing)?;
            Ok((Form::Lines(lines), content))
        };
        let (form, content) = match found(path)? {
            Found::Other => return Err(foreign(path)),
            found @ Found::Lines => lines(found)?,
            found @ Found::Nothing if is_lines(path) => lines(found)?,
            #[cfg(feature = "sqlite")]
            _ => {
                let (sqlite, content) = sqlite::Sqlite::open(path)?;
                (Form::Sqlite(sqlite), content)
            }
            #[cfg(not(feature = "sqlite"))]
            _ => return Err(no_sqlite(path)),
        };
        Ok(Store { path: path.to_owned(), form, trials: content.trials, damage: content.damage })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The trials in it, in the order in which they were added; rounds are apart.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// What was damaged when it was opened.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Adds a trial.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn append(&mut self, trial: &Trial) -> Result<()> {
        self.add(trial, false)
    }

    /// Adds a trial, unless another process has added one of its configuration and setting meanwhile.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn append_once(&mut self, trial: &Trial) -> Result<()> {
        self.add(trial, true)
    }

    fn add(&mut self, trial: &Trial, once: bool) -> Result<()> {
        match &mut self.form {
            #[cfg(feature = "sqlite")]
            Form::Sqlite(sqlite) => sqlite.append(trial, once)?,
            Form::Lines(lines) => {
                let _ = once;
                lines.append(trial)?;
            }
        }
        self.trials.push(trial.clone());
        Ok(())
    }
}

/// Reads a store, without changing it.
///
/// # Errors
/// A file that is no store, or cannot be read.
pub fn read(path: &Path) -> Result<Content> {
    match found(path)? {
        Found::Lines => lines::read(path),
        #[cfg(feature = "sqlite")]
        Found::Sqlite => sqlite::read(path),
        #[cfg(not(feature = "sqlite"))]
        Found::Sqlite => Err(no_sqlite(path)),
        _ => Err(foreign(path)),
    }
}

/// Whether a file looks like a store, whatever is in it.
///
/// # Errors
/// A file that cannot be read.
pub fn is_store(path: &Path) -> Result<bool> {
    let failed = |reason| TrialsError::File { action: "read", path: path.to_owned(), reason };
    let file = safe_io::input::open(path).map_err(failed)?;
    // Of a pipe nothing may be taken to look at it.
    if !file.file().metadata().map_err(failed)?.is_file() {
        return Ok(false);
    }
    drop(file);
    Ok(matches!(found(path)?, Found::Sqlite | Found::Lines))
}

/// Whether a new store of this name is of JSON lines.
fn is_lines(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("jsonl" | "json") => true,
        Some("db" | "db3" | "sqlite" | "sqlite3") => false,
        _ => !cfg!(feature = "sqlite"),
    }
}

#[cfg(not(feature = "sqlite"))]
fn no_sqlite(path: &Path) -> TrialsError {
    let hint = "name a file that ends in .jsonl, or build Tilewright with its feature `sqlite`";
    malformed(path, "", "stores in SQLite files are not part of this build", hint)
}

fn foreign(path: &Path) -> TrialsError {
    let reason = "it is no store of trials (an SQLite file or a journal of trials)";
    malformed(path, "", reason, "name another file with --trials")
}

/// What a file is.
fn found(path: &Path) -> Result<Found> {
    let failed = |reason| TrialsError::File { action: "read", path: path.to_owned(), reason };
    let file = match safe_io::input::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(reason) => return Err(failed(reason)),
        Ok(file) => file,
    };
    if !file.file().metadata().map_err(failed)?.is_file() {
        return Err(malformed(path, "", "it is no regular file", "name another file with --trials"));
    }
    let mut start = Vec::new();
    file.take(4096).read_to_end(&mut start).map_err(failed)?;
    Ok(match () {
        () if start.is_empty() => Found::Nothing,
        () if start.starts_with(MAGIC) => Found::Sqlite,
        () if lines::begins(&start) => Found::Lines,
        () => Found::Other,
    })
}

#[cfg(test)]
mod tests;
