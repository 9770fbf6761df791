//! Every file `diagnostics/NAME.stencil` is refused with exactly the text of `diagnostics/NAME.expected`.
//! `BLESS=1` rewrites the expected texts; a missing or stray one fails.

use polyhedral::diagnostic::{Code, DiagnosticKind};
use std::collections::BTreeSet;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/diagnostics"))
}

fn files(extension: &str) -> BTreeSet<String> {
    std::fs::read_dir(folder())
        .expect("folder")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| path.file_stem().expect("name").to_string_lossy().into_owned())
        .collect()
}

#[test]
fn diagnostics_read_as_expected() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for name in files("stencil") {
        let bytes = std::fs::read(folder().join(format!("{name}.stencil"))).expect("readable");
        let found = match polyhedral::parse_bytes(&format!("{name}.stencil"), &bytes) {
            Ok(_) => panic!("{name} is accepted"),
            Err(diagnostics) => format!("{diagnostics}\n"),
        };
        let path = folder().join(format!("{name}.expected"));
        if bless {
            std::fs::write(&path, found).expect("writable");
        } else if std::fs::read_to_string(&path).ok().as_deref() != Some(&found) {
            wrong.push(format!("--- {name}\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "not as expected (BLESS=1 accepts):\n{}", wrong.join("\n"));
    assert_eq!(files("stencil"), files("expected"), "stray or missing expectations");
    assert!(files("stencil").len() >= 30);
}

/// The codes of all files together are all codes, but for the internal one.
#[test]
fn every_code_is_pinned_and_documented() {
    let mut seen = BTreeSet::new();
    for name in files("stencil") {
        let bytes = std::fs::read(folder().join(format!("{name}.stencil"))).expect("readable");
        let diagnostics = polyhedral::parse_bytes(&name, &bytes).expect_err("refused");
        for diagnostic in &diagnostics.list {
            assert_ne!(diagnostic.kind, DiagnosticKind::InternalBug);
            seen.insert(diagnostic.code);
        }
    }
    // Beyond the size of a file that is kept; see `limits.rs`.
    let elsewhere = [Code::INTERNAL, Code::FILE_TOO_LARGE, Code::EXPRESSION_TOO_LARGE, Code::TOO_MANY];
    let manual =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/language.md")).expect("docs");
    for (code, meaning) in Code::ALL {
        assert!(seen.contains(code) || elsewhere.contains(code), "no file shows {code}: {meaning}");
        assert!(
            manual.contains(&format!("| {code} | {meaning} |")),
            "docs/language.md lacks {code}: {meaning}"
        );
    }
}
