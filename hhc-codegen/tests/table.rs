//! `docs/strategies.md` says which strategy takes which shipped stencil for which target, and why another one does not.
//! `BLESS=1` writes it anew.

use hhc_codegen::strategy::{self, Strategy, Target};
use polyhedral::program::Program;
use std::fmt::Write as _;
use std::sync::Arc;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/strategies.md");
/// What stands before the table.
const HEAD: &str = "<!-- table -->\n";

/// Why a strategy has no plan of a program with its own sizes for a target.
fn refused(own: &dyn Strategy, program: &Arc<Program>, target: Target) -> Option<String> {
    let cone = polyhedral::analysis::analyze(program).unwrap().cone;
    if let Err(reason) = own.takes(program, &cone).and_then(|()| own.for_target(program, target)) {
        return Some(reason);
    }
    let tile = own.default_tile(program, &cone, target);
    strategy::plan(own, program, &cone, &tile).err().map(|error| error.to_string())
}

fn table() -> String {
    let names: Vec<&str> = strategy::all().iter().map(|own| own.id()).collect();
    let mut text = format!("| stencil | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    let mut reasons: Vec<String> = Vec::new();
    let mut number = |reason: String| match reasons.iter().position(|known| *known == reason) {
        Some(at) => at + 1,
        None => {
            reasons.push(reason);
            reasons.len()
        }
    };
    for name in polyhedral::shipped::names() {
        let program = Arc::new(polyhedral::shipped::load(name).unwrap());
        let mut cell = |own: &&dyn Strategy| {
            let [openmp, cuda] = [Target::OpenMp, Target::Cuda].map(|target| refused(*own, &program, target));
            match (openmp, cuda) {
                (None, None) => "both".to_owned(),
                (None, Some(cuda)) => format!("OpenMP ({})", number(cuda)),
                (Some(openmp), None) => format!("CUDA ({})", number(openmp)),
                (Some(openmp), Some(cuda)) if openmp == cuda => format!("no ({})", number(openmp)),
                (Some(openmp), Some(cuda)) => format!("no ({}, {})", number(openmp), number(cuda)),
            }
        };
        let cells: Vec<String> = strategy::all().iter().map(&mut cell).collect();
        let _ = writeln!(text, "| `{name}` | {} |", cells.join(" | "));
    }
    text.push('\n');
    for (at, reason) in reasons.iter().enumerate() {
        let _ = writeln!(text, "{}. {reason}", at + 1);
    }
    text
}

#[test]
fn the_page_says_what_is_so() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (head, written) = page.split_once(HEAD).unwrap();
    let found = table();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(PAGE, format!("{head}{HEAD}{found}")).unwrap();
    } else {
        assert!(written == found, "BLESS=1 writes docs/strategies.md anew; it should say\n{found}");
    }
}
