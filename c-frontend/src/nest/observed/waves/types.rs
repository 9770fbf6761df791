//! Types of what loops of steps that run ahead find and leave.

use crate::ast::{CType, Expr, Floating};
use crate::integer::literal;
use crate::nest::observed::left::text;
use crate::text::{type_text, without_parentheses};

/// Whether a type is one of numbers that any C file knows.
pub(super) fn is_plain(ctype: &CType) -> bool {
    match ctype {
        CType::Integer { name, .. } => name.split(' ').all(|word| {
            matches!(word, "char" | "short" | "int" | "long" | "signed" | "unsigned" | "size_t" | "ptrdiff_t")
        }),
        CType::Floating(kind) => *kind != Floating::LongDouble,
        _ => false,
    }
}

/// The declaration of a pointer to what an array holds, or a pointer points to.
pub(super) fn pointer(ctype: &CType, name: &str) -> String {
    let to = match ctype {
        CType::Pointer(to) | CType::Array(to, _) => to,
        other => other,
    };
    declaration(to, format!("*{name}"))
}

fn declaration(ctype: &CType, inner: String) -> String {
    let grouped = || if inner.starts_with('*') { format!("({inner})") } else { inner.clone() };
    match ctype {
        CType::Pointer(to) => declaration(to, format!("*{inner}")),
        CType::Array(to, extent) => {
            let extent = extent.as_ref().map(|extent| plain_text(extent)).unwrap_or_default();
            let inner = format!("{}[{extent}]", grouped());
            declaration(to, inner)
        }
        other => format!("{} {inner}", type_text(other)),
    }
}

/// That the extents of arrays within a type are still what they were where it was declared.
pub(super) fn sizes(ctype: &CType, name: &str) -> Vec<String> {
    let (mut at, mut element, mut found) = (ctype, name.to_owned(), Vec::new());
    while let CType::Pointer(to) | CType::Array(to, _) = at {
        element.push_str("[0]");
        if let CType::Array(_, Some(extent)) = &**to
            && literal(extent).is_none()
        {
            found.push(format!("sizeof {element} == (size_t)({}) * sizeof {element}[0]", plain_text(extent)));
        }
        at = to;
    }
    found
}

pub(super) fn plain_text(expr: &Expr) -> String {
    without_parentheses(&text(expr))
}
