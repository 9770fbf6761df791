//! What a rewritten program consists of, and what keeps it from being written.

use std::path::PathBuf;

/// The language of the tiled loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// C with OpenMP, `NAME.c`.
    OpenMp,
    /// CUDA C++, `NAME.cu`.
    Cuda,
}

/// A file of the rewritten program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Its path in the output folder.
    pub name: PathBuf,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// What cannot be rewritten.
#[derive(Debug, thiserror::Error)]
pub enum RewriteError {
    /// A header or source of the user's that could not be read.
    #[error("cannot read {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A name or a macro that a build file cannot hold.
    #[error("the {what} `{text}` cannot stand in a Makefile: {reason}")]
    Name {
        /// What it is.
        what: &'static str,
        /// Its text.
        text: String,
        /// Why not.
        reason: &'static str,
    },
    /// A template that is broken: an error of ours.
    #[error("template {0}")]
    Template(String),
}
