//! The trial store: one SQLite file that survives being killed.
//!
//! Every trial is one transaction, so that a run that is killed loses at most the measurement that was under way. The
//! file belongs to one space and one way of measuring; any searcher may go on with it, and the same one with the same
//! seed ends as if it had not been interrupted.
//!
//! Every trial has a checksum (module `content`). One that does not fit is told and measured again.

mod content;
mod file;

use crate::error::{Result, TunerError, malformed};
use crate::recorded::recording::{Format, Recorded};
use crate::recorded::roles::Roles;
use crate::run::Keeper;
use crate::space::{Parameter, Point, Space};
use crate::trial::{Metric, Origin, Status, Trial};
use crate::value::Value;
use content::{About, Content, Row};
use file::{APPLICATION, VERSION, broken};
use rusqlite::{Connection, TransactionBehavior, params};
use safe_io::Damage;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// First bytes of every SQLite file.
pub(crate) const MAGIC: &[u8] = b"SQLite format 3\0";

/// An open store.
pub struct Store {
    path: PathBuf,
    connection: Connection,
    about: About,
    parameters: Vec<Parameter>,
    known: HashMap<Point, Trial>,
    damage: Vec<Damage>,
}

impl Store {
    /// Opens the store of a space, or makes it. `measured` says in a few words how trials are measured; `response` is
    /// what is minimised. What is damaged is left out of the store, which is written anew then; the old file stays
    /// beside it, its name ending in `.damaged`.
    ///
    /// # Errors
    /// A file that is no store, or that of another space or way of measuring.
    pub fn open(path: &Path, space: &Space, measured: &str, response: &str) -> Result<Store> {
        let about = About {
            parameters: serde_json::to_string(space.parameters()).map_err(|error| internal(path, &error))?,
            measured: measured.to_owned(),
            response: response.to_owned(),
        };
        let mut content = match is_store(path)? {
            true => content::read(path, Some(&about))?,
            false => {
                check_companions(path)?;
                Content::default()
            }
        };
        if let Some(found) = &content.about {
            check_same(path, found, &about)?;
        }
        let (mut known, mut good) = (HashMap::new(), Vec::new());
        for (number, row) in std::mem::take(&mut content.rows) {
            match trial(path, &row, number, |values| space.point(values)) {
                Ok(trial) => {
                    known.insert(trial.point.clone(), trial);
                    good.push(row);
                }
                // With a checksum that fits it was written so, by a version that knew more.
                Err(error) => content.damage.push(Damage {
                    file: path.to_owned(),
                    place: format!("trial {number}"),
                    reason: error.to_string(),
                }),
            }
        }
        if !content.damage.is_empty() {
            if known.is_empty() && content.about.is_none() {
                let hint = "name another file with --trials, or remove this one";
                return Err(malformed(path, "", content.damage[0].reason.clone(), hint));
            }
            let all = content.without_checksums && content.damage.len() == 1;
            replace(path, &about, &good, all)?;
        }
        let failed = |error: rusqlite::Error| broken(path, &error);
        let connection = create(path, &about).map_err(failed)?;
        let parameters = space.parameters().to_vec();
        Ok(Store { path: path.to_owned(), connection, about, parameters, known, damage: content.damage })
    }

    /// Number of trials in it.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether no trial is in it.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// What was damaged when it was opened.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Reads a store as a recorded space, without its damaged trials.
    ///
    /// # Errors
    /// A file that is no store, or has no trial.
    pub fn recorded(path: &Path) -> Result<Recorded> {
        is_store(path)?;
        let content = content::read(path, None)?;
        let Some(about) = content.about else {
            let reason = content.damage.first().map_or("it is no store of trials", |damage| &damage.reason);
            return Err(malformed(path, "", reason, ""));
        };
        let parameters: Vec<Parameter> =
            serde_json::from_str(&about.parameters).map_err(|error| internal(path, &error))?;
        // Only to turn values into points.
        let whole = Space::of_points(parameters.clone(), [Point::new(vec![0; parameters.len()])])?;
        let rows = content.rows.iter();
        let trials: Vec<Trial> = rows
            .map(|(number, row)| trial(path, row, *number, |values| whole.point(values)))
            .collect::<Result<_>>()?;
        if trials.is_empty() {
            let reason = match content.damage.first() {
                Some(damage) => format!("no trial is whole; {}: {}", damage.place, damage.reason),
                None => "there is no trial in it".to_owned(),
            };
            return Err(malformed(path, "", reason, ""));
        }
        let points: Vec<Point> = trials.iter().map(|trial| trial.point.clone()).collect();
        let space = Space::of_points(parameters, points)?;
        let device = trials.iter().map(|trial| trial.origin.device.clone()).next().unwrap_or_default();
        let (format, damage, roles) = (Format::Store, content.damage, Roles::default());
        let (kernel, response) = (about.measured, about.response);
        Ok(Recorded { path: path.to_owned(), damage, format, kernel, device, space, trials, response, roles })
    }
}

/// Refuses the store of something else.
fn check_same(path: &Path, found: &About, about: &About) -> Result<()> {
    let pairs = [
        (&found.parameters, &about.parameters, "a space with other parameters", false),
        (&found.measured, &about.measured, "trials that were measured in another way", true),
        (&found.response, &about.response, "a search for the least of another metric", true),
    ];
    match pairs.into_iter().find(|(found, wanted, ..)| found != wanted) {
        None => Ok(()),
        Some((found, wanted, what, shown)) => {
            let reason = match shown {
                false => format!("the store is of {what}"),
                true => format!("the store is of {what} (`{found}`, not `{wanted}`)"),
            };
            Err(malformed(path, "", reason, "name another file with --trials"))
        }
    }
}

/// The tables, made if there are none.
fn create(path: &Path, about: &About) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    content::be_careful(&connection)?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    // A reader of the log after a crash sees whole transactions; making the tables is one.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.execute_batch(
        "BEGIN IMMEDIATE;
         CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
         CREATE TABLE IF NOT EXISTS trial (
             number INTEGER PRIMARY KEY AUTOINCREMENT,
             configuration TEXT NOT NULL UNIQUE,
             status TEXT NOT NULL,
             metrics TEXT NOT NULL,
             message TEXT NOT NULL,
             measured_at TEXT NOT NULL,
             device TEXT NOT NULL,
             measured_by TEXT NOT NULL,
             sum TEXT NOT NULL);",
    )?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.pragma_update(None, "user_version", VERSION)?;
    let sum = about.sum();
    for (name, value) in about.values().into_iter().chain([("sum", sum.as_str())]) {
        connection
            .execute("INSERT OR IGNORE INTO about (name, value) VALUES (?1, ?2)", params![name, value])?;
    }
    connection.execute_batch("COMMIT")?;
    Ok(connection)
}

/// Adds a row behind all others. A configuration that another process has added meanwhile stays as it is there.
fn insert(connection: &mut Connection, about: &About, row: &Row) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let number: i64 =
        transaction.query_row("SELECT COALESCE(MAX(number), 0) + 1 FROM trial", [], |row| row.get(0))?;
    let [configuration, status, metrics, message, when, device, by] = &row.0;
    transaction.execute(
        "INSERT OR IGNORE INTO trial
         (number, configuration, status, metrics, message, measured_at, device, measured_by, sum)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![number, configuration, status, metrics, message, when, device, by, row.sum(about, number)],
    )?;
    transaction.commit()
}

/// Writes a store of these rows in the place of the file. The old one stays beside it, unless all of it is in the new.
fn replace(path: &Path, about: &About, rows: &[Row], all: bool) -> Result<()> {
    let failed = |reason| TunerError::File { action: "write", path: path.to_owned(), reason };
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let building = tempfile::Builder::new().prefix(".tilewright-").tempdir_in(folder).map_err(failed)?;
    let new = building.path().join("store");
    let mut connection = create(&new, about).map_err(|error| broken(&new, &error))?;
    for row in rows {
        insert(&mut connection, about, row).map_err(|error| broken(&new, &error))?;
    }
    // The log becomes part of the file, which is moved alone.
    connection.pragma_update(None, "journal_mode", "DELETE").map_err(|error| broken(&new, &error))?;
    connection.close().map_err(|(_, error)| broken(&new, &error))?;
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

fn trial(path: &Path, row: &Row, number: i64, point: impl Fn(&[Value]) -> Result<Point>) -> Result<Trial> {
    let place = format!("trial {number}");
    let wrong = |reason: String| malformed(path, &place, reason, "");
    let [configuration, status, metrics, message, when, device, by] = &row.0;
    let values: Vec<Value> =
        serde_json::from_str(configuration).map_err(|error| wrong(format!("its configuration: {error}")))?;
    let status = Status::named(status).ok_or_else(|| wrong(format!("unknown status `{status}`")))?;
    let metrics: BTreeMap<String, Metric> =
        serde_json::from_str(metrics).map_err(|error| wrong(format!("its metrics: {error}")))?;
    let origin = Origin { when: when.clone(), device: device.clone(), by: by.clone() };
    Ok(Trial { point: point(&values)?, status, metrics, message: message.clone(), origin })
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
        let Origin { when, device, by } = trial.origin.clone();
        let status = trial.status.name().to_owned();
        let row = Row([configuration, status, metrics, trial.message.clone(), when, device, by]);
        insert(&mut self.connection, &self.about, &row).map_err(|error| broken(&self.path, &error))?;
        self.known.insert(trial.point.clone(), trial.clone());
        Ok(())
    }
}

/// Whether there is a store to read; refuses to touch a file that is something else.
fn is_store(path: &Path) -> Result<bool> {
    use std::io::Read;
    let failed = |reason| TunerError::File { action: "read", path: path.to_owned(), reason };
    let mut start = Vec::new();
    match safe_io::input::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(reason) => return Err(failed(reason)),
        Ok(file) => {
            if !file.file().metadata().map_err(failed)?.is_file() {
                let hint = "name another file with --trials";
                return Err(malformed(path, "", "it is no regular file", hint));
            }
            file.take(MAGIC.len() as u64).read_to_end(&mut start).map_err(failed)?;
        }
    }
    if start.is_empty() || start == MAGIC {
        return Ok(!start.is_empty());
    }
    Err(malformed(path, "", "it is no store of trials (an SQLite file)", "name another file with --trials"))
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

    /// A store of eight trials.
    fn store_of_all(path: &Path) -> Vec<Trial> {
        let space = space();
        let mut store = Store::open(path, &space, "test", "time").unwrap();
        let points = space.points().unwrap().iter().enumerate();
        let trials: Vec<Trial> = points
            .map(|(number, point)| Trial::measured(point.clone(), "time", number as f64 + 0.25))
            .collect();
        trials.iter().enumerate().for_each(|(number, trial)| store.keep(number, trial).unwrap());
        trials
    }

    /// Opens the store and says whether damage was told; what it knows must be what was measured.
    fn told(path: &Path, trials: &[Trial]) -> bool {
        let told_by_reader = match Store::recorded(path) {
            Ok(recorded) => {
                let count = recorded.trials.len();
                assert!(recorded.trials.iter().all(|trial| {
                    let values = recorded.space.values(&trial.point);
                    let same = |other: &&Trial| space().values(&other.point) == values;
                    trials.iter().find(same).is_some_and(|other| other.metrics == trial.metrics)
                }));
                !recorded.damage.is_empty() || count == trials.len()
            }
            Err(error) => !error.to_string().is_empty(),
        };
        assert!(told_by_reader);
        match Store::open(path, &space(), "test", "time") {
            Ok(store) => {
                let known = |trial: &&Trial| store.known(&trial.point).as_ref() == Some(*trial);
                let good = trials.iter().filter(known).count();
                assert_eq!(good, store.len(), "only what was measured");
                assert!(good == trials.len() || !store.damage().is_empty());
                !store.damage().is_empty()
            }
            Err(_) => true,
        }
    }

    #[test]
    fn changed_bytes_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.db");
        let trials = store_of_all(&path);
        let whole = std::fs::read(&path).unwrap();
        let mut count = 0;
        for seed in 0..400_usize {
            // Spread over the file, with more of them where the text of the trials is.
            let at = if seed % 2 == 0 { seed * whole.len() / 400 } else { (seed * 7919) % whole.len() };
            let mut bytes = whole.clone();
            bytes[at] ^= [1, 0x80, 3, 0xff][seed % 4];
            if bytes[at] == whole[at] {
                continue;
            }
            let changed = folder.path().join(format!("{seed}.db"));
            std::fs::write(&changed, bytes).unwrap();
            count += usize::from(told(&changed, &trials));
        }
        assert!(count > 10, "{count}");
    }

    #[test]
    fn changed_lost_and_foreign_trials_are_told_and_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        let statements = [
            "UPDATE trial SET metrics = replace(metrics, '3.25', '0.01') WHERE number = 4",
            "UPDATE trial SET configuration = '[1, \"x\"]' WHERE number = 4",
            "UPDATE trial SET status = 'timeout' WHERE number = 4",
            "UPDATE trial SET sum = '0000000000000000' WHERE number = 4",
            "UPDATE trial SET metrics = NULL WHERE number = 4",
            "UPDATE trial SET metrics = x'ff' WHERE number = 4",
            "DELETE FROM trial WHERE number = 4",
            "DELETE FROM trial WHERE number = 8",
            "UPDATE trial SET number = 100 WHERE number = 4",
            "UPDATE about SET value = 'x' WHERE name = 'sum'",
            "DELETE FROM about WHERE name = 'measured'",
            "UPDATE about SET value = replace(value, 'time', 'tame')",
        ];
        for (number, statement) in statements.into_iter().enumerate() {
            let path = folder.path().join(format!("{number}.db"));
            let trials = store_of_all(&path);
            let changed = Connection::open(&path).unwrap();
            changed
                .execute_batch("PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON")
                .unwrap();
            let done = changed.execute(statement, []);
            drop(changed);
            if done.is_err() {
                continue;
            }
            assert!(told(&path, &trials), "{statement}");
            if path.with_extension("db.damaged").exists() {
                let mended = Store::open(&path, &space(), "test", "time").unwrap();
                assert!(mended.damage().is_empty(), "{statement}: {:?}", mended.damage());
            }
        }
    }

    #[test]
    fn a_store_without_checksums_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.db");
        let trials = store_of_all(&path);
        let old = Connection::open(&path).unwrap();
        let without = "ALTER TABLE trial DROP COLUMN sum; DELETE FROM about WHERE name = 'sum';
                       PRAGMA user_version = 0;";
        old.execute_batch(without).unwrap();
        drop(old);
        let recorded = Store::recorded(&path).unwrap();
        assert_eq!(recorded.trials.len(), trials.len());
        assert!(recorded.damage[0].reason.contains("no checksums"));
        let store = Store::open(&path, &space(), "test", "time").unwrap();
        assert!(store.len() == trials.len() && store.damage()[0].reason.contains("no checksums"));
        drop(store);
        assert!(Store::open(&path, &space(), "test", "time").unwrap().damage().is_empty());
        assert!(!path.with_extension("db.damaged").exists());
    }

    #[test]
    fn a_store_whose_making_was_interrupted_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.db");
        Connection::open(&path).unwrap().pragma_update(None, "journal_mode", "WAL").unwrap();
        assert!(Store::recorded(&path).is_err());
        let store = Store::open(&path, &space(), "test", "time").unwrap();
        assert!(store.is_empty() && store.damage().is_empty());
    }

    #[test]
    fn other_databases_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let hostile = [
            "CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('dear')",
            "CREATE VIEW about AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
               SELECT x AS name, x AS value FROM c;
             CREATE VIEW trial AS SELECT 1 AS number",
            "CREATE TABLE about (name TEXT, value TEXT); CREATE TABLE trial (number INTEGER);
             INSERT INTO about VALUES ('parameters', hex(zeroblob(50000000)))",
        ];
        for (number, statements) in hostile.into_iter().enumerate() {
            let path = folder.path().join(format!("{number}.db"));
            Connection::open(&path).unwrap().execute_batch(statements).unwrap();
            let before = std::fs::read(&path).unwrap();
            assert!(Store::open(&path, &space(), "test", "time").is_err(), "{statements}");
            assert!(Store::recorded(&path).is_err(), "{statements}");
            assert_eq!(std::fs::read(&path).unwrap(), before);
        }
    }
}
