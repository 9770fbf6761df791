//! Files in TOML that say what a library will be used for.

use crate::error::{Error, Result};
use crate::machines::MOST_TOML;
use execution::ExecutionError;
use safe_io::input;
use std::path::Path;

/// Reads a file; `hint` says how one is written.
///
/// # Errors
/// A file that cannot be read, and what is wrong in it.
pub fn read<T>(
    path: &Path,
    parse: impl FnOnce(&str) -> std::result::Result<T, String>,
    hint: &str,
) -> Result<T> {
    let source = input::read_text(path, MOST_TOML).map_err(|source| {
        Error::Execution(ExecutionError::File { action: "read", path: path.to_owned(), source })
    })?;
    parse(&source).map_err(|problem| {
        Error::wrong_input(format!("{}: {}", path.display(), problem.trim_end())).hint(hint)
    })
}
