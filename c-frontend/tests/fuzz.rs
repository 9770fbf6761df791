//! Broken programs never panic, and what is wrong has a place in the user's file.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use c_frontend::{Options, preprocess};
use polyhedral::source::SourceFile;
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

const PROGRAMS: [&str; 5] = [
    include_str!("programs/flattened.c"),
    include_str!("programs/guarded.c"),
    include_str!("programs/staggered.c"),
    include_str!("programs/promotion.c"),
    include_str!("refused/gauss_seidel.c"),
];

/// Reads a text as if the preprocessor had left it alone.
fn read(text: &str) {
    let source = Arc::new(SourceFile { name: "fuzz.c".to_owned(), text: text.to_owned() });
    let lines: String = text
        .lines()
        .map(|line| if directive(line) { "\n".to_owned() } else { format!("{line}\n") })
        .collect();
    let traced = preprocess::trace(Arc::clone(&source), false, &lines);
    let result = traced.and_then(|traced| c_frontend::from_preprocessed(traced, Path::new("fuzz.c")));
    if let Err(diagnostics) = result {
        assert!(!diagnostics.list.is_empty());
        for data in diagnostics.to_data() {
            assert_eq!(data.file, "fuzz.c");
            assert!(data.place.line >= 1 && data.place.column >= 1);
            assert!(data.code != polyhedral::diagnostic::Code::INTERNAL, "{}", diagnostics.render(false));
        }
        let _ = diagnostics.render(false);
    }
}

fn directive(line: &str) -> bool {
    line.trim_start().starts_with('#') && !line.contains("pragma")
}

fn cut(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        rng_seed: proptest::test_runner::RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn truncated(which in 0..PROGRAMS.len(), at in 0usize..2500) {
        let text = PROGRAMS[which];
        read(&text[..cut(text, at)]);
    }

    #[test]
    fn truncated_inside_a_region_that_is_closed(which in 0..PROGRAMS.len(), from in 0usize..2500, length in 0usize..60) {
        let text = PROGRAMS[which];
        let (from, to) = (cut(text, from), cut(text, from + length));
        read(&format!("{}{}", &text[..from], &text[to.max(from)..]));
    }

    #[test]
    fn mutated(
        which in 0..PROGRAMS.len(),
        changes in prop::collection::vec((0usize..2500, prop::sample::select(vec![
            "(", ")", "[", "]", "{", "}", ";", ",", "+", "-", "*", "/", "%", "=", "<", "&", "!", "?", ":", "0", "1", "9999999999999999999",
            "1e999", "0x", ".", "\"", "'", "\\", "\n", "for", "if", "while", "float", "double", "int", "t", "i", "j", "N", "u", "a", "#pragma scop\n",
            "\n#pragma endscop\n", "é", "\u{0}", "sqrt", "return", "/*", "//", "i++", "a[i]", "[j][i]", "(float)", "((", "~", "sizeof",
        ])), 1..6),
    ) {
        let mut text = PROGRAMS[which].to_owned();
        for (at, word) in changes {
            let at = cut(&text, at);
            let next = (at + 1..=text.len()).find(|next| text.is_char_boundary(*next)).unwrap_or(at);
            if word.len() % 2 == 0 { text.insert_str(at, word) } else { text.replace_range(at..next, word) }
        }
        read(&text);
    }
}

#[test]
fn nesting_has_a_limit() {
    let around = |inner: &str| {
        format!(
            "double a[9];\nvoid f(int n) {{\n#pragma scop\nfor (int t = 0; t < n; t++) for (int i = 0; i < n; i++) {inner}\n#pragma endscop\n}}\n"
        )
    };
    read(&around(&format!("a[i] = {}1.0{};", "(".repeat(5000), ")".repeat(5000))));
    read(&around(&format!("a[i] = {}1.0;", "-".repeat(5001))));
    read(&around(&format!("{}a[i] = 1.0;{}", "{".repeat(3000), "}".repeat(3000))));
    read(&around(&format!("a[i] = a[i]{};", " + a[i]".repeat(20_000))));
    read(&around(&format!("a[i] = {}a[i]{};", "sqrt(".repeat(1000), ")".repeat(1000))));
    read(&around(&"for (int k = 0; k < 60; k++) ".repeat(30)));
}

#[test]
fn the_compiler_names_places() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.c");
    for at in (0..PROGRAMS[2].len()).step_by(97) {
        std::fs::write(&path, &PROGRAMS[2][..cut(PROGRAMS[2], at)]).unwrap();
        if let Err(diagnostics) = c_frontend::read(&path, &Options::default()).unwrap() {
            for data in diagnostics.to_data() {
                assert_eq!(Path::new(&data.file), path);
                assert!(data.place.line >= 1 && data.place.column >= 1);
            }
        }
    }
}
