//! What a plan says about its tiles: the numbers that every model works on.

use serde::Serialize;

/// Counts of one tiled execution, for tiles that are full. A *tile* is what one block executes (the paper's prism);
/// it consists of `sub_tiles`, executed one after the other. An *iteration* is one point of one statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TileCounts {
    /// `N_w`: wavefronts, that is launches of a kernel that has blocks.
    pub wavefronts: i64,
    /// `w`: tiles of the widest wavefront.
    pub tiles_per_wavefront: i64,
    /// Tiles of all wavefronts.
    pub tiles: i64,
    /// `q`: sub-tiles of a tile. Where they differ from each other, as positions of a stream do at its ends, the whole
    /// tile counts as one.
    pub sub_tiles: i64,
    /// Rows of a sub-tile.
    pub rows: i64,
    /// Iterations of a sub-tile that are its own.
    pub iterations: i64,
    /// Iterations of other tiles that a sub-tile computes once more.
    #[serde(skip_serializing_if = "is_zero")]
    pub copies: i64,
    /// Sum over the rows of a sub-tile, copies included, of `ceil(points of the row / n_V)`: rounds in which all lanes of
    /// a multiprocessor work. Rows that warps run side by side share the lanes: so many rounds as lanes of all their warps
    /// fill.
    pub lane_rounds: i64,
    /// Words that a sub-tile reads from memory.
    pub words_in: i64,
    /// Words that a sub-tile writes to memory.
    pub words_out: i64,
    /// Words that the iterations of a sub-tile, copies included, and its transfers between storages read from and write
    /// to fast memory (or the first-level cache).
    pub fast_words: i64,
    /// Barriers of a sub-tile, but the two between which its words come and go.
    pub barriers: i64,
    /// `M_tile`: bytes of fast memory that a tile occupies at a time (shared memory of a block; on a CPU the box of
    /// grid points that a sub-tile touches).
    pub tile_bytes: i64,
    /// Threads of a block; 1 on a CPU.
    pub threads: i64,
    /// Registers of a thread; 0 where that has no meaning.
    pub registers: i64,
    /// Bytes of a word: the widest element type of the stencil.
    pub word_bytes: i64,
    /// Iterations of the whole execution, exactly.
    pub total_iterations: i64,
}

impl TileCounts {
    /// Iterations of the whole execution with those that are computed several times.
    pub fn computed_iterations(&self) -> f64 {
        let times = 1.0 + self.copies as f64 / self.iterations.max(1) as f64;
        times * self.total_iterations as f64
    }

    /// Words between memory and the multiprocessors, all tiles taken as full.
    pub fn total_words(&self) -> f64 {
        self.tiles as f64 * self.sub_tiles as f64 * (self.words_in + self.words_out) as f64
    }

    /// Barriers of all tiles.
    pub fn total_barriers(&self) -> f64 {
        self.tiles as f64 * self.sub_tiles as f64 * self.barriers as f64
    }
}

/// Parts of a total in these proportions, in whole numbers that add up to it; nothing where there is nothing to go by.
pub(crate) fn share_out(total: i64, proportions: &[i128]) -> Vec<i64> {
    let all: i128 = proportions.iter().sum();
    let (mut before, mut given) = (0, 0);
    let share = |own: &i128| {
        before += own;
        let until = if all == 0 { 0 } else { (i128::from(total) * before / all) as i64 };
        let share = until - given;
        given = until;
        share
    };
    proportions.iter().map(share).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &i64) -> bool {
    *value == 0
}
