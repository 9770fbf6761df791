//! Arrays that keep the numbers which they are declared with.

use super::shape::{element, extents, listed, number_of};
use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, UnaryOp, Variable};
use crate::integer::{IntType, constant};
use crate::parse::File;
use polyhedral::source::Span;
use std::collections::HashMap;

/// A table of numbers.
pub(super) struct Table {
    extents: Vec<usize>,
    values: Vec<ExprKind>,
}

impl Table {
    /// Puts the values of its elements in their places, where these are known.
    pub(super) fn put(&self, name: &str, stmt: &mut Stmt) {
        stmt.walk_expressions_mut(&mut |part| {
            let value = match element(part) {
                Some((own, indices)) if own == name => number_of(&indices, &self.extents),
                _ => None,
            };
            if let Some(at) = value {
                part.kind = at_place(&self.values[at], &part.span);
            }
        });
    }
}

/// The tables that can be used: declared `const`, or read element by element and nothing else in the whole program.
pub(super) fn tables(
    statements: &[Stmt],
    file: &File<'_>,
    variables: &HashMap<String, Variable>,
) -> HashMap<String, Table> {
    let mut found: HashMap<String, Table> = HashMap::new();
    for one in variables.values() {
        found.extend(table(one, file).map(|table| (one.name.clone(), table)));
    }
    // A name that the statements declare again may stand for something else.
    for stmt in statements {
        stmt.walk(&mut |part| {
            if let StmtKind::Declaration(list) = &part.kind {
                list.iter().for_each(|one| {
                    let again = variables.contains_key(&one.name) || found.contains_key(&one.name);
                    match table(one, file).filter(|_| one.constant && !again) {
                        Some(table) => found.insert(one.name.clone(), table),
                        None => found.remove(&one.name),
                    };
                });
            }
        });
    }
    found
}

fn table(one: &Variable, file: &File<'_>) -> Option<Table> {
    let value = one.value.as_ref()?;
    let (extents, ctype) = extents(&one.ctype, Some(value))?;
    let values = listed(value, &extents)?
        .into_iter()
        .map(|value| number(value, &ctype, &one.span))
        .collect::<Option<Vec<_>>>()?;
    let used = |name| values.len() > 1 && file.only_reads_elements(name, extents.len());
    (one.constant || used(&one.name)).then_some(Table { extents, values })
}

/// What an element holds that is declared with a value, or with none: the number in the element's type.
fn number(value: Option<&Expr>, ctype: &CType, span: &Span) -> Option<ExprKind> {
    let integer = |value: i64, text: String| ExprKind::Integer { value, text };
    let made = |kind| Box::new(Expr { kind, span: span.clone() });
    match ctype {
        CType::Integer { name, .. } => {
            let own = IntType::of(ctype).filter(|own| !own.unsigned || own.bits < 32)?;
            let value = value.map_or(Some(0), |value| constant(value).map(|(value, _)| value))?;
            // A plain `char` may have no sign.
            let fits = own.has(value) && (name != "char" || value >= 0) && value.abs() < i128::from(i32::MAX);
            let value = i64::try_from(value).ok().filter(|_| fits && own.bits > 1)?;
            let suffix = if own.bits > 32 { "L" } else { "" };
            let literal = integer(value.abs(), format!("{}{suffix}", value.abs()));
            Some(if value < 0 { ExprKind::Unary(UnaryOp::Minus, made(literal)) } else { literal })
        }
        CType::Floating(_) => {
            let zero = integer(0, "0".to_owned());
            let mut plain = true;
            value.into_iter().for_each(|value| {
                value.walk(&mut |part| {
                    plain &= matches!(
                        part.kind,
                        ExprKind::Integer { .. }
                            | ExprKind::Floating { .. }
                            | ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, _)
                            | ExprKind::Binary(..)
                            | ExprKind::Cast(..)
                    );
                });
            });
            let value = value.map_or(zero, |value| value.kind.clone());
            plain.then(|| ExprKind::Cast(ctype.clone(), made(value)))
        }
        _ => None,
    }
}

/// A number, at another place.
fn at_place(kind: &ExprKind, place: &Span) -> ExprKind {
    let mut moved = Expr { kind: kind.clone(), span: place.clone() };
    moved.walk_mut(&mut |part| part.span = place.clone());
    moved.kind
}
