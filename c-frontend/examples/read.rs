//! Prints the stencil programs of C files, and which loops over time are left:
//! `cargo run -p tilewright-c-frontend --example read -- -DN=10 -Iinclude prog.c ..`

use c_frontend::Options;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut options = Options::default();
    let mut failed = false;
    for argument in std::env::args().skip(1) {
        if let Some(define) = argument.strip_prefix("-D") {
            options.defines.push(define.to_owned());
        } else if let Some(folder) = argument.strip_prefix("-I") {
            options.include_dirs.push(folder.into());
        } else {
            match c_frontend::read_all(Path::new(&argument), &options) {
                Ok(Ok(found)) => {
                    found.taken.iter().for_each(|taken| println!("{}", taken.program.to_source()));
                    for left in &found.left {
                        let reasons = left.reasons.iter().map(|reason| reason.message.as_str());
                        println!(
                            "{argument}:{}: left: {}",
                            left.line,
                            reasons.collect::<Vec<_>>().join("; ")
                        );
                    }
                }
                Ok(Err(diagnostics)) => {
                    failed = true;
                    println!("{diagnostics}\n");
                }
                Err(error) => {
                    failed = true;
                    println!("{argument}: {error}");
                }
            }
        }
    }
    ExitCode::from(u8::from(failed))
}
