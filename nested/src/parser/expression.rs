//! Expressions.

use super::{MOST_NESTING, MOST_TERMS, Parsed, Parser};
use crate::ast::{Binary, Expr, ExprKind, Unary};
use crate::codes;
use crate::token::TokenKind;
use polyhedral::diagnostic::Diagnostic;

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.deeper(|parser| {
            let symbol = match parser.kind() {
                TokenKind::Plus => Some(Binary::Add),
                TokenKind::Star => Some(Binary::Multiply),
                TokenKind::And => Some(Binary::And),
                TokenKind::Or => Some(Binary::Or),
                TokenKind::Bar | TokenKind::Assoc => return parser.function(),
                _ => None,
            };
            if let Some(symbol) = symbol
                && matches!(parser.next_kind(), TokenKind::Comma | TokenKind::RightParen)
            {
                return Ok(Expr { kind: ExprKind::Operator(symbol), span: parser.advance().span });
            }
            let condition = parser.binary(1)?;
            if !parser.take(TokenKind::Question) {
                return Ok(condition);
            }
            let mut most = parser.height;
            let then = parser.expr()?;
            most = most.max(parser.height);
            parser.expect(TokenKind::Colon)?;
            let otherwise = parser.expr()?;
            parser.higher(most.max(parser.height))?;
            let span = condition.span.start..otherwise.span.end;
            let kind = ExprKind::Select(Box::new(condition), Box::new(then), Box::new(otherwise));
            Ok(Expr { kind, span })
        })
    }

    pub(super) fn function(&mut self) -> Parsed<Expr> {
        let start = self.token().span.start;
        let associative = self.take(TokenKind::Assoc);
        self.expect(TokenKind::Bar)?;
        let mut parameters = vec![self.pattern()?];
        while self.take(TokenKind::Comma) {
            parameters.push(self.pattern()?);
            self.few(parameters.len(), "parameters")?;
        }
        self.expect(TokenKind::Bar)?;
        let body = Box::new(self.expr()?);
        self.higher(self.height)?;
        let span = start..body.span.end;
        Ok(Expr { kind: ExprKind::Function { associative, parameters, body }, span })
    }

    fn binary(&mut self, least: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        let mut terms = 0;
        loop {
            let operator = match self.kind() {
                TokenKind::Plus => Binary::Add,
                TokenKind::Minus => Binary::Subtract,
                TokenKind::Star => Binary::Multiply,
                TokenKind::Slash => Binary::Divide,
                TokenKind::Percent => Binary::Remainder,
                TokenKind::Less => Binary::Less,
                TokenKind::LessEqual => Binary::LessEqual,
                TokenKind::Greater => Binary::Greater,
                TokenKind::GreaterEqual => Binary::GreaterEqual,
                TokenKind::Equal => Binary::Equal,
                TokenKind::NotEqual => Binary::NotEqual,
                TokenKind::And => Binary::And,
                TokenKind::Or => Binary::Or,
                _ => return Ok(left),
            };
            if operator.precedence() < least {
                return Ok(left);
            }
            terms += 1;
            let span = self.advance().span;
            if terms > MOST_TERMS {
                let message = format!("this expression has more than {MOST_TERMS} terms");
                let diagnostic = Diagnostic::limitation(codes::NESTED_TOO_DEEP, span, message);
                return Err(
                    self.push(diagnostic.hint("name a part of it with `let`, or use a table and `reduce`"))
                );
            }
            let most = self.height;
            let right = self.binary(operator.precedence() + 1)?;
            self.higher(most.max(self.height))?;
            if operator.compares()
                && matches!(&left.kind, ExprKind::Binary(before, ..) if before.compares() && !self.parenthesised(&left))
            {
                let diagnostic = Diagnostic::error(codes::SYNTAX, span, "a comparison of a comparison");
                return Err(self.push(diagnostic.hint("write `a < b && b < c`")));
            }
            let span = left.span.start..right.span.end;
            left = Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span };
        }
    }

    /// Whether an expression stands in parentheses of its own.
    fn parenthesised(&self, expr: &Expr) -> bool {
        self.text[expr.span.clone()].starts_with('(') && self.text[expr.span.clone()].ends_with(')')
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let operator = match self.kind() {
            TokenKind::Minus => Unary::Negate,
            TokenKind::Not => Unary::Not,
            _ => return self.postfix(),
        };
        let start = self.advance().span.start;
        let operand = self.deeper(Self::unary)?;
        self.higher(self.height)?;
        let span = start..operand.span.end;
        // A minus sign directly before a number is part of the number.
        let kind = match (operator, operand.kind) {
            (Unary::Negate, ExprKind::Integer(value)) => ExprKind::Integer(value.wrapping_neg()),
            (Unary::Negate, ExprKind::Float(value)) => ExprKind::Float(-value),
            (_, kind) => ExprKind::Unary(operator, Box::new(Expr { kind, span: operand.span })),
        };
        Ok(Expr { kind, span })
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut expr = self.primary()?;
        let mut parts = 0;
        loop {
            let start = expr.span.start;
            parts += 1;
            if parts > MOST_NESTING {
                let diagnostic =
                    Diagnostic::limitation(codes::NESTED_TOO_DEEP, expr.span, "too many indices");
                return Err(self.push(diagnostic.hint("name a part of it with `let`")));
            }
            if self.take(TokenKind::LeftBracket) {
                let most = self.height;
                let index = self.expr()?;
                self.higher(most.max(self.height))?;
                let end = self.expect(TokenKind::RightBracket)?.span.end;
                expr = Expr { kind: ExprKind::Index(Box::new(expr), Box::new(index)), span: start..end };
            } else if self.take(TokenKind::Dot) {
                // `t.0.1` has a number of two parts.
                if self.kind() == TokenKind::Float {
                    let span = self.advance().span;
                    for part in self.text[span.clone()].split('.') {
                        let Ok(place) = part.parse() else {
                            let diagnostic =
                                Diagnostic::error(codes::SYNTAX, span, "components are whole numbers");
                            return Err(self.push(diagnostic.hint("write `t.0`")));
                        };
                        expr =
                            Expr { kind: ExprKind::Component(Box::new(expr), place), span: start..span.end };
                    }
                    continue;
                }
                let span = match self.kind() {
                    TokenKind::Integer => self.advance().span,
                    _ => {
                        return Err(
                            self.expected("the number of a component", Some("write `t.0`".to_owned()))
                        );
                    }
                };
                let place = self.text[span.clone()].parse().unwrap_or(u64::MAX);
                expr = Expr { kind: ExprKind::Component(Box::new(expr), place), span: start..span.end };
            } else {
                return Ok(expr);
            }
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        self.height = 0;
        let span = self.token().span.clone();
        let start = span.start;
        match self.kind() {
            TokenKind::Integer => {
                self.advance();
                let value =
                    self.text[span.clone()].parse().map_err(|_| {
                        let diagnostic = Diagnostic::error(
                            codes::NUMBER_OUT_OF_RANGE,
                            span.clone(),
                            "this number is too large for i64",
                        );
                        self.push(diagnostic.hint(format!(
                            "the largest is {}; `f64` numbers are written with a point",
                            i64::MAX
                        )))
                    })?;
                Ok(Expr { kind: ExprKind::Integer(value), span })
            }
            TokenKind::Float => {
                self.advance();
                let value: f64 = self.text[span.clone()].parse().unwrap_or(f64::INFINITY);
                if !value.is_finite() {
                    let diagnostic = Diagnostic::error(
                        codes::NUMBER_OUT_OF_RANGE,
                        span,
                        "this number is too large for f64",
                    );
                    return Err(self.push(diagnostic.hint("the largest is about 1.8e308")));
                }
                Ok(Expr { kind: ExprKind::Float(value), span })
            }
            TokenKind::True | TokenKind::False => {
                let value = self.advance().kind == TokenKind::True;
                Ok(Expr { kind: ExprKind::Bool(value), span })
            }
            TokenKind::Name => {
                let name = self.name("a name")?;
                if !self.take(TokenKind::LeftParen) {
                    return Ok(Expr { kind: ExprKind::Name(name.text), span });
                }
                let arguments = self.list(TokenKind::RightParen)?;
                Ok(Expr { kind: ExprKind::Call(name, arguments), span: start..self.last_end() })
            }
            TokenKind::LeftParen => {
                self.advance();
                let mut parts = self.list(TokenKind::RightParen)?;
                let span = start..self.last_end();
                match (parts.len(), parts.pop()) {
                    (1, Some(inner)) => Ok(Expr { kind: inner.kind, span }),
                    (_, Some(last)) => {
                        parts.push(last);
                        Ok(Expr { kind: ExprKind::Tuple(parts), span })
                    }
                    _ => {
                        let diagnostic =
                            Diagnostic::error(codes::SYNTAX, span, "there is nothing in these parentheses");
                        Err(self.push(diagnostic.hint("a tuple has two components or more: `(a, b)`")))
                    }
                }
            }
            TokenKind::LeftBracket => {
                self.advance();
                let parts = self.list(TokenKind::RightBracket)?;
                Ok(Expr { kind: ExprKind::Vector(parts), span: start..self.last_end() })
            }
            TokenKind::LeftBrace => {
                self.advance();
                let mut bindings = Vec::new();
                let mut most = 0;
                while self.take(TokenKind::Let) {
                    bindings.push(self.binding()?);
                    most = most.max(self.height);
                    self.few(bindings.len(), "lines")?;
                    self.expect(TokenKind::Semicolon)?;
                }
                let value = Box::new(self.expr()?);
                self.higher(most.max(self.height) + bindings.len())?;
                let end = self.expect(TokenKind::RightBrace)?.span.end;
                Ok(Expr { kind: ExprKind::Block(bindings, value), span: start..end })
            }
            _ => Err(self.expected("a value", None)),
        }
    }
}
