//! The `tilewright` command: arguments in, reports out. What it does is done by the other crates; here
//! is one file per command, and what the commands share.
//!
//! A command is a function from its arguments to a [`report::Report`] or an [`error::Error`]. Both are
//! printed here, as text or as one JSON document, and here they become an exit code: 0 success, 1 a failed
//! check or an infeasible request, 2 wrong input, 130 interrupted.

// One per command.
pub mod analyze;
pub mod calibrate;
pub mod codesign;
pub mod compile;
pub mod convert;
pub mod explain;
pub mod list;
pub mod pareto;
pub mod predict;
pub mod run;
pub mod search;
pub mod tune;
pub mod validate;

// Shared by the commands.
pub mod arguments;
pub mod chart;
pub mod error;
pub mod json;
pub mod load;
pub mod machine;
pub mod model;
pub mod outputs;
pub mod plan;
pub mod progress;
pub mod report;
pub mod svg;
pub mod tile_choice;

// Part of `predict`.
mod bars;
mod cpu_model;

// Part of `validate`.
mod scatter;

// Parts of `run`.
mod initial_data;
mod pace;
mod runner;

use arguments::{Arguments, Command};
use clap::Parser;
use clap::error::ErrorKind;
use error::Error;
use progress::Session;
use report::{Printed, print_stderr, print_stdout};
use std::process::ExitCode;

/// Runs the command that the process's arguments ask for.
pub fn main() -> ExitCode {
    execution::interrupt::install();
    ExitCode::from(match Arguments::try_parse() {
        Ok(arguments) => execute(&arguments),
        Err(error) => refuse(&error),
    })
}

/// Runs a command and prints its report; returns the exit code.
fn execute(arguments: &Arguments) -> u8 {
    let session = Session::new(arguments.output);
    let result = match &arguments.command {
        Command::List(arguments) => list::list(arguments).and_then(|report| Printed::of(&report, &session)),
        Command::Analyze(arguments) => {
            analyze::analyze(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Compile(arguments) => {
            compile::compile(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Explain(arguments) => {
            explain::explain(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Calibrate(arguments) => {
            calibrate::calibrate(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Validate(arguments) => {
            validate::validate(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Convert(arguments) => {
            convert::convert(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Codesign(arguments) => {
            codesign::codesign(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Pareto(arguments) => {
            pareto::pareto(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Run(arguments) => {
            run::run(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Predict(arguments) => {
            predict::predict(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Tune(arguments) => {
            tune::tune(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Search(arguments) => {
            search::search(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
    };
    session.finish();
    let printed = match result {
        Ok(printed) => printed.print(),
        Err(error) => Err(error),
    };
    match printed {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => print_error(&error, arguments.output.json),
    }
}

/// Prints an error, as text on stderr and, where asked for, as JSON on stdout; returns the exit code.
fn print_error(error: &Error, as_json: bool) -> u8 {
    if as_json {
        // A reader that has gone cannot be told.
        let _ = print_stdout(&json::text(&error.document()));
    }
    print_stderr(&error.render(report::stderr_has_colour()));
    error.exit_code()
}

/// Arguments that cannot be understood, or a call for help.
fn refuse(error: &clap::Error) -> u8 {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return 0;
    }
    // The flag cannot be asked for in the usual way: the arguments were not understood.
    if std::env::args_os().any(|argument| argument == "--json") {
        let text = error.render().to_string();
        let message = text.trim().strip_prefix("error: ").unwrap_or(text.trim()).to_owned();
        let _ = print_stdout(&json::text(&Error::wrong_input(message).document()));
    }
    let _ = error.print();
    error::WRONG_INPUT
}
