//! Sweeps: what a kernel whose blocks keep a window of the arrays hands to the legality proof, besides its schedule.
//!
//! A block keeps the cells around a sub-tile in memory of its own, as a cache of the arrays that its code manages. A
//! *sweep* is the loop over sub-tiles along which the window slides, or a single sub-tile where it does not. At each
//! position of the sweep
//!
//! ```text
//! cells that enter the window are loaded
//! for group in groups:  for row in rows:  its points are computed, in the window; those not left out are stored
//! cells that stay move by the slide
//! ```
//!
//! and everything waits for everything before it. Texts are in isl's notation, over `steps, n0, n1, ..` (parameters),
//! the variables that the sweep names, and the coordinates `p0, p1, ..` of a point.

use crate::program::FieldId;

/// The sweeps of one kernel: one for each value of the variables that they do not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// Name of the kernel, for messages.
    pub kernel: String,
    /// Variables that a sweep does not change.
    pub fixed: Vec<String>,
    /// Constraints on them.
    pub facts: Vec<String>,
    /// Further constraints on them, with roundings: asked for where the others do not suffice.
    pub definitions: Vec<String>,
    /// The loop over sub-tiles; `None` where the sweep is a single one.
    pub positions: Option<Positions>,
    /// The variable of the loop over groups of rows.
    pub group: String,
    /// Its first and its last value.
    pub groups: (i64, i64),
    /// The time step from which planes are counted.
    pub first_step: String,
    /// Constraints that hold in full tiles alone.
    pub full: Vec<String>,
    /// Constraints under which a full tile that is not the first of a sweep brings `live_in` alone.
    pub exact: Vec<String>,
    /// The cells.
    pub window: Window,
    /// What is loaded into each plane.
    pub planes: Vec<Plane>,
    /// The rows of one group, in order.
    pub rows: Vec<Row>,
}

/// The loop over sub-tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Positions {
    /// Its variable.
    pub variable: String,
    /// Constraints that it is not less than its first value.
    pub from: Vec<String>,
    /// Constraints that it is not greater than its last one.
    pub until: Vec<String>,
}

/// Which cells a plane has, and where a point's cell lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Per dimension the point of cell 0.
    pub first: Vec<String>,
    /// Per dimension the number of cells.
    pub extent: Vec<i64>,
    /// Per dimension the distance of neighbouring cells in memory.
    pub strides: Vec<i64>,
    /// By how many cells of the last dimension the window slides from one position to the next.
    pub slide: Option<i64>,
    /// How many cells of the last dimension stay.
    pub kept: i64,
}

/// A box of cells, one interval (both ends included) per dimension but the one in which the window slides.
pub type CellBox = Vec<(i64, i64)>;

/// The cells of one stored time level of a field: those of the slot `(first step + number) mod slots`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plane {
    /// The field.
    pub field: FieldId,
    /// Number among the planes of the field.
    pub number: i64,
    /// What sub-tiles bring whose loads are exact.
    pub live_in: Vec<CellBox>,
    /// What the others bring: points of the grid in these boxes that no statement of the field computes,
    pub read: Vec<CellBox>,
    /// and of those that one computes, the ones in these.
    pub clipped: Vec<Live>,
}

/// The cells that are loaded, of those in the domain of one statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    /// The statement.
    pub writer: usize,
    /// Where the first step of the tile is at least 0.
    pub usual: Vec<CellBox>,
    /// Where it is negative, so that the first rows do not exist.
    pub early: Vec<CellBox>,
}

/// One row of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The statement.
    pub statement: usize,
    /// The time step.
    pub step: String,
    /// Per dimension, constraints that the point `p` is not before the row.
    pub lows: Vec<Vec<String>>,
    /// Per dimension, constraints that it is not after it.
    pub highs: Vec<Vec<String>>,
    /// Per read of the statement, `s`: group `m` reads plane `(m + s) mod slots`.
    pub reads: Vec<i64>,
    /// The same for what it writes.
    pub writes: i64,
    /// Values that are not stored.
    pub left_out: LeftOut,
}

/// The values of a row that are not stored: a later row of the sweep is said to compute these cells again, the same
/// statement's so many groups later. It has to exist; its time step has to exist, which full tiles do not ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Groups.
    pub groups: i64,
    /// Constraints on the point, and on the group.
    pub constraints: Vec<String>,
}
