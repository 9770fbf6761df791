//! The numbers that stand for the text of the CUDA back end where its instructions are counted
//! ([`work`](super::work)). Whoever changes the text looks at them; `cost-models/tests/evidence.rs` holds their sums against
//! machine code.

/// Instructions of a thread that the text of the CUDA back end stands for, beside loads, stores and arithmetic.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// Of a row: its bounds and its barrier.
    pub row: f64,
    /// Of a pass: its column, and what of it is stored.
    pub pass: f64,
    /// Of a batch: its place, and the branch around it.
    pub batch: f64,
    /// Of a point: whether it is stored to memory, and where.
    pub point: f64,
    /// Of a point where rows have no code of their own: the same, with bounds that are not known to the compiler.
    pub rolled_point: f64,
    /// Of a word that is loaded into the window, by dimension of the grid: the load, the store, and its place in both.
    pub loaded: [f64; 3],
    /// Of a column of words that are loaded.
    pub column: f64,
    /// Of a word that a row stores to memory.
    pub stored: f64,
    /// Of a word that moves inside the window, by dimension of the grid.
    pub moved: [f64; 3],
    /// Of a sub-tile: its corner, and whether it is full.
    pub sub_tile: f64,
    /// Of a word of the window in a sub-tile at an edge of the grid: whether it is there, whether it is wanted.
    pub clipped: f64,
    /// Of a row at an edge, in addition: whether it exists, where it ends, and that its points come a few at once.
    pub clipped_row: f64,
    /// Of a pass at an edge, in addition: whether its column exists.
    pub clipped_pass: f64,
    /// Of a point that is computed in memory directly, by dimension of the grid: its place.
    pub direct_point: [f64; 3],
    /// Of the points of a thread that are computed in memory directly at once, where it has several: their loop.
    pub direct_batch: [f64; 3],
    /// Of a column of points of a thread that works in memory directly: whether it exists, where it ends.
    pub direct_pass: [f64; 3],
    /// Points that are computed in memory directly at once, at most.
    pub direct_at_once: i64,
    /// Of an operand that is read from memory directly: its place.
    pub direct_read: f64,
    /// Of a thread that works in memory directly, by dimension of the grid: its block, and its box.
    pub direct_thread: [f64; 3],
    /// What a division, a root, an exponential or another function takes: an approximation, and its refinement.
    pub function: f64,
    /// Registers of words that are loaded before the first of them is stored.
    pub loads_at_once: i64,
    /// The same in a sub-tile at an edge, in words.
    pub clipped_at_once: i64,
    /// Instructions of a column of points up to which each row has code of its own.
    pub own_code: f64,
    /// Instructions of a thread's points up to which all rows are unrolled, where they have none.
    pub unrolled: f64,
    /// Whether words are loaded while the sub-tile before computes.
    pub loads_ahead: bool,
    /// Cycles after which a dependent instruction may follow, where lanes take a whole warp at a time.
    pub dependent: f64,
    /// Cycles of an instruction of a copy, of which some are independent of each other.
    pub copying: f64,
}

impl Terms {
    /// The text that is printed.
    pub const PRINTED: Terms = Terms {
        row: 5.0,
        pass: 3.0,
        batch: 1.0,
        point: 0.3,
        rolled_point: 6.3,
        loaded: [5.0, 5.0, 35.0],
        column: 20.0,
        stored: 3.0,
        moved: [7.0, 7.0, 30.0],
        sub_tile: 60.0,
        clipped: 15.0,
        clipped_row: 35.0,
        clipped_pass: 30.0,
        direct_point: [1.0, 5.0, 3.75],
        direct_batch: [24.0, 8.0, 33.0],
        direct_pass: [0.0, 0.0, 43.0],
        direct_at_once: 8,
        direct_read: 0.0,
        direct_thread: [50.0, 84.0, 60.0],
        function: 12.0,
        loads_at_once: 16,
        clipped_at_once: 4,
        own_code: 6000.0,
        unrolled: 0.0,
        loads_ahead: true,
        dependent: 4.0,
        copying: 2.5,
    };
}
