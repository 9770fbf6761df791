//! C programs: rewritten, built and run, they print what they printed before.

mod arrays;
mod building;
mod chance;
mod commands;
mod cuda;
mod loops;
mod memory;
mod own_pragmas;
mod texts;
mod values;

use crate::support::{Folder, command, finish};
use std::path::{Path, PathBuf};
use std::process::Command;
use toolchain::compiler::{Compiler, Language};

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../c-frontend/tests/programs").join(name)
}

fn run(mut command: Command) -> String {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}\n{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn gcc(arguments: &[&str]) {
    let mut command = Compiler::find(Language::C).unwrap().command();
    command.args(["-O0", "-w", "-ffp-contract=off"]).args(arguments).arg("-lm");
    run(command);
}

/// What the original prints.
fn original(folder: &Folder, file: &str, flags: &[&str]) -> String {
    let out = folder.arg("original");
    let mut arguments = vec![file, "-o", out.as_str()];
    arguments.extend(flags);
    gcc(&arguments);
    run(Command::new(&out))
}

/// Rewrites, builds both, and compares all that they do; every fifth one optimised, as users have it.
fn same(name: &str, flags: &[&str], tiling: &[&str]) {
    let file = program(name).display().to_string();
    let mut arguments = vec!["check", file.as_str(), "--quick", "--threads", "2", "--json"];
    arguments.extend(flags);
    arguments.extend(tiling);
    let mut command = command(&arguments);
    if name.len().is_multiple_of(5) {
        command.env_remove("CC");
    }
    let report = finish(command).json();
    assert!(report["equal"] == true && report["tiled"] != false, "{name} {flags:?}: {report:#}");
    assert_eq!(
        (&report["exit_code"]["original"], &report["stderr"]["rewritten"]),
        (&report["exit_code"]["rewritten"], &"".into())
    );
}

const SMALL_1D: [&str; 2] = ["--tile", "st=6,s0=6"];

const SMALL_2D: [&str; 2] = ["--tile", "st=12,s0=8,s1=16"];
