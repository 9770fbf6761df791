//! What can go wrong, whose fault it is, and what to do about it.

use execution::ExecutionError;
use hhc_codegen::PlanError;
use optimizer::Infeasible;
use optimizer::codesign::CodesignError;
use polyhedral::diagnostic::Diagnostics;
use toolchain::interrupt::Interrupted;
use trials::TrialsError;

/// Whose fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The request cannot be understood, or names what does not exist.
    WrongInput,
    /// The request makes sense, but cannot be served here, or not yet.
    Infeasible,
    /// Something outside failed: a compiler, the memory, a disk.
    Failed,
    /// The user stopped it.
    Interrupted,
    /// A mistake of Tilewright.
    Internal,
}

impl Kind {
    /// As the JSON document names it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::WrongInput => "wrong-input",
            Kind::Infeasible => "infeasible",
            Kind::Failed => "failed",
            Kind::Interrupted => "interrupted",
            Kind::Internal => "internal",
        }
    }
}

#[cfg(feature = "c")]
fn lacks_compiler(diagnostics: &Diagnostics) -> bool {
    diagnostics.list.iter().any(|diagnostic| diagnostic.code == c_frontend::codes::NO_COMPILER)
}

#[cfg(not(feature = "c"))]
fn lacks_compiler(_: &Diagnostics) -> bool {
    false
}

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Mistakes in a stencil file.
    #[error(transparent)]
    Program(#[from] Diagnostics),
    /// There is no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Memory, files, compilers.
    #[error(transparent)]
    Execution(#[from] ExecutionError),
    /// Trials, spaces, searches.
    #[error(transparent)]
    Tuner(#[from] tuner::TunerError),
    /// Anything else.
    #[error("{message}")]
    Request {
        /// Whose fault it is.
        kind: Kind,
        /// What is wrong.
        message: String,
        /// What to do.
        hints: Vec<String>,
    },
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A request that cannot be understood.
    pub fn wrong_input(message: impl Into<String>) -> Error {
        Error::Request { kind: Kind::WrongInput, message: message.into(), hints: Vec::new() }
    }

    /// A request that cannot be served.
    pub fn infeasible(message: impl Into<String>) -> Error {
        Error::Request { kind: Kind::Infeasible, message: message.into(), hints: Vec::new() }
    }

    /// A mistake of ours.
    pub fn internal(message: impl Into<String>) -> Error {
        let hints = vec!["this is a mistake of Tilewright; please report it".to_owned()];
        Error::Request { kind: Kind::Internal, message: message.into(), hints }
    }

    /// Adds what to do.
    pub fn hint(mut self, text: impl Into<String>) -> Error {
        if let Error::Request { hints, .. } = &mut self {
            hints.push(text.into());
        }
        self
    }

    /// Adds what to do, if there is something.
    pub fn maybe_hint(self, text: Option<String>) -> Error {
        match text {
            Some(text) => self.hint(text),
            None => self,
        }
    }

    /// Whose fault it is.
    pub fn kind(&self) -> Kind {
        match self {
            // The file may be right; nothing here can read it.
            Error::Program(diagnostics) if lacks_compiler(diagnostics) => Kind::Infeasible,
            Error::Program(_) => Kind::WrongInput,
            Error::Plan(error) => match error {
                PlanError::TileText { .. } | PlanError::UnknownStrategy { .. } => Kind::WrongInput,
                PlanError::Template { .. } => Kind::Internal,
                _ => Kind::Infeasible,
            },
            Error::Execution(error) => match error {
                ExecutionError::WrongSize { .. }
                | ExecutionError::WrongParameters { .. }
                | ExecutionError::WrongSteps(_)
                | ExecutionError::UnknownField { .. }
                | ExecutionError::Npy { .. }
                | ExecutionError::Checkpoint { .. }
                | ExecutionError::Original(_)
                | ExecutionError::Trials { .. }
                | ExecutionError::OutputFolder { .. }
                | ExecutionError::Occupied { .. }
                | ExecutionError::File { action: "read", .. } => Kind::WrongInput,
                ExecutionError::OutOfMemory { .. } | ExecutionError::Plan(_) => Kind::Infeasible,
                ExecutionError::Interrupted => Kind::Interrupted,
                ExecutionError::WrongData { .. } => Kind::Internal,
                ExecutionError::Toolchain(error) => match error {
                    toolchain::Error::UnsafeCache { .. } => Kind::WrongInput,
                    toolchain::Error::NoCompiler(_)
                    | toolchain::Error::NoDevice(_)
                    | toolchain::Error::NoClocks { .. }
                    | toolchain::Error::NoDisassembler(_)
                    | toolchain::Error::NoNvrtc { .. } => Kind::Infeasible,
                    toolchain::Error::WrongSourceName(_) => Kind::Internal,
                    _ => Kind::Failed,
                },
                _ => Kind::Failed,
            },
            Error::Tuner(error) => match error {
                tuner::TunerError::Infeasible { .. } => Kind::Infeasible,
                tuner::TunerError::Interrupted => Kind::Interrupted,
                tuner::TunerError::Trials(
                    TrialsError::File { action: "write", .. } | TrialsError::Server { .. },
                ) => Kind::Failed,
                _ => Kind::WrongInput,
            },
            Error::Request { kind, .. } => *kind,
        }
    }

    /// What to do.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Error::Request { hints, .. } => hints.clone(),
            Error::Execution(ExecutionError::Occupied { conflicts, .. }) => {
                let mut hints = vec!["name another folder with -o".to_owned()];
                if conflicts.iter().all(|conflict| conflict.reason.can_be_forced()) {
                    hints.push("--force replaces them".to_owned());
                }
                hints
            }
            Error::Plan(PlanError::UnknownStrategy { nearest: Some(name), .. }) => {
                vec![format!("did you mean `{name}`?")]
            }
            Error::Execution(ExecutionError::Toolchain(toolchain::Error::NoDevice(_))) => {
                vec![
                    "the back end `openmp` computes the same on the CPU; `emulator` runs the CUDA code there, slowly"
                        .to_owned(),
                ]
            }
            Error::Tuner(error) => Some(error.hint()).filter(|hint| !hint.is_empty()).into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

impl From<toolchain::Error> for Error {
    fn from(error: toolchain::Error) -> Error {
        Error::Execution(error.into())
    }
}

/// Machine code that cannot be counted: what the compiler makes and nobody has described yet.
impl From<machine_code::Error> for Error {
    fn from(error: machine_code::Error) -> Error {
        Error::infeasible(format!("the machine code cannot be counted: {error}"))
    }
}

impl From<Interrupted> for Error {
    fn from(interrupted: Interrupted) -> Error {
        Error::Execution(interrupted.into())
    }
}

impl From<TrialsError> for Error {
    fn from(error: TrialsError) -> Error {
        Error::Tuner(error.into())
    }
}

/// No tile fits: the constraint, and by how much.
impl From<Infeasible> for Error {
    fn from(infeasible: Infeasible) -> Error {
        let hint = match &infeasible {
            Infeasible::Limit { strategy, .. } if *strategy != hhc_codegen::strategy::baseline().id() => {
                let plain = hhc_codegen::strategy::baseline().id();
                Some(format!("the {plain} strategy needs no shared memory: --strategy {plain}"))
            }
            _ => None,
        };
        Error::infeasible(infeasible.to_string()).maybe_hint(hint)
    }
}

/// There is no study.
impl From<CodesignError> for Error {
    fn from(error: CodesignError) -> Error {
        let kind = match &error {
            CodesignError::Stopped => return Error::Execution(ExecutionError::Interrupted),
            CodesignError::NoGpu => Kind::Internal,
            CodesignError::Journal { .. } => Kind::Failed,
            _ => Kind::Infeasible,
        };
        Error::Request { kind, message: error.to_string(), hints: Vec::new() }
    }
}
