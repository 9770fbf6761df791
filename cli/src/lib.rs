//! The `tilewright` command: arguments in, reports out. What it does is done by the other crates; here
//! is one file per command, and what the commands share.
//!
//! A command is a function from its arguments to a [`report::Report`] or an [`error::Error`]. Both are
//! printed here, as text or as one JSON document, and here they become an exit code; `docs/cli.md` has the table.
//!
//! ```
//! use clap::Parser;
//! use tilewright_cli::command_line::{Arguments, Command};
//!
//! let line = ["tilewright", "run", "heat2d", "--size", "64x64", "--steps", "8", "--json"];
//! let arguments = Arguments::try_parse_from(line)?;
//! assert!(arguments.output.json);
//! assert!(matches!(arguments.command, Command::Run(_)));
//! # Ok::<(), clap::Error>(())
//! ```

// One per command.
pub mod adaptive;
pub mod analyze;
pub mod cache;
pub mod calibrate;
mod calibrate_mpi;
pub mod check;
pub mod check_certificate;
pub mod codesign;
pub mod compile;
pub mod completions;
pub mod convert;
pub mod explain;
pub mod inspect;
pub mod list;
pub mod lsp;
pub mod manual;
mod mpirun;
pub mod nested;
pub mod pareto;
pub mod pick;
pub mod predict;
mod predict_ranks;
pub mod ranks_report;
pub mod run;
mod run_ranks;
pub mod search;
pub mod tune;
mod tune_ranks;
pub mod validate;

// Shared by the commands.
pub mod arguments;
pub mod command_line;
pub mod drawing;
pub mod error;
pub mod json;
pub mod load;
pub mod outputs;
pub mod plan;
pub mod printed;
pub mod progress;
pub mod report;
pub mod strategies;

// Part of `analyze`.
mod tiles;

// Part of `run`.
mod initial_data;
mod trials_file;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use command_line::{Arguments, Command};
use error::{Error, Shown};
use execution::ExecutionError;
use printed::Printed;
use progress::Session;
use report::{print_stderr, print_stdout};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;
use toolchain::interrupt;

/// Runs the command that the process's arguments ask for.
pub fn main() -> ExitCode {
    ExitCode::from(run(std::env::args_os().collect()))
}

/// Runs the command that these arguments ask for, the command's name first; returns the exit code. Signals are this
/// function's from then on.
pub fn run(arguments: Vec<OsString>) -> u8 {
    interrupt::install(end);
    let code = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => execute(&arguments),
        Err(error) => refuse(&error),
    };
    toolchain::cache::close();
    code
}

/// Ends the process after a signal, where the command does not end by itself.
fn end(code: u8) {
    if report::has_last_word() {
        // On a thread of its own: a reader that does not read must not keep the process.
        let (said, heard) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            if std::io::stderr().is_terminal() {
                // Below a progress bar that is still there.
                print_stderr("");
            }
            print_error(&Error::Execution(ExecutionError::Interrupted), asks_for_json());
            let _ = said.send(());
        });
        let _ = heard.recv_timeout(LAST_WORD);
    } else {
        // The result is being printed.
        std::thread::sleep(LAST_WORD);
    }
    // Not `exit`: handlers of libraries whose threads still compute could wait for them.
    signal_hook::low_level::exit(i32::from(code));
}

/// How long the last word may take.
const LAST_WORD: Duration = Duration::from_millis(200);

/// Whether the arguments have `--json`, for where they were not understood, or not by this thread.
fn asks_for_json() -> bool {
    std::env::args_os().any(|argument| argument == "--json")
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
        Command::Inspect(arguments) => {
            inspect::inspect(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Check(arguments) => {
            check::check(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::CheckCertificate(arguments) => check_certificate::check_certificate(arguments, &session)
            .and_then(|report| Printed::of(&report, &session)),
        Command::Explain(arguments) => {
            explain::explain(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Cache(arguments) => {
            cache::cache(arguments).and_then(|report| Printed::of(&report, &session))
        }
        Command::Calibrate(arguments) if arguments.mpi => calibrate_mpi::calibrate(arguments, &session),
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
            codesign::codesign(arguments, &session).and_then(|report| match report {
                Some(report) => Printed::of(&report, &session),
                None => Ok(Printed::nothing(0)),
            })
        }
        Command::Pick(arguments) => {
            pick::pick(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Pareto(arguments) => {
            pareto::pareto(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Run(arguments) => match run_ranks::wanted(arguments) {
            Some(ranks) => run_ranks::run(arguments, ranks, &session),
            None => run::run(arguments, &session).and_then(|report| Printed::of(&report, &session)),
        },
        Command::Nested(arguments) => nested::nested(arguments, &session),
        Command::Predict(arguments) => match arguments.ranks {
            Some(ranks) => predict_ranks::predict(arguments, ranks, &session)
                .and_then(|report| Printed::of(&report, &session)),
            None => predict::predict(arguments, &session).and_then(|report| Printed::of(&report, &session)),
        },
        Command::Tune(arguments) => match arguments.ranks {
            Some(ranks) => {
                tune_ranks::tune(arguments, ranks, &session).and_then(|report| Printed::of(&report, &session))
            }
            None => tune::tune(arguments, &session).and_then(|report| Printed::of(&report, &session)),
        },
        Command::Search(arguments) => {
            search::search(arguments, &session).and_then(|report| Printed::of(&report, &session))
        }
        Command::Adaptive(arguments) => adaptive::adaptive(arguments, &session),
        Command::Completions(arguments) => completions::completions(arguments, Arguments::command())
            .and_then(|report| Printed::of(&report, &session)),
        Command::Lsp(arguments) => lsp::lsp(arguments, session.json()).map(Printed::nothing),
        Command::Manual(arguments) => {
            manual::manual(arguments, Arguments::command()).and_then(|report| Printed::of(&report, &session))
        }
    };
    session.finish();
    if !report::has_last_word() {
        // The process is being ended.
        loop {
            std::thread::park();
        }
    }
    if let Some(warning) = toolchain::cache::take_warning() {
        print_stderr(&format!("warning: {warning}"));
    }
    // What fails after a signal fails because of it, as a compiler that was killed.
    let result = result.map_err(|error| match interrupt::requested() {
        true => Error::Execution(ExecutionError::Interrupted),
        false => error,
    });
    match result.and_then(Printed::print) {
        Ok(code) => code,
        Err(error) => print_error(&error, arguments.output.json),
    }
}

/// Prints an error, as text on stderr and, where asked for, as JSON on stdout; returns the exit code.
fn print_error(error: &Error, as_json: bool) -> u8 {
    if as_json {
        // A reader that has gone cannot be told.
        let _ = print_stdout(&json::document(json::ERROR_SCHEMA, &error.document()));
    }
    print_stderr(&error.render(report::stderr_has_colour()));
    error.exit_code()
}

/// Arguments that cannot be understood, or a call for help.
fn refuse(error: &clap::Error) -> u8 {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // clap's own printing hides a full disk.
        let colour = std::io::stdout().is_terminal() && report::stderr_has_colour();
        let help = error.render();
        let help = if colour { help.ansi().to_string() } else { help.to_string() };
        return match print_stdout(&help) {
            Ok(()) => 0,
            Err(error) => print_error(&error, false),
        };
    }
    // The flag cannot be asked for in the usual way: the arguments were not understood.
    if asks_for_json() {
        let text = error.render().to_string();
        let message = text.trim().strip_prefix("error: ").unwrap_or(text.trim()).to_owned();
        let _ = print_stdout(&json::document(json::ERROR_SCHEMA, &Error::wrong_input(message).document()));
    }
    let hidden =
        |argument: std::ffi::OsString| argument.to_string_lossy().chars().any(text_escape::is_hidden);
    if std::env::args_os().any(hidden) {
        // The text without colours, which cannot be told from those of the arguments.
        print_stderr(text_escape::visible_lines(&error.render().to_string()).trim_end());
    } else {
        let _ = error.print();
    }
    error::WRONG_INPUT
}
