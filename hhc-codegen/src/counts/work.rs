//! What warps execute: of a sub-tile, of a tile, and the least of many tiles.

use serde::Serialize;

/// What the warps of a block execute, in a sub-tile or in many.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Work {
    /// Warp instructions.
    pub issued: f64,
    /// Those of them that are floating-point arithmetic.
    pub arithmetic: f64,
    /// Cycles in which all banks of shared memory deliver, 32 words of 4 bytes each; or the first-level cache.
    pub shared: f64,
    /// Words between memory and the multiprocessor, but those that are loaded ahead.
    pub words: f64,
    /// Those of them that are stored: nobody waits for them.
    pub stored: f64,
    /// Words between the second-level cache and the multiprocessor, where that are more.
    pub cached: f64,
    /// Words that are on their way while the sub-tile before computes.
    pub ahead: f64,
    /// Words of the sectors at both ends of lines that are loaded or stored, beside those of the lines: neighbours have them.
    pub beside: f64,
    /// Cycles from the first to the last instruction of a warp that nothing else delays, where lanes take a whole warp at a
    /// time, words of memories that it waits for not counted.
    pub chain: f64,
    /// How often a warp waits for words of shared memory, or of the first-level cache.
    pub waits: f64,
    /// How often a warp waits for words of memory.
    pub far_waits: f64,
    /// Barriers.
    pub barriers: f64,
}

impl Work {
    fn each(&self, other: &Work, of: impl Fn(f64, f64) -> f64) -> Work {
        Work {
            issued: of(self.issued, other.issued),
            arithmetic: of(self.arithmetic, other.arithmetic),
            shared: of(self.shared, other.shared),
            words: of(self.words, other.words),
            stored: of(self.stored, other.stored),
            cached: of(self.cached, other.cached),
            ahead: of(self.ahead, other.ahead),
            beside: of(self.beside, other.beside),
            chain: of(self.chain, other.chain),
            waits: of(self.waits, other.waits),
            far_waits: of(self.far_waits, other.far_waits),
            barriers: of(self.barriers, other.barriers),
        }
    }

    /// What neither goes below.
    #[must_use]
    pub fn least(&self, other: &Work) -> Work {
        self.each(other, f64::min)
    }

    /// So many times the work.
    #[must_use]
    pub fn times(&self, factor: f64) -> Work {
        self.each(self, |own, _| own * factor)
    }

    /// With the words beside those that are loaded and stored, unless a cache of so many words keeps what so many blocks move
    /// in a sub-tile: then the sectors are there when the next sub-tile goes on with them.
    #[must_use]
    pub fn in_sectors(&self, blocks: i64, cache: f64) -> Work {
        let own = self.words + self.ahead;
        if own == 0.0 || blocks as f64 * own <= cache {
            return *self;
        }
        let more = 1.0 + self.beside / own;
        Work { words: self.words * more, stored: self.stored * more, ahead: self.ahead * more, ..*self }
    }

    /// The part of what is loaded that is on its way while the sub-tile before computes.
    #[must_use]
    pub fn part_ahead(&self) -> f64 {
        let loaded = self.words + self.ahead - self.stored;
        if self.ahead > 0.0 && loaded > 0.0 { (self.ahead / loaded).min(1.0) } else { 0.0 }
    }

    /// Both.
    #[must_use]
    pub fn and(&self, other: &Work) -> Work {
        self.each(other, |own, other| own + other)
    }
}

/// What the tiles of a kernel execute.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct TileWork {
    /// A full sub-tile.
    pub full: Work,
    /// What a sub-tile at an edge of the grid, or of time, executes in addition.
    pub clipped: Work,
    /// Sub-tiles of a tile inside the grid that are full.
    pub full_sub_tiles: f64,
    /// The others.
    pub clipped_sub_tiles: f64,
    /// Launches whose tiles lie in time altogether.
    pub full_launches: f64,
    /// The others.
    pub clipped_launches: f64,
    /// The part of a tile of theirs that lies in time, the mean over them.
    pub part: f64,
    /// Whether all sub-tiles of the first and the last tile of a wavefront are at an edge.
    pub edges: bool,
    /// Registers that the compiler gives a thread: where it may keep addresses in them, all that it is allowed.
    pub registers: i64,
    /// Registers that a thread needs at most, as far as that is known before the compiler has spoken: with fewer, it may have
    /// to keep some values in memory.
    pub needed: i64,
}

/// Work that no tile of a box goes below.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LeastWork {
    /// Of a full sub-tile.
    pub sub_tile: Work,
    /// Of all sub-tiles of a tile.
    pub tile: Work,
    /// Of all tiles of all wavefronts.
    pub all: Work,
    /// Launches of whole tiles: those whose tiles do not lie in time altogether count by their part.
    pub launches: f64,
    /// What is known of the edges of the grid and of time.
    pub edges: Option<LeastEdges>,
}

/// What is known of tiles of one sub-tile each, at edges and elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LeastEdges {
    /// Threads of each of them.
    pub threads: i64,
    /// No full sub-tile executes more.
    pub most: Work,
    /// What one at an edge executes in addition, at least.
    pub clipped: Work,
    /// Launches whose tiles lie in time altogether, the others, and the part of a tile of theirs that does.
    pub launches: (f64, f64, f64),
}
