//! What stands around a region and changes how all of the program is computed, or where its lines are.

use super::lexer;
use super::origin::{self, Piece};
use crate::codes;
use polyhedral::diagnostic::Diagnostic;

/// Functions that change how floating-point numbers are rounded, or read what the computations have raised.
const ENVIRONMENT: [&str; 22] = [
    "fesetround",
    "fesetenv",
    "feholdexcept",
    "feupdateenv",
    "feclearexcept",
    "fetestexcept",
    "feraiseexcept",
    "feenableexcept",
    "fedisableexcept",
    "fesetmode",
    "fegetexceptflag",
    "fesetexceptflag",
    "_mm_getcsr",
    "_mm_setcsr",
    "_MM_GET_EXCEPTION_STATE",
    "_MM_SET_EXCEPTION_STATE",
    "_MM_SET_EXCEPTION_MASK",
    "_MM_SET_ROUNDING_MODE",
    "_MM_SET_FLUSH_ZERO_MODE",
    "__builtin_ia32_ldmxcsr",
    "_FPU_SETCW",
    "__fpu_control",
];

/// Instructions that do the same, in assembly.
const INSTRUCTIONS: [&str; 3] = ["ldmxcsr", "fldcw", "fldenv"];

/// Why a program with such surroundings cannot be computed in another order, or be shown; `None` if it can.
pub fn refuse(text: &str, lines: &[usize], pieces: &[Piece<'_>]) -> Option<Diagnostic> {
    let one = |piece| changed_arithmetic(text, lines, piece).or_else(|| reserved(text, lines, piece));
    renumbered(text).or_else(|| pieces.iter().find_map(one))
}

/// A name that the rewritten program gives to something of its own.
fn reserved(text: &str, lines: &[usize], piece: &Piece<'_>) -> Option<Diagnostic> {
    if !piece.text.contains("tw_") {
        return None;
    }
    let tokens = lexer::tokens(&piece.text);
    let mut words = tokens.iter().map(|token| &piece.text[token.start..token.end]);
    let name = words.find(|word| word.starts_with("tw_"))?;
    let message = format!("`{name}` is a name that the rewritten program needs itself");
    Some(
        Diagnostic::limitation(codes::RESERVED, origin::line_span(text, lines, piece.line), message)
            .hint("give it a name that does not begin with `tw_`"),
    )
}

/// `#line 7 "other.c"`, or `# 7 "other.c"`.
fn renumbered(text: &str) -> Option<Diagnostic> {
    let found = lexer::directives(text).into_iter().find(|directive| {
        let rest = text[directive.clone()].trim_start_matches('#').trim_start();
        let named =
            rest.strip_prefix("line").is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()));
        named || rest.starts_with(|letter: char| letter.is_ascii_digit())
    })?;
    let message = "lines of this file have other numbers than their own from here on";
    Some(
        Diagnostic::limitation(
            codes::LINE_NUMBERS,
            found.start..found.start + text[found].trim_end().len(),
            message,
        )
        .note("places in messages, and `__LINE__` behind the region, are those of the file itself")
        .hint("take the directive away, or compile the file that it names"),
    )
}

fn changed_arithmetic(text: &str, lines: &[usize], piece: &Piece<'_>) -> Option<Diagnostic> {
    let refuse = |what: String| {
        let place = origin::line_span(text, lines, piece.line);
        let message = format!("{what} changes how floating-point numbers are computed");
        Diagnostic::limitation(codes::ARITHMETIC, place, message)
            .note(
                "tiles compute on several threads and in another order, with the usual rounding and no traps",
            )
            .hint("take it away, or compile that part of the program by itself and add it with --with")
    };
    if let Some(words) = lexer::pragma(&piece.text) {
        let on = !matches!(words.last(), Some(&"OFF" | &"off"));
        let name = |at: usize| words.get(at).and_then(|word| word.split('(').next()).unwrap_or_default();
        let found = match (name(0), name(1)) {
            ("STDC", "FENV_ACCESS" | "FP_CONTRACT") => on && words.last() != Some(&"DEFAULT"),
            ("GCC", "optimize") | ("clang", "fp") => true,
            (first, _) => ["optimize", "float_control", "fenv_access", "fp_contract"].contains(&first),
        };
        return found.then(|| refuse(format!("`#pragma {}`", words.join(" "))));
    }
    let may_hold = |word: &&str| piece.text.contains(*word);
    let quoted = |part: &str| part.rsplit_once('"').is_some_and(|(_, behind)| !behind.contains(['(', ';']));
    for word in INSTRUCTIONS.iter().copied().filter(may_hold) {
        if piece.text.match_indices(word).any(|(at, _)| quoted(&piece.text[..at])) {
            return Some(refuse(format!("the instruction `{word}`")));
        }
    }
    let candidates: Vec<&str> =
        ENVIRONMENT.iter().chain(&["optimize", "__optimize__"]).copied().filter(may_hold).collect();
    if candidates.is_empty() {
        return None;
    }
    let tokens = lexer::tokens(&piece.text);
    let words: Vec<&str> = tokens.iter().map(|token| &piece.text[token.start..token.end]).collect();
    for (at, word) in words.iter().enumerate() {
        let attribute = || words[..at].iter().any(|word| matches!(*word, "__attribute__" | "__attribute"));
        match *word {
            "optimize" | "__optimize__" if attribute() => {
                return Some(refuse("the attribute `optimize`".to_owned()));
            }
            name if ENVIRONMENT.contains(&name) => return Some(refuse(format!("`{name}`"))),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::trace;
    use polyhedral::source::SourceFile;
    use std::sync::Arc;

    #[test]
    fn what_cannot_be_computed_in_another_order_is_refused() {
        let code = |line: &str| {
            let text = format!("int a;\n{line}\nint b;\n");
            let source = Arc::new(SourceFile { name: "u.c".to_owned(), text: text.clone() });
            // The preprocessor takes `#line` away.
            let expanded = if line.starts_with("#line") { "int a;\n\nint b;\n" } else { &text };
            trace(source, false, expanded)
                .map_err(|found| (found.list[0].code.0, found.to_data()[0].place.line))
        };
        for line in ["#line 7 \"x.y\"", "#line 9"] {
            assert_eq!(code(line).unwrap_err(), ("TW1005", 2), "{line}");
        }
        for line in [
            "#pragma STDC FENV_ACCESS ON",
            "#pragma GCC optimize(\"fast-math\")",
            "#pragma GCC optimize (\"fast-math\")",
            "#pragma float_control(precise, off)",
            "__attribute__((optimize(\"O3\"))) void f(void);",
            "void f(void) { fesetround(0x800); }",
            "void f(void) { _MM_SET_FLUSH_ZERO_MODE(0x8000); }",
            "void f(unsigned m) { __asm__ volatile(\"ldmxcsr %0\" :: \"m\"(m)); }",
        ] {
            assert_eq!(code(line).unwrap_err(), ("TW1006", 2), "{line}");
        }
        assert_eq!(code("double tw_low0;").unwrap_err(), ("TW1008", 2));
        for line in [
            "#pragma STDC FP_CONTRACT OFF",
            "#pragma omp simd",
            "int optimize, two, tw;",
            "#pragma GCC ivdep",
        ] {
            assert!(code(line).is_ok(), "{line}");
        }
    }
}
