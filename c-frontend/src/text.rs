//! Expressions back to C.

use crate::ast::{BinaryOp, CType, Expr, ExprKind, Floating};
use std::fmt::Write;

/// A member of an array's structures, as an array of its own: `cell[][].h` is named where `cell[i][j].h` is meant, and
/// `f[]@double [9][2]` where `f[i * 9 + 2]` is, which is `((double (*)[9])f)[i][2]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberOf<'a> {
    /// The array.
    pub array: &'a str,
    /// How many indices stand before the member.
    pub indices: usize,
    /// The member, from its dot on.
    pub path: &'a str,
    /// Of flat arrays, the type of a value, and how many a point has, in brackets.
    row: Option<(&'a str, &'a str)>,
}

impl<'a> MemberOf<'a> {
    /// What the name of a variable stands for; `None` if it is a plain one.
    pub fn of(name: &'a str) -> Option<Self> {
        let first = name.find("[]")?;
        let indices = name[first..].matches("[]").count();
        let (array, path) = (&name[..first], &name[first + 2 * indices..]);
        let flat = path.strip_prefix('@').and_then(|path| {
            let (kind, rest) = path.split_once(' ')?;
            let (count, path) = rest.split_at(rest.find(']')? + 1);
            Some(MemberOf { array, indices, path, row: Some((kind, count)) })
        });
        Some(flat.unwrap_or(MemberOf { array, indices, path, row: None }))
    }

    /// The name of one of the values that each point has in a flat array.
    pub fn flat(array: &str, kind: &str, (count, number): (i64, i64)) -> String {
        format!("{array}[]@{kind} [{count}][{number}]")
    }

    /// What indices follow, of an array or a pointer with this text.
    pub fn base(self, array: &str) -> String {
        match self.row {
            Some((kind, count)) => format!("(({kind} (*){count}){array})"),
            None => array.to_owned(),
        }
    }

    /// The name of the same member of another array.
    pub fn of_array(self, array: &str) -> String {
        let row = self.row.map(|(kind, count)| format!("@{kind} {count}")).unwrap_or_default();
        format!("{array}{}{row}{}", "[]".repeat(self.indices), self.path)
    }
}

/// The variable that a name stands for, or is a member of.
pub fn array_of(name: &str) -> &str {
    MemberOf::of(name).map_or(name, |member| member.array)
}

/// A text in which values of flat arrays are named shortly: `f[][2]` for `f[]@double [9][2]`.
pub fn shown(text: &str) -> String {
    let mut result = text.to_owned();
    for kind in ["double", "float"] {
        let mark = format!("@{kind} [");
        while let Some(start) = result.find(&mark) {
            let Some(end) = result[start..].find(']') else { return result };
            result.replace_range(start..=start + end, "");
        }
    }
    result
}

/// The text of an expression, fully parenthesised, with some names replaced.
pub fn c_text(expr: &Expr, replace: &dyn Fn(&str) -> Option<String>) -> String {
    let sub = |inner: &Expr| c_text(inner, replace);
    match &expr.kind {
        ExprKind::Integer { text, .. } => text.clone(),
        ExprKind::Floating { text, kind } => {
            let suffix = match kind {
                Floating::Float => "f",
                Floating::Double => "",
                Floating::LongDouble => "L",
            };
            format!("{text}{suffix}")
        }
        ExprKind::Name(name) => replace(name).unwrap_or_else(|| name.clone()),
        ExprKind::Index(array, index) => {
            let (mut base, mut indices) = (&**array, vec![&**index]);
            while let ExprKind::Index(array, index) = &base.kind {
                indices.push(index);
                base = array;
            }
            indices.reverse();
            let member = match &base.kind {
                ExprKind::Name(name) => MemberOf::of(name),
                _ => None,
            };
            let mut text = member.map_or_else(|| sub(base), |member| member.base(member.array));
            for (at, index) in indices.into_iter().enumerate() {
                let _ = write!(text, "[{}]", without_parentheses(&sub(index)));
                if let Some(member) = member.filter(|member| member.indices == at + 1) {
                    text.push_str(member.path);
                }
            }
            text
        }
        ExprKind::Call(function, arguments) => {
            let arguments: Vec<String> = arguments.iter().map(|one| without_parentheses(&sub(one))).collect();
            format!("{}({})", sub(function), arguments.join(", "))
        }
        ExprKind::Unary(operator, operand) => format!("({}{})", operator.text(), sub(operand)),
        ExprKind::Binary(operator, left, right) => {
            format!("({} {} {})", sub(left), operator.text(), sub(right))
        }
        ExprKind::Assign(operator, left, right) => {
            format!("({} {}= {})", sub(left), operator.map_or("", BinaryOp::text), sub(right))
        }
        ExprKind::Step(by, operand) => format!("({} += {by})", sub(operand)),
        ExprKind::Cast(ctype, operand) => format!("(({}){})", type_text(ctype), sub(operand)),
        ExprKind::Conditional(condition, then, otherwise) => {
            format!("({} ? {} : {})", sub(condition), sub(then), sub(otherwise))
        }
        ExprKind::Comma(left, right) => format!("({}, {})", sub(left), sub(right)),
        ExprKind::Member(object, arrow, member) => {
            format!("{}{}{member}", sub(object), if *arrow { "->" } else { "." })
        }
        ExprKind::Turn { shift, .. } => shift.to_string(),
        ExprKind::List(list) => {
            let list: Vec<String> = list.iter().map(|one| without_parentheses(&sub(one))).collect();
            format!("{{ {} }}", list.join(", "))
        }
        ExprKind::Other(_, text) => text.clone(),
    }
}

/// The text of a scalar type; of others, as near as needed for a message.
pub fn type_text(ctype: &CType) -> String {
    match ctype {
        CType::Integer { name, .. } => name.clone(),
        CType::Floating(Floating::Float) => "float".to_owned(),
        CType::Floating(Floating::Double) => "double".to_owned(),
        CType::Floating(Floating::LongDouble) => "long double".to_owned(),
        CType::Pointer(inner) => format!("{} *", type_text(inner)),
        CType::Array(inner, _) => format!("{} []", type_text(inner)),
        CType::Other(name) => name.clone(),
    }
}

/// Without the parentheses around all of it.
pub fn without_parentheses(text: &str) -> String {
    let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else {
        return text.to_owned();
    };
    let mut depth = 0;
    for letter in inner.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return text.to_owned();
        }
    }
    inner.to_owned()
}

/// The type of what a pointer points to.
pub fn pointed_to(ctype: &CType) -> String {
    match ctype {
        CType::Pointer(inner) | CType::Array(inner, _) => shape_text(inner),
        other => shape_text(other),
    }
}

fn shape_text(ctype: &CType) -> String {
    match ctype {
        CType::Array(inner, extent) => {
            let extent = extent.as_ref().map(|extent| c_text(extent, &|_| None)).unwrap_or_default();
            format!("[{extent}]{}", shape_text(inner))
        }
        CType::Pointer(inner) => format!("*{}", shape_text(inner)),
        other => type_text(other),
    }
}
