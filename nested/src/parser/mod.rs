//! From tokens to the syntax tree. Hand-written descent; after a mistake it goes on behind the next `;`, so that all
//! mistakes of a file are reported in one go.

mod expression;

use crate::ast::{Expr, Item, ItemKind, Name, Pattern, Program, TypeExpr};
use crate::codes;
use crate::token::{Token, TokenKind, tokenize};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;

/// Largest source text, in bytes.
pub const MOST_BYTES: usize = 1 << 20;
/// How deep parentheses, functions, operators before operands and conditionals may nest.
pub const MOST_NESTING: usize = 64;
/// Most operators of one sum or product.
pub const MOST_TERMS: usize = 100;
/// How high an expression's tree may be: a sum of `n` terms has the height `n`.
pub const MOST_HEIGHT: usize = 90;
/// Most parameters of a function, names of a pattern, and lines of a block.
pub const MOST_NAMES: usize = 32;

/// Reads a text; `None` if not even its head could be read. The tree is complete and free of mistakes only if no
/// diagnostic was added.
pub fn parse(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<Program> {
    if text.len() > MOST_BYTES {
        let message = format!("the file has {} bytes; at most {MOST_BYTES} are read", text.len());
        diagnostics.push(Diagnostic::limitation(codes::FILE_TOO_LARGE, 0..0, message));
        return None;
    }
    let tokens = tokenize(text, diagnostics);
    let mut parser =
        Parser { text, tokens, position: 0, diagnostics, comments: Vec::new(), nesting: 0, height: 0 };
    parser.skip_comments();
    parser.file()
}

/// The mark of a mistake that has been reported.
struct Reported;

type Parsed<T> = Result<T, Reported>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    position: usize,
    diagnostics: &'a mut Vec<Diagnostic>,
    /// Comments since the last item began.
    comments: Vec<String>,
    nesting: usize,
    /// The height of the expression that was read last.
    height: usize,
}

impl Parser<'_> {
    fn token(&self) -> &Token {
        // The last token is the end, and the position never moves beyond it.
        &self.tokens[self.position]
    }

    fn kind(&self) -> TokenKind {
        self.token().kind
    }

    fn next_kind(&self) -> TokenKind {
        let rest = self.tokens[self.position..].iter().skip(1);
        rest.map(|token| token.kind).find(|kind| *kind != TokenKind::Comment).unwrap_or(TokenKind::End)
    }

    fn last_end(&self) -> usize {
        let before = self.tokens[..self.position].iter().rev();
        before
            .map(|token| (token.kind, token.span.end))
            .find(|(kind, _)| *kind != TokenKind::Comment)
            .map_or(0, |(_, end)| end)
    }

    fn skip_comments(&mut self) {
        while self.kind() == TokenKind::Comment {
            let text = &self.text[self.token().span.clone()];
            let text = text.trim_start_matches('/').trim_end();
            self.comments.push(text.strip_prefix(' ').unwrap_or(text).to_owned());
            self.position += 1;
        }
    }

    fn advance(&mut self) -> Token {
        let token = self.token().clone();
        if token.kind != TokenKind::End {
            self.position += 1;
        }
        self.skip_comments();
        token
    }

    fn take(&mut self, kind: TokenKind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.advance();
        }
        found
    }

    fn push(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diagnostics.push(diagnostic);
        Reported
    }

    /// The next token is not what it should be. Unreadable text has been reported already.
    fn expected(&mut self, what: &str, hint: Option<String>) -> Reported {
        let token = self.token().clone();
        let near = self.position.saturating_sub(1)..=self.position;
        if self.tokens[near].iter().any(|token| token.kind == TokenKind::Bad) {
            return Reported;
        }
        let end = self.last_end();
        if token.kind == TokenKind::End {
            let message = format!("the file ends where {what} is expected");
            let diagnostic = Diagnostic::error(codes::UNCLOSED, end..end, message);
            return self.push(diagnostic.label(format!("expected {what}")).maybe_hint(hint));
        }
        let found = match token.kind {
            TokenKind::Name => {
                let name: String = self.text[token.span.clone()].chars().take(40).collect();
                format!("`{name}`")
            }
            kind => kind.describe().to_owned(),
        };
        // A missing part at the end of a line is shown there, not on the next line.
        let next_line = end > 0 && self.text[end..token.span.start].contains('\n');
        let span = if next_line { end..end } else { token.span };
        let message = format!("expected {what}, found {found}");
        let diagnostic = Diagnostic::error(codes::SYNTAX, span, message);
        self.push(diagnostic.label(format!("expected {what}")).maybe_hint(hint))
    }

    fn expect(&mut self, kind: TokenKind) -> Parsed<Token> {
        if self.kind() == kind { Ok(self.advance()) } else { Err(self.expected(kind.describe(), None)) }
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        if self.kind() == TokenKind::Name {
            let span = self.advance().span;
            return Ok(Name { text: self.text[span.clone()].to_owned(), span });
        }
        let hint = self
            .kind()
            .is_word()
            .then(|| "this word belongs to the language; choose another name".to_owned());
        Err(self.expected(what, hint))
    }

    fn file(&mut self) -> Option<Program> {
        let description = std::mem::take(&mut self.comments);
        let hint =
            "a file holds one program: `nested name { input x: [f64]; output y = reduce(+, x, 0.0); }`";
        if self.kind() != TokenKind::Nested {
            self.expected("`nested`", Some(hint.to_owned()));
            return None;
        }
        self.advance();
        let name = self.name("the program's name").ok()?;
        self.expect(TokenKind::LeftBrace).ok()?;
        let (items, _, ending) = self.items(false);
        if self.kind() == TokenKind::RightBrace {
            self.advance();
            if self.kind() != TokenKind::End {
                self.expected("the end of the file", Some("a file holds one program".to_owned()));
            }
        } else {
            self.expected("`}`", None);
        }
        Some(Program { description, name, items, ending })
    }

    /// Items up to a closing brace, and what follows `until` before it.
    fn items(&mut self, repeated: bool) -> (Vec<Item>, Option<Expr>, Vec<String>) {
        let mut items = Vec::new();
        let mut until = None;
        while !matches!(self.kind(), TokenKind::RightBrace | TokenKind::End) {
            let start = self.position;
            if repeated && self.kind() == TokenKind::Until {
                self.advance();
                let condition =
                    self.expr().and_then(|condition| self.expect(TokenKind::Semicolon).map(|_| condition));
                match condition {
                    Ok(condition) => until = Some(condition),
                    Err(Reported) => self.recover(start),
                }
                if !matches!(self.kind(), TokenKind::RightBrace | TokenKind::End) {
                    self.expected("`}`", Some("`until` is the last line of `repeat`".to_owned()));
                    self.recover(self.position);
                }
                continue;
            }
            match self.item() {
                Ok(item) => items.push(item),
                Err(Reported) => self.recover(start),
            }
        }
        (items, until, std::mem::take(&mut self.comments))
    }

    /// Goes on behind the next `;`, or before a brace that closes more than was opened since.
    fn recover(&mut self, start: usize) {
        self.nesting = 0;
        let opened = |kind| match kind {
            TokenKind::LeftBrace => 1,
            TokenKind::RightBrace => -1,
            _ => 0,
        };
        let mut depth: i32 = self.tokens[start..self.position].iter().map(|token| opened(token.kind)).sum();
        if self.position == start && self.kind() != TokenKind::RightBrace {
            depth += opened(self.kind());
            self.advance();
        }
        loop {
            match self.kind() {
                TokenKind::End => return,
                TokenKind::Semicolon if depth <= 0 => {
                    self.advance();
                    return;
                }
                TokenKind::RightBrace if depth <= 0 => return,
                kind => depth += opened(kind),
            }
            self.advance();
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let comments = std::mem::take(&mut self.comments);
        let start = self.token().span.start;
        let kind = match self.kind() {
            TokenKind::Input => {
                self.advance();
                let name = self.name("the input's name")?;
                self.expect(TokenKind::Colon)?;
                ItemKind::Input(name, self.type_expr()?)
            }
            TokenKind::Param => {
                self.advance();
                let name = self.name("the parameter's name")?;
                self.expect(TokenKind::Colon)?;
                let kind = self.type_expr()?;
                self.expect(TokenKind::Assign)?;
                ItemKind::Param(name, kind, self.expr()?)
            }
            TokenKind::Table => {
                self.advance();
                let name = self.name("the table's name")?;
                self.expect(TokenKind::Colon)?;
                let kind = self.type_expr()?;
                self.expect(TokenKind::Assign)?;
                self.expect(TokenKind::LeftBracket)?;
                ItemKind::Table(name, kind, self.list(TokenKind::RightBracket)?)
            }
            TokenKind::Let => {
                self.advance();
                let (pattern, value) = self.binding()?;
                ItemKind::Let(pattern, value)
            }
            TokenKind::Compute => {
                self.advance();
                let name = self.name("a name for the result")?;
                self.expect(TokenKind::Assign)?;
                ItemKind::Compute(name, self.expr()?)
            }
            TokenKind::Output => {
                self.advance();
                let name = self.name("the output's name")?;
                let value = if self.take(TokenKind::Assign) { Some(self.expr()?) } else { None };
                ItemKind::Output(name, value)
            }
            TokenKind::State => {
                self.advance();
                let name = self.name("the state's name")?;
                self.expect(TokenKind::Assign)?;
                ItemKind::State(name, self.expr()?)
            }
            TokenKind::Repeat => {
                self.advance();
                let times = self.expr()?;
                self.expect(TokenKind::LeftBrace)?;
                let (items, until, ending) = self.items(true);
                let end = self.expect(TokenKind::RightBrace)?.span.end;
                return Ok(Item {
                    comments,
                    kind: ItemKind::Repeat { times, items, until, ending },
                    span: start..end,
                });
            }
            TokenKind::Name if self.next_kind() == TokenKind::Assign => {
                let name = self.name("a name")?;
                self.expect(TokenKind::Assign)?;
                ItemKind::Assign(name, self.expr()?)
            }
            _ => {
                let hint = "a line starts with `input`, `param`, `table`, `let`, `compute`, `output`, `state` or `repeat`";
                return Err(self.expected("a declaration or a computation", Some(hint.to_owned())));
            }
        };
        let end = self.expect(TokenKind::Semicolon)?.span.end;
        Ok(Item { comments, kind, span: start..end })
    }

    fn binding(&mut self) -> Parsed<(Pattern, Expr)> {
        let pattern = self.pattern()?;
        self.expect(TokenKind::Assign)?;
        Ok((pattern, self.expr()?))
    }

    /// The expression that is read now is higher by one than others.
    fn higher(&mut self, others: usize) -> Parsed<()> {
        self.height = others + 1;
        if self.height <= MOST_HEIGHT {
            return Ok(());
        }
        let span = self.after_last();
        let message = format!("this expression has more than {MOST_HEIGHT} parts, one inside of the other");
        let diagnostic = Diagnostic::limitation(codes::NESTED_TOO_DEEP, span, message);
        Err(self.push(diagnostic.hint("name a part of it with `let`")))
    }

    /// The place right after the last token that was taken.
    fn after_last(&self) -> Span {
        self.last_end()..self.last_end()
    }

    /// Refuses lists that are too long to nest one thing in another for each.
    fn few(&mut self, count: usize, what: &str) -> Parsed<()> {
        if count <= MOST_NAMES {
            return Ok(());
        }
        let message = format!("more than {MOST_NAMES} {what}");
        let span = self.token().span.clone();
        let diagnostic = Diagnostic::limitation(codes::NESTED_TOO_DEEP, span, message);
        Err(self.push(diagnostic.hint("make two of it")))
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= MOST_NESTING {
            let span = self.token().span.clone();
            let message = format!("this is nested deeper than {MOST_NESTING}");
            let diagnostic = Diagnostic::limitation(codes::NESTED_TOO_DEEP, span, message);
            return Err(self.push(diagnostic.hint("name a part of it with `let`")));
        }
        self.nesting += 1;
        let result = inner(self);
        self.nesting = self.nesting.saturating_sub(1);
        result
    }

    fn type_expr(&mut self) -> Parsed<TypeExpr> {
        let start = self.token().span.start;
        match self.kind() {
            TokenKind::LeftBracket => {
                self.advance();
                let element = self.deeper(Self::type_expr)?;
                let end = self.expect(TokenKind::RightBracket)?.span.end;
                Ok(TypeExpr::Sequence(Box::new(element), start..end))
            }
            TokenKind::LeftParen => {
                self.advance();
                let mut parts = vec![self.deeper(Self::type_expr)?];
                while self.take(TokenKind::Comma) {
                    parts.push(self.deeper(Self::type_expr)?);
                }
                let end = self.expect(TokenKind::RightParen)?.span.end;
                Ok(TypeExpr::Tuple(parts, start..end))
            }
            _ => {
                let name = self.name("a type")?;
                if !self.take(TokenKind::Caret) {
                    return Ok(TypeExpr::Scalar(name));
                }
                let span = self.expect(TokenKind::Integer)?.span;
                let count = self.text[span].parse().unwrap_or(u64::MAX);
                Ok(TypeExpr::Vector(name, count))
            }
        }
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        if self.kind() != TokenKind::LeftParen {
            return self.name("a name").map(Pattern::Name);
        }
        let start = self.advance().span.start;
        let mut parts = vec![self.deeper(Self::pattern)?];
        while self.take(TokenKind::Comma) {
            parts.push(self.deeper(Self::pattern)?);
            self.few(parts.len(), "names")?;
        }
        let end = self.expect(TokenKind::RightParen)?.span.end;
        Ok(Pattern::Tuple(parts, start..end))
    }

    /// Expressions with commas, up to a closing token, which is taken.
    fn list(&mut self, close: TokenKind) -> Parsed<Vec<Expr>> {
        let mut parts = Vec::new();
        let mut most = 0;
        if self.take(close) {
            self.height = 0;
            return Ok(parts);
        }
        loop {
            parts.push(self.expr()?);
            most = most.max(self.height);
            if self.take(close) {
                self.higher(most)?;
                return Ok(parts);
            }
            if !self.take(TokenKind::Comma) {
                let what = format!("`,` or {}", close.describe());
                return Err(self.expected(&what, None));
            }
        }
    }
}
