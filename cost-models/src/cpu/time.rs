//! Execution time on a CPU: caches in place of shared memory.
//!
//! The OpenMP code works in place on the grid, so nothing is loaded or stored as such; what the model of a GPU says
//! about transfers, barriers and vector lanes becomes, for one tile,
//!
//! ```text
//! T_tile  = sum over the rows a of the tile, and over its sub-tiles, of
//!             call + sum_v n_v(width_a) * m * (run_v + block_v * (length + V - 1) / V)
//!           + lines_touched * L_line  +  lines_swept * line(working set)  +  part * lines_visited * V_line
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
//! - `line(working set)`: a sub-tile sweeps over its window `2*st/K` times. What a row reads was written by the row before: where
//!   the cache before the last one holds the boxes of both, that costs nothing that `block_v` has not; where it does not,
//!   every sweep moves them, at what was measured for working sets of this size; of what the last cache holds, only `part` counts.
//! - `V_line`: seconds per line between the last cache and the one before it. The box of a row lies `lower_d` points
//!   further than that of the row before, so that of `s_d` points `lower_d` are new; where the window of a sub-tile is
//!   larger than the smaller cache, their lines have left it since the sub-tile before (as far as it is larger).
//! - `part`: what the stencil's operations do not hide of lines between caches.
//! - Wavefronts: tiles go to threads in order, each to the next idle one. Tiles at the grid's edge and bands at the
//!   ends of time are smaller, and are counted as they are: `ceil(w / cores)` equal tiles would be wrong by up to a
//!   half where a wavefront has few tiles.
//!
//! Tiles on diagonals ([`Diagonals`]) have all of these terms as sums over all tiles, and the mean tile stands for each;
//! points in order cost what their lines wait ([`order`]).

use super::body::{CpuModelError, body_costs};
use super::order;
use crate::machine::{BodyCosts, Calibration, CpuCalibration, CpuFacts, Machine};
use crate::time::{Prediction, Terms};
use hhc_codegen::TileSizes;
use hhc_codegen::counts::cores::{CoreCounts, Cores, Diagonals, Inner, Kind, Outer, RowCode, Sweep};
use hhc_codegen::counts::forms;
use hhc_codegen::strategy::Strategy;
use polyhedral::cone::Cone;
use polyhedral::counts::{Counts, counts};
use polyhedral::program::Program;

/// Bytes of a cache line in `working_sets` of a calibration.
pub const LINE_BYTES: f64 = 64.0;

/// Time of a program on a CPU, for one grid and number of steps.
#[derive(Debug, Clone)]
pub struct CpuTime {
    pub(super) cores: Cores,
    /// Operations of a point, by statement.
    pub(super) operations: Counts,
    pub(super) body: BodyCosts,
    pub(super) cpu: CpuCalibration,
    pub(super) t_sync_s: f64,
    /// Bytes of the widest element.
    pub(super) word_bytes: f64,
    /// Bytes of the cache before the last one, a core's share; infinite where there is none.
    pub(super) near_bytes: f64,
    /// Bytes of the last cache, a core's share.
    pub(super) last_bytes: f64,
    pub(super) estimated: bool,
    /// Windows beyond so many bytes count as if no cache held them.
    pub(super) window_limit: f64,
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
        CpuTime {
            cores: Cores::new(program, cone, (size, steps), facts.cores, kinds(&body)),
            operations: counts(program),
            body,
            cpu: cpu.clone(),
            t_sync_s: calibration.t_sync_s.value,
            word_bytes: program.fields.iter().map(|field| field.element.bytes()).max().unwrap_or(4) as f64,
            near_bytes: near_bytes(facts),
            last_bytes: last_bytes(facts),
            estimated,
            window_limit: f64::INFINITY,
        }
    }

    /// The program on its cores: what counts depend on.
    pub fn cores(&self) -> &Cores {
        &self.cores
    }

    /// Whether the costs of the stencil's rows are an estimate from those of another stencil.
    pub fn estimated(&self) -> bool {
        self.estimated
    }

    /// Threads that work.
    pub fn threads(&self) -> i64 {
        self.cores.threads
    }

    /// Seconds of a launch, of a line from memory, and of a call.
    pub fn constants(&self) -> (f64, f64, f64) {
        (self.t_sync_s, self.body.memory_line_s, self.body.call_s)
    }

    /// `C_iter`: seconds of one point of one statement in full blocks of the cheapest kind, on one core.
    pub fn point_s(&self) -> f64 {
        let points: f64 = self.cores.code.iter().map(RowCode::points).sum();
        self.ideal_s() * self.cores.threads as f64 / (points * self.cores.steps as f64).max(1.0)
    }

    /// The prediction for tile sizes of a strategy.
    ///
    /// # Errors
    /// Why they cannot be counted, as half a sentence.
    pub fn predict(&self, strategy: &'static dyn Strategy, tile: &TileSizes) -> Result<Prediction, String> {
        forms(strategy).on_cores(&self.cores, tile).map(|counts| self.time(&counts))
    }

    /// The prediction for these counts.
    pub fn time(&self, counts: &CoreCounts) -> Prediction {
        match counts {
            CoreCounts::Tiles(outer, inner) => self.combine(outer, inner),
            CoreCounts::Sweeps(sweeps) => self.sweep(sweeps),
            CoreCounts::Diagonals(diagonals) => self.diagonals(diagonals),
        }
    }

    /// The time of tiles on diagonals, one diagonal after the other:
    ///
    /// ```text
    /// share = sum over diagonals of ceil(tiles / threads) / all tiles
    /// T     = diagonals * T_sync + share * (calls and runs of all tiles + positions + lines moved) + call * empty / threads
    /// ```
    ///
    /// Each tile counts as the mean of all: on the first and the last diagonals, which have fewer tiles than there are
    /// threads, and of those that are cut off. Tiles that are looked at and have no points cost a call each.
    pub(super) fn diagonals(&self, diagonals: &Diagonals) -> Prediction {
        let Prediction { terms, .. } = self.combine(&diagonals.busiest(), &Inner::ONCE);
        let positions: f64 =
            self.positions_s(diagonals).iter().map(|(positions, each)| positions * each).sum();
        let terms = Terms {
            compute: terms.compute + positions,
            barrier: terms.barrier + self.empty_s(diagonals),
            ..terms
        };
        Prediction { seconds: terms.sum(), terms, ideal_s: self.ideal_in_order_s(diagonals) }
    }

    /// Positions of the busiest thread and seconds of each, by statement.
    pub(super) fn positions_s(&self, diagonals: &Diagonals) -> Vec<(f64, f64)> {
        let seconds = order::positions_s(&self.cores.program, &self.operations, diagonals.lines);
        diagonals.positions.iter().map(|own| own * diagonals.share()).zip(seconds).collect()
    }

    /// Seconds in which a thread passes over tiles without points.
    pub(super) fn empty_s(&self, diagonals: &Diagonals) -> f64 {
        diagonals.empty / self.cores.threads as f64 * self.body.call_s
    }

    /// `T_ideal`, in which points in order fill all lines of all positions.
    fn ideal_in_order_s(&self, diagonals: &Diagonals) -> f64 {
        let seconds = order::positions_s(&self.cores.program, &self.operations, diagonals.lines);
        let step = |(k, code): (usize, &RowCode)| match self.cores.program.in_order(k) {
            true => code.points() / diagonals.lines as f64 * seconds[k],
            false => code.points() * self.least_point_s(code),
        };
        let step: f64 = self.cores.code.iter().enumerate().map(step).sum();
        step * self.cores.steps as f64 / self.cores.threads as f64
    }

    /// The time of launches that go over the whole grid, in every step the same:
    ///
    /// ```text
    /// steps * sum of ( T_sync + share * (calls + runs + blocks + lines * line_s(stored / threads)) )
    /// ```
    ///
    /// Every sweep moves each line that it reads or writes from wherever the grid lies; [`CpuCalibration::line_s`] is
    /// what such a line costs beyond the same rows in a cache.
    pub(super) fn sweep(&self, sweeps: &[Sweep]) -> Prediction {
        let mut terms = Terms::default();
        let line_s = self.sweep_line_s();
        for sweep in sweeps {
            let mut seconds = 0.0;
            for runs in &sweep.runs {
                for (run, costs) in runs.iter().zip(&self.body.runs) {
                    seconds += run * (sweep.pieces * costs.run_s + sweep.blocks * costs.block_s);
                }
            }
            let share = sweep.share;
            terms.compute += share * (seconds + sweep.short * self.body.point_s);
            terms.barrier += share * sweep.boxes * self.body.call_s;
            terms.transfer += share * sweep.points * sweep.sweep_bytes / LINE_BYTES * line_s;
            terms.launch += self.t_sync_s;
        }
        let steps = self.cores.steps as f64;
        let terms = Terms {
            compute: steps * terms.compute,
            transfer: steps * terms.transfer,
            barrier: steps * terms.barrier,
            launch: steps * terms.launch,
        };
        Prediction { seconds: terms.sum(), terms, ideal_s: self.ideal_s() }
    }

    /// Seconds per line of a sweep over the whole grid.
    pub(super) fn sweep_line_s(&self) -> f64 {
        self.cpu.line_s(self.grid_bytes() / self.cores.threads as f64)
    }

    /// Bytes that a thread works on at a time: the window of a sub-tile, or its share of the grid.
    pub fn working_set_bytes(&self, counts: &CoreCounts) -> f64 {
        match counts {
            CoreCounts::Tiles(outer, inner) => self.window_bytes(outer, inner),
            CoreCounts::Diagonals(diagonals) => self.window_bytes(&diagonals.all, &Inner::ONCE),
            CoreCounts::Sweeps(_) => self.grid_bytes() / self.cores.threads as f64,
        }
    }

    /// Bytes of all stored levels of the whole grid.
    fn grid_bytes(&self) -> f64 {
        self.cores.stored_bytes * self.cores.size.iter().map(|&extent| extent as f64).product::<f64>()
    }

    /// The prediction from its two parts: what the outer dimension and time decide, and what the inner dimensions.
    pub fn combine(&self, outer: &Outer, inner: &Inner) -> Prediction {
        let rows = outer.calls * inner.calls;
        let mut compute = outer.points * inner.points * self.body.point_s;
        for (v, run) in self.body.runs.iter().enumerate() {
            compute += outer.runs[v] * inner.runs * run.run_s + outer.blocks[v] * inner.blocks * run.block_s;
        }
        let Moved { again, line_s, visited } = self.moved(outer, inner);
        let swept = (outer.touched * self.body.memory_line_s + again * line_s) * inner.area;
        let transfer = (swept + self.body.line_part * visited * self.cpu.visit_line_s) / LINE_BYTES;
        let terms = Terms {
            compute,
            transfer,
            barrier: rows * self.body.call_s,
            launch: outer.wavefronts * self.t_sync_s,
        };
        Prediction { seconds: terms.sum(), terms, ideal_s: self.ideal_s() }
    }

    /// What moves beside the lines that a tile touches.
    pub(super) fn moved(&self, outer: &Outer, inner: &Inner) -> Moved {
        let window = self.window_bytes(outer, inner);
        // What a row reads was written by the row before: nothing else lies between the two.
        let between = outer.extent * inner.row_extent * self.cores.stored_bytes;
        let far = 1.0 - (self.near_bytes / window).min(1.0);
        let between = if window <= self.window_limit { between } else { f64::INFINITY };
        // Operations hide lines of a cache, not those of memory: there its bandwidth decides.
        let of_memory = 1.0 - (self.last_bytes / between).min(1.0);
        let shown = of_memory + (1.0 - of_memory) * self.body.line_part;
        Moved {
            // Of what the rows sweep over, the first time counts as touched.
            again: (outer.swept - outer.touched).max(0.0),
            line_s: shown * self.cpu.line_s(between),
            visited: (outer.visited + outer.points * inner.visits * self.cores.touched_bytes) * far,
        }
    }

    /// A core's share of the cache before the last one, in bytes; infinite where there is none.
    pub fn near_cache_bytes(&self) -> f64 {
        self.near_bytes
    }

    /// A core's share of the last cache, in bytes; infinite where there is none.
    pub fn last_cache_bytes(&self) -> f64 {
        self.last_bytes
    }

    /// Bytes that a sub-tile works on at a time.
    pub fn window_bytes(&self, outer: &Outer, inner: &Inner) -> f64 {
        outer.extent * inner.extent * self.cores.stored_bytes
    }

    /// A time that no width, and no choice of inner sizes with these components or larger ones, goes below, with so many
    /// wavefronts: all points in blocks of the cheapest kind on evenly loaded threads, and every wavefront's launch. It
    /// looks at no single tile.
    pub fn lower_bound(&self, wavefronts: f64, least: &Inner) -> f64 {
        let rows = |code: &RowCode| (code.domain[0].1 - code.domain[0].0).max(0) as f64;
        let per_row = |code: &RowCode| {
            let cost = |&(at_once, v): &(i64, usize)| {
                let run = &self.body.runs[v];
                (least.runs * run.run_s + least.blocks * run.block_s) / at_once as f64
            };
            code.variants.iter().map(cost).fold(f64::INFINITY, f64::min)
        };
        if self.cores.dimension() == 1 {
            return wavefronts * self.t_sync_s;
        }
        let step: f64 = self.cores.code.iter().map(|code| rows(code) * per_row(code)).sum();
        step * self.cores.steps as f64 / self.cores.threads as f64 + wavefronts * self.t_sync_s
    }

    /// `T_ideal`: all iterations in full blocks of the widest kind, on all threads.
    fn ideal_s(&self) -> f64 {
        let step: f64 = self.cores.code.iter().map(|code| code.points() * self.least_point_s(code)).sum();
        step * self.cores.steps as f64 / self.cores.threads as f64
    }

    /// Seconds of a point in full blocks of the cheapest kind.
    fn least_point_s(&self, code: &RowCode) -> f64 {
        let cost = |&(rows, v): &(i64, usize)| self.body.runs[v].block_s / (rows * code.block) as f64;
        code.variants.iter().map(cost).fold(f64::INFINITY, f64::min)
    }
}

/// What rows of tiles move.
pub(super) struct Moved {
    /// Bytes per inner point that rows sweep over once more.
    pub again: f64,
    /// Seconds per line of them: next to nothing where the cache before the last one holds the window.
    pub line_s: f64,
    /// Bytes that have left the cache before the last one since the sub-tile before.
    pub visited: f64,
}

/// The kinds of runs, by what they take.
pub(super) fn kinds(body: &BodyCosts) -> Vec<Kind> {
    body.runs.iter().map(|run| Kind { rows: run.rows, weights: (run.run_s, run.block_s) }).collect()
}

/// A core's share of the cache before the last one.
fn near_bytes(facts: &CpuFacts) -> f64 {
    let last = facts.caches.iter().map(|cache| cache.level).max().unwrap_or(1);
    let before = facts.caches.iter().filter(|cache| cache.level < last).max_by_key(|cache| cache.level);
    before.map_or(f64::INFINITY, |cache| 1024.0 * cache.kb / cache.shared_by.max(1) as f64)
}

/// A core's share of the last cache.
fn last_bytes(facts: &CpuFacts) -> f64 {
    let last = facts.caches.iter().max_by_key(|cache| cache.level);
    last.map_or(f64::INFINITY, |cache| 1024.0 * cache.kb / cache.shared_by.max(1) as f64)
}
