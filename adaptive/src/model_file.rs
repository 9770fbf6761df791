//! Model files: JSON with a version and a checksum.
//!
//! ```text
//! {"schema": "tilewright.adaptive-model/1", "checksum": "8f0c...", "model": {...}}
//! ```
//!
//! The checksum covers what the file says and not how it is laid out: the compact text of the model, keys in alphabetical
//! order.

use crate::error::{AdaptiveError, Result};
use crate::model::Model;
use safe_io::output_file::WriteError;
use safe_io::{checksum, input, output_file};
use serde_json::{Value, json};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// What a model file says it is.
pub const SCHEMA: &str = "tilewright.adaptive-model/1";
/// Of any version.
const FAMILY: &str = "tilewright.adaptive-model/";
/// Largest file.
const MOST_BYTES: u64 = 1 << 28;
const TRAIN: &str = "train it anew with `tilewright adaptive train`";

/// Why a model cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// There is no file.
    Missing,
    /// The file cannot be read, in the system's words.
    Unreadable(String),
    /// It is a model of another version of Tilewright.
    Version(String),
    /// It is no model, or a damaged one.
    Damaged(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Missing => f.write_str("there is no such file"),
            Fault::Unreadable(reason) => write!(f, "it cannot be read: {reason}"),
            Fault::Version(found) => write!(f, "it is `{found}`, and this program reads `{SCHEMA}`"),
            Fault::Damaged(reason) => write!(f, "it is damaged, or no model: {reason}"),
        }
    }
}

/// The text of a model's file.
///
/// # Errors
/// A model that makes no sense.
pub fn to_text(model: &Model) -> std::result::Result<String, String> {
    model.check()?;
    let value = serde_json::to_value(model).map_err(|error| error.to_string())?;
    let text = json!({"schema": SCHEMA, "checksum": sum(&value), "model": value});
    Ok(text.to_string() + "\n")
}

fn sum(model: &Value) -> String {
    checksum::of(&[SCHEMA.as_bytes(), model.to_string().as_bytes()])
}

/// The model of a text.
///
/// # Errors
/// [`Fault`].
pub fn from_text(text: &str) -> std::result::Result<Model, Fault> {
    let damaged = |reason: &str| Fault::Damaged(reason.to_owned());
    let mut value: Value = serde_json::from_str(text).map_err(|error| Fault::Damaged(error.to_string()))?;
    match value.get("schema").and_then(Value::as_str) {
        Some(SCHEMA) => {}
        Some(other) if other.starts_with(FAMILY) => {
            return Err(Fault::Version(other.chars().take(80).collect()));
        }
        _ => return Err(damaged("it does not say that it is one")),
    }
    let model = value.get_mut("model").map(Value::take).unwrap_or_default();
    if value.get("checksum").and_then(Value::as_str) != Some(sum(&model).as_str()) {
        return Err(damaged("the checksum does not fit"));
    }
    let model: Model = serde_json::from_value(model).map_err(|error| Fault::Damaged(error.to_string()))?;
    model.check().map_err(Fault::Damaged)?;
    Ok(model)
}

/// Reads a model, for those who can do without one.
///
/// # Errors
/// [`Fault`].
pub fn load(path: &Path) -> std::result::Result<Model, Fault> {
    match input::read_text(path, MOST_BYTES) {
        Ok(text) => from_text(&text),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Fault::Missing),
        Err(error) if error.kind() == ErrorKind::InvalidData => Err(Fault::Damaged(error.to_string())),
        Err(error) => Err(Fault::Unreadable(error.to_string())),
    }
}

/// Reads a model, for those who need it.
///
/// # Errors
/// A file that is no model of this version.
pub fn read(path: &Path) -> Result<Model> {
    load(path).map_err(|fault| AdaptiveError::malformed(path, "", fault.to_string(), TRAIN))
}

/// Writes a model, whole or not at all.
///
/// # Errors
/// A file that cannot be written.
pub fn write(path: &Path, model: &Model) -> Result<()> {
    let text =
        to_text(model).map_err(|reason| AdaptiveError::request(format!("the model: {reason}"), TRAIN))?;
    output_file::write(path, |file| file.write_all(text.as_bytes())).map_err(|error| match error {
        WriteError::Interrupted => AdaptiveError::Interrupted,
        WriteError::Io(reason) => AdaptiveError::File { action: "write", path: path.to_owned(), reason },
    })
}
