//! The inner problem: the exactly best tile sizes and `k` of one execution on one design.
//!
//! Candidates are given in ascending order of density (`ranked`): where the bound that follows from it reaches the best
//! value, no later one is better. In between, the sharper bound
//!
//! ```text
//! T >= N_w * ( T_sync + max(io, compute) * q * ceil(w / n_SM) + min(io, compute) )
//! ```
//!
//! spares the loop over `k`.

use super::divisor::Divisor;
use super::fitting::{Fits, Fitting};
use super::ranked::Ranked;
use super::tiles::Sizes;
use super::workload::Objective;
use crate::search::{Bound, Found, Search, Space, search};
use cost_models::gpu::{Density, GpuCost, Kernels};
use hhc_codegen::counts::TileCounts;
use hhc_codegen::strategy::Strategy;
use serde::Serialize;
use std::ops::ControlFlow;

/// The best tile sizes of an execution on a design.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The strategy.
    pub strategy: &'static dyn Strategy,
    /// Tile sizes.
    pub sizes: Sizes,
    /// Tiles that are resident on a multiprocessor together.
    pub k: i64,
    /// Threads of a block.
    pub threads: i64,
    /// `T` in seconds.
    pub seconds: f64,
    /// `E` in joules.
    pub joules: f64,
    /// What the search proved: no candidate has a smaller [`Outcome::value`] than this; the least of the values that it computed
    /// and of the bounds of what it left out.
    pub bound: f64,
}

impl Outcome {
    /// What is minimised.
    pub fn value(&self, objective: Objective) -> f64 {
        objective.cost(self.seconds, self.joules, 1e9)
    }
}

/// How many candidates searches looked at. A candidate is a pair of tile sizes and `k` that fits, with the best number of
/// threads (`threads`).
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

/// Bounds are computed in another order than values; this keeps rounding from excluding an equal one.
const SAFE: f64 = 1.0 - 1e-12;

/// One execution on one design.
struct Execution<'a> {
    ranked: &'a Ranked<'a>,
    run: usize,
    model: &'a GpuCost,
    power_w: Option<f64>,
    objective: Objective,
    fitting: &'a Fitting,
    n_sm: f64,
    sms: Divisor,
    /// Iterations of the execution, and what they need at least wherever their words are, in joules.
    iterations: (f64, f64),
    static_w: f64,
    /// Whether nothing depends on energies.
    time_only: bool,
}

/// A candidate with all its `k`.
struct Tile {
    /// Position in order of density.
    position: u32,
    own: Fits,
    /// Its counts, once a bound needed them.
    counts: Option<Kernels<TileCounts>>,
}

impl Execution<'_> {
    /// The cost, or a bound of it.
    #[inline]
    fn cost(&self, seconds: f64, dynamic_j: f64) -> f64 {
        self.objective.cost(seconds, dynamic_j + self.static_w * seconds, 1e9)
    }
}

impl Space for Execution<'_> {
    type Part = Tile;
    type Place = ();
    /// Position and `k`.
    type Candidate = (u32, u32);
    const BEST_FIRST: bool = false;

    #[inline]
    fn begin(&self, search: &mut Search<'_, Self>) -> ControlFlow<()> {
        for position in 0.. {
            let Some(own) = self.ranked.fits(self.fitting, position as usize) else { break };
            search.part(Tile { position, own, counts: None })?;
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn bound(&self, tile: &mut Tile, enough: f64) -> Bound {
        let Fits { rank, candidate, .. } = tile.own;
        let Density { seconds, joules } = self.ranked.density(rank);
        let (iterations, least_j) = self.iterations;
        let least_s = iterations * seconds / self.n_sm * SAFE;
        let of_rest = self.cost(least_s, least_j);
        if of_rest >= enough {
            return Bound { of_part: of_rest, of_rest };
        }
        let joules = if self.time_only { 0.0 } else { iterations * joules * SAFE };
        if !self.time_only {
            let of_part = self.cost(least_s, joules);
            if of_part >= enough {
                return Bound { of_part, of_rest };
            }
        }
        let seconds = match self.ranked.least_seconds(self.run, rank, self.sms) {
            Some(seconds) => seconds,
            None => {
                let counts = tile.counts.insert(self.ranked.counts(self.run, candidate as usize));
                self.model.seconds_with_any_k(counts)
            }
        };
        let of_part = self.cost(seconds * SAFE, joules);
        Bound { of_part, of_rest }
    }

    fn place(&self, _tile: &Tile) {}

    #[inline]
    fn cut(&self, tile: &mut Tile, search: &mut Search<'_, Self>) -> ControlFlow<()> {
        let (candidate, most_k) = (tile.own.candidate as usize, tile.own.most_k);
        let counts = tile.counts.get_or_insert_with(|| self.ranked.counts(self.run, candidate));
        let dynamic_j = if self.time_only { 0.0 } else { self.model.dynamic_j_of(counts) };
        let mut own: Option<(i64, Kernels<TileCounts>)> = None;
        let mut rounds_before = i64::MAX;
        for k in 1..=most_k {
            // More resident tiles that need as many rounds take longer, from two on; with a limit of power that may help.
            if let ([counts], None) = (&**counts, self.power_w) {
                let rounds = self.model.time.tile_rounds(counts, i64::from(k));
                if k > 2 && rounds == rounds_before {
                    continue;
                }
                rounds_before = rounds;
            }
            let Some(threads) = self.ranked.threads(counts, i64::from(k), &self.model.hardware) else {
                break;
            };
            // Fewer threads take no fewer rounds of lanes than as many as fill them, for which the tables are.
            if self.power_w.is_none() && threads < self.ranked.filling() {
                let least_s = self.model.seconds_of(counts, i64::from(k)) * SAFE;
                if self.cost(least_s, dynamic_j) >= search.enough() {
                    continue;
                }
            }
            let with = match &own {
                Some((known, with)) if *known == threads => with,
                _ => &own.insert((threads, self.ranked.with_threads(candidate, counts, threads))).1,
            };
            let seconds = self.model.seconds_of(with, i64::from(k));
            let too_hot =
                self.power_w.is_some_and(|limit| dynamic_j + self.static_w * seconds > limit * seconds);
            search.candidate((!too_hot).then(|| self.cost(seconds, dynamic_j)), (tile.position, k));
        }
        ControlFlow::Continue(())
    }
}

impl Ranked<'_> {
    /// The exact optimum of execution `run` on the design of `model`; `None` where no tile fits (or none within the power
    /// budget). `effort` grows by what the search looked at. Of equal values, the first in order of density and `k` is
    /// taken.
    pub fn best(
        &self,
        run: usize,
        objective: Objective,
        (model, power_w): (&GpuCost, Option<f64>),
        fitting: &Fitting,
        effort: &mut Effort,
    ) -> Option<Outcome> {
        let time_only = matches!(objective, Objective::Gflops | Objective::Time) && power_w.is_none();
        let iterations = self.iterations(run);
        let least_j = if time_only { 0.0 } else { iterations * self.e_iter_j() * SAFE };
        let execution = Execution {
            ranked: self,
            run,
            model,
            power_w,
            objective,
            fitting,
            iterations: (iterations, least_j),
            n_sm: model.time.n_sm as f64,
            sms: Divisor::new(u32::try_from(model.time.n_sm).unwrap_or(u32::MAX)),
            static_w: model.static_w(),
            time_only,
        };
        let Found { best, bound, evaluated, .. } = search(&execution);
        effort.candidates += fitting.pairs;
        effort.evaluated += evaluated;
        let (_, (position, k)) = best?;
        let candidate = self.fits(fitting, position as usize)?.candidate as usize;
        // With its energy, which searches for time do not compute.
        let counts = self.resident(run, candidate, i64::from(k), &model.hardware)?;
        let seconds = model.seconds_of(&counts, i64::from(k));
        Some(Outcome {
            strategy: self.strategy(),
            sizes: self.space.sizes()[candidate],
            k: i64::from(k),
            threads: counts.iter().map(|own| own.threads).max().unwrap_or(0),
            seconds,
            joules: model.dynamic_j_of(&counts) + model.static_w() * seconds,
            bound,
        })
    }
}
