//! What is written: files that exist nowhere yet.

use std::path::PathBuf;

/// A file of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Its path inside the output folder.
    pub name: PathBuf,
    /// What is in it.
    pub bytes: Vec<u8>,
}
