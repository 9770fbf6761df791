//! Why an expression cannot be understood, or has no value.

/// Longest list, and most items that one evaluation may make.
pub(super) const MOST_ITEMS: usize = 1_000_000;

/// An expression that cannot be understood: what, where, and what to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("in `{text}`, column {column}: {reason}")]
pub struct ExpressionError {
    /// The expression.
    pub text: String,
    /// Where in it, counted in characters from 1.
    pub column: usize,
    /// What is wrong.
    pub reason: String,
    /// What to do; may be empty.
    pub hint: String,
}

/// The error at a column of a text.
pub(super) fn error(text: &str, column: usize, reason: impl Into<String>, hint: &str) -> ExpressionError {
    let shown: String = text.chars().take(200).collect();
    let text = if shown.len() < text.len() { shown + "..." } else { shown };
    ExpressionError { text: text.trim().to_owned(), column, reason: reason.into(), hint: hint.to_owned() }
}

/// Why an expression has no value at a point.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// A division or remainder by zero, or a negative power of it.
    #[error("division by zero")]
    DivisionByZero,
    /// A number beyond what can be held.
    #[error("a number is too large")]
    Overflow,
    /// Values of kinds that do not go together.
    #[error("{0}")]
    Kind(&'static str),
    /// A list that is too long.
    #[error("a list is too long: more than {MOST_ITEMS} items, or in a constraint 10000")]
    TooLong,
}
