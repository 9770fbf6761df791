//! The window of a kernel ([`Memory::Window`](crate::storage::Memory)): the cells around a sub-tile that a block keeps in
//! memory of its own, on targets whose blocks have some, and what moves between them and the arrays.
//!
//! ```text
//! for position of the sweep:           the last loop over sub-tiles, where the window slides; or one sub-tile
//!     load the cells that enter
//!     for m in groups:  for row in rows:  its points, in the window; what is not left out goes to the arrays, too
//!     cells that stay move to the front, by the slide
//! ```
//!
//! A barrier follows each line. The window is a cache of the arrays that the plan manages: its cells are those of the
//! arrays, one plane per field and slot, and rows are legal on the arrays before there are windows. A cell is loaded
//! when it enters, if some row reads it before a row writes it ("live in"); a value that a later row of the sweep
//! computes again is not stored ("live out").
//!
//! [`geometry::window`](crate::geometry::window()) makes it from the rows, once; back ends print it, models count by it, and
//! isl proves it ([`prove_windows`](crate::prove::prove_windows)).

use crate::int_expr::IntExpr;
use polyhedral::program::{FieldRole, Program};
use polyhedral::sweep::{CellBox, Live};
use std::sync::{Arc, OnceLock};

/// Window and planes of a kernel, and what moves.
#[derive(Debug, Clone)]
pub struct Window {
    /// Per dimension the corner of the tile, over sizes, bindings, block and sub-tile variables.
    pub corner: Vec<IntExpr>,
    /// Per dimension: the point of cell 0, seen from the corner.
    pub low: Vec<i64>,
    /// Per dimension: number of cells.
    pub extent: Vec<i64>,
    /// How many cells of the innermost dimension leave the window from one sub-tile to the next; `None` where the
    /// window does not slide, and every sub-tile begins anew.
    pub slide: Option<i64>,
    /// How many cells of the innermost dimension stay.
    pub kept: i64,
    /// The time step from which planes are counted.
    pub first_step: IntExpr,
    /// One plane per field and stored level, in order of field and number.
    pub planes: Vec<Plane>,
    /// A full tile that is not the first of a sweep brings what is live in and nothing else, if the corner is within these.
    pub exact_within: Vec<Within>,
    /// What the rows of a group do, in order.
    pub rows: Vec<WindowRow>,
}

/// The cells of one stored level of a field.
#[derive(Debug, Clone)]
pub struct Plane {
    /// Index of the field.
    pub field: usize,
    /// Plane `q` of a state field holds the slot `(first step + q) mod slots`.
    pub number: i64,
    /// Cells that some row reads.
    pub read: Vec<CellBox>,
    /// What is loaded where loads are exact: cells that some row reads before a row writes them, in full tiles.
    pub live_in: Vec<CellBox>,
    /// What is loaded elsewhere, of the cells on the grid that are read: those that no statement computes, and of the others
    /// these, for each statement that computes the field.
    pub clipped: Vec<Live>,
}

/// `least <= corner <= n - margin`, along one dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Within {
    /// The dimension.
    pub dimension: usize,
    /// The least corner.
    pub least: i64,
    /// How far before the end of the grid the greatest one is.
    pub margin: i64,
}

/// What a row of a group does with the window.
#[derive(Debug, Clone)]
pub struct WindowRow {
    /// Per read of the statement, `s`: group `m` reads plane `(m + s) mod slots`.
    pub reads: Vec<i64>,
    /// The same for what it writes.
    pub writes: i64,
    /// What is not stored.
    pub left_out: LeftOut,
}

/// The values of a row that are not stored: at the points of this box, seen from the corner, where the group so many later
/// is one of the tile and its time step exists. That is a row of the sweep which writes the cells again.
#[derive(Debug, Clone)]
pub struct LeftOut {
    /// Groups.
    pub groups: i64,
    /// Per dimension, first and last point, over the variable of the groups; `None` where the window slides: there, all
    /// points.
    pub ranges: Vec<Option<(IntExpr, IntExpr)>>,
}

/// The windows of a plan's kernels, made when they are first asked for: not all targets do.
#[derive(Debug, Clone, Default)]
pub struct Windows(OnceLock<Vec<Option<Arc<Window>>>>);

impl Windows {
    /// These windows, one per kernel that has one.
    pub fn new(windows: Vec<Option<Arc<Window>>>) -> Self {
        Windows(OnceLock::from(windows))
    }

    /// The windows, if they were made.
    pub fn get(&self) -> Option<&[Option<Arc<Window>>]> {
        self.0.get().map(Vec::as_slice)
    }

    /// The windows, which are made now unless they were before.
    pub fn get_or_make(&self, make: impl FnOnce() -> Vec<Option<Arc<Window>>>) -> &[Option<Arc<Window>>] {
        self.0.get_or_init(make)
    }
}

/// Arrays in shared memory begin at multiples of this many bytes.
const ALIGNMENT: i64 = 16;

/// Bytes that an array in shared memory takes up.
pub fn aligned(bytes: i64) -> i64 {
    bytes.saturating_add(ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT
}

impl Window {
    /// The point of cell 0, along one dimension.
    pub fn first(&self, d: usize) -> IntExpr {
        self.corner[d].clone() + self.low[d]
    }

    /// Number of cells of one plane.
    pub fn cells(&self) -> i64 {
        self.extent.iter().product()
    }

    /// The distance in memory of cells that are neighbours along dimension `d`. Planes of a field follow each other.
    pub fn stride(&self, d: usize) -> i64 {
        self.extent[d + 1..].iter().product()
    }

    /// Where the planes of each field begin in shared memory, in bytes, and the bytes of all.
    pub fn layout(&self, program: &Program) -> (Vec<i64>, i64) {
        let (mut offsets, mut end) = (Vec::new(), 0_i64);
        for field in &program.fields {
            offsets.push(end);
            let planes = match field.role {
                FieldRole::State { slots, .. } => slots as i64,
                FieldRole::Coefficient => 1,
            };
            let cells = self.extent.iter().copied().fold(planes, i64::saturating_mul);
            end = end.saturating_add(aligned(cells.saturating_mul(field.element.bytes() as i64)));
        }
        (offsets, end)
    }
}
