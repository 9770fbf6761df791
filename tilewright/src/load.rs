//! SPEC: the name of a shipped stencil, or a file; loaded and analysed once.

use crate::c_program::{self, COptions, CProgram, LoopLeft};
use crate::error::{Error, Result};
use execution::ExecutionError;
use hhc_codegen::PlanError;
use polyhedral::analysis::{Analysis, analyze};
use polyhedral::arithmetic::Arithmetic;
use polyhedral::program::{ElementType, Program};
use polyhedral::{parser, shipped};
use safe_io::input;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use text_escape::suggest;

/// How a program is read.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// The type of all fields, in place of their own.
    pub element: Option<ElementType>,
    /// Macros and folders of headers, for C.
    pub c: COptions,
}

/// A program and what is known of it.
pub struct Stencil {
    /// The program.
    pub program: Arc<Program>,
    /// The C program that it was found in.
    pub c: Option<Box<CProgram>>,
    /// The other time loops of the same file.
    pub more: Vec<CProgram>,
    /// Those of its loops over time that are no iterated stencils.
    pub left: Vec<LoopLeft>,
    /// The files that were read: that of the program, and its headers.
    pub files: Vec<PathBuf>,
    /// Fields of which no more is wanted than in which steps something was added to them (`KernelPlan::with_witnesses`).
    pub witnesses: Vec<usize>,
    analysis: OnceLock<Arc<Analysis>>,
}

impl Stencil {
    /// A program that was made in another way than from a file.
    pub fn of(program: Arc<Program>) -> Stencil {
        Stencil {
            program,
            c: None,
            more: Vec::new(),
            left: Vec::new(),
            files: Vec::new(),
            witnesses: Vec::new(),
            analysis: OnceLock::new(),
        }
    }

    /// Its dependences, cone and counts; found when first asked for.
    ///
    /// # Errors
    /// Dependences that do not go forward in time, or that isl gives up on.
    pub fn analysis(&self) -> Result<Arc<Analysis>> {
        if let Some(known) = self.analysis.get() {
            return Ok(Arc::clone(known));
        }
        let found = analyze(&self.program).map_err(|error| PlanError::Analysis {
            stencil: self.program.name.clone(),
            reason: error.to_string(),
        })?;
        Ok(Arc::clone(self.analysis.get_or_init(|| Arc::new(found))))
    }

    /// The same program for code that may compute this in place of its own operations.
    pub fn with_arithmetic(&self, arithmetic: Arithmetic) -> Stencil {
        let program = Arc::new(Program { arithmetic, ..(*self.program).clone() });
        Stencil { files: self.files.clone(), ..Stencil::of(program) }
    }

    /// The same program under another name.
    pub fn renamed(&self, name: String) -> Stencil {
        let program = Arc::new(Program { name, ..(*self.program).clone() });
        Stencil { files: self.files.clone(), analysis: self.analysis.clone(), ..Stencil::of(program) }
    }
}

/// The program that `spec` names: a shipped stencil, a `.stencil` file or a C file.
///
/// # Errors
/// The mistakes in the file; or that there is no such stencil, with the nearest name and all names.
pub fn load(spec: &str) -> Result<Stencil> {
    load_with(spec, &LoadOptions::default())
}

/// The program that `spec` names, read in this way.
///
/// # Errors
/// As for [`load`].
pub fn load_with(spec: &str, options: &LoadOptions) -> Result<Stencil> {
    let typed = |program: Program| match options.element {
        Some(element) => program.with_element_type(element),
        None => program,
    };
    if is_c(spec) {
        let (mut read, left) = c_program(spec, &options.c)?;
        let more = read.split_off(1.min(read.len()));
        let Some(read) = read.pop() else {
            return Err(Error::internal(format!("no time loop of `{spec}` was read")));
        };
        let program = match options.element {
            Some(_) => Arc::new(typed((**c_program::program(&read)).clone())),
            None => Arc::clone(c_program::program(&read)),
        };
        let files = [PathBuf::from(spec)].into_iter().chain(c_program::headers(&read).iter().cloned());
        return Ok(Stencil {
            files: files.collect(),
            c: Some(Box::new(read)),
            more,
            left,
            ..Stencil::of(program)
        });
    }
    // What is written for is asked of no file.
    if (COptions { processor: false, ..options.c.clone() }) != COptions::default() {
        return Err(Error::wrong_input(format!(
            "-D, -I, --function and --no-own-openmp are for C files, and `{spec}` is none"
        )));
    }
    if shipped::source(spec).is_some() {
        let program = shipped::load(spec)
            .ok_or_else(|| Error::internal(format!("the shipped stencil `{spec}` is broken")))?;
        return Ok(Stencil::of(Arc::new(typed(program))));
    }
    let program = Arc::new(typed(from_file(spec)?));
    Ok(Stencil { files: vec![PathBuf::from(spec)], ..Stencil::of(program) })
}

/// Whether a SPEC is a C file.
fn is_c(spec: &str) -> bool {
    Path::new(spec).extension().is_some_and(|extension| extension == "c")
}

fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    |source| Error::Execution(ExecutionError::File { action: "read", path: path.to_owned(), source })
}

fn c_program(spec: &str, options: &COptions) -> Result<(Vec<CProgram>, Vec<LoopLeft>)> {
    let path = Path::new(spec);
    if spec.contains(char::is_control) {
        let message = format!("the name `{spec}` has an end of a line or another control character");
        return Err(Error::wrong_input(message).hint("choose another name"));
    }
    if path.is_dir() {
        return Err(Error::wrong_input(format!("`{spec}` is a folder; a C file was expected")));
    }
    c_program::read(path, options)
}

fn from_file(spec: &str) -> Result<Program> {
    let path = Path::new(spec);
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("h" | "cc" | "cpp" | "cxx" | "cu") => {
            return Err(Error::wrong_input(format!("`{spec}` is neither a .stencil nor a .c file")).hint(
                "C++ and CUDA cannot be read; a program that is plain C can, under a name that ends in .c",
            ));
        }
        Some("f" | "for" | "ftn" | "f77" | "f90" | "f95" | "f03" | "f08" | "f18") => {
            return Err(Error::wrong_input(format!("`{spec}` is a Fortran file, which cannot be read"))
                .hint("write its time loop in C or in the stencil language"));
        }
        None if !path.exists() && !spec.contains(std::path::MAIN_SEPARATOR) => {
            return Err(unknown_name(spec));
        }
        _ => {}
    }
    if path.is_dir() {
        return Err(Error::wrong_input(format!("`{spec}` is a folder; a .stencil or .c file was expected")));
    }
    let mut bytes = Vec::new();
    // One byte too many, for the reader to see that the file is too large.
    let limit = parser::MOST_BYTES as u64 + 1;
    let file = input::open(path).map_err(unreadable(path))?;
    file.take(limit).read_to_end(&mut bytes).map_err(unreadable(path))?;
    Ok(polyhedral::parse_bytes(spec, &bytes)?)
}

fn unknown_name(spec: &str) -> Error {
    let names = shipped::names();
    Error::wrong_input(format!("there is no stencil `{spec}`"))
        .maybe_hint(suggest::hint(spec, names.iter().copied()))
        .hint(format!("the shipped stencils are {}", names.join(", ")))
        .hint("a file of your own is named by its path, such as my.stencil")
}
