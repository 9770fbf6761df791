//! What is in an SQLite store, row by row, as far as it can be believed.
//!
//! The checksum of a trial covers its number and all of its columns; the name of its setting is the setting's checksum.
//! Numbers count up by one, so that lost rows are noticed; SQLite remembers the last one. Files come from anywhere: views,
//! triggers and huge values are refused, and the work of a query is limited.

use super::file::{VERSION, broken, check_application};
use super::found::{Found, within};
use super::old;
use super::row::Row;
use crate::error::{Result, malformed};
use crate::limits::MOST_TRIALS;
use crate::setting::Setting;
use crate::store::content::Content;
use crate::store::records::Reader;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use safe_io::Damage;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Longest text of a column.
const MOST_TEXT: i32 = 16 << 20;
/// Steps of SQLite's machine between two looks, and most looks: some seconds of work.
const STEPS: i32 = 1_000_000;
const MOST_LOOKS: u32 = 500;

/// Switches off what a store does not need and a file from elsewhere may misuse.
pub fn be_careful(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_TEXT)?;
    Ok(())
}

/// Reads a store; no query changes it. `to_go_on`: for one that is going to write, its structure is looked at as well.
///
/// # Errors
/// An SQLite file that is no store; more trials than can be used.
pub fn read(path: &Path, to_go_on: bool) -> Result<Found> {
    let failed = |error: rusqlite::Error| broken(path, &error);
    // What a killed process left half done can be taken back only by one that may write.
    let flags = match to_go_on {
        true => OpenFlags::SQLITE_OPEN_READ_WRITE,
        false => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    be_careful(&connection).map_err(failed)?;
    let looks = AtomicU32::new(0);
    connection.progress_handler(STEPS, Some(move || looks.fetch_add(1, Ordering::Relaxed) > MOST_LOOKS));
    connection.busy_timeout(std::time::Duration::from_secs(10)).map_err(failed)?;
    let mut found = Found::default();
    if names(&connection, "SELECT name FROM sqlite_schema").map_err(failed)?.is_empty() {
        // Its making was interrupted.
        return Ok(found);
    }
    let tables = names(&connection, "SELECT name FROM sqlite_schema WHERE type = 'table'").map_err(failed)?;
    check_application(path, &connection)?;
    let has = |name: &str| tables.iter().any(|table| table == name);
    if !has("about") || !has("trial") {
        let hint = "name another file with --trials";
        return Err(malformed(path, "", "it is an SQLite file, but no store of trials", hint));
    }
    let version: i32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
    if version > VERSION {
        let reason = format!("it is a store of version {version}; {VERSION} is the newest that is known");
        return Err(malformed(path, "", reason, "it was written by a newer Tilewright"));
    }
    let last = if has("setting") {
        trials(path, &connection, &mut found.content)?
    } else {
        found.earlier = true;
        let columns = names(&connection, "SELECT name FROM pragma_table_info('trial')").map_err(failed)?;
        let has_sum = columns.iter().any(|column| column == "sum");
        old::trials(path, &connection, version == 0 && !has_sum, &mut found).map_err(failed)?
    };
    if found.content.trials.len() > MOST_TRIALS {
        return Err(malformed(path, "", format!("it has more than {MOST_TRIALS} trials"), ""));
    }
    let mut damaged = |reason: String| {
        found.content.damage.push(Damage { file: path.to_owned(), place: "file".to_owned(), reason });
    };
    if !found.without_checksums {
        let newest = "SELECT seq FROM sqlite_sequence WHERE name = 'trial'";
        if connection.query_row(newest, [], |row| row.get::<_, i64>(0)).is_ok_and(|newest| newest > last) {
            damaged(format!("trials are missing behind trial {last}"));
        }
    }
    if to_go_on {
        // Rows can be whole where the index that finds them is not.
        let check = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
        match check {
            Ok(answer) if answer == "ok" => {}
            Ok(answer) => damaged(format!("its structure is damaged ({answer})")),
            Err(error) => damaged(format!("its structure is damaged ({error})")),
        }
    }
    Ok(found)
}

fn names(connection: &Connection, query: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(query)?;
    let names = statement.query_map([], |row| row.get::<_, String>(0))?;
    names.take(1000).collect()
}

/// Reads the trials; returns the number of the last one.
fn trials(path: &Path, connection: &Connection, content: &mut Content) -> Result<i64> {
    let mut reader = Reader::default();
    let mut damaged = |place: String, reason: &str| {
        content.damage.push(Damage { file: path.to_owned(), place, reason: reason.to_owned() });
    };
    let mut length = 0;
    if let Err(error) = settings(connection, &mut length, &mut |id, text| {
        let setting = text.and_then(|text| serde_json::from_str::<Setting>(&text).ok());
        match (id, setting) {
            (Some(id), Some(setting)) if setting.id() == id => reader.add(setting),
            _ => damaged("settings".to_owned(), "the checksum of a setting does not fit; it is not used"),
        }
    }) {
        damaged("settings".to_owned(), &format!("they cannot be read to their end ({error})"));
    }
    let mut last = 0;
    let mut good = Vec::new();
    let ended = rows(connection, &mut length, &mut |number, row, sum| {
        let place = || format!("trial {number}");
        if number > last + 1 {
            damaged(place(), &format!("trials are missing in front of trial {number}"));
        }
        last = number;
        let whole = row.filter(|row| sum.is_some_and(|sum| row.sum(number) == sum));
        let trial = whole
            .ok_or_else(|| "the checksum does not fit; the trial is not used".to_owned())
            .and_then(|row| row.record())
            .and_then(|record| reader.trial(record));
        match trial {
            Ok(trial) => good.push(trial),
            Err(reason) => damaged(place(), &reason),
        }
        good.len() <= MOST_TRIALS
    });
    if let Err(error) = ended {
        damaged("file".to_owned(), &format!("it cannot be read to its end ({error})"));
    }
    content.trials = good;
    Ok(last)
}

fn settings(
    connection: &Connection,
    length: &mut usize,
    give: &mut dyn FnMut(Option<String>, Option<String>),
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT id, data FROM setting NOT INDEXED")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text = |column: usize| row.get::<_, String>(column).ok();
        let data = text(1);
        within(length, data.as_ref().map_or(0, String::len))?;
        give(text(0), data);
    }
    Ok(())
}

/// Gives the rows in the order of their numbers, with their checksums, until told to stop.
fn rows(
    connection: &Connection,
    length: &mut usize,
    give: &mut dyn FnMut(i64, Option<Row>, Option<String>) -> bool,
) -> rusqlite::Result<()> {
    let query = "SELECT number, setting, configuration, status, metrics, message, measured_at, round, sum
                 FROM trial NOT INDEXED ORDER BY number";
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text = |column: usize| row.get::<_, String>(column).ok();
        let columns: Option<Vec<String>> = (1..=6).map(text).collect();
        within(length, columns.iter().flatten().map(String::len).sum())?;
        let round = row.get::<_, u32>(7).ok();
        let columns = columns.and_then(|columns| columns.try_into().ok()).zip(round);
        let row_read = columns.map(|(texts, round)| Row { texts, round });
        if !give(row.get(0)?, row_read, text(8)) {
            return Ok(());
        }
    }
    Ok(())
}
