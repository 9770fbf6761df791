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
mod integer;
pub mod nest;
pub mod parse;
pub mod polynomial;
pub mod preprocess;
mod program;
pub mod recognise;
pub mod rewrite;
pub mod text;

pub use nest::Nest;
pub use parse::Region;
pub use preprocess::{Options, Preprocessed};
pub use program::CProgram;
pub use recognise::Stencil;

use polyhedral::diagnostic::Diagnostics;
use std::path::Path;
use std::sync::Arc;

/// Reads a C program.
///
/// # Errors
/// A file that cannot be read is an `std::io::Error`; a program that is no iterated stencil is a list of diagnostics.
pub fn read(path: &Path, options: &Options) -> std::io::Result<Result<CProgram, Diagnostics>> {
    let read = preprocess::preprocess(path, options)?;
    Ok(read.and_then(|preprocessed| from_preprocessed(preprocessed, path)).and_then(|program| {
        preprocess::check_cut(&program, path, options)?;
        Ok(program)
    }))
}

/// The program of a preprocessed file.
///
/// # Errors
/// Why it is no iterated stencil.
pub fn from_preprocessed(preprocessed: Preprocessed, path: &Path) -> Result<CProgram, Diagnostics> {
    let source = Arc::clone(&preprocessed.source);
    let failed = |message: &str| {
        let diagnostic = polyhedral::diagnostic::Diagnostic::internal(0..0, message);
        Diagnostics::new(Arc::clone(&source), vec![diagnostic])
    };
    // Sums of many terms are deep trees.
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        match builder.spawn_scoped(scope, || stages(preprocessed, path)) {
            Ok(thread) => {
                thread.join().unwrap_or_else(|_| Err(failed("the C front end stopped unexpectedly")))
            }
            Err(error) => Err(failed(&format!("no thread could be started: {error}"))),
        }
    })
}

/// Stack of the thread that works on the syntax tree; only what is used takes memory.
const STACK_BYTES: usize = 256 << 20;

fn stages(preprocessed: Preprocessed, path: &Path) -> Result<CProgram, Diagnostics> {
    let source = Arc::clone(&preprocessed.source);
    let refuse = |diagnostic| Diagnostics::new(Arc::clone(&source), vec![diagnostic]);
    let region = parse::parse(&preprocessed)?;
    let nest = nest::nest(&region).map_err(|diagnostic| refuse(*diagnostic))?;
    let name = program_name(path);
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let description = format!("From the loop over `{}` in `{}` of {file}.", nest.time.name, region.function);
    let program_of = |nest: &Nest| {
        let stencil = recognise::recognise(nest).map_err(|diagnostic| refuse(*diagnostic))?;
        let program = recognise::draft(&name, &description, nest, &stencil, &source)?;
        Ok((stencil, program))
    };
    let found = match program_of(&nest) {
        Ok((stencil, program)) => (nest, stencil, program),
        // A point that is computed again may be a source; if not, the reason is the one above.
        Err(why) => {
            let joined = recognise::with_sources(&nest);
            let second = joined.and_then(|nest| program_of(&nest).ok().map(|(a, b)| (nest, a, b)));
            second.ok_or(why)?
        }
    };
    let (nest, stencil, program) = found;
    Ok(CProgram { preprocessed, region, nest, stencil, program: Arc::new(program) })
}

/// The name of a file's program: a C identifier that no other file of the user's has.
fn program_name(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut name: String = stem
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' })
        .take(48)
        .collect();
    if !name.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        name.insert(0, 'p');
    }
    format!("{}_scop", name.trim_end_matches('_'))
}
