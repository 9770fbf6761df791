//! Why a file of a folder must not be replaced.

use std::fmt;
use std::path::PathBuf;

/// A file that must not be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Its path in the folder.
    pub file: PathBuf,
    /// Why it must not.
    pub reason: Reason,
}

/// Why a file must not be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Tilewright did not write it.
    Foreign,
    /// Tilewright wrote it, and it was changed.
    Changed,
    /// It is a symbolic link.
    Link,
    /// It cannot be read.
    Unreadable,
    /// The command reads it.
    Input,
    /// It is a folder, a device or a pipe.
    NoFile,
    /// A part of its path is a symbolic link, which may lead anywhere.
    BehindLink(PathBuf),
    /// A part of its path is a file.
    BehindFile(PathBuf),
    /// Two files of the command have this name.
    Twice,
    /// The path leads out of the folder.
    Outside,
    /// The system refuses the name; with its reason.
    Impossible(String),
}

impl Reason {
    /// Whether the user may insist.
    pub fn can_be_forced(&self) -> bool {
        matches!(self, Reason::Foreign | Reason::Changed | Reason::Link | Reason::Unreadable)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Foreign => write!(out, "not written by Tilewright"),
            Reason::Changed => write!(out, "changed since Tilewright wrote it"),
            Reason::Link => write!(out, "a symbolic link"),
            Reason::Unreadable => write!(out, "cannot be read"),
            Reason::Input => write!(out, "an input of this very command"),
            Reason::NoFile => write!(out, "no regular file"),
            Reason::BehindLink(link) => write!(out, "behind the symbolic link {}", link.display()),
            Reason::BehindFile(file) => write!(out, "{} is no folder", file.display()),
            Reason::Twice => write!(out, "the name of two files of this command"),
            Reason::Outside => write!(out, "outside the folder"),
            Reason::Impossible(reason) => write!(out, "{reason}"),
        }
    }
}
