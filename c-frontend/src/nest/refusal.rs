//! What is wrong with a region.

use crate::codes;
use polyhedral::diagnostic::{Code, Diagnostic};
use polyhedral::source::Span;

/// What is wrong.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// A mistake of the user's.
pub(super) fn error<T>(code: Code, span: &Span, message: impl Into<String>) -> Result<T> {
    Err(Box::new(Diagnostic::error(code, span.clone(), message)))
}

/// What is not supported.
pub(super) fn limitation<T>(code: Code, span: &Span, message: impl Into<String>) -> Result<T> {
    Err(Box::new(Diagnostic::limitation(code, span.clone(), message)))
}

/// A call that is more than a value.
pub(super) fn calls(name: &str, place: &Span) -> Diagnostic {
    Diagnostic::limitation(codes::CALL, place.clone(), format!("a call of {name} in the time loop"))
        .note("calls with side effects cannot be moved to another order")
        .hint("take it out of the time loop")
}

/// A loop of which all rounds are wanted for each point of another one.
pub(super) fn takes_all(inner: &str, outer: &str, place: &Span) -> Diagnostic {
    let message =
        format!("each point of the loop over `{outer}` takes all rounds of the loop over `{inner}`");
    Diagnostic::limitation(codes::REDUCTION, place.clone(), message)
        .note("a stencil computes a point from a fixed number of neighbours; the product of a matrix and a vector takes a whole row")
}
