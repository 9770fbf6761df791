//! Tile sizes: their text form (`st=4,s0=16,s1=32`) and what a strategy accepts.

use crate::PlanError;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Tile sizes by name: `st` (half the height of a hexagon, in logical rows), `s0` (its flat top, or the
/// block size of the naive strategy), `s1`, `s2` (classical sizes in points; 0: the whole dimension,
/// not cut).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct TileSizes {
    values: BTreeMap<String, i64>,
}

impl TileSizes {
    /// Tile sizes from pairs.
    pub fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, i64)>) -> Self {
        TileSizes { values: pairs.into_iter().map(|(name, value)| (name.to_string(), value)).collect() }
    }

    /// The value of one size.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.values.get(name).copied()
    }

    /// The same sizes with one changed.
    pub fn with(mut self, name: &str, value: i64) -> Self {
        self.values.insert(name.to_string(), value);
        self
    }

    /// Names and values, in order of name.
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
            if !matches!(name, "st" | "s0" | "s1" | "s2") {
                return Err(bad("the names are st, s0, s1 and s2"));
            }
            if sizes.values.insert(name.to_string(), value).is_some() {
                return Err(bad("given twice"));
            }
        }
        Ok(sizes)
    }

    /// Completes these sizes with defaults and checks that there is no other name.
    pub(crate) fn complete(&self, defaults: &TileSizes, strategy: &str) -> Result<TileSizes, PlanError> {
        let mut complete = defaults.clone();
        for (name, value) in self.iter() {
            if defaults.get(name).is_none() {
                let names = defaults.iter().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
                return Err(PlanError::Tile {
                    strategy: strategy.to_string(),
                    size: name.to_string(),
                    value,
                    reason: format!("the tile sizes here are {names}"),
                });
            }
            complete.values.insert(name.to_string(), value);
        }
        Ok(complete)
    }
}

impl fmt::Display for TileSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `st` first, then the space sizes, as the command line writes them.
        let mut parts: Vec<String> = Vec::new();
        if let Some(height) = self.get("st") {
            parts.push(format!("st={height}"));
        }
        parts.extend(
            self.iter().filter(|(name, _)| *name != "st").map(|(name, value)| format!("{name}={value}")),
        );
        f.write_str(&parts.join(","))
    }
}
