//! What cores with caches do with a tile: calls, runs and blocks of the rows' code, bytes that move.
//!
//! A *call* executes one box of points of a statement. Its code computes 8, 4, 2 or 1 neighbouring grid rows at once: a
//! *run* is one such group of rows along the innermost dimension, in *blocks* of whole cache lines.

use crate::TileSizes;
use crate::geometry::{block_points, rows_at_once};
use polyhedral::cone::Cone;
use polyhedral::program::{FieldRole, Program, Statement};
use std::fmt::Debug;
use std::sync::Arc;

/// The kinds of rows at once that a program's code may have.
pub const MAX_VARIANTS: usize = 6;

/// What one statement's code looks like.
#[derive(Debug, Clone)]
pub struct RowCode {
    /// Rows at once and index of their kind, most rows first.
    pub variants: Vec<(i64, usize)>,
    /// Points of a block.
    pub block: i64,
    /// Clipped box of the whole grid, half open.
    pub domain: Vec<(i64, i64)>,
    /// Bytes that one point moves in a sweep.
    pub sweep_bytes: f64,
}

impl RowCode {
    /// Points of one step.
    pub fn points(&self) -> f64 {
        self.domain.iter().map(|(low, high)| (high - low).max(0) as f64).product()
    }
}

/// A kind of run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kind {
    /// Rows at once.
    pub rows: i64,
    /// Relative durations of a run and of a block. They decide which thread is idle first, and nothing else.
    pub weights: (f64, f64),
}

/// A program on a grid, for a number of steps, on cores.
#[derive(Debug, Clone)]
pub struct Cores {
    /// The program.
    pub program: Arc<Program>,
    /// Its dependence cone.
    pub cone: Cone,
    /// Grid extents.
    pub size: Vec<i64>,
    /// Time steps.
    pub steps: i64,
    /// Threads that work.
    pub threads: i64,
    /// The kinds of runs, at most [`MAX_VARIANTS`].
    pub kinds: Vec<Kind>,
    /// The statements' code.
    pub code: Vec<RowCode>,
    /// Bytes per point that a tile moves in and out once: all stored levels of state fields twice, coefficients once.
    pub touched_bytes: f64,
    /// Bytes per point that a tile keeps.
    pub stored_bytes: f64,
    /// How far statements read, per dimension: below and above.
    pub halo: Vec<(i64, i64)>,
}

impl Cores {
    /// Brings a program and the kinds of runs that are known together.
    pub fn new(
        program: &Program,
        cone: &Cone,
        (size, steps): (&[i64], i64),
        threads: i64,
        kinds: Vec<Kind>,
    ) -> Self {
        let (mut touched_bytes, mut stored_bytes) = (0.0, 0.0);
        for field in &program.fields {
            let bytes = field.element.bytes() as f64;
            let (levels, ways) = match field.role {
                FieldRole::State { slots, .. } => (slots as f64, 2.0),
                FieldRole::Coefficient => (1.0, 1.0),
            };
            touched_bytes += levels * ways * bytes;
            stored_bytes += levels * bytes;
        }
        Cores {
            program: Arc::new(program.clone()),
            cone: cone.clone(),
            size: size.to_vec(),
            steps,
            threads,
            code: code(program, &kinds, size),
            kinds,
            touched_bytes,
            stored_bytes,
            halo: halo(program),
        }
    }

    /// Number of dimensions.
    pub fn dimension(&self) -> usize {
        self.size.len()
    }

    /// Number of statements.
    pub fn statements(&self) -> i64 {
        self.code.len() as i64
    }

    /// Points of a block: innermost tile sizes are multiples of it where they can be chosen.
    pub fn block(&self) -> i64 {
        self.code.iter().map(|code| code.block).max().unwrap_or(1)
    }
}

/// Sums over the tiles of the busiest thread of each wavefront: what depends on time and on the slowest dimension.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Outer {
    /// Rows of tiles with points.
    pub calls: f64,
    /// Runs per kind, for one piece of the inner dimensions.
    pub runs: [f64; MAX_VARIANTS],
    /// Blocks per kind, likewise; differs from `runs` in one dimension only.
    pub blocks: [f64; MAX_VARIANTS],
    /// Grid rows (points in one dimension) of all rows.
    pub points: f64,
    /// Bytes per inner point of the windows of all tiles, each level in and out.
    pub touched: f64,
    /// Bytes of points that come into a sub-tile from the one before it, where [`Inner::visits`] does not say so.
    pub visited: f64,
    /// Bytes per inner point that all rows move if no cache keeps anything.
    pub swept: f64,
    /// Wavefronts.
    pub wavefronts: f64,
    /// Mean width of a full tile's rows, with what they read, in grid rows: what a sweep over one row touches.
    pub extent: f64,
}

impl Outer {
    /// Adds another one, so many times.
    pub fn add(&mut self, other: &Outer, weight: f64) {
        self.calls += weight * other.calls;
        for v in 0..MAX_VARIANTS {
            self.runs[v] += weight * other.runs[v];
            self.blocks[v] += weight * other.blocks[v];
        }
        self.points += weight * other.points;
        self.touched += weight * other.touched;
        self.visited += weight * other.visited;
        self.swept += weight * other.swept;
        self.wavefronts += weight * other.wavefronts;
    }
}

/// How the inner dimensions are cut: multiplicities per row of a tile, averages over its rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inner {
    /// Sub-tiles with points.
    pub calls: f64,
    /// Runs per group of neighbouring grid rows: middle points times pieces of the innermost dimension.
    pub runs: f64,
    /// Blocks per such group.
    pub blocks: f64,
    /// Points in pieces shorter than a block; 0 where pieces are longer.
    pub points: f64,
    /// Points of all inner dimensions.
    pub area: f64,
    /// Points that come into the box of a row, because it lies further than that of the row before: all dimensions that
    /// are cut together.
    pub visits: f64,
    /// Points of the window of a sub-tile in the inner dimensions.
    pub extent: f64,
    /// Points of the box of one row and of that of the row before, with what they read: a row finds there what the row before wrote.
    pub row_extent: f64,
}

/// The launch of a statement that goes over the whole grid once: its boxes lie in no cache when they begin.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// The part of the boxes that the busiest thread has.
    pub share: f64,
    /// Boxes, each of them a call; 0 where the statement computes nothing.
    pub boxes: f64,
    /// Runs per kind, for one piece of the innermost dimension, of every piece of the slowest one.
    pub runs: Vec<[f64; MAX_VARIANTS]>,
    /// Pieces of the innermost dimension.
    pub pieces: f64,
    /// Blocks of all of them together.
    pub blocks: f64,
    /// Points in pieces shorter than a block.
    pub short: f64,
    /// Points.
    pub points: f64,
    /// Bytes that each of them moves.
    pub sweep_bytes: f64,
}

/// Tiles of diagonals, one diagonal after the other. Sums are those of all tiles, whoever has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagonals {
    /// The sums, in the units of a sub-tile that is counted alone: of `Outer`, `points` are those of rows shorter than a
    /// block, and `extent` all points of the window; `wavefronts` are the diagonals.
    pub all: Outer,
    /// By statement: positions at which neighbouring lines of points in order run at once; 0 for the others.
    pub positions: Vec<f64>,
    /// Lines that run at once.
    pub lines: i64,
    /// Tiles with points.
    pub tiles: f64,
    /// Tiles that one thread has at least, over all diagonals: `sum of ceil(tiles of a diagonal / threads)`.
    pub rounds: f64,
    /// Tiles that are looked at and have no points.
    pub empty: f64,
}

impl Diagonals {
    /// The part of all tiles that the busiest thread has, each of them taken as the mean.
    pub fn share(&self) -> f64 {
        if self.tiles > 0.0 { self.rounds / self.tiles } else { 0.0 }
    }

    /// What the busiest thread does of `all`.
    pub fn busiest(&self) -> Outer {
        let mut own = Outer { extent: self.all.extent, ..Outer::default() };
        own.add(&self.all, self.share());
        Outer { wavefronts: self.all.wavefronts, ..own }
    }
}

impl Inner {
    /// Where all dimensions are in the sums of [`Outer`].
    pub const ONCE: Inner = Inner {
        calls: 1.0,
        runs: 1.0,
        blocks: 1.0,
        points: 1.0,
        area: 1.0,
        visits: 0.0,
        extent: 1.0,
        row_extent: 1.0,
    };
}

/// What the busiest thread does.
#[derive(Debug, Clone, PartialEq)]
pub enum CoreCounts {
    /// Tiles that keep their window in a cache, each launch's spread over the threads.
    Tiles(Outer, Inner),
    /// One sweep over the grid after the other, in every time step the same.
    Sweeps(Vec<Sweep>),
    /// Tiles of diagonals, as many at a time as a diagonal has.
    Diagonals(Diagonals),
}

/// The tiles that a search on cores looks at.
#[derive(Debug)]
pub enum CoreSpace {
    /// Few of them, each on its own.
    Each(Vec<TileSizes>),
    /// Products of sizes whose counts are products, too.
    Products(Box<dyn Products>),
}

/// Tiles of a depth, a width and inner sizes: the time of a depth is a sum of products of what the width decides
/// ([`Outer`]) and of what the inner sizes decide ([`Inner`]), all of them non-negative.
pub trait Products: Debug + Send + Sync {
    /// Depths in logical rows, ascending.
    fn depths(&self) -> &[i64];

    /// Widths along the slowest dimension, ascending, whatever the depth.
    fn widths(&self) -> &[i64];

    /// Those of them that are possible for this depth.
    fn widths_of(&self, depth: i64) -> Vec<i64>;

    /// The least possible width for this depth.
    fn least_width(&self, depth: i64) -> i64;

    /// Sizes of the inner dimensions; 0: not cut.
    fn inner_sizes(&self) -> &[[i64; 2]];

    /// What depth and width decide.
    fn outer(&self, depth: i64, width: i64) -> Outer;

    /// Counts below those of [`Products::outer`], for less.
    fn outer_below(&self, depth: i64, width: i64) -> Outer;

    /// What depth and inner sizes decide.
    fn inner(&self, depth: i64, sizes: [i64; 2]) -> Inner;

    /// Wavefronts that each width needs at least.
    fn least_wavefronts(&self, depth: i64) -> f64;

    /// The sizes by name.
    fn tile(&self, depth: i64, width: i64, inner: [i64; 2]) -> TileSizes;
}

/// Multiples of `unit` up to `fine`, then doubling steps, below `extent`; and 0, the whole dimension.
pub fn spread_sizes(unit: i64, fine: i64, extent: i64, coarse: i64) -> Vec<i64> {
    let mut sizes = vec![0];
    let mut size = unit;
    while size < extent && size <= crate::strategy::tile_space::LARGEST_SIZE {
        sizes.push(size);
        size += if size < fine { unit } else { (unit * coarse).max(size / 2) };
    }
    sizes
}

fn code(program: &Program, kinds: &[Kind], size: &[i64]) -> Vec<RowCode> {
    let place = |rows: usize| kinds.iter().position(|kind| kind.rows == rows as i64);
    let of = |(index, statement): (usize, &Statement)| RowCode {
        variants: rows_at_once(program, statement)
            .into_iter()
            .filter_map(|rows| Some((rows as i64, place(rows)?)))
            .collect(),
        block: block_points(program, statement) as i64,
        domain: program.domain(index, size),
        sweep_bytes: sweep_bytes(program, statement),
    };
    program.statements.iter().enumerate().map(of).collect()
}

/// Bytes that one point of a statement moves where no cache keeps anything from one sweep over the grid to the next:
/// each time level that it reads once, and the one that it writes in and out.
pub fn sweep_bytes(program: &Program, statement: &Statement) -> f64 {
    let mut planes: Vec<_> = statement.reads.iter().map(|read| (read.field.0, read.time)).collect();
    planes.sort_unstable();
    planes.dedup();
    let read: usize = planes.iter().map(|(field, _)| program.fields[*field].element.bytes()).sum();
    (read + 2 * program.field(statement.target).element.bytes()) as f64
}

/// How far statements read towards smaller and larger indices, per dimension.
fn halo(program: &Program) -> Vec<(i64, i64)> {
    let offsets = |d: usize| {
        program.statements.iter().flat_map(|statement| &statement.reads).map(move |read| read.offset[d])
    };
    let reach = |d: usize| (-offsets(d).min().unwrap_or(0).min(0), offsets(d).max().unwrap_or(0).max(0));
    (0..program.dimension()).map(reach).collect()
}
