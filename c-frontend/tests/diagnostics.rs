//! Every refusal, as it is shown: `refused/NAME.c` and `refused/NAME.expected`. `BLESS=1` writes what is found.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use c_frontend::{Options, codes};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    files
}

#[test]
fn refusals_are_shown_as_expected() {
    std::env::set_current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused")).unwrap();
    let mut wrong = Vec::new();
    for path in files("refused") {
        let name = Path::new(path.file_name().unwrap());
        let diagnostics = c_frontend::read(name, &Options::default()).unwrap().unwrap_err();
        for data in diagnostics.to_data() {
            assert_eq!(Path::new(&data.file), name);
            assert!(data.place.line >= 1 && data.place.column >= 1);
        }
        let mut found = diagnostics.render(false);
        if diagnostics.list[0].code == codes::COMPILER {
            // The compiler's own words differ from one to another.
            found = format!("{}:{}\n", codes::COMPILER, diagnostics.to_data()[0].place.line);
        } else {
            found.push('\n');
        }
        let expected = path.with_extension("expected");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected, &found).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != found {
            wrong.push(format!("{}:\n{found}", name.display()));
        }
    }
    assert!(wrong.is_empty(), "{}\nBLESS=1 accepts this", wrong.join("\n"));
}

#[test]
fn the_manual_explains_every_code() {
    let manual = include_str!("../../docs/c-input.md");
    let mut seen = BTreeSet::new();
    for (code, meaning) in codes::ALL {
        assert!(seen.insert(code.0), "{code} twice");
        assert!(
            manual.contains(&format!("| {code} | {meaning} |")),
            "docs/c-input.md lacks `| {code} | {meaning} |`"
        );
    }
}

/// Every third program; all with `TILEWRIGHT_ALL=1`, as in `make test-long`.
#[test]
fn accepted_programs_say_the_same_in_the_stencil_language() {
    let step = if std::env::var_os("TILEWRIGHT_ALL").is_some() { 1 } else { 3 };
    for path in files("programs").into_iter().step_by(step) {
        let read = c_frontend::read(&path, &Options::default()).unwrap();
        let read = read.unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let text = read.program.to_source();
        let again =
            polyhedral::parse("converted.stencil", &text).unwrap_or_else(|why| panic!("{text}\n{why}"));
        assert_eq!(again.to_source(), text);
        assert_eq!(
            format!("{:?}", again.without_spans()),
            format!("{:?}", (*read.program).clone().without_spans()),
            "{text}"
        );
    }
}
