//! What can go wrong, each with its place, its reason and a way out.

use std::path::{Path, PathBuf};
use text_escape::suggest::nearest;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, TrialsError>;

/// Why something cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum TrialsError {
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
    /// A parameter makes no sense.
    #[error("{reason}")]
    Parameter {
        /// What is wrong.
        reason: String,
    },
    /// A server that keeps trials does not answer, or refuses.
    #[error("{address}: {reason}")]
    Server {
        /// Where it is, without a password.
        address: String,
        /// What is wrong.
        reason: String,
        /// What to do.
        hint: String,
    },
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
    /// Arguments that make no sense: an unknown metric or column.
    #[error("{reason}")]
    Request {
        /// What is wrong.
        reason: String,
        /// What to do.
        hint: String,
    },
}

impl TrialsError {
    /// What the user can do; empty where the message says it all.
    pub fn hint(&self) -> String {
        match self {
            TrialsError::File { .. } | TrialsError::Interrupted | TrialsError::Parameter { .. } => {
                String::new()
            }
            TrialsError::Malformed { hint, .. }
            | TrialsError::Server { hint, .. }
            | TrialsError::Request { hint, .. } => hint.clone(),
        }
    }

    /// An unknown name, with the known ones and the nearest of them.
    pub fn unknown(what: &str, name: &str, known: &[&str]) -> TrialsError {
        TrialsError::Request {
            reason: format!("there is no {what} `{name}`"),
            hint: match nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`? There are: {}", known.join(", ")),
                None => format!("there are: {}", known.join(", ")),
            },
        }
    }

    /// A file that is not what it should be. `place` may be empty, or as `line 3`.
    pub fn malformed(path: &Path, place: &str, reason: impl Into<String>, hint: &str) -> TrialsError {
        TrialsError::Malformed {
            path: path.to_owned(),
            place: if place.is_empty() { String::new() } else { format!("{place}: ") },
            reason: reason.into(),
            hint: hint.to_owned(),
        }
    }
}

/// As [`TrialsError::malformed`].
pub(crate) fn malformed(path: &Path, place: &str, reason: impl Into<String>, hint: &str) -> TrialsError {
    TrialsError::malformed(path, place, reason, hint)
}
