//! Numbers of bytes, as programs write them.

use crate::ast::{BinaryOp, CType, Expr, ExprKind};
use crate::integer::literal;
use crate::text::{c_text, type_text, without_parentheses};

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

/// Whether a value is the size of a type, by its name or by what `level` subscripts of a pointer reach, as in `sizeof **rows`.
pub(super) fn is_size_of(value: &Expr, of: &CType, (pointer, level): (&str, usize)) -> bool {
    let Some(text) = size_of(value) else { return false };
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let text = plain(&text);
    let named = match of {
        // All pointers have one size.
        CType::Pointer(_) => text.ends_with('*'),
        _ => text == plain(&type_text(of)),
    };
    named || (level > 0 && reached(&text, pointer) == Some(level))
}

/// How many stars and subscripts stand around a pointer: two in `*rows[0]`.
fn reached(text: &str, pointer: &str) -> Option<usize> {
    let stars = text.len() - text.trim_start_matches('*').len();
    let mut rest = text[stars..].strip_prefix(pointer)?;
    let mut subscripts = 0;
    while !rest.is_empty() {
        rest = rest.strip_prefix('[')?;
        rest = &rest[rest.find(']')? + 1..];
        subscripts += 1;
    }
    Some(stars + subscripts)
}

/// The extents in `sizeof(double[n][m])`, which are numbers or names.
pub(super) fn extents_in_size(value: &Expr, element: &CType) -> Option<Vec<Expr>> {
    let text: String = size_of(value)?.split_whitespace().collect();
    let mut rest = text.strip_prefix(&type_text(element))?;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (extent, behind) = rest.strip_prefix('[')?.split_once(']')?;
        let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let kind = match extent.parse::<i64>() {
            Ok(value) => ExprKind::Integer { value, text: extent.to_owned() },
            Err(_) if !extent.is_empty() && extent.chars().all(word) => ExprKind::Name(extent.to_owned()),
            Err(_) => return None,
        };
        found.push(Expr { kind, span: value.span.clone() });
        rest = behind;
    }
    (!found.is_empty()).then_some(found)
}

/// An extent as a C text.
pub(super) fn extent_text(extent: &Expr) -> String {
    match literal(extent) {
        Some(value) => value.to_string(),
        None => c_text(extent, &|_| None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_subscripts_reach_what_a_pointer_points_to() {
        assert_eq!(reached("*rows", "rows"), Some(1));
        assert_eq!(reached("*rows[i]", "rows"), Some(2));
        assert_eq!(reached("rows[0][0]", "rows"), Some(2));
        assert_eq!(reached("*rows2", "rows"), None);
    }
}
