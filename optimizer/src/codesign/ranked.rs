//! The candidates of a stencil under a strategy in order of density, for all designs that have the same lanes.
//!
//! With `density = sum over statements of max(io, compute) / iterations` (seconds per iteration of a multiprocessor that
//! never waits twice), every tile and every `k` has
//!
//! ```text
//! T >= iterations * density / n_SM          because N_w * w * q * (iterations of a full sub-tile) >= iterations,
//! E >= iterations * (energy per iteration of full tiles) + P_static * T
//! ```
//!
//! Where the candidates are for one execution, the density is that of the whole of it, so that both hold by definition:
//! `sum over kernels of N_w * w * q * max(io, compute) / iterations`.

use super::divisor::Divisor;
use super::threads::{Threads, room};
use super::tiles::{Sizes, TileSpace, TileTable};
use cost_models::constants::{EnergyConstants, TimeConstants};
use cost_models::energy::dynamic;
use cost_models::gpu::{Density, GpuCost, GpuTime, Kernels};
use cost_models::hardware::Hardware;
use hhc_codegen::counts::TileCounts;
use hhc_codegen::strategy::Strategy;
use std::cell::RefCell;
use std::slice;

/// The candidates of a stencil for one number of lanes and one `L`, in order of density.
pub struct Ranked<'a> {
    pub(super) space: &'a TileSpace,
    pub(super) table: &'a TileTable,
    /// By execution: a cache answers more of the words of a smaller grid.
    constants: &'a [Constants],
    pub(super) threads: &'a Threads,
    n_v: i64,
    /// Candidates in order of density: the place of one is its rank.
    pub(super) order: Vec<u32>,
    /// By rank.
    density: Vec<Density>,
    /// By rank, where candidates have one kernel: seconds of the longer and of the shorter one of computing and moving.
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
    tiles: u32,
}

/// Candidates beyond the one that is asked for.
pub(super) const LOOK_AHEAD: usize = 64;

/// The constants of an execution; static power is added per design.
pub type Constants = (TimeConstants, EnergyConstants);

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
        let served = space.only().map_or(constants, |only| &constants[only..=only]);
        let (mut time, mut energy) = served[0];
        for (own, joules) in served {
            time.l_s_per_word = time.l_s_per_word.min(own.l_s_per_word);
            energy.e_glob_j = energy.e_glob_j.min(joules.e_glob_j);
        }
        let model = GpuTime { n_sm: 1, n_v: 1, constants: time };
        let stride = table.tiles.stride;
        let of_entry = |candidate: usize, entry: usize| {
            let counts = table.counts(candidate, entry);
            let parts = model.parts(&counts, 1);
            (Density::of(&parts, &energy, &counts), (parts.io_s(), parts.compute_s()))
        };
        let of_candidate = |candidate: usize| {
            let (first, (io, compute)) = of_entry(candidate, 0);
            let others = (1..stride).map(|entry| of_entry(candidate, entry).0);
            let sum = others
                .fold((first.seconds, first.joules), |sum, own| (sum.0 + own.seconds, sum.1 + own.joules));
            // Each statement has its own share of the iterations, bounded below by `iterations`.
            let density = Density { seconds: sum.0 / stride as f64, joules: sum.1 / stride as f64 };
            (density, (io.max(compute), io.min(compute)))
        };
        let of_execution = |run: usize, candidate: usize| {
            let (mut seconds, mut joules, mut iterations) = (0.0, 0.0, 0.0);
            for entry in 0..stride {
                let counts = space.of_grid(run, candidate, entry).on(&table.counts(candidate, entry));
                let parts = model.parts(&counts, 1);
                let sub_tiles = (counts.tiles_per_wavefront * counts.sub_tiles) as f64;
                seconds += parts.wavefronts * sub_tiles * parts.io_s().max(parts.compute_s());
                joules += dynamic(&counts, &energy).sum();
                iterations += counts.total_iterations as f64;
            }
            (Density { seconds: seconds / iterations, joules: joules / iterations }, (0.0, 0.0))
        };
        let of = |candidate: usize| match space.only() {
            Some(run) => of_execution(run, candidate),
            None => of_candidate(candidate),
        };
        let each: Vec<(Density, (f64, f64))> = (0..space.len()).map(of).collect();
        let mut order: Vec<(f64, u32)> = each.iter().zip(0..).map(|(own, at)| (own.0.seconds, at)).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let order: Vec<u32> = order.into_iter().map(|(_, candidate)| candidate).collect();
        let density = order.iter().map(|&candidate| each[candidate as usize].0).collect();
        let parts = match stride {
            1 if space.only().is_none() => {
                order.iter().map(|&candidate| each[candidate as usize].1).collect()
            }
            _ => Vec::new(),
        };
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

    /// Seconds that no number of resident tiles goes below on `n_sm` multiprocessors, without the counts of the tile; `None` where
    /// it has several kernels, or is for one execution. See [`GpuCost::seconds_with_any_k`].
    #[inline]
    pub(super) fn least_seconds(&self, run: usize, rank: u32, n_sm: Divisor) -> Option<f64> {
        if self.parts.is_empty() {
            return None;
        }
        let mut near = self.near[run].borrow_mut();
        if near.len() <= rank as usize {
            self.look_on(run, rank as usize, &mut near);
        }
        let Near { per_round_s, once_s, tiles } = near[rank as usize];
        Some(once_s + per_round_s * f64::from(n_sm.ceil(tiles)))
    }

    /// Looks at the candidates up to a rank, and at some more.
    #[cold]
    fn look_on(&self, run: usize, rank: usize, near: &mut Vec<Near>) {
        let t_sync_s = self.constants[run].0.t_sync_s;
        let grid = self.space.near(run);
        let end = (rank + rank / 8 + LOOK_AHEAD).min(self.order.len());
        let from = near.len();
        let of = |(&candidate, &(longer, shorter)): (&u32, &(f64, f64))| {
            let [wavefronts, tiles, sub_tiles] = grid[candidate as usize];
            let launches = f64::from(wavefronts);
            Near {
                per_round_s: launches * longer * f64::from(sub_tiles),
                once_s: launches * (t_sync_s + shorter),
                tiles,
            }
        };
        near.extend(self.order[from..end].iter().zip(&self.parts[from..end]).map(of));
    }

    /// Joules of an iteration, wherever its words are.
    pub(super) fn e_iter_j(&self) -> f64 {
        self.constants[0].1.e_iter_j
    }

    pub(super) fn entries(&self, candidate: usize) -> Kernels<TileCounts> {
        Kernels::of(self.table.tiles.stride, |entry| self.table.counts(candidate, entry))
    }

    /// The threads that the tables are for.
    #[inline]
    pub(super) fn filling(&self) -> i64 {
        self.threads.filling(self.n_v)
    }

    /// The best number of threads for `k` blocks of a candidate; `None` where no number fits.
    #[inline]
    pub(super) fn threads(&self, tiles: &[TileCounts], k: i64, hardware: &Hardware) -> Option<i64> {
        if self.space.has_threads() {
            let fits = |own: &TileCounts| own.threads <= room(slice::from_ref(own), k, hardware);
            return self.own_threads(tiles).filter(|_| tiles.iter().all(fits));
        }
        self.threads.best(self.n_v, room(tiles, k, hardware))
    }

    /// The threads of a candidate that has some of its own, those of its largest kernel; `None` where blocks may not have so many.
    pub(super) fn own_threads(&self, tiles: &[TileCounts]) -> Option<i64> {
        let own = tiles.iter().map(|counts| counts.threads).max()?;
        self.threads.numbers().binary_search(&own).is_ok().then_some(own)
    }

    /// The counts of a candidate, `tiles`, with another number of threads; one that has some of its own keeps them.
    #[inline]
    pub(super) fn with_threads(
        &self,
        candidate: usize,
        tiles: &Kernels<TileCounts>,
        threads: i64,
    ) -> Kernels<TileCounts> {
        if self.space.has_threads() {
            return tiles.clone();
        }
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

    /// Whether the candidates are for an execution.
    #[inline]
    pub fn serves(&self, run: usize) -> bool {
        self.space.serves(run)
    }

    /// Whether the closed-form rule knows a face of the candidates.
    pub(super) fn has_faces(&self) -> bool {
        self.space.sizes().first().is_some_and(|sizes| self.space.face(sizes).is_some())
    }

    /// What a density is per: iterations of the statement that has the fewest, times the number of statements with tiles of
    /// their own; of candidates for one execution, all of its iterations.
    pub fn iterations(&self, run: usize) -> f64 {
        let stride = self.table.tiles.stride;
        let of = |entry: usize| self.space.of_grid(run, 0, entry).total_iterations;
        if self.space.only().is_some() {
            return (0..stride).map(of).sum::<i64>() as f64;
        }
        (0..stride).map(of).min().unwrap_or(0) as f64 * stride as f64
    }

    /// The counts of a candidate in execution `run`.
    pub(super) fn counts(&self, run: usize, candidate: usize) -> Kernels<TileCounts> {
        let grid = |entry| self.space.of_grid(run, candidate, entry);
        Kernels::of(self.table.tiles.stride, |entry| grid(entry).on(&self.table.counts(candidate, entry)))
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
