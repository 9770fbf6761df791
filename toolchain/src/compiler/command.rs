//! A compiler at work: the key of what it makes, its command line, its messages.

use super::{Compiler, Language};
use crate::cache::KeyBuilder;
use crate::child;
use crate::error::{Error, Result};
use crate::{interrupt, machine};
use std::path::Path;
use std::time::Duration;

/// Longest compilation.
const PATIENCE: Duration = Duration::from_secs(600);
/// Lines of the compiler's message that an error shows.
const MESSAGE_LINES: usize = 40;
/// Name of the shared object in its cache entry.
pub(super) const OBJECT: &str = "stencil.so";

/// Standards, the preferred one first.
pub(super) fn standards(language: Language) -> &'static [&'static str] {
    match language {
        Language::C | Language::Mpi => &["-std=gnu11", "-std=c11"],
        Language::Cxx => &["-std=gnu++20", "-std=gnu++17"],
    }
}

impl Compiler {
    /// A key of this compiler on this processor. The processor counts even where it is not asked for, which
    /// costs nothing within one machine.
    pub(super) fn key(&self, kind: &str) -> KeyBuilder {
        KeyBuilder::new(kind)
            .with("compiler", self.identity())
            .with("processor", machine::cpu_identity().as_bytes())
    }

    pub(super) fn command_line(&self, arguments: &[String]) -> String {
        std::iter::once(self.name().to_owned()).chain(arguments.iter().cloned()).collect::<Vec<_>>().join(" ")
    }

    /// Runs the compiler in `folder`.
    pub(super) fn run(&self, folder: &Path, arguments: &[String]) -> Result<()> {
        let failed = |status: String, message: String| Error::CompilerFailed {
            command: self.command_line(arguments),
            status,
            message,
        };
        let mut command = self.command();
        command.args(arguments).current_dir(folder);
        let output = match child::output(&mut command, b"", PATIENCE) {
            Ok(output) => output,
            Err(child::Failure::Interrupted) => return Err(Error::Interrupted),
            Err(failure) => return Err(failed(failure.to_string(), String::new())),
        };
        if output.status.success() {
            return Ok(());
        }
        interrupt::check()?;
        let text = String::from_utf8_lossy(&output.stderr);
        let mut message: Vec<&str> = text.lines().take(MESSAGE_LINES).collect();
        if text.lines().nth(MESSAGE_LINES).is_some() {
            message.push("...");
        }
        Err(failed(output.status.to_string(), message.join("\n")))
    }
}
