//! Parentheses that a grammar without types cannot tell from a conversion.
//!
//! `a * (b) + c` is a sum, and with a type `b` a conversion of `+c`. Types are known here, so a value in parentheses
//! gets a mark that only a value can have: `(MARK, b)`. The parser takes it away.

use super::lexer;
use super::origin::Piece;
use std::collections::HashSet;

/// The mark.
pub const MARK: &str = "tw_value";
/// What is written behind the parenthesis.
pub const PARENTHESIS: &str = "tw_value,";

/// Finds such parentheses, line after line.
pub struct Parentheses {
    types: HashSet<String>,
    /// The last token.
    last: String,
}

impl Parentheses {
    /// With the types that a program defines.
    pub fn new(pieces: &[Piece<'_>]) -> Self {
        let mut types: HashSet<String> = [
            "void",
            "char",
            "short",
            "int",
            "long",
            "float",
            "double",
            "signed",
            "unsigned",
            "_Bool",
            "bool",
            "const",
            "volatile",
            "struct",
            "union",
            "enum",
            "size_t",
            "ssize_t",
            "ptrdiff_t",
            "FILE",
            "_Complex",
            "register",
            "__extension__",
        ]
        .map(str::to_owned)
        .into();
        let (mut defining, mut name) = (false, String::new());
        for piece in pieces {
            for token in lexer::tokens(&piece.text) {
                match &piece.text[token.start..token.end] {
                    "typedef" => defining = true,
                    ";" if defining => {
                        defining = false;
                        types.insert(std::mem::take(&mut name));
                    }
                    word if defining && is_word(word) => name = word.to_owned(),
                    _ => {}
                }
            }
        }
        Parentheses { types, last: String::new() }
    }

    /// Offsets behind the parentheses of a line that hold a value.
    pub fn ambiguous(&mut self, line: &str) -> Vec<usize> {
        let tokens = lexer::tokens(line);
        let mut found = Vec::new();
        for (number, token) in tokens.iter().enumerate() {
            let text = &line[token.start..token.end];
            let callee = is_word(&self.last) || self.last == ")" || self.last == "]";
            if text == "("
                && !callee
                && let Some(next) = tokens.get(number + 1)
            {
                let word = &line[next.start..next.end];
                if is_word(word)
                    && !word.ends_with("_t")
                    && !self.types.contains(word)
                    && !is_conversion(line, &tokens[number..])
                {
                    found.push(token.end);
                }
            }
            text.clone_into(&mut self.last);
        }
        found
    }
}

/// Whether parentheses hold a type for sure, whatever its name: `(T *) x`, `(T) x`. A value is not followed by another one.
fn is_conversion(line: &str, tokens: &[lexer::Token]) -> bool {
    let text = |at: usize| tokens.get(at).map_or("", |token| &line[token.start..token.end]);
    let mut depth = 0;
    for at in 0..tokens.len() {
        match text(at) {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let next = text(at + 1);
            let begins_value =
                |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '"' | '~');
            return text(at - 1) == "*" || next.starts_with(begins_value);
        }
    }
    false
}

fn is_word(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
}
