//! What tilings cost, measured on this computer.

use super::candidates::Candidate;
use super::uses::Use;
use crate::error::{Error, Result};
use crate::load::Stencil;
use execution::initial;
use execution::layout::Layout;
use execution::reference::default_parameters;
use execution::tiled;
use hhc_codegen::KernelPlan;
use hhc_codegen::backend::openmp;
use hhc_codegen::plan_counts::steps_of_tile;
use hhc_codegen::strategy;
use std::time::Instant;
use toolchain::interrupt;

/// Seconds that all measurements may take, about.
const BUDGET_S: f64 = 60.0;
/// Passes over all uses, at least and at most; in each all tilings that matter run in turn. The least time of each counts. Between
/// the runs of one use all others run, so that what slows a processor down for some seconds does not decide about a use.
const PASSES: (usize, usize) = (2, 7);
/// Seconds that are timed at a time, at least: shorter calls are repeated.
const LEAST_S: f64 = 2e-3;
/// Seconds of one call beyond which fewer steps are timed: so many times the steps of the tallest tile.
const LONG_S: f64 = 0.1;
const TALL_TILES: i64 = 2;
/// Who takes so many times as long as the best is not timed again.
const BEHIND: f64 = 1.3;
/// In a first pass processors come to speed: only where its runs take this part of the budget, who is behind drops out.
const DEAR_RUNS: f64 = 0.3;

/// Seconds of a call: `costs[candidate][use]`.
///
/// # Errors
/// A compiler that is missing; grids that do not fit into memory; an interruption.
pub fn measured(
    stencil: &Stencil,
    candidates: &[Candidate],
    uses: &[Use],
    progress: &dyn Fn(i64),
) -> Result<Vec<Vec<f64>>> {
    let program = &stencil.program;
    let analysis = stencil.analysis()?;
    let plan = |one: &Candidate| strategy::plan(one.strategy, program, &analysis.cone, &one.tile);
    let plans: Vec<KernelPlan> = candidates.iter().map(plan).collect::<std::result::Result<_, _>>()?;
    let tiled = tiled::load_side_by_side(&plans, false, &|_| ())?;
    let tallest = plans.iter().map(steps_of_tile).max().unwrap_or(1);
    let parameters = default_parameters(program);
    let mut costs = vec![vec![f64::INFINITY; uses.len()]; candidates.len()];
    let mut timed: Vec<Timed> = Vec::new();
    let dear = DEAR_RUNS * BUDGET_S / uses.len().max(1) as f64;
    let start = Instant::now();
    for pass in 0..PASSES.1 {
        if pass >= PASSES.0 && start.elapsed().as_secs_f64() > BUDGET_S {
            break;
        }
        for (at, own) in uses.iter().enumerate() {
            if timed.get(at).is_some_and(|timed| timed.like.is_some() || timed.rest.len() < 2) {
                continue;
            }
            // Copies, which have padded rows, are made before anything is chosen.
            let copied = openmp::runs_in_copy(program, &own.size, own.steps);
            let layout = if copied { Layout::padded } else { Layout::dense }(program, &own.size)?;
            let mut data = initial::random(program, layout, own.steps, 1).map_err(|error| {
                Error::from(error)
                    .hint("leave out the largest sizes, or use --tile-by model, which measures nothing")
            })?;
            let mut run = |one: usize, steps: i64, calls: u32| -> Result<f64> {
                interrupt::check()?;
                let native = &tiled[one].native;
                native.library().set_threads(usize::try_from(own.threads).unwrap_or(1));
                let start = Instant::now();
                for _ in 0..calls {
                    native.run(program, &parameters, &mut data, steps)?;
                }
                Ok(start.elapsed().as_secs_f64() / f64::from(calls))
            };
            if pass == 0 {
                // So many steps that tall tiles are whole, where all of them take long.
                let whole = (TALL_TILES * tallest).max(16).min(own.steps);
                let touched = run(0, whole, 1)?;
                let long = touched * own.steps as f64 > LONG_S * whole as f64;
                let steps = if long { whole } else { own.steps };
                let same = |other: &usize| {
                    (&uses[*other].size, uses[*other].threads) == (&own.size, own.threads)
                        && timed[*other].steps == steps
                };
                let like = (0..at).find(same);
                let once = if like.is_some() || touched > LONG_S { touched } else { run(0, steps, 1)? };
                let calls = (LEAST_S / once.max(1e-9)).ceil().clamp(1.0, 1e6) as u32;
                timed.push(Timed { steps, calls, rest: (0..tiled.len()).collect(), like });
                if like.is_some() {
                    continue;
                }
            } else {
                run(0, timed[at].steps, 1)?;
            }
            let Timed { steps, calls, ref mut rest, .. } = timed[at];
            let begun = Instant::now();
            for &one in &*rest {
                let seconds = run(one, steps, calls)? * own.steps as f64 / steps as f64;
                costs[one][at] = costs[one][at].min(seconds);
            }
            if pass > 0 || begun.elapsed().as_secs_f64() > dear {
                let best = rest.iter().map(|&one| costs[one][at]).fold(f64::INFINITY, f64::min);
                rest.retain(|&one| costs[one][at] <= BEHIND * best);
            }
            progress(((pass * uses.len() + at + 1) / PASSES.1) as i64);
        }
    }
    for (at, timed) in timed.iter().enumerate() {
        if let Some(like) = timed.like {
            let times = uses[at].steps as f64 / uses[like].steps as f64;
            costs.iter_mut().for_each(|costs| costs[at] = costs[like] * times);
        }
    }
    Ok(costs)
}

/// How a use is timed.
struct Timed {
    /// So many steps.
    steps: i64,
    /// In so many calls at a time.
    calls: u32,
    /// The candidates that are not far behind.
    rest: Vec<usize>,
    /// An earlier use of the same grid and threads, of whose calls as many steps are timed: a long call costs what its steps cost.
    like: Option<usize>,
}
