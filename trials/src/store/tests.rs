use super::*;
use crate::parameter::Parameter;
use crate::recording::Recording;
use crate::setting::Setting;
use crate::trial::{Configuration, Outcome, Status};
use crate::value::Value;
use crate::{Format, ReadOptions};
use safe_io::journal;
use serde_json::json;
use std::sync::Arc;

fn setting(machine: &str) -> Arc<Setting> {
    Arc::new(Setting {
        program: "heat2d".to_owned(),
        machine: machine.to_owned(),
        response: "time".to_owned(),
        parameters: vec![Parameter::new("x", (1..=4).map(Value::Integer).collect()).unwrap()],
        ..Setting::default()
    })
}

fn trial(setting: &Arc<Setting>, x: i64, outcome: Outcome) -> Trial {
    let pairs = [("x".to_owned(), Value::Integer(x)), ("kind".to_owned(), Value::from("a\"b"))];
    Trial { configuration: Configuration::of(pairs), outcome, setting: Arc::clone(setting), round: 0 }
}

/// Eight trials of two machines; one has failed, one has rounds.
fn eight() -> Vec<Trial> {
    let settings = [setting("A"), setting("B")];
    let mut trials: Vec<Trial> = (0..8)
        .map(|number| {
            let outcome = Outcome::measured("time", number as f64 + 0.1).with("watts", 3.25, "W").now();
            trial(&settings[number % 2], 1 + number as i64 / 2, outcome)
        })
        .collect();
    trials[5].outcome = Outcome::failed(Status::Timeout, "too slow");
    trials[6].round = 3;
    trials
}

fn names() -> Vec<&'static str> {
    if cfg!(feature = "sqlite") { vec!["trials.db", "trials.jsonl"] } else { vec!["trials.jsonl"] }
}

fn written(path: &Path) -> Vec<Trial> {
    let mut store = Store::open(path).unwrap();
    let trials = eight();
    trials.iter().for_each(|trial| store.append(trial).unwrap());
    trials
}

#[test]
fn trials_come_back_in_both_forms() {
    let folder = tempfile::tempdir().unwrap();
    for name in names() {
        let path = folder.path().join(name);
        let trials = written(&path);
        let store = Store::open(&path).unwrap();
        assert_eq!((store.trials(), store.damage().len()), (&trials[..], 0), "{name}");
        drop(store);
        assert!(is_store(&path).unwrap());
        let recording = Recording::open(&path, &ReadOptions::default()).unwrap();
        assert_eq!((recording.format, recording.response.as_str()), (Format::Store, "time"));
        assert_eq!(recording.names(), ["x", "kind", "machine"]);
        assert_eq!(recording.mixed[0].values, [("A".to_owned(), 4), ("B".to_owned(), 4)]);
        // More is added behind.
        let mut store = Store::open(&path).unwrap();
        store.append(&trials[0]).unwrap();
        drop(store);
        assert_eq!(read(&path).unwrap().trials.len(), 9);
    }
}

#[test]
fn files_of_others_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["something dear to the user", "x,time\n1,2\n", "{\"cache\": {}}"] {
        let path = folder.path().join("notes");
        std::fs::write(&path, text).unwrap();
        assert!(Store::open(&path).err().unwrap().to_string().contains("no store of trials"), "{text}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    let path = folder.path().join("sweep.jsonl");
    let header = journal::header("sweep", &1);
    let content = journal::read(&path, &header).unwrap();
    journal::Journal::open(&path, &header, &content).unwrap();
    let whole = std::fs::read(&path).unwrap();
    assert!(Store::open(&path).err().unwrap().to_string().contains("journal of something else"));
    assert_eq!(std::fs::read(&path).unwrap(), whole);
}

/// Opens the store and says whether damage was told; what it has must be what was measured.
fn told(path: &Path, trials: &[Trial]) -> bool {
    let whole = |content: &[Trial]| content.iter().all(|trial| trials.contains(trial));
    let told_by_reader = match read(path) {
        Ok(content) => {
            assert!(whole(&content.trials));
            !content.damage.is_empty() || content.trials.len() == trials.len()
        }
        Err(error) => !error.to_string().is_empty(),
    };
    assert!(told_by_reader);
    match Store::open(path) {
        Ok(store) => {
            assert!(whole(store.trials()), "only what was measured");
            assert!(store.trials().len() == trials.len() || !store.damage().is_empty());
            !store.damage().is_empty()
        }
        Err(_) => true,
    }
}

#[test]
fn changed_bytes_are_told() {
    let folder = tempfile::tempdir().unwrap();
    for name in names() {
        let path = folder.path().join(name);
        let trials = written(&path);
        let whole = std::fs::read(&path).unwrap();
        let mut count = 0;
        for seed in 0..200_usize {
            // Spread over the file, with more of them where the text of the trials is.
            let at = if seed % 2 == 0 { seed * whole.len() / 200 } else { (seed * 7919) % whole.len() };
            let mut bytes = whole.clone();
            bytes[at] ^= [1, 0x80, 3, 0xff][seed % 4];
            let changed = folder.path().join(format!("{seed}-{name}"));
            std::fs::write(&changed, bytes).unwrap();
            count += usize::from(told(&changed, &trials));
        }
        assert!(count > 10, "{name}: {count}");
    }
}

#[test]
fn files_of_runs_are_read_and_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let of = json!({"stencil": "heat2d", "source": "s", "size": [4, 4], "steps": 3, "threads": 2, "processor": "p"});
    let runs = [("st=2,s0=4", 3.0), ("st=1,s0=8", 1.0), ("st=2,s0=4", 5.0), ("st=2,s0=4", 4.0)];
    let line = |(tile, seconds): &(&str, f64)| json!({"tile": tile, "seconds": seconds, "others": 0.0});
    let file = |kind: &str| {
        let path = folder.path().join(kind);
        let header = journal::header(kind, &of);
        let content = journal::read(&path, &header).unwrap();
        let journal = journal::Journal::open(&path, &header, &content).unwrap();
        runs.iter().for_each(|run| journal.append(&line(run)).unwrap());
        path
    };
    let whole = |path: &Path| {
        let found = Recording::open(path, &ReadOptions::default()).unwrap();
        assert_eq!(
            (found.format, found.trials[0].setting.program.as_str(), found.trials.len()),
            (Format::Store, "heat2d", 2)
        );
        let first = &found.trials[0].outcome;
        assert_eq!(first.response("seconds"), Some(4.0));
        assert_eq!(first.metrics["seconds"].repetitions, [3.0, 5.0, 4.0]);
        assert_eq!(found.trials[1].configuration.values(), [Value::Integer(1), Value::Integer(8)]);
        found
    };
    let path = file("runs");
    whole(&path);
    // Opened for more, it becomes a store of today with the same runs.
    let store = Store::open(&path).unwrap();
    assert_eq!((store.trials().len(), store.damage().len()), (4, 0));
    assert_eq!(store.trials()[0].setting.job, "processor p");
    drop(store);
    whole(&path);
    assert!(std::fs::read_to_string(&path).unwrap().contains("\"journal\":\"trials\""));
    // A damaged record is told and left out.
    let path = file("runs2");
    std::fs::rename(file("runs3"), &path).unwrap();
    assert!(
        Recording::open(&path, &ReadOptions::default()).unwrap_err().to_string().contains("something else")
    );
    // Without checksums, as the first version wrote them; the last line is half a line.
    let lines: Vec<String> = runs.iter().map(|run| line(run).to_string()).collect();
    let old = folder.path().join("old.jsonl");
    let subject = "{\"stencil\":\"heat2d\",\"source\":\"s\",\"size\":[4,4],\"steps\":3,\"threads\":2,\"processor\":\"p\"}";
    std::fs::write(&old, format!("{subject}\n{}\n{{\"ti", lines.join("\n"))).unwrap();
    assert!(whole(&old).damage[0].reason.contains("no checksums"));
    assert_eq!(Store::open(&old).unwrap().damage().len(), 1);
    assert!(Store::open(&old).unwrap().damage().is_empty());
    whole(&old);
}

#[cfg(not(feature = "sqlite"))]
#[test]
fn without_sqlite_its_files_are_refused_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trials.db");
    let said = |error: TrialsError| (error.to_string(), error.hint());
    let (reason, hint) = said(Store::open(&path).err().unwrap());
    assert!(reason.contains("not part of this build") && hint.contains(".jsonl"), "{reason}; {hint}");
    std::fs::write(&path, [MAGIC, &[0; 100]].concat()).unwrap();
    let (reason, _) = said(Recording::open(&path, &ReadOptions::default()).unwrap_err());
    assert!(reason.contains("not part of this build"), "{reason}");
}

#[cfg(feature = "sqlite")]
mod in_sqlite {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn changed_lost_and_foreign_trials_are_told_and_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let statements = [
            "UPDATE trial SET metrics = replace(metrics, '3.1', '0.01') WHERE number = 4",
            "UPDATE trial SET configuration = '{\"x\": 1}' WHERE number = 4",
            "UPDATE trial SET status = 'timeout' WHERE number = 4",
            "UPDATE trial SET round = 1 WHERE number = 4",
            "UPDATE trial SET sum = '0000000000000000' WHERE number = 4",
            "UPDATE trial SET metrics = x'ff' WHERE number = 4",
            "UPDATE trial SET setting = (SELECT setting FROM trial WHERE number = 1) WHERE number = 4",
            "DELETE FROM trial WHERE number = 4",
            "DELETE FROM trial WHERE number = 8",
            "UPDATE trial SET number = 100 WHERE number = 4",
            "UPDATE setting SET data = replace(data, '\"A\"', '\"C\"')",
            "DELETE FROM setting WHERE id = (SELECT setting FROM trial WHERE number = 1)",
        ];
        for (number, statement) in statements.into_iter().enumerate() {
            let path = folder.path().join(format!("{number}.db"));
            let trials = written(&path);
            let changed = Connection::open(&path).unwrap();
            changed.execute_batch("PRAGMA ignore_check_constraints = ON").unwrap();
            changed.execute(statement, []).unwrap();
            drop(changed);
            assert!(told(&path, &trials), "{statement}");
            assert!(path.with_extension("db.damaged").exists(), "{statement}");
            let mended = Store::open(&path).unwrap();
            assert!(mended.damage().is_empty(), "{statement}: {:?}", mended.damage());
        }
    }

    /// A store as versions before there was one store for all wrote it, of one search.
    fn of_one_search(path: &Path, with_checksums: bool) {
        let old = Connection::open(path).unwrap();
        let sum = if with_checksums { ", sum TEXT NOT NULL" } else { "" };
        old.execute_batch(&format!(
            "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
             CREATE TABLE trial (number INTEGER PRIMARY KEY AUTOINCREMENT, configuration TEXT NOT NULL UNIQUE,
                 status TEXT NOT NULL, metrics TEXT NOT NULL, message TEXT NOT NULL, measured_at TEXT NOT NULL,
                 device TEXT NOT NULL, measured_by TEXT NOT NULL{sum});
             PRAGMA application_id = {}; PRAGMA user_version = {};",
            0x7469_6c65,
            if with_checksums { 2 } else { 0 }
        ))
        .unwrap();
        let about = [r#"[{"name":"x","kind":"integer","levels":[1,2,4]}]"#, "a test", "time"];
        let about_sum = safe_io::checksum::of(&about.map(str::as_bytes));
        let names = ["parameters", "measured", "response"];
        let mut pairs: Vec<(&str, &str)> = names.into_iter().zip(about).collect();
        if with_checksums {
            pairs.push(("sum", &about_sum));
        }
        for (name, value) in pairs {
            old.execute("INSERT INTO about VALUES (?1, ?2)", [name, value]).unwrap();
        }
        for (number, x) in [(1_i64, "[1]"), (2, "[4]")] {
            let row = [x, "ok", r#"{"time":{"value":0.5,"unit":"s"}}"#, "", "17", "cpu", "tilewright"];
            let bytes = number.to_le_bytes();
            let mut parts = vec![about_sum.as_bytes(), bytes.as_slice()];
            parts.extend(row.iter().map(|text| text.as_bytes()));
            let mut values: Vec<String> = row.map(str::to_owned).to_vec();
            if with_checksums {
                values.push(safe_io::checksum::of(&parts));
            }
            let marks = vec!["?"; values.len() + 1].join(", ");
            values.insert(0, number.to_string());
            let insert = format!("INSERT INTO trial VALUES ({marks})");
            old.execute(&insert, rusqlite::params_from_iter(values)).unwrap();
        }
    }

    #[test]
    fn stores_of_one_search_are_read_and_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        for with_checksums in [true, false] {
            let path = folder.path().join(format!("{with_checksums}.db"));
            of_one_search(&path, with_checksums);
            let read = |damage: usize| {
                let found = Recording::open(&path, &ReadOptions::default()).unwrap();
                assert_eq!((found.kernel.as_str(), found.response.as_str()), ("a test", "time"));
                assert_eq!((found.trials.len(), found.damage.len()), (2, damage));
                // The levels of the space, also the one that was not tried.
                assert_eq!(found.parameters[0].len(), 3);
            };
            read(usize::from(!with_checksums));
            let mut store = Store::open(&path).unwrap();
            assert_eq!((store.trials().len(), store.damage().len()), (2, usize::from(!with_checksums)));
            assert!(!path.with_extension("db.damaged").exists());
            let first = store.trials()[0].clone();
            assert_eq!((first.setting.job.as_str(), first.setting.machine.as_str()), ("a test", ""));
            store.append_once(&first).unwrap();
            drop(store);
            read(0);
            assert!(Store::open(&path).unwrap().damage().is_empty());
        }
    }

    #[test]
    fn a_store_whose_making_was_interrupted_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.db");
        Connection::open(&path).unwrap().pragma_update(None, "journal_mode", "WAL").unwrap();
        assert!(Recording::open(&path, &ReadOptions::default()).is_err());
        let store = Store::open(&path).unwrap();
        assert!(store.trials().is_empty() && store.damage().is_empty());
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
            assert!(Store::open(&path).is_err(), "{statements}");
            assert!(Recording::open(&path, &ReadOptions::default()).is_err(), "{statements}");
            assert_eq!(std::fs::read(&path).unwrap(), before);
        }
    }
}
