//! From tokens to the syntax tree. Hand-written descent; after a mistake it goes on behind the next `;`, so
//! that all mistakes of a file are reported in one go.

mod description;
mod expression;

use crate::ast::{Domain, Item, ItemKind, Name, Stencil};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::token::{Token, TokenKind, tokenize};

/// Largest source text, in bytes.
pub const MOST_BYTES: usize = 1 << 20;
/// How deep parentheses, unary operators, calls and conditionals may nest.
pub const MOST_NESTING: usize = 100;
/// Most operators and operands of one statement or `let`.
pub const MOST_NODES: usize = 20_000;
/// Greatest height of an expression's tree; a sum of `n` terms has height `n`.
pub const MOST_HEIGHT: usize = 1_000;
/// Longest name, in bytes.
pub const MOST_NAME_BYTES: usize = 64;

/// Reads a text; `None` if not even the head of a stencil could be read. The tree is complete and free of
/// mistakes only if no diagnostic was added.
pub fn parse(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<Stencil> {
    if text.len() > MOST_BYTES {
        let message = format!("the file has {} bytes; at most {MOST_BYTES} are read", text.len());
        diagnostics.push(Diagnostic::limitation(Code::FILE_TOO_LARGE, 0..0, message));
        return None;
    }
    let mut tokens = tokenize(text, diagnostics);
    let description = description::description(text, &tokens);
    tokens.retain(|token| token.kind != TokenKind::Comment);
    let mut parser = Parser {
        text,
        tokens,
        position: 0,
        diagnostics,
        incomplete: false,
        nesting: 0,
        nodes: 0,
        capped: false,
    };
    parser.file(description)
}

/// The mark of a mistake that has been reported.
pub(crate) struct Reported;

type Parsed<T> = Result<T, Reported>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    position: usize,
    diagnostics: &'a mut Vec<Diagnostic>,
    incomplete: bool,
    nesting: usize,
    /// Nodes of the present statement.
    nodes: usize,
    /// Whether a limit of the present statement has been reported.
    capped: bool,
}

impl Parser<'_> {
    fn token(&self) -> &Token {
        // The last token is the end, and the position never moves beyond it.
        &self.tokens[self.position]
    }

    fn kind(&self) -> TokenKind {
        self.token().kind
    }

    fn span(&self) -> Span {
        self.token().span.clone()
    }

    /// The end of the last token that was taken.
    fn last_end(&self) -> usize {
        self.position.checked_sub(1).map_or(0, |last| self.tokens[last].span.end)
    }

    /// The place right after the last token that was taken: where something is missing at the end of a file, which
    /// may be on a line before the end of the text.
    fn after_last(&self) -> Span {
        self.last_end()..self.last_end()
    }

    fn advance(&mut self) -> Token {
        let token = self.token().clone();
        if token.kind != TokenKind::End {
            self.position += 1;
        }
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
        let before = self.position.checked_sub(1).map(|last| self.tokens[last].clone());
        if token.kind == TokenKind::Bad || before.as_ref().is_some_and(|before| before.kind == TokenKind::Bad)
        {
            return Reported;
        }
        let found = match token.kind {
            TokenKind::Name => {
                let name: String = self.text[token.span.clone()].chars().take(40).collect();
                format!("`{name}`")
            }
            kind => kind.describe().to_string(),
        };
        if token.kind == TokenKind::End {
            let message = format!("the file ends where {what} is expected");
            let diagnostic = Diagnostic::error(Code::UNCLOSED, self.after_last(), message);
            return self.push(diagnostic.label(format!("expected {what}")).maybe_hint(hint));
        }
        // A missing part at the end of a line is shown there, not on the next line.
        let end = self.last_end();
        let span = if end > 0 && self.next_line() { end..end } else { token.span };
        let diagnostic = Diagnostic::error(Code::SYNTAX, span, format!("expected {what}, found {found}"))
            .label(format!("expected {what}"))
            .maybe_hint(hint);
        self.push(diagnostic)
    }

    fn expect(&mut self, kind: TokenKind) -> Parsed<Token> {
        if self.kind() == kind { Ok(self.advance()) } else { Err(self.expected(kind.describe(), None)) }
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        if self.kind() == TokenKind::Name {
            let span = self.advance().span;
            if span.len() > MOST_NAME_BYTES {
                self.incomplete = true;
                let message =
                    format!("this name has {} letters; at most {MOST_NAME_BYTES} are allowed", span.len());
                return Err(self.push(Diagnostic::limitation(Code::NAME_TOO_LONG, span, message)));
            }
            return Ok(Name { text: self.text[span.clone()].to_string(), span });
        }
        let hint = is_keyword(self.kind()).then(|| self.not_a_name());
        let reported = self.expected(what, hint);
        self.skip_keyword();
        Err(reported)
    }

    fn not_a_name(&self) -> String {
        format!("{} is a word of the language; choose another name", self.kind().describe())
    }

    /// Skips a word of the language that was used as a name; on a line of its own it is a declaration.
    fn skip_keyword(&mut self) {
        if is_keyword(self.kind()) && !self.next_line() {
            self.advance();
        }
    }

    /// Whether the next token stands on a later line than the last one.
    fn next_line(&self) -> bool {
        self.text[self.last_end()..self.span().start].contains('\n')
    }

    fn file(&mut self, description: String) -> Option<Stencil> {
        if self.kind() == TokenKind::End {
            let diagnostic = Diagnostic::error(Code::NO_STENCIL, 0..0, "this file contains no stencil")
                .hint("a stencil looks like `stencil name(t, i) { field u: f32; u[t+1, i] = u[t, i]; }`");
            self.push(diagnostic);
            return None;
        }
        if self.kind() != TokenKind::Stencil {
            self.expected("`stencil`", None);
            while self.kind() != TokenKind::Stencil {
                if self.kind() == TokenKind::End {
                    return None;
                }
                self.advance();
            }
        }
        let head = self.head();
        while !matches!(self.kind(), TokenKind::LeftBrace | TokenKind::End) {
            self.advance();
        }
        let open = self.span();
        let items = if self.take(TokenKind::LeftBrace) { self.items(open) } else { Vec::new() };
        self.after_stencil();
        let (name, indices, indices_span) = head.ok()?;
        Some(Stencil { description, name, indices, indices_span, items, incomplete: self.incomplete })
    }

    fn head(&mut self) -> Parsed<(Name, Vec<Name>, Span)> {
        self.expect(TokenKind::Stencil)?;
        let name = self.name("the stencil's name")?;
        let start = self.expect(TokenKind::LeftParen)?.span.start;
        let mut indices = vec![self.name("the time index")?];
        while self.take(TokenKind::Comma) {
            indices.push(self.name("an index")?);
        }
        let end = if self.kind() == TokenKind::RightParen {
            self.advance().span.end
        } else {
            return Err(self.expected("`,` or `)`", None));
        };
        if self.kind() != TokenKind::LeftBrace {
            return Err(self.expected("`{`", None));
        }
        Ok((name, indices, start..end))
    }

    fn after_stencil(&mut self) {
        let span = self.span();
        match self.kind() {
            TokenKind::End | TokenKind::Bad => {}
            // What was skipped after a mistake may have ended too early.
            kind if self.incomplete && kind != TokenKind::Stencil => {}
            TokenKind::Stencil => {
                let diagnostic =
                    Diagnostic::error(Code::TEXT_AFTER_STENCIL, span, "a second stencil in this file")
                        .hint("put each stencil into a file of its own");
                self.push(diagnostic);
            }
            _ => {
                let diagnostic = Diagnostic::error(Code::TEXT_AFTER_STENCIL, span, "text after the stencil")
                    .label("the stencil has ended before this")
                    .hint("remove it, or look for a `}` too many");
                self.push(diagnostic);
            }
        }
    }

    fn items(&mut self, open: Span) -> Vec<Item> {
        let mut items = Vec::new();
        loop {
            match self.kind() {
                TokenKind::RightBrace => {
                    self.advance();
                    return items;
                }
                TokenKind::End | TokenKind::Stencil => {
                    self.unclosed(open);
                    return items;
                }
                _ => {}
            }
            let start = self.position;
            self.nodes = 0;
            self.capped = false;
            match self.item() {
                Ok(item) => items.push(item),
                Err(Reported) => {
                    self.incomplete = true;
                    self.recover(start);
                }
            }
        }
    }

    /// The file, or the stencil, ends without a `}`; unless that has been said, or follows from a comment
    /// without end.
    fn unclosed(&mut self, open: Span) {
        self.incomplete = true;
        let bad = self.position.checked_sub(1).is_some_and(|last| self.tokens[last].kind == TokenKind::Bad);
        if bad || self.diagnostics.iter().any(|diagnostic| diagnostic.code == Code::UNCLOSED) {
            return;
        }
        let span = self.after_last();
        let diagnostic = Diagnostic::error(Code::UNCLOSED, span, "the stencil is not closed")
            .label("expected `}`")
            .related(open, "opened here");
        self.push(diagnostic);
    }

    /// Goes behind the next `;`, or in front of the next `}` or declaration; at least one token beyond `start`.
    fn recover(&mut self, start: usize) {
        if self.position == start {
            // A `{` is left for the loop, which skips its block.
            if self.kind() != TokenKind::LeftBrace {
                let semicolon = self.kind() == TokenKind::Semicolon;
                self.advance();
                if semicolon {
                    return;
                }
            }
        }
        let mut depth = 0_usize;
        loop {
            match self.kind() {
                TokenKind::End => return,
                TokenKind::LeftBrace => depth += 1,
                TokenKind::RightBrace if depth == 0 => return,
                TokenKind::RightBrace => {
                    depth -= 1;
                    if depth == 0 {
                        self.advance();
                        return;
                    }
                }
                TokenKind::Semicolon if depth == 0 => {
                    self.advance();
                    return;
                }
                kind if depth == 0 && is_keyword(kind) && kind != TokenKind::Stencil => return,
                _ => {}
            }
            self.advance();
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let start = self.span().start;
        let kind = match self.kind() {
            TokenKind::Field | TokenKind::Coefficient | TokenKind::Series => self.field()?,
            TokenKind::Param => {
                self.advance();
                let name = self.name("the parameter's name")?;
                if self.kind() == TokenKind::Semicolon {
                    let span = name.span.clone();
                    let diagnostic = Diagnostic::error(
                        Code::DEFAULT_NOT_CONSTANT,
                        span,
                        format!("the parameter `{}` has no default value", name.text),
                    );
                    self.push(diagnostic.hint(format!("write `param {} = 1.0;`", name.text)));
                    let kind = crate::ast::ExprKind::Error;
                    let default = crate::ast::Expr { kind, span: name.span.clone(), height: 1 };
                    self.advance();
                    return Ok(Item {
                        kind: ItemKind::Param { name, default },
                        span: start..self.last_end(),
                    });
                }
                self.expect(TokenKind::Assign)?;
                ItemKind::Param { name, default: self.expression_or_error()? }
            }
            TokenKind::Boundary => {
                self.advance();
                self.boundary()?
            }
            TokenKind::Let => {
                self.advance();
                let name = self.name("the local's name")?;
                if self.kind() == TokenKind::Colon {
                    let hint =
                        Some("a local takes the type of its value; write `let name = value;`".to_string());
                    self.expected("`=`", hint);
                } else if self.kind() != TokenKind::Assign {
                    self.expected("`=`", None);
                }
                if !self.take(TokenKind::Assign) {
                    return Ok(self.broken_let(name, start));
                }
                ItemKind::Let { name, value: self.expression_or_error()? }
            }
            TokenKind::Name => self.assignment()?,
            _ => {
                let what = "a declaration or a statement";
                return Err(self.expected(what, None));
            }
        };
        if !self.take(TokenKind::Semicolon) {
            self.expected("`;`", self.missing_semicolon_hint());
            // At the end of a line the semicolon was forgotten; elsewhere there is something to skip.
            if !self.next_line() && self.kind() != TokenKind::RightBrace {
                self.incomplete = true;
                self.recover(usize::MAX);
            }
        }
        Ok(Item { kind, span: start..self.last_end() })
    }

    /// What stands behind `boundary`.
    fn boundary(&mut self) -> Parsed<ItemKind> {
        let kind = self.name("`fixed`, `per_slot` or `periodic`")?;
        let word = match self.kind() {
            _ if kind.text == "periodic" => Some(kind.clone()),
            TokenKind::Name if &self.text[self.span()] == "periodic" => Some(self.name("`periodic`")?),
            _ => None,
        };
        let Some(word) = word else { return Ok(ItemKind::Boundary { kind, periodic: None }) };
        let mut indices = Vec::new();
        if self.take(TokenKind::LeftParen) {
            indices.push(self.name("an index")?);
            while self.take(TokenKind::Comma) {
                indices.push(self.name("an index")?);
            }
            self.expect(TokenKind::RightParen)?;
        }
        Ok(ItemKind::Boundary { kind, periodic: Some((word, indices)) })
    }

    /// A `let` whose name is known, so that its uses are not reported as well.
    fn broken_let(&mut self, name: Name, start: usize) -> Item {
        let span = name.span.clone();
        let value = crate::ast::Expr { kind: crate::ast::ExprKind::Error, span, height: 1 };
        self.recover(usize::MAX);
        Item { kind: ItemKind::Let { name, value }, span: start..self.last_end() }
    }

    fn missing_semicolon_hint(&self) -> Option<String> {
        match self.kind() {
            TokenKind::LeftBracket => Some("only fields have indices".to_string()),
            TokenKind::Assign => Some("a comparison is written `==`".to_string()),
            TokenKind::Name | TokenKind::Integer | TokenKind::Float | TokenKind::LeftParen => {
                (!self.next_line()).then(|| "is an operator such as `*` missing?".to_string())
            }
            _ => None,
        }
    }

    fn field(&mut self) -> Parsed<ItemKind> {
        let keyword = self.advance().kind;
        let name = self.name(match keyword {
            TokenKind::Coefficient => "the coefficient's name",
            TokenKind::Series => "the series' name",
            _ => "the field's name",
        })?;
        let element = if self.take(TokenKind::Colon) {
            self.name("a type, `f32` or `f64`").ok()
        } else {
            self.expected("`:` and a type", Some(format!("write `{}: f32;`", name.text)));
            None
        };
        if element.is_none() && self.kind() != TokenKind::Semicolon {
            // The name is known, so that its uses are not reported as well.
            let before = self.position;
            while !matches!(self.kind(), TokenKind::Semicolon | TokenKind::RightBrace | TokenKind::End)
                && !is_keyword(self.kind())
            {
                self.advance();
            }
            if self.kind() != TokenKind::Semicolon {
                self.position = before;
            }
        }
        Ok(match keyword {
            TokenKind::Coefficient => ItemKind::Coefficient { name, element },
            TokenKind::Series => ItemKind::Series { name, element },
            _ => {
                let slots = if self.take_word("slots") { Some(self.expression()?) } else { None };
                ItemKind::Field { name, element, slots }
            }
        })
    }

    fn assignment(&mut self) -> Parsed<ItemKind> {
        let word = self.text[self.span()].to_string();
        if matches!(word.as_str(), "if" | "else" | "for" | "while" | "do") {
            return Err(self.control_flow(&word));
        }
        let target = self.expression()?;
        let operator = self.kind();
        if operator == TokenKind::Assign {
            self.advance();
            let value = self.expression_or_error()?;
            return Ok(ItemKind::Assign { target, value, domain: self.domain()? });
        }
        let hint = match word.as_str() {
            "float" | "double" | "f32" | "f64" | "const" | "var" | "auto" | "int" => Some(
                "declare with `field name: f32;`, `param name = 1.0;` or `let name = value;`".to_string(),
            ),
            _ => text_escape::suggest::hint(
                &word,
                ["field", "coefficient", "series", "param", "boundary", "let", "stencil"].into_iter(),
            ),
        };
        Err(self.expected("`=`", hint))
    }
}

impl Parser<'_> {
    /// Takes a name that is a word of the language in this place only.
    fn take_word(&mut self, word: &str) -> bool {
        let found = self.kind() == TokenKind::Name && &self.text[self.span()] == word;
        if found {
            self.advance();
        }
        found
    }

    /// `for condition, condition`, where it stands here.
    fn domain(&mut self) -> Parsed<Option<Domain>> {
        let start = self.span().start;
        if !self.take_word("for") {
            return Ok(None);
        }
        let mut conditions = vec![self.expression()?];
        while self.take(TokenKind::Comma) {
            conditions.push(self.expression()?);
        }
        Ok(Some(Domain { conditions, span: start..self.last_end() }))
    }

    /// `if`, `for` and the like: explained once, and skipped with their head and block.
    fn control_flow(&mut self, word: &str) -> Reported {
        let span = self.advance().span;
        let diagnostic = Diagnostic::error(Code::SYNTAX, span, format!("the language has no `{word}`"));
        let diagnostic = match word {
            "if" | "else" => diagnostic.hint("choose between values with `condition ? a : b`"),
            _ => diagnostic.hint("the loops over time and space are implied; write the statement alone"),
        };
        let mut depth = 0_usize;
        loop {
            match self.kind() {
                TokenKind::LeftParen => depth += 1,
                TokenKind::RightParen if depth > 1 => depth -= 1,
                TokenKind::RightParen => {
                    self.advance();
                    break;
                }
                TokenKind::End | TokenKind::LeftBrace | TokenKind::RightBrace => break,
                _ if depth == 0 => break,
                _ => {}
            }
            self.advance();
        }
        self.push(diagnostic)
    }
}

fn is_keyword(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Stencil
            | TokenKind::Field
            | TokenKind::Coefficient
            | TokenKind::Series
            | TokenKind::Param
            | TokenKind::Boundary
            | TokenKind::Let
    )
}
