//! The `tilewright` command; everything is in the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    tilewright_cli::main()
}
