//! Operands whose order C leaves open. gcc computes the arguments of a call from the last one to the first, clang from the first one on;
//! operands of `+` and the like both take from left to right. What functions do that a value calls is done before the value, in the
//! order of the text: where that could be told from what the compiler of the original does, the call is refused.

use super::inliner::Inliner;
use super::rename::reads_memory;
use crate::ast::{Expr, ExprKind, Stmt};
use crate::codes;
use crate::nest::{Result, assigned, declared, is_known_function};
use crate::text::c_text;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::collections::HashSet;

/// An operand: what must be done before, and its value then.
pub(super) struct Operand {
    before: Vec<Stmt>,
    value: Expr,
    /// How it is written, and where.
    text: String,
    place: Span,
}

/// What the statements before an operand do that others can see.
#[derive(Default)]
struct Changes {
    /// Scalars and arrays.
    names: HashSet<String>,
    /// Whether elements or members are among them, which may have other names, too.
    memory: bool,
}

impl Changes {
    fn any(&self) -> bool {
        self.memory || !self.names.is_empty()
    }
}

impl Operand {
    fn changes(&self) -> Changes {
        let own = declared(&self.before);
        let mut changes = Changes::default();
        for stmt in &self.before {
            let (arrays, scalars) = assigned(stmt);
            let arrays: Vec<String> = arrays.into_iter().filter(|name| !own.contains(name)).collect();
            changes.memory |= !arrays.is_empty();
            changes.names.extend(arrays);
            changes.names.extend(scalars.into_iter().filter(|name| !own.contains(name)));
            // Such as `memcpy`.
            stmt.walk_expressions(&mut |part| {
                if let ExprKind::Call(function, _) = &part.kind {
                    changes.memory |=
                        !matches!(&function.kind, ExprKind::Name(name) if is_known_function(name));
                }
            });
        }
        changes
    }

    /// Whether its value reads what others change.
    fn value_reads(&self, changes: &Changes) -> bool {
        changes.names.iter().any(|name| self.value.mentions(name))
    }

    /// Whether it reads what others change, in its value or before.
    fn reads(&self, changes: &Changes) -> bool {
        let own = declared(&self.before);
        let mut reads = self.value_reads(changes) || changes.memory && reads_memory(&self.value);
        for stmt in &self.before {
            stmt.walk_expressions(&mut |part| {
                reads |= match &part.kind {
                    ExprKind::Name(name) => changes.names.contains(name) && !own.contains(name),
                    ExprKind::Index(..) | ExprKind::Member(..) => changes.memory,
                    _ => false,
                };
            });
        }
        reads
    }
}

impl Inliner<'_> {
    fn operand(&mut self, expr: Expr, may_do: bool) -> Result<Operand> {
        let (mut before, text, place) = (Vec::new(), c_text(&expr, &|_| None), expr.span.clone());
        let value = self.expression(expr, may_do.then_some(&mut before))?;
        Ok(Operand { before, value, text, place })
    }

    /// The arguments of a call, which compilers compute in either order.
    pub(super) fn in_any_order(
        &mut self,
        arguments: Vec<Expr>,
        mut out: Option<&mut Vec<Stmt>>,
    ) -> Result<Vec<Expr>> {
        let mut operands = Vec::new();
        for argument in arguments {
            operands.push(self.operand(argument, out.is_some())?);
        }
        for (at, one) in operands.iter().enumerate().filter(|(_, one)| !one.before.is_empty()) {
            let changes = one.changes();
            let mut others = operands.iter().enumerate().filter(|(other, _)| *other != at);
            let told = |other: &Operand| changes.any() && (other.changes().any() || other.reads(&changes));
            if let Some((_, other)) = others.find(|(_, other)| told(other)) {
                return left_open(one, other);
            }
        }
        Ok(operands
            .into_iter()
            .map(|one| {
                if let Some(out) = out.as_deref_mut() {
                    out.extend(one.before);
                }
                one.value
            })
            .collect())
    }

    /// Two operands, which compilers compute from left to right.
    pub(super) fn left_first(
        &mut self,
        a: Expr,
        b: Expr,
        out: Option<&mut Vec<Stmt>>,
    ) -> Result<(Box<Expr>, Box<Expr>)> {
        let a = self.operand(a, out.is_some())?;
        let b = self.operand(b, out.is_some())?;
        if a.value_reads(&b.changes()) {
            return left_open(&b, &a);
        }
        if let Some(out) = out {
            out.extend(a.before);
            out.extend(b.before);
        }
        Ok((Box::new(a.value), Box::new(b.value)))
    }
}

/// Refuses what depends on which of two operands is computed first.
fn left_open<T>(one: &Operand, other: &Operand) -> Result<T> {
    let name = one.text.split('(').next().unwrap_or_default();
    let message = format!(
        "C leaves open whether the call of `{name}` is done before or after `{}` is computed",
        other.text
    );
    let told = Diagnostic::limitation(codes::CALL, one.place.clone(), message)
        .related(other.place.clone(), "this")
        .hint("compute one after the other: `double first = ..; double second = ..;`");
    Err(Box::new(told))
}
