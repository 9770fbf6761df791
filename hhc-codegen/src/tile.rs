//! Tile sizes and their text form (`st=4,s0=16,s1=32`). What the names mean, a strategy's
//! [`TileSpace`](crate::strategy::TileSpace) says.

use crate::PlanError;
use serde::{Serialize, Serializer};
use std::fmt;

/// Tile sizes by name, in the order in which they are written. Two are equal if each name has the same value.
#[derive(Debug, Clone, Eq, Default)]
pub struct TileSizes {
    values: Vec<(String, i64)>,
}

impl PartialEq for TileSizes {
    fn eq(&self, other: &Self) -> bool {
        self.values.len() == other.values.len()
            && self.values.iter().all(|(name, value)| other.get(name) == Some(*value))
    }
}

impl Serialize for TileSizes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl TileSizes {
    /// Tile sizes from pairs; the last value of a name counts.
    pub fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, i64)>) -> Self {
        pairs.into_iter().fold(TileSizes::default(), |sizes, (name, value)| sizes.with(name, value))
    }

    /// The value of one size.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.values.iter().find(|(own, _)| own == name).map(|(_, value)| *value)
    }

    /// The same sizes with one changed, or added at the end.
    pub fn with(mut self, name: &str, value: i64) -> Self {
        match self.values.iter_mut().find(|(own, _)| own == name) {
            Some((_, own)) => *own = value,
            None => self.values.push((name.to_owned(), value)),
        }
        self
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        self.values.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Reads `st=4,s0=16,s1=32`.
    ///
    /// # Errors
    /// [`PlanError::TileText`] names the part that is not `name=integer` or stands twice.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let mut sizes = TileSizes::default();
        for part in text.split(',').map(str::trim) {
            let bad =
                |reason: &str| PlanError::TileText { part: part.to_string(), reason: reason.to_string() };
            let (name, value) = part.split_once('=').ok_or_else(|| bad("expected NAME=INTEGER"))?;
            let value = value.trim().parse::<i64>().map_err(|_| bad("the value is not an integer"))?;
            let name = name.trim();
            let letters = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
            if !letters || !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
                return Err(bad("expected NAME=INTEGER"));
            }
            if sizes.get(name).is_some() {
                return Err(bad("given twice"));
            }
            sizes = sizes.with(name, value);
        }
        Ok(sizes)
    }
}

impl fmt::Display for TileSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&parts.join(","))
    }
}
