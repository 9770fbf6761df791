//! What can go wrong, each with its place, its reason and a way out.

use crate::expression::ExpressionError;
use trials::TrialsError;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, TunerError>;

/// Why something cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum TunerError {
    /// Of files with trials.
    #[error(transparent)]
    Trials(TrialsError),
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
            TunerError::Interrupted => String::new(),
            TunerError::Trials(error) => error.hint(),
            TunerError::Expression(error) => error.hint.clone(),
            TunerError::Space { hint, .. }
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
        TrialsError::unknown(what, name, known).into()
    }
}

impl From<TrialsError> for TunerError {
    fn from(error: TrialsError) -> TunerError {
        match error {
            TrialsError::Interrupted => TunerError::Interrupted,
            TrialsError::Parameter { reason } => TunerError::Space { reason, hint: String::new() },
            TrialsError::Request { reason, hint } => TunerError::Request { reason, hint },
            error => TunerError::Trials(error),
        }
    }
}
