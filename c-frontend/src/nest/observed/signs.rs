//! Which values are never negative, as they are rounded.

use super::names;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Floating};
use crate::integer::literal;
use crate::parse::Region;
use crate::text::c_text;
use std::collections::HashMap;

/// Whether a value is never negative, as it is rounded. `local`: what is known of names.
pub(super) fn is_no_less(region: &Region, expr: &Expr, local: &HashMap<String, bool>) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => local.get(name) == Some(&true),
        ExprKind::Cast(CType::Floating(_), inner) => is_no_less(region, inner, local),
        ExprKind::Binary(BinaryOp::Mul, a, b) if same(a, b) => names::only_reads(region, a),
        ExprKind::Binary(BinaryOp::Mul | BinaryOp::Add, a, b) => {
            is_no_less(region, a, local) && is_no_less(region, b, local)
        }
        ExprKind::Binary(BinaryOp::Div, a, b) => is_no_less(region, a, local) && is_positive(b),
        ExprKind::Call(function, arguments) => match (&function.kind, arguments.as_slice()) {
            (ExprKind::Name(own), [_]) => {
                matches!(own.as_str(), "fabs" | "fabsf" | "abs") && !region.functions.contains_key(own)
            }
            (ExprKind::Name(own), [_, by]) => {
                own == "pow" && !region.functions.contains_key(own) && is_two(by)
            }
            _ => false,
        },
        _ => is_positive(expr),
    }
}

pub(super) fn is_positive(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Floating { text, .. } => text.parse::<f64>().is_ok_and(|value| value > 0.0),
        ExprKind::Cast(CType::Floating(_), inner) => is_positive(inner),
        ExprKind::Binary(BinaryOp::Mul, a, b) if is_positive(a) => is_positive(b),
        _ => literal(expr).is_some_and(|value| value > 0),
    }
}

fn is_two(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Floating { text, .. } => text.parse::<f64>() == Ok(2.0),
        _ => literal(expr) == Some(2),
    }
}

/// A value that is no number where it calls `abs` and has no `int`: what C leaves open then may be negative.
pub(super) fn as_integers(value: Expr) -> Expr {
    let mut calls = false;
    value.walk(&mut |part| {
        calls |= matches!(&part.kind, ExprKind::Call(function, _) if matches!(&function.kind, ExprKind::Name(name) if name == "abs"));
    });
    if !calls {
        return value;
    }
    let span = value.span.clone();
    let made = |kind| Box::new(Expr { kind, span: span.clone() });
    let double = |text: &str| made(ExprKind::Floating { text: text.to_owned(), kind: Floating::Double });
    let value = made(ExprKind::Cast(CType::Floating(Floating::Double), Box::new(value)));
    let most = made(ExprKind::Binary(BinaryOp::LessEqual, value.clone(), double("2147483647.0")));
    let none = made(ExprKind::Binary(BinaryOp::Div, double("0.0"), double("0.0")));
    *made(ExprKind::Conditional(most, value, none))
}

/// Whether two expressions are written alike.
pub(super) fn same(a: &Expr, b: &Expr) -> bool {
    c_text(a, &|_| None) == c_text(b, &|_| None)
}
