//! `T_sync`: what it costs to start and to end a parallel region, measured with a tiled program that has nothing to
//! do: the smallest grid of a stencil, one launch per time step.

use crate::error::{ExecutionError, Result};
use crate::grid::ProgramData;
use crate::initial;
use crate::reference::default_parameters;
use crate::tiled;
use hhc_codegen::strategy;
use hhc_codegen::{TileSizes, strategy::Target};
use polyhedral::analysis::analyze;
use std::sync::Arc;
use toolchain::clock::{Repetition, Timing, measure};
use toolchain::interrupt;

/// Launches of one measurement.
const LAUNCHES: i64 = 2000;

/// Seconds per launch with this many threads.
///
/// # Errors
/// Those of the compiler and of the run.
pub fn measure_launch(threads: usize, rounds: usize) -> Result<Timing> {
    let internal = |problem: &str| ExecutionError::Generate(problem.to_owned());
    let program = Arc::new(polyhedral::shipped::load("jacobi2d").ok_or_else(|| internal("no jacobi2d"))?);
    let analysis = analyze(&program).map_err(|error| internal(&error.to_string()))?;
    let sweeps = strategy::baseline();
    let tile: TileSizes = sweeps.default_tile(&program, &analysis.cone, Target::OpenMp);
    let plan = strategy::plan(sweeps, &program, &analysis.cone, &tile)
        .map_err(|error| internal(&error.to_string()))?;
    let native = tiled::load(&plan)?.native;
    native.library().set_threads(threads);
    let parameters = default_parameters(&program);
    let mut data = ProgramData::zeroed(&program, &[3, 3])?;
    initial::fill_random(&program, &mut data, 1)?;
    let repetition = Repetition { warm_up: 1, runs: rounds };
    let timing = measure(
        repetition,
        &mut data,
        |_| Ok::<(), ExecutionError>(interrupt::check()?),
        |data| native.run(&program, &parameters, data, LAUNCHES),
    )?;
    let per_launch = timing.seconds_all.iter().map(|seconds| seconds / LAUNCHES as f64).collect();
    Timing::of(per_launch).ok_or_else(|| internal("no launch was measured"))
}
