//! Values on the way: what the parts of an expression come to.

use super::error::EvaluationError;
use std::borrow::Cow;
use std::cmp::Ordering;
use trials::Value;

/// A value on the way.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Datum<'a> {
    Boolean(bool),
    Integer(i64),
    Real(f64),
    Text(Cow<'a, str>),
    List(Vec<Datum<'a>>),
}

/// A number: whole where that is exact.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Whole(i64),
    Real(f64),
}

impl Number {
    pub fn real(self) -> f64 {
        match self {
            Number::Whole(number) => number as f64,
            Number::Real(number) => number,
        }
    }
}

impl<'a> Datum<'a> {
    pub fn of(value: &'a Value) -> Datum<'a> {
        match value {
            Value::Boolean(value) => Datum::Boolean(*value),
            Value::Integer(value) => Datum::Integer(*value),
            Value::Real(value) => Datum::Real(*value),
            Value::Text(value) => Datum::Text(Cow::Borrowed(value)),
        }
    }

    /// As a level.
    pub fn into_value(self) -> Result<Value, EvaluationError> {
        Ok(match self {
            Datum::Boolean(value) => Value::Boolean(value),
            Datum::Integer(value) => Value::Integer(value),
            Datum::Real(value) => Value::Real(value),
            Datum::Text(value) => Value::Text(value.into_owned()),
            Datum::List(_) => return Err(EvaluationError::Kind("a list stands where one value is expected")),
        })
    }

    /// Whether it counts as true.
    pub fn truth(&self) -> bool {
        match self {
            Datum::Boolean(value) => *value,
            Datum::Integer(value) => *value != 0,
            Datum::Real(value) => *value != 0.0,
            Datum::Text(value) => !value.is_empty(),
            Datum::List(items) => !items.is_empty(),
        }
    }

    pub fn number(&self) -> Result<Number, EvaluationError> {
        match self {
            Datum::Boolean(value) => Ok(Number::Whole(i64::from(*value))),
            Datum::Integer(value) => Ok(Number::Whole(*value)),
            Datum::Real(value) => Ok(Number::Real(*value)),
            Datum::Text(_) => Err(EvaluationError::Kind("arithmetic with text")),
            Datum::List(_) => Err(EvaluationError::Kind("arithmetic with a list")),
        }
    }

    /// Order, where there is one: numbers and booleans by size, texts by their characters.
    pub fn compare(&self, other: &Datum<'_>) -> Option<Ordering> {
        match (self, other) {
            (Datum::Text(left), Datum::Text(right)) => Some(left.cmp(right)),
            _ => match (self.number().ok()?, other.number().ok()?) {
                (Number::Whole(left), Number::Whole(right)) => Some(left.cmp(&right)),
                (left, right) => left.real().partial_cmp(&right.real()),
            },
        }
    }

    pub fn equals(&self, other: &Datum<'_>) -> bool {
        match (self, other) {
            (Datum::List(left), Datum::List(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left.equals(right))
            }
            _ => self.compare(other) == Some(Ordering::Equal),
        }
    }
}
