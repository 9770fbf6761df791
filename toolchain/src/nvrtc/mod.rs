//! CUDA text compiled by NVRTC: to machine code for one kind of device, with the compiler's own figures of
//! what each kernel needs. No device is needed.
//!
//! Libraries are looked for in `$TILEWRIGHT_NVRTC` (a folder or a library), in CUDA toolkits (`$CUDA_HOME`,
//! `$CUDA_PATH`, `/usr/local/cuda`), in `target/nvrtc` where `scripts/get-nvrtc.sh` puts them, and where the
//! system's loader looks; with `TILEWRIGHT_NVRTC=none`, nowhere. CUDA 13 no longer compiles for compute
//! capability 7.0, which CUDA 12 does; the newest library that compiles for the device at hand is taken.

mod library;
mod resources;

pub use resources::{KernelResources, REGISTER_PORTION, REGISTERS, WARP};

use crate::cache::{Cache, KeyBuilder};
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::interrupt;
use library::NvrtcLibrary;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// Files of a cache entry.
const CUBIN: &str = "kernels.cubin";
const PTX: &str = "kernels.ptx";
const LOG: &str = "log.txt";

/// How to compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CudaOptions {
    /// Compute capability without the point, as in 80.
    pub architecture: u32,
    /// Allows fused multiply-add. Results then differ in the last bits from those of the reference.
    pub contraction: bool,
    /// Further options of NVRTC, as in `--maxrregcount=64`.
    pub arguments: Vec<String>,
}

impl CudaOptions {
    /// For this compute capability, without contraction.
    pub fn new(architecture: u32) -> Self {
        CudaOptions { architecture, contraction: false, arguments: Vec::new() }
    }

    fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![
            format!("--gpu-architecture=sm_{}", self.architecture),
            format!("--fmad={}", self.contraction),
            "--std=c++17".to_owned(),
            "--define-macro=TW_DEVICE_ONLY=1".to_owned(),
            "--ptxas-options=-v".to_owned(),
        ];
        arguments.extend(self.arguments.iter().cloned());
        arguments
    }
}

/// Machine code of kernels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledCuda {
    /// Machine code in an ELF file.
    pub cubin: Vec<u8>,
    /// The virtual machine code that it was made of.
    pub ptx: String,
    /// Warnings of the compiler about the text, one per element, with their places.
    pub warnings: Vec<String>,
    /// What each kernel needs.
    pub kernels: Vec<KernelResources>,
    /// Whether it was in the cache.
    pub from_cache: bool,
}

/// A library in words, for reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvrtcFacts {
    /// The file.
    pub path: PathBuf,
    /// As in `13.0`.
    pub version: String,
    /// Compute capabilities, as in 80.
    pub architectures: Vec<u32>,
}

/// A version of NVRTC.
#[derive(Debug, Clone)]
pub struct Nvrtc {
    library: NvrtcLibrary,
}

impl Nvrtc {
    /// All libraries found, the newest version first. They are opened once in the life of the process.
    pub fn all() -> &'static [Nvrtc] {
        static ALL: LazyLock<Vec<Nvrtc>> = LazyLock::new(find_all);
        &ALL
    }

    /// The newest library that compiles for this compute capability.
    ///
    /// # Errors
    /// [`Error::NoNvrtc`] says what there is and how to get another.
    pub fn for_architecture(architecture: u32) -> Result<&'static Nvrtc> {
        Nvrtc::for_driver(architecture, i32::MAX)
    }

    /// The newest library that compiles for this compute capability and is not of a later major version of
    /// CUDA than the driver, which could not load its code.
    ///
    /// # Errors
    /// As for [`Nvrtc::for_architecture`].
    pub fn for_driver(architecture: u32, driver_major: i32) -> Result<&'static Nvrtc> {
        let suitable = |nvrtc: &&Nvrtc| {
            nvrtc.library.version.0 <= driver_major && nvrtc.library.architectures.contains(&architecture)
        };
        Nvrtc::all().iter().find(suitable).ok_or_else(|| {
            let found: Vec<String> = Nvrtc::all()
                .iter()
                .map(|nvrtc| format!("{} at {}", nvrtc.version(), nvrtc.library.path.display()))
                .collect();
            let found = if is_unwanted() {
                "$TILEWRIGHT_NVRTC asks for none".to_owned()
            } else if found.is_empty() {
                "none was found".to_owned()
            } else {
                format!("found {}", found.join(", "))
            };
            Error::NoNvrtc { architecture, found }
        })
    }

    /// Compiles one text for several compute capabilities at once, each in a thread of its own. A capability that no
    /// library compiles for is left out; the others come in the order of `architectures`, with their libraries.
    ///
    /// # Errors
    /// As for [`Nvrtc::compile`].
    pub fn compile_for_each(
        architectures: &[u32],
        source: &str,
        name: &str,
        cache: &Arc<Cache>,
    ) -> Result<Vec<(u32, &'static Nvrtc, CompiledCuda)>> {
        let known = (architectures.iter())
            .filter_map(|&architecture| Some((architecture, Nvrtc::for_architecture(architecture).ok()?)));
        let known: Vec<(u32, &'static Nvrtc)> = known.collect();
        let token = &Cancel::current();
        let compiled: Vec<Result<CompiledCuda>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (known.iter())
                .map(|&(architecture, nvrtc)| {
                    let compile = move || nvrtc.compile(source, name, &CudaOptions::new(architecture), cache);
                    scope.spawn(move || token.scope(compile))
                })
                .collect();
            let joined = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            joined.collect()
        });
        known
            .into_iter()
            .zip(compiled)
            .map(|((architecture, nvrtc), result)| Ok((architecture, nvrtc, result?)))
            .collect()
    }

    /// Opens the library at this path.
    ///
    /// # Errors
    /// [`Error::Load`].
    pub fn open(path: &Path) -> Result<Nvrtc> {
        Ok(Nvrtc { library: NvrtcLibrary::open(path)? })
    }

    /// Its version, as in `13.0`.
    pub fn version(&self) -> String {
        format!("{}.{}", self.library.version.0, self.library.version.1)
    }

    /// The library in words.
    pub fn facts(&self) -> NvrtcFacts {
        NvrtcFacts {
            path: self.library.path.clone(),
            version: self.version(),
            architectures: self.library.architectures.clone(),
        }
    }

    /// Compiles CUDA text whose host code `TW_DEVICE_ONLY` hides. The cache is asked first. `name` stands in
    /// messages, as in `heat2d.cu`.
    ///
    /// # Errors
    /// [`Error::CompilerFailed`] with the compiler's messages; [`Error::File`];
    /// [`Error::Interrupted`].
    pub fn compile(
        &self,
        source: &str,
        name: &str,
        options: &CudaOptions,
        cache: &Arc<Cache>,
    ) -> Result<CompiledCuda> {
        let arguments = options.arguments();
        let mut key = KeyBuilder::new("cuda").with("version", self.version().as_bytes());
        for argument in &arguments {
            key = key.with("argument", argument.as_bytes());
        }
        let key = key.with("name", name.as_bytes()).with("text", source.as_bytes()).finish();
        let entry = cache.get_or_build(&key, &|folder: &Path| {
            interrupt::check()?;
            let compiled = self.library.compile(source, name, &arguments)?;
            if compiled.code != 0 {
                return Err(Error::CompilerFailed {
                    command: format!("NVRTC {} {}", self.version(), arguments.join(" ")),
                    status: format!("error {}", compiled.code),
                    message: compiled.log.trim_end().to_owned(),
                });
            }
            let files: [(&str, &[u8]); 3] =
                [(CUBIN, &compiled.cubin), (PTX, compiled.ptx.as_bytes()), (LOG, compiled.log.as_bytes())];
            files.into_iter().try_for_each(|(name, bytes)| {
                let path = folder.join(name);
                std::fs::write(&path, bytes).map_err(|source| Error::File { action: "write", path, source })
            })
        })?;
        let read = |name: &str| {
            let path = entry.file(name);
            std::fs::read(&path).map_err(|source| Error::File { action: "read", path, source })
        };
        let log = String::from_utf8_lossy(&read(LOG)?).into_owned();
        Ok(CompiledCuda {
            cubin: read(CUBIN)?,
            ptx: String::from_utf8_lossy(&read(PTX)?).into_owned(),
            warnings: warnings(&log, name),
            kernels: resources::from_log(&log),
            from_cache: entry.hit(),
        })
    }
}

/// Warnings about the text: they begin with `NAME(LINE): warning`, and go on to an empty line.
fn warnings(log: &str, name: &str) -> Vec<String> {
    let mut warnings: Vec<String> = Vec::new();
    let mut inside = false;
    for line in log.lines() {
        let starts = line.starts_with(&format!("{name}(")) && line.contains("warning");
        if starts {
            warnings.push(String::new());
        }
        inside = (inside || starts) && !line.trim().is_empty();
        if let (true, Some(last)) = (inside, warnings.last_mut()) {
            last.push_str(line);
            last.push('\n');
        }
    }
    warnings.iter_mut().for_each(|warning| warning.truncate(warning.trim_end().len()));
    warnings
}

/// Whether no library is to be used: what it says of a text takes it seconds.
fn is_unwanted() -> bool {
    std::env::var_os("TILEWRIGHT_NVRTC").is_some_and(|value| value == "none")
}

fn find_all() -> Vec<Nvrtc> {
    let mut found: Vec<Nvrtc> = Vec::new();
    if is_unwanted() {
        return found;
    }
    for path in candidates() {
        if let Ok(nvrtc) = Nvrtc::open(&path)
            && found.iter().all(|known| known.library.version != nvrtc.library.version)
        {
            found.push(nvrtc);
        }
    }
    found.sort_by_key(|nvrtc| std::cmp::Reverse(nvrtc.library.version));
    found
}

/// Paths and names to try; the first one of a version is taken.
fn candidates() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut candidates = Vec::new();
    let mut folders = Vec::new();
    if let Some(named) = variable("TILEWRIGHT_NVRTC") {
        if named.is_file() {
            candidates.push(named);
        } else {
            folders.push(named);
        }
    }
    let toolkits = [variable("CUDA_HOME"), variable("CUDA_PATH"), Some(PathBuf::from("/usr/local/cuda"))];
    for toolkit in toolkits.into_iter().flatten() {
        folders.extend(
            ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"]
                .map(|lib| toolkit.join(lib)),
        );
    }
    // The program lies in target/release, a test in target/debug/deps.
    let program = std::env::current_exe().unwrap_or_default();
    for ancestor in program.ancestors().skip(1).take(4) {
        folders.extend(["nvrtc/13", "nvrtc/12"].map(|folder| ancestor.join(folder)));
    }
    candidates.extend(folders.iter().flat_map(|folder| libraries_in(folder)));
    candidates.extend(["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"].map(PathBuf::from));
    candidates
}

/// The files `libnvrtc.so*` of a folder.
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut libraries: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("libnvrtc.so"))
        .map(|entry| entry.path())
        .collect();
    libraries.sort();
    libraries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_those_of_the_text() {
        let log = "a.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n  int x;\n      ^\n\n\
            Remark: The warnings can be suppressed\n\nptxas info    : 0 bytes gmem\n";
        let found = warnings(log, "a.cu");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a.cu(3)") && found[0].ends_with('^'), "{found:?}");
        assert!(warnings("ptxas info    : 0 bytes gmem\n", "a.cu").is_empty());
    }
}
