//! Local integers that keep the value they are declared with, such as `size_t bytes = n * n * sizeof(double);`.

use super::inliner::Inliner;
use super::rename::{assigns, assigns_member, is_pure};
use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, UnaryOp};

/// Names of an expression that are replaced by their values: where each value has the one before it twice, there is no end of them.
const MOST_NAMES: usize = 1000;

impl Inliner<'_> {
    /// Notes those of a function's body, whose names stand for nothing else.
    pub(super) fn note_values(&mut self, body: &[Stmt]) {
        let mut found = Vec::new();
        for stmt in body {
            stmt.walk(&mut |part| {
                let StmtKind::Declaration(list) = &part.kind else { return };
                for one in list.iter().filter(|one| matches!(one.ctype, CType::Integer { .. })) {
                    if let Some(value) = &one.value
                        && !assigns(body, &one.name)
                        && stays(value, body)
                    {
                        found.push((one.name.clone(), value.clone()));
                    }
                }
            });
        }
        self.values.extend(found);
    }

    /// Notes those of a region, and of the function around it.
    pub(super) fn note_values_around(&mut self, statements: &[Stmt]) {
        self.note_values(statements);
        let mut count = std::collections::HashMap::<&str, usize>::new();
        for stmt in statements {
            stmt.walk(&mut |part| {
                if let StmtKind::Declaration(list) = &part.kind {
                    list.iter().for_each(|one| *count.entry(&one.name).or_default() += 1);
                }
            });
        }
        let variables = self.variables;
        self.values.retain(|name, _| count.get(name.as_str()) == Some(&1) && !variables.contains_key(name));
        for (name, one) in variables {
            let kept = |name: &String| {
                let local = variables.get(name).is_some_and(|one| !one.global || one.constant);
                local && !self.file.is_changed(name) && !count.contains_key(name.as_str())
            };
            let Some(value) = one.value.as_ref().filter(|_| kept(name)) else { continue };
            let mut keeps = matches!(one.ctype, CType::Integer { .. }) && is_pure(value);
            value.walk(&mut |part| match &part.kind {
                ExprKind::Name(name) => keeps &= kept(name),
                ExprKind::Member(..) | ExprKind::Index(..) | ExprKind::Unary(UnaryOp::Dereference, _) => {
                    keeps = false;
                }
                _ => {}
            });
            if keeps {
                self.values.insert(name.clone(), value.clone());
            }
        }
    }

    /// An expression with such values in the place of their names.
    pub(super) fn written_out(&self, expr: &Expr) -> Expr {
        self.written_out_within(expr, &mut { MOST_NAMES })
    }

    /// The same for so many names; others, and their values, stay as they are.
    fn written_out_within(&self, expr: &Expr, left: &mut usize) -> Expr {
        let mut found = expr.clone();
        // Each follows from others that are declared before it.
        found.walk_mut(&mut |part| {
            if let ExprKind::Name(name) = &part.kind
                && let Some(value) = self.values.get(name).filter(|value| !value.mentions(name))
                && let Some(rest) = left.checked_sub(1)
            {
                *left = rest;
                *part = self.written_out_within(value, left);
            }
        });
        found
    }
}

/// Whether a value is the same wherever it is computed in a body.
fn stays(value: &Expr, body: &[Stmt]) -> bool {
    let mut stays = is_pure(value);
    value.walk(&mut |part| match &part.kind {
        ExprKind::Name(name) => stays &= !assigns(body, name),
        ExprKind::Member(_, _, member) => stays &= !assigns_member(body, member),
        ExprKind::Index(..) | ExprKind::Unary(UnaryOp::Dereference, _) => stays = false,
        _ => {}
    });
    stays
}
