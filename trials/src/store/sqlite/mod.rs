//! Stores in SQLite files. Every trial is one transaction.

mod file;
mod found;
mod old;
mod read;
mod row;

use super::content::Content;
use super::records::TrialRecord;
use crate::error::{Result, TrialsError, malformed};
use crate::trial::Trial;
use file::{APPLICATION, VERSION, broken};
use found::Found;
use read::be_careful;
use row::Row;
use rusqlite::{Connection, TransactionBehavior, params};
use std::path::{Path, PathBuf};

/// An open store.
pub(super) struct Sqlite {
    path: PathBuf,
    connection: Connection,
}

/// Reads a store.
///
/// # Errors
/// A file that is no store.
pub(super) fn read(path: &Path) -> Result<Content> {
    read::read(path, false).map(|found| found.content)
}

impl Sqlite {
    /// Opens a store, or makes it. What is damaged or of an earlier version is written anew.
    ///
    /// # Errors
    /// A file that is no store, or cannot be written.
    pub fn open(path: &Path) -> Result<(Sqlite, Content)> {
        let is_there = path.metadata().is_ok_and(|metadata| metadata.len() > 0);
        let found = match is_there {
            true => read::read(path, true)?,
            false => {
                check_companions(path)?;
                Found::default()
            }
        };
        let Found { content, earlier, without_checksums } = found;
        let damaged = content.damage.len() > usize::from(without_checksums);
        if damaged && content.trials.is_empty() {
            let hint = "name another file with --trials, or remove this one";
            return Err(malformed(path, "", content.damage[0].reason.clone(), hint));
        }
        if damaged || earlier {
            replace(path, &content.trials, !damaged)?;
        }
        let connection = create(path).map_err(|error| broken(path, &error))?;
        Ok((Sqlite { path: path.to_owned(), connection }, content))
    }

    /// Adds a trial behind all others; with `once` not, where another process has added one of its configuration and
    /// setting meanwhile.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn append(&mut self, trial: &Trial, once: bool) -> Result<()> {
        append(&self.path, &mut self.connection, trial, once)
    }
}

impl Drop for Sqlite {
    /// The log becomes part of the file, unless another process has it open: one file can be read and copied as it is, also
    /// where nothing can be written beside it.
    fn drop(&mut self) {
        let _ = self.connection.busy_timeout(std::time::Duration::ZERO);
        let _ = self.connection.pragma_update(None, "journal_mode", "DELETE");
    }
}

/// The tables, made if there are none.
fn create(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    be_careful(&connection)?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    // A reader of the log after a crash sees whole transactions; making the tables is one.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.execute_batch(
        "BEGIN IMMEDIATE;
         CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
         CREATE TABLE IF NOT EXISTS setting (id TEXT PRIMARY KEY, data TEXT NOT NULL);
         CREATE TABLE IF NOT EXISTS trial (
             number INTEGER PRIMARY KEY AUTOINCREMENT,
             setting TEXT NOT NULL,
             configuration TEXT NOT NULL,
             status TEXT NOT NULL,
             metrics TEXT NOT NULL,
             message TEXT NOT NULL,
             measured_at TEXT NOT NULL,
             round INTEGER NOT NULL,
             sum TEXT NOT NULL);
         CREATE INDEX IF NOT EXISTS trial_of ON trial (setting, configuration);",
    )?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.pragma_update(None, "user_version", VERSION)?;
    connection.execute_batch("COMMIT")?;
    Ok(connection)
}

fn append(path: &Path, connection: &mut Connection, trial: &Trial, once: bool) -> Result<()> {
    let without_text = |error: serde_json::Error| malformed(path, "", error.to_string(), "");
    let row = Row::of(&TrialRecord::of(trial)).map_err(without_text)?;
    let setting = serde_json::to_string(&*trial.setting).map_err(without_text)?;
    insert(connection, &row, &setting, once).map_err(|error| broken(path, &error))
}

fn insert(connection: &mut Connection, row: &Row, setting: &str, once: bool) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let [id, configuration, status, metrics, message, when] = &row.texts;
    if once {
        let same = "SELECT COUNT(*) FROM trial WHERE setting = ?1 AND configuration = ?2 AND round = ?3";
        let count: i64 =
            transaction.query_row(same, params![id, configuration, row.round], |row| row.get(0))?;
        if count > 0 {
            return Ok(());
        }
    }
    transaction.execute("INSERT OR IGNORE INTO setting (id, data) VALUES (?1, ?2)", params![id, setting])?;
    let number: i64 =
        transaction.query_row("SELECT COALESCE(MAX(number), 0) + 1 FROM trial", [], |row| row.get(0))?;
    transaction.execute(
        "INSERT INTO trial (number, setting, configuration, status, metrics, message, measured_at, round, sum)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![number, id, configuration, status, metrics, message, when, row.round, row.sum(number)],
    )?;
    transaction.commit()
}

/// Writes a store of these trials in the place of the file. The old one stays beside it, unless all of it is in the new.
fn replace(path: &Path, trials: &[Trial], all: bool) -> Result<()> {
    let failed = |reason| TrialsError::File { action: "write", path: path.to_owned(), reason };
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let building = tempfile::Builder::new().prefix(".tilewright-").tempdir_in(folder).map_err(failed)?;
    let new = building.path().join("store");
    let broken = |error: rusqlite::Error| broken(&new, &error);
    let mut connection = create(&new).map_err(broken)?;
    // The log is not needed for a file that nobody knows yet.
    connection.pragma_update(None, "journal_mode", "MEMORY").map_err(broken)?;
    for trial in trials {
        append(&new, &mut connection, trial, false)?;
    }
    // The log becomes part of the file, which is moved alone.
    connection.pragma_update(None, "journal_mode", "DELETE").map_err(broken)?;
    connection.close().map_err(|(_, error)| broken(error))?;
    let with = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    if !all {
        let free = (1..).map(|number| match number {
            1 => ".damaged".to_owned(),
            number => format!(".damaged{number}"),
        });
        let kept = free.map(|ending| with(&ending)).find(|kept| !kept.exists()).unwrap_or_default();
        std::fs::copy(path, &kept).map_err(failed)?;
    }
    // A log that is left belongs to the old file.
    for ending in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(with(ending));
    }
    std::fs::rename(&new, path).map_err(failed)
}

/// Refuses to begin a store where files lie that SQLite would take for parts of it, and change.
fn check_companions(path: &Path) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    for ending in ["-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        let beside = PathBuf::from(name);
        if beside.symlink_metadata().is_ok() {
            let reason = format!("beside it lies {}, which SQLite would change", beside.display());
            return Err(malformed(path, "", reason, "name another file with --trials"));
        }
    }
    Ok(())
}
