//! The pragmas of a file, and what stands behind them, token by token.

use crate::preprocess::lexer::{self, Token};
use std::ops::Range;

/// A file of the user's.
#[derive(Debug)]
pub struct OwnFile {
    /// Its name, for messages.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Words of directives.
const DIRECTIVES: [&str; 33] = [
    "parallel",
    "for",
    "simd",
    "sections",
    "section",
    "single",
    "master",
    "masked",
    "critical",
    "atomic",
    "barrier",
    "flush",
    "ordered",
    "task",
    "taskloop",
    "taskwait",
    "taskgroup",
    "taskyield",
    "threadprivate",
    "declare",
    "reduction",
    "loop",
    "scan",
    "cancel",
    "cancellation",
    "target",
    "teams",
    "distribute",
    "requires",
    "allocate",
    "interop",
    "dispatch",
    "metadirective",
];
/// Those that mean devices, or that choose among other directives.
pub(super) const DEVICES: [&str; 7] =
    ["target", "teams", "distribute", "requires", "interop", "dispatch", "metadirective"];
/// Those without a statement.
pub(super) const ALONE: [&str; 10] = [
    "barrier",
    "flush",
    "taskwait",
    "taskyield",
    "threadprivate",
    "declare",
    "cancel",
    "cancellation",
    "scan",
    "allocate",
];
/// Those whose statement one thread runs, or all of them in parts.
const SHARED_OUT: [&str; 9] =
    ["for", "sections", "single", "master", "masked", "task", "taskloop", "taskgroup", "loop"];
/// Clauses that give each thread variables of its own, and leave those of the program as they are.
const PRIVATE: [&str; 3] = ["private", "firstprivate", "linear"];
/// Clauses that give each thread variables of its own, and then the program's a value.
const REDUCED: [&str; 4] = ["lastprivate", "reduction", "in_reduction", "copyprivate"];
/// How declarations of numbers begin.
pub(super) const TYPES: [&str; 12] = [
    "int",
    "long",
    "short",
    "char",
    "float",
    "double",
    "unsigned",
    "signed",
    "const",
    "size_t",
    "ptrdiff_t",
    "register",
];
/// Most statements without braces within each other.
const MOST_DEPTH: usize = 200;

/// A pragma of OpenMP.
pub(super) struct Pragma<'a> {
    pub span: Range<usize>,
    pub line: usize,
    /// The words of its directive.
    pub names: Vec<&'a str>,
    /// Variables that each thread has for itself.
    pub private: Vec<&'a str>,
    /// Variables of which each thread has one of its own, in whatever way.
    pub own: Vec<&'a str>,
    /// How many loops it shares out.
    pub loops: usize,
}

impl Pragma<'_> {
    pub fn has(&self, names: &[&str]) -> bool {
        self.names.iter().any(|name| names.contains(name))
    }

    pub fn lies_in(&self, ranges: &[Range<usize>]) -> bool {
        ranges.iter().any(|range| range.start <= self.span.start && self.span.end <= range.end)
    }

    pub fn place(&self, file: &OwnFile) -> String {
        format!("`#pragma omp {}` ({}, line {})", self.names.join(" "), file.name, self.line)
    }
}

/// The tokens of a file, its pragmas, and where the bodies of its functions are.
pub(super) struct Parsed<'a> {
    pub text: &'a str,
    pub tokens: Vec<Token>,
    pub pragmas: Vec<Pragma<'a>>,
    pub functions: Vec<(&'a str, Range<usize>)>,
}

impl<'a> Parsed<'a> {
    pub fn new(text: &'a str) -> Self {
        let pragmas = lexer::directives(text).into_iter().filter_map(|span| pragma(text, span)).collect();
        let mut parsed = Parsed { text, tokens: lexer::tokens(text), pragmas, functions: Vec::new() };
        parsed.functions = parsed.bodies();
        parsed
    }

    pub fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).and_then(|token| self.text.get(token.start..token.end)).unwrap_or_default()
    }

    pub fn words_in(&self, range: &Range<usize>) -> impl Iterator<Item = &'a str> {
        let first = self.tokens.partition_point(|token| token.start < range.start);
        let behind = self.tokens.partition_point(|token| token.end <= range.end);
        (first..behind).map(|at| self.word(at))
    }

    /// The functions: a name, parameters in parentheses and a block, outside all blocks.
    fn bodies(&self) -> Vec<(&'a str, Range<usize>)> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            match self.word(at) {
                "(" if at > 0 => {
                    let Some(behind) = self.behind_brackets(at) else { return found };
                    if self.word(behind) == "{"
                        && let Some(end) = self.behind_brackets(behind)
                    {
                        found.push((self.word(at - 1), self.bytes(behind..end)));
                        at = end;
                    } else {
                        at = behind;
                    }
                }
                "{" => match self.behind_brackets(at) {
                    Some(behind) => at = behind,
                    None => return found,
                },
                _ => at += 1,
            }
        }
        found
    }

    /// From the first to the last byte of some tokens.
    pub fn bytes(&self, tokens: Range<usize>) -> Range<usize> {
        let start = self.tokens.get(tokens.start).map_or(self.text.len(), |token| token.start);
        let end = tokens.end.checked_sub(1).and_then(|last| self.tokens.get(last));
        start..end.map_or(start, |token| token.end)
    }

    /// The token behind the bracket that closes the one here.
    pub fn behind_brackets(&self, at: usize) -> Option<usize> {
        if !matches!(self.word(at), "(" | "{" | "[") {
            return None;
        }
        let mut depth = 0_usize;
        for next in at..self.tokens.len() {
            match self.word(next) {
                "(" | "{" | "[" => depth += 1,
                ")" | "}" | "]" => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return Some(next + 1);
            }
        }
        None
    }

    /// The token behind the statement that begins here.
    pub fn behind_statement(&self, at: usize, depth: usize) -> Option<usize> {
        if depth > MOST_DEPTH {
            return None;
        }
        let inner = |at: usize| self.behind_statement(at, depth + 1);
        match self.word(at) {
            "" | "}" => None,
            "{" => self.behind_brackets(at),
            "for" | "while" | "switch" => inner(self.behind_brackets(at + 1)?),
            "if" => {
                let behind = inner(self.behind_brackets(at + 1)?)?;
                if self.word(behind) == "else" { inner(behind + 1) } else { Some(behind) }
            }
            // Behind the body `while (..);`.
            "do" => Some(self.behind_brackets(inner(at + 1)? + 1)? + 1),
            _ => {
                let mut at = at;
                loop {
                    match self.word(at) {
                        ";" => return Some(at + 1),
                        "(" | "{" | "[" => at = self.behind_brackets(at)?,
                        "" | ")" | "}" | "]" => return None,
                        _ => at += 1,
                    }
                }
            }
        }
    }

    /// The first token behind a pragma.
    pub fn first_behind(&self, pragma: &Pragma<'_>) -> usize {
        self.tokens.partition_point(|token| token.start < pragma.span.end)
    }

    pub fn statement_behind(&self, pragma: &Pragma<'_>) -> Option<Range<usize>> {
        let at = self.first_behind(pragma);
        Some(self.bytes(at..self.behind_statement(at, 0)?))
    }

    /// Whether the threads of a `parallel` share out all that they do: nothing is done by each of them but declarations.
    pub fn is_shared_out(&self, pragma: &Pragma<'_>) -> bool {
        let first = self.first_behind(pragma);
        if self.word(first) != "{" {
            return self.is_part(first, pragma.span.end);
        }
        let mut at = first + 1;
        while self.word(at) != "}" {
            let before = self.bytes(at - 1..at).end;
            let Some(behind) = self.behind_statement(at, 0) else { return false };
            if !self.is_part(at, before) && !self.declares(at..behind) {
                return false;
            }
            at = behind;
        }
        true
    }

    /// Whether a pragma between a place and the statement behind it shares that out.
    fn is_part(&self, at: usize, before: usize) -> bool {
        let place = before..self.bytes(at..at + 1).start;
        let own = |pragma: &&Pragma<'_>| place.start <= pragma.span.start && pragma.span.end <= place.end;
        let mut own = self.pragmas.iter().filter(own).filter(|pragma| !pragma.has(&ALONE));
        own.next().is_some_and(|pragma| pragma.names.first().is_some_and(|name| SHARED_OUT.contains(name)))
    }

    /// Whether a statement declares numbers and has no effect.
    fn declares(&self, tokens: Range<usize>) -> bool {
        let effect = |word: &str| word == "(" || word == "++" || word == "--" || word == "*" || assigns(word);
        self.word(tokens.start) == ";"
            || (TYPES.contains(&self.word(tokens.start))
                && !tokens.into_iter().any(|at| effect(self.word(at))))
    }
}

/// Whether a word is an assignment other than `=`.
fn assigns(word: &str) -> bool {
    word.len() > 1 && word.ends_with('=') && !matches!(word, "==" | "!=" | "<=" | ">=")
}

/// The pragma of OpenMP that a directive is.
fn pragma(text: &str, span: Range<usize>) -> Option<Pragma<'_>> {
    let line = 1 + text.get(..span.start)?.matches('\n').count();
    let body = text.get(span.start + 1..span.end)?;
    let words: Vec<&str> =
        lexer::tokens(body).iter().filter_map(|token| body.get(token.start..token.end)).collect();
    let ["pragma", "omp", rest @ ..] = words.as_slice() else { return None };
    let names = rest.iter().copied().take_while(|word| DIRECTIVES.contains(word)).collect();
    let (mut private, mut own, mut loops) = (Vec::new(), Vec::new(), 1);
    let mut clause = "";
    for (at, word) in rest.iter().enumerate() {
        match *word {
            "(" if clause.is_empty() => clause = at.checked_sub(1).map_or("", |before| rest[before]),
            ")" => clause = "",
            word => {
                if PRIVATE.contains(&clause) {
                    private.push(word);
                }
                if PRIVATE.contains(&clause) || REDUCED.contains(&clause) {
                    own.push(word);
                }
                if clause == "collapse" {
                    loops = word.parse().unwrap_or(1);
                }
            }
        }
    }
    Some(Pragma { span, line, names, private, own, loops })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared_out(text: &str) -> bool {
        let parsed = Parsed::new(text);
        parsed.is_shared_out(&parsed.pragmas[0])
    }

    #[test]
    fn statements_behind_pragmas() {
        let text = "void f(int n) {\n#pragma omp parallel for \\\n  private(a, b) // c\n\
                    for (;;) if (n) g(); else { h(); }\n  k();\n}\n#pragma scop\n";
        let parsed = Parsed::new(text);
        assert_eq!(parsed.pragmas.len(), 1);
        let pragma = &parsed.pragmas[0];
        assert_eq!((pragma.names.join(" ").as_str(), pragma.line), ("parallel for", 2));
        assert_eq!(pragma.private, ["a", ",", "b"]);
        let span = parsed.statement_behind(pragma).unwrap();
        assert_eq!(&text[span], "for (;;) if (n) g(); else { h(); }");
        assert_eq!(parsed.functions.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["f"]);
    }

    #[test]
    fn what_threads_share_out() {
        let start = "#pragma omp parallel\n";
        assert!(shared_out(&format!("{start}#pragma omp for\nfor (;;) f();")));
        assert!(shared_out(&format!(
            "{start}{{ double own = 0; int i;\n#pragma omp for nowait\nfor (;;) f();\n#pragma omp barrier\n\
             #pragma omp single\n{{ g(); }} }}"
        )));
        assert!(!shared_out(&format!("{start}{{ count++; }}")));
        assert!(!shared_out(&format!("{start}for (;;) f();")));
        assert!(!shared_out(&format!("{start}{{ int own = f(); }}")));
        assert!(!shared_out(&format!("{start}{{\n#pragma omp barrier\nf(); }}")));
        assert!(!shared_out(&format!("{start}{{\n#pragma omp critical\nsum += own; }}")));
        assert!(!shared_out(&format!("{start}{{ #")));
    }
}
