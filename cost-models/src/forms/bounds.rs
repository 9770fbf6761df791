//! Bounds of counts over a box of tile sizes, from the monotone parts of the closed forms. A search prunes with them.

use serde::Serialize;

/// A closed interval.
pub type Interval = (f64, f64);

/// Bounds of the counts of all tile sizes in a box. At a single point those that are not relaxations are exact.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct CountBounds {
    /// `N_w`, which is the same everywhere in the box.
    pub wavefronts: f64,
    /// `w`
    pub tiles_per_wavefront: Interval,
    /// `q`
    pub sub_tiles: Interval,
    /// Lane rounds of a sub-tile.
    pub lane_rounds: Interval,
    /// `q * lane rounds`
    pub tile_rounds: Interval,
    /// Words of a sub-tile, in and out.
    pub words: Interval,
    /// `q * words`
    pub tile_words: Interval,
    /// Barriers of a sub-tile, the same everywhere.
    pub barriers: f64,
    /// At most `N_w * w * q * lane rounds`: every iteration lies in some tile.
    pub all_rounds: f64,
    /// At most `N_w * w * q * words`: as many words per iteration as the best tile of the box has.
    pub all_words: f64,
    /// At most the words of all tiles, and at least.
    pub total_words: Interval,
    /// At most the barriers of all tiles, and at least.
    pub total_barriers: Interval,
    /// Words of fast memory per iteration.
    pub fast_per_iteration: Interval,
    /// Iterations in all.
    pub total_iterations: f64,
}

/// The least and the greatest of some values.
pub(super) fn range(values: impl Iterator<Item = f64>) -> Interval {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}
