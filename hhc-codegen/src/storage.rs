//! Where the values of a plan live: the arrays, and storage of the blocks' own, with a map from values to cells; and
//! the transfers between them.
//!
//! A *value* is `(field, level, point)`: what the program's field holds at a time level. A statement that computes
//! time step `t` makes values of level `t + 1`; the initial levels are `0, -1, ..`. A point that no statement of the
//! field computes keeps one value for each class of levels that share a slot of the arrays: its boundary value.
//!
//! Who reads names who supplies ([`Supplier`]): the proof checks it, so that nothing has to be searched for.

use crate::int_expr::IntExpr;
use crate::range::Range;
use polyhedral::program::{FieldId, Program};

/// What the rows of a kernel work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// The arrays; what a block reads twice, caches have to find.
    Arrays,
    /// The arrays, and targets whose blocks have memory of their own keep the window of a sub-tile in it.
    Window,
    /// What the rows say, with the storages of the kernel.
    Storages,
}

/// Memory of one block, for values of one field.
#[derive(Debug, Clone)]
pub struct Storage {
    /// Name, unique in the kernel, an identifier.
    pub name: String,
    /// What it is, for the reader of the generated code.
    pub comment: String,
    /// The field.
    pub field: FieldId,
    /// Time levels that it holds at once. Level `l` of a field with `i` initial levels lies in plane
    /// `(l + i - 1) mod planes`.
    pub planes: i64,
    /// How many copies of it there are, by each of the numbers that tell them apart ([`Place::Copy`]); none where there is
    /// one. In registers of lanes, the first number is that of the warp of a team.
    pub copies: Vec<i64>,
    /// Per space dimension, slowest first, which cells there are.
    pub axes: Vec<Axis>,
}

/// The cells of a storage along one dimension.
#[derive(Debug, Clone)]
pub enum Axis {
    /// Point `s` lies in cell `s - first`.
    Window {
        /// The point of cell 0, over sizes, the host variable, block variables and bindings, and over the variable of a team
        /// where each warp has a copy of its own.
        first: IntExpr,
        /// Number of cells.
        extent: i64,
    },
    /// Point `s` lies in cell `(s - first) mod extent`.
    Ring {
        /// A point of cell 0, over what windows begin with, and over the variable of a team where each warp has a copy of
        /// its own.
        first: IntExpr,
        /// Number of cells.
        extent: i64,
    },
    /// Point `s` lies in lane `floor((s - first)/points)` of a warp, which keeps what the other axes and the planes tell apart in registers.
    /// The innermost axis alone, in kernels whose warps run parts of their own. Who touches the storage is one warp, and
    /// the lane that has a point is the one that runs it; a read elsewhere is handed over from lane to lane.
    Lanes {
        /// The point of lane 0, like that of cell 0 of a window.
        first: IntExpr,
        /// Number of points: `points` for each lane of a warp at most.
        extent: i64,
        /// Neighbouring points of a lane.
        points: i64,
    },
}

impl Axis {
    /// Number of cells.
    pub fn extent(&self) -> i64 {
        match self {
            Axis::Window { extent, .. } | Axis::Ring { extent, .. } | Axis::Lanes { extent, .. } => *extent,
        }
    }

    /// The cell of a point.
    pub fn cell(&self, point: IntExpr) -> IntExpr {
        match self {
            Axis::Window { first, .. } | Axis::Lanes { first, .. } => point - first.clone(),
            Axis::Ring { first, extent } => (point - first.clone()).modulo(*extent),
        }
    }
}

impl Storage {
    /// Of one time level of a field, by what it is called and what it is.
    pub(crate) fn of_level(
        field: FieldId,
        (name, comment): (&str, &str),
        copies: Vec<i64>,
        axes: Vec<Axis>,
    ) -> Storage {
        Storage { name: name.to_owned(), comment: comment.to_owned(), field, planes: 1, copies, axes }
    }

    /// Cells of one plane.
    pub fn cells(&self) -> i64 {
        self.axes.iter().map(Axis::extent).fold(1, i64::saturating_mul)
    }

    /// The point of lane 0, where its values lie in the registers of lanes.
    pub fn first_lane(&self) -> Option<&IntExpr> {
        self.axes
            .iter()
            .find_map(|axis| if let Axis::Lanes { first, .. } = axis { Some(first) } else { None })
    }

    /// Cells of all planes that a lane has, where its values lie in the registers of lanes.
    pub fn cells_of_a_lane(&self) -> i64 {
        let of_axis =
            |axis: &Axis| if let Axis::Lanes { points, .. } = axis { *points } else { axis.extent() };
        let copies = self.copies.iter().skip(1).copied();
        copies.chain(self.axes.iter().map(of_axis)).fold(self.planes.max(1), i64::saturating_mul)
    }

    /// Cells of all planes of one copy.
    pub fn cells_of_a_copy(&self) -> i64 {
        self.cells().saturating_mul(self.planes.max(1))
    }

    /// Cells of all planes and copies.
    pub fn all_cells(&self) -> i64 {
        self.copies.iter().copied().fold(self.cells_of_a_copy(), i64::saturating_mul)
    }

    /// Bytes of all of them.
    pub fn bytes(&self, program: &Program) -> i64 {
        self.all_cells().saturating_mul(program.field(self.field).element.bytes() as i64)
    }
}

/// A place that rows and transfers read or write.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// The arrays, in this slot.
    Arrays(Slot),
    /// A storage of the kernel, by index.
    Storage(usize),
    /// A copy of a storage that has several: its index, and the numbers that tell the copies apart.
    Copy(usize, Vec<IntExpr>),
}

impl Place {
    /// The storage, if it is one, by index.
    pub fn storage(&self) -> Option<usize> {
        match self {
            Place::Arrays(_) => None,
            Place::Storage(index) | Place::Copy(index, _) => Some(*index),
        }
    }

    /// The numbers that tell copies apart.
    pub fn copy(&self) -> &[IntExpr] {
        if let Place::Copy(_, copy) = self { copy } else { &[] }
    }
}

/// The slot of the arrays that a value lies in.
#[derive(Debug, Clone, PartialEq)]
pub enum Slot {
    /// That of its level: `(level + initial levels - 1) mod slots`.
    OfLevel,
    /// This one, over sizes, `steps`, the host variable and bindings.
    At(IntExpr),
}

/// Where a row finds the value of one read of its statement.
#[derive(Debug, Clone)]
pub struct Read {
    /// The place.
    pub place: Place,
    /// Who may have put it there; at each point, one of them has, or it is an initial or a boundary value of the
    /// arrays. Empty where the owner's row has, whichever it is, which wrote to the arrays.
    pub suppliers: Vec<Supplier>,
}

/// An event that supplies a value: a row or a transfer of the same plan, at the value's point.
#[derive(Debug, Clone)]
pub struct Supplier {
    /// The kernel, where it is another one than the reader's, or may be; the host launches it once in an iteration.
    pub kernel: Option<usize>,
    /// Which part of it.
    pub part: Part,
    /// The values that loop variables have there, over those of the reader and the value's point `q0, q1, ..`;
    /// variables that are not named have the same values.
    pub at: Vec<(&'static str, IntExpr)>,
}

/// A part of a kernel: what stands in its loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A row, by index among the instances.
    Row(usize),
    /// A transfer, by index.
    Transfer(usize),
}

impl Part {
    /// A transfer, by its place among those of a kernel; `None` where the kernel has no such one.
    pub(crate) fn transfer<M: PartialEq>(moves: &[M], of: &M) -> Option<Part> {
        moves.iter().position(|own| own == of).map(Part::Transfer)
    }
}

/// Names of the coordinates of a value's point in [`Supplier::at`].
pub const POINT_NAMES: [&str; 3] = ["q0", "q1", "q2"];

/// Values on their way from one place to another.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// What it does, for the reader of the generated code.
    pub comment: String,
    /// The field.
    pub field: FieldId,
    /// The time level.
    pub level: IntExpr,
    /// The box of points, per dimension; clipped to `region`.
    pub ranges: Vec<Range>,
    /// Which points of the box.
    pub region: Region,
    /// Where not all of these are non-negative, it does not happen.
    pub when: Vec<IntExpr>,
    /// The points for which it may happen besides, where it does, and leaves junk: those of this box outside of `ranges` or of
    /// the region ([`Instance::junk`](crate::plan::Instance::junk)).
    pub junk: Option<Vec<Range>>,
    /// Where they are.
    pub from: Read,
    /// Where they go.
    pub to: Place,
    /// When.
    pub moment: Moment,
    /// What happens afterwards.
    pub sync: Sync,
}

/// Which points a transfer moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Region {
    /// All points of the grid.
    Grid,
    /// The points of this statement's domain.
    Domain(usize),
    /// The points of the grid that no statement of the field computes.
    Boundary,
}

/// When a transfer happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// Before the rows of a sub-tile.
    Start,
    /// In every group, before this row.
    Before(usize),
    /// In every group, after this row.
    After(usize),
    /// After the rows of a sub-tile.
    End,
}

/// What the threads of a block do after a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Nothing: the next part may run beside it.
    Nothing,
    /// They wait for each other.
    Barrier,
    /// The lanes of the warp that runs the part wait for each other; other warps go on.
    Warp,
}

/// That a warp of a block waits for another one, where each has parts of its own: at position `c` of the sub-tile loop
/// the warp `to` waits until the warp `from` has finished position `c - distance`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The warp that is waited for.
    pub from: usize,
    /// The warp that waits.
    pub to: usize,
    /// How far behind; not negative.
    pub distance: i64,
}
