//! JSON files: which of the formats, and the cells of their records.

use super::{ReadOptions, Recorded, kernel_tuner, malformed, t1, t4};
use crate::error::Result;
use crate::value::Value;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::path::Path;

/// The keys that tell the formats apart; each has its own part of the document.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Document {
    // Kernel Tuner.
    #[serde(default)]
    pub kernel_name: Cell,
    #[serde(default)]
    pub device_name: Cell,
    #[serde(default)]
    pub objective: Cell,
    pub tune_params_keys: Option<Vec<String>>,
    pub tune_params: Option<Entries<Vec<Cell>>>,
    pub cache: Option<Entries<Entries<Cell>>>,
    // T4.
    pub results: Option<Vec<t4::Result4>>,
    #[serde(default)]
    pub metadata: Option<Entries<Cell>>,
    // T1.
    #[serde(rename = "General")]
    pub general: Option<Entries<Cell>>,
    #[serde(rename = "ConfigurationSpace")]
    pub configuration_space: Option<t1::ConfigurationSpace>,
}

/// Reads a document of any of the formats.
pub(super) fn read(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Recorded> {
    let document = match serde_json::from_slice::<Document>(bytes) {
        Ok(document) => document,
        Err(error) if error.is_eof() => {
            // Kernel Tuner appends to its cache and closes the braces at the end; after an interrupted run they lack.
            let text = String::from_utf8_lossy(bytes);
            let closed = text.trim_end().trim_end_matches(',').to_owned() + "}}";
            serde_json::from_str(&closed).map_err(|_| {
                let reason = format!("the file ends in the middle ({error})");
                malformed(path, "", reason, "the copy or the run that wrote it was cut off")
            })?
        }
        Err(error) => {
            let place = format!("line {}, column {}", error.line(), error.column());
            let text = error.to_string();
            let reason = text.split(" at line ").next().unwrap_or(&text).to_owned();
            return Err(malformed(path, &place, reason, ""));
        }
    };
    if let Some(cache) = document.cache {
        let description = kernel_tuner::Description {
            kernel: document.kernel_name.text(),
            device: document.device_name.text(),
            objective: document.objective.text(),
            response: options.response.clone(),
            names: document.tune_params_keys,
            levels: document.tune_params.unwrap_or_default(),
        };
        return kernel_tuner::read(path, description, cache);
    }
    if let Some(results) = document.results {
        return t4::read(path, document.metadata.unwrap_or_default(), results, options);
    }
    if let Some(space) = document.configuration_space {
        return t1::read(path, document.general.unwrap_or_default(), space);
    }
    let hint = "a Kernel Tuner cache has `cache`, a T4 file `results`, a T1 file `ConfigurationSpace`";
    Err(malformed(path, "", "the JSON document is none of the known formats", hint))
}

/// An object, with its entries in the order of the file.
#[derive(Debug)]
pub(super) struct Entries<T>(pub Vec<(String, T)>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Entries(Vec::new())
    }
}

impl<T> Entries<T> {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Collect<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Collect<T> {
            type Value = Entries<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
                let mut entries = Vec::with_capacity(map.size_hint().unwrap_or(0));
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Collect(std::marker::PhantomData))
    }
}

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
