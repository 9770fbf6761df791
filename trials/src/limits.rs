//! How large the table of a file may be.

use crate::error::{Result, malformed};
use std::path::Path;

/// Most trials of a file.
pub const MOST_TRIALS: usize = 1_000_000;

/// Most parameters and metrics of a file.
const MOST_COLUMNS: usize = 1_000;

/// Refuses tables that are too large to be worked with.
pub(crate) fn check_size(path: &Path, columns: usize, rows: usize) -> Result<()> {
    if columns > MOST_COLUMNS {
        let reason = format!("{columns} columns, which is more than {MOST_COLUMNS}");
        return Err(malformed(path, "", reason, "leave out those that are neither parameters nor metrics"));
    }
    if rows > MOST_TRIALS {
        let reason = format!("more than {MOST_TRIALS} trials");
        return Err(malformed(path, "", reason, "take a sample of them"));
    }
    Ok(())
}
