//! Tile sizes that are given in part, completed; a name that the strategy does not have may be that of another one.

use super::tile_space::TileSpace;
use super::tile_space::refused;
use crate::{PlanError, TileSizes};

impl TileSpace {
    /// The given sizes, those that are not given from `defaults`, in the order of the space.
    ///
    /// # Errors
    /// [`PlanError::Tile`] names a size that the strategy does not have, [`PlanError::TileText`] one that none has.
    pub fn complete(
        &self,
        strategy: &str,
        given: &TileSizes,
        defaults: &TileSizes,
    ) -> Result<TileSizes, PlanError> {
        if let Some((name, value)) = given.iter().find(|(name, _)| self.size(name).is_none()) {
            let names: Vec<_> = self.names().collect();
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
        Ok(TileSizes::new(self.names().filter_map(value)))
    }
}
