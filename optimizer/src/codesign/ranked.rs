//! The candidates of a stencil under a strategy in order of density, for all designs that have the same lanes.
//!
//! With `density = sum over statements of max(io, compute) / iterations` (seconds per iteration of a multiprocessor that
//! never waits twice), every tile and every `k` has
//!
//! ```text
//! T >= iterations * density / n_SM          because N_w * w * q * (iterations of a full sub-tile) >= iterations,
//! E >= iterations * (energy per iteration of full tiles) + P_static * T
//! ```

use super::threads::{Threads, most_k, room};
use super::tiles::{Sizes, TileSpace, TileTable};
use cost_models::constants::{EnergyConstants, TimeConstants};
use cost_models::gpu::{Density, GpuCost, GpuTime, Kernels};
use cost_models::hardware::Hardware;
use hhc_codegen::counts::TileCounts;
use hhc_codegen::strategy::Strategy;
use std::cell::RefCell;

/// The candidates of a stencil for one number of lanes and one `L`, in order of density.
pub struct Ranked<'a> {
    pub(super) space: &'a TileSpace,
    table: &'a TileTable,
    /// By execution: a cache answers more of the words of a smaller grid.
    constants: &'a [Constants],
    threads: &'a Threads,
    n_v: i64,
    /// Candidates in order of density: the place of one is its rank.
    order: Vec<u32>,
    /// By rank.
    density: Vec<Density>,
    /// By candidate, where it has one kernel: seconds of the longer and of the shorter one of computing and moving.
    parts: Vec<(f64, f64)>,
    /// By execution, then by rank as far as searches have looked: what bounds need of the grid, side by side in the order in which
    /// they ask, for all designs that share the tables.
    near: Vec<RefCell<Vec<Near>>>,
}

/// Bounds of the seconds of an execution with a candidate that has one kernel, whatever `k` is.
#[derive(Debug, Clone, Copy)]
struct Near {
    /// `N_w * max(io, compute) * q`
    per_round_s: f64,
    /// `N_w * (T_sync + min(io, compute))`
    once_s: f64,
    /// `w`
    tiles: u64,
}

/// The constants of an execution; static power is added per design.
pub type Constants = (TimeConstants, EnergyConstants);

/// A candidate that fits a multiprocessor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fits {
    /// Its place in order of density.
    pub rank: u32,
    /// Itself.
    pub candidate: u32,
    /// The largest `k`.
    pub most_k: u32,
}

/// Candidates that fit a multiprocessor, in order of density.
pub struct Fitting {
    pub(super) list: Vec<Fits>,
    /// The sum of the largest `k`.
    pub(super) pairs: u64,
}

/// The design as far as a search depends on it.
#[derive(Debug, Clone)]
pub struct OnDesign {
    /// What limits tiles.
    pub hardware: Hardware,
    /// `P_static` in watts.
    pub static_w: f64,
    /// Largest power of an execution in watts.
    pub power_w: Option<f64>,
}

impl<'a> Ranked<'a> {
    /// Ranks the candidates for multiprocessors of `n_v` lanes. The table is for blocks with as many threads as fill
    /// them, or the most there are: no other number has less of a density.
    pub fn new(
        space: &'a TileSpace,
        table: &'a TileTable,
        constants: &'a [Constants],
        (threads, n_v): (&'a Threads, i64),
    ) -> Self {
        // No execution has less of a density than with the least of each.
        let (mut time, mut energy) = constants[0];
        for (own, joules) in constants {
            time.l_s_per_word = time.l_s_per_word.min(own.l_s_per_word);
            energy.e_glob_j = energy.e_glob_j.min(joules.e_glob_j);
        }
        let model = GpuTime { n_sm: 1, n_v: 1, constants: time };
        let statements = table.stride as f64;
        let of_candidate = |entries: &[TileCounts]| {
            let each = entries.iter().map(|counts| Density::of(&model, &energy, counts));
            let sum = each.fold((0.0, 0.0), |sum, own| (sum.0 + own.seconds, sum.1 + own.joules));
            // Each statement has its own share of the iterations, bounded below by `iterations`.
            Density { seconds: sum.0 / statements, joules: sum.1 / statements }
        };
        let parts = match table.stride {
            1 => (table.counts.iter())
                .map(|counts| {
                    let parts = model.parts(counts, 1);
                    let (io, compute) = (parts.io_s(), parts.compute_s());
                    (io.max(compute), io.min(compute))
                })
                .collect(),
            _ => Vec::new(),
        };
        let density: Vec<Density> = table.counts.chunks(table.stride).map(of_candidate).collect();
        let mut order: Vec<u32> = (0..density.len() as u32).collect();
        let seconds = |candidate: u32| density[candidate as usize].seconds;
        order.sort_by(|&a, &b| seconds(a).total_cmp(&seconds(b)).then(a.cmp(&b)));
        let density = order.iter().map(|&candidate| density[candidate as usize]).collect();
        let near = constants.iter().map(|_| RefCell::default()).collect();
        Ranked { space, table, constants, threads, n_v, order, density, parts, near }
    }

    /// The model of an execution on a design. Static power is the design's own.
    pub fn model(&self, design: &OnDesign, run: usize) -> GpuCost {
        let (constants, energy) = self.constants[run];
        let energy = EnergyConstants { p_static_w: design.static_w, ..energy };
        let Hardware { n_sm, n_v, .. } = design.hardware;
        let time = GpuTime { n_sm, n_v, constants };
        GpuCost { hardware: design.hardware.clone(), time, counted: None, energy: Some(energy) }
    }

    #[inline]
    pub(super) fn density(&self, rank: u32) -> Density {
        self.density[rank as usize]
    }

    /// Seconds that no number of resident tiles goes below, without the counts of the tile; `None` where it has several
    /// kernels. See [`GpuCost::seconds_with_any_k`].
    #[inline]
    pub(super) fn least_seconds(&self, run: usize, rank: u32, model: &GpuCost) -> Option<f64> {
        if self.parts.is_empty() {
            return None;
        }
        let mut near = self.near[run].borrow_mut();
        if near.len() <= rank as usize {
            self.look_on(run, rank as usize, &mut near);
        }
        let Near { per_round_s, once_s, tiles } = near[rank as usize];
        let n_sm = model.time.n_sm as u64;
        Some(once_s + per_round_s * tiles.div_ceil(n_sm) as f64)
    }

    /// Looks at the candidates up to a rank, and at some more.
    #[cold]
    fn look_on(&self, run: usize, rank: usize, near: &mut Vec<Near>) {
        let t_sync_s = self.constants[run].0.t_sync_s;
        let end = (2 * rank).clamp(64, self.order.len().max(64)).max(rank + 1).min(self.order.len());
        let of = |&candidate: &u32| {
            let (longer, shorter) = self.parts[candidate as usize];
            let grid = self.space.of_grid(run, candidate as usize, 0);
            let launches = grid.wavefronts as f64;
            Near {
                per_round_s: launches * longer * grid.sub_tiles as f64,
                once_s: launches * (t_sync_s + shorter),
                tiles: grid.tiles_per_wavefront as u64,
            }
        };
        near.extend(self.order[near.len()..end].iter().map(of));
    }

    /// Joules of an iteration, wherever its words are.
    pub(super) fn e_iter_j(&self) -> f64 {
        self.constants[0].1.e_iter_j
    }

    pub(super) fn entries(&self, candidate: usize) -> &[TileCounts] {
        let stride = self.table.stride;
        &self.table.counts[candidate * stride..(candidate + 1) * stride]
    }

    /// The candidates that fit `hardware`, each with the largest `k` for which blocks of the fewest threads do.
    pub fn fitting(&self, hardware: &Hardware) -> Fitting {
        let fewest = self.threads.fewest();
        // Candidates of equal registers differ in memory alone.
        let mut known: Option<(i64, i64)> = None;
        let mut most = |candidate: u32| {
            let [counts] = self.entries(candidate as usize) else {
                return most_k(self.entries(candidate as usize), fewest, hardware) as u32;
            };
            let limit = match known {
                Some((registers, limit)) if registers == counts.registers => limit,
                _ => {
                    let none = TileCounts { tile_bytes: 0, ..*counts };
                    let limit = most_k(&[none], fewest, hardware);
                    known = Some((counts.registers, limit));
                    limit
                }
            };
            match counts.tile_bytes {
                0 => limit as u32,
                bytes if bytes > hardware.shared_per_block_bytes => 0,
                bytes => limit.min(hardware.m_sm_bytes / (bytes + hardware.shared_reserved_bytes)) as u32,
            }
        };
        let list: Vec<Fits> = (self.order.iter().zip(0..))
            .map(|(&candidate, rank)| Fits { rank, candidate, most_k: most(candidate) })
            .filter(|own| own.most_k > 0)
            .collect();
        let pairs = list.iter().map(|own| u64::from(own.most_k)).sum();
        Fitting { list, pairs }
    }

    /// The threads that the tables are for.
    #[inline]
    pub(super) fn filling(&self) -> i64 {
        self.threads.filling(self.n_v)
    }

    /// The best number of threads for `k` blocks of a candidate; `None` where no number fits.
    #[inline]
    pub(super) fn threads(&self, tiles: &[TileCounts], k: i64, hardware: &Hardware) -> Option<i64> {
        self.threads.best(self.n_v, room(tiles, k, hardware))
    }

    /// The counts of a candidate, `tiles`, with another number of threads.
    #[inline]
    pub(super) fn with_threads(
        &self,
        candidate: usize,
        tiles: &Kernels<TileCounts>,
        threads: i64,
    ) -> Kernels<TileCounts> {
        let lanes = threads.min(self.n_v);
        let same = lanes == self.table.lanes;
        Kernels::of(tiles.len(), |entry| TileCounts {
            threads,
            lane_rounds: match same {
                true => tiles[entry].lane_rounds,
                false => self.space.lane_rounds(candidate, entry, lanes),
            },
            ..tiles[entry]
        })
    }

    /// The counts of a candidate in execution `run`, `k` blocks of it resident with the best number of threads; `None`
    /// where they do not fit.
    pub(super) fn resident(
        &self,
        run: usize,
        candidate: usize,
        k: i64,
        hardware: &Hardware,
    ) -> Option<Kernels<TileCounts>> {
        let tiles = self.counts(run, candidate);
        let threads = self.threads(&tiles, k, hardware)?;
        Some(self.with_threads(candidate, &tiles, threads))
    }

    /// The least density of any candidate that fits: `(seconds, joules)` per iteration, each for itself.
    pub fn least_density(&self, fitting: &Fitting) -> Option<(f64, f64)> {
        let seconds = fitting.list.first().map(|own| self.density(own.rank).seconds)?;
        let joules = fitting.list.iter().map(|own| self.density(own.rank).joules);
        Some((seconds, joules.fold(f64::INFINITY, f64::min)))
    }

    /// Iterations of the statement that has the fewest, times the number of statements with tiles of their own.
    pub fn iterations(&self, run: usize) -> f64 {
        let stride = self.table.stride;
        let of = |entry: usize| self.space.of_grid(run, 0, entry).total_iterations;
        (0..stride).map(of).min().unwrap_or(0) as f64 * stride as f64
    }

    /// The counts of a candidate in execution `run`.
    pub(super) fn counts(&self, run: usize, candidate: usize) -> Kernels<TileCounts> {
        let entries = self.entries(candidate);
        Kernels::of(entries.len(), |entry| self.space.of_grid(run, candidate, entry).on(&entries[entry]))
    }

    /// The counts of tiles of these sizes, with so many threads; `None` where they are no candidate.
    pub fn details(&self, run: usize, sizes: &Sizes, threads: i64) -> Option<Kernels<TileCounts>> {
        let candidate = self.space.sizes().iter().position(|own| own == sizes)?;
        Some(self.with_threads(candidate, &self.counts(run, candidate), threads))
    }

    /// The strategy of the candidates.
    pub fn strategy(&self) -> &'static dyn Strategy {
        self.space.strategy
    }
}
