//! Expressions, by precedence climbing: `?:`, `||`, `&&`, equality, order, `+ -`, `* / %`, unary, primary.

use super::{MOST_HEIGHT, MOST_NESTING, MOST_NODES, Parsed, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::diagnostic::{Code, Diagnostic};
use crate::program::CompareOp;
use crate::source::Span;
use crate::token::TokenKind;

/// The operator of a token and how strongly it binds.
fn binary(kind: TokenKind) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        TokenKind::Or => (BinaryOp::Or, 1),
        TokenKind::And => (BinaryOp::And, 2),
        TokenKind::Equal => (BinaryOp::Compare(CompareOp::Equal), 3),
        TokenKind::NotEqual => (BinaryOp::Compare(CompareOp::NotEqual), 3),
        TokenKind::Less => (BinaryOp::Compare(CompareOp::Less), 4),
        TokenKind::LessEqual => (BinaryOp::Compare(CompareOp::LessEqual), 4),
        TokenKind::Greater => (BinaryOp::Compare(CompareOp::Greater), 4),
        TokenKind::GreaterEqual => (BinaryOp::Compare(CompareOp::GreaterEqual), 4),
        TokenKind::Plus => (BinaryOp::Add, 5),
        TokenKind::Minus => (BinaryOp::Sub, 5),
        TokenKind::Star => (BinaryOp::Mul, 6),
        TokenKind::Slash => (BinaryOp::Div, 6),
        TokenKind::Percent => (BinaryOp::Rem, 6),
        _ => return None,
    })
}

impl Parser<'_> {
    /// An expression; after a mistake in it, the present statement goes on at its `;` with
    /// [`ExprKind::Error`], so that what it declares or assigns is known.
    pub(super) fn expression_or_error(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        match self.expression() {
            Ok(expr) => Ok(expr),
            Err(reported) => {
                self.nesting = 0;
                while !matches!(
                    self.kind(),
                    TokenKind::Semicolon | TokenKind::LeftBrace | TokenKind::RightBrace | TokenKind::End
                ) && !super::is_keyword(self.kind())
                {
                    self.advance();
                }
                if self.kind() != TokenKind::Semicolon {
                    return Err(reported);
                }
                Ok(Expr { kind: ExprKind::Error, span: start..self.last_end().max(start), height: 1 })
            }
        }
    }

    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            let condition = parser.binary(1)?;
            if !parser.take(TokenKind::Question) {
                return Ok(condition);
            }
            let then = parser.expression()?;
            parser.expect(TokenKind::Colon)?;
            let otherwise = parser.expression()?;
            let span = condition.span.start..otherwise.span.end;
            let height = condition.height.max(then.height).max(otherwise.height) + 1;
            let kind = ExprKind::Select(Box::new(condition), Box::new(then), Box::new(otherwise));
            Ok(parser.node(kind, span, height))
        })
    }

    fn binary(&mut self, weakest: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Some((operator, strength)) =
            binary(self.kind()).filter(|&(_, strength)| strength >= weakest)
        {
            self.advance();
            let right = self.binary(strength + 1)?;
            let span = left.span.start..right.span.end;
            let height = left.height.max(right.height) + 1;
            left = self.node(ExprKind::Binary(operator, Box::new(left), Box::new(right)), span, height);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let operator = match self.kind() {
            TokenKind::Plus => UnaryOp::Plus,
            TokenKind::Minus => UnaryOp::Minus,
            TokenKind::Not => UnaryOp::Not,
            _ => return self.primary(),
        };
        let start = self.advance().span.start;
        let operand = self.nested(Parser::unary)?;
        let (span, height) = (start..operand.span.end, operand.height + 1);
        Ok(self.node(ExprKind::Unary(operator, Box::new(operand)), span, height))
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let span = self.span();
        match self.kind() {
            TokenKind::Integer | TokenKind::Float => Ok(self.number()),
            TokenKind::Name => {
                let name = self.name("a name")?;
                match self.kind() {
                    TokenKind::LeftBracket => {
                        // An access is one node, as in the program.
                        let nodes = self.nodes;
                        let (indices, end) = self.list(TokenKind::RightBracket)?;
                        self.nodes = nodes;
                        let tallest = indices.iter().map(|index| index.height).max().unwrap_or(1);
                        let height = if tallest <= crate::lower::MOST_INDEX_HEIGHT { 1 } else { tallest };
                        let span = name.span.start..end;
                        Ok(self.node(ExprKind::Access(name, indices), span, height))
                    }
                    TokenKind::LeftParen => {
                        let (arguments, end) = self.list(TokenKind::RightParen)?;
                        // `min(a, b, c)` becomes a chain, so each argument may add a level.
                        let tallest = arguments.iter().map(|argument| argument.height).max().unwrap_or(0);
                        let height = tallest + arguments.len().saturating_sub(1).max(1);
                        let span = name.span.start..end;
                        Ok(self.node(ExprKind::Call(name, arguments), span, height))
                    }
                    _ => Ok(self.node(ExprKind::Name(name.text), name.span, 1)),
                }
            }
            TokenKind::LeftParen => {
                self.advance();
                let mut inner = self.expression()?;
                if self.kind() != TokenKind::RightParen {
                    return Err(self.expected("`)`", None));
                }
                self.advance();
                inner.span = span.start..self.last_end();
                Ok(inner)
            }
            // Reported by the lexer.
            TokenKind::Bad => {
                self.advance();
                Ok(self.node(ExprKind::Error, span, 1))
            }
            kind => {
                let before = self.position.checked_sub(1).map(|last| self.tokens[last].kind);
                let hint = match (before, kind) {
                    (
                        Some(
                            TokenKind::Plus
                            | TokenKind::Minus
                            | TokenKind::Star
                            | TokenKind::Slash
                            | TokenKind::Percent,
                        ),
                        TokenKind::Assign,
                    ) => Some("write the assignment out: `u[t+1, i] = u[t, i] + ...`".to_string()),
                    (Some(TokenKind::Star), TokenKind::Star) => {
                        Some("there is no power operator; write `x * x`".to_string())
                    }
                    _ if super::is_keyword(kind) => Some(self.not_a_name()),
                    _ => None,
                };
                let reported = self.expected("an expression", hint);
                self.skip_keyword();
                Err(reported)
            }
        }
    }

    fn number(&mut self) -> Expr {
        let token = self.advance();
        let text = &self.text[token.span.clone()];
        let value: f64 = text.parse().unwrap_or(f64::NAN);
        let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
        let vanished = value == 0.0 && mantissa.contains(|digit: char| ('1'..='9').contains(&digit));
        if !value.is_finite() || vanished {
            let message = if vanished {
                "this number is too small for f64"
            } else {
                "this number is too large for f64"
            };
            let diagnostic = Diagnostic::error(Code::NUMBER_OUT_OF_RANGE, token.span.clone(), message);
            self.push(diagnostic.note("f64 reaches from about 4.9e-324 to 1.8e308"));
            return self.node(ExprKind::Error, token.span, 1);
        }
        self.node(ExprKind::Number { value, integer: token.kind == TokenKind::Integer }, token.span, 1)
    }

    /// A bracketed list of expressions, and its end.
    fn list(&mut self, close: TokenKind) -> Parsed<(Vec<Expr>, usize)> {
        self.advance();
        let mut list = Vec::new();
        if self.kind() != close {
            list.push(self.expression()?);
            while self.take(TokenKind::Comma) {
                list.push(self.expression()?);
            }
        }
        if self.kind() != close {
            let what = if close == TokenKind::RightParen { "`,` or `)`" } else { "`,` or `]`" };
            return Err(self.expected(what, None));
        }
        Ok((list, self.advance().span.end))
    }

    /// Parses one level deeper, up to the limit.
    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<Expr>) -> Parsed<Expr> {
        if self.nesting >= MOST_NESTING {
            let span = self.span();
            let diagnostic = Diagnostic::limitation(
                Code::NESTED_TOO_DEEP,
                span,
                format!("this expression is nested deeper than {MOST_NESTING} levels"),
            )
            .hint("name a part of it with `let`");
            return Err(self.push(diagnostic));
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting = self.nesting.saturating_sub(1);
        result
    }

    /// Makes a node; beyond the limits of size and height it becomes an error, reported once a statement.
    fn node(&mut self, kind: ExprKind, span: Span, height: usize) -> Expr {
        self.nodes += 1;
        if self.nodes > MOST_NODES || height > MOST_HEIGHT {
            if !self.capped {
                self.capped = true;
                let message = if self.nodes > MOST_NODES {
                    format!("this expression has more than {MOST_NODES} operands and operators")
                } else {
                    format!("this expression is a chain of more than {MOST_HEIGHT} operations")
                };
                let end = span.end;
                let diagnostic = Diagnostic::limitation(Code::EXPRESSION_TOO_LARGE, end..end, message)
                    .label("the limit is reached here")
                    .hint("name parts of it with `let`");
                self.push(diagnostic);
            }
            return Expr { kind: ExprKind::Error, span, height: 1 };
        }
        Expr { kind, span, height }
    }
}
