//! Drawings as files that the user named.

use crate::error::{Error, Result};
use execution::output_file;
use plots::Svg;
use std::io::Write;
use std::path::Path;

/// Writes a finished drawing.
///
/// # Errors
/// A drawing that could not be made, a file that cannot be written.
pub fn write(path: &Path, drawing: plots::Result<Svg>) -> Result<()> {
    let drawing = finished(drawing)?;
    Ok(output_file::write(path, |file| file.write_all(drawing.as_str().as_bytes()))?)
}

/// What the library of drawings made; that it fails is a mistake of ours.
///
/// # Errors
/// What it says.
pub fn finished<T>(made: plots::Result<T>) -> Result<T> {
    made.map_err(|error| Error::internal(error.to_string()))
}
