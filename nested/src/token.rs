//! Tokens of the language.

use crate::codes;
use logos::{Lexer, Logos};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;

/// What a token is.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f\x0B]+")]
#[allow(missing_docs)]
pub enum TokenKind {
    #[token("nested")]
    Nested,
    #[token("input")]
    Input,
    #[token("param")]
    Param,
    #[token("table")]
    Table,
    #[token("let")]
    Let,
    #[token("compute")]
    Compute,
    #[token("output")]
    Output,
    #[token("state")]
    State,
    #[token("repeat")]
    Repeat,
    #[token("until")]
    Until,
    #[token("assoc")]
    Assoc,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Name,
    #[regex("[0-9]+")]
    Integer,
    #[regex(r"[0-9]+\.[0-9]+([eE][+-]?[0-9]+)?")]
    #[regex(r"[0-9]+[eE][+-]?[0-9]+")]
    Float,
    #[token("(")]
    LeftParen,
    #[token(")")]
    RightParen,
    #[token("[")]
    LeftBracket,
    #[token("]")]
    RightBracket,
    #[token("{")]
    LeftBrace,
    #[token("}")]
    RightBrace,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token(";")]
    Semicolon,
    #[token("?")]
    Question,
    #[token(".")]
    Dot,
    #[token("^")]
    Caret,
    #[token("|")]
    Bar,
    #[token("=")]
    Assign,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[token("==")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("&&")]
    And,
    #[token("||")]
    Or,
    #[token("!")]
    Not,
    #[token("//", line_comment)]
    Comment,
    /// A piece of text that is no token; it has been reported.
    Bad,
    /// The end of the text.
    End,
}

fn line_comment(lexer: &mut Lexer<'_, TokenKind>) {
    let rest = lexer.remainder();
    lexer.bump(rest.find('\n').unwrap_or(rest.len()));
}

impl TokenKind {
    /// How a diagnostic names it.
    pub fn describe(self) -> &'static str {
        match self {
            TokenKind::Nested => "`nested`",
            TokenKind::Input => "`input`",
            TokenKind::Param => "`param`",
            TokenKind::Table => "`table`",
            TokenKind::Let => "`let`",
            TokenKind::Compute => "`compute`",
            TokenKind::Output => "`output`",
            TokenKind::State => "`state`",
            TokenKind::Repeat => "`repeat`",
            TokenKind::Until => "`until`",
            TokenKind::Assoc => "`assoc`",
            TokenKind::True => "`true`",
            TokenKind::False => "`false`",
            TokenKind::Name => "a name",
            TokenKind::Integer | TokenKind::Float => "a number",
            TokenKind::LeftParen => "`(`",
            TokenKind::RightParen => "`)`",
            TokenKind::LeftBracket => "`[`",
            TokenKind::RightBracket => "`]`",
            TokenKind::LeftBrace => "`{`",
            TokenKind::RightBrace => "`}`",
            TokenKind::Comma => "`,`",
            TokenKind::Colon => "`:`",
            TokenKind::Semicolon => "`;`",
            TokenKind::Question => "`?`",
            TokenKind::Dot => "`.`",
            TokenKind::Caret => "`^`",
            TokenKind::Bar => "`|`",
            TokenKind::Assign => "`=`",
            TokenKind::Plus => "`+`",
            TokenKind::Minus => "`-`",
            TokenKind::Star => "`*`",
            TokenKind::Slash => "`/`",
            TokenKind::Percent => "`%`",
            TokenKind::Less => "`<`",
            TokenKind::LessEqual => "`<=`",
            TokenKind::Greater => "`>`",
            TokenKind::GreaterEqual => "`>=`",
            TokenKind::Equal => "`==`",
            TokenKind::NotEqual => "`!=`",
            TokenKind::And => "`&&`",
            TokenKind::Or => "`||`",
            TokenKind::Not => "`!`",
            TokenKind::Comment => "a comment",
            TokenKind::Bad => "unreadable text",
            TokenKind::End => "the end of the file",
        }
    }

    /// Whether it is a word that the language keeps for itself.
    pub fn is_word(self) -> bool {
        use TokenKind::*;
        matches!(
            self,
            Nested
                | Input
                | Param
                | Table
                | Let
                | Compute
                | Output
                | State
                | Repeat
                | Until
                | Assoc
                | True
                | False
        )
    }
}

/// A token and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

/// Splits a text into tokens; the last one is [`TokenKind::End`]. Text that is no token is reported and becomes
/// [`TokenKind::Bad`]. A byte-order mark in front is skipped.
pub fn tokenize(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut tokens: Vec<Token> = Vec::new();
    for (kind, span) in TokenKind::lexer(&text[start..]).spanned() {
        let span = span.start + start..span.end + start;
        let kind = kind.unwrap_or(TokenKind::Bad);
        match tokens.last_mut().filter(|last| last.span.end == span.start) {
            // One report for a run of strange characters.
            Some(last) if kind == TokenKind::Bad && last.kind == TokenKind::Bad => last.span.end = span.end,
            // `0.5f`, `1e`, `3x`
            Some(last) if is_numeric(text, last) && kind == TokenKind::Name => {
                last.span.end = span.end;
                last.kind = TokenKind::Bad;
            }
            _ => tokens.push(Token { kind, span }),
        }
    }
    let bad = tokens.iter().filter(|token| token.kind == TokenKind::Bad);
    diagnostics.extend(bad.map(|bad| report(text, bad)));
    tokens.push(Token { kind: TokenKind::End, span: text.len()..text.len() });
    tokens
}

/// A number, or the broken beginning of one.
fn is_numeric(text: &str, token: &Token) -> bool {
    let number = matches!(token.kind, TokenKind::Integer | TokenKind::Float);
    number
        || token.kind == TokenKind::Bad && text[token.span.start..].starts_with(|c: char| c.is_ascii_digit())
}

fn report(text: &str, bad: &Token) -> Diagnostic {
    let piece = &text[bad.span.clone()];
    let first = piece.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() {
        let short: String = piece.chars().take(40).collect();
        let message = format!("`{short}` is not a number");
        let diagnostic = Diagnostic::error(codes::MALFORMED_NUMBER, bad.span.clone(), message);
        return diagnostic
            .note("a number has no suffix: it takes the type of the operand it meets")
            .hint("numbers look like `2`, `0.125` or `1e-3`; `f32(2)` has a type of its own");
    }
    let message = format!("the character `{}` has no meaning here", first.escape_debug());
    let diagnostic = Diagnostic::error(codes::UNEXPECTED_CHARACTER, bad.span.clone(), message);
    match first {
        '&' => diagnostic.hint("write `&&` for `and`"),
        '#' => diagnostic.hint("comments start with `//`"),
        '\u{2212}' | '\u{2013}' | '\u{2014}' => diagnostic.hint("this is a dash; write the minus sign `-`"),
        _ => diagnostic.hint("names and numbers are made of ASCII letters, digits and `_`"),
    }
}
