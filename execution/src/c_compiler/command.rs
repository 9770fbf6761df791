//! A C or C++ compiler as a command: found, named, and run.

use crate::cache::KeyBuilder;
use crate::error::{ExecutionError, Result};
use crate::machine;
use std::path::Path;
use std::time::Duration;
use toolchain::child;

pub use toolchain::compiler::Language;

/// Longest compilation.
const PATIENCE: Duration = Duration::from_secs(600);
/// Lines of the compiler's message that an error shows.
const MESSAGE_LINES: usize = 40;
/// Name of the shared object in its cache entry.
pub(super) const OBJECT: &str = "stencil.so";

/// Standards, the preferred one first.
pub(super) fn standards(language: Language) -> &'static [&'static str] {
    match language {
        Language::C => &["-std=gnu11", "-std=c11"],
        Language::Cxx => &["-std=gnu++20", "-std=gnu++17"],
    }
}

/// A compiler of this system.
#[derive(Debug, Clone)]
pub struct Compiler(pub(super) toolchain::compiler::Compiler);

impl Compiler {
    /// The compiler that `$CC` (`$CXX`) names, else the first of the usual names that works.
    ///
    /// # Errors
    /// [`ExecutionError::NoCompiler`] with what is wrong.
    pub fn find(language: Language) -> Result<Compiler> {
        Ok(Compiler(toolchain::compiler::Compiler::find(language)?))
    }

    /// The compiler behind a command such as `gcc-12` or `ccache gcc`.
    ///
    /// # Errors
    /// [`ExecutionError::NoCompiler`] with what is wrong.
    pub fn from_command(language: Language, command: &str) -> Result<Compiler> {
        Ok(Compiler(toolchain::compiler::Compiler::from_command(language, command)?))
    }

    /// The first line that the compiler says of itself.
    pub fn version(&self) -> &str {
        self.0.version()
    }

    /// The command, as in `gcc`.
    pub fn command(&self) -> String {
        self.0.name().to_owned()
    }

    /// A key of this compiler on this processor. The processor counts even where it is not asked for, which
    /// costs nothing within one machine.
    pub(super) fn identity(&self, kind: &str) -> KeyBuilder {
        KeyBuilder::new(kind)
            .with("compiler", self.0.identity())
            .with("processor", machine::cpu_identity().as_bytes())
    }

    pub(super) fn command_line(&self, arguments: &[String]) -> String {
        std::iter::once(self.0.name().to_owned())
            .chain(arguments.iter().cloned())
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Runs the compiler in `folder`.
    pub(super) fn run(&self, folder: &Path, arguments: &[String]) -> Result<()> {
        let failed = |status: String, message: String| ExecutionError::CompilerFailed {
            command: self.command_line(arguments),
            status,
            message,
        };
        let mut command = self.0.command();
        command.args(arguments).current_dir(folder);
        let output = match child::output(&mut command, b"", PATIENCE) {
            Ok(output) => output,
            Err(child::Failure::Interrupted) => return Err(ExecutionError::Interrupted),
            Err(failure) => return Err(failed(failure.to_string(), String::new())),
        };
        if output.status.success() {
            return Ok(());
        }
        crate::interrupt::check()?;
        let text = String::from_utf8_lossy(&output.stderr);
        let mut message: Vec<&str> = text.lines().take(MESSAGE_LINES).collect();
        if text.lines().nth(MESSAGE_LINES).is_some() {
            message.push("...");
        }
        Err(failed(output.status.to_string(), message.join("\n")))
    }
}
