//! The files of `compile`: all that was generated, and the manifest that describes it.

use crate::error::Result;
use crate::json;
use execution::output_folder::{NewFile, OutputFolder};
use serde::Serialize;
use std::path::PathBuf;
use tilewright::emit::Facts;
use tilewright::output::OutputFile;

/// The name of the file that describes the others.
const MANIFEST: &str = "manifest.json";
/// Its `schema`.
const MANIFEST_SCHEMA: &str = "tilewright.manifest/1";

#[derive(Serialize)]
struct Manifest<'a> {
    tilewright: &'static str,
    #[serde(flatten)]
    facts: &'a Facts,
    /// The other time loops of a C program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more: Vec<&'a Facts>,
    files: Vec<String>,
}

/// Writes all files, the manifest last. Returns the absolute paths of the folder and of the files.
pub fn write(
    folder: &OutputFolder,
    facts: &Facts,
    more: Vec<&Facts>,
    files: &[OutputFile],
) -> Result<(PathBuf, Vec<PathBuf>)> {
    let manifest = json::document(
        MANIFEST_SCHEMA,
        &Manifest {
            tilewright: env!("CARGO_PKG_VERSION"),
            facts,
            more,
            files: files.iter().map(|file| file.name.to_string_lossy().into_owned()).collect(),
        },
    );
    let manifest = OutputFile { name: MANIFEST.into(), bytes: (manifest + "\n").into_bytes() };
    let all: Vec<NewFile<'_>> =
        files.iter().chain([&manifest]).map(|file| (file.name.as_path(), file.bytes.as_slice())).collect();
    Ok(folder.write(&all)?)
}
