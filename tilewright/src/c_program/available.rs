//! C programs by the front end of C.

use super::{ArrayUse, CSource, LoopLeft};
use crate::error::{Error, Result};
use crate::output::OutputFile;
use c_frontend::rewrite::{self, RewriteError, Sources};
use execution::ExecutionError;
use hhc_codegen::strategy::Target;
use polyhedral::program::Program;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use c_frontend::OwnPragmas;
pub use c_frontend::{CProgram, Options as COptions};

/// Reads a C file: its time loops, at least one, and those that are no iterated stencils.
///
/// # Errors
/// A file that cannot be read; why it holds no iterated stencil.
pub fn read(path: &Path, options: &COptions) -> Result<(Vec<CProgram>, Vec<LoopLeft>)> {
    let unreadable =
        |source| Error::Execution(ExecutionError::File { action: "read", path: path.to_owned(), source });
    let found = c_frontend::read_all(path, options).map_err(unreadable)??;
    let left = found.left.into_iter().map(|left| LoopLeft {
        function: left.function,
        line: left.line,
        reasons: left
            .reasons
            .iter()
            .map(|reason| {
                let (line, column) =
                    found.taken[0].preprocessed.source.line_column(reason.primary.span.start);
                format!("{} (line {line}, column {column})", reason.message)
            })
            .collect(),
    });
    let left = left.collect();
    Ok((found.taken, left))
}

/// Where a time loop stands: its function, and the line of its head.
pub fn place(c: &CProgram) -> (String, usize) {
    (c.region.function.clone(), c.preprocessed.source.line_column(c.nest.time.head.start).0)
}

/// The extents of its grid, where its text says all of them and the tiled loops take such a grid.
pub fn extents(c: &CProgram) -> Option<Vec<i64>> {
    c.extents().filter(|extents| execution::layout::grid_points(&c.program, extents).is_ok())
}

/// About how many steps its time loop has, where its text says it.
pub fn steps(c: &CProgram) -> Option<i64> {
    c.steps()
}

/// Why its steps run one at a time, where they do.
pub fn one_step_at_a_time(c: &CProgram) -> Option<&str> {
    c.one_at_a_time.as_deref()
}

/// What its loops touch outside of arrays, as these are declared: the first few elements.
pub fn outside_of_arrays(c: &CProgram) -> Option<String> {
    const MOST: usize = 4;
    let source = &c.preprocessed.source;
    let told = |one: &c_frontend::recognise::Outside| {
        let (line, column) = source.line_column(one.span.start);
        let does = if one.written { "assigns" } else { "reads" };
        let how = if one.below { "below 0" } else { "too large" };
        format!(
            "line {line}, column {column} {does} an element outside of `{}`, by a subscript that is {how}",
            one.array
        )
    };
    let list: Vec<String> = c.stencil.outside.iter().take(MOST).map(told).collect();
    (!list.is_empty()).then(|| {
        format!(
            "{}: C does not define what this does, and tiled loops may find something else there than the program as it is written; \
             let the loop run over points whose neighbours the array has",
            list.join("; ")
        )
    })
}

/// Whether its own files are compiled with OpenMP, as their pragmas want it.
pub fn own_openmp(c: &CProgram) -> bool {
    c.keeps_pragmas()
}

/// What becomes of the program's own OpenMP pragmas, where it has some.
pub fn own_pragmas(c: &CProgram) -> Option<String> {
    match &c.preprocessed.own_pragmas {
        OwnPragmas::None => None,
        OwnPragmas::Kept => Some(
            "the program's own files have OpenMP pragmas and are compiled with -fopenmp; --no-own-openmp compiles them without"
                .to_owned(),
        ),
        OwnPragmas::Left(why) => {
            Some(format!("OpenMP pragmas of the program do nothing, its own files are compiled without -fopenmp: {why}"))
        }
    }
}

/// Its fields that are witnesses of tests.
pub fn seen(c: &CProgram) -> Vec<usize> {
    let plain = c.nest.colours.is_none();
    (0..c.program.fields.len()).filter(|&field| plain && c.is_seen(field)).collect()
}

/// The stencil in it.
pub fn program(c: &CProgram) -> &Arc<Program> {
    &c.program
}

/// The file that holds its time loops: the one that was named, or another source of the program.
pub fn file(c: &CProgram) -> &Path {
    &c.file
}

/// The headers that it includes.
pub fn headers(c: &CProgram) -> &[PathBuf] {
    &c.headers
}

/// The same C program, whose stencil has the name and the types of this one.
pub fn renamed(c: CProgram, program: &Arc<Program>) -> CProgram {
    CProgram { program: Arc::clone(program), ..c }
}

/// The program's other sources: those that are named, and those beside its headers.
///
/// # Errors
/// Files that cannot be read.
pub fn other_sources(source: &CSource<'_>) -> Result<Vec<PathBuf>> {
    let Some(program) = source.programs.first() else { return Ok(Vec::new()) };
    let found = Sources::find(program, source.options);
    Ok(found.map_err(|error| Error::wrong_input(error.to_string()))?.originals)
}

/// The program with the tiled code in place of its loops, the files that it needs and its build files.
///
/// # Errors
/// Files that cannot be read, names that the program has taken.
pub fn rewritten(source: &CSource<'_>, target: Target) -> Result<Vec<OutputFile>> {
    let files = rewrite::rewrite(source.programs, source.options, target_of_rewriting(target));
    let files = files.map_err(|error| match error {
        RewriteError::File { .. } => Error::wrong_input(error.to_string()),
        RewriteError::Name { what: "macro", .. } => {
            Error::wrong_input(error.to_string()).hint("define the macro in the program instead")
        }
        RewriteError::Name { .. } => Error::wrong_input(error.to_string()).hint("choose another name"),
        RewriteError::Template(_) => Error::internal(error.to_string()),
    })?;
    Ok(files.into_iter().map(|file| OutputFile { name: file.name, bytes: file.bytes }).collect())
}

/// Which arrays of the program the tiled code works on in place, and which are copied.
pub fn array_uses(program: &CProgram, target: Target) -> Vec<ArrayUse> {
    let uses = rewrite::array_uses(program, target_of_rewriting(target)).into_iter();
    uses.map(|one| ArrayUse { name: one.name, in_place: one.copied.is_none(), reason: one.copied }).collect()
}

fn target_of_rewriting(target: Target) -> rewrite::Target {
    match target {
        Target::OpenMp => rewrite::Target::OpenMp,
        Target::Cuda => rewrite::Target::Cuda,
    }
}
