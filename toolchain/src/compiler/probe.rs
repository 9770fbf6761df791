//! Which arguments a compiler understands, found by trying them.

use super::command::{OBJECT, standards};
use super::{Compiler, Language};
use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::machine;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// Name of the answers in their cache entry.
const ANSWERS: &str = "supported.json";
/// Arguments that make arithmetic faster and change no value: traps and `errno` are not looked at. And one that keeps values:
/// gcc 12 leaves the rounding out of `(double)(float)x` where it packs statements that follow each other into vectors, as in
/// the last rounds of a loop; loops have their vectors without that.
const ARITHMETIC: [&str; 3] = ["-fno-math-errno", "-fno-trapping-math", "-fno-tree-slp-vectorize"];

/// Half of gcc's time for `-O1`, and code that is not much slower where it only calls others.
const QUICK: &str = "-Og";

/// The arguments that work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Supported {
    pub standard: Option<String>,
    pub arithmetic: Vec<String>,
    /// Code for this processor; empty where the compiler cannot.
    pub native: Vec<String>,
    pub openmp: Option<String>,
    pub quick: Option<String>,
}

pub(super) struct Probe<'a> {
    compiler: &'a Compiler,
    folder: &'a Path,
}

impl Probe<'_> {
    /// What this compiler understands; remembered in the cache.
    pub fn of(compiler: &Compiler, cache: &Arc<Cache>) -> Result<Supported> {
        let key = compiler.key("arguments that it understands, with -Og").finish();
        let entry = cache.get_or_build(&key, &|folder: &Path| {
            let supported = Probe { compiler, folder }.supported()?;
            let path = folder.join(ANSWERS);
            let written = serde_json::to_string(&supported)
                .map_err(std::io::Error::other)
                .and_then(|text| std::fs::write(&path, text));
            written.map_err(|source| Error::File { action: "write", path, source })
        })?;
        let path = entry.file(ANSWERS);
        std::fs::read(&path)
            .and_then(|text| serde_json::from_slice(&text).map_err(std::io::Error::other))
            .map_err(|source| Error::File { action: "read", path, source })
    }

    fn supported(&self) -> Result<Supported> {
        let standards = standards(self.compiler.language());
        let mut native = vec!["-march=native"];
        if machine::cpu_has("avx512f") {
            native.push("-mprefer-vector-width=512");
        }
        let usual: Vec<&str> = [&standards[..1], &ARITHMETIC, &native, &["-fopenmp", QUICK]]
            .into_iter()
            .flatten()
            .copied()
            .collect();
        let owned = |arguments: &[&str]| arguments.iter().map(|&argument| argument.to_owned()).collect();
        // Nearly every compiler understands all; asked one by one it takes several times as long.
        if self.accepts(&usual)? {
            return Ok(Supported {
                standard: standards.first().map(|&standard| standard.to_owned()),
                arithmetic: owned(&ARITHMETIC),
                native: owned(&native),
                openmp: Some("-fopenmp".to_owned()),
                quick: Some(QUICK.to_owned()),
            });
        }
        // A compiler that cannot do this cannot do anything, and its message says why.
        self.try_with(&[])?;
        let mut supported = Supported {
            standard: self.first_accepted(standards)?,
            openmp: self.first_accepted(&["-fopenmp"])?,
            quick: self.first_accepted(&[QUICK])?,
            ..Supported::default()
        };
        for argument in ARITHMETIC {
            supported.arithmetic.extend(self.first_accepted(&[argument])?);
        }
        let processor = self.first_accepted(&["-march=native", "-mcpu=native"])?;
        supported.native.extend(processor);
        for argument in native.into_iter().skip(1) {
            supported.native.extend(self.first_accepted(&[argument])?);
        }
        Ok(supported)
    }

    fn first_accepted(&self, arguments: &[&str]) -> Result<Option<String>> {
        for argument in arguments {
            if self.accepts(&[argument])? {
                return Ok(Some((*argument).to_owned()));
            }
        }
        Ok(None)
    }

    fn accepts(&self, arguments: &[&str]) -> Result<bool> {
        match self.try_with(arguments) {
            Ok(()) => Ok(true),
            Err(Error::CompilerFailed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Compiles and links a file that needs the OpenMP library where `-fopenmp` is among the arguments.
    fn try_with(&self, arguments: &[&str]) -> Result<()> {
        let folder = tempfile::tempdir_in(self.folder).map_err(|source| Error::File {
            action: "make a folder in",
            path: self.folder.to_owned(),
            source,
        })?;
        let source = match self.compiler.language() {
            Language::C | Language::Mpi => "probe.c",
            Language::Cxx => "probe.cpp",
        };
        let path = folder.path().join(source);
        std::fs::write(&path, PROBE).map_err(|source| Error::File { action: "write", path, source })?;
        let mut all: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        // An argument that is understood but has no effect is a warning for some compilers.
        all.extend(["-Werror", "-fPIC", "-shared", "-o", OBJECT, source].map(str::to_owned));
        self.compiler.run(folder.path(), &all)
    }
}

const PROBE: &str = "\
#ifdef _OPENMP
#include <omp.h>
int probe(void) { return omp_get_max_threads(); }
#else
int probe(void) { return 1; }
#endif
";
