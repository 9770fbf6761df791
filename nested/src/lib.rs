//! Nested data-parallel programs.

pub mod analysis;
pub mod ast;
pub mod check;
pub mod codes;
pub mod data;
pub mod fault;
pub mod fuse;
pub mod interpret;
pub mod lower;
pub mod native;
pub mod openmp;
pub mod parser;
pub mod program;
pub mod shipped;
pub mod token;

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
    let program = written.filter(|_| list.is_empty()).and_then(|written| check::check(&written, &source, &mut list));
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
