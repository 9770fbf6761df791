//! SPEC: the name of a shipped stencil, or a file.

use crate::arguments::{CArguments, ElementTypeName, PlanArguments};
use crate::error::{Error, Result};
use c_frontend::CProgram;
use execution::ExecutionError;
use polyhedral::program::Program;
use polyhedral::{parser, shipped};
use safe_io::input;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest machine, workload and family file.
pub const MOST_TOML: u64 = 1 << 20;

/// The program that `spec` names, with all fields of type `dtype` where given.
///
/// # Errors
/// The mistakes in the file; or that there is no such stencil, with the nearest name and all names.
pub fn program(spec: &str, dtype: Option<ElementTypeName>) -> Result<Arc<Program>> {
    Ok(load(spec, dtype, &CArguments::default())?.program)
}

/// The program of a command, with what its C file says beside it.
///
/// # Errors
/// As for [`program`].
pub fn of_plan(arguments: &PlanArguments) -> Result<Loaded> {
    load(&arguments.spec, arguments.dtype, &arguments.c)
}

/// A program and, where it was read from a C file, everything known of that.
pub struct Loaded {
    /// The program.
    pub program: Arc<Program>,
    /// The C program.
    pub c: Option<Box<CProgram>>,
    /// The files that were read: that of the program, and its headers.
    pub files: Vec<PathBuf>,
}

/// The program that `spec` names, read with these macros and folders if it is C.
///
/// # Errors
/// As for [`program`].
pub fn load(spec: &str, dtype: Option<ElementTypeName>, options: &CArguments) -> Result<Loaded> {
    if is_c(spec) {
        let read = c_program(spec, options)?;
        let program = match dtype {
            Some(dtype) => Arc::new((*read.program).clone().with_element_type(dtype.element())),
            None => Arc::clone(&read.program),
        };
        let files =
            [PathBuf::from(spec)].into_iter().chain(read.preprocessed.headers.iter().cloned()).collect();
        return Ok(Loaded { program, c: Some(Box::new(read)), files });
    }
    if !(options.define.is_empty() && options.include.is_empty()) {
        return Err(Error::wrong_input(format!("-D and -I are for C files, and `{spec}` is none")));
    }
    let mut files = Vec::new();
    let program = if shipped::source(spec).is_some() {
        shipped::load(spec)
            .ok_or_else(|| Error::internal(format!("the shipped stencil `{spec}` is broken")))?
    } else {
        files.push(PathBuf::from(spec));
        from_file(spec)?
    };
    let program = Arc::new(match dtype {
        Some(dtype) => program.with_element_type(dtype.element()),
        None => program,
    });
    Ok(Loaded { program, c: None, files })
}

/// Whether a SPEC is a C file.
fn is_c(spec: &str) -> bool {
    Path::new(spec).extension().is_some_and(|extension| extension == "c")
}

fn c_program(spec: &str, options: &CArguments) -> Result<CProgram> {
    let path = Path::new(spec);
    let failed =
        |source| Error::Execution(ExecutionError::File { action: "read", path: path.to_owned(), source });
    if spec.contains(char::is_control) {
        let message = format!("the name `{spec}` has an end of a line or another control character");
        return Err(Error::wrong_input(message).hint("choose another name"));
    }
    if path.is_dir() {
        return Err(Error::wrong_input(format!("`{spec}` is a folder; a C file was expected")));
    }
    Ok(c_frontend::read(path, &options.options()).map_err(failed)??)
}

fn from_file(spec: &str) -> Result<Program> {
    let path = Path::new(spec);
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("h" | "cc" | "cpp" | "cxx" | "cu") => {
            return Err(Error::wrong_input(format!("`{spec}` is neither a .stencil nor a .c file"))
                .hint("C files end in .c; C++ and CUDA cannot be read"));
        }
        None if !path.exists() && !spec.contains(std::path::MAIN_SEPARATOR) => {
            return Err(unknown_name(spec));
        }
        _ => {}
    }
    let failed =
        |source| Error::Execution(ExecutionError::File { action: "read", path: path.to_owned(), source });
    if path.is_dir() {
        return Err(Error::wrong_input(format!("`{spec}` is a folder; a .stencil or .c file was expected")));
    }
    let mut bytes = Vec::new();
    // One byte too many, for the reader to see that the file is too large.
    let limit = parser::MOST_BYTES as u64 + 1;
    input::open(path).map_err(failed)?.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    Ok(polyhedral::parse_bytes(spec, &bytes)?)
}

fn unknown_name(spec: &str) -> Error {
    let names = shipped::names();
    Error::wrong_input(format!("there is no stencil `{spec}`"))
        .maybe_hint(did_you_mean(spec, names.iter().copied()))
        .hint(format!("the shipped stencils are {}", names.join(", ")))
        .hint("a file of your own is named by its path, such as my.stencil")
}

/// The nearest of some names as a hint, if one is near enough.
pub fn did_you_mean<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let most = (word.chars().count() / 3).clamp(1, 3);
    candidates
        .map(|candidate| (strsim::osa_distance(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|&(distance, candidate)| distance <= most && distance < candidate.chars().count())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| format!("did you mean `{name}`?"))
}
