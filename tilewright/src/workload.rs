//! WORKLOAD: the name of a shipped workload of codesign, or a file.

use crate::error::{Error, Result};
use crate::load::load as load_stencil;
use crate::machines::MOST_TOML;
use execution::ExecutionError;
use optimizer::codesign::workload::Workload;
use optimizer::codesign::workload_file::Sources;
use polyhedral::program::Program;
use safe_io::input;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use text_escape::suggest;

/// The workload that `spec` names, and the text that it is from. Stencils and families are shipped ones, or files beside
/// it.
///
/// # Errors
/// Everything that is wrong in the file; or that there is no such workload, with the nearest name and all names.
pub fn load(spec: &str) -> Result<(Workload, String)> {
    let path = Path::new(spec);
    let (text, folder) = match Workload::source(spec) {
        Some(text) => (text.to_owned(), PathBuf::new()),
        None => {
            if !path.exists() && path.extension().is_none() {
                return Err(Error::wrong_input(format!("there is no workload `{spec}`"))
                    .maybe_hint(suggest::hint(spec, Workload::names().into_iter()))
                    .hint(format!("the shipped workloads are {}", Workload::names().join(", ")))
                    .hint("a file of your own is named by its path, such as my.toml"));
            }
            let text = input::read_text(path, MOST_TOML).map_err(|source| {
                Error::Execution(ExecutionError::File { action: "read", path: path.to_owned(), source })
            })?;
            (text, path.parent().unwrap_or(Path::new("")).to_owned())
        }
    };
    let sources = Sources {
        program: &|spec| program(&folder, spec),
        family: &|name| {
            input::read_text(&folder.join(name), MOST_TOML)
                .map_err(|error| format!("{name} cannot be read: {error}"))
        },
    };
    let workload =
        Workload::parse(spec, &text, &sources).map_err(|error| Error::wrong_input(error.to_string()))?;
    Ok((workload, text))
}

/// A shipped stencil, or a file beside the workload.
fn program(folder: &Path, spec: &str) -> std::result::Result<Arc<Program>, String> {
    let beside = folder.join(spec);
    let spec = match polyhedral::shipped::source(spec) {
        None if beside.exists() => beside.to_string_lossy().into_owned(),
        _ => spec.to_owned(),
    };
    load_stencil(&spec).map(|stencil| stencil.program).map_err(|error| match &error {
        Error::Request { message, hints, .. } => match hints.first() {
            Some(hint) => format!("{message}; {hint}"),
            None => message.clone(),
        },
        _ => error.to_string(),
    })
}
