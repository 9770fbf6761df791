//! `tilewright completions`: a script that lets a shell complete commands, options and their values.

use crate::error::Result;
use crate::report::Report;
use clap::Args;
use clap::{Command, ValueEnum};
use serde::Serialize;

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// The report of `completions`.
#[derive(Debug, Serialize)]
pub struct CompletionsReport {
    /// Name of the shell.
    pub shell: String,
    /// The script.
    pub script: String,
}

/// Makes the script for a command line.
///
/// # Errors
/// None today; the type fits the chain of a command.
pub fn completions(arguments: &CompletionsArguments, mut command: Command) -> Result<CompletionsReport> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "tilewright", &mut script);
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
