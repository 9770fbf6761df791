//! Generated text to a shared object, through the cache.

use super::command::OBJECT;
use super::probe::{Probe, Supported};
use super::{Compiler, Language};
use crate::cache::{Cache, Entry, Key};
use crate::error::{Error, Result};
use crate::library::Library;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The argument that makes a shared object, not a program.
pub(super) const SHARED: &str = "-shared";

/// A generated source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// A plain file name. Names that end in `.h`, `.hpp`, `.cuh` or `.inc` are written beside the others and
    /// not compiled themselves.
    pub name: String,
    /// The text.
    pub text: String,
}

impl SourceText {
    /// A file of this name and text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        SourceText { name: name.into(), text: text.into() }
    }

    fn is_header(&self) -> bool {
        [".h", ".hpp", ".cuh", ".inc"].iter().any(|ending| self.name.ends_with(ending))
    }

    pub(super) fn check(&self) -> Result<()> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let allowed = self.name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && self.name.chars().all(plain)
            && self.name != OBJECT;
        if allowed { Ok(()) } else { Err(Error::WrongSourceName(self.name.clone())) }
    }

    pub(super) fn write_all(sources: &[SourceText], folder: &Path) -> Result<()> {
        sources.iter().try_for_each(|source| {
            let path = folder.join(&source.name);
            std::fs::write(&path, &source.text).map_err(|error| Error::File {
                action: "write",
                path,
                source: error,
            })
        })
    }
}

/// How to compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileOptions {
    /// 0 to 3, as in `-O3`.
    pub optimization: u8,
    /// Little optimization that takes little time, for code that is soon thrown away and hardly computes itself; where the compiler has
    /// it, and unless there is to be none.
    pub quick: bool,
    /// OpenMP, where the compiler has it; else its directives are ignored and the code is sequential.
    pub openmp: bool,
    /// Code for the very processor of this machine, where the compiler can do that.
    pub native: bool,
    /// Allows fused multiply-add. Results then differ in the last bits from those of the reference.
    pub contraction: bool,
    /// Warnings are errors: for tests of generated code.
    pub strict: bool,
    /// Further arguments, as in `-DNAME=1`.
    pub arguments: Vec<String>,
}

impl Default for CompileOptions {
    /// `-O3 -march=native`, with OpenMP, without contraction.
    fn default() -> Self {
        CompileOptions {
            optimization: 3,
            quick: false,
            openmp: true,
            native: true,
            contraction: false,
            strict: false,
            arguments: Vec::new(),
        }
    }
}

/// A shared object, which stays in its place as long as this value lives.
#[derive(Debug, Clone)]
pub struct SharedObject {
    entry: Entry,
    /// Whether OpenMP directives have an effect.
    pub openmp: bool,
    /// The command line, paths relative to the folder of the shared object.
    pub command: String,
    /// What the user asked for and the compiler cannot do, in words.
    pub notes: Vec<String>,
}

impl SharedObject {
    /// The file.
    pub fn path(&self) -> PathBuf {
        self.entry.file(OBJECT)
    }

    /// Whether it was in the cache.
    pub fn from_cache(&self) -> bool {
        self.entry.hit()
    }
}

impl Compiler {
    /// Compiles and links sources to a shared object. The cache is asked first; the key is made of the
    /// sources, the arguments, all that tells the compiler from others, and the processor. A library that does not
    /// load is none, built or cached.
    ///
    /// # Errors
    /// [`Error::CompilerFailed`] with the command line and the first lines of the message;
    /// [`Error::WrongSourceName`]; [`Error::File`]; [`Error::Interrupted`].
    pub fn compile_shared(
        &self,
        sources: &[SourceText],
        options: &CompileOptions,
        cache: &Arc<Cache>,
    ) -> Result<SharedObject> {
        self.compile(sources, options, None, cache)
    }

    /// [`Compiler::compile_shared`], where something is compiled already: its key, and what the compiler is told of it.
    pub(super) fn compile(
        &self,
        sources: &[SourceText],
        options: &CompileOptions,
        common: Option<(&str, &[String])>,
        cache: &Arc<Cache>,
    ) -> Result<SharedObject> {
        sources.iter().try_for_each(SourceText::check)?;
        let supported = Probe::of(self, cache)?;
        let (mut arguments, notes) = self.arguments(sources, options, &supported);
        let mut keyed = arguments.clone();
        if let Some((key, more)) = common {
            // Its place makes no difference.
            keyed.push(key.to_owned());
            arguments.splice(0..0, more.iter().cloned());
        }
        let key = self.key_of("shared object", sources, &keyed);
        let build = |folder: &Path| {
            SourceText::write_all(sources, folder)?;
            self.run(folder, &arguments)?;
            Library::load(&folder.join(OBJECT)).map(drop).map_err(|error| Error::CompilerFailed {
                command: self.command_line(&arguments),
                status: "success, but without a library that can be loaded".to_owned(),
                message: error.to_string(),
            })
        };
        let loads = |folder: &Path| Library::load(&folder.join(OBJECT)).is_ok();
        let entry = cache.get_or_build_if(&key, &loads, &build)?;
        let openmp = options.openmp && supported.openmp.is_some();
        Ok(SharedObject { entry, openmp, command: self.command_line(&arguments), notes })
    }

    fn arguments(
        &self,
        sources: &[SourceText],
        options: &CompileOptions,
        supported: &Supported,
    ) -> (Vec<String>, Vec<String>) {
        let (mut arguments, notes) = self.code_arguments(options, supported);
        arguments.extend(["-o", OBJECT, "-x", self.language().option()].map(str::to_owned));
        arguments
            .extend(sources.iter().filter(|source| !source.is_header()).map(|source| source.name.clone()));
        arguments.extend(["-x", "none", "-lm"].map(str::to_owned));
        (arguments, notes)
    }

    /// The arguments before the names of files, and what of the options the compiler cannot do.
    pub(super) fn code_arguments(
        &self,
        options: &CompileOptions,
        supported: &Supported,
    ) -> (Vec<String>, Vec<String>) {
        let mut notes = Vec::new();
        let quick = supported.quick.clone().filter(|_| options.quick && options.optimization > 0);
        let mut arguments = vec![quick.unwrap_or_else(|| format!("-O{}", options.optimization.min(3)))];
        arguments.extend(supported.standard.clone());
        arguments.extend(["-fPIC", SHARED].map(str::to_owned));
        let contraction = if options.contraction { "fast" } else { "off" };
        arguments.push(format!("-ffp-contract={contraction}"));
        arguments.extend(supported.arithmetic.iter().cloned());
        if options.native {
            arguments.extend(supported.native.iter().cloned());
            if supported.native.is_empty() {
                notes.push(format!("{} has no -march=native; the code is for any processor", self.name()));
            }
        }
        if options.openmp {
            match &supported.openmp {
                Some(argument) => arguments.push(argument.clone()),
                None => notes.push(format!(
                    "{} has no OpenMP; the code runs on one core (install libgomp or libomp)",
                    self.name()
                )),
            }
        }
        if options.strict {
            arguments.extend(["-Wall", "-Wextra", "-Werror"].map(str::to_owned));
            if !(options.openmp && supported.openmp.is_some()) {
                arguments.push("-Wno-unknown-pragmas".to_owned());
            }
        }
        arguments.extend(options.arguments.iter().cloned());
        (arguments, notes)
    }

    pub(super) fn key_of(&self, kind: &str, sources: &[SourceText], arguments: &[String]) -> Key {
        let mut key = self.key(kind);
        for argument in arguments {
            key = key.with("argument", argument.as_bytes());
        }
        for source in sources {
            key = key.with("name", source.name.as_bytes()).with("text", source.text.as_bytes());
        }
        key.finish()
    }
}

/// Compiles C with the system's compiler and the user's cache.
///
/// # Errors
/// As for [`Compiler::find`], [`Cache::open`] and [`Compiler::compile_shared`].
pub fn compile_shared(sources: &[SourceText], options: &CompileOptions) -> Result<SharedObject> {
    Compiler::find(Language::C)?.compile_shared(sources, options, &Cache::open()?)
}

/// Compiles C++ with the system's compiler and the user's cache.
///
/// # Errors
/// As for [`compile_shared`].
pub fn compile_cxx_shared(sources: &[SourceText], options: &CompileOptions) -> Result<SharedObject> {
    Compiler::find(Language::Cxx)?.compile_shared(sources, options, &Cache::open()?)
}
