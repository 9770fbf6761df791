//! Files that appear complete or not at all: [`safe_io::output_file`] with this crate's errors.

use crate::error::{ExecutionError, Result};
use safe_io::output_file::{self, WriteError};
pub use safe_io::output_file::{Destination, FileIdentity, folder_of};
pub(crate) use safe_io::output_file::{Staged, stage};
use std::fs::File;
use std::io;
use std::path::Path;

/// Writes a file through `content`, as [`output_file::write`] does.
///
/// # Errors
/// [`ExecutionError::File`] with the system's reason, and [`ExecutionError::Interrupted`].
pub fn write(path: &Path, content: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    output_file::write(path, content).map_err(|error| match error {
        WriteError::Interrupted => ExecutionError::Interrupted,
        WriteError::Io(source) => ExecutionError::File { action: "write", path: path.to_owned(), source },
    })
}
