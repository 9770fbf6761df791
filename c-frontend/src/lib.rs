//! Iterated stencils in C: from a `#pragma scop` region to a stencil program, and back into the C program.
//!
//! The road: a file → [`preprocess`] → [`parse`] → [`nest`] → [`recognise`] → the program, and [`rewrite`] from
//! there. Every stage has its own
//! type, and places of the user's own file, so that what is refused is shown where it stands.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("heat.c");
//! std::fs::write(
//!     &file,
//!     "float a[2][100];
//!      int main(void) {
//!      #pragma scop
//!        for (int t = 0; t < 10; t++)
//!          for (int i = 1; i < 99; i++)
//!            a[(t+1)%2][i] = 0.5f * a[t%2][i-1] + 0.5f * a[t%2][i+1];
//!      #pragma endscop
//!        return 0;
//!      }",
//! )?;
//! match c_frontend::read(&file, &c_frontend::Options::default())? {
//!     Ok(c) => assert_eq!(c.program.dimension(), 1),
//!     Err(diagnostics) => println!("{diagnostics}"), // why it is no iterated stencil, or that no C compiler is there
//! }
//! # Ok(())
//! # }
//! ```

pub mod ast;
pub mod codes;
mod find;
mod inline;
mod integer;
pub mod nest;
mod obstacle;
mod others;
mod over_space;
mod own_pragmas;
pub mod parse;
pub mod polynomial;
pub mod preprocess;
mod program;
pub mod recognise;
pub mod rewrite;
mod small;
pub mod text;
mod told;

pub use find::{Found, Left};
pub use nest::Nest;
pub use parse::Region;
pub use preprocess::{Options, OwnPragmas, Preprocessed};
pub use program::CProgram;
pub use recognise::Stencil;
pub use toolchain::compiler::OwnOpenMp;

use own_pragmas::OwnFile;
use polyhedral::diagnostic::{Diagnostic, Diagnostics};
use polyhedral::source::SourceFile;
use std::path::Path;
use std::sync::Arc;

/// Reads a C program: its first time loop.
///
/// # Errors
/// A file that cannot be read is an `std::io::Error`; a program that is no iterated stencil is a list of diagnostics.
pub fn read(path: &Path, options: &Options) -> std::io::Result<Result<CProgram, Diagnostics>> {
    let first = |found: Found| found.taken.into_iter().next();
    let none = || {
        let source = Arc::new(SourceFile { name: path.display().to_string(), text: String::new() });
        Diagnostics::new(
            source,
            vec![Diagnostic::internal(0..0, "no time loop was taken, and no reason given")],
        )
    };
    Ok(read_all(path, options)?.and_then(|found| first(found).ok_or_else(none)))
}

/// Reads a C program: all time loops of its file; where it has none, or its loops only call functions of the other sources that stay
/// as they are, those of the first of these that has some, which takes the file's place.
///
/// # Errors
/// As for [`read`].
pub fn read_all(path: &Path, options: &Options) -> std::io::Result<Result<Found, Diagnostics>> {
    let options = &Options { kept: Default::default(), ..options.clone() };
    let found = read_as(path, &Options { openmp: OwnOpenMp::Off, ..options.clone() })?;
    Ok(match options.openmp {
        OwnOpenMp::Off => found,
        OwnOpenMp::AsNeeded | OwnOpenMp::On => found.map(|found| with_pragmas(found, options)),
    })
}

/// Reads a C program with exactly these options.
fn read_as(path: &Path, options: &Options) -> std::io::Result<Result<Found, Diagnostics>> {
    let preprocessed = match preprocess::preprocess(path, options)? {
        Ok(preprocessed) => preprocessed,
        Err(reasons) => return Ok(Err(reasons)),
    };
    let marked = !preprocessed.marks.is_empty();
    let main = (!marked).then(|| preprocessed.clone());
    let check = |program: &CProgram| preprocess::check_cut(program, path, options);
    let found = on_large_stack(preprocessed, path, options, &check);
    Ok(match (found, main) {
        (Err(reasons), Some(main)) if has_no_time_loop(&reasons) => {
            elsewhere(&main, path, options).unwrap_or(Err(reasons))
        }
        // The function that is called may have the time loop.
        (Err(reasons), Some(main)) if are_calls_beyond(&reasons) => {
            elsewhere(&main, path, options).filter(Result::is_ok).unwrap_or(Err(reasons))
        }
        (found, _) => found,
    })
}

fn has_no_time_loop(reasons: &Diagnostics) -> bool {
    reasons.list.iter().all(|reason| reason.code == codes::NO_SCOP)
}

/// Whether all reasons are calls of functions whose source is another one: these have no place of their own in this one.
fn are_calls_beyond(reasons: &Diagnostics) -> bool {
    reasons.list.iter().all(|reason| {
        let beyond = reason.related.iter().any(|label| label.span == reason.primary.span);
        reason.code == codes::CALL && beyond
    })
}

/// The time loops of the first of the other sources that has some that can be taken, or else the reasons of the first that has some.
fn elsewhere(main: &Preprocessed, path: &Path, options: &Options) -> Option<Result<Found, Diagnostics>> {
    let others = others::of(main, path, options);
    let paths: Vec<&Path> = others.iter().map(|other| other.path.as_path()).collect();
    let mut refused = None;
    for other in &others {
        let Some(preprocessed) = other.preprocessed.clone() else { continue };
        let with = std::iter::once(path).chain(paths.iter().copied().filter(|one| *one != other.path));
        let options = Options { with: with.map(Path::to_owned).collect(), ..options.clone() };
        let check = |program: &CProgram| preprocess::check_cut(program, &other.path, &options);
        match on_large_stack(preprocessed, &other.path, &options, &check) {
            Ok(found) => return Some(Ok(found)),
            Err(reasons) if has_no_time_loop(&reasons) => {}
            Err(reasons) => refused = refused.or(Some(reasons)),
        }
    }
    refused.map(Err)
}

/// Lets the program's own OpenMP pragmas mean what they say, where that can be.
fn with_pragmas(found: Found, options: &Options) -> Found {
    let Some(first) = found.taken.first() else { return found };
    let path = first.file.clone();
    let options = &Options { with: first.others.clone(), ..options.clone() };
    let files = find::own_files(&first.preprocessed, &path, options);
    if !files.iter().any(OwnFile::has_pragmas) {
        return found;
    }
    match read_with_pragmas(&found, &files, &path, options) {
        Ok(again) => again.unwrap_or(found).with_own_pragmas(OwnPragmas::Kept),
        Err(why) => found.with_own_pragmas(OwnPragmas::Left(why)),
    }
}

/// The program as a compiler with OpenMP reads it, if that is another one than was found.
fn read_with_pragmas(
    found: &Found,
    files: &[OwnFile],
    path: &Path,
    options: &Options,
) -> Result<Option<Found>, String> {
    let options = Options { openmp: OwnOpenMp::On, ..options.clone() };
    let refused = |found: &Diagnostics| {
        found.list.first().map_or_else(|| "no reason is known".to_owned(), |first| first.message.clone())
    };
    let read = preprocess::preprocess(path, &options).map_err(|error| error.to_string())?;
    let read = read.map_err(|reason| format!("with -fopenmp the compiler says: {}", refused(&reason)))?;
    let same = found.taken.first().is_some_and(|first| first.preprocessed.text == read.text);
    let again =
        if same && !files.iter().any(OwnFile::asks_for_openmp) {
            None
        } else {
            let again = read_as(path, &options).map_err(|error| error.to_string())?;
            Some(again.map_err(|reason| {
                format!("with -fopenmp the program is another one: {}", refused(&reason))
            })?)
        };
    own_pragmas::keep(&again.as_ref().unwrap_or(found).taken, files)?;
    Ok(again)
}

/// The time loops of a preprocessed file.
///
/// # Errors
/// Why there is none.
pub fn from_preprocessed(preprocessed: Preprocessed, path: &Path) -> Result<Found, Diagnostics> {
    on_large_stack(preprocessed, path, &Options::default(), &|_| Ok(()))
}

fn on_large_stack(
    preprocessed: Preprocessed,
    path: &Path,
    options: &Options,
    check: &(dyn Fn(&CProgram) -> Result<(), Diagnostics> + Sync),
) -> Result<Found, Diagnostics> {
    let source = Arc::clone(&preprocessed.source);
    let failed = |message: &str| {
        let diagnostic = Diagnostic::internal(0..0, message);
        Diagnostics::new(Arc::clone(&source), vec![diagnostic])
    };
    // Sums of many terms are deep trees.
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        match builder.spawn_scoped(scope, || find::find(Arc::new(preprocessed), path, options, check)) {
            Ok(thread) => {
                thread.join().unwrap_or_else(|_| Err(failed("the C front end stopped unexpectedly")))
            }
            Err(error) => Err(failed(&format!("no thread could be started: {error}"))),
        }
    })
}

/// Stack of the thread that works on the syntax tree; only what is used takes memory.
const STACK_BYTES: usize = 256 << 20;
