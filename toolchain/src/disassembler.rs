//! NVIDIA's disassembler, `nvdisasm`: machine code as text.
//!
//! It is looked for in `$TILEWRIGHT_NVDISASM` (the program), in `target/nvdisasm`, where `scripts/get-nvdisasm.sh` puts it,
//! in CUDA toolkits (`$CUDA_HOME`, `$CUDA_PATH`), in `$PATH`, and in `/usr/local/cuda`.

use crate::cache::{Cache, KeyBuilder};
use crate::child::{self, Failure};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// File of a cache entry.
const LISTING: &str = "listing.txt";
/// Time that it may take.
const LIMIT: Duration = Duration::from_secs(120);

/// The program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disassembler {
    path: PathBuf,
    version: String,
}

impl Disassembler {
    /// The first one that runs.
    ///
    /// # Errors
    /// [`Error::NoDisassembler`] says how to get one.
    pub fn find() -> Result<Disassembler> {
        let mut broken = None;
        for path in candidates().into_iter().filter(|path| path.is_file()) {
            match Disassembler::at(&path) {
                Ok(found) => return Ok(found),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => broken = broken.or(Some(error)),
            }
        }
        Err(broken.unwrap_or_else(|| Error::NoDisassembler("none was found".to_owned())))
    }

    /// The one at this path.
    ///
    /// # Errors
    /// [`Error::NoDisassembler`] where it does not run.
    pub fn at(path: &Path) -> Result<Disassembler> {
        let asked = child::output(Command::new(path).arg("--version"), b"", LIMIT);
        let text = match asked {
            Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
            Ok(output) => {
                return Err(Error::NoDisassembler(format!("{} ends with {}", path.display(), output.status)));
            }
            Err(Failure::Interrupted) => return Err(Error::Interrupted),
            Err(failure) => return Err(Error::NoDisassembler(format!("{}: {failure}", path.display()))),
        };
        // `Cuda compilation tools, release 13.5, V13.5.37`
        let version = text.split_whitespace().find(|word| {
            word.strip_prefix('V').is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
        });
        let version = version.map_or_else(|| text.trim().to_owned(), |word| word[1..].to_owned());
        Ok(Disassembler { path: path.to_owned(), version })
    }

    /// Its version, as in `13.5.37`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The listing of machine code in an ELF file: its code, and the data of its constant banks. The cache is asked first.
    ///
    /// # Errors
    /// [`Error::CompilerFailed`] with what it says of a file that it cannot read, [`Error::File`], [`Error::Interrupted`].
    pub fn listing(&self, cubin: &[u8], cache: &Arc<Cache>) -> Result<String> {
        let key =
            KeyBuilder::new("listing").with("version", self.version.as_bytes()).with("cubin", cubin).finish();
        let entry = cache.get_or_build(&key, &|folder: &Path| {
            let file = folder.join("code.cubin");
            let failed = |action, path: &Path| {
                let path = path.to_owned();
                move |source| Error::File { action, path, source }
            };
            std::fs::write(&file, cubin).map_err(failed("write", &file))?;
            let mut command = Command::new(&self.path);
            let output = match child::output(command.arg(&file), b"", LIMIT) {
                Ok(output) => output,
                Err(Failure::Interrupted) => return Err(Error::Interrupted),
                Err(failure) => return Err(self.failed("no exit status", &failure.to_string())),
            };
            std::fs::remove_file(&file).map_err(failed("remove", &file))?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(self.failed(&output.status.to_string(), said.trim_end()));
            }
            let listing = folder.join(LISTING);
            std::fs::write(&listing, &output.stdout).map_err(failed("write", &listing))
        })?;
        let path = entry.file(LISTING);
        std::fs::read_to_string(&path).map_err(|source| Error::File { action: "read", path, source })
    }

    fn failed(&self, status: &str, message: &str) -> Error {
        Error::CompilerFailed {
            command: format!("{} CUBIN", self.path.display()),
            status: status.to_owned(),
            message: message.to_owned(),
        }
    }
}

/// Paths to try, in order.
fn candidates() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let program = |folder: PathBuf| folder.join("nvdisasm");
    let mut candidates: Vec<PathBuf> = variable("TILEWRIGHT_NVDISASM").into_iter().collect();
    // The program lies in target/release, a test in target/debug/deps.
    let own = std::env::current_exe().unwrap_or_default();
    candidates.extend(own.ancestors().skip(1).take(4).map(|folder| program(folder.join("nvdisasm"))));
    let toolkits = [variable("CUDA_HOME"), variable("CUDA_PATH")].into_iter().flatten();
    candidates.extend(toolkits.map(|toolkit| program(toolkit.join("bin"))));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    candidates.extend(std::env::split_paths(&paths).map(program));
    candidates.push(program(PathBuf::from("/usr/local/cuda/bin")));
    candidates
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn script(folder: &Path, text: &str) -> PathBuf {
        let path = folder.join("nvdisasm");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn listings_are_cached_and_failures_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let count = folder.path().join("count");
        let text = format!(
            "case $1 in --version) echo 'Cuda compilation tools, release 13.5, V13.5.37' ;;\n\
             *) echo x >>{}; grep -q good $1 || {{ echo 'no such code' >&2; exit 3; }}; echo listed ;; esac",
            count.display()
        );
        let found = Disassembler::at(&script(folder.path(), &text)).unwrap();
        assert_eq!(found.version(), "13.5.37");
        let cache = Cache::at(&folder.path().join("cache")).unwrap();
        for _ in 0..2 {
            assert_eq!(found.listing(b"good", &cache).unwrap(), "listed\n");
        }
        assert_eq!(std::fs::read_to_string(&count).unwrap().lines().count(), 1);
        let error = found.listing(b"bad", &cache).unwrap_err().to_string();
        assert!(error.contains("no such code"), "{error}");
    }

    #[test]
    fn a_program_that_does_not_run_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = script(folder.path(), "exit 4");
        let error = Disassembler::at(&path).unwrap_err().to_string();
        assert!(error.contains("nvdisasm") && error.contains("get-nvdisasm.sh"), "{error}");
    }
}
