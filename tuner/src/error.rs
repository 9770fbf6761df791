//! What can go wrong, each with its place, its reason and a way out.

use crate::expression::ExpressionError;
use std::path::{Path, PathBuf};
use text_escape::suggest::nearest;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, TunerError>;

/// Why something cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum TunerError {
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {reason}", path.display())]
    File {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: {place}{reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where in it: empty, or as `line 3: ` or `record "16,1": `.
        place: String,
        /// What is wrong there.
        reason: String,
        /// What to do.
        hint: String,
    },
    /// An expression cannot be understood.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    /// A space makes no sense, or has no valid point.
    #[error("{reason}")]
    Space {
        /// What is wrong.
        reason: String,
        /// What to do.
        hint: String,
    },
    /// A request that cannot be served with these numbers: a budget below a design's size, a model that the points
    /// do not identify.
    #[error("{reason}")]
    Infeasible {
        /// What is wrong.
        reason: String,
        /// What to do.
        hint: String,
    },
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
    /// Arguments that make no sense: an unknown metric, searcher or parameter.
    #[error("{reason}")]
    Request {
        /// What is wrong.
        reason: String,
        /// What to do.
        hint: String,
    },
}

impl TunerError {
    /// What the user can do; empty where the message says it all.
    pub fn hint(&self) -> String {
        match self {
            TunerError::File { .. } | TunerError::Interrupted => String::new(),
            TunerError::Expression(error) => error.hint.clone(),
            TunerError::Malformed { hint, .. }
            | TunerError::Space { hint, .. }
            | TunerError::Infeasible { hint, .. }
            | TunerError::Request { hint, .. } => hint.clone(),
        }
    }

    /// A space without a valid point, and why it has none.
    pub(crate) fn no_valid_point(reason: String) -> TunerError {
        TunerError::Space {
            reason: format!("the space has no valid point: {reason}"),
            hint: "loosen a constraint or add levels".to_owned(),
        }
    }

    /// An unknown name, with the known ones and the nearest of them.
    pub fn unknown(what: &str, name: &str, known: &[&str]) -> TunerError {
        TunerError::Request {
            reason: format!("there is no {what} `{name}`"),
            hint: match nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`? There are: {}", known.join(", ")),
                None => format!("there are: {}", known.join(", ")),
            },
        }
    }
}

/// A file that is not what it should be. `place` may be empty, or as `line 3`.
pub(crate) fn malformed(path: &Path, place: &str, reason: impl Into<String>, hint: &str) -> TunerError {
    TunerError::Malformed {
        path: path.to_owned(),
        place: if place.is_empty() { String::new() } else { format!("{place}: ") },
        reason: reason.into(),
        hint: hint.to_owned(),
    }
}
