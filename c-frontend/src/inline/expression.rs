//! Calls within values.

use super::inliner::{Inliner, refuse};
use super::rename::is_pure;
use super::{ends, exits};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Stmt, StmtKind};
use crate::nest::{ENDS, Result};
use polyhedral::source::Span;
use std::collections::HashMap;

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
                let found = self.in_any_order(arguments, out.as_deref_mut())?;
                match &function.kind {
                    ExprKind::Name(name) if self.is_own(name) => {
                        return self.called(&name.clone(), found, &span, out);
                    }
                    _ => ExprKind::Call(function, found),
                }
            }
            ExprKind::Index(a, b) => {
                let (a, b) = self.left_first(*a, *b, out)?;
                ExprKind::Index(a, b)
            }
            ExprKind::Binary(operator @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let a = Box::new(self.expression(*a, out)?);
                ExprKind::Binary(operator, a, Box::new(self.expression(*b, None)?))
            }
            ExprKind::Binary(operator, a, b) => {
                let (a, b) = self.left_first(*a, *b, out)?;
                ExprKind::Binary(operator, a, b)
            }
            ExprKind::Assign(operator, a, b) => {
                let (a, b) = self.left_first(*a, *b, out)?;
                ExprKind::Assign(operator, a, b)
            }
            ExprKind::Comma(a, b) => {
                let a = Box::new(self.expression(*a, out.as_deref_mut())?);
                ExprKind::Comma(a, Box::new(self.expression(*b, out)?))
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

    /// The value of a call of a function whose value is an integer, where it is nothing but a value.
    pub(super) fn index(&mut self, name: &str, arguments: &[Expr], place: &Span) -> Option<Expr> {
        let function = self.function(name, arguments.len(), place).ok()?;
        matches!(function.returns, CType::Integer { .. })
            .then(|| self.called(name, arguments.to_vec(), place, None).ok())
            .flatten()
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
        let mut body = self.body(function, arguments, place, &mut before)?;
        self.check_effects(name, &body, place, &head)?;
        let pure = before.iter().all(|stmt| match &stmt.kind {
            StmtKind::Declaration(list) => list.iter().all(|one| one.value.as_ref().is_none_or(is_pure)),
            _ => false,
        });
        if pure && let Some(value) = as_value(&[before.as_slice(), body.as_slice()].concat()) {
            let kind = ExprKind::Cast(returns, Box::new(value));
            return Ok(Expr { kind, span: place.clone() });
        }
        let Some(out) = out else {
            let reason = "it is called under a condition or in the head of a loop, and more than a value";
            return refuse(name, place, reason, Some((head, "defined here")));
        };
        let result = self.fresh(&format!("value_of_{name}"));
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
const MOST_PARTS: usize = 4000;

/// What local variables hold, as values of what the function is given.
type Held = HashMap<String, (CType, Option<Expr>)>;

/// A body that is a value: returns under conditions, and names for values before them, which may change.
fn as_value(list: &[Stmt]) -> Option<Expr> {
    let none = Expr { kind: ExprKind::Integer { value: 0, text: "0".to_owned() }, span: 0..0 };
    let int = CType::Integer { name: "int".to_owned(), unsigned: false };
    let found = returned(list, Held::from([(ENDS.to_owned(), (int, Some(none)))]), 0)?;
    let (mut parts, mut pure) = (0, true);
    found.walk(&mut |part| {
        parts += 1;
        pure &= !matches!(part.kind, ExprKind::Assign(..) | ExprKind::Step(..));
    });
    (pure && parts <= MOST_PARTS).then_some(found)
}

/// The value that statements return.
fn returned(list: &[Stmt], mut held: Held, depth: usize) -> Option<Expr> {
    if depth > 24 {
        return None;
    }
    for (at, stmt) in list.iter().enumerate() {
        let rest = &list[at + 1..];
        match &stmt.kind {
            StmtKind::Return(Some(value)) => {
                let (_, ended) = held.get(ENDS)?;
                return Some(ends::unless(ended.as_ref()?, put(value, &held)?));
            }
            StmtKind::Block(inner) if may_return(stmt) => {
                return returned(&[inner.as_slice(), rest].concat(), held, depth + 1);
            }
            StmtKind::If(condition, then, otherwise) if may_return(stmt) => {
                let condition = put(condition, &held)?;
                let followed = |branch: Option<&Stmt>| {
                    let mut all = match branch.map(|branch| &branch.kind) {
                        Some(StmtKind::Block(list)) => list.clone(),
                        _ => branch.into_iter().cloned().collect(),
                    };
                    all.extend(rest.iter().cloned());
                    returned(&all, held.clone(), depth + 1)
                };
                let then = followed(Some(then))?;
                let otherwise = followed(otherwise.as_deref())?;
                let kind = ExprKind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise));
                return Some(Expr { kind, span: stmt.span.clone() });
            }
            _ => hold(stmt, &mut held)?,
        }
    }
    None
}

fn may_return(stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.walk(&mut |part| found |= matches!(part.kind, StmtKind::Return(_)));
    found
}

/// Runs a statement that assigns local variables; `None` for any other one.
fn hold(stmt: &Stmt, held: &mut Held) -> Option<()> {
    let cast = |ctype: &CType, value: Expr| {
        let span = value.span.clone();
        Expr { kind: ExprKind::Cast(ctype.clone(), Box::new(value)), span }
    };
    match &stmt.kind {
        StmtKind::Empty => {}
        StmtKind::Block(list) => list.iter().try_for_each(|stmt| hold(stmt, held))?,
        StmtKind::Declaration(variables) => {
            for variable in variables {
                if !super::bind::is_scalar(&variable.ctype) {
                    return None;
                }
                let value = match &variable.value {
                    Some(value) => Some(cast(&variable.ctype, put(value, held)?)),
                    None => None,
                };
                held.insert(variable.name.clone(), (variable.ctype.clone(), value));
            }
        }
        StmtKind::Expr(Expr { kind: ExprKind::Call(function, arguments), .. }) => {
            let (ExprKind::Name(name), [condition]) = (&function.kind, arguments.as_slice()) else {
                return None;
            };
            let (ctype, before) = held.get(ENDS).filter(|_| name == ENDS)?.clone();
            let either = ends::either(before?, put(condition, held)?);
            held.insert(ENDS.to_owned(), (ctype, Some(either)));
        }
        StmtKind::Expr(Expr { kind: ExprKind::Assign(operator, target, value), .. }) => {
            let ExprKind::Name(name) = &target.kind else { return None };
            let (ctype, before) = held.get(name)?.clone();
            let mut value = put(value, held)?;
            if let Some(operator) = operator {
                let kind = ExprKind::Binary(*operator, Box::new(before?), Box::new(value.clone()));
                value = Expr { kind, span: stmt.span.clone() };
            }
            held.insert(name.clone(), (ctype.clone(), Some(cast(&ctype, value))));
        }
        StmtKind::If(condition, then, otherwise) => {
            let condition = put(condition, held)?;
            let (mut a, mut b) = (held.clone(), held.clone());
            hold(then, &mut a)?;
            otherwise.iter().try_for_each(|otherwise| hold(otherwise, &mut b))?;
            for (name, (_, value)) in held.iter_mut() {
                let (then, otherwise) = (a.remove(name)?.1, b.remove(name)?.1);
                *value = match (then, otherwise) {
                    (then, otherwise) if then == otherwise => then,
                    (Some(then), Some(otherwise)) => Some(Expr {
                        kind: ExprKind::Conditional(
                            Box::new(condition.clone()),
                            Box::new(then),
                            Box::new(otherwise),
                        ),
                        span: stmt.span.clone(),
                    }),
                    _ => None,
                };
            }
        }
        _ => return None,
    }
    let parts: usize = held.values().flat_map(|(_, value)| value).map(size).sum();
    (parts <= MOST_PARTS).then_some(())
}

fn size(expr: &Expr) -> usize {
    let mut parts = 0;
    expr.walk(&mut |_| parts += 1);
    parts
}

/// A value with what local variables hold in the place of their names; `None` where one holds nothing.
fn put(expr: &Expr, held: &Held) -> Option<Expr> {
    let mut found = expr.clone();
    let mut complete = true;
    // What is put in holds names of the caller only.
    found.walk_mut(&mut |part| {
        if let ExprKind::Name(name) = &part.kind
            && let Some((_, value)) = held.get(name)
        {
            match value {
                Some(value) => part.kind = value.kind.clone(),
                None => complete = false,
            }
        }
    });
    complete.then_some(found)
}
