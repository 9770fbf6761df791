//! `tilewright lsp`: a language server for editors, on stdin and stdout.

use crate::error::{Error, Result};
use clap::Args;
use std::io::{stdin, stdout};

/// Arguments of `lsp`.
#[derive(Debug, Args)]
pub struct LspArguments {}

/// Serves the editor that started the process, until it says `exit` or goes; returns the exit code of the protocol.
///
/// # Errors
/// What comes is not framed as the protocol's messages are; `--json`, because stdout is the editor's.
pub fn lsp(_arguments: &LspArguments, as_json: bool) -> Result<u8> {
    if as_json {
        return Err(Error::wrong_input(
            "`lsp` talks to an editor on stdout and has no document: leave --json out",
        ));
    }
    language_server::serve(&mut stdin().lock(), &mut stdout().lock())
        .map_err(|error| Error::wrong_input(error.to_string()))
}
