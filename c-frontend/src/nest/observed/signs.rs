//! Which values are never negative, as they are rounded.

use super::names;
use crate::ast::{BinaryOp, CType, Expr, ExprKind};
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
                matches!(own.as_str(), "fabs" | "fabsf") && !region.functions.contains_key(own)
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

/// Whether two expressions are written alike.
pub(super) fn same(a: &Expr, b: &Expr) -> bool {
    c_text(a, &|_| None) == c_text(b, &|_| None)
}
