//! Broken programs never panic, and what is wrong has a place in the user's file.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use c_frontend::rewrite::{Target, rewrite};
use c_frontend::{CProgram, Found, Options, preprocess};
use polyhedral::diagnostic::{Code, Diagnostics};
use polyhedral::source::SourceFile;
use proptest::prelude::*;
use proptest::sample::Index;
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// All test programs, those that are accepted and those that are not.
static PROGRAMS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut files: Vec<_> = ["programs", "refused"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(tests.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    files.sort();
    files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
});

/// Reads a text as if the preprocessor had left it alone.
fn read(text: &str) {
    let source = Arc::new(SourceFile { name: "fuzz.c".to_owned(), text: text.to_owned() });
    let lines: String = text
        .lines()
        .map(|line| if directive(line) { "\n".to_owned() } else { format!("{line}\n") })
        .collect();
    let traced = preprocess::trace(Arc::clone(&source), false, &lines);
    let result = traced.and_then(|traced| c_frontend::from_preprocessed(traced, Path::new("fuzz.c")));
    check(result, "fuzz.c");
}

/// What is refused has a place in the file; what is accepted can be printed and rewritten.
fn check(result: Result<Found, Diagnostics>, name: &str) {
    match result {
        Ok(found) => {
            let programs: Vec<&CProgram> = found.taken.iter().collect();
            for program in &programs {
                let text = program.program.to_source();
                polyhedral::parse("converted.stencil", &text).unwrap_or_else(|why| panic!("{text}\n{why}"));
            }
            for target in [Target::OpenMp, Target::Cuda] {
                rewrite(&programs, &Options::default(), target).unwrap();
            }
        }
        Err(diagnostics) => {
            assert!(!diagnostics.list.is_empty());
            for data in diagnostics.to_data() {
                assert_eq!(data.file, name);
                assert!(data.place.line >= 1 && data.place.column >= 1);
                assert!(data.code != Code::INTERNAL, "{}", diagnostics.render(false));
            }
            assert!(diagnostics.render(false).contains(&format!("--> {name}:")));
        }
    }
}

fn directive(line: &str) -> bool {
    line.trim_start().starts_with('#') && !line.contains("pragma")
}

/// A place between two characters.
fn cut(text: &str, at: Index) -> usize {
    let at = at.index(text.len() + 1);
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// So many cases where all is run, as in `make test-long`, else a third.
fn config(cases: u32) -> ProptestConfig {
    let all = std::env::var_os("TILEWRIGHT_ALL").is_some();
    ProptestConfig {
        cases: if all { cases } else { cases / 3 },
        rng_seed: proptest::test_runner::RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

const WORDS: [&str; 60] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    "+",
    "-",
    "*",
    "/",
    "%",
    "=",
    "<",
    "&",
    "!",
    "?",
    ":",
    "0",
    "1",
    "9999999999999999999",
    "1e999",
    "0x",
    ".",
    "\"",
    "'",
    "\\",
    "\n",
    "for",
    "if",
    "while",
    "float",
    "double",
    "int",
    "t",
    "i",
    "j",
    "N",
    "u",
    "a",
    "#pragma scop\n",
    "\n#pragma endscop\n",
    "é",
    "\u{0}",
    "sqrt",
    "return",
    "/*",
    "//",
    "i++",
    "a[i]",
    "[j][i]",
    "(float)",
    "((",
    "~",
    "sizeof",
    "->",
    "enum",
    "2147483648",
    "do",
];

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn truncated(which: Index, at: Index) {
        let text = which.get(&PROGRAMS);
        read(&text[..cut(text, at)]);
    }

    #[test]
    fn a_part_is_missing(which: Index, from: Index, length in 0usize..60) {
        let text = which.get(&PROGRAMS);
        let from = cut(text, from);
        let to = (from + length..=text.len()).find(|to| text.is_char_boundary(*to)).unwrap_or(text.len());
        read(&format!("{}{}", &text[..from], &text[to..]));
    }

    #[test]
    fn words_are_put_in(
        which: Index,
        changes in prop::collection::vec((any::<Index>(), prop::sample::select(&WORDS[..]), any::<bool>()), 1..6),
    ) {
        let mut text = which.get(&PROGRAMS).clone();
        for (at, word, replace) in changes {
            let at = cut(&text, at);
            let next = (at + 1..=text.len()).find(|next| text.is_char_boundary(*next)).unwrap_or(at);
            text.replace_range(at..if replace { next } else { at }, word);
        }
        read(&text);
    }

    /// Only the region changes, and stays C more often: names, numbers and operators in the place of others.
    #[test]
    fn tokens_change_places(which: Index, pairs in prop::collection::vec((any::<Index>(), any::<Index>()), 1..4)) {
        let text = which.get(&PROGRAMS);
        let Some((before, rest)) = text.split_once("#pragma scop\n") else { return Ok(()) };
        let Some((region, behind)) = rest.split_once("#pragma endscop") else { return Ok(()) };
        let word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.';
        let mut tokens: Vec<String> = Vec::new();
        for letter in region.chars() {
            match tokens.last_mut() {
                Some(last) if word(letter) && last.ends_with(word) => last.push(letter),
                _ => tokens.push(letter.to_string()),
            }
        }
        for (a, b) in pairs {
            let (a, b) = (a.index(tokens.len()), b.index(tokens.len()));
            tokens.swap(a, b);
        }
        read(&format!("{before}#pragma scop\n{}#pragma endscop{behind}", tokens.concat()));
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// Through the compiler, which sees what is no text as well.
    #[test]
    fn bytes_are_flipped(which: Index, flips in prop::collection::vec((any::<Index>(), 0u32..8), 1..4)) {
        let mut bytes = which.get(&PROGRAMS).clone().into_bytes();
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        read_file(&bytes);
    }
}

/// Reads a file as users do.
fn read_file(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.c");
    std::fs::write(&path, bytes).unwrap();
    let read = c_frontend::read_all(&path, &Options::default()).unwrap();
    if let Ok(found) = &read {
        let programs: Vec<&CProgram> = found.taken.iter().collect();
        rewrite(&programs, &Options::default(), Target::OpenMp).unwrap();
    }
    if let Err(diagnostics) = read {
        assert!(!diagnostics.list.is_empty());
        for data in diagnostics.to_data() {
            assert_eq!(Path::new(&data.file), path);
            assert!(data.place.line >= 1 && data.place.column >= 1);
        }
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
    read(&around(&format!(
        "{{ {} a[i] = x0; }}",
        (0..3000).rev().map(|k| format!("double x{k} = {k}.0 + i;")).collect::<String>()
    )));
    let constants: String = (1..500).map(|k| format!("const int n{k} = n{} + 1;\n", k - 1)).collect();
    read(&format!(
        "double a[9];\nvoid f(int n) {{\nconst int n0 = n;\n{constants}#pragma scop\nfor (int t = 0; t < n499; t++) for (int i = 0; i < n499; i++) a[i] = 1;\n#pragma endscop\n}}\n"
    ));
    let doubled: String = (1..60).map(|k| format!("int n{k} = n{} + n{};\n", k - 1, k - 1)).collect();
    read(&around(&format!("{{ int n0 = i; {doubled} a[i] = n59; }}")));
    let doubled: String = (1..60).map(|k| format!("double x{k} = x{} + x{};\n", k - 1, k - 1)).collect();
    read(&around(&format!("{{ double x0 = a[i]; {doubled} a[i] = x59; }}")));
    let doubled: String = (1..60).map(|k| format!("const int n{k} = n{} + n{};\n", k - 1, k - 1)).collect();
    read(&format!(
        "double a[9];\nvoid f(int n) {{\nconst int n0 = n;\n{doubled}#pragma scop\nfor (int t = 0; t < n; t++) for (int i = 0; i < n59; i++) a[i] = 1;\n#pragma endscop\n}}\n"
    ));
}

#[test]
fn the_compiler_names_places() {
    for text in PROGRAMS.iter().step_by(9) {
        for at in (0..text.len()).step_by(197) {
            let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            read_file(&text.as_bytes()[..at]);
        }
    }
}
