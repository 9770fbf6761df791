//! Literals and conversions of typed expressions.

use crate::ast::Floating;
use polyhedral::program::{ElementType, Expr, ExprKind};
use polyhedral::source::Span;

/// The type that a floating-point type of C has in a program; `None` for `long double`.
pub(super) fn element_of(kind: Floating) -> Option<ElementType> {
    match kind {
        Floating::Float => Some(ElementType::F32),
        Floating::Double => Some(ElementType::F64),
        Floating::LongDouble => None,
    }
}

/// A literal of a type.
pub(super) fn number(value: f64, element: ElementType, span: &Span) -> Expr {
    let value = match element {
        ElementType::F32 => f64::from(value as f32),
        ElementType::F64 => value,
    };
    Expr { kind: ExprKind::Literal(value), element, span: span.clone() }
}

/// A value converted; literals and what is converted back and forth need no conversion.
pub(super) fn cast(value: Expr, element: ElementType) -> Expr {
    if value.element == element {
        return value;
    }
    let span = value.span.clone();
    match value.kind {
        ExprKind::Literal(literal) => number(literal, element, &span),
        _ => Expr { kind: ExprKind::Cast(Box::new(value)), element, span },
    }
}
