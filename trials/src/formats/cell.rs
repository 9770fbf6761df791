//! The cells of records in JSON documents.

use crate::value::Value;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A value of a record. What no reader needs is skipped.
#[derive(Debug, Clone, Default)]
pub(super) enum Cell {
    #[default]
    Other,
    Value(Value),
    /// A list of numbers; others in it are dropped.
    Numbers(Vec<f64>),
}

impl Cell {
    /// As text; empty where it is none.
    pub fn text(&self) -> String {
        match self {
            Cell::Value(value) => value.to_string(),
            _ => String::new(),
        }
    }

    /// As a number that is finite.
    pub fn number(&self) -> Option<f64> {
        match self {
            Cell::Value(Value::Text(_) | Value::Boolean(_)) => None,
            Cell::Value(value) => value.number().filter(|number| number.is_finite()),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Cell;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_unit<E>(self) -> std::result::Result<Cell, E> {
                Ok(Cell::Other)
            }
            fn visit_bool<E>(self, value: bool) -> std::result::Result<Cell, E> {
                Ok(Cell::Value(Value::Boolean(value)))
            }
            fn visit_i64<E>(self, value: i64) -> std::result::Result<Cell, E> {
                Ok(Cell::Value(Value::Integer(value)))
            }
            fn visit_u64<E>(self, value: u64) -> std::result::Result<Cell, E> {
                let whole = i64::try_from(value).map(Value::Integer);
                Ok(Cell::Value(whole.unwrap_or(Value::Real(value as f64))))
            }
            fn visit_f64<E>(self, value: f64) -> std::result::Result<Cell, E> {
                Ok(Cell::Value(Value::Real(value)))
            }
            fn visit_str<E>(self, value: &str) -> std::result::Result<Cell, E> {
                Ok(Cell::Value(Value::Text(value.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Cell, A::Error> {
                let mut numbers = Vec::new();
                while let Some(cell) = seq.next_element::<Cell>()? {
                    numbers.extend(cell.number());
                }
                Ok(Cell::Numbers(numbers))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Cell, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Cell::Other)
            }
        }
        deserializer.deserialize_any(Any)
    }
}
