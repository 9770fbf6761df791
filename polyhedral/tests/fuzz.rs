//! Broken texts: never a panic, never an internal error, and whatever is accepted keeps the invariants.
//!
//! Bounded and seeded; `FUZZ_CASES=N` runs more.

use polyhedral::diagnostic::DiagnosticKind;
use polyhedral::shipped;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

fn cases(default: usize) -> usize {
    std::env::var("FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Reads the text; true if it is accepted.
fn check(bytes: &[u8]) -> bool {
    match polyhedral::parse_bytes("fuzz", bytes) {
        Ok(program) => {
            crate::invariants::check(&program);
            let printed = program.to_source();
            let again = polyhedral::parse("printed", &printed).expect("printed programs are accepted");
            let (first, second) = (program.without_spans(), again.without_spans());
            assert_eq!(format!("{first:?}"), format!("{second:?}"), "{printed}");
            true
        }
        Err(diagnostics) => {
            assert!(!diagnostics.list.is_empty());
            assert!(!diagnostics.to_string().is_empty());
            for diagnostic in &diagnostics.list {
                let text = String::from_utf8_lossy(bytes);
                assert_ne!(diagnostic.kind, DiagnosticKind::InternalBug, "{text}\n{diagnostics}");
            }
            for data in diagnostics.to_data() {
                assert!(data.place.line >= 1 && data.place.column >= 1);
            }
            false
        }
    }
}

fn sources() -> Vec<&'static str> {
    shipped::names().into_iter().filter_map(shipped::source).collect()
}

const WORDS: &[&str] = &[
    "stencil",
    "field",
    "coefficient",
    "param",
    "boundary",
    "let",
    "fixed",
    "periodic",
    "f32",
    "f64",
    "t",
    "i",
    "j",
    "k",
    "u",
    "v",
    "c",
    "a",
    "sqrt",
    "exp",
    "abs",
    "min",
    "max",
    "0",
    "1",
    "2",
    "0.5",
    "1e-3",
    "1e300",
    "99999999999999999999",
    "1.",
    ".5",
    "t+1",
    "t-1",
    "i-1",
    "i+1",
    "j+1",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ";",
    "?",
    "=",
    "+",
    "-",
    "*",
    "/",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
    "&&",
    "||",
    "!",
    "//",
    "/*",
    "*/",
    "\n",
    "\u{e9}",
    "\u{feff}",
    "\0",
    "&",
    "|",
    "#",
    "\"",
    "u[t, i]",
    "u[t+1, i] =",
    "c[i]",
    "u[t, i, j]",
    "u[t+1, i, j] =",
    "field u: f32;",
    "coefficient c: f64;",
    "param a = 0.5;",
    "let b = a;",
];

#[test]
fn mutated_bytes() {
    let sources = sources();
    let mut random = Random(1);
    let mut accepted = 0;
    for _ in 0..cases(3_000) {
        let mut bytes = random.pick(&sources).as_bytes().to_vec();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            match random.below(6) {
                0 => bytes[at] = random.next() as u8,
                1 => bytes[at] = b"0123456789ijtuabc+-*/()[]{};,=<>!&|?: .\n"[random.below(40)],
                2 => drop(bytes.remove(at)),
                3 => bytes.insert(at, 32 + random.below(96) as u8),
                4 => bytes.truncate(at.max(1)),
                _ => {
                    let end = (at + random.below(40)).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    let to = random.below(bytes.len());
                    bytes.splice(to..to, piece);
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        accepted += usize::from(check(&bytes));
    }
    assert!(accepted > 0, "some changes are harmless");
}

#[test]
fn all_truncations_of_some() {
    for name in ["fdtd2d", "varcoef2d"] {
        let text = shipped::source(name).expect("shipped");
        for end in 0..text.len() {
            assert!(!check(&text.as_bytes()[..end]) || text[end..].trim().is_empty());
        }
    }
}

/// Swaps, doubles, drops and replaces whole words.
#[test]
fn mutated_words() {
    let sources = sources();
    let mut random = Random(2);
    let mut accepted = 0;
    for _ in 0..cases(3_000) {
        let source = random.pick(&sources);
        let body = &source[source.find("stencil ").unwrap_or(0)..];
        let mut words = split(body);
        for _ in 0..1 + random.below(3) {
            let (at, other) = (random.below(words.len()), random.below(words.len()));
            match random.below(4) {
                0 => words.swap(at, other),
                1 => drop(words.remove(at)),
                2 => words.insert(at, words[other]),
                _ => words[at] = random.pick(WORDS),
            }
        }
        accepted += usize::from(check(words.concat().as_bytes()));
    }
    assert!(accepted > 50, "some changes are harmless: {accepted}");
}

/// A text as words, spaces and single characters.
fn split(text: &str) -> Vec<&str> {
    let class = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => 1,
        ' ' | '\n' => 2,
        _ => 0,
    };
    let mut words = Vec::new();
    let mut start = 0;
    for (at, letter) in text.char_indices().skip(1) {
        let before = text[..at].chars().next_back().unwrap_or(' ');
        if class(before) == 0 || class(before) != class(letter) {
            words.push(&text[start..at]);
            start = at;
        }
    }
    words.push(&text[start..]);
    words
}

#[test]
fn word_soup() {
    let mut random = Random(3);
    for case in 0..cases(3_000) {
        let mut text = String::new();
        if case % 2 == 0 {
            text += "stencil s(t, i) { field u: f32; coefficient c: f64; param a = 1; u[t+1, i] = ";
        }
        for _ in 0..random.below(60) {
            text += random.pick(WORDS);
            if random.below(3) > 0 {
                text += " ";
            }
        }
        if case % 4 == 0 {
            text += "; }";
        }
        check(text.as_bytes());
    }
}

#[test]
fn random_bytes() {
    let mut random = Random(4);
    for _ in 0..cases(1_000) {
        let bytes: Vec<u8> = (0..random.below(200)).map(|_| random.next() as u8).collect();
        check(&bytes);
    }
}
