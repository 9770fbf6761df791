//! What tilings cost, measured on this computer.

use super::candidates::Candidate;
use super::uses::Use;
use crate::error::{Error, Result};
use crate::load::Stencil;
use execution::initial;
use execution::layout::Layout;
use execution::native::NativeProgram;
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
/// Rounds of the tilings in turn, at least and at most: the least time of each counts.
const ROUNDS: (usize, usize) = (2, 7);
/// Seconds that are timed at a time, at least: shorter calls are repeated.
const LEAST_S: f64 = 2e-3;
/// Seconds of one call beyond which fewer steps are timed, where that leaves whole tiles.
const LONG_S: f64 = 0.1;

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
    let tiled = tiled::load_side_by_side(&plans, &|_| ())?;
    let tallest = plans.iter().map(steps_of_tile).max().unwrap_or(1);
    let parameters = default_parameters(program);
    let mut costs = vec![vec![f64::INFINITY; uses.len()]; candidates.len()];
    let start = Instant::now();
    for (at, own) in uses.iter().enumerate() {
        // Copies, which have padded rows, are made before anything is chosen.
        let copied = openmp::runs_in_copy(program, &own.size, own.steps);
        let layout = if copied { Layout::padded } else { Layout::dense }(program, &own.size)?;
        let mut data = initial::random(program, layout, own.steps, 1).map_err(|error| {
            Error::from(error)
                .hint("leave out the largest sizes, or use --tile-by model, which measures nothing")
        })?;
        let mut run = |native: &NativeProgram, steps: i64, calls: u32| -> Result<f64> {
            interrupt::check()?;
            native.library().set_threads(usize::try_from(own.threads).unwrap_or(1));
            let start = Instant::now();
            for _ in 0..calls {
                native.run(program, &parameters, &mut data, steps)?;
            }
            Ok(start.elapsed().as_secs_f64() / f64::from(calls))
        };
        // So many steps that tall tiles are whole, where all of them take long.
        let whole = (4 * tallest).max(16).min(own.steps);
        let Some(first) = tiled.first() else { break };
        let touched = run(&first.native, whole, 1)?;
        let steps = if touched * own.steps as f64 / whole as f64 > LONG_S { whole } else { own.steps };
        let once = run(&first.native, steps, 1)?;
        let calls = (LEAST_S / once.max(1e-9)).ceil().clamp(1.0, 1e6) as u32;
        let until = BUDGET_S * (at + 1) as f64 / uses.len() as f64;
        for round in 0..ROUNDS.1 {
            if round >= ROUNDS.0 && start.elapsed().as_secs_f64() > until {
                break;
            }
            for (tiled, costs) in tiled.iter().zip(&mut costs) {
                let seconds = run(&tiled.native, steps, calls)? * own.steps as f64 / steps as f64;
                costs[at] = costs[at].min(seconds);
            }
        }
        progress(at as i64 + 1);
    }
    Ok(costs)
}
