//! Conditions on data: both branches are walked, and what they assign is selected from.

use super::loops::{Leaf, ReadOf, Touched};
use super::refusal::{Result, error, limitation};
use super::scalars::{Environment, Held, Kind};
use super::statement::MOST_LEAVES;
use super::typed::{cast, element_of};
use super::walker::Walker;
use crate::ast::{Expr as CExpr, Stmt, StmtKind};
use crate::codes;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::program::{Condition, Expr, ExprKind, LocalId};
use polyhedral::source::Span;

/// Why a condition cannot be followed where a loop stands in one of its branches.
pub(super) fn loop_within(condition: &CExpr, then: &Stmt, otherwise: Option<&Stmt>) -> Option<Diagnostic> {
    let mut head = None;
    for branch in [Some(then), otherwise].into_iter().flatten() {
        branch.walk(&mut |stmt| {
            if let StmtKind::For(source) = &stmt.kind {
                head.get_or_insert(source.head.clone());
            }
        });
    }
    let reason = Diagnostic::limitation(codes::STATEMENT, head?, "a loop that runs under a condition");
    Some(
        reason
            .related(condition.span.clone(), "this condition")
            .note("every time step must compute the same points"),
    )
}

/// The statement by which a loop over space is left, and how it begins.
fn leaving(stmt: &Stmt) -> Option<(&Span, &str)> {
    let mut found = None;
    stmt.walk(&mut |part| match &part.kind {
        StmtKind::Return(_) => found = found.or(Some((&part.span, "return"))),
        StmtKind::Other(kind, _) if matches!(kind.as_str(), "break" | "return" | "goto") => {
            found = found.or(Some((&part.span, kind)));
        }
        _ => {}
    });
    found
}

impl Walker<'_> {
    pub(super) fn conditional(
        &mut self,
        condition: &CExpr,
        then: &Stmt,
        otherwise: Option<&Stmt>,
        span: &Span,
    ) -> Result<()> {
        let condition = &self.folded(condition);
        if let Some(truth) = self.truth(condition) {
            return match (truth, otherwise) {
                (true, _) => self.at(0, |this| this.statement(then)),
                (false, Some(otherwise)) => self.at(1, |this| this.statement(otherwise)),
                (false, None) => Ok(()),
            };
        }
        if let Some(reason) = loop_within(condition, then, otherwise) {
            return Err(Box::new(reason));
        }
        // Before the condition: a scalar that is wanted for leaving alone has no value here.
        if let Some((left, how)) = [Some(then), otherwise].into_iter().flatten().find_map(leaving) {
            return limitation(codes::STATEMENT, left, format!("`{how}` leaves the loop early"));
        }
        let truth = self.condition(condition)?;
        let start = self.environment.clone();
        let (first, read) = (self.nest.leaves.len(), self.reads_so_far());
        self.at(0, |this| this.under(condition, true, |this| this.statement(then)))?;
        let after_then = std::mem::replace(&mut self.environment, start.clone());
        let then_leaves = self.nest.leaves.split_off(first);
        let read_by_then = self.reads_so_far();
        if let Some(otherwise) = otherwise {
            self.at(1, |this| this.under(condition, false, |this| this.statement(otherwise)))?;
        }
        let after_otherwise = std::mem::replace(&mut self.environment, start.clone());
        let otherwise_leaves = self.nest.leaves.split_off(first);
        self.read_by_both(read, read_by_then);
        self.merge_scalars(&truth, &after_then, &after_otherwise, span)?;
        let touched = self.touched_if(condition);
        self.at(2, |this| this.merge_leaves(&truth, touched, then_leaves, otherwise_leaves))
    }

    /// After both branches, each scalar holds what the branch that ran gave it.
    fn merge_scalars(
        &mut self,
        truth: &Condition,
        then: &Environment,
        otherwise: &Environment,
        span: &Span,
    ) -> Result<()> {
        let names: std::collections::BTreeSet<String> =
            then.names().into_iter().chain(otherwise.names()).collect();
        for name in names {
            let held = match (then.get(&name), otherwise.get(&name)) {
                (Some(a), Some(b)) if a == b => a.clone(),
                (Some(Held::Temporary(a, kind)), Some(Held::Temporary(b, _))) => {
                    let element = element_of(*kind).unwrap_or(polyhedral::program::ElementType::F64);
                    let local =
                        |id: usize| Expr { kind: ExprKind::Local(LocalId(id)), element, span: span.clone() };
                    let kind_of_node =
                        ExprKind::Select(Box::new(truth.clone()), Box::new(local(*a)), Box::new(local(*b)));
                    let value = Expr { kind: kind_of_node, element, span: span.clone() };
                    Held::Temporary(self.temporary(&name, value), *kind)
                }
                (
                    Some(a @ (Held::Integer(..) | Held::Whole { .. })),
                    Some(b @ (Held::Integer(..) | Held::Whole { .. })),
                ) => {
                    match self.whole_of(a, span).and_then(|a| Ok((a, self.whole_of(b, span)?))) {
                        Ok((a, b)) => {
                            let value = self.whole_select(truth, a, b, span);
                            self.hold(&name, value)
                        }
                        // It must not be used behind.
                        Err(_) => Held::Nothing(Kind::Integer),
                    }
                }
                // What another point has assigned, or this branch.
                (Some(Held::Carried(kind, place)), Some(_)) | (Some(_), Some(Held::Carried(kind, place))) => {
                    Held::Carried(*kind, place.clone())
                }
                // Assigned in one branch only: it must not be used behind.
                (Some(held), _) | (None, Some(held)) => match held {
                    Held::Integer(..) | Held::Whole { .. } => Held::Nothing(Kind::Integer),
                    Held::Temporary(_, kind) => Held::Nothing(Kind::Floating(*kind)),
                    other => other.clone(),
                },
                (None, None) => continue,
            };
            self.environment.set(&name, held);
        }
        Ok(())
    }

    /// Assignments in branches become selections; an element that one branch leaves alone keeps its value.
    fn merge_leaves(
        &mut self,
        truth: &Condition,
        touched: Touched,
        then: Vec<Leaf>,
        otherwise: Vec<Leaf>,
    ) -> Result<()> {
        let mut pairs: Vec<(Option<Leaf>, Option<Leaf>)> =
            then.into_iter().map(|leaf| (Some(leaf), None)).collect();
        for leaf in otherwise {
            let same = |other: &Leaf| {
                other.target.array == leaf.target.array && other.target.indices == leaf.target.indices
            };
            match pairs
                .iter_mut()
                .find(|(then, otherwise)| otherwise.is_none() && then.as_ref().is_some_and(same))
            {
                Some(pair) => pair.1 = Some(leaf),
                None => pairs.push((None, Some(leaf))),
            }
        }
        for (number, (then, otherwise)) in pairs.into_iter().enumerate() {
            let Some(mut leaf) = then.clone().or(otherwise.clone()) else { continue };
            let element = leaf.target.element;
            let both = then.as_ref().zip(otherwise.as_ref()).map(|(a, b)| a.touched.max(b.touched));
            leaf.touched = both.unwrap_or(leaf.touched.max(touched));
            leaf.order = self.order.clone();
            leaf.order.push(u32::try_from(number).unwrap_or(u32::MAX));
            let order = leaf.order.clone();
            // What the same iteration has assigned before is what a branch leaves alone, and is overwritten.
            let target = leaf.target.clone();
            let before = self
                .environment
                .elements
                .iter()
                .position(|(array, at, _)| *array == target.array && *at == target.indices)
                .map(|at| self.environment.elements.remove(at).2);
            if before.is_some() {
                leaf.touched = Touched::Always;
                for other in &mut self.nest.leaves {
                    other.overwritten |= other.target.array == target.array
                        && other.target.indices == target.indices
                        && other.path == leaf.path
                        && other.narrowed == leaf.narrowed;
                }
            }
            let mut side = |leaf: Option<Leaf>| match (leaf, before) {
                (Some(leaf), _) => Ok(leaf.value),
                (None, Some(id)) => {
                    Ok(Expr { kind: ExprKind::Local(LocalId(id)), element, span: target.span.clone() })
                }
                (None, None) => {
                    self.read_at(ReadOf::State(target.clone()), element, &target.span, touched, &order)
                }
            };
            let (a, b) = (side(then)?, side(otherwise)?);
            let kind = ExprKind::Select(
                Box::new(truth.clone()),
                Box::new(cast(a, element)),
                Box::new(cast(b, element)),
            );
            let value = Expr { kind, element, span: leaf.span.clone() };
            let temporary = self.temporary(&target.array, value);
            self.environment.elements.push((target.array, target.indices, temporary));
            leaf.value = Expr { kind: ExprKind::Local(LocalId(temporary)), element, span: leaf.span.clone() };
            if self.nest.leaves.len() >= MOST_LEAVES {
                return error(codes::TOO_DEEP, &leaf.span, "too many assignments of arrays");
            }
            self.nest.leaves.push(leaf);
        }
        Ok(())
    }
}
