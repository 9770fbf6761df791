//! C programs: read as stencils, and written back with the tiled code in them. A build without the feature `c` has a
//! [`CProgram`] without values, and tells whoever names a C file.

#[cfg(not(feature = "c"))]
mod absent;
#[cfg(feature = "c")]
mod available;

#[cfg(not(feature = "c"))]
pub use absent::{
    COptions, CProgram, array_uses, extents, file, headers, one_step_at_a_time, other_sources,
    outside_of_arrays, own_openmp, own_pragmas, place, program, read, renamed, rewritten, seen, steps,
};
#[cfg(feature = "c")]
pub use available::{
    COptions, CProgram, array_uses, extents, file, headers, one_step_at_a_time, other_sources,
    outside_of_arrays, own_openmp, own_pragmas, place, program, read, renamed, rewritten, seen, steps,
};

use serde::Serialize;
pub use toolchain::compiler::OwnOpenMp;

/// How the tiled code uses an array of a C program.
#[derive(Debug, Clone, Serialize)]
pub struct ArrayUse {
    /// The array's name, or the text of a value that depends on the place alone.
    pub name: String,
    /// Whether the code works on it where it lies, if its rows have the distance of the others'.
    pub in_place: bool,
    /// Why it is copied; null where it is used in place.
    pub reason: Option<&'static str>,
}

/// A loop over time of a C program that stays as it is.
#[derive(Debug, Clone, Serialize)]
pub struct LoopLeft {
    /// The function around it.
    pub function: String,
    /// Its line.
    pub line: usize,
    /// Why, with places.
    pub reasons: Vec<String>,
}

/// A C program and how it was read.
#[derive(Clone, Copy)]
pub struct CSource<'a> {
    /// Its time loops; none for code of one of them that goes into a program which is written with another one.
    pub programs: &'a [&'a CProgram],
    /// Its macros and folders of headers.
    pub options: &'a COptions,
}
