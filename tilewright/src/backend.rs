//! The back ends: what a stencil can run on.

use toolchain::compiler::{Compiler, Language};
use toolchain::driver;

/// What runs a stencil.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Compiled C on all cores.
    OpenMp,
    /// A GPU.
    Cuda,
    /// The CUDA code on the CPU, every access checked.
    Emulator,
    /// The plain interpreter that defines the right result.
    Reference,
}

/// A back end, and whether it can be used on this machine.
#[derive(Debug, Clone)]
pub struct Availability {
    /// Which.
    pub backend: Backend,
    /// Whether it can be used.
    pub available: bool,
    /// What it is; or why it cannot be used.
    pub description: String,
}

impl Backend {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Backend::OpenMp => "openmp",
            Backend::Cuda => "cuda",
            Backend::Emulator => "emulator",
            Backend::Reference => "reference",
        }
    }
}

/// All back ends.
pub fn all() -> Vec<Availability> {
    let compiled = |backend, language, what: &str| match Compiler::find(language) {
        Ok(compiler) => (backend, true, format!("{what}, with {}", compiler.version())),
        Err(error) => (backend, false, error.to_string()),
    };
    let cuda = match driver::is_available() {
        Ok(device) => (Backend::Cuda, true, format!("the CUDA code on {}", device.name)),
        Err(error) => (Backend::Cuda, false, error.to_string()),
    };
    let reference = "the plain interpreter that defines the right result".to_owned();
    [
        compiled(Backend::OpenMp, Language::C, "compiled C on all cores"),
        cuda,
        compiled(Backend::Emulator, Language::Cxx, "the CUDA code on the CPU, every access checked"),
        (Backend::Reference, true, reference),
    ]
    .map(|(backend, available, description)| Availability { backend, available, description })
    .into()
}
