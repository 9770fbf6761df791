//! Tokens of an expression.

use super::error::{ExpressionError, error};

/// Longest expression in bytes.
const LONGEST: usize = 1 << 16;

/// A token and the column where it starts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub kind: Kind,
    pub column: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Integer(i64),
    Real(f64),
    Text(String),
    /// A name or a word of the language.
    Name(String),
    /// An operator or a bracket.
    Symbol(&'static str),
    End,
}

/// Longer symbols first.
const SYMBOLS: [&str; 23] = [
    "**", "//", "==", "!=", "<=", ">=", "&&", "||", "+", "-", "*", "/", "%", "<", ">", "!", "(", ")", "[",
    "]", ",", "&", "|",
];

/// Splits a text into tokens; the last is [`Kind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, ExpressionError> {
    if text.len() > LONGEST {
        return Err(error(text, 1, format!("the expression is longer than {LONGEST} bytes"), ""));
    }
    let characters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        let column = at + 1;
        let start = characters[at];
        let kind = if start.is_whitespace() {
            at += 1;
            continue;
        } else if start.is_ascii_digit()
            || (start == '.' && characters.get(at + 1).is_some_and(char::is_ascii_digit))
        {
            number(text, &characters, &mut at)?
        } else if start.is_alphabetic() || start == '_' {
            let from = at;
            while characters.get(at).is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.')) {
                at += 1;
            }
            Kind::Name(characters[from..at].iter().collect())
        } else if matches!(start, '"' | '\'') {
            let from = at + 1;
            let length = characters[from..].iter().position(|&c| c == start);
            let Some(length) = length else {
                return Err(error(text, column, "the text has no closing quote", ""));
            };
            at = from + length + 1;
            Kind::Text(characters[from..from + length].iter().collect())
        } else {
            let symbol = SYMBOLS
                .iter()
                .find(|symbol| symbol.chars().enumerate().all(|(i, c)| characters.get(at + i) == Some(&c)));
            let Some(symbol) = symbol else {
                let hint = if start == '=' { "equality is written ==" } else { "" };
                return Err(error(text, column, format!("`{start}` has no meaning here"), hint));
            };
            at += symbol.len();
            Kind::Symbol(symbol)
        };
        tokens.push(Token { kind, column });
    }
    tokens.push(Token { kind: Kind::End, column: characters.len() + 1 });
    Ok(tokens)
}

fn number(text: &str, characters: &[char], at: &mut usize) -> Result<Kind, ExpressionError> {
    let from = *at;
    let mut whole = true;
    while let Some(&c) = characters.get(*at) {
        let exponent_sign =
            matches!(c, '+' | '-') && matches!(characters[*at - 1], 'e' | 'E') && *at > from && !whole;
        if !(c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '_') || exponent_sign) {
            break;
        }
        whole &= !matches!(c, '.' | 'e' | 'E');
        *at += 1;
    }
    let digits: String = characters[from..*at].iter().filter(|&&c| c != '_').collect();
    let parsed = if whole { digits.parse().ok().map(Kind::Integer) } else { None };
    let real = || digits.parse::<f64>().ok().filter(|number| number.is_finite()).map(Kind::Real);
    parsed.or_else(real).ok_or_else(|| error(text, from + 1, format!("`{digits}` is no number"), ""))
}
