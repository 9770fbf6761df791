//! The trial store: one SQLite file that survives being killed.
//!
//! Every trial is one transaction, so that a run that is killed loses at most the measurement that was under way. The
//! file belongs to one space and one way of measuring; any searcher may go on with it, and the same one with the same
//! seed ends as if it had not been interrupted.

use crate::error::{Result, TunerError};
use crate::recorded::{Format, Recorded, Roles, malformed};
use crate::run::Keeper;
use crate::space::{Parameter, Point, Space};
use crate::trial::{Metric, Origin, Status, Trial};
use crate::value::Value;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// First bytes of every SQLite file.
pub(crate) const MAGIC: &[u8] = b"SQLite format 3\0";
const APPLICATION: i32 = 0x7469_6c65;

/// An open store.
pub struct Store {
    path: PathBuf,
    connection: Connection,
    parameters: Vec<Parameter>,
    known: HashMap<Point, Trial>,
}

impl Store {
    /// Opens the store of a space, or makes it. `measured` says in a few words how trials are measured; `response` is
    /// what is minimised.
    ///
    /// # Errors
    /// A file that is no store, or that of another space or way of measuring.
    pub fn open(path: &Path, space: &Space, measured: &str, response: &str) -> Result<Store> {
        check_magic(path)?;
        check_companions(path)?;
        let connection = Connection::open(path).map_err(|error| broken(path, &error))?;
        let failed = |error: rusqlite::Error| broken(path, &error);
        check_application(path, &connection)?;
        // A reader of the log after a crash sees whole transactions.
        connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
        connection.busy_timeout(std::time::Duration::from_secs(10)).map_err(failed)?;
        connection
            .execute_batch(
                "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
                 CREATE TABLE IF NOT EXISTS trial (
                     number INTEGER PRIMARY KEY AUTOINCREMENT,
                     configuration TEXT NOT NULL UNIQUE,
                     status TEXT NOT NULL,
                     metrics TEXT NOT NULL,
                     message TEXT NOT NULL,
                     measured_at TEXT NOT NULL,
                     device TEXT NOT NULL,
                     measured_by TEXT NOT NULL);",
            )
            .map_err(failed)?;
        connection.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
        let parameters = serde_json::to_string(space.parameters()).map_err(|error| internal(path, &error))?;
        for (name, value, what) in [
            ("parameters", parameters.as_str(), "a space with other parameters"),
            ("measured", measured, "trials that were measured in another way"),
            ("response", response, "a search for the least of another metric"),
        ] {
            connection
                .execute("INSERT OR IGNORE INTO about (name, value) VALUES (?1, ?2)", params![name, value])
                .map_err(failed)?;
            let stored: String = connection
                .query_row("SELECT value FROM about WHERE name = ?1", [name], |row| row.get(0))
                .map_err(failed)?;
            if stored != value {
                let reason = match name {
                    "parameters" => format!("the store is of {what}"),
                    _ => format!("the store is of {what} (`{stored}`, not `{value}`)"),
                };
                return Err(malformed(path, "", reason, "name another file with --trials"));
            }
        }
        let mut store = Store {
            path: path.to_owned(),
            connection,
            parameters: space.parameters().to_vec(),
            known: HashMap::new(),
        };
        let trials = store.read(|values| space.point(values))?;
        store.known = trials.into_iter().map(|trial| (trial.point.clone(), trial)).collect();
        Ok(store)
    }

    /// Number of trials in it.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether no trial is in it.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Reads a store as a recorded space.
    ///
    /// # Errors
    /// A file that is no store, or has no trial.
    pub fn recorded(path: &Path) -> Result<Recorded> {
        check_magic(path)?;
        let connection = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
            .map_err(|error| broken(path, &error))?;
        let about = |name: &str| -> Result<String> {
            let value = connection
                .query_row("SELECT value FROM about WHERE name = ?1", [name], |row| row.get(0))
                .optional()
                .map_err(|error| broken(path, &error))?;
            value
                .ok_or_else(|| malformed(path, "", format!("it has no `{name}`"), "it is no store of trials"))
        };
        let parameters: Vec<Parameter> =
            serde_json::from_str(&about("parameters")?).map_err(|error| internal(path, &error))?;
        let (response, kernel) = (about("response")?, about("measured")?);
        // Only to turn values into points.
        let whole = Space::of_points(parameters.clone(), [Point::new(vec![0; parameters.len()])])?;
        let store = Store { path: path.to_owned(), connection, parameters, known: HashMap::new() };
        let trials = store.read(|values| whole.point(values))?;
        if trials.is_empty() {
            return Err(malformed(path, "", "there is no trial in it", ""));
        }
        let points: Vec<Point> = trials.iter().map(|trial| trial.point.clone()).collect();
        let space = Space::of_points(store.parameters, points)?;
        let device = trials.iter().map(|trial| trial.origin.device.clone()).next().unwrap_or_default();
        let format = Format::Store;
        let roles = Roles::default();
        Ok(Recorded { path: path.to_owned(), format, kernel, device, space, trials, response, roles })
    }

    /// All trials in the order measured.
    fn read(&self, point: impl Fn(&[Value]) -> Result<Point>) -> Result<Vec<Trial>> {
        let failed = |error: rusqlite::Error| broken(&self.path, &error);
        let columns = "number, configuration, status, metrics, message, measured_at, device, measured_by";
        let mut statement = self
            .connection
            .prepare(&format!("SELECT {columns} FROM trial ORDER BY number"))
            .map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut trials = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let text = |column: usize| row.get::<_, String>(column).map_err(failed);
            let place = format!("trial {}", row.get::<_, i64>(0).map_err(failed)?);
            let wrong = |reason: String| malformed(&self.path, &place, reason, "");
            let values: Vec<Value> = serde_json::from_str(&text(1)?)
                .map_err(|error| wrong(format!("its configuration: {error}")))?;
            let status = text(2)?;
            let status = Status::named(&status).ok_or_else(|| wrong(format!("unknown status `{status}`")))?;
            let metrics: BTreeMap<String, Metric> =
                serde_json::from_str(&text(3)?).map_err(|error| wrong(format!("its metrics: {error}")))?;
            let origin = Origin { when: text(5)?, device: text(6)?, by: text(7)? };
            trials.push(Trial { point: point(&values)?, status, metrics, message: text(4)?, origin });
        }
        Ok(trials)
    }
}

impl Keeper for Store {
    fn known(&self, point: &Point) -> Option<Trial> {
        self.known.get(point).cloned()
    }

    fn keep(&mut self, _number: usize, trial: &Trial) -> Result<()> {
        let levels = trial.point.levels().iter();
        let values: Vec<&Value> = self
            .parameters
            .iter()
            .zip(levels)
            .map(|(parameter, &level)| parameter.level(level as usize))
            .collect();
        let json =
            |value: &dyn Fn() -> serde_json::Result<String>| value().map_err(|e| internal(&self.path, &e));
        let configuration = json(&|| serde_json::to_string(&values))?;
        let metrics = json(&|| serde_json::to_string(&trial.metrics))?;
        let Origin { when, device, by } = &trial.origin;
        self.connection
            .execute(
                "INSERT OR REPLACE INTO trial
                 (configuration, status, metrics, message, measured_at, device, measured_by)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![configuration, trial.status.name(), metrics, trial.message, when, device, by],
            )
            .map_err(|error| broken(&self.path, &error))?;
        self.known.insert(trial.point.clone(), trial.clone());
        Ok(())
    }
}

/// Refuses to touch a file that is something else.
fn check_magic(path: &Path) -> Result<()> {
    let mut start = Vec::new();
    match std::fs::File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(reason) => return Err(TunerError::File { action: "read", path: path.to_owned(), reason }),
        Ok(file) => {
            use std::io::Read;
            let read = file.take(MAGIC.len() as u64).read_to_end(&mut start);
            read.map_err(|reason| TunerError::File { action: "read", path: path.to_owned(), reason })?;
        }
    }
    if start.is_empty() || start == MAGIC {
        return Ok(());
    }
    Err(malformed(path, "", "it is no store of trials (an SQLite file)", "name another file with --trials"))
}

/// Refuses the SQLite file of another program.
fn check_application(path: &Path, connection: &Connection) -> Result<()> {
    let number = |query: &str| connection.query_row(query, [], |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id").map_err(|error| broken(path, &error))?;
    // A search that was killed as soon as it began has left some of its tables, and no number yet.
    let others = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name NOT IN ('about', 'trial', 'sqlite_sequence')";
    let others = number(others).map_err(|error| broken(path, &error))?;
    if application == i64::from(APPLICATION) || others == 0 {
        return Ok(());
    }
    Err(malformed(path, "", "it is the SQLite file of another program", "name another file with --trials"))
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

fn broken(path: &Path, error: &rusqlite::Error) -> TunerError {
    malformed(path, "", format!("the store cannot be used: {error}"), "")
}

fn internal(path: &Path, error: &serde_json::Error) -> TunerError {
    malformed(path, "", format!("{error}"), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Space {
        let x = Parameter::new("x", (1..=4).map(Value::Integer).collect()).unwrap();
        let kind = Parameter::new("kind", vec![Value::from("a"), Value::from("b")]).unwrap();
        Space::new(vec![x, kind], &[]).unwrap()
    }

    #[test]
    fn trials_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.db");
        let space = space();
        let points = space.points().unwrap();
        let trials = [
            Trial::measured(points[3].clone(), "time", 0.1 + 0.2),
            Trial::failed(points[5].clone(), Status::Timeout, "too slow"),
        ];
        let mut store = Store::open(&path, &space, "test", "time").unwrap();
        trials.iter().enumerate().for_each(|(number, trial)| store.keep(number, trial).unwrap());
        drop(store);
        let store = Store::open(&path, &space, "test", "time").unwrap();
        assert_eq!(trials.iter().map(|trial| store.known(&trial.point).unwrap()).collect::<Vec<_>>(), trials);
        let recorded = Store::recorded(&path).unwrap();
        assert_eq!(recorded.trials, trials);
        assert_eq!(recorded.space.values(&recorded.trials[1].point), space.values(&points[5]));
    }

    #[test]
    fn a_store_belongs_to_one_search() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.db");
        let space = space();
        Store::open(&path, &space, "test", "time").unwrap();
        let problem = |result: Result<Store>| result.err().unwrap().to_string();
        assert!(problem(Store::open(&path, &space, "other", "time")).contains("measured in another way"));
        let part = Space::new(space.parameters()[..1].to_vec(), &[]).unwrap();
        assert!(problem(Store::open(&path, &part, "test", "time")).contains("other parameters"));
        let text = folder.path().join("notes.txt");
        std::fs::write(&text, "something dear to the user").unwrap();
        assert!(problem(Store::open(&text, &space, "test", "time")).contains("no store of trials"));
        assert_eq!(std::fs::read_to_string(&text).unwrap(), "something dear to the user");
    }
}
