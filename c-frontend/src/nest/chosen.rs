//! Integers that conditions choose, as values: `if (i == 0) up = n - 1; else up = i - 1;` is `up = i == 0 ? n - 1 : i - 1;`, of which it
//! is known how it wraps around ([`super::around`]).
//!
//! ```text
//! if (c) { x = a; y = b; } else x = d;    =>    x = c ? a : d;  y = c ? b : y;
//! ```
//!
//! That holds where all of them are of type `int`, so that nothing is converted on the way, and where no value asks for a name that
//! was assigned before it.

use crate::ast::{BinaryOp, CType, Expr, ExprKind, Stmt, StmtKind, UnaryOp};
use crate::parse::Region;
use crate::text::c_text;
use polyhedral::source::Span;
use std::collections::HashMap;

/// The largest value that is made of conditions.
const MOST_PARTS: usize = 200;

/// A body in which such statements are values; `None` if it has none.
pub(super) fn as_values(region: &Region, body: &Stmt) -> Option<Stmt> {
    let mut integers: HashMap<String, bool> = HashMap::new();
    let mut note = |name: &String, ctype: &CType| {
        let plain = matches!(ctype, CType::Integer { name, unsigned: false } if name == "int");
        integers.entry(name.clone()).and_modify(|known| *known &= plain).or_insert(plain);
    };
    region.variables.iter().for_each(|(name, one)| note(name, &one.ctype));
    body.walk(&mut |part| {
        let own = match &part.kind {
            StmtKind::Declaration(own) => own,
            StmtKind::For(source) => match source.start.as_ref().map(|start| &start.kind) {
                Some(StmtKind::Declaration(own)) => own,
                _ => return,
            },
            _ => return,
        };
        own.iter().for_each(|one| note(&one.name, &one.ctype));
    });
    let (mut body, mut found) = (body.clone(), false);
    body.walk_mut(&mut |stmt| {
        if let StmtKind::If(..) = &stmt.kind
            && let Some(chosen) = choices(stmt, &integers)
            && let Some(list) = in_order(&chosen, &stmt.span)
        {
            stmt.kind = StmtKind::Block(list);
            found = true;
        }
    });
    found.then_some(body)
}

/// Names in the order of their assignments, each with its value in terms of what was there before.
type Chosen = Vec<(String, Expr)>;

/// What a statement assigns, if that is all that it does.
fn choices(stmt: &Stmt, integers: &HashMap<String, bool>) -> Option<Chosen> {
    match &stmt.kind {
        StmtKind::Empty => Some(Vec::new()),
        StmtKind::Block(list) => {
            let mut all: Chosen = Vec::new();
            for stmt in list {
                for (name, value) in choices(stmt, integers)? {
                    let value = with(&value, &all);
                    if parts(&value) > MOST_PARTS {
                        return None;
                    }
                    match all.iter_mut().find(|(own, _)| *own == name) {
                        Some((_, own)) => *own = value,
                        None => all.push((name, value)),
                    }
                }
            }
            Some(all)
        }
        StmtKind::Expr(expr) => {
            let (target, value) = match &expr.kind {
                ExprKind::Assign(None, target, value) => (target, (**value).clone()),
                ExprKind::Assign(Some(operator), target, value) => {
                    (target, binary(*operator, target.clone(), value.clone()))
                }
                ExprKind::Step(by, target) => {
                    let kind = ExprKind::Integer { value: *by, text: by.to_string() };
                    let by = Expr { kind, span: expr.span.clone() };
                    (target, binary(BinaryOp::Add, target.clone(), Box::new(by)))
                }
                _ => return None,
            };
            let ExprKind::Name(name) = &target.kind else { return None };
            let plain = integers.get(name) == Some(&true) && is_plain(&value, integers);
            plain.then(|| vec![(name.clone(), value)])
        }
        StmtKind::If(condition, then, otherwise) => {
            if !is_plain(condition, integers) {
                return None;
            }
            let mut then = choices(then, integers)?;
            let mut otherwise =
                otherwise.as_ref().map_or(Some(Vec::new()), |stmt| choices(stmt, integers))?;
            let mut condition = condition;
            while let ExprKind::Unary(UnaryOp::Not, inner) = &condition.kind
                && let ExprKind::Binary(..) | ExprKind::Unary(UnaryOp::Not, _) = &inner.kind
            {
                condition = inner;
                std::mem::swap(&mut then, &mut otherwise);
            }
            let mut names: Vec<&String> = Vec::new();
            for (name, _) in then.iter().chain(&otherwise) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let all = names.into_iter().map(|name| {
                let of = |list: &Chosen| {
                    let own = list.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
                    own.unwrap_or_else(|| Expr {
                        kind: ExprKind::Name(name.clone()),
                        span: condition.span.clone(),
                    })
                };
                let (then, otherwise) = (of(&then), of(&otherwise));
                if text(&then) == text(&otherwise) {
                    return Some((name.clone(), then));
                }
                let span = condition.span.start..otherwise.span.end.max(condition.span.end);
                let kind =
                    ExprKind::Conditional(Box::new(condition.clone()), Box::new(then), Box::new(otherwise));
                let value = Expr { kind, span };
                (parts(&value) <= MOST_PARTS).then_some((name.clone(), value))
            });
            all.collect()
        }
        _ => None,
    }
}

/// The assignments one after the other, where none asks for what one before it has assigned.
fn in_order(chosen: &Chosen, span: &Span) -> Option<Vec<Stmt>> {
    let asks = |at: usize| chosen[..at].iter().any(|(before, _)| chosen[at].1.mentions(before));
    if chosen.is_empty() || (0..chosen.len()).any(asks) {
        return None;
    }
    let assigned = |(name, value): &(String, Expr)| {
        let target = Expr { kind: ExprKind::Name(name.clone()), span: span.clone() };
        let kind = ExprKind::Assign(None, Box::new(target), Box::new(value.clone()));
        Stmt { kind: StmtKind::Expr(Expr { kind, span: span.clone() }), span: span.clone() }
    };
    Some(chosen.iter().map(assigned).collect())
}

/// A value with those of names that were assigned before it.
fn with(value: &Expr, known: &Chosen) -> Expr {
    let mut value = value.clone();
    value.walk_mut(&mut |part| {
        if let ExprKind::Name(name) = &part.kind
            && let Some((_, own)) = known.iter().find(|(own, _)| own == name)
        {
            part.kind = own.kind.clone();
        }
    });
    value
}

fn binary(operator: BinaryOp, left: Box<Expr>, right: Box<Expr>) -> Expr {
    let span = left.span.start..right.span.end.max(left.span.end);
    Expr { kind: ExprKind::Binary(operator, left, right), span }
}

fn parts(expr: &Expr) -> usize {
    let mut parts = 0;
    expr.walk(&mut |_| parts += 1);
    parts
}

fn text(expr: &Expr) -> String {
    c_text(expr, &|_| None)
}

/// Whether an expression is one of `int` variables and numbers, and changes nothing.
fn is_plain(expr: &Expr, integers: &HashMap<String, bool>) -> bool {
    let mut plain = true;
    expr.walk(&mut |part| {
        plain &= match &part.kind {
            ExprKind::Integer { text, .. } => !text.contains(['u', 'U', 'l', 'L']),
            ExprKind::Name(name) => integers.get(name) == Some(&true),
            ExprKind::Unary(operator, _) => {
                matches!(operator, UnaryOp::Plus | UnaryOp::Minus | UnaryOp::Not)
            }
            ExprKind::Binary(..) | ExprKind::Conditional(..) => true,
            _ => false,
        };
    });
    plain
}
