//! Values of parameters.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// A level of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A finite number that is not whole, or was written with a point.
    Real(f64),
    /// Anything else.
    Text(String),
}

impl Value {
    /// What a cell of a text file means: a boolean (`true`, `True`, `TRUE`), a whole number, a finite number, else
    /// text without the spaces around it.
    pub fn parse(text: &str) -> Value {
        let text = text.trim();
        match text {
            "true" | "True" | "TRUE" => return Value::Boolean(true),
            "false" | "False" | "FALSE" => return Value::Boolean(false),
            _ => {}
        }
        if let Ok(whole) = text.parse() {
            return Value::Integer(whole);
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Value::Real(number),
            _ => Value::Text(text.to_owned()),
        }
    }

    /// The value as a number, booleans as 0 and 1; `None` for text.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Boolean(value) => Some(f64::from(u8::from(*value))),
            Value::Integer(value) => Some(*value as f64),
            Value::Real(value) => Some(*value),
            Value::Text(_) => None,
        }
    }

    /// Order of levels: numbers and booleans by size, text behind them by its characters.
    pub fn order(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Text(left), Value::Text(right)) => left.cmp(right),
            (Value::Integer(left), Value::Integer(right)) => left.cmp(right),
            _ => match (self.number(), other.number()) {
                (Some(left), Some(right)) => left.total_cmp(&right),
                (None, _) => Ordering::Greater,
                (_, None) => Ordering::Less,
            },
        }
    }

    /// Whether both are the same level: equal numbers are, whether written `1` or `1.0`; a boolean equals no number.
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Boolean(left), Value::Boolean(right)) => left == right,
            (Value::Boolean(_), _) | (_, Value::Boolean(_)) => false,
            _ => self.order(other).is_eq(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Integer(value) => write!(f, "{value}"),
            Value::Real(value) => write!(f, "{value:?}"),
            Value::Text(value) => f.write_str(value),
        }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Integer(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Boolean(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Real(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        assert_eq!(Value::parse(" 16 "), Value::Integer(16));
        assert_eq!(Value::parse("True"), Value::Boolean(true));
        assert_eq!(Value::parse("1e-3"), Value::Real(1e-3));
        assert_eq!(Value::parse("inf"), Value::Text("inf".to_owned()));
        assert_eq!(Value::parse("float4"), Value::Text("float4".to_owned()));
    }

    #[test]
    fn levels_are_compared_as_numbers() {
        assert!(Value::Integer(1).same(&Value::Real(1.0)));
        assert!(!Value::Boolean(true).same(&Value::Integer(1)));
        assert_eq!(Value::from("a").order(&Value::Integer(9)), Ordering::Greater);
    }
}
