//! `tilewright completions`: a script that lets a shell complete commands, options and their values.

use crate::arguments::{Arguments, CompletionsArguments};
use crate::error::Result;
use crate::report::Report;
use clap::{CommandFactory, ValueEnum};
use serde::Serialize;

/// The report of `completions`.
#[derive(Debug, Serialize)]
pub struct CompletionsReport {
    /// Name of the shell.
    pub shell: String,
    /// The script.
    pub script: String,
}

/// Makes the script.
///
/// # Errors
/// None today; the type fits the chain of a command.
pub fn completions(arguments: &CompletionsArguments) -> Result<CompletionsReport> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "tilewright", &mut script);
    let shell = arguments.shell.to_possible_value().map(|value| value.get_name().to_owned());
    Ok(CompletionsReport {
        shell: shell.unwrap_or_default(),
        script: String::from_utf8_lossy(&script).into_owned(),
    })
}

impl Report for CompletionsReport {
    const SCHEMA: &'static str = "tilewright.completions/1";

    fn text(&self) -> String {
        self.script.clone()
    }
}
