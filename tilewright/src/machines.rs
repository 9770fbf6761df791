//! MACHINE: the name of a shipped machine, or a file.

use crate::error::{Error, Kind, Result};
use crate::state;
use cost_models::machine::{self, Machine, MachineError};
use execution::ExecutionError;
use std::path::{Path, PathBuf};
use text_escape::suggest;

/// Largest machine, workload and family file.
pub const MOST_TOML: u64 = 1 << 20;

/// The machine that `spec` names; a GPU without a calibration has stated constants ([`Machine::with_stated_constants`]).
///
/// # Errors
/// Everything that is wrong in the file; or that there is no such machine, with the nearest name and all names.
pub fn machine(spec: &str) -> Result<Machine> {
    if let Some(shipped) = machine::shipped(spec) {
        return shipped.map_err(|error| Error::internal(error.to_string()));
    }
    let path = &state::machine_to_read(Path::new(spec))?;
    if path.extension().is_none() && !path.exists() && !spec.contains(std::path::MAIN_SEPARATOR) {
        let names = machine::names();
        return Err(Error::wrong_input(format!("there is no machine `{spec}`"))
            .maybe_hint(suggest::hint(spec, names.iter().copied()))
            .hint(format!("the shipped machines are {}", names.join(", ")))
            .hint(
                "a file of your own is named by its path, such as my.toml; `tilewright calibrate` writes one",
            ));
    }
    let failed =
        |source| Error::Execution(ExecutionError::File { action: "read", path: path.to_owned(), source });
    if path.is_dir() {
        return Err(Error::wrong_input(format!("`{spec}` is a folder; a machine file was expected")));
    }
    let text = safe_io::input::read_text(path, MOST_TOML).map_err(failed)?;
    let machine = Machine::parse(&path.display().to_string(), &text).map_err(wrong)?;
    // A data sheet alone: its constants are stated ones.
    Ok(if machine.calibration.is_none() { machine.with_stated_constants() } else { machine })
}

/// The file that `spec` names; `None` for a shipped machine.
pub fn file(spec: &str) -> Option<PathBuf> {
    let path = PathBuf::from(spec);
    machine::shipped(spec).is_none().then(|| state::machine_to_read(&path).unwrap_or(path))
}

fn wrong(error: MachineError) -> Error {
    let known = machine::names().join(", ");
    Error::Request {
        kind: Kind::WrongInput,
        message: error.to_string(),
        hints: vec![format!(
            "docs/models.md describes machine files; for examples see the shipped ones: {known}"
        )],
    }
}
