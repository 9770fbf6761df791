//! Conditions `(i + j) % 2 == 0` on the indices: from syntax to congruences.

use super::Lowering;
use super::domain::integer;
use super::names::Symbol;
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::diagnostic::{Code, Diagnostic};
use crate::program::{CompareOp, Condition, Congruence};
use crate::source::Span;

/// Largest modulus.
pub const MOST_MODULUS: i64 = 64;
/// Largest factor of an index, and largest number that is added.
const MOST_FACTOR: f64 = 1e6;

/// A sum of indices with factors, and a number.
struct Sum {
    time: f64,
    space: Vec<f64>,
    number: f64,
}

impl Lowering<'_> {
    /// Whether a comparison is one of a remainder.
    pub(super) fn is_congruence(left: &Expr, right: &Expr) -> bool {
        remainder(left).or_else(|| remainder(right)).is_some()
    }

    /// The condition that `sum % modulus` equals a number, or does not; what is wrong is reported.
    pub(super) fn congruence(
        &mut self,
        operator: CompareOp,
        left: &Expr,
        right: &Expr,
        span: &Span,
    ) -> Option<Condition> {
        let (sum, modulus, other) = match (remainder(left), remainder(right)) {
            (Some((sum, modulus)), _) => (sum, modulus, right),
            (_, Some((sum, modulus))) => (sum, modulus, left),
            (None, None) => return None,
        };
        if !matches!(operator, CompareOp::Equal | CompareOp::NotEqual) {
            return self.remainder_form(span, "a remainder is compared with `==` or `!=`");
        }
        let modulus = match integer(modulus) {
            Some(value) if (2.0..=MOST_MODULUS as f64).contains(&value) => value as i64,
            _ => {
                let message = format!("the number behind `%` is an integer from 2 to {MOST_MODULUS}");
                return self.remainder_form(&modulus.span, &message);
            }
        };
        let residue = match integer(other) {
            Some(value) if (0.0..modulus as f64).contains(&value) => value as i64,
            _ => {
                let message = format!("a remainder of {modulus} is a number from 0 to {}", modulus - 1);
                return self.remainder_form(&other.span, &message);
            }
        };
        let Sum { time, space, number } = self.sum(sum)?;
        if time == 0.0 && space.iter().all(|factor| *factor == 0.0) {
            return self.remainder_form(&sum.span, "no index is in front of `%`");
        }
        if space.iter().chain([&time, &number]).any(|part| part.abs() > MOST_FACTOR) {
            return self.remainder_form(&sum.span, "the numbers in front of `%` are too large");
        }
        let space = space.into_iter().map(|factor| factor as i64).collect();
        let own = Congruence::new(time as i64, space, modulus, residue - number as i64);
        if own.time == 0 && own.space.iter().all(|factor| *factor == 0) {
            return self.remainder_form(&sum.span, "this has the same remainder at every point");
        }
        let condition = Condition::Congruent(own);
        Some(match operator {
            CompareOp::NotEqual => Condition::Not(Box::new(condition)),
            _ => condition,
        })
    }

    /// A remainder where a number is needed.
    pub(super) fn remainder_as_value(&mut self, span: &Span) {
        self.remainder_form::<()>(span, "a remainder is no number of a stencil");
    }

    fn remainder_form<T>(&mut self, span: &Span, message: &str) -> Option<T> {
        let indices = self.space.join(" + ");
        self.report(
            Diagnostic::error(Code::REMAINDER_FORM, span.clone(), message)
                .note("remainders are those of indices, and stand in conditions; they are never negative")
                .hint(format!("write it like `({indices}) % 2 == 0 ? a : b`")),
        );
        None
    }

    /// A sum of indices and integers, indices with integer factors.
    fn sum(&mut self, expr: &Expr) -> Option<Sum> {
        let nothing = Sum { time: 0.0, space: vec![0.0; self.space.len()], number: 0.0 };
        match &expr.kind {
            ExprKind::Error => None,
            ExprKind::Number { value, integer: true } => Some(Sum { number: *value, ..nothing }),
            ExprKind::Name(name) => match self.names.get(name) {
                Some(Symbol::Time) => Some(Sum { time: 1.0, ..nothing }),
                Some(Symbol::Space(d)) => {
                    let mut sum = nothing;
                    sum.space[d] = 1.0;
                    Some(sum)
                }
                Some(symbol) => {
                    let message = format!("`{name}` is {}, not an index", symbol.describe());
                    self.remainder_form(&expr.span, &message)
                }
                None => {
                    let is_index = |symbol: Symbol| matches!(symbol, Symbol::Time | Symbol::Space(_));
                    let hint = self.names.suggest(name, is_index);
                    self.unknown(name, &expr.span, hint);
                    None
                }
            },
            ExprKind::Unary(UnaryOp::Plus, operand) => self.sum(operand),
            ExprKind::Unary(UnaryOp::Minus, operand) => Some(self.sum(operand)?.scaled(-1.0)),
            ExprKind::Binary(BinaryOp::Add, a, b) => Some(self.sum(a)?.plus(&self.sum(b)?)),
            ExprKind::Binary(BinaryOp::Sub, a, b) => Some(self.sum(a)?.plus(&self.sum(b)?.scaled(-1.0))),
            ExprKind::Binary(BinaryOp::Mul, a, b) => match (integer(a), integer(b)) {
                (Some(factor), _) => Some(self.sum(b)?.scaled(factor)),
                (_, Some(factor)) => Some(self.sum(a)?.scaled(factor)),
                _ => self.remainder_form(&expr.span, "an index has an integer as its factor"),
            },
            _ => self.remainder_form(&expr.span, "this is not a sum of indices and integers"),
        }
    }
}

impl Sum {
    fn scaled(mut self, factor: f64) -> Sum {
        self.space.iter_mut().chain([&mut self.time, &mut self.number]).for_each(|part| *part *= factor);
        self
    }

    fn plus(mut self, other: &Sum) -> Sum {
        self.space.iter_mut().zip(&other.space).for_each(|(own, part)| *own += part);
        self.time += other.time;
        self.number += other.number;
        self
    }
}

/// `sum % modulus`
fn remainder(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Rem, sum, modulus) => Some((sum, modulus)),
        _ => None,
    }
}
