//! Nested data-parallel programs (after Surge, chapter 5 of S. Muralidharan's dissertation, Utah 2016): what is computed,
//! as operators over nested sequences; how, as schedules and policies, which are enumerated; and C with OpenMP.
//!
//! The road: text → [`token`] → [`ast`] (by [`parser`], or by [`builder`]) → [`program`] (by [`mod@check`]) → [`mod@fuse`] →
//! [`analysis`] → [`mod@lower`] → [`openmp`] → [`native`] or [`mod@package`]. [`mod@interpret`] says what a program means.
//!
//! ```
//! use nested::data::{Array, Inputs};
//!
//! let text = "nested sum { input s: [f64]; output total = reduce(+, s, 0.0); }";
//! let program = nested::parse("sum.nested", text).map_err(|mistakes| mistakes.to_string())?;
//! let inputs = Inputs::from([("s".to_owned(), Array::F64(vec![1.0, 2.0, 4.0]))]);
//! let results = nested::interpret::interpret(&program, &inputs).map_err(|error| error.to_string())?;
//! assert_eq!(results[0].leaves, [Array::F64(vec![7.0])]);
//!
//! let generated = nested::openmp::generate(&program, &[], Default::default(), "sum");
//! assert!(generated.text.contains("omp parallel for"));
//! # Ok::<(), String>(())
//! ```

// The language.
pub mod ast;
pub mod builder;
pub mod check;
pub mod codes;
pub mod parser;
pub mod printer;
pub mod program;
pub mod shipped;
pub mod token;

// What a program means.
pub mod data;
pub mod fault;
pub mod interpret;

// How it is done.
pub mod analysis;
pub mod cuda;
pub mod device;
pub mod emit;
pub mod emulated;
pub mod features;
pub mod fuse;
pub mod lower;
pub mod native;
pub mod openmp;
pub mod package;
pub mod versions;

// Files.
pub mod matrix_market;
pub mod npy;

use polyhedral::diagnostic::{Diagnostic, Diagnostics};
use polyhedral::source::SourceFile;
use program::Program;
use std::sync::Arc;

/// Reads and checks a program. The name is that of the file, for the diagnostics.
pub fn parse(name: &str, text: &str) -> Result<Program, Diagnostics> {
    let source = Arc::new(SourceFile { name: name.to_owned(), text: text.to_owned() });
    let mut list = Vec::new();
    let written = parser::parse(text, &mut list);
    // What was not read is not missed.
    let program =
        written.filter(|_| list.is_empty()).and_then(|written| check::check(&written, &source, &mut list));
    match program {
        Some(program) => Ok(program),
        None => {
            if list.is_empty() {
                list.push(Diagnostic::internal(0..0, "this program was refused without a reason"));
            }
            Err(Diagnostics::new(source, list))
        }
    }
}

/// Like [`parse`], for bytes that may not be text.
pub fn parse_bytes(name: &str, bytes: &[u8]) -> Result<Program, Diagnostics> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return parse(name, text),
        Err(error) => error,
    };
    let good = error.valid_up_to();
    let text = String::from_utf8_lossy(&bytes[..good.min(parser::MOST_BYTES)]).into_owned();
    let place = text.len();
    let source = Arc::new(SourceFile { name: name.to_owned(), text });
    let message = format!("this file is not UTF-8 text: byte {good} is {:#04x}", bytes[good]);
    let diagnostic = Diagnostic::error(codes::INVALID_UTF8, place..place, message);
    let hint = "save it as UTF-8; letters beyond ASCII are allowed in comments only";
    Err(Diagnostics::new(source, vec![diagnostic.hint(hint)]))
}

/// A program's text in its one form; `None` where it cannot be read.
pub fn format(text: &str) -> Option<String> {
    let mut mistakes = Vec::new();
    let program = parser::parse(text, &mut mistakes)?;
    mistakes.is_empty().then(|| printer::print(&program))
}
