//! What becomes of the program's own OpenMP pragmas.

/// Whether the program's own OpenMP pragmas mean what they say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum OwnPragmas {
    /// There are none.
    #[default]
    None,
    /// They do: the program's files are compiled with `-fopenmp`.
    Kept,
    /// They do nothing, for a reason.
    Left(String),
}
