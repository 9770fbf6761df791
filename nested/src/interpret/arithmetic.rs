//! What operators and functions of numbers mean.

use super::value::{Done, Value, fault};
use crate::fault::FaultKind;
use crate::program::*;
use polyhedral::source::Span;
use std::rc::Rc;

pub(super) fn identity<'p>(builtin: Builtin, ty: &Type) -> Value<'p> {
    match ty {
        Type::Scalar(scalar) => Value::Scalar(builtin.identity(*scalar)),
        _ => {
            let parts = ty.components().unwrap_or_default();
            Value::Parts(Rc::new(parts.iter().map(|part| identity(builtin, part)).collect()))
        }
    }
}

pub(super) fn unary(operator: Unary, operand: &Value<'_>) -> Literal {
    let Value::Scalar(literal) = operand else { return Literal::I64(0) };
    match (operator, *literal) {
        (Unary::Not, Literal::Bool(value)) => Literal::Bool(!value),
        (_, Literal::I32(value)) => Literal::I32(value.wrapping_neg()),
        (_, Literal::I64(value)) => Literal::I64(value.wrapping_neg()),
        (_, Literal::F32(value)) => Literal::F32(-value),
        (_, Literal::F64(value)) => Literal::F64(-value),
        (_, literal) => literal,
    }
}

macro_rules! floats {
    ($operator:ident, $a:ident, $b:ident, $make:ident) => {
        match $operator {
            Binary::Add => Literal::$make($a + $b),
            Binary::Subtract => Literal::$make($a - $b),
            Binary::Multiply => Literal::$make($a * $b),
            Binary::Divide => Literal::$make($a / $b),
            Binary::Remainder => Literal::$make($a % $b),
            other => Literal::Bool(compare(other, $a.partial_cmp(&$b))),
        }
    };
}

macro_rules! integers {
    ($operator:ident, $a:ident, $b:ident, $make:ident, $span:ident) => {
        match $operator {
            Binary::Add => Literal::$make($a.wrapping_add($b)),
            Binary::Subtract => Literal::$make($a.wrapping_sub($b)),
            Binary::Multiply => Literal::$make($a.wrapping_mul($b)),
            Binary::Divide | Binary::Remainder if $b == 0 => return fault(FaultKind::Division, $span, 0, 0),
            Binary::Divide => Literal::$make($a.wrapping_div($b)),
            Binary::Remainder => Literal::$make($a.wrapping_rem($b)),
            other => Literal::Bool(compare(other, Some($a.cmp(&$b)))),
        }
    };
}

fn compare(operator: Binary, order: Option<std::cmp::Ordering>) -> bool {
    match operator {
        Binary::Less => order.is_some_and(|order| order.is_lt()),
        Binary::LessEqual => order.is_some_and(|order| order.is_le()),
        Binary::Greater => order.is_some_and(|order| order.is_gt()),
        Binary::GreaterEqual => order.is_some_and(|order| order.is_ge()),
        Binary::Equal => order.is_some_and(|order| order.is_eq()),
        _ => order.is_none_or(|order| order.is_ne()),
    }
}

pub(super) fn binary<'p>(
    operator: Binary,
    left: &Value<'p>,
    right: &Value<'p>,
    span: &Span,
) -> Done<Value<'p>> {
    let (Value::Scalar(left), Value::Scalar(right)) = (left, right) else { return Ok(left.clone()) };
    Ok(Value::Scalar(match (*left, *right) {
        (Literal::I32(a), Literal::I32(b)) => integers!(operator, a, b, I32, span),
        (Literal::I64(a), Literal::I64(b)) => integers!(operator, a, b, I64, span),
        (Literal::F32(a), Literal::F32(b)) => floats!(operator, a, b, F32),
        (Literal::F64(a), Literal::F64(b)) => floats!(operator, a, b, F64),
        (Literal::Bool(a), Literal::Bool(b)) => Literal::Bool(compare(operator, Some(a.cmp(&b)))),
        (left, _) => left,
    }))
}

pub(super) fn convert(value: &Value<'_>, to: Option<Scalar>) -> Literal {
    let Value::Scalar(from) = value else { return Literal::I64(0) };
    macro_rules! to {
        ($value:ident) => {
            match to {
                Some(Scalar::I32) => Literal::I32($value as i32),
                Some(Scalar::F32) => Literal::F32($value as f32),
                Some(Scalar::F64) => Literal::F64($value as f64),
                _ => Literal::I64($value as i64),
            }
        };
    }
    match *from {
        Literal::I32(value) => to!(value),
        Literal::I64(value) => to!(value),
        Literal::F32(value) => to!(value),
        Literal::F64(value) => to!(value),
        literal => literal,
    }
}

pub(super) fn applied(math: Math, operands: &[Value<'_>]) -> Literal {
    let scalar = |place: usize| match operands.get(place) {
        Some(Value::Scalar(literal)) => *literal,
        _ => Literal::I64(0),
    };
    macro_rules! float {
        ($a:ident, $b:expr, $make:ident) => {{
            let b = $b;
            Literal::$make(match math {
                Math::Sqrt => $a.sqrt(),
                Math::Exp => $a.exp(),
                Math::Log => $a.ln(),
                Math::Sin => $a.sin(),
                Math::Cos => $a.cos(),
                Math::Tanh => $a.tanh(),
                Math::Pow => $a.powf(b),
                Math::Floor => $a.floor(),
                Math::Ceil => $a.ceil(),
                Math::Abs => $a.abs(),
                Math::Min => {
                    if $a < b {
                        $a
                    } else {
                        b
                    }
                }
                Math::Max => {
                    if $a > b {
                        $a
                    } else {
                        b
                    }
                }
            })
        }};
    }
    macro_rules! integer {
        ($a:ident, $b:expr, $make:ident) => {
            Literal::$make(match math {
                Math::Min => $a.min($b),
                Math::Max => $a.max($b),
                _ => $a.wrapping_abs(),
            })
        };
    }
    match (scalar(0), scalar(1)) {
        (Literal::F32(a), b) => float!(a, if let Literal::F32(b) = b { b } else { 0.0 }, F32),
        (Literal::F64(a), b) => float!(a, if let Literal::F64(b) = b { b } else { 0.0 }, F64),
        (Literal::I32(a), b) => integer!(a, if let Literal::I32(b) = b { b } else { 0 }, I32),
        (Literal::I64(a), b) => integer!(a, if let Literal::I64(b) = b { b } else { 0 }, I64),
        (literal, _) => literal,
    }
}
