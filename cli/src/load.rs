//! SPEC: the name of a shipped stencil, or a file.

use crate::arguments::ElementTypeName;
use crate::error::{Error, Result};
use execution::ExecutionError;
use polyhedral::program::Program;
use polyhedral::{parser, shipped};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// The program that `spec` names, with all fields of type `dtype` where given.
///
/// # Errors
/// The mistakes in the file; or that there is no such stencil, with the nearest name and all names.
pub fn program(spec: &str, dtype: Option<ElementTypeName>) -> Result<Arc<Program>> {
    let program = if shipped::source(spec).is_some() {
        shipped::load(spec)
            .ok_or_else(|| Error::internal(format!("the shipped stencil `{spec}` is broken")))?
    } else {
        from_file(spec)?
    };
    Ok(Arc::new(match dtype {
        Some(dtype) => program.with_element_type(dtype.element()),
        None => program,
    }))
}

fn from_file(spec: &str) -> Result<Program> {
    let path = Path::new(spec);
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("c" | "h" | "cc" | "cpp" | "cu") => {
            return Err(Error::wrong_input(format!(
                "limitation: `{spec}` is C code, which cannot be read yet; only the stencil language can"
            ))
            .hint("write the stencil as a .stencil file; docs/language.md describes the language"));
        }
        None if !path.exists() && !spec.contains(std::path::MAIN_SEPARATOR) => {
            return Err(unknown_name(spec));
        }
        _ => {}
    }
    let failed =
        |source| Error::Execution(ExecutionError::File { action: "read", path: path.to_owned(), source });
    if path.is_dir() {
        return Err(Error::wrong_input(format!("`{spec}` is a folder; a .stencil file was expected")));
    }
    let mut bytes = Vec::new();
    // One byte too many, for the reader to see that the file is too large.
    let limit = parser::MOST_BYTES as u64 + 1;
    File::open(path).map_err(failed)?.take(limit).read_to_end(&mut bytes).map_err(failed)?;
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
