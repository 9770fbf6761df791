//! Execution time on a CPU: caches in place of shared memory.
//!
//! The OpenMP code works in place on the grid, so nothing is loaded or stored as such; what the model of a GPU says
//! about transfers, barriers and vector lanes becomes, for one tile of the hybrid hexagonal strategy,
//!
//! ```text
//! T_tile  = sum over the rows a of the tile, and over its sub-tiles, of
//!             call + sum_v n_v(width_a) * m * (run_v + block_v * (length + V - 1) / V)
//!           + lines_touched * L_line  +  lines_swept * line(working set)  +  lines_visited * V_line
//! T_alg   = sum over wavefronts of T_sync + (time of the busiest thread)
//! ```
//!
//! - `n_v(width)`: the code computes `v` = 8, 4, 2, 1 neighbouring grid rows at once, so a row that is `width` grid
//!   rows wide takes `floor(width / 8)` runs of 8, one of 4 if the rest is 4 or more, and so on. `m`: points of the
//!   middle dimension (1 in 2-D); `length`: points along the innermost one.
//! - A run takes whole cache lines of `V` points, and begins anywhere in a line: `(length + V - 1) / V` blocks on
//!   average.
//! - `L_line`: seconds per line between memory and a core, all cores at work, as far as the hardware's prefetching
//!   does not hide them; each time level that a tile touches moves in and out once.
//! - `line(working set)`, between 0 and `L_line`: a sub-tile sweeps over its window `2*st/K` times. Where a cache holds the window, that costs
//!   nothing that `block_v` has not; where none does, every sweep moves it.
//! - `V_line`: seconds per line between the last cache and the one before it. The box of a row lies `lower_d` points
//!   further than that of the row before, so that of `s_d` points `lower_d` are new; where the window of a sub-tile is
//!   larger than the smaller cache, their lines have left it since the sub-tile before (as far as it is larger).
//! - Wavefronts: tiles go to threads in order, each to the next idle one. Tiles at the grid's edge and bands at the
//!   ends of time are smaller, and are counted as they are: `ceil(w / cores)` equal tiles would be wrong by up to a
//!   half where a wavefront has few tiles.

mod inner;
mod naive;
mod outer;

pub use inner::Inner;
pub use outer::{Hexagons, Outer};

use crate::energy::EnergyTerms;
use crate::machine::{BodyCosts, Calibration, CpuCalibration, CpuFacts, Energy, Machine};
use crate::time::{Prediction, Terms};
use hhc_codegen::TileSizes;
use hhc_codegen::geometry::{block_points, rows_at_once};
use polyhedral::cone::Cone;
use polyhedral::counts::counts;
use polyhedral::program::{FieldRole, Program, Statement};

/// Bytes of a cache line in `working_sets` of a calibration.
pub const LINE_BYTES: f64 = 64.0;

/// The kinds of rows at once that a body may have.
pub const MAX_VARIANTS: usize = 6;

/// Why there is no prediction for a CPU.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CpuModelError {
    /// The machine has no calibration of a CPU.
    #[error(
        "machine `{0}` has no calibration: `tilewright calibrate --backend openmp -o FILE.toml` makes one"
    )]
    NotCalibrated(String),
    /// No stencil at all was measured.
    #[error("machine `{0}` has no measured stencil: `tilewright calibrate --stencil NAME` measures one")]
    NoStencil(String),
}

/// Tile sizes of the hybrid hexagonal strategy; sizes of dimensions that the stencil lacks are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuTile {
    /// Half the height, in logical rows.
    pub st: i64,
    /// Flat top, in points.
    pub s0: i64,
    /// Classical sizes of the dimensions 1 and 2, in points; 0: not cut.
    pub classical: [i64; 2],
}

impl CpuTile {
    /// From tile sizes by name; `None` where `st` or `s0` is missing.
    pub fn from_sizes(tile: &TileSizes) -> Option<Self> {
        let classical = ["s1", "s2"].map(|name| tile.get(name).unwrap_or(0));
        Some(CpuTile { st: tile.get("st")?, s0: tile.get("s0")?, classical })
    }

    /// The sizes by name, for a stencil of this dimension.
    pub fn to_sizes(self, dimension: usize) -> TileSizes {
        let sizes = [("st", self.st), ("s0", self.s0), ("s1", self.classical[0]), ("s2", self.classical[1])];
        TileSizes::new(sizes.into_iter().take(dimension + 1))
    }
}

/// What one statement's code looks like.
#[derive(Debug, Clone)]
struct StatementCode {
    /// Index into the body's runs per number of rows at once that this statement has, most rows first.
    variants: Vec<(i64, usize)>,
    /// Points of a block.
    block: i64,
    /// Clipped box of the whole grid, half open.
    domain: Vec<(i64, i64)>,
    /// Bytes that one point moves in a sweep: distinct values read far apart, and the one written.
    sweep_bytes: f64,
}

/// Time of a program on a CPU, for one grid and number of steps.
#[derive(Debug, Clone)]
pub struct CpuTime {
    cone: Cone,
    size: Vec<i64>,
    steps: i64,
    threads: i64,
    body: BodyCosts,
    cpu: CpuCalibration,
    t_sync_s: f64,
    code: Vec<StatementCode>,
    /// Bytes per point that a tile moves in and out once: all stored levels of state fields twice, coefficients once.
    touched_bytes: f64,
    /// Bytes per point that a tile keeps.
    stored_bytes: f64,
    /// Bytes of the widest element.
    word_bytes: f64,
    /// Bytes of the cache before the last one, a core's share; infinite where there is none.
    near_bytes: f64,
    /// How far statements read, per dimension: below and above.
    halo: Vec<(i64, i64)>,
    estimated: bool,
}

/// The costs of a stencil's rows on this machine, and whether they are an estimate: those of the calibrated stencil
/// that is nearest in operations and values read, scaled by them.
///
/// # Errors
/// [`CpuModelError::NoStencil`].
pub fn body_costs(
    machine: &str,
    cpu: &CpuCalibration,
    program: &Program,
) -> Result<(BodyCosts, bool), CpuModelError> {
    let (flops, reads) = work(program);
    let element = program.fields[0].element.name();
    if let Some(body) = cpu.body(&program.name, element, flops, reads) {
        return Ok((body.clone(), false));
    }
    // Of the same dimension, runs have the same kinds of rows at once only if the numbers of operands allow.
    let kinds: Vec<i64> =
        program.statements.iter().flat_map(|s| rows_at_once(program, s)).map(|r| r as i64).collect();
    let weight = |body: &BodyCosts| (body.flops + body.reads).max(1) as f64;
    let own = (flops + reads).max(1) as f64;
    let candidates = cpu.bodies.values().flat_map(|elements| elements.iter());
    let distance = |entry: &(&String, &BodyCosts)| {
        let (name, body) = entry;
        let missing = kinds.iter().filter(|&&rows| !body.runs.iter().any(|run| run.rows == rows)).count();
        let other_type = f64::from(u8::from(name.as_str() != element));
        10.0 * missing as f64 + other_type + (own / weight(body)).ln().abs()
    };
    let nearest = candidates.min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let (_, nearest) = nearest.ok_or_else(|| CpuModelError::NoStencil(machine.to_string()))?;
    let scale = own / weight(nearest);
    let mut body = BodyCosts { flops, reads, point_s: nearest.point_s * scale, ..nearest.clone() };
    for run in &mut body.runs {
        run.block_s *= scale;
    }
    for rows in kinds {
        if let (false, Some(&like)) = (body.runs.iter().any(|run| run.rows == rows), body.runs.first()) {
            let ratio = rows as f64 / like.rows as f64;
            body.runs.push(crate::machine::RunCosts { rows, block_s: like.block_s * ratio, ..like });
        }
    }
    body.runs.sort_by_key(|run| -run.rows);
    Ok((body, true))
}

/// Operations and values read per point and step, all statements together.
pub fn work(program: &Program) -> (i64, i64) {
    let reads: usize = program.statements.iter().map(|statement| statement.reads.len()).sum();
    (counts(program).flops as i64, reads as i64)
}

impl CpuTime {
    /// The model for a program on a calibrated machine.
    ///
    /// # Errors
    /// [`CpuModelError`] where the machine has not been calibrated.
    pub fn new(
        machine: &Machine,
        program: &Program,
        cone: &Cone,
        size: &[i64],
        steps: i64,
    ) -> Result<Self, CpuModelError> {
        let missing = || CpuModelError::NotCalibrated(machine.name.clone());
        let calibration = machine.calibration.as_ref().ok_or_else(missing)?;
        let cpu = calibration.cpu.as_ref().ok_or_else(missing)?;
        let facts = machine.cpu().ok_or_else(missing)?;
        let (body, estimated) = body_costs(&machine.name, cpu, program)?;
        Ok(Self::with_costs(facts, calibration, cpu, (body, estimated), program, cone, size, steps))
    }

    #[allow(clippy::too_many_arguments)]
    fn with_costs(
        facts: &CpuFacts,
        calibration: &Calibration,
        cpu: &CpuCalibration,
        (body, estimated): (BodyCosts, bool),
        program: &Program,
        cone: &Cone,
        size: &[i64],
        steps: i64,
    ) -> Self {
        let (code, halo) = (code(program, &body, size), halo(program));
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
        CpuTime {
            cone: cone.clone(),
            size: size.to_vec(),
            steps,
            threads: facts.cores,
            body,
            cpu: cpu.clone(),
            t_sync_s: calibration.t_sync_s.value,
            code,
            touched_bytes,
            stored_bytes,
            word_bytes: program.fields.iter().map(|field| field.element.bytes()).max().unwrap_or(4) as f64,
            near_bytes: near_bytes(facts),
            halo,
            estimated,
        }
    }

    /// Whether the costs of the stencil's rows are an estimate from those of another stencil.
    pub fn estimated(&self) -> bool {
        self.estimated
    }

    /// The same with another number of threads.
    pub fn with_threads(&self, threads: i64) -> CpuTime {
        CpuTime { threads: threads.max(1), ..self.clone() }
    }

    /// Threads that work.
    pub fn threads(&self) -> i64 {
        self.threads
    }

    /// The same with `T_sync` times `factor`.
    pub fn with_launches_times(&self, factor: f64) -> CpuTime {
        CpuTime { t_sync_s: self.t_sync_s * factor, ..self.clone() }
    }

    /// The same with the cost of lines from memory, and from caches that are too small, times `factor`.
    pub fn with_lines_times(&self, factor: f64) -> CpuTime {
        let mut changed = self.with_memory_line(self.body.memory_line_s * factor);
        for set in &mut changed.cpu.working_sets {
            set.line_s *= factor;
        }
        changed.cpu.visit_line_s *= factor;
        changed
    }

    /// The same with the cost of calls times `factor`.
    pub fn with_calls_times(&self, factor: f64) -> CpuTime {
        let mut changed = self.clone();
        changed.body.call_s *= factor;
        changed
    }

    /// The same with the cost of rows (runs, blocks and points) times `factor`.
    pub fn with_rows_times(&self, factor: f64) -> CpuTime {
        let mut changed = self.clone();
        changed.body.point_s *= factor;
        for run in &mut changed.body.runs {
            run.run_s *= factor;
            run.block_s *= factor;
        }
        changed
    }

    /// Seconds of a launch, of a line from memory, and of a call.
    pub fn constants(&self) -> (f64, f64, f64) {
        (self.t_sync_s, self.body.memory_line_s, self.body.call_s)
    }

    /// Energy in joules of an execution with this prediction, by constants of the machine: lines from memory, operations,
    /// values read and written, launches, and what flows whatever happens.
    pub fn energy(&self, prediction: &Prediction, constants: &Energy) -> EnergyTerms {
        let points: f64 = self.code.iter().map(StatementCode::points).sum();
        let (steps, words) = (self.steps as f64, self.word_bytes / 4.0);
        let per_statement = |count: i64| count as f64 / self.code.len() as f64 * points * steps * words;
        let accesses = self.body.reads + self.code.len() as i64;
        EnergyTerms {
            global: constants.e_glob_j * self.moved_words(prediction),
            shared: constants.e_shared_j * per_statement(accesses),
            iterations: constants.e_flop_j * per_statement(self.body.flops),
            barriers: 0.0,
            launches: constants.e_launch_j * prediction.terms.launch / self.t_sync_s.max(1e-12),
            fixed: constants.p_static_w * prediction.seconds,
        }
    }

    /// Words of 4 bytes that all threads move: each of them as much as the busiest one, whose time is predicted.
    fn moved_words(&self, prediction: &Prediction) -> f64 {
        let line_s = self.body.memory_line_s;
        let lines = if line_s > 0.0 { prediction.terms.transfer / line_s } else { 0.0 };
        lines * self.threads as f64 * LINE_BYTES / 4.0
    }

    /// `C_iter`: seconds of one point of one statement in full blocks of the cheapest kind, on one core.
    pub fn point_s(&self) -> f64 {
        let points: f64 = self.code.iter().map(StatementCode::points).sum();
        self.ideal_s() * self.threads as f64 / (points * self.steps as f64).max(1.0)
    }

    /// Number of dimensions.
    pub fn dimension(&self) -> usize {
        self.size.len()
    }

    /// Number of statements: `st` is a multiple of it.
    pub fn statements(&self) -> i64 {
        self.code.len() as i64
    }

    /// Points of a block: innermost tile sizes are multiples of it where they can be chosen.
    pub fn block(&self) -> i64 {
        self.code.iter().map(|code| code.block).max().unwrap_or(1)
    }

    /// The dependence cone.
    pub fn cone(&self) -> &Cone {
        &self.cone
    }

    /// Grid extents.
    pub fn size(&self) -> &[i64] {
        &self.size
    }

    /// Number of time steps.
    pub fn steps(&self) -> i64 {
        self.steps
    }

    /// The prediction for one choice of tile sizes.
    pub fn predict(&self, tile: CpuTile) -> Prediction {
        self.combine(&self.outer(tile.st, tile.s0), &self.inner(tile.st, tile.classical))
    }

    /// The prediction from its two parts: what depends on `st` and `s0`, and what on `st` and the classical sizes.
    pub fn combine(&self, outer: &Outer, inner: &Inner) -> Prediction {
        let rows = outer.calls * inner.calls;
        let mut compute = outer.points * inner.points * self.body.point_s;
        for (v, run) in self.body.runs.iter().enumerate() {
            compute += outer.runs[v] * inner.runs * run.run_s + outer.blocks[v] * inner.blocks * run.block_s;
        }
        let window = self.window_bytes(outer, inner);
        let memory = self.body.memory_line_s;
        let sweep = self.cpu.missing(window) * memory;
        // Of what the rows sweep over, the first time counts as touched.
        let again = (outer.swept - outer.touched).max(0.0);
        let far = 1.0 - (self.near_bytes / window).min(1.0);
        let visited = outer.points * inner.visits * self.touched_bytes * far;
        let moved = (outer.touched * memory + again * sweep) * inner.area + visited * self.cpu.visit_line_s;
        let transfer = moved / LINE_BYTES;
        let terms = Terms {
            compute,
            transfer,
            barrier: rows * self.body.call_s,
            launch: outer.wavefronts * self.t_sync_s,
        };
        Prediction { seconds: terms.sum(), terms, ideal_s: self.ideal_s() }
    }

    /// The stencil without the cost of its lines from memory: what its rows take where a cache holds everything.
    pub fn cached(&self) -> CpuTime {
        self.with_memory_line(0.0).with_visit_line(0.0)
    }

    /// The stencil with another cost of a line from memory, in seconds.
    pub fn with_memory_line(&self, memory_line_s: f64) -> CpuTime {
        let mut changed = self.clone();
        changed.body.memory_line_s = memory_line_s;
        changed
    }

    /// The stencil with another cost of a line from the last cache, in seconds.
    pub fn with_visit_line(&self, visit_line_s: f64) -> CpuTime {
        let mut changed = self.clone();
        changed.cpu.visit_line_s = visit_line_s;
        changed
    }

    /// Bytes that a sub-tile works on at a time.
    pub fn window_bytes(&self, outer: &Outer, inner: &Inner) -> f64 {
        outer.extent * inner.extent * self.stored_bytes
    }

    /// A time that no flat top, and no choice of classical sizes with these components or larger ones, goes below for a
    /// half height: all points in blocks of the cheapest kind on evenly loaded threads, and every wavefront's launch. It
    /// looks at no single tile.
    pub fn lower_bound(&self, st: i64, least: &Inner) -> f64 {
        let wavefronts = 2.0 * ((self.steps * self.statements()) as f64 / (2 * st) as f64).floor();
        let rows = |code: &StatementCode| (code.domain[0].1 - code.domain[0].0).max(0) as f64;
        let per_row = |code: &StatementCode| {
            let cost = |&(at_once, v): &(i64, usize)| {
                let run = &self.body.runs[v];
                (least.runs * run.run_s + least.blocks * run.block_s) / at_once as f64
            };
            code.variants.iter().map(cost).fold(f64::INFINITY, f64::min)
        };
        if self.dimension() == 1 {
            return wavefronts * self.t_sync_s;
        }
        let step: f64 = self.code.iter().map(|code| rows(code) * per_row(code)).sum();
        step * self.steps as f64 / self.threads as f64 + wavefronts * self.t_sync_s
    }

    /// `T_ideal`: all iterations in full blocks of the widest kind, on all threads.
    fn ideal_s(&self) -> f64 {
        let best = |code: &StatementCode| {
            let cost = |&(rows, v): &(i64, usize)| self.body.runs[v].block_s / (rows * code.block) as f64;
            code.variants.iter().map(cost).fold(f64::INFINITY, f64::min)
        };
        let step: f64 = self.code.iter().map(|code| code.points() * best(code)).sum();
        step * self.steps as f64 / self.threads as f64
    }
}

impl StatementCode {
    /// Points of one step.
    fn points(&self) -> f64 {
        self.domain.iter().map(|(low, high)| (high - low).max(0) as f64).product()
    }
}

/// A core's share of the cache before the last one.
fn near_bytes(facts: &CpuFacts) -> f64 {
    let last = facts.caches.iter().map(|cache| cache.level).max().unwrap_or(1);
    let before = facts.caches.iter().filter(|cache| cache.level < last).max_by_key(|cache| cache.level);
    before.map_or(f64::INFINITY, |cache| 1024.0 * cache.kb / cache.shared_by.max(1) as f64)
}

fn code(program: &Program, body: &BodyCosts, size: &[i64]) -> Vec<StatementCode> {
    let place = |rows: usize| body.runs.iter().position(|run| run.rows == rows as i64);
    let of = |(index, statement): (usize, &Statement)| StatementCode {
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
