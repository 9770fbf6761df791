//! The extension module `tilewright._tilewright`: what the package `tilewright` in `python/tilewright` cannot do itself.
//!
//! Python checks and explains what its users give; here programs are parsed, built and run on buffers. Every long call
//! lets other threads of Python run and looks for Ctrl-C.

mod buffers;
mod build;
mod device;
mod errors;
mod interpreter;
mod program;
mod recorded;
mod search;
mod watched;

use pyo3::prelude::*;

/// What `python/tilewright` calls.
#[pymodule]
mod _tilewright {
    #[pymodule_export]
    use super::buffers::copy;
    #[pymodule_export]
    use super::build::Built;
    #[pymodule_export]
    use super::device::{DeviceMemory, device_of, dlpack};
    #[pymodule_export]
    use super::interpreter::ending;
    #[pymodule_export]
    use super::program::Program;
    #[pymodule_export]
    use super::recorded::{record, recorded};
    #[pymodule_export]
    use super::search::Search;
    #[pymodule_export]
    use super::{main, shipped, version};
}

/// The version.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Names of the shipped stencils.
#[pyfunction]
fn shipped() -> Vec<&'static str> {
    polyhedral::shipped::names()
}

/// The `tilewright` command with these arguments, the name of the command first; returns its exit code. It handles signals
/// and prints: for a process of its own.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| tilewright_cli::run(arguments))
}
