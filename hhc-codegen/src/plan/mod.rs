//! The kernel plan: what a tiling strategy decides and every back end prints.
//!
//! ```text
//! for outer in low..=high:                          host loop (a band of time, or a time step)
//!   for launch in launches:                         one kernel launch; everything waits for it
//!     forall block:                                 parallel: thread blocks, or OpenMP tasks
//!       for sub_tile (ascending, lexicographic):    sequential inside the block: tiles, a stream, or pieces of tiles
//!         transfers of the start
//!         for m in rows:                            sequential
//!           for instance in instances:              one row: a box of points of one statement, or of several that are joined
//!             transfers before it
//!             forall points of the box: execute     parallel: threads, vector lanes; or in the row's order
//!             transfers after it
//!         transfers of the end
//! ```
//!
//! After each row and transfer the threads of the block wait for each other, if it says so. Transfers, and storages
//! of the block's own, are described in [`storage`](crate::storage); a plan that works on the arrays alone has none.
//!
//! Bounds are [`IntExpr`]s; both ends are inclusive. A box is clipped to the statement's domain, and an
//! instance whose time step lies outside `0 .. steps` does not run.

mod full_tiles;
pub(crate) mod joined;
mod rows;
mod witness;

pub use full_tiles::{FullTiles, bound, hull};
pub use joined::{joined_rows, most_apart};
pub use rows::ExecutedRow;
pub use witness::adds_numbers;

use crate::int_expr::IntExpr;
pub use crate::range::Range;
use crate::storage::{Link, Memory, Moment, Part, Place, Read, Slot, Storage, Sync, Transfer};
use crate::tile::TileSizes;
use crate::window::Windows;
use polyhedral::program::{Access, BinaryOp, ExprKind, Field, FieldId, FieldRole, Function, Program};
use std::sync::Arc;

/// A loop with inclusive bounds and step 1.
#[derive(Debug, Clone)]
pub struct Loop {
    /// Loop variable.
    pub variable: &'static str,
    /// First value.
    pub low: IntExpr,
    /// Last value.
    pub high: IntExpr,
}

/// A value that the kernel computes once per block.
#[derive(Debug, Clone)]
pub struct Binding {
    /// Its name.
    pub name: &'static str,
    /// Its value, over sizes, the host variable, the block variables and earlier bindings.
    pub value: IntExpr,
    /// What it is, for the reader of the generated code.
    pub comment: String,
}

/// One row: the points of one statement that run at once.
#[derive(Debug, Clone)]
pub struct Instance {
    /// Index of the statement.
    pub statement: usize,
    /// The time step `t` whose level `t + 1` is computed.
    pub step: IntExpr,
    /// Per space dimension, slowest first. Of a *slanted* row, on the arrays, the last one mentions the coordinate of its
    /// point in the dimension before ([`COORDINATES`]).
    pub ranges: Vec<Range>,
    /// Whether it runs in full tiles. One that does not has a domain of few rows or columns, which no full tile
    /// meets.
    pub in_full_tiles: bool,
    /// Whose instances they are.
    pub role: Role,
    /// Where not all of these are non-negative, it does not run.
    pub when: Vec<IntExpr>,
    /// The points for which it may run besides, so that no lane has to ask: those of this box outside of `ranges` or of the
    /// statement's domain, and all of them where it does not run. What they read has cells, but maybe no values, and nobody
    /// needs what they leave. Without it, the box is clipped.
    pub junk: Option<Vec<Range>>,
    /// How the points follow each other.
    pub order: RowOrder,
    /// Where the values come from, one entry per read of the statement; empty where all come from the arrays, from the
    /// slots of their levels, to which their owners wrote them.
    pub reads: Vec<Read>,
    /// Where the value goes.
    pub writes: Vec<Place>,
    /// What the threads of a block do afterwards.
    pub sync: Sync,
    /// Whether the row is one with that before it: at each point the values of both are computed before one is stored
    /// ([`joined_rows`]). Back ends that run them one after the other follow one of the allowed orders.
    pub joined: bool,
}

/// Whose instances a row executes.
#[derive(Debug, Clone)]
pub enum Role {
    /// Its own: nobody else executes them.
    Owner,
    /// Its own in this box. The others are another block's own, computed once more for this block's storage alone.
    Copies {
        /// Per space dimension.
        owned: Vec<Range>,
    },
}

/// How the points of a row follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowOrder {
    /// In any order, at once.
    Parallel {
        /// Whether a point may be computed several times: then the row overwrites nothing that it reads. Vectors that
        /// end a row may overlap those before them.
        repeats: bool,
    },
    /// In ascending order, lexicographically.
    Sequential,
    /// In ascending order of `w = sum of factors[d] * s_d`; those of one `w`, a *wavefront*, in any order, at once. After
    /// each wavefront the threads do what they do after the row.
    Skewed {
        /// Per space dimension.
        factors: Vec<i64>,
    },
}

/// Names of the coordinates of a point, which the last range of a slanted row mentions.
pub const COORDINATES: [&str; 3] = ["s0", "s1", "s2"];

impl Instance {
    /// The name of the coordinate that moves the lines of a slanted row, and its dimension; `None` of rows that are boxes.
    pub fn slanted(&self) -> Option<(usize, &'static str)> {
        let (last, around) = self.ranges.split_last()?;
        let moves = |d: &usize| last.low.mentions(COORDINATES[*d]) || last.high.mentions(COORDINATES[*d]);
        (0..around.len()).find(moves).map(|d| (d, COORDINATES[d]))
    }

    /// Number of lines along the last dimension of which the row consists, where it is a number: neighbours along the
    /// dimension before.
    pub fn lines(&self) -> Option<i64> {
        let (_, around) = self.ranges.split_last()?;
        let Some((beside, others)) = around.split_last() else { return Some(1) };
        let alone = others.iter().all(|range| range.low == range.high);
        beside.high.minus(&beside.low).filter(|_| alone).map(|distance| distance + 1)
    }

    /// A row that works on the arrays as the program does.
    pub fn in_arrays(
        program: &Program,
        statement: usize,
        step: IntExpr,
        ranges: Vec<Range>,
        in_full_tiles: bool,
    ) -> Self {
        Instance {
            statement,
            step,
            ranges,
            in_full_tiles,
            role: Role::Owner,
            when: Vec::new(),
            junk: None,
            order: RowOrder::Parallel { repeats: !overwrites_what_it_reads(program, statement) },
            reads: Vec::new(),
            writes: vec![Place::Arrays(Slot::OfLevel)],
            sync: Sync::Barrier,
            joined: false,
        }
    }
}

/// Whether a statement is arithmetic alone, in which values decide nothing: then it can be computed where there are none.
pub fn decides_nothing(program: &Program, statement: usize) -> bool {
    let statement = &program.statements[statement];
    let mut decides = false;
    for value in statement.locals.iter().map(|local| &local.value).chain([&statement.value]) {
        value.walk(|expr| {
            decides |= match &expr.kind {
                ExprKind::Binary(operator, ..) => {
                    !matches!(operator, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div)
                }
                ExprKind::Call(function, _) => {
                    !matches!(function, Function::Square | Function::Sqrt | Function::Abs)
                }
                ExprKind::Select(..) => true,
                _ => false,
            }
        });
    }
    !decides
}

/// Whether a statement writes to a slot of the arrays that it reads.
pub fn overwrites_what_it_reads(program: &Program, statement: usize) -> bool {
    overwrite_what_they_read(program, &[statement])
}

/// The reads of a statement from the slot that another one writes in the same step.
fn cells_read(program: &Program, reader: usize, writer: usize) -> impl Iterator<Item = &Access> {
    let target = program.statements[writer].target;
    let slots = program.field(target).role.slots().max(1) as i64;
    let reads = program.statements[reader].reads.iter();
    reads.filter(move |read| read.field == target && (1 - read.time).rem_euclid(slots) == 0)
}

/// Whether no point of these statements, computed together, may be computed twice.
pub(crate) fn overwrite_what_they_read(program: &Program, statements: &[usize]) -> bool {
    let pairs = statements.iter().flat_map(|&reader| statements.iter().map(move |&writer| (reader, writer)));
    pairs.into_iter().any(|(reader, writer)| cells_read(program, reader, writer).next().is_some())
}

/// One kernel.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Name, unique in the plan: `phase0`, `step`.
    pub name: String,
    /// What it does, for the reader of the generated code.
    pub comment: String,
    /// Parallel loops over blocks; the bounds hold sizes, `steps` and the host variable.
    pub blocks: Vec<Loop>,
    /// Whether all blocks take about the same time, but for those that the grid's ends cut.
    pub blocks_alike: bool,
    /// Values that depend on the block.
    pub bindings: Vec<Binding>,
    /// Sequential loops over sub-tiles, outermost first; bounds may mention those around.
    pub sub_tiles: Vec<Loop>,
    /// Whether the innermost of these loops is over a *team*: the warps of a block, which run the same parts at once, each
    /// for its own value of the variable, and wait for each other after all of them. A warp's lanes wait for each other by
    /// [`Sync::Warp`] within. One after the other, as OpenMP runs them, is one of the allowed orders.
    pub team: bool,
    /// The sequential loop over groups of rows; its bounds may mention sub-tiles. One group holds one row of each of
    /// `instances`.
    pub rows: Loop,
    /// The rows of one group, in order.
    pub instances: Vec<Instance>,
    /// What they work on.
    pub memory: Memory,
    /// Storage of a block's own.
    pub storages: Vec<Storage>,
    /// What moves between storages and arrays; those of one moment follow each other in this order.
    pub transfers: Vec<Transfer>,
    /// The parts of a group that each warp of a block runs, where warps go through the sub-tiles on their own, each in its
    /// own time; empty where all threads run all parts. All parts are in one warp's list, in order; there is one loop
    /// over sub-tiles, and one group.
    pub warps: Vec<Vec<Part>>,
    /// How they wait for each other.
    pub links: Vec<Link>,
    /// Expressions over sizes, `steps`, bindings and sub-tile variables, all of them non-negative in a full tile:
    /// one in which every time step exists, no box of an instance that runs in full tiles needs clipping, and
    /// those of the others lie outside their domains.
    pub full_when: Vec<IntExpr>,
}

/// One launch of a kernel.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Index of the kernel.
    pub kernel: usize,
    /// The launch happens only where this is non-negative (always, where `None`).
    pub when: Option<IntExpr>,
}

/// How the iterations of the host loop divide the time steps, where a strategy says so: the proof then takes a band as
/// it comes ([`polyhedral::dataflow::Bands`]). Kernels have both bounds as bindings of these names.
#[derive(Debug, Clone)]
pub struct TimeBands {
    /// The first step of a band, over `steps` and the host variable.
    pub first: Binding,
    /// The step after its last one.
    pub end: Binding,
    /// Steps of a band at most.
    pub most: i64,
    /// So many bands at the end leave one level each: the numbers of these bands and levels agree modulo this.
    pub turns: i64,
    /// Whether each field that changes has spare slots ([`KernelPlan::slots`]).
    pub spare: bool,
}

/// A whole plan.
#[derive(Debug, Clone)]
pub struct KernelPlan {
    /// The program.
    pub program: Arc<Program>,
    /// Name of the strategy that made it.
    pub strategy: &'static str,
    /// The tile sizes, complete.
    pub tile: TileSizes,
    /// The host's sequential loop.
    pub outer: Loop,
    /// How it divides the time steps, where that is said.
    pub bands: Option<TimeBands>,
    /// What the host launches in one iteration, in order.
    pub launches: Vec<Launch>,
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// The windows that they keep, on targets whose blocks have memory of their own.
    pub windows: Windows,
    /// Fields of which only is wanted in which steps some point adds to them.
    pub witnesses: Vec<usize>,
}

impl KernelPlan {
    /// Whether the arrays have spare slots.
    pub fn has_spare_slots(&self) -> bool {
        self.bands.as_ref().is_some_and(|bands| bands.spare)
    }

    /// Slots of a field in the arrays. Those of the program come first; of a field that changes, a plan with spare slots has as many
    /// again, which hold before the first launch what the others hold, and nothing of worth after the last one.
    pub fn slots(&self, field: FieldId) -> i64 {
        let role = self.program.field(field).role;
        let changes = matches!(role, FieldRole::State { .. });
        role.slots() as i64 * if changes && self.has_spare_slots() { 2 } else { 1 }
    }

    /// Bytes of a point in all slots of all fields.
    pub fn bytes_of_a_point(&self) -> i64 {
        let of =
            |(number, field): (usize, &Field)| self.slots(FieldId(number)) * field.element.bytes() as i64;
        self.program.fields.iter().enumerate().map(of).sum()
    }
}

impl Kernel {
    /// Whether a kernel is printed and counted part by part. The others compute rows of several statements in the arrays
    /// at once, or in windows of them, in any order.
    pub fn in_parts(&self) -> bool {
        let at_once = |instance: &Instance| matches!(instance.order, RowOrder::Parallel { .. });
        self.memory == Memory::Storages || !self.instances.iter().all(at_once)
    }

    /// Whether the tiles of two kernels differ only in where they are placed.
    pub fn has_tiles_of(&self, other: &Kernel) -> bool {
        let same_loop = |a: &Loop, b: &Loop| a.variable == b.variable && a.low == b.low && a.high == b.high;
        self.sub_tiles.len() == other.sub_tiles.len()
            && self.sub_tiles.iter().zip(&other.sub_tiles).all(|(a, b)| same_loop(a, b))
            && same_loop(&self.rows, &other.rows)
            && self.full_when == other.full_when
            && self.instances.len() == other.instances.len()
            && self.instances.iter().zip(&other.instances).all(|(a, b)| {
                a.statement == b.statement
                    && a.step == b.step
                    && a.ranges.len() == b.ranges.len()
                    && a.ranges.iter().zip(&b.ranges).all(|(a, b)| a.low == b.low && a.high == b.high)
            })
    }

    /// The loop over the warps of a team, where there is one.
    pub fn team(&self) -> Option<&Loop> {
        self.sub_tiles.last().filter(|_| self.team)
    }

    /// The transfers of a moment, in order.
    pub fn transfers_at(&self, moment: Moment) -> impl Iterator<Item = (usize, &Transfer)> {
        self.transfers.iter().enumerate().filter(move |(_, transfer)| transfer.moment == moment)
    }

    /// The parts of one group, in order.
    pub fn parts_of_a_group(&self) -> Vec<Part> {
        let transfers = |moment| self.transfers_at(moment).map(|(index, _)| Part::Transfer(index));
        let around =
            |row| transfers(Moment::Before(row)).chain([Part::Row(row)]).chain(transfers(Moment::After(row)));
        (0..self.instances.len()).flat_map(around).collect()
    }
}

/// Names of the grid's extents in bounds.
pub const SIZE_NAMES: [&str; 3] = ["n0", "n1", "n2"];
