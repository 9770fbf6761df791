//! What makes an SQLite file a store of ours.

use crate::error::{Result, TrialsError, malformed};
use rusqlite::Connection;
use std::path::Path;

/// The number by which SQLite files of ours are known.
pub(super) const APPLICATION: i32 = 0x7469_6c65;

/// Version of the tables. Of the versions 0 and 2, each was of one search; those of version 0 have no checksums.
pub(super) const VERSION: i32 = 3;

/// Refuses the SQLite file of another program.
pub(super) fn check_application(path: &Path, connection: &Connection) -> Result<()> {
    let number = |query: &str| connection.query_row(query, [], |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id").map_err(|error| broken(path, &error))?;
    // A measurement that was killed as soon as it began has left some of its tables, and no number yet.
    let others = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table'
                  AND name NOT IN ('about', 'setting', 'trial', 'sqlite_sequence')";
    let others = number(others).map_err(|error| broken(path, &error))?;
    if application == i64::from(APPLICATION) || others == 0 {
        return Ok(());
    }
    Err(malformed(path, "", "it is the SQLite file of another program", "name another file with --trials"))
}

/// The error that SQLite met.
pub(super) fn broken(path: &Path, error: &rusqlite::Error) -> TrialsError {
    use rusqlite::ErrorCode::{DiskFull, SystemIoFailure};
    match error.sqlite_error_code() {
        // The disk's fault, not the file's.
        Some(DiskFull | SystemIoFailure) => TrialsError::File {
            action: "write",
            path: path.to_owned(),
            reason: std::io::Error::other(error.to_string()),
        },
        _ => malformed(path, "", format!("the store cannot be used: {error}"), ""),
    }
}
