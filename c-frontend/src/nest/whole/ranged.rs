//! An integer of the data: the floating-point value that stands for it, its type in C and its range.

use crate::codes;
pub(super) use crate::integer::EXACT_IN_DOUBLE as DOUBLE;
use crate::integer::IntType;
use crate::nest::refusal::Result;
use crate::nest::typed::{cast, number};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::math::Libm;
use polyhedral::program::{BinaryOp, Condition, ElementType, Expr, ExprKind, Function};
use polyhedral::source::Span;

/// Integers up to this magnitude are exact in `float`.
const SINGLE: i128 = 1 << 24;

/// An integer of the data.
#[derive(Debug, Clone)]
pub(in crate::nest) struct Whole {
    pub value: Expr,
    pub own: IntType,
    pub low: i128,
    pub high: i128,
}

impl Whole {
    pub fn magnitude(&self) -> i128 {
        self.low.abs().max(self.high.abs())
    }

    /// Whether the range lies within the type.
    pub fn fits(&self, own: IntType) -> bool {
        own.has(self.low) && own.has(self.high)
    }
}

/// Least and greatest value of a type.
pub(super) fn range(own: IntType) -> (i128, i128) {
    match own.unsigned {
        true => (0, (1 << own.bits) - 1),
        false => (-(1 << (own.bits - 1)), (1 << (own.bits - 1)) - 1),
    }
}

/// The least floating-point type that has all integers up to a magnitude.
pub(super) fn element_for(magnitude: i128) -> ElementType {
    if magnitude <= SINGLE { ElementType::F32 } else { ElementType::F64 }
}

/// The type of the field that holds an array of integers; `None` where none holds them all.
pub(in crate::nest) fn element_of_integers(own: IntType) -> Option<ElementType> {
    (own.bits <= 32).then(|| element_for(range(own).1))
}

/// A value that is 0 where it was -0: `x + 0`.
pub(super) fn without_sign(value: Expr) -> Expr {
    let (element, span) = (value.element, value.span.clone());
    let zero = number(0.0, element, &span);
    Expr { kind: ExprKind::Binary(BinaryOp::Add, Box::new(value), Box::new(zero)), element, span }
}

/// A number.
pub(super) fn literal(value: i128, own: IntType, span: &Span) -> Whole {
    Whole { value: number(value as f64, element_for(value.abs()), span), own, low: value, high: value }
}

/// 1 where a condition holds, else 0.
pub(super) fn truth_value(condition: Condition, span: &Span) -> Whole {
    let (one, zero) = (literal(1, IntType::INT, span), literal(0, IntType::INT, span));
    chosen(condition, one, zero, span)
}

pub(super) fn chosen(truth: Condition, then: Whole, otherwise: Whole, span: &Span) -> Whole {
    let element = element_for(then.magnitude().max(otherwise.magnitude()));
    let own = then.own;
    let (low, high) = (then.low.min(otherwise.low), then.high.max(otherwise.high));
    let (a, b) = (cast(then.value, element), cast(otherwise.value, element));
    let kind = ExprKind::Select(Box::new(truth), Box::new(a), Box::new(b));
    Whole { value: Expr { kind, element, span: span.clone() }, own, low, high }
}

/// `floor(a / power)`, which is exact for powers of two.
pub(super) fn floor_of(a: Whole, power: Whole, span: &Span) -> Whole {
    let element = element_for(a.magnitude().max(power.high));
    let made = |kind| Expr { kind, element, span: span.clone() };
    let (x, y) = (cast(a.value, element), cast(power.value, element));
    let quotient = made(ExprKind::Binary(BinaryOp::Div, Box::new(x), Box::new(y)));
    let value = made(ExprKind::Call(Function::Libm(Libm::Floor), Box::new(quotient)));
    let (low, high) = (a.low.div_euclid(power.high), a.high.div_euclid(power.high));
    Whole { value, own: a.own, low, high }
}

/// `a - 2^bits floor(a / 2^bits)`, of a value that is cheap to use twice.
pub(super) fn modulo(a: Whole, bits: u32, span: &Span) -> Whole {
    let power = literal(1 << bits, a.own, span);
    let own = a.own;
    if a.low >= 0 && a.high < power.high {
        return a;
    }
    let element = element_for(a.magnitude().max(power.high));
    let made = |kind| Expr { kind, element, span: span.clone() };
    let whole = floor_of(a.clone(), power.clone(), span);
    let product = made(ExprKind::Binary(
        BinaryOp::Mul,
        Box::new(cast(power.value, element)),
        Box::new(cast(whole.value, element)),
    ));
    let value = made(ExprKind::Binary(BinaryOp::Sub, Box::new(cast(a.value, element)), Box::new(product)));
    Whole { value, own, low: 0, high: (1 << bits) - 1 }
}

pub(super) fn wide<T>(span: &Span) -> Result<T> {
    Err(Box::new(
        Diagnostic::limitation(codes::TYPE, span.clone(), "an integer of 64 bits meets integers of the data")
            .note("integers of up to 32 bits are computed in floating point, exactly; those of 64 bits do not fit"),
    ))
}
