//! No C program: this build has no front end of C.

use super::{ArrayUse, CSource, LoopLeft};
use crate::error::{Error, Result};
use crate::output::OutputFile;
use hhc_codegen::strategy::Target;
use polyhedral::program::Program;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolchain::compiler::OwnOpenMp;

/// Macros and folders of headers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct COptions {
    /// `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Folders of headers.
    pub include_dirs: Vec<PathBuf>,
    /// The function whose time loops are wanted.
    pub function: Option<String>,
    /// Other sources of the program.
    pub with: Vec<PathBuf>,
    /// What the compiler of its own files knows of OpenMP.
    pub openmp: OwnOpenMp,
    /// Whether the loops are for processors alone.
    pub processor: bool,
    /// Nothing is read.
    pub kept: (),
}

/// A C program: there is none.
#[derive(Debug)]
pub enum CProgram {}

/// Refuses.
///
/// # Errors
/// Always: this build reads no C.
pub fn read(path: &Path, _: &COptions) -> Result<(Vec<CProgram>, Vec<LoopLeft>)> {
    Err(Error::infeasible(format!(
        "`{}` is a C file, and this build of Tilewright reads no C",
        path.display()
    ))
    .hint("build it with the feature `c`, which is on by default"))
}

/// Where a time loop stands.
pub fn place(c: &CProgram) -> (String, usize) {
    match *c {}
}

/// The extents of its grid.
pub fn extents(c: &CProgram) -> Option<Vec<i64>> {
    match *c {}
}

/// About how many steps its time loop has.
pub fn steps(c: &CProgram) -> Option<i64> {
    match *c {}
}

/// Why its steps run one at a time, where they do.
pub fn one_step_at_a_time(c: &CProgram) -> Option<&str> {
    match *c {}
}

/// What its loops touch outside of arrays.
pub fn outside_of_arrays(c: &CProgram) -> Option<String> {
    match *c {}
}

/// Whether its own files are compiled with OpenMP.
pub fn own_openmp(c: &CProgram) -> bool {
    match *c {}
}

/// What becomes of its own OpenMP pragmas.
pub fn own_pragmas(c: &CProgram) -> Option<String> {
    match *c {}
}

/// The stencil in it.
pub fn program(c: &CProgram) -> &Arc<Program> {
    match *c {}
}

/// The file that holds its time loops.
pub fn file(c: &CProgram) -> &Path {
    match *c {}
}

/// The headers that it includes.
pub fn headers(c: &CProgram) -> &[PathBuf] {
    match *c {}
}

/// Its fields that are witnesses of tests.
pub fn seen(c: &CProgram) -> Vec<usize> {
    match *c {}
}

/// The same C program, whose stencil has another name.
pub fn renamed(c: CProgram, _: &Arc<Program>) -> CProgram {
    c
}

/// The program's other sources.
///
/// # Errors
/// None.
pub fn other_sources(source: &CSource<'_>) -> Result<Vec<PathBuf>> {
    match source.programs {
        [] => Ok(Vec::new()),
        [first, ..] => match **first {},
    }
}

/// The program with the tiled code in place of its loops.
///
/// # Errors
/// None.
pub fn rewritten(source: &CSource<'_>, _: Target) -> Result<Vec<OutputFile>> {
    match source.programs {
        [] => Ok(Vec::new()),
        [first, ..] => match **first {},
    }
}

/// Which arrays are used in place.
pub fn array_uses(program: &CProgram, _: Target) -> Vec<ArrayUse> {
    match *program {}
}
