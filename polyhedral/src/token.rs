//! Tokens of the stencil language.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use logos::{Lexer, Logos};

/// What a token is.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f\x0B]+")]
#[allow(missing_docs)]
pub enum TokenKind {
    #[token("stencil")]
    Stencil,
    #[token("field")]
    Field,
    #[token("coefficient")]
    Coefficient,
    #[token("series")]
    Series,
    #[token("param")]
    Param,
    #[token("boundary")]
    Boundary,
    #[token("let")]
    Let,
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Name,
    #[regex("[0-9]+")]
    Integer,
    #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?")]
    #[regex(r"\.[0-9]+([eE][+-]?[0-9]+)?")]
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
    #[token("/*", block_comment)]
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

fn block_comment(lexer: &mut Lexer<'_, TokenKind>) -> bool {
    let rest = lexer.remainder();
    let end = rest.find("*/");
    lexer.bump(end.map_or(rest.len(), |end| end + 2));
    end.is_some()
}

impl TokenKind {
    /// How a diagnostic names it.
    pub fn describe(self) -> &'static str {
        match self {
            TokenKind::Stencil => "`stencil`",
            TokenKind::Field => "`field`",
            TokenKind::Coefficient => "`coefficient`",
            TokenKind::Series => "`series`",
            TokenKind::Param => "`param`",
            TokenKind::Boundary => "`boundary`",
            TokenKind::Let => "`let`",
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
}

/// A token and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

/// Splits a text into tokens; the last one is [`TokenKind::End`]. Text that is no token is reported and
/// becomes [`TokenKind::Bad`]. A byte-order mark in front is skipped.
pub fn tokenize(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut tokens: Vec<Token> = Vec::new();
    for (kind, span) in TokenKind::lexer(&text[start..]).spanned() {
        let span = span.start + start..span.end + start;
        let kind = kind.unwrap_or(TokenKind::Bad);
        let touches = |last: &Token| last.span.end == span.start;
        match tokens.last_mut().filter(|last| touches(last)) {
            // One report for a run of strange characters.
            Some(last) if kind == TokenKind::Bad && last.kind == TokenKind::Bad => {
                last.span.end = span.end;
                continue;
            }
            // `0.5f`, `1e`, `1.2.3`, `3x`
            Some(last) if is_numeric(text, last) && (is_number(kind) || kind == TokenKind::Name) => {
                last.span.end = span.end;
                last.kind = TokenKind::Bad;
                continue;
            }
            _ => tokens.push(Token { kind, span }),
        }
    }
    diagnostics
        .extend(tokens.iter().filter(|token| token.kind == TokenKind::Bad).map(|bad| report(text, bad)));
    tokens.push(Token { kind: TokenKind::End, span: text.len()..text.len() });
    tokens
}

fn is_number(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Integer | TokenKind::Float)
}

/// A number, or the broken beginning of one.
fn is_numeric(text: &str, token: &Token) -> bool {
    let broken =
        || token.kind == TokenKind::Bad && text[token.span.start..].starts_with(|c: char| c.is_ascii_digit());
    is_number(token.kind) || broken()
}

fn report(text: &str, bad: &Token) -> Diagnostic {
    let piece = &text[bad.span.clone()];
    if piece.starts_with("/*") {
        let opening = bad.span.start..bad.span.start + 2;
        return Diagnostic::error(Code::UNTERMINATED_COMMENT, opening, "this comment has no end")
            .label("the comment starts here")
            .hint("close it with `*/`");
    }
    let first = piece.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() || first == '.' && piece.len() > 1 {
        return malformed_number(piece, bad.span.clone());
    }
    let shown = first.escape_debug();
    let message = if piece.chars().nth(1).is_none() {
        format!("the character `{shown}` has no meaning here")
    } else {
        format!("the characters from `{shown}` on have no meaning here")
    };
    let diagnostic = Diagnostic::error(Code::UNEXPECTED_CHARACTER, bad.span.clone(), message);
    match first {
        '^' => diagnostic.hint("there is no power operator; write `x * x`"),
        '&' => diagnostic.hint("write `&&` for `and`"),
        '|' => diagnostic.hint("write `||` for `or`"),
        '#' => diagnostic.hint("comments start with `//`"),
        '\u{2212}' | '\u{2013}' | '\u{2014}' => diagnostic.hint("this is a dash; write the minus sign `-`"),
        '\u{d7}' | '\u{b7}' => diagnostic.hint("write `*` for a product"),
        '\0' => diagnostic.note("the file contains a NUL byte; is it a text file?"),
        _ => diagnostic,
    }
}

fn malformed_number(piece: &str, span: Span) -> Diagnostic {
    let digits = piece.trim_end_matches(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    let suffix = &piece[digits.len()..];
    let short: String = piece.chars().take(40).collect();
    let diagnostic = Diagnostic::error(Code::MALFORMED_NUMBER, span, format!("`{short}` is not a number"));
    match suffix {
        "f" | "F" | "l" | "L" | "d" | "D" | "u" | "U" if !digits.is_empty() => diagnostic
            .note("a number has no suffix: it takes the type of the operand it meets")
            .hint(format!("write `{digits}`")),
        "e" | "E" => diagnostic.hint("an exponent needs digits, as in `1e-3`"),
        _ => diagnostic.hint("numbers look like `2`, `0.125` or `1e-3`"),
    }
}
