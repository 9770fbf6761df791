//! Expressions that take memory and give it back, and elements of pointers.

use crate::ast::{BinaryOp, CType, Expr, ExprKind};
use crate::integer::literal;

/// The bytes that a value takes, and whether they are zero. `own`: the functions of the program.
pub(super) fn taken(value: &Expr, own: &dyn Fn(&str) -> bool) -> Option<(Expr, bool)> {
    match &value.kind {
        ExprKind::Cast(_, inner) => taken(inner, own),
        ExprKind::Call(function, arguments) => match (&function.kind, arguments.as_slice()) {
            (ExprKind::Name(name), _) if own(name) => None,
            (ExprKind::Name(name), [bytes]) if name == "malloc" => Some((bytes.clone(), false)),
            (ExprKind::Name(name), [_, bytes]) if name == "aligned_alloc" => Some((bytes.clone(), false)),
            (ExprKind::Name(name), [count, size]) if name == "calloc" => {
                let kind = ExprKind::Binary(BinaryOp::Mul, Box::new(count.clone()), Box::new(size.clone()));
                Some((Expr { kind, span: value.span.clone() }, true))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The pointer whose memory a call gives back.
pub(super) fn freed<'a>(call: &'a Expr, own: &dyn Fn(&str) -> bool) -> Option<&'a Expr> {
    let ExprKind::Call(function, arguments) = &call.kind else { return None };
    let free = matches!(&function.kind, ExprKind::Name(name) if name == "free" && !own(name));
    let [mut pointer] = arguments.iter().collect::<Vec<_>>()[..] else { return None };
    while let ExprKind::Cast(_, inner) = &pointer.kind {
        pointer = inner;
    }
    free.then_some(pointer)
}

/// Whether a function of the C library takes memory or gives it back.
pub(super) fn is_heap(name: &str) -> bool {
    matches!(name, "malloc" | "calloc" | "aligned_alloc" | "free")
}

/// `NULL`
pub(super) fn is_null(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Cast(CType::Pointer(_), inner) => is_null(inner),
        _ => literal(expr) == Some(0),
    }
}

/// What is indexed, and by which subscripts; `*p` is `p[0]`.
pub(super) fn indexed(expr: &Expr) -> (&Expr, Vec<&Expr>) {
    let (mut at, mut indices) = (expr, Vec::new());
    while let ExprKind::Index(array, index) = &at.kind {
        indices.push(&**index);
        at = array;
    }
    indices.reverse();
    (at, indices)
}
