//! Bounds of counts over a box of tile sizes, from the monotone parts of the closed forms. A search prunes with them.

use super::tile::TileCounts;
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

impl CountBounds {
    /// The bounds of a single tile: its counts.
    pub fn of(counts: &TileCounts) -> Self {
        let at = |value: i64| (value as f64, value as f64);
        let words = at(counts.words_in + counts.words_out);
        let (rounds, q) = (at(counts.lane_rounds), counts.sub_tiles as f64);
        let all_tiles = (counts.wavefronts * counts.tiles_per_wavefront) as f64 * q;
        let total_words = counts.total_words();
        let total_barriers = counts.total_barriers();
        let per_iteration = counts.fast_words as f64 / counts.iterations.max(1) as f64;
        CountBounds {
            wavefronts: counts.wavefronts as f64,
            tiles_per_wavefront: at(counts.tiles_per_wavefront),
            sub_tiles: (q, q),
            lane_rounds: rounds,
            tile_rounds: (q * rounds.0, q * rounds.1),
            words,
            tile_words: (q * words.0, q * words.1),
            barriers: counts.barriers as f64,
            all_rounds: all_tiles * rounds.0,
            all_words: all_tiles * words.0,
            total_words: (total_words, total_words),
            total_barriers: (total_barriers, total_barriers),
            fast_per_iteration: (per_iteration, per_iteration),
            total_iterations: counts.total_iterations as f64,
        }
    }
}

/// The least and the greatest of some values.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> Interval {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}
