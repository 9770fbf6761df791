//! The sizes of a tile, as numbers.

use crate::geometry::WARP;

/// The tile sizes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// Neighbouring points of a lane.
    pub(super) points: i64,
    /// Steps of a warp.
    pub(super) steps: i64,
    /// Warps of a block.
    pub(super) warps: i64,
    /// Rows that a block leaves.
    pub(super) rows: i64,
}

impl Sizes {
    /// Steps of a band.
    pub(super) fn depth(&self) -> i64 {
        self.steps * self.warps
    }

    /// Columns of a strip, with those that it shares with its neighbours.
    pub(super) fn columns(&self) -> i64 {
        WARP * self.points
    }
}
