//! Domains `for 1 <= i < n0 - 1, j == 0`: from conditions to the sides of a box.

use super::Lowering;
use super::names::Symbol;
use crate::ast::{self, BinaryOp, Expr, ExprKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::domain::{Bound, EXTENTS, Sides};
use crate::program::CompareOp;

/// Largest distance of a bound from an end of the grid.
pub const MOST_DISTANCE: i64 = 1 << 20;

impl Lowering<'_> {
    /// The sides that the conditions of a domain give; what is wrong is reported and left out.
    pub(super) fn domain(&mut self, domain: &ast::Domain) -> Vec<Sides> {
        let mut sides = vec![Sides::default(); self.space.len()];
        for condition in &domain.conditions {
            let Some(comparisons) = comparisons(condition) else {
                self.domain_form(condition, "this is not a condition on an index");
                continue;
            };
            for (operator, left, right) in comparisons {
                // The index to the left.
                let (operator, index, limit) = match (self.space_index(left), self.space_index(right)) {
                    (Some(index), None) => (operator, index, right),
                    (None, Some(index)) => (mirrored(operator), index, left),
                    _ => {
                        self.domain_form(condition, "this does not compare one index with a bound");
                        break;
                    }
                };
                let Some(bound) = self.bound(limit, index) else { break };
                let (low, high) = match operator {
                    CompareOp::Less => (None, Some(bound)),
                    CompareOp::LessEqual => (None, Some(bound.shifted(1))),
                    CompareOp::Greater => (Some(bound.shifted(1)), None),
                    CompareOp::GreaterEqual => (Some(bound), None),
                    CompareOp::Equal => (Some(bound), Some(bound.shifted(1))),
                    CompareOp::NotEqual => {
                        self.domain_form(condition, "a domain is a box and has no holes");
                        break;
                    }
                };
                let known = &mut sides[index];
                if (low.is_some() && known.low.is_some()) || (high.is_some() && known.high.is_some()) {
                    let message = format!("a second bound of `{}` at the same side", self.space[index]);
                    self.domain_form(condition, &message);
                    break;
                }
                known.low = known.low.or(low);
                known.high = known.high.or(high);
            }
        }
        sides
    }

    fn space_index(&self, expr: &Expr) -> Option<usize> {
        let ExprKind::Name(name) = &expr.kind else { return None };
        match self.names.get(name)? {
            Symbol::Space(dimension) => Some(dimension),
            _ => None,
        }
    }

    /// `3`, `n0`, `n0 - 1` or `n0 + 0`.
    fn bound(&mut self, limit: &Expr, dimension: usize) -> Option<Bound> {
        let extent = EXTENTS[dimension];
        let (name, offset) = match &limit.kind {
            ExprKind::Binary(operator @ (BinaryOp::Add | BinaryOp::Sub), left, right) => {
                let sign = if *operator == BinaryOp::Sub { -1.0 } else { 1.0 };
                (Some(&left.kind), integer(right).map(|value| sign * value))
            }
            ExprKind::Name(_) => (Some(&limit.kind), Some(0.0)),
            _ => (None, integer(limit)),
        };
        let Some(offset) = offset else {
            let text = format!("a bound is an integer, `{extent}`, or `{extent}` plus or minus an integer");
            self.domain_form(limit, &text);
            return None;
        };
        if offset.abs() > MOST_DISTANCE as f64 {
            let message = format!("this bound is more than {MOST_DISTANCE} points from the end of the grid");
            self.report(Diagnostic::limitation(Code::DOMAIN_FORM, limit.span.clone(), message));
            return None;
        }
        let offset = offset as i64;
        match name {
            None => Some(Bound::start(offset)),
            Some(ExprKind::Name(name)) if name == extent => Some(Bound::end(offset)),
            Some(ExprKind::Name(name)) if EXTENTS.contains(&name.as_str()) => {
                let message =
                    format!("`{}` is compared with the extent of another dimension", self.space[dimension]);
                let diagnostic = Diagnostic::error(Code::DOMAIN_FORM, limit.span.clone(), message);
                self.report(diagnostic.hint(format!("its own extent is `{extent}`")));
                None
            }
            Some(_) => {
                let text =
                    format!("a bound is an integer, `{extent}`, or `{extent}` plus or minus an integer");
                self.domain_form(limit, &text);
                None
            }
        }
    }

    fn domain_form(&mut self, place: &Expr, message: &str) {
        if matches!(place.kind, ExprKind::Error) {
            return;
        }
        let (index, extent) = (self.space[0].clone(), EXTENTS[0]);
        let diagnostic = Diagnostic::error(Code::DOMAIN_FORM, place.span.clone(), message)
            .note(format!("`{extent}` is the number of points along `{index}`"))
            .hint(format!("write it like `for 1 <= {index} < {extent} - 1` or `for {index} == 0`"));
        self.report(diagnostic);
    }
}

/// The comparisons of `a < b` or `a < b < c`.
fn comparisons(condition: &Expr) -> Option<Vec<(CompareOp, &Expr, &Expr)>> {
    let ExprKind::Binary(BinaryOp::Compare(operator), left, right) = &condition.kind else { return None };
    if let ExprKind::Binary(BinaryOp::Compare(first), low, middle) = &left.kind {
        return Some(vec![(*first, low, middle), (*operator, middle, right)]);
    }
    Some(vec![(*operator, left, right)])
}

fn mirrored(operator: CompareOp) -> CompareOp {
    match operator {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessEqual => CompareOp::GreaterEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterEqual => CompareOp::LessEqual,
        CompareOp::Equal | CompareOp::NotEqual => operator,
    }
}

/// The value of an integer, with its sign.
pub(super) fn integer(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Number { value, integer: true } => Some(*value),
        ExprKind::Unary(ast::UnaryOp::Minus, operand) => integer(operand).map(|value| -value),
        _ => None,
    }
}
