//! What loops leave in scalars: their statements without the assignments of elements; and elements by their texts.

use super::names;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Stmt, StmtKind};
use crate::parse::Region;
use crate::text::c_text;

/// A statement without the assignments of elements; the inner `None` if nothing is left, the outer one if something else than
/// numbers is computed.
#[allow(clippy::option_option)]
pub(super) fn scalars_of(region: &Region, stmt: &Stmt) -> Option<Option<Stmt>> {
    let made = |kind| Some(Some(Stmt { kind, span: stmt.span.clone() }));
    let reads = |expr: &Expr| names::only_reads(region, expr);
    match &stmt.kind {
        StmtKind::Empty => Some(None),
        StmtKind::Block(list) => {
            let mut kept = Vec::new();
            for stmt in list {
                kept.extend(scalars_of(region, stmt)?);
            }
            if kept.is_empty() { Some(None) } else { made(StmtKind::Block(kept)) }
        }
        StmtKind::For(source) => {
            let mut own = source.clone();
            let start = source.start.as_ref().is_none_or(|start| match &start.kind {
                StmtKind::Expr(Expr { kind: ExprKind::Assign(None, _, value), .. }) => reads(value),
                StmtKind::Declaration(list) => list.iter().all(|one| one.value.iter().all(reads)),
                _ => false,
            });
            if !start || !source.condition.iter().all(reads) {
                return None;
            }
            match scalars_of(region, &source.body)? {
                Some(body) => {
                    own.body = body;
                    made(StmtKind::For(own))
                }
                None => Some(None),
            }
        }
        StmtKind::If(condition, then, otherwise) if reads(condition) => {
            let first = scalars_of(region, then)?;
            let second = match otherwise {
                Some(otherwise) => scalars_of(region, otherwise)?,
                None => None,
            };
            if first.is_none() && second.is_none() {
                return Some(None);
            }
            let empty = Stmt { kind: StmtKind::Block(Vec::new()), span: then.span.clone() };
            let first = Box::new(first.unwrap_or(empty));
            made(StmtKind::If(condition.clone(), first, second.map(Box::new)))
        }
        StmtKind::Declaration(list) => {
            let number = |ctype: &CType| matches!(ctype, CType::Integer { .. } | CType::Floating(_));
            let plain = list.iter().all(|one| number(&one.ctype) && one.value.iter().all(reads));
            plain.then(|| Some(stmt.clone()))
        }
        StmtKind::Expr(expr) => Some(
            scalar_expression(region, expr)?
                .map(|expr| Stmt { kind: StmtKind::Expr(expr), span: stmt.span.clone() }),
        ),
        _ => None,
    }
}

#[allow(clippy::option_option)]
fn scalar_expression(region: &Region, expr: &Expr) -> Option<Option<Expr>> {
    match &expr.kind {
        ExprKind::Assign(_, target, value) if names::only_reads(region, value) => match &target.kind {
            ExprKind::Name(name) => is_number(region, name).then(|| Some(expr.clone())),
            ExprKind::Index(..) => Some(None),
            _ => None,
        },
        ExprKind::Step(_, target) => match &target.kind {
            ExprKind::Name(name) => is_number(region, name).then(|| Some(expr.clone())),
            ExprKind::Index(..) => Some(None),
            _ => None,
        },
        ExprKind::Comma(left, right) => {
            match (scalar_expression(region, left)?, scalar_expression(region, right)?) {
                (Some(left), Some(right)) => {
                    let kind = ExprKind::Comma(Box::new(left), Box::new(right));
                    Some(Some(Expr { kind, span: expr.span.clone() }))
                }
                (left, right) => Some(left.or(right)),
            }
        }
        _ => None,
    }
}

/// Whether a name stands for a number: a variable of the region, or one that the body declares.
fn is_number(region: &Region, name: &str) -> bool {
    match region.variables.get(name) {
        Some(one) => matches!(one.ctype, CType::Integer { .. } | CType::Floating(_)),
        None => region.numbers.contains(name),
    }
}

/// The array of an element, by its name.
pub(super) fn array_of(element: &Expr) -> Option<String> {
    let ExprKind::Index(array, _) = &element.kind else { return None };
    let mut at = &**array;
    while let ExprKind::Index(array, _) = &at.kind {
        at = array;
    }
    match &at.kind {
        ExprKind::Name(name) => Some(name.clone()),
        _ => None,
    }
}

/// A text that two elements have whose subscripts are the same but for the order of factors and summands.
pub(super) fn key(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Index(array, index) => format!("{}[{}]", key(array), key(index)),
        ExprKind::Binary(operator, left, right) => {
            let mut sides = [key(left), key(right)];
            if matches!(operator, BinaryOp::Add | BinaryOp::Mul) {
                sides.sort();
            }
            let [left, right] = sides;
            format!("({left} {} {right})", operator.text())
        }
        _ => text(expr),
    }
}

pub(super) fn text(expr: &Expr) -> String {
    c_text(expr, &|_| None)
}
