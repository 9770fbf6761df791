//! C programs: read as stencils, and written back with the tiled code in them. A build without the feature `c` has a
//! [`CProgram`] without values, and tells whoever names a C file.

#[cfg(not(feature = "c"))]
mod absent;
#[cfg(feature = "c")]
mod available;

#[cfg(not(feature = "c"))]
pub use absent::{COptions, CProgram, headers, other_sources, program, read, renamed, rewritten};
#[cfg(feature = "c")]
pub use available::{COptions, CProgram, headers, other_sources, program, read, renamed, rewritten};

use std::path::{Path, PathBuf};

/// A C program and how it was read.
#[derive(Clone, Copy)]
pub struct CSource<'a> {
    /// The program.
    pub program: &'a CProgram,
    /// Its file.
    pub path: &'a Path,
    /// Its macros and folders of headers.
    pub options: &'a COptions,
    /// Other sources of the same program.
    pub with: &'a [PathBuf],
}
