//! The kernel plan: what a tiling strategy decides and every back end prints.
//!
//! ```text
//! for outer in low..=high:                          host loop (a band of time, or a time step)
//!   for launch in launches:                         one kernel launch; everything waits for it
//!     forall block:                                 parallel: thread blocks, or OpenMP tasks
//!       for sub_tile (ascending, lexicographic):    sequential inside the block: tiles, a stream, or pieces of tiles
//!         transfers of the start
//!         for m in rows:                            sequential
//!           for instance in instances:              one row: a box of points of one statement
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

use crate::int_expr::{Environment, IntExpr, int, var};
pub use crate::range::Range;
use crate::storage::{Link, Memory, Moment, Part, Place, Read, Slot, Storage, Sync, Transfer};
use crate::tile::TileSizes;
use crate::window::Windows;
use polyhedral::domain::{Bound, GridEnd};
use polyhedral::program::{BinaryOp, ExprKind, FieldRole, Function, Program};
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
    let statement = &program.statements[statement];
    statement.reads.iter().filter(|read| read.field == statement.target).any(|read| {
        let FieldRole::State { slots, .. } = program.field(read.field).role else { return false };
        (1 - read.time).rem_euclid(slots as i64) == 0
    })
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
}

/// One executed row, with clipped bounds: what [`KernelPlan::for_each_row`] visits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutedRow<'a> {
    /// Value of the host variable.
    pub outer: i64,
    /// Index of the launch within one host iteration.
    pub launch: usize,
    /// Block coordinates.
    pub block: &'a [i64],
    /// Sub-tile coordinates.
    pub sub_tile: &'a [i64],
    /// Group of rows.
    pub group: i64,
    /// Index of the instance within the group.
    pub instance: usize,
    /// Statement.
    pub statement: usize,
    /// Time step.
    pub step: i64,
    /// Half-open, clipped, non-empty box.
    pub bounds: &'a [(i64, i64)],
    /// The part of it whose instances are the row's own; empty where an interval is. The others are copies.
    pub owned: &'a [(i64, i64)],
    /// Whether the plan calls the tile full.
    pub full: bool,
    /// Whether the box had to be clipped.
    pub clipped: bool,
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

impl KernelPlan {
    /// Visits every non-empty row in execution order (parallel blocks in ascending order). This is the
    /// plan's own enumeration: closed forms and emitted code are compared with it. Returns `None` where a
    /// bound mentions an unknown variable.
    pub fn for_each_row(
        &self,
        size: &[i64],
        steps: i64,
        mut visit: impl FnMut(&ExecutedRow<'_>),
    ) -> Option<()> {
        let mut environment = Environment::new();
        environment.insert("steps", steps);
        for (name, &extent) in SIZE_NAMES.iter().zip(size) {
            environment.insert(name, extent);
        }
        let (low, high) = (self.outer.low.evaluate(&environment)?, self.outer.high.evaluate(&environment)?);
        for outer in low..=high {
            environment.insert(self.outer.variable, outer);
            for (launch, Launch { kernel, when }) in self.launches.iter().enumerate() {
                if let Some(condition) = when
                    && condition.evaluate(&environment)? < 0
                {
                    continue;
                }
                let kernel = &self.kernels[*kernel];
                nest(
                    &kernel.blocks,
                    &mut environment.clone(),
                    &mut Vec::new(),
                    &mut |environment, block| {
                        let place = BlockOf { outer, launch, block };
                        self.rows_of_block(kernel, environment, place, (size, steps), &mut visit)
                    },
                )?;
            }
        }
        Some(())
    }

    /// Visits the rows of one block as [`KernelPlan::for_each_row`] does; `launch` counts within the host iteration `outer`.
    pub fn for_each_row_of_block(
        &self,
        (size, steps): (&[i64], i64),
        (outer, launch): (i64, usize),
        block: &[i64],
        mut visit: impl FnMut(&ExecutedRow<'_>),
    ) -> Option<()> {
        let mut environment = Environment::new();
        environment.insert("steps", steps);
        environment.extend(SIZE_NAMES.into_iter().zip(size.iter().copied()));
        environment.insert(self.outer.variable, outer);
        let kernel = &self.kernels[self.launches.get(launch)?.kernel];
        for (own, &coordinate) in kernel.blocks.iter().zip(block) {
            environment.insert(own.variable, coordinate);
        }
        let place = BlockOf { outer, launch, block };
        self.rows_of_block(kernel, &mut environment, place, (size, steps), &mut visit)
    }

    fn rows_of_block(
        &self,
        kernel: &Kernel,
        environment: &mut Environment,
        BlockOf { outer, launch, block }: BlockOf<'_>,
        (size, steps): (&[i64], i64),
        visit: &mut impl FnMut(&ExecutedRow<'_>),
    ) -> Option<()> {
        for binding in &kernel.bindings {
            let value = binding.value.evaluate(environment)?;
            environment.insert(binding.name, value);
        }
        nest(&kernel.sub_tiles, environment, &mut Vec::new(), &mut |environment, sub_tile| {
            let mut full = true;
            for condition in &kernel.full_when {
                full &= condition.evaluate(environment)? >= 0;
            }
            let rows = (kernel.rows.low.evaluate(environment)?, kernel.rows.high.evaluate(environment)?);
            for group in rows.0..=rows.1 {
                environment.insert(kernel.rows.variable, group);
                for (index, instance) in kernel.instances.iter().enumerate() {
                    let step = instance.step.evaluate(environment)?;
                    if !(0..steps).contains(&step) {
                        continue;
                    }
                    let mut runs = true;
                    for condition in &instance.when {
                        runs &= condition.evaluate(environment)? >= 0;
                    }
                    if !runs {
                        continue;
                    }
                    let domain = self.program.domain(instance.statement, size);
                    boxes(instance, &domain, environment, &mut |environment, bounds, clipped| {
                        let mut owned = bounds.to_vec();
                        if let Role::Copies { owned: ranges } = &instance.role {
                            for (range, own) in ranges.iter().zip(&mut owned) {
                                own.0 = own.0.max(range.low.evaluate(environment)?);
                                own.1 = own.1.min(range.high.evaluate(environment)? + 1);
                            }
                        }
                        visit(&ExecutedRow {
                            outer,
                            launch,
                            block,
                            sub_tile,
                            group,
                            instance: index,
                            statement: instance.statement,
                            step,
                            bounds,
                            owned: &owned,
                            full,
                            clipped,
                        });
                        Some(())
                    })?;
                }
            }
            Some(())
        })
    }
}

/// The clipped boxes of a row, as half-open intervals, and whether they had to be clipped: one that is not empty, or, of a
/// slanted row, one for each of its lines, from which it can be computed one after the other.
fn boxes(
    instance: &Instance,
    domain: &[(i64, i64)],
    environment: &mut Environment,
    visit: &mut dyn FnMut(&Environment, &[(i64, i64)], bool) -> Option<()>,
) -> Option<()> {
    let clip = |d: usize, environment: &Environment| {
        let (first, end) = domain[d];
        let low = instance.ranges[d].low.evaluate(environment)?;
        let high = instance.ranges[d].high.evaluate(environment)? + 1;
        Some(((low.max(first), high.min(end)), low < first || high > end))
    };
    let slanted = instance.slanted();
    let mut bounds = Vec::with_capacity(domain.len());
    let mut clipped = false;
    for d in 0..domain.len() - usize::from(slanted.is_some()) {
        let (interval, cut) = clip(d, environment)?;
        clipped |= cut;
        bounds.push(interval);
    }
    let has_points = |bounds: &[(i64, i64)]| bounds.iter().all(|(first, end)| first < end);
    let Some((moving, coordinate)) = slanted else {
        return if has_points(&bounds) { visit(environment, &bounds, clipped) } else { Some(()) };
    };
    let (first, end) = bounds[moving];
    for at in first..end {
        environment.insert(coordinate, at);
        let (interval, cut) = clip(domain.len() - 1, environment)?;
        let mut line = bounds.clone();
        line[moving] = (at, at + 1);
        line.push(interval);
        if has_points(&line) {
            visit(environment, &line, clipped || cut)?;
        }
    }
    environment.remove(coordinate);
    Some(())
}

/// Where a block is.
struct BlockOf<'a> {
    outer: i64,
    launch: usize,
    block: &'a [i64],
}

/// A bound of a domain in dimension `d`.
pub fn bound(bound: Bound, d: usize) -> IntExpr {
    match bound.from {
        GridEnd::Start => int(bound.offset),
        GridEnd::End => var(SIZE_NAMES[d]) + bound.offset,
    }
}

/// What tiles must keep from the ends of the grid to be full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullTiles {
    /// Per statement, whether it runs in full tiles: its domain grows with the grid in all dimensions that are
    /// cut.
    pub runs: Vec<bool>,
    /// Per dimension, how far from the start of the grid: there, all domains of statements that run have begun,
    /// and the others have ended.
    pub low: Vec<i64>,
    /// Per dimension, how far from the end of the grid.
    pub high: Vec<i64>,
}

impl FullTiles {
    /// The rule. `cut` says which dimensions are cut into tiles; in the others, ranges are whole domains.
    pub fn new(program: &Program, cut: &[bool]) -> Self {
        let dimension = program.dimension();
        let mut full = FullTiles { runs: Vec::new(), low: vec![0; dimension], high: vec![0; dimension] };
        for statement in &program.statements {
            let thin = (0..dimension).find(|&d| cut[d] && !statement.domain[d].is_wide());
            full.runs.push(thin.is_none());
            for (d, interval) in statement.domain.iter().enumerate() {
                let (low, high) = match thin {
                    None => (interval.low, interval.high),
                    // Beyond the domain: after one at the start of the grid, before one at its end.
                    Some(thin) if thin == d => (interval.high, interval.low),
                    Some(_) => continue,
                };
                if low.from == GridEnd::Start {
                    full.low[d] = full.low[d].max(low.offset);
                }
                if high.from == GridEnd::End {
                    full.high[d] = full.high[d].max(-high.offset);
                }
            }
        }
        full
    }
}

/// Bounds, in dimension `d`, of all domains of a program on all grids on which it computes something: the first
/// point, and how far before the end of the grid the last one is followed.
pub fn hull(program: &Program, d: usize) -> (i64, i64) {
    let least = program.least_size[d];
    let lows = program.statements.iter().map(|statement| match statement.domain[d].low {
        Bound { from: GridEnd::Start, offset } => offset,
        Bound { from: GridEnd::End, offset } => (least + offset).max(0),
    });
    let highs = program.statements.iter().map(|statement| match statement.domain[d].high {
        Bound { from: GridEnd::Start, offset } => (least - offset).max(0),
        Bound { from: GridEnd::End, offset } => -offset,
    });
    (lows.min().unwrap_or(0), highs.min().unwrap_or(0))
}

/// Names of the grid's extents in bounds.
pub const SIZE_NAMES: [&str; 3] = ["n0", "n1", "n2"];

/// Runs `body` for every point of a nest of loops, lexicographically.
fn nest(
    loops: &[Loop],
    environment: &mut Environment,
    point: &mut Vec<i64>,
    body: &mut dyn FnMut(&mut Environment, &[i64]) -> Option<()>,
) -> Option<()> {
    let Some((first, rest)) = loops.split_first() else {
        return body(environment, point);
    };
    let (low, high) = (first.low.evaluate(environment)?, first.high.evaluate(environment)?);
    for value in low..=high {
        environment.insert(first.variable, value);
        point.push(value);
        nest(rest, environment, point, body)?;
        point.pop();
    }
    Some(())
}
