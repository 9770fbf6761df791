//! What can go wrong outside the program itself: memory, files, data, and all that the tool chain fails at.

use crate::output_folder::conflict::Conflict;
use std::path::PathBuf;
use toolchain::compiler::CompilerError;
use toolchain::interrupt::Interrupted;

/// Result of everything in this crate.
pub type Result<T> = std::result::Result<T, ExecutionError>;

/// A failure, with what happened and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum ExecutionError {
    /// A store of trials that cannot be used.
    #[error("{} cannot be used: {problem}", path.display())]
    Trials {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A back end cannot print a plan: an error of ours.
    #[error("internal error: a program for a measurement could not be generated: {0}")]
    Generate(String),
    /// A C program that cannot be compared with its rewritten form.
    #[error("{0}")]
    Original(String),
    /// The grid does not fit the program.
    #[error("wrong grid size for `{program}`: {problem}")]
    WrongSize {
        /// Name of the program.
        program: String,
        /// What is wrong, and what was expected.
        problem: String,
    },

    /// The grid needs more memory than there is.
    #[error(
        "the grid needs {} but {}; use a smaller --size, or a machine with more memory",
        gibibytes(*.bytes),
        match .available { Some(available) => format!("only {} are available", gibibytes(*available)), None => "the system refused to give it".to_owned() }
    )]
    OutOfMemory {
        /// Bytes asked for.
        bytes: u128,
        /// Bytes available, where known.
        available: Option<u128>,
    },

    /// The number of parameter values is not that of the program.
    #[error("`{program}` has {expected} parameter(s) but {found} value(s) were given")]
    WrongParameters {
        /// Name of the program.
        program: String,
        /// Number of parameters of the program.
        expected: usize,
        /// Number of values given.
        found: usize,
    },

    /// A negative number of time steps.
    #[error("the number of time steps must not be negative, and is {0}")]
    WrongSteps(i64),

    /// A data set that was made for another program.
    #[error("the data do not belong to `{program}`: {problem}")]
    WrongData {
        /// Name of the program.
        program: String,
        /// The difference.
        problem: String,
    },

    /// A name that the program does not declare.
    #[error("`{program}` has no field `{field}`; its fields are {known}")]
    UnknownField {
        /// Name of the program.
        program: String,
        /// The name asked for.
        field: String,
        /// The names there are.
        known: String,
    },

    /// An array file that cannot be used.
    #[error("{}: {problem}", .path.display())]
    Npy {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what was expected.
        problem: String,
    },

    /// A checkpoint that a run cannot go on from.
    #[error("{}: {problem}", .path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// Why not.
        problem: String,
    },

    /// A file operation failed.
    #[error("cannot {action} {}: {source}", .path.display())]
    File {
        /// What was tried, as in `read`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },

    /// A folder that cannot be written to.
    #[error("cannot use {} as the output folder: {problem}", .path.display())]
    OutputFolder {
        /// The folder, as the user named it.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },

    /// An output folder has files that must not be replaced.
    #[error(
        "nothing was written to {}, because these files would be lost:{}",
        .folder.display(),
        .conflicts.iter().map(|conflict| format!("\n  {}: {}", conflict.file.display(), conflict.reason)).collect::<String>()
    )]
    Occupied {
        /// The folder, as the user named it.
        folder: PathBuf,
        /// The files.
        conflicts: Vec<Conflict>,
    },

    /// Native code reported a failure.
    #[error("the compiled stencil `{symbol}` failed with code {code}: {meaning}")]
    Native {
        /// The function called.
        symbol: String,
        /// What it returned.
        code: i32,
        /// The code in words.
        meaning: &'static str,
    },

    /// A plan that cannot be launched, or CUDA text that does not belong to it.
    #[error("the kernels cannot be launched: {0}")]
    Plan(String),

    /// A counter of joules that is of no use.
    #[error("{name}: {problem}")]
    Counter {
        /// The counter.
        name: String,
        /// What is wrong with it.
        problem: String,
    },

    /// A compiler, a library, a device or the cache.
    #[error(transparent)]
    Toolchain(toolchain::Error),

    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<toolchain::Error> for ExecutionError {
    fn from(error: toolchain::Error) -> ExecutionError {
        match error {
            toolchain::Error::Interrupted => ExecutionError::Interrupted,
            toolchain::Error::File { action, path, source } => ExecutionError::File { action, path, source },
            error => ExecutionError::Toolchain(error),
        }
    }
}

impl From<CompilerError> for ExecutionError {
    fn from(error: CompilerError) -> ExecutionError {
        toolchain::Error::from(error).into()
    }
}

impl From<Interrupted> for ExecutionError {
    fn from(_: Interrupted) -> ExecutionError {
        ExecutionError::Interrupted
    }
}

fn gibibytes(bytes: u128) -> String {
    let gib = bytes as f64 / (1u64 << 30) as f64;
    if gib >= 0.1 { format!("{gib:.1} GiB") } else { format!("{bytes} bytes") }
}
