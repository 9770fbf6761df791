//! How errors are shown, and which exit code they give.

use serde_json::{Value, json};
use text_escape::visible_lines;
pub use tilewright::error::{Error, Kind, Result};

/// Exit code of a failed check or an infeasible request.
pub const FAILED: u8 = 1;
/// Exit code of wrong input.
pub const WRONG_INPUT: u8 = 2;

/// An error on its way to the user.
pub trait Shown {
    /// The exit code that goes with it.
    fn exit_code(&self) -> u8;

    /// The JSON document: `error` with `kind`, `message`, `hints`, `diagnostics` (mistakes in a stencil file, each
    /// with its file, line and column) and `exit_code`.
    fn document(&self) -> Value;

    /// The text for a terminal.
    fn render(&self, colour: bool) -> String;
}

impl Shown for Error {
    fn exit_code(&self) -> u8 {
        match self.kind() {
            Kind::WrongInput => WRONG_INPUT,
            // 128 and the number of the signal.
            Kind::Interrupted => toolchain::interrupt::exit_code(),
            Kind::Infeasible | Kind::Failed | Kind::Internal => FAILED,
        }
    }

    fn document(&self) -> Value {
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

    fn render(&self, colour: bool) -> String {
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
