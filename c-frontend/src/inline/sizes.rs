//! Numbers of bytes, as programs write them.

use crate::ast::{BinaryOp, CType, Expr, ExprKind};
use crate::text::without_parentheses;

/// Whether a function of the C library moves or sets memory.
pub(super) fn is_moved(name: &str) -> bool {
    matches!(name.strip_prefix("__builtin_").unwrap_or(name), "memcpy" | "memmove" | "memset")
}

/// What `sizeof` is asked of.
pub(super) fn size_of(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Other(kind, text) if kind == "sizeof expression" => {
            let rest = text.trim_start_matches("sizeof").trim();
            Some(without_parentheses(rest).trim().to_owned())
        }
        _ => None,
    }
}

/// The factors of a product.
pub(super) fn product(expr: &Expr, factors: &mut Vec<Expr>) {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Mul, a, b) => {
            product(a, factors);
            product(b, factors);
        }
        ExprKind::Cast(CType::Integer { .. }, inner) => product(inner, factors),
        _ => factors.push(expr.clone()),
    }
}
