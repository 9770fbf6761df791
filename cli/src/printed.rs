//! A report, made ready to be printed in the form that the user asked for.

use crate::error::{FAILED, Result};
use crate::json;
use crate::progress::Session;
use crate::report::{Report, print_stdout};
use safe_io::Damage;
use serde::Serialize;

/// A report of a command that met damaged records.
#[derive(Serialize)]
struct WithDamage<'a, R: Serialize> {
    #[serde(flatten)]
    report: &'a R,
    /// What was left out: file, place and reason.
    damaged: Vec<Damage>,
}

/// A report, ready to be printed.
pub struct Printed {
    text: Option<String>,
    exit_code: u8,
}

impl Printed {
    /// The report in the form that the user asked for.
    ///
    /// # Errors
    /// None today; the type fits the chain of a command.
    pub fn of(report: &impl Report, session: &Session) -> Result<Printed> {
        let damage = session.damage();
        let text = match (session.json(), damage.is_empty()) {
            (false, _) => report.text(),
            (true, true) => document(report),
            (true, false) => json::document(schema(report), &WithDamage { report, damaged: damage }),
        };
        let exit_code = match (report.interrupted(), report.passed()) {
            (true, _) => toolchain::interrupt::exit_code(),
            (false, true) => 0,
            (false, false) => FAILED,
        };
        Ok(Printed { text: Some(text), exit_code })
    }

    /// Of a command that has said everything itself, and of a process that leaves the report to another one.
    pub fn nothing(exit_code: u8) -> Printed {
        Printed { text: None, exit_code }
    }

    /// Prints it and gives the exit code.
    ///
    /// # Errors
    /// Where stdout cannot be written. A reader that has gone, as in `tilewright list | head -1`, is no error.
    pub fn print(self) -> Result<u8> {
        if let Some(text) = self.text {
            print_stdout(&text)?;
        }
        Ok(self.exit_code)
    }
}

fn schema<R: Report>(_report: &R) -> &'static str {
    R::SCHEMA
}

/// The JSON document of a report.
fn document<R: Report>(report: &R) -> String {
    json::document(R::SCHEMA, report)
}
