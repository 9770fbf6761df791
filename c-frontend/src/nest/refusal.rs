//! What is wrong with a region.

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
