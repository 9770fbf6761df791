//! What can go wrong with compilers, libraries, devices and the cache.

use crate::compiler::CompilerError;
use crate::interrupt::Interrupted;
use std::path::PathBuf;

/// Result of what compiles, loads and measures.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure, with what happened and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file operation failed.
    #[error("cannot {action} {}: {source}", .path.display())]
    File {
        /// What was tried, as in `read`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },

    /// There is no compiler.
    #[error(transparent)]
    NoCompiler(CompilerError),

    /// The cache's folder is not safe: others could change what is executed from it.
    #[error("the cache folder {} is not safe: {problem}", .path.display())]
    UnsafeCache {
        /// The folder.
        path: PathBuf,
        /// What is wrong, and the way out.
        problem: String,
    },

    /// The compiler refused the text, or died.
    #[error("the compiler failed ({status})\n  command: {command}\n{message}")]
    CompilerFailed {
        /// The command line.
        command: String,
        /// Its exit status.
        status: String,
        /// The first lines of what it wrote.
        message: String,
    },

    /// A source name that is not a plain file name.
    #[error("`{0}` cannot be the name of a source file: it must be a plain file name, without folders")]
    WrongSourceName(String),

    /// A shared object cannot be loaded.
    #[error("cannot load {}: {reason}", .path.display())]
    Load {
        /// The shared object.
        path: PathBuf,
        /// The loader's reason.
        reason: String,
    },

    /// There is no version of NVRTC that compiles for the device.
    #[error(
        "no NVRTC, NVIDIA's run-time compiler, compiles for compute capability {}.{} ({found}); run scripts/get-nvrtc.sh, or set CUDA_HOME to a CUDA toolkit",
        .architecture / 10, .architecture % 10
    )]
    NoNvrtc {
        /// Compute capability without the point.
        architecture: u32,
        /// The libraries that there are, in words.
        found: String,
    },

    /// There is no disassembler.
    #[error(
        "nvdisasm, NVIDIA's disassembler, cannot be used ({0}); run scripts/get-nvdisasm.sh, or set CUDA_HOME to a CUDA toolkit"
    )]
    NoDisassembler(String),

    /// There is no CUDA device that can be used.
    #[error("no CUDA device can be used: {0}")]
    NoDevice(String),

    /// The CUDA driver reported a failure.
    #[error("the CUDA device failed to {action}: {reason}")]
    Device {
        /// What was tried, as in `launch heat2d_phase0`.
        action: String,
        /// The driver's reason.
        reason: String,
    },

    /// Clock frequencies cannot be set here.
    #[error("the clocks of {of} cannot be set: {reason}")]
    NoClocks {
        /// Whose.
        of: &'static str,
        /// Why.
        reason: String,
    },

    /// A clock frequency was not set.
    #[error("the clocks cannot be set to {mhz} MHz: {reason}")]
    Clock {
        /// The frequency.
        mhz: u32,
        /// Why.
        reason: String,
    },

    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<CompilerError> for Error {
    fn from(error: CompilerError) -> Error {
        match error {
            CompilerError::Interrupted(_) => Error::Interrupted,
            _ => Error::NoCompiler(error),
        }
    }
}

impl From<Interrupted> for Error {
    fn from(_: Interrupted) -> Error {
        Error::Interrupted
    }
}
