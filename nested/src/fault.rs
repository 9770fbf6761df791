//! What can be wrong with the data that a program is given.

use crate::codes;
use polyhedral::diagnostic::{Diagnostic, Diagnostics};
use polyhedral::source::{SourceFile, Span};
use std::sync::Arc;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FaultKind {
    Index,
    Offsets,
    Lengths,
    Count,
    Step,
    Empty,
    Twice,
    Division,
    TooLong,
}

impl FaultKind {
    /// What is wrong, with the numbers that show it.
    pub fn message(self, [a, b]: [i64; 2]) -> String {
        match self {
            FaultKind::Index => format!("the index {a} is outside of a sequence of {b} elements"),
            FaultKind::Offsets => {
                format!(
                    "offsets begin with 0, never decrease and end with the number of elements; here is {b} at place {a}"
                )
            }
            FaultKind::Lengths => format!("sequences of {a} and {b} elements go together here"),
            FaultKind::Count => format!("a length is not negative; this is {a}"),
            FaultKind::Step => {
                format!("a stride or a tile's length is positive, a stride of a range not 0; this is {a}")
            }
            FaultKind::Empty => "an empty sequence cannot be repeated".to_owned(),
            FaultKind::Twice => format!("the place {a} is written twice"),
            FaultKind::Division => "a whole number is divided by 0".to_owned(),
            FaultKind::TooLong => "a length beyond 2^62".to_owned(),
        }
    }
}

/// Something wrong with the data, and the place in the program where it matters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .kind.message(*.numbers))]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Where in the program it matters.
    pub span: Span,
    /// The numbers that show it.
    pub numbers: [i64; 2],
}

impl Fault {
    /// It as a diagnostic of the program's text.
    pub fn diagnostics(&self, source: &Arc<SourceFile>) -> Diagnostics {
        let diagnostic = Diagnostic::error(codes::DATA, self.span.clone(), self.to_string());
        let diagnostic = diagnostic
            .label("found here, in the data")
            .hint("the program is right; check its inputs and parameters");
        Diagnostics::new(Arc::clone(source), vec![diagnostic])
    }
}
