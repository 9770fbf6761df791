//! What is in a store, row by row, as far as it can be believed.
//!
//! The checksum of a trial covers what the store is of, the number of the trial and all of its columns. Numbers count
//! up by one, so that lost rows are noticed; SQLite remembers the last one. Files come from anywhere: views, triggers
//! and huge values are refused, and the work of a query is limited.

use super::file::{VERSION, broken, check_application};
use crate::error::{Result, malformed};
use crate::recorded::limits::MOST_TRIALS;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use safe_io::{Damage, checksum};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Longest text of a column.
const MOST_TEXT: i32 = 16 << 20;
/// Most text in all.
const MOST_TEXT_IN_ALL: usize = 256 << 20;
/// Steps of SQLite's machine between two looks, and most looks: some seconds of work.
const STEPS: i32 = 1_000_000;
const MOST_LOOKS: u32 = 500;

/// What a store is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The parameters, as JSON.
    pub parameters: String,
    /// How trials are measured.
    pub measured: String,
    /// What is minimised.
    pub response: String,
}

impl About {
    /// Its values by name.
    pub fn values(&self) -> [(&'static str, &str); 3] {
        [("parameters", &self.parameters), ("measured", &self.measured), ("response", &self.response)]
    }

    /// Its checksum.
    pub fn sum(&self) -> String {
        checksum::of(&[self.parameters.as_bytes(), self.measured.as_bytes(), self.response.as_bytes()])
    }
}

/// A trial as it is stored: configuration, status, metrics, message, when, device, by what.
#[derive(Debug, Clone)]
pub struct Row(pub [String; 7]);

impl Row {
    /// Its checksum as trial of this number.
    pub fn sum(&self, about: &About, number: i64) -> String {
        let (about, number) = (about.sum(), number.to_le_bytes());
        let mut parts = vec![about.as_bytes(), number.as_slice()];
        parts.extend(self.0.iter().map(String::as_bytes));
        checksum::of(&parts)
    }
}

/// What could be read.
#[derive(Debug, Default)]
pub struct Content {
    /// What the store is of, if that is whole.
    pub about: Option<About>,
    /// The good rows with their numbers.
    pub rows: Vec<(i64, Row)>,
    /// What is damaged.
    pub damage: Vec<Damage>,
    /// Whether it is a store of the version that had no checksums; that is told as damage.
    pub without_checksums: bool,
}

/// Switches off what a store does not need and a file from elsewhere may misuse.
pub fn be_careful(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_TEXT)?;
    Ok(())
}

/// Reads a store; no query changes it. `wanted` is what the request says that it is of: rows are good by that even where
/// the store's own word is damaged.
///
/// # Errors
/// An SQLite file that is no store; more trials than can be used.
pub fn read(path: &Path, wanted: Option<&About>) -> Result<Content> {
    let failed = |error: rusqlite::Error| broken(path, &error);
    // What a killed process left half done can be taken back only by one that may write.
    let flags = match wanted {
        Some(_) => OpenFlags::SQLITE_OPEN_READ_WRITE,
        None => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    be_careful(&connection).map_err(failed)?;
    let looks = AtomicU32::new(0);
    connection.progress_handler(STEPS, Some(move || looks.fetch_add(1, Ordering::Relaxed) > MOST_LOOKS));
    connection.busy_timeout(std::time::Duration::from_secs(10)).map_err(failed)?;
    let mut content = Content::default();
    if names(&connection, "SELECT name FROM sqlite_schema").map_err(failed)?.is_empty() {
        // Its making was interrupted.
        return Ok(content);
    }
    let mut damaged = |place: &str, reason: String| {
        content.damage.push(Damage { file: path.to_owned(), place: place.to_owned(), reason });
    };
    let tables = names(&connection, "SELECT name FROM sqlite_schema WHERE type = 'table'").map_err(failed)?;
    check_application(path, &connection)?;
    let has = |name: &str| tables.iter().any(|table| table == name);
    if !has("about") || !has("trial") {
        let hint = "name another file with --trials";
        return Err(malformed(path, "", "it is an SQLite file, but no store of trials", hint));
    }
    let columns = names(&connection, "SELECT name FROM pragma_table_info('trial')").map_err(failed)?;
    let version: i32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
    let about = pairs(&connection).map_err(failed)?;
    let own_sum = about.get("sum");
    content.without_checksums =
        version == 0 && own_sum.is_none() && !columns.iter().any(|column| column == "sum");
    if version > VERSION {
        let reason = format!("it is a store of version {version}; {VERSION} is the newest that is known");
        return Err(malformed(path, "", reason, "it was written by a newer Tilewright"));
    }
    let value = |name: &str| about.get(name).cloned();
    let found = match (value("parameters"), value("measured"), value("response")) {
        (Some(parameters), Some(measured), Some(response)) => Some(About { parameters, measured, response }),
        _ => None,
    };
    content.about = found
        .clone()
        .filter(|about| content.without_checksums || own_sum.is_some_and(|sum| *sum == about.sum()));
    if content.about.is_none() {
        damaged("description", "what the store is of is damaged; trials are checked without it".to_owned());
    }
    if content.without_checksums {
        let text = "the store has no checksums; its trials are taken as they are";
        damaged("all trials", text.to_owned());
    }
    // Where nothing says better, the damaged word is tried: perhaps only its checksum is wrong.
    let Some(by) = content.about.as_ref().or(wanted).or(found.as_ref()).cloned() else { return Ok(content) };
    let mut last = 0;
    let ended = rows(&connection, content.without_checksums, |number, row, sum| {
        let place = format!("trial {number}");
        let good = match (row, sum) {
            (Some(row), _) if content.without_checksums => Some(row),
            (Some(row), Some(sum)) if row.sum(&by, number) == sum => Some(row),
            _ => None,
        };
        let numbered = !content.without_checksums;
        if numbered && number > last + 1 {
            damaged(&place, format!("trials are missing in front of trial {number}"));
        }
        last = number;
        match good {
            Some(row) => content.rows.push((number, row)),
            None => damaged(&place, "the checksum does not fit; the trial is not used".to_owned()),
        }
        content.rows.len() <= MOST_TRIALS
    });
    if content.rows.len() > MOST_TRIALS {
        return Err(malformed(path, "", format!("it has more than {MOST_TRIALS} trials"), ""));
    }
    if let Err(error) = ended {
        damaged("file", format!("it cannot be read to its end ({error})"));
    }
    if !content.without_checksums {
        let newest = "SELECT seq FROM sqlite_sequence WHERE name = 'trial'";
        if connection.query_row(newest, [], |row| row.get::<_, i64>(0)).is_ok_and(|newest| newest > last) {
            damaged("file", format!("trials are missing behind trial {last}"));
        }
    }
    if wanted.is_some() {
        // Rows can be whole where the index that finds them is not.
        let check = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
        match check {
            Ok(answer) if answer == "ok" => {}
            Ok(answer) => damaged("file", format!("its structure is damaged ({answer})")),
            Err(error) => damaged("file", format!("its structure is damaged ({error})")),
        }
    }
    // Not to be used as the store's word, but as good as the wanted one for those who have no other.
    if content.about.is_none() && wanted.is_none() && !content.rows.is_empty() {
        content.about = found;
    }
    Ok(content)
}

fn names(connection: &Connection, query: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(query)?;
    let names = statement.query_map([], |row| row.get::<_, String>(0))?;
    names.take(1000).collect()
}

fn pairs(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let mut statement = connection.prepare("SELECT name, value FROM about NOT INDEXED LIMIT 100")?;
    let pair = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0).ok(), row.get::<_, String>(1).ok()));
    let pairs: Vec<_> = statement.query_map([], pair)?.collect::<rusqlite::Result<_>>()?;
    Ok(pairs.into_iter().filter_map(|(name, value)| Some((name?, value?))).collect())
}

/// Gives the rows in the order of their numbers, with their checksums, until told to stop.
fn rows(
    connection: &Connection,
    without_checksums: bool,
    mut give: impl FnMut(i64, Option<Row>, Option<String>) -> bool,
) -> rusqlite::Result<()> {
    let sum = if without_checksums { "''" } else { "sum" };
    let query = format!(
        "SELECT number, configuration, status, metrics, message, measured_at, device, measured_by, {sum}
         FROM trial NOT INDEXED ORDER BY number"
    );
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut length = 0;
    while let Some(row) = rows.next()? {
        let text = |column: usize| row.get::<_, String>(column).ok();
        let columns: Option<Vec<String>> = (1..=7).map(text).collect();
        length += columns.iter().flatten().map(String::len).sum::<usize>();
        if length > MOST_TEXT_IN_ALL {
            return Err(rusqlite::Error::InvalidParameterName("more than 256 MiB of text".to_owned()));
        }
        let columns = columns.and_then(|columns| columns.try_into().ok()).map(Row);
        if !give(row.get(0)?, columns, text(8)) {
            return Ok(());
        }
    }
    Ok(())
}
