//! What can go wrong in a command, how it is shown, and which exit code it gives.

use execution::ExecutionError;
use hhc_codegen::PlanError;
use polyhedral::diagnostic::Diagnostics;
use serde_json::{Value, json};
use text_escape::visible_lines;

/// Exit code of a failed check or an infeasible request.
pub const FAILED: u8 = 1;
/// Exit code of wrong input.
pub const WRONG_INPUT: u8 = 2;

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

fn lacks_compiler(diagnostics: &Diagnostics) -> bool {
    diagnostics.list.iter().any(|diagnostic| diagnostic.code == c_frontend::codes::NO_COMPILER)
}

/// Why a command has no report.
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
    /// Anything that the command itself found.
    #[error("{message}")]
    Command {
        /// Whose fault it is.
        kind: Kind,
        /// What is wrong.
        message: String,
        /// What to do.
        hints: Vec<String>,
    },
}

/// Result of a command.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A request that cannot be understood.
    pub fn wrong_input(message: impl Into<String>) -> Error {
        Error::Command { kind: Kind::WrongInput, message: message.into(), hints: Vec::new() }
    }

    /// A request that cannot be served.
    pub fn infeasible(message: impl Into<String>) -> Error {
        Error::Command { kind: Kind::Infeasible, message: message.into(), hints: Vec::new() }
    }

    /// A mistake of ours.
    pub fn internal(message: impl Into<String>) -> Error {
        let hints = vec!["this is a mistake of Tilewright; please report it".to_owned()];
        Error::Command { kind: Kind::Internal, message: message.into(), hints }
    }

    /// Adds what to do.
    pub fn hint(mut self, text: impl Into<String>) -> Error {
        if let Error::Command { hints, .. } = &mut self {
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
                ExecutionError::UnsafeCache { .. }
                | ExecutionError::WrongSize { .. }
                | ExecutionError::WrongParameters { .. }
                | ExecutionError::WrongSteps(_)
                | ExecutionError::UnknownField { .. }
                | ExecutionError::Npy { .. }
                | ExecutionError::Original(_)
                | ExecutionError::Trials { .. }
                | ExecutionError::OutputFolder { .. }
                | ExecutionError::Occupied { .. }
                | ExecutionError::File { action: "read", .. } => Kind::WrongInput,
                ExecutionError::OutOfMemory { .. }
                | ExecutionError::NoCompiler(_)
                | ExecutionError::NoDevice(_)
                | ExecutionError::NoNvrtc { .. }
                | ExecutionError::Plan(_) => Kind::Infeasible,
                ExecutionError::Interrupted => Kind::Interrupted,
                ExecutionError::WrongData { .. } | ExecutionError::WrongSourceName(_) => Kind::Internal,
                _ => Kind::Failed,
            },
            Error::Tuner(error) => match error {
                tuner::TunerError::Infeasible { .. } => Kind::Infeasible,
                tuner::TunerError::Interrupted => Kind::Interrupted,
                tuner::TunerError::File { action: "write", .. } => Kind::Failed,
                _ => Kind::WrongInput,
            },
            Error::Command { kind, .. } => *kind,
        }
    }

    /// The exit code that goes with it.
    pub fn exit_code(&self) -> u8 {
        match self.kind() {
            Kind::WrongInput => WRONG_INPUT,
            // 128 and the number of the signal.
            Kind::Interrupted => execution::interrupt::exit_code(),
            Kind::Infeasible | Kind::Failed | Kind::Internal => FAILED,
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Error::Command { hints, .. } => hints.clone(),
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
            Error::Tuner(error) => Some(error.hint()).filter(|hint| !hint.is_empty()).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The JSON document: `error` with `kind`, `message`, `hints`, `diagnostics` (mistakes in a stencil file, each
    /// with its file, line and column) and `exit_code`.
    pub fn document(&self) -> Value {
        let diagnostics = match self {
            Error::Program(diagnostics) => diagnostics.to_data(),
            _ => Vec::new(),
        };
        let message = match diagnostics.first() {
            Some(first) => {
                format!("{}:{}:{}: {}", first.file, first.place.line, first.place.column, first.message)
            }
            None => self.to_string(),
        };
        json!({"error": {
            "kind": self.kind().name(),
            "message": message,
            "hints": self.hints(),
            "diagnostics": diagnostics,
            "exit_code": self.exit_code(),
        }})
    }

    /// The text for a terminal.
    pub fn render(&self, colour: bool) -> String {
        match self {
            Error::Program(diagnostics) => diagnostics.render(colour),
            _ => {
                let title = match self.kind() {
                    Kind::WrongInput | Kind::Failed => "error",
                    Kind::Infeasible => "limitation",
                    Kind::Interrupted => return "interrupted".to_owned(),
                    Kind::Internal => "internal error",
                };
                let (red, blue, plain) =
                    if colour { ("\x1b[1;31m", "\x1b[1;36m", "\x1b[0m") } else { ("", "", "") };
                let message = self.to_string();
                let message = message.strip_prefix("internal error: ").unwrap_or(&message);
                let mut text = format!("{red}{title}{plain}: {}", visible_lines(message));
                for hint in self.hints() {
                    text.push_str(&format!("\n{blue}help{plain}: {}", visible_lines(&hint)));
                }
                text
            }
        }
    }
}
