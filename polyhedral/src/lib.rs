//! Stencil programs: the language, its diagnostics, the checked program, and its exact polyhedral
//! analysis with isl. isl types do not leave this crate.
//!
//! The road: [`source`] text → [`token`] → [`ast`] (by [`parser`]) → [`draft`] (by [`lower`]) →
//! [`program`] → [`dependence`] → [`cone`] → [`legality`] of a [`schedule`].
//!
//! ```
//! use polyhedral::{analysis, parse};
//!
//! let program = parse(
//!     "heat.stencil",
//!     "stencil heat(t, i) {
//!          field u: f32;
//!          u[t+1, i] = 0.25 * u[t, i-1] + 0.5 * u[t, i] + 0.25 * u[t, i+1];
//!      }",
//! )
//! .map_err(|mistakes| mistakes.to_string())?;
//! assert_eq!((program.dimension(), program.statements[0].reads.len()), (1, 3));
//!
//! let analysis = analysis::analyze(&program).map_err(|error| error.to_string())?;
//! assert!(!analysis.dependences.is_empty());
//!
//! let mistakes = parse("broken.stencil", "stencil heat(t, i) { u[t+1, i] = 1; }").err();
//! assert!(mistakes.is_some_and(|mistakes| mistakes.to_string().contains("u")));
//! # Ok::<(), String>(())
//! ```

// The language.
pub mod ast;
pub mod diagnostic;
pub mod domain;
pub mod draft;
pub mod lower;
pub mod math;
pub mod parser;
pub mod printer;
pub mod program;
pub mod shipped;
pub mod source;
pub mod token;
pub mod transform;
pub mod walk;

// The analysis.
pub mod analysis;
pub mod arithmetic;
pub mod cone;
pub mod contraction;
pub mod counts;
pub mod dataflow;
pub mod dependence;
pub mod footprint;
pub mod ghost;
mod isl;
pub mod legality;
pub mod schedule;
pub mod slant;
pub mod sweep;

/// The portable exponential that every back end computes bit for bit alike.
pub mod portable_exp;

use diagnostic::{Code, Diagnostic, Diagnostics};
use program::Program;
use source::SourceFile;
use std::sync::Arc;

/// Reads and checks a stencil program. The name is that of the file, for the diagnostics.
pub fn parse(name: &str, text: &str) -> Result<Program, Diagnostics> {
    let source = Arc::new(SourceFile { name: name.to_string(), text: text.to_string() });
    let mut list = Vec::new();
    let stencil = parser::parse(text, &mut list);
    let program = stencil.and_then(|stencil| lower::lower(&stencil, &source, &mut list));
    match program {
        Some(program) if list.is_empty() => Ok(program),
        _ => {
            if list.is_empty() {
                list.push(Diagnostic::internal(0..0, "this stencil was refused without a reason"));
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
    // Shown up to the broken line, so that the place can be found.
    let good = error.valid_up_to();
    let end =
        bytes[good..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |newline| good + newline);
    let text = String::from_utf8_lossy(&bytes[..end.min(parser::MOST_BYTES)]).into_owned();
    let place = good.min(text.len());
    let source = Arc::new(SourceFile { name: name.to_string(), text });
    let message = format!("this file is not UTF-8 text: byte {good} is {:#04x}", bytes[good]);
    let diagnostic = Diagnostic::error(Code::INVALID_UTF8, place..place, message)
        .hint("save it as UTF-8; letters beyond ASCII are allowed in comments only");
    Err(Diagnostics::new(source, vec![diagnostic]))
}
