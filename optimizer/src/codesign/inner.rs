//! The inner problem: the exactly best tile sizes and `k` of one execution on one design.
//!
//! With `density = sum over statements of max(io, compute) / iterations` (seconds per iteration of a multiprocessor that
//! never waits twice), every tile and every `k` has
//!
//! ```text
//! T >= iterations * density / n_SM          because N_w * w * q * (iterations of a full sub-tile) >= iterations,
//! E >= iterations * (energy per iteration of full tiles) + P_static * T
//! ```
//!
//! Candidates are examined in ascending order of density: where the bound on the time reaches the best value, no later
//! one is better, and the search ends with a certificate. In between, the sharper bound
//!
//! ```text
//! T >= N_w * ( T_sync + max(io, compute) * q * w / n_SM )
//! ```
//!
//! spares the loop over `k`.

use super::tiles::{Sizes, TileSpace, TileTable};
use super::workload::Objective;
use cost_models::constants::{EnergyConstants, TimeConstants};
use cost_models::energy::dynamic;
use cost_models::hardware::Hardware;
use cost_models::memory::fits;
use cost_models::time::GpuTime;
use hhc_codegen::counts::TileCounts;
use hhc_codegen::strategy::Strategy;
use serde::Serialize;

/// The best tile sizes of an execution on a design.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The strategy.
    pub strategy: &'static dyn Strategy,
    /// Tile sizes.
    pub sizes: Sizes,
    /// Tiles that are resident on a multiprocessor together.
    pub k: i64,
    /// `T` in seconds.
    pub seconds: f64,
    /// `E` in joules.
    pub joules: f64,
}

impl Outcome {
    /// What is minimised.
    pub fn value(&self, objective: Objective) -> f64 {
        objective.cost(self.seconds, self.joules, 1e9)
    }
}

/// How many candidates searches looked at. A candidate is a pair of tile sizes and `k` that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Effort {
    /// Pairs that fit.
    pub candidates: u64,
    /// Pairs that the model was evaluated for; bounds exclude the others.
    pub evaluated: u64,
}

impl std::ops::AddAssign for Effort {
    fn add_assign(&mut self, other: Effort) {
        self.candidates += other.candidates;
        self.evaluated += other.evaluated;
    }
}

/// The candidates of a stencil for one number of lanes and one `L`, in order of density.
pub struct Ranked<'a> {
    space: &'a TileSpace,
    table: &'a TileTable,
    time: TimeConstants,
    energy: EnergyConstants,
    /// Candidates in order of density.
    order: Vec<u32>,
    /// By candidate: seconds, and joules that do not depend on time, per iteration.
    density: Vec<(f64, f64)>,
}

/// Candidates that fit a multiprocessor, in order of density, each with the largest `k`.
pub struct Fitting {
    list: Vec<(u32, u32)>,
    /// The sum of the largest `k`.
    pairs: u64,
}

/// The design as far as a search depends on it.
#[derive(Debug, Clone, Copy)]
pub struct OnDesign {
    /// `n_SM`
    pub n_sm: i64,
    /// `n_V`
    pub n_v: i64,
    /// `P_static` in watts.
    pub static_w: f64,
    /// Largest power of an execution in watts.
    pub power_w: Option<f64>,
}

impl<'a> Ranked<'a> {
    /// Ranks the candidates.
    pub fn new(
        space: &'a TileSpace,
        table: &'a TileTable,
        time: TimeConstants,
        energy: EnergyConstants,
    ) -> Self {
        // The number of lanes is in the counts already.
        let model = GpuTime { n_sm: 1, n_v: 1, constants: time };
        let statements = table.stride as f64;
        let of_entry = |counts: &TileCounts| {
            let parts = model.parts(counts, 1);
            let per = 1.0 / counts.iterations as f64;
            let words = (counts.words_in + counts.words_out) as f64;
            let joules = energy.e_glob_j * words
                + energy.e_shared_j * counts.fast_words as f64
                + energy.e_sync_j * counts.barriers as f64;
            (parts.io_s().max(parts.compute_s()) * per, joules * per + energy.e_iter_j)
        };
        let of_candidate = |entries: &[TileCounts]| {
            let sum = entries.iter().map(of_entry).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
            // Each statement has its own share of the iterations, bounded below in `bound_s`.
            (sum.0 / statements, sum.1 / statements)
        };
        let density: Vec<(f64, f64)> = table.counts.chunks(table.stride).map(of_candidate).collect();
        let mut order: Vec<u32> = (0..density.len() as u32).collect();
        order.sort_by(|&a, &b| density[a as usize].0.total_cmp(&density[b as usize].0).then(a.cmp(&b)));
        Ranked { space, table, time, energy, order, density }
    }

    fn entries(&self, candidate: usize) -> &[TileCounts] {
        let stride = self.table.stride;
        &self.table.counts[candidate * stride..(candidate + 1) * stride]
    }

    /// The candidates that fit `hardware`; the largest `k` of a candidate is that of its most demanding statement.
    pub fn fitting(&self, hardware: &Hardware) -> Fitting {
        let most = |candidate: u32| {
            let fit =
                |k: i64| self.entries(candidate as usize).iter().all(|counts| fits(counts, k, hardware));
            // What k tiles need grows with k.
            let (mut low, mut high) = (0, hardware.blocks_per_sm);
            while low < high {
                let middle = (low + high + 1) / 2;
                if fit(middle) { low = middle } else { high = middle - 1 }
            }
            low as u32
        };
        let list: Vec<(u32, u32)> = self
            .order
            .iter()
            .map(|&candidate| (candidate, most(candidate)))
            .filter(|(_, k)| *k > 0)
            .collect();
        let pairs = list.iter().map(|(_, k)| u64::from(*k)).sum();
        Fitting { list, pairs }
    }

    /// The least density of any candidate that fits: `(seconds, joules)` per iteration, each for itself.
    pub fn least_density(&self, fitting: &Fitting) -> Option<(f64, f64)> {
        let seconds = fitting.list.first().map(|(candidate, _)| self.density[*candidate as usize].0)?;
        let joules = fitting.list.iter().map(|(candidate, _)| self.density[*candidate as usize].1);
        Some((seconds, joules.fold(f64::INFINITY, f64::min)))
    }

    /// The exact optimum of execution `run`; `None` where no tile fits (or none within the power budget). `effort`
    /// grows by what the search looked at. Of equal values, the first in order of density and `k` is taken.
    pub fn best(
        &self,
        run: usize,
        objective: Objective,
        design: &OnDesign,
        fitting: &Fitting,
        effort: &mut Effort,
    ) -> Option<Outcome> {
        effort.candidates += fitting.pairs;
        let model = GpuTime { n_sm: design.n_sm, n_v: design.n_v, constants: self.time };
        let time_only = matches!(objective, Objective::Gflops | Objective::Time) && design.power_w.is_none();
        let iterations = self.iterations(run);
        let n_sm = design.n_sm as f64;
        let bound =
            |seconds: f64, joules: f64| objective.cost(seconds, joules + design.static_w * seconds, 1e9);
        let mut best: Option<(usize, Outcome)> = None;
        let mut best_value = f64::INFINITY;
        let least_joules = if time_only { 0.0 } else { iterations * self.energy.e_iter_j };
        for &(candidate, most_k) in &fitting.list {
            let candidate = candidate as usize;
            let (seconds, joules) = self.density[candidate];
            let least_s = iterations * seconds / n_sm * SAFE;
            if bound(least_s, least_joules * SAFE) > best_value {
                break;
            }
            if !time_only && bound(least_s, iterations * joules * SAFE) > best_value {
                continue;
            }
            let counts: Counts = self.counts(run, candidate);
            let sharper_s =
                counts.as_slice().iter().map(|counts| self.sharper_bound_s(&model, counts)).sum::<f64>();
            if bound(sharper_s * SAFE, if time_only { 0.0 } else { iterations * joules * SAFE }) > best_value
            {
                continue;
            }
            let joules: f64 = match time_only {
                true => 0.0,
                false => counts.as_slice().iter().map(|counts| dynamic(counts, &self.energy).sum()).sum(),
            };
            for k in 1..=i64::from(most_k) {
                effort.evaluated += 1;
                let seconds: f64 = counts.as_slice().iter().map(|counts| model.seconds(counts, k)).sum();
                let outcome = Outcome {
                    strategy: self.space.strategy,
                    sizes: self.space.sizes()[candidate],
                    k,
                    seconds,
                    joules: joules + design.static_w * seconds,
                };
                let value = outcome.value(objective);
                let too_hot = design.power_w.is_some_and(|limit| outcome.joules > limit * seconds);
                if value < best_value && !too_hot {
                    best_value = value;
                    best = Some((candidate, outcome));
                }
            }
        }
        best.map(|(candidate, outcome)| self.with_energy(run, candidate, design, outcome))
    }

    /// The outcome with its energy, which searches for time do not compute.
    fn with_energy(&self, run: usize, candidate: usize, design: &OnDesign, outcome: Outcome) -> Outcome {
        let counts = self.counts(run, candidate);
        let dynamic: f64 = counts.as_slice().iter().map(|counts| dynamic(counts, &self.energy).sum()).sum();
        Outcome { joules: dynamic + design.static_w * outcome.seconds, ..outcome }
    }

    /// `N_w * (T_sync + max(io, compute) * q * w / n_SM)`
    #[inline]
    fn sharper_bound_s(&self, model: &GpuTime, counts: &TileCounts) -> f64 {
        let parts = model.parts(counts, 1);
        let work = parts.io_s().max(parts.compute_s()) * parts.sub_tiles * counts.tiles_per_wavefront as f64;
        parts.wavefronts * (self.time.t_sync_s + work / model.n_sm as f64)
    }

    /// Iterations of the statement that has the fewest, times the number of statements with tiles of their own.
    pub fn iterations(&self, run: usize) -> f64 {
        let stride = self.table.stride;
        let of = |entry: usize| self.space.of_grid(run, 0, entry).total_iterations;
        (0..stride).map(of).min().unwrap_or(0) as f64 * stride as f64
    }

    fn counts(&self, run: usize, candidate: usize) -> Counts {
        let on = |(entry, counts): (usize, &TileCounts)| self.space.of_grid(run, candidate, entry).on(counts);
        match self.entries(candidate) {
            [one] => Counts::One([on((0, one))]),
            many => Counts::Many(many.iter().enumerate().map(on).collect()),
        }
    }

    /// What the model says in full about tile sizes and `k`; `None` where they are no candidate.
    pub fn details(&self, run: usize, sizes: &Sizes) -> Option<Vec<TileCounts>> {
        let candidate = self.space.sizes().iter().position(|own| own == sizes)?;
        Some(self.counts(run, candidate).as_slice().to_vec())
    }

    /// The strategy of the candidates.
    pub fn strategy(&self) -> &'static dyn Strategy {
        self.space.strategy
    }

    /// Seconds of execution `run` with the tiles that the closed-form rule takes (paper, eq. 6.5): of the compute-bound
    /// ones that fit, the largest `tS1 + tT/2`, of those the one with the most iterations; with the best `k`.
    /// `None` where no tile is compute-bound.
    pub fn closed_form(&self, run: usize, design: &OnDesign, hardware: &Hardware) -> Option<f64> {
        let model = GpuTime { n_sm: design.n_sm, n_v: design.n_v, constants: self.time };
        let compute_bound = |candidate: u32| {
            self.entries(candidate as usize).iter().all(|counts| {
                let parts = model.parts(counts, 1);
                parts.compute_s() >= parts.io_s()
            })
        };
        let face = |candidate: u32| {
            let sizes = self.space.sizes()[candidate as usize];
            (self.space.face(&sizes), self.entries(candidate as usize)[0].iterations)
        };
        let list = self.fitting(hardware).list;
        let chosen =
            list.iter().filter(|(candidate, _)| compute_bound(*candidate)).max_by_key(|(c, _)| face(*c))?;
        Some(self.best_k(run, &model, *chosen))
    }

    /// Seconds of execution `run` with the tile of most iterations of which two fit a multiprocessor, `k = 2`.
    pub fn largest_tile(&self, run: usize, design: &OnDesign, hardware: &Hardware) -> Option<f64> {
        let model = GpuTime { n_sm: design.n_sm, n_v: design.n_v, constants: self.time };
        let list = self.fitting(hardware).list;
        let twice = list.iter().filter(|(_, most_k)| *most_k >= 2);
        let (candidate, _) =
            twice.max_by_key(|(candidate, _)| self.entries(*candidate as usize)[0].iterations)?;
        let counts = self.counts(run, *candidate as usize);
        Some(counts.as_slice().iter().map(|counts| model.seconds(counts, 2)).sum())
    }

    fn best_k(&self, run: usize, model: &GpuTime, (candidate, most_k): (u32, u32)) -> f64 {
        let counts = self.counts(run, candidate as usize);
        let seconds = |k: i64| counts.as_slice().iter().map(|counts| model.seconds(counts, k)).sum::<f64>();
        (1..=i64::from(most_k)).map(seconds).fold(f64::INFINITY, f64::min)
    }

    /// The best outcome for each `k` alone, by `k` from 1; for questions about hyper-threading.
    pub fn by_k(
        &self,
        run: usize,
        objective: Objective,
        design: &OnDesign,
        hardware: &Hardware,
    ) -> Vec<Option<Outcome>> {
        let fitting = self.fitting(hardware);
        let model = GpuTime { n_sm: design.n_sm, n_v: design.n_v, constants: self.time };
        let mut best: Vec<Option<Outcome>> = vec![None; hardware.blocks_per_sm as usize];
        for &(candidate, most_k) in &fitting.list {
            let counts = self.counts(run, candidate as usize);
            let dynamic: f64 =
                counts.as_slice().iter().map(|counts| dynamic(counts, &self.energy).sum()).sum();
            for k in 1..=i64::from(most_k) {
                let seconds: f64 = counts.as_slice().iter().map(|counts| model.seconds(counts, k)).sum();
                let outcome = Outcome {
                    strategy: self.space.strategy,
                    sizes: self.space.sizes()[candidate as usize],
                    k,
                    seconds,
                    joules: dynamic + design.static_w * seconds,
                };
                let place = &mut best[k as usize - 1];
                if place.is_none_or(|old| outcome.value(objective) < old.value(objective)) {
                    *place = Some(outcome);
                }
            }
        }
        best
    }
}

/// Bounds are computed in another order than values; this keeps rounding from excluding an equal one.
const SAFE: f64 = 1.0 - 1e-12;

/// Counts of one statement, without a vector, or of several.
enum Counts {
    One([TileCounts; 1]),
    Many(Vec<TileCounts>),
}

impl Counts {
    #[inline]
    fn as_slice(&self) -> &[TileCounts] {
        match self {
            Counts::One(one) => one,
            Counts::Many(many) => many,
        }
    }
}
