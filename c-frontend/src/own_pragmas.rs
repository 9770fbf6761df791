//! The program's own OpenMP pragmas. Its files are compiled with them where that means what it meant: tiled loops start a
//! team of threads themselves, so none of them may stand in a construct of the program's, and what they compute at once
//! must be what the loops with their pragmas compute.
//!
//! Texts are looked at token by token. What cannot be followed, such as braces that `#if` takes apart, is a reason to
//! compile without OpenMP, as if the pragmas were not there.

use crate::preprocess::lexer::{self, Token};
use crate::program::CProgram;
use std::collections::HashSet;
use std::ops::Range;

/// A file of the user's.
#[derive(Debug)]
pub struct OwnFile {
    /// Its name, for messages.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl OwnFile {
    /// Whether it has pragmas of OpenMP.
    pub fn has_pragmas(&self) -> bool {
        self.makes_pragmas() || !Parsed::new(&self.text).pragmas.is_empty()
    }

    /// Whether it is another text for compilers with OpenMP.
    pub fn asks_for_openmp(&self) -> bool {
        self.text.contains("_OPENMP")
    }

    /// Whether macros may make pragmas, of which the place is not known.
    fn makes_pragmas(&self) -> bool {
        self.text.contains("_Pragma") && self.text.contains("omp")
    }
}

/// Whether the pragmas may mean what they say. The `files` are those of the program, first the one with the loops.
///
/// # Errors
/// Why not.
pub fn keep(programs: &[CProgram], files: &[OwnFile]) -> Result<(), String> {
    let parsed: Vec<Parsed<'_>> = files.iter().map(|file| Parsed::new(&file.text)).collect();
    let cuts: Vec<Range<usize>> = programs.iter().map(|program| program.nest.cut()).collect();
    for (file, own) in files.iter().zip(&parsed) {
        if file.makes_pragmas() {
            return Err(format!("`_Pragma` makes some in {}, whose places are not known", file.name));
        }
        if let Some(pragma) = own.pragmas.iter().find(|pragma| pragma.has(&DEVICES)) {
            let place = pragma.place(file);
            return Err(format!("{place} is for devices, whose memory tiled loops do not know"));
        }
    }
    let Some((main, own)) = files.first().zip(parsed.first()) else { return Ok(()) };
    for pragma in own.pragmas.iter().filter(|pragma| !pragma.has(&ALONE)) {
        let place = pragma.place(main);
        let outside = |cut: &&Range<usize>| pragma.span.start < cut.start;
        let span = own.statement_behind(pragma);
        let span = span.ok_or_else(|| format!("the statement of {place} cannot be followed"))?;
        if cuts.iter().filter(outside).any(|cut| span.start < cut.end && cut.start < span.end) {
            return Err(format!(
                "{place} is around a loop that runs in tiles, which have threads of their own"
            ));
        }
    }
    let assigned: HashSet<&str> = programs.iter().flat_map(wanted).collect();
    for ((file, own), within) in files.iter().zip(&parsed).zip(reached(&parsed, &cuts)) {
        for pragma in own.pragmas.iter().filter(|pragma| pragma.lies_in(&within)) {
            let place = pragma.place(file);
            if pragma.names == ["parallel"] && !own.is_shared_out(pragma) {
                return Err(format!("in {place} each thread does the same, and not a part of it"));
            }
            if let Some(name) = pragma.private.iter().find(|name| assigned.contains(**name)) {
                return Err(format!("{place} leaves `{name}` as it was, which is used behind the loops"));
            }
        }
    }
    Ok(())
}

/// The variables whose values behind the loops the tiled loops make themselves.
fn wanted(program: &CProgram) -> Vec<&str> {
    let behind = program.region.used_behind.iter().map(String::as_str);
    let observed = program.nest.observed.iter().flat_map(|observed| {
        let counted = observed.scalars.iter().map(|(name, _)| name.as_str());
        counted.chain(observed.tests.iter().map(|test| test.of.as_str()))
    });
    behind.chain(observed).collect()
}

/// Of each file what runs in the loops: the loops themselves, and the functions that they may call.
fn reached(files: &[Parsed<'_>], cuts: &[Range<usize>]) -> Vec<Vec<Range<usize>>> {
    let mut within: Vec<Vec<Range<usize>>> = files.iter().map(|_| Vec::new()).collect();
    let Some((first, list)) = files.first().zip(within.first_mut()) else { return within };
    let mut names: HashSet<&str> = cuts.iter().flat_map(|cut| first.words_in(cut)).collect();
    list.extend(cuts.iter().cloned());
    loop {
        let known = within.iter().map(Vec::len).sum::<usize>();
        for (file, list) in files.iter().zip(&mut within) {
            for (name, body) in &file.functions {
                if names.contains(name) && !list.contains(body) {
                    list.push(body.clone());
                    names.extend(file.words_in(body));
                }
            }
        }
        if within.iter().map(Vec::len).sum::<usize>() == known {
            return within;
        }
    }
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
const DEVICES: [&str; 7] =
    ["target", "teams", "distribute", "requires", "interop", "dispatch", "metadirective"];
/// Those without a statement.
const ALONE: [&str; 10] = [
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
/// How declarations of numbers begin.
const TYPES: [&str; 12] = [
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
struct Pragma<'a> {
    span: Range<usize>,
    line: usize,
    /// The words of its directive.
    names: Vec<&'a str>,
    /// Variables that each thread has for itself.
    private: Vec<&'a str>,
}

impl Pragma<'_> {
    fn has(&self, names: &[&str]) -> bool {
        self.names.iter().any(|name| names.contains(name))
    }

    fn lies_in(&self, ranges: &[Range<usize>]) -> bool {
        ranges.iter().any(|range| range.start <= self.span.start && self.span.end <= range.end)
    }

    fn place(&self, file: &OwnFile) -> String {
        format!("`#pragma omp {}` ({}, line {})", self.names.join(" "), file.name, self.line)
    }
}

/// The tokens of a file, its pragmas, and where the bodies of its functions are.
struct Parsed<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    pragmas: Vec<Pragma<'a>>,
    functions: Vec<(&'a str, Range<usize>)>,
}

impl<'a> Parsed<'a> {
    fn new(text: &'a str) -> Self {
        let pragmas = lexer::directives(text).into_iter().filter_map(|span| pragma(text, span)).collect();
        let mut parsed = Parsed { text, tokens: lexer::tokens(text), pragmas, functions: Vec::new() };
        parsed.functions = parsed.bodies();
        parsed
    }

    fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).and_then(|token| self.text.get(token.start..token.end)).unwrap_or_default()
    }

    fn words_in(&self, range: &Range<usize>) -> impl Iterator<Item = &'a str> {
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
    fn bytes(&self, tokens: Range<usize>) -> Range<usize> {
        let start = self.tokens.get(tokens.start).map_or(self.text.len(), |token| token.start);
        let end = tokens.end.checked_sub(1).and_then(|last| self.tokens.get(last));
        start..end.map_or(start, |token| token.end)
    }

    /// The token behind the bracket that closes the one here.
    fn behind_brackets(&self, at: usize) -> Option<usize> {
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
    fn behind_statement(&self, at: usize, depth: usize) -> Option<usize> {
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
    fn first_behind(&self, pragma: &Pragma<'_>) -> usize {
        self.tokens.partition_point(|token| token.start < pragma.span.end)
    }

    fn statement_behind(&self, pragma: &Pragma<'_>) -> Option<Range<usize>> {
        let at = self.first_behind(pragma);
        Some(self.bytes(at..self.behind_statement(at, 0)?))
    }

    /// Whether the threads of a `parallel` share out all that they do: nothing is done by each of them but declarations.
    fn is_shared_out(&self, pragma: &Pragma<'_>) -> bool {
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
    let mut private = Vec::new();
    let mut within = false;
    for (at, word) in rest.iter().enumerate() {
        match *word {
            "(" => within = at > 0 && PRIVATE.contains(&rest[at - 1]),
            ")" => within = false,
            word if within => private.push(word),
            _ => {}
        }
    }
    Some(Pragma { span, line, names, private })
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
