//! Calls within values.

use super::exits;
use super::inliner::{Inliner, refuse};
use crate::ast::{BinaryOp, Expr, ExprKind, Stmt, StmtKind};
use crate::nest::Result;
use polyhedral::source::Span;

impl Inliner<'_> {
    /// A value without calls of the program's functions. What must be done before goes to `out`; where there is none, the
    /// value is computed under a condition, and only functions that are a value can be called.
    pub(super) fn expression(&mut self, expr: Expr, mut out: Option<&mut Vec<Stmt>>) -> Result<Expr> {
        let span = expr.span.clone();
        let mut calls = false;
        expr.walk(&mut |part| {
            if let ExprKind::Call(function, _) = &part.kind
                && let ExprKind::Name(name) = &function.kind
            {
                calls |= self.is_own(name);
            }
        });
        if !calls {
            return Ok(expr);
        }
        let kind = match expr.kind {
            ExprKind::Call(function, arguments) => {
                let mut found = Vec::new();
                for argument in arguments {
                    found.push(self.expression(argument, out.as_deref_mut())?);
                }
                match &function.kind {
                    ExprKind::Name(name) if self.is_own(name) => {
                        return self.called(&name.clone(), found, &span, out);
                    }
                    _ => ExprKind::Call(function, found),
                }
            }
            ExprKind::Index(a, b) => {
                let (a, b) = self.both(*a, *b, out)?;
                ExprKind::Index(a, b)
            }
            ExprKind::Binary(operator @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let a = Box::new(self.expression(*a, out)?);
                ExprKind::Binary(operator, a, Box::new(self.expression(*b, None)?))
            }
            ExprKind::Binary(operator, a, b) => {
                let (a, b) = self.both(*a, *b, out)?;
                ExprKind::Binary(operator, a, b)
            }
            ExprKind::Assign(operator, a, b) => {
                let (a, b) = self.both(*a, *b, out)?;
                ExprKind::Assign(operator, a, b)
            }
            ExprKind::Comma(a, b) => {
                let (a, b) = self.both(*a, *b, out)?;
                ExprKind::Comma(a, b)
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                let condition = Box::new(self.expression(*condition, out)?);
                let then = Box::new(self.expression(*then, None)?);
                ExprKind::Conditional(condition, then, Box::new(self.expression(*otherwise, None)?))
            }
            ExprKind::Unary(operator, a) => ExprKind::Unary(operator, Box::new(self.expression(*a, out)?)),
            ExprKind::Step(by, a) => ExprKind::Step(by, Box::new(self.expression(*a, out)?)),
            ExprKind::Cast(ctype, a) => ExprKind::Cast(ctype, Box::new(self.expression(*a, out)?)),
            ExprKind::Member(a, arrow, member) => {
                ExprKind::Member(Box::new(self.expression(*a, out)?), arrow, member)
            }
            other => other,
        };
        Ok(Expr { kind, span })
    }

    fn both(&mut self, a: Expr, b: Expr, mut out: Option<&mut Vec<Stmt>>) -> Result<(Box<Expr>, Box<Expr>)> {
        let a = Box::new(self.expression(a, out.as_deref_mut())?);
        Ok((a, Box::new(self.expression(b, out)?)))
    }

    /// The value of a call.
    fn called(
        &mut self,
        name: &str,
        arguments: Vec<Expr>,
        place: &Span,
        out: Option<&mut Vec<Stmt>>,
    ) -> Result<Expr> {
        let function = self.function(name, arguments.len(), place)?;
        let returns = function.returns.clone();
        if !super::bind::is_scalar(&returns) {
            let related = Some((function.head, "defined here"));
            return refuse(name, place, "its value is neither a number nor used", related);
        }
        let head = function.head.clone();
        let mut before = Vec::new();
        let body = self.bound(function, arguments, place, &mut before)?;
        self.around.push(name.to_owned());
        let body = self.block(body);
        self.around.pop();
        let mut body = body?;
        self.check_effects(name, &body, place, &head)?;
        if before.is_empty()
            && let Some(value) = as_value(&body, 0)
        {
            let kind = ExprKind::Cast(returns, Box::new(value));
            return Ok(Expr { kind, span: place.clone() });
        }
        let Some(out) = out else {
            let reason = "it is called under a condition or in the head of a loop, and more than a value";
            return refuse(name, place, reason, Some((head, "defined here")));
        };
        let result = self.fresh("result");
        let value = |span: &Span| Expr { kind: ExprKind::Name(result.clone()), span: span.clone() };
        let assigned = |stmt: &Stmt| match &stmt.kind {
            StmtKind::Return(Some(returned)) => Some(Stmt {
                kind: StmtKind::Expr(Expr {
                    kind: ExprKind::Assign(None, Box::new(value(&stmt.span)), Box::new(returned.clone())),
                    span: stmt.span.clone(),
                }),
                span: stmt.span.clone(),
            }),
            _ => None,
        };
        match exits::without_returns(body, &assigned) {
            Ok(list) => body = list,
            Err(span) => {
                return refuse(
                    name,
                    place,
                    "it returns from the middle of a loop or block",
                    Some((span, "here")),
                );
            }
        }
        self.declared.insert(result.clone(), returns.clone());
        out.push(super::bind::declaration(&result, returns, None, place));
        out.extend(before);
        out.push(Stmt { kind: StmtKind::Block(body), span: place.clone() });
        Ok(value(place))
    }
}

/// Most parts of a value that is made of a function.
const MOST_PARTS: usize = 400;

/// A body that is a value: returns under conditions, and names for values before them.
fn as_value(list: &[Stmt], depth: usize) -> Option<Expr> {
    let (first, rest) = list.split_first()?;
    if depth > 24 {
        return None;
    }
    let followed = |branch: &Stmt| {
        let mut all = match &branch.kind {
            StmtKind::Block(list) => list.clone(),
            _ => vec![branch.clone()],
        };
        all.extend(rest.iter().cloned());
        as_value(&all, depth + 1)
    };
    let found = match &first.kind {
        StmtKind::Return(Some(value)) => value.clone(),
        StmtKind::Empty => as_value(rest, depth + 1)?,
        StmtKind::If(condition, then, otherwise) => {
            let then = followed(then)?;
            let otherwise = match otherwise {
                Some(otherwise) => followed(otherwise)?,
                None => as_value(rest, depth + 1)?,
            };
            let kind =
                ExprKind::Conditional(Box::new(condition.clone()), Box::new(then), Box::new(otherwise));
            Expr { kind, span: first.span.clone() }
        }
        StmtKind::Declaration(variables) => {
            let mut value = as_value(rest, depth + 1)?;
            for variable in variables.iter().rev() {
                let own = variable.value.as_ref().filter(|_| super::bind::is_scalar(&variable.ctype))?;
                let cast = ExprKind::Cast(variable.ctype.clone(), Box::new(own.clone()));
                value.walk_mut(&mut |part| {
                    if matches!(&part.kind, ExprKind::Name(name) if *name == variable.name) {
                        part.kind = cast.clone();
                    }
                });
            }
            value
        }
        _ => return None,
    };
    let (mut parts, mut pure) = (0, true);
    found.walk(&mut |part| {
        parts += 1;
        pure &= !matches!(part.kind, ExprKind::Assign(..) | ExprKind::Step(..));
    });
    (pure && parts <= MOST_PARTS).then_some(found)
}
