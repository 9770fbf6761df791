//! The tile sizes of a stencil under a strategy, tabulated for a search over hardware.
//!
//! Counts of a tile fall into three groups, each tabulated as often as it changes and not more:
//!
//! ```text
//! words, iterations, bytes, registers      per stencil                TileSpace
//! lane rounds                              per stencil and lanes      TileTable
//! wavefronts, tiles, sub-tiles             per stencil and grid       OnGrid
//! ```
//!
//! so that `n_SM`, `M_SM` and the budgets vary without a new table. Tables are kept: all sweeps and questions of a study use the
//! same. A strategy whose counts depend on the grid has a space for each execution ([`Tabulated::GridByGrid`]).

use hhc_codegen::counts::{
    Candidates, Limits, Multiprocessor, OfGrid, OnGrid, Problem, Run, Tabulated, TileCounts, forms,
};
use hhc_codegen::strategy::Strategy;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::slice;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use hhc_codegen::counts::Sizes;

/// Candidates of a stencil: some 3 GB of tables.
pub const MOST_TILES: usize = 12_000_000;

/// Lane rounds that a space keeps, for all numbers of lanes together: 128 MB.
const MOST_KEPT: usize = 1 << 24;

/// The candidates of a stencil under a strategy, and the grids that they are for.
#[derive(Debug, Clone)]
pub struct TileSpace {
    /// The strategy.
    pub strategy: &'static dyn Strategy,
    /// The execution that they are for; `None`: all.
    only: Option<usize>,
    candidates: Arc<dyn Candidates>,
    tiles: Arc<Tiles>,
    grids: Vec<Arc<dyn OnGrid>>,
    /// By execution, then by candidate: what bounds need of the grid, which no design changes.
    near: Arc<Vec<OnceLock<Vec<NearGrid>>>>,
    /// By lanes.
    rounds: Arc<Mutex<BTreeMap<i64, Arc<Vec<i64>>>>>,
}

/// Wavefronts, tiles of the fullest one, and sub-tiles of each; as many as fit 32 bits, so that a table stays in a cache.
pub type NearGrid = [u32; 3];

/// There are more candidates than may be tabulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany;

/// What no number of lanes changes.
#[derive(Debug)]
pub struct Tiles {
    /// `stride` entries per candidate: one, or one for each kind of tile that is launched on its own. Those of the grid are of no grid
    /// in particular, lane rounds those of one lane.
    pub counts: Vec<TileCounts>,
    /// Entries per candidate.
    pub stride: usize,
    /// Where all entries need the same registers, have no threads of their own, and each candidate has one.
    pub alike: Option<Alike>,
}

/// Candidates that differ in shared memory alone, as far as it matters how many fit.
#[derive(Debug)]
pub struct Alike {
    /// By candidate: bytes of shared memory.
    pub bytes: Vec<i64>,
    /// The same, ascending.
    pub ascending: Vec<i64>,
}

/// Counts of all candidates for one number of lanes.
#[derive(Debug, Clone)]
pub struct TileTable {
    /// What no number of lanes changes.
    pub tiles: Arc<Tiles>,
    /// By entry.
    pub lane_rounds: Arc<Vec<i64>>,
    /// Lanes that rows are dealt to.
    pub lanes: i64,
}

impl TileTable {
    /// An entry of a candidate.
    #[inline]
    pub fn counts(&self, candidate: usize, entry: usize) -> TileCounts {
        let index = candidate * self.tiles.stride + entry;
        TileCounts { lane_rounds: self.lane_rounds[index], ..self.tiles.counts[index] }
    }
}

impl Tiles {
    fn new(candidates: &dyn Candidates) -> Tiles {
        let counts = candidates.counts();
        let stride = candidates.classes();
        let alike = stride == 1
            && !candidates.has_threads()
            && counts.windows(2).all(|pair| pair[0].registers == pair[1].registers);
        let alike = alike.then(|| {
            let bytes: Vec<i64> = counts.iter().map(|counts| counts.tile_bytes).collect();
            let mut ascending = bytes.clone();
            ascending.sort_unstable();
            Alike { bytes, ascending }
        });
        Tiles { counts, stride, alike }
    }
}

impl Alike {
    /// The sum over all candidates of the number of tiles that a multiprocessor has room for, `limit` at most: of `k` of them
    /// all that need no more than `room(k)` bytes have room.
    pub fn pairs(&self, limit: i64, room: impl Fn(i64) -> i64) -> u64 {
        let without = self.ascending.partition_point(|&bytes| bytes <= 0);
        let of = |k: i64| self.ascending.partition_point(|&bytes| bytes <= room(k)).max(without);
        (1..=limit).map(|k| of(k) as u64).sum()
    }
}

impl TileSpace {
    /// Lists the candidates: all tile sizes whose window fits `limits`, no larger than the largest grid needs, for multiprocessors
    /// like `on` with any number of lanes. One space, or some for each execution; none where the strategy cannot tile the stencil,
    /// or has no tables.
    ///
    /// # Errors
    /// [`TooMany`] where there are more than `limits` allow.
    pub fn all(
        strategy: &'static dyn Strategy,
        problem: &Problem,
        runs: &[Run],
        limits: Limits,
        on: &Multiprocessor,
    ) -> Result<Vec<TileSpace>, TooMany> {
        if strategy.takes(&problem.program, &problem.cone).is_err() {
            return Ok(Vec::new());
        }
        let forms = forms(strategy);
        let of = |runs: &[Run], only: Option<usize>| -> Vec<TileSpace> {
            let tables = forms.candidates(problem, runs, limits, on).into_iter();
            tables.map(|table| TileSpace::new(strategy, problem, runs, only, table.into())).collect()
        };
        let spaces: Vec<TileSpace> = match forms.tabulated() {
            None => Vec::new(),
            Some(Tabulated::ForAllGrids) => of(runs, None),
            Some(Tabulated::GridByGrid) => {
                let each: Vec<Vec<TileSpace>> = runs
                    .par_iter()
                    .enumerate()
                    .map(|(run, own)| of(slice::from_ref(own), Some(run)))
                    .collect();
                each.concat()
            }
        };
        if spaces.iter().map(TileSpace::len).sum::<usize>() > limits.tiles {
            return Err(TooMany);
        }
        Ok(spaces)
    }

    fn new(
        strategy: &'static dyn Strategy,
        problem: &Problem,
        runs: &[Run],
        only: Option<usize>,
        candidates: Arc<dyn Candidates>,
    ) -> TileSpace {
        let grid = |run: &Run| candidates.on_grid(&problem.with_size(&run.size, run.steps)).into();
        let grids = runs.iter().map(grid).collect();
        let near = Arc::new(runs.iter().map(|_| OnceLock::new()).collect());
        let tiles = Arc::new(Tiles::new(&*candidates));
        TileSpace { strategy, only, candidates, tiles, grids, near, rounds: Arc::default() }
    }

    /// Whether the candidates are for an execution.
    #[inline]
    pub fn serves(&self, run: usize) -> bool {
        self.only.is_none_or(|only| only == run)
    }

    /// The execution that the candidates are for; `None`: all.
    pub fn only(&self) -> Option<usize> {
        self.only
    }

    /// Whether each candidate has a number of threads of its own.
    pub fn has_threads(&self) -> bool {
        self.candidates.has_threads()
    }

    /// The place of an execution that they serve among their grids.
    #[inline]
    fn place(&self, run: usize) -> usize {
        if self.only.is_some() { 0 } else { run }
    }

    /// Tile sizes, in the order of the tables.
    pub fn sizes(&self) -> &[Sizes] {
        self.candidates.sizes()
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.sizes().len()
    }

    /// Whether no tile fits.
    pub fn is_empty(&self) -> bool {
        self.sizes().is_empty()
    }

    /// The counts of all candidates for a number of lanes.
    pub fn table(&self, lanes: i64) -> TileTable {
        let kept = || self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().get(&lanes).cloned();
        let lane_rounds = known.unwrap_or_else(|| {
            let made = Arc::new(self.candidates.all_lane_rounds(lanes));
            let mut kept = kept();
            if (kept.len() + 1) * made.len() > MOST_KEPT {
                kept.clear();
            }
            kept.insert(lanes, made.clone());
            made
        });
        TileTable { tiles: self.tiles.clone(), lane_rounds, lanes }
    }

    /// Lane rounds of entry `entry` of a candidate where its rows are dealt to so many lanes.
    pub fn lane_rounds(&self, candidate: usize, entry: usize, lanes: i64) -> i64 {
        self.candidates.lane_rounds(candidate, entry, lanes)
    }

    /// What grid `run` adds to the counts of entry `entry` of a candidate.
    #[inline]
    pub fn of_grid(&self, run: usize, candidate: usize, entry: usize) -> OfGrid {
        self.grids[self.place(run)].of(candidate, entry)
    }

    /// What bounds need of grid `run`, by candidate: of tiles of one kind. Numbers beyond 32 bits are the largest that has them: a
    /// bound may be lower.
    pub fn near(&self, run: usize) -> &[NearGrid] {
        self.near[self.place(run)].get_or_init(|| {
            let small = |value: i64| u32::try_from(value).unwrap_or(u32::MAX);
            let of = |candidate: usize| {
                let OfGrid { wavefronts, tiles_per_wavefront, sub_tiles, .. } =
                    self.of_grid(run, candidate, 0);
                [wavefronts, tiles_per_wavefront, sub_tiles].map(small)
            };
            (0..self.len()).map(of).collect()
        })
    }

    /// The face of a tile, which the closed form maximises; `None` for tiles that have none.
    pub fn face(&self, sizes: &Sizes) -> Option<i64> {
        self.candidates.face(sizes)
    }

    /// Tile sizes as the command line writes them: `st=4,s0=16,s1=32`.
    pub fn text(&self, sizes: &Sizes) -> String {
        self.candidates.tile(sizes).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codesign::workload::strategies;
    use cost_models::constants::TimeConstants;
    use cost_models::gpu::GpuTime;
    use cost_models::machine;
    use polyhedral::shipped;
    use std::sync::Arc;

    /// Tables and grids together are the closed forms themselves.
    #[test]
    fn tables_equal_the_closed_forms() {
        let on = Multiprocessor { lanes: 96, ..Multiprocessor::ANY };
        for (name, size) in
            [("heat1d", vec![5000]), ("gradient2d", vec![700, 611]), ("heat3d", vec![90, 80, 70])]
        {
            let program = Arc::new(shipped::load(name).unwrap());
            let first = Problem::new(&program, &size, 40).unwrap();
            let other: Vec<i64> = size.iter().map(|n| n + 33).collect();
            let runs = [Run { size, steps: 40 }, Run { size: other.clone(), steps: 77 }];
            for strategy in strategies() {
                let spaces = TileSpace::all(strategy, &first, &runs, limits(MOST_TILES), &on).unwrap();
                assert_eq!(spaces.is_empty(), strategy.takes(&program, &first.cone).is_err(), "{name}");
                let tiles: usize = spaces.iter().map(TileSpace::len).sum();
                assert!(spaces.is_empty() || tiles > 5, "{name} {} {tiles}", strategy.id());
                let second = first.with_size(&other, 77);
                for space in spaces.iter().filter(|space| space.serves(1)) {
                    let table = space.table(on.lanes);
                    for candidate in (0..space.len()).step_by(31) {
                        let tile = space.candidates.tile(&space.sizes()[candidate]);
                        let (family, sizes) = forms(strategy).of_tile(&second, &on, &tile).unwrap();
                        for entry in 0..table.tiles.stride {
                            let counts = &table.counts(candidate, entry);
                            assert_eq!(space.lane_rounds(candidate, entry, on.lanes), counts.lane_rounds);
                            let mut direct = family.forms.counts(entry, sizes);
                            if space.has_threads() {
                                // Lanes without threads do nothing.
                                let on = on.with_lanes(on.lanes.min(direct.threads));
                                let (family, sizes) = forms(strategy).of_tile(&second, &on, &tile).unwrap();
                                direct = family.forms.counts(entry, sizes);
                            } else {
                                direct.registers = counts.registers;
                            }
                            let own = space.of_grid(1, candidate, entry).on(counts);
                            assert_eq!(own, direct, "{name} {tile}");
                        }
                    }
                }
            }
        }
    }

    fn limits(tiles: usize) -> Limits {
        Limits { bytes: 12 * 1024, warp: 32, tiles, time_alone: true }
    }

    /// Of very many tiles in one dimension those are left out that another one is as fast as: on every machine and grid the best of
    /// the others is as fast as the best of all.
    #[test]
    fn tiles_that_are_left_out_are_no_faster() {
        let program = Arc::new(shipped::load("heat1d").unwrap());
        let runs = [(3000, 60), (20_001, 80)].map(|(n, steps)| Run { size: vec![n], steps });
        let problem = Problem::new(&program, &runs[0].size, runs[0].steps).unwrap();
        let hhc = strategies().next().unwrap();
        let of = |tiles: usize| TileSpace::all(hhc, &problem, &runs, limits(tiles), &Multiprocessor::ANY);
        let all = of(MOST_TILES).unwrap().remove(0);
        let fewer = of(all.len() - 1).unwrap().remove(0);
        assert!(fewer.len() * 3 < 2 * all.len(), "{} of {}", fewer.len(), all.len());
        assert_eq!(of(fewer.len() - 1).err(), Some(TooMany));
        let in_power = Limits { time_alone: false, ..limits(all.len() - 1) };
        assert!(TileSpace::all(hhc, &problem, &runs, in_power, &Multiprocessor::ANY).is_err());
        for (case, lanes) in [32, 96, 128, 480, 1024].into_iter().enumerate() {
            let at = |values: [f64; 5]| values[case];
            let time = GpuTime {
                n_sm: [1, 7, 16, 84, 132][case],
                n_v: lanes,
                constants: TimeConstants {
                    l_s_per_word: at([3e-10, 1e-12, 2e-11, 1e-9, 5e-11]),
                    tau_sync_s: at([1e-9, 1e-10, 8e-10, 0.0, 2e-8]),
                    t_sync_s: at([1e-6, 1e-5, 0.0, 4e-7, 2e-6]),
                    c_iter_s: at([1e-9, 2e-8, 1e-8, 1e-12, 5e-9]),
                    ..TimeConstants::of(&problem, &machine::shipped("gtx980").unwrap().unwrap()).unwrap()
                },
            };
            for run in 0..runs.len() {
                for memory in [3000, 12 * 1024, 24 * 1024] {
                    let least = |space: &TileSpace| {
                        let table = space.table(lanes);
                        let seconds = |candidate: usize| {
                            let counts = space.of_grid(run, candidate, 0).on(&table.counts(candidate, 0));
                            let most_k = (memory / counts.tile_bytes).min(8);
                            (1..=most_k).map(|k| time.seconds(&counts, k)).fold(f64::INFINITY, f64::min)
                        };
                        (0..space.len()).map(seconds).fold(f64::INFINITY, f64::min)
                    };
                    assert_eq!(least(&all), least(&fewer), "{lanes} lanes, run {run}, {memory} bytes");
                }
            }
        }
    }
}
