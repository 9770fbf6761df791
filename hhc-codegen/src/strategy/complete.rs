//! Tile sizes that are given in part, completed; a name that the strategy does not have may be that of another one.

use super::tile_space::TileSpace;
use super::tile_space::refused;
use crate::{PlanError, TileSizes};

impl TileSpace {
    /// The given sizes, those that are not given from `defaults`, in the order of the space. An optional size whose value
    /// means nothing is left out.
    ///
    /// # Errors
    /// [`PlanError::Tile`] names a size that the strategy does not have, [`PlanError::TileText`] one that none has.
    pub fn complete(
        &self,
        strategy: &str,
        given: &TileSizes,
        defaults: &TileSizes,
    ) -> Result<TileSizes, PlanError> {
        if let Some((name, value)) = given.iter().find(|(name, _)| !self.has(name)) {
            let optional = self.optional.iter().map(|optional| optional.size.name);
            let names: Vec<_> = self.names().chain(optional).collect();
            let nearest = text_escape::suggest::nearest(name, names.iter().copied());
            let hint = nearest.map_or(String::new(), |name| format!("; did you mean {name}?"));
            let reason = format!("the tile sizes here are {}{hint}", names.join(", "));
            let known = super::all().iter().any(|other| other.size_names().contains(&name));
            return Err(match known {
                true => refused(strategy, name, value, reason),
                false => PlanError::TileText { part: format!("{name}={value}"), reason },
            });
        }
        let value = |name| given.get(name).or_else(|| defaults.get(name)).map(|value| (name, value));
        let optional = self.optional.iter().filter_map(|optional| {
            value(optional.size.name).filter(|(_, value)| *value != optional.left_out)
        });
        Ok(TileSizes::new(self.names().filter_map(value).chain(optional)))
    }

    fn has(&self, name: &str) -> bool {
        self.size(name).is_some() || self.optional(name).is_some()
    }
}
