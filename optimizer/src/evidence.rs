//! What an exact search over boxes saw: enough to check its result without it.

use crate::family::Family;

/// Parts of all families that together hold every size and every `k`.
#[derive(Debug)]
pub struct Evidence {
    /// The families.
    pub families: Vec<Family>,
    /// Boxes that were left out.
    pub boxes: Vec<BoxLeftOut>,
    /// Tiles that were evaluated.
    pub tiles: Vec<TileEvaluated>,
}

/// A box of sizes, by the first and the last index on each axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxLeftOut {
    /// Number of the family.
    pub family: usize,
    /// First and last `k`.
    pub k: (i64, i64),
    /// First indices.
    pub low: [i64; 3],
    /// Last indices.
    pub high: [i64; 3],
    /// No tile of the box has a smaller value; infinite where none fits.
    pub bound: f64,
}

/// A tile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TileEvaluated {
    /// Number of the family.
    pub family: usize,
    /// `k`
    pub k: i64,
    /// Indices on the axes.
    pub index: [i64; 3],
    /// The value; `None` where the tile does not fit or is passed over.
    pub value: Option<f64>,
}
