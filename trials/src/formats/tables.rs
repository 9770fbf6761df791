//! Any file of trials as a table of cells.

use super::read;
use super::roles::ReadOptions;
use super::sheet::Sheet;
use super::write::sheet;
use crate::error::{Result, malformed};
use crate::recording::{Format, Recording};
use crate::store;
use safe_io::Damage;
use std::path::Path;

/// The cells of a CSV file as they stand there, or the trials of any other file as we write them as CSV; and what of a
/// store is damaged.
///
/// # Errors
/// A file that cannot be read, or has neither a table nor trials.
pub fn table(path: &Path) -> Result<(Sheet, Vec<Damage>)> {
    let options = ReadOptions { no_response: true, ..ReadOptions::default() };
    let recording = if store::is_store(path)? {
        Recording::open(path, &options)?
    } else {
        let bytes = read::bytes(path)?;
        let content = read::without_mark(&bytes);
        match content.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{' | b'[') => Recording::from_bytes(path, content, &options)?,
            _ => return Ok((Sheet::parse(path, content)?, Vec::new())),
        }
    };
    if recording.format == Format::T1 {
        let reason = "it describes a tuning problem and has no trials";
        return Err(malformed(path, "", reason, "name a file with measurements"));
    }
    let table = sheet(&recording.names(), &recording.trials, &recording.response)?;
    Ok((table, recording.damage))
}
