//! What can go wrong, each with its place, its reason and a way out.

use std::path::{Path, PathBuf};
use text_escape::suggest::nearest;
use trials::TrialsError;
use tuner::TunerError;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, AdaptiveError>;

/// Why something cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum AdaptiveError {
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
        /// Where in it: empty, or as `line 3: `.
        place: String,
        /// What is wrong there.
        reason: String,
        /// What to do.
        hint: String,
    },
    /// Arguments that make no sense: an unknown variant, a feature that is stated twice.
    #[error("{reason}")]
    Request {
        /// What is wrong.
        reason: String,
        /// What to do.
        hint: String,
    },
    /// A request that these data cannot serve: no input that any variant solves.
    #[error("{reason}")]
    Infeasible {
        /// What is wrong.
        reason: String,
        /// What to do.
        hint: String,
    },
    /// Of searches, commands and expressions.
    #[error(transparent)]
    Tuner(#[from] TunerError),
    /// Of stores of trials.
    #[error(transparent)]
    Trials(#[from] TrialsError),
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl AdaptiveError {
    /// What the user can do; empty where the message says it all.
    pub fn hint(&self) -> String {
        match self {
            AdaptiveError::File { .. } | AdaptiveError::Interrupted => String::new(),
            AdaptiveError::Malformed { hint, .. }
            | AdaptiveError::Request { hint, .. }
            | AdaptiveError::Infeasible { hint, .. } => hint.clone(),
            AdaptiveError::Tuner(error) => error.hint(),
            AdaptiveError::Trials(error) => error.hint(),
        }
    }

    /// A request that makes no sense.
    pub fn request(reason: impl Into<String>, hint: impl Into<String>) -> AdaptiveError {
        AdaptiveError::Request { reason: reason.into(), hint: hint.into() }
    }

    /// A request that cannot be served.
    pub fn infeasible(reason: impl Into<String>, hint: impl Into<String>) -> AdaptiveError {
        AdaptiveError::Infeasible { reason: reason.into(), hint: hint.into() }
    }

    /// An unknown name, with the known ones and the nearest of them.
    pub fn unknown(what: &str, name: &str, known: &[impl AsRef<str>]) -> AdaptiveError {
        let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
        let list = known.join(", ");
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? There are: {list}"),
            None if known.is_empty() => format!("there is no {what} at all"),
            None => format!("there are: {list}"),
        };
        AdaptiveError::request(format!("there is no {what} `{name}`"), hint)
    }

    /// A file that is not what it should be. `place` may be empty, or as `line 3`.
    pub fn malformed(
        path: &Path,
        place: impl Into<String>,
        reason: impl Into<String>,
        hint: impl Into<String>,
    ) -> AdaptiveError {
        let place = place.into();
        AdaptiveError::Malformed {
            path: path.to_owned(),
            place: if place.is_empty() { place } else { format!("{place}: ") },
            reason: reason.into(),
            hint: hint.into(),
        }
    }

    /// A file that cannot be read.
    pub fn unreadable(path: &Path, reason: std::io::Error) -> AdaptiveError {
        AdaptiveError::File { action: "read", path: path.to_owned(), reason }
    }
}
