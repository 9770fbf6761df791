//! `T_sync`: what it costs to start and to end a parallel region, measured with a program that has nothing to do: plain
//! sweeps on the smallest grid of a stencil, one launch per statement and time step.

use super::resident::Bench;
use crate::error::{ExecutionError, Result};
use crate::initial;
use crate::layout::Layout;
use crate::reference::default_parameters;
use polyhedral::program::Program;
use toolchain::clock::{Repetition, Timing, measure};
use toolchain::interrupt;

/// Time steps of one measurement.
const STEPS: i64 = 2000;

/// Seconds per launch with this many threads.
///
/// # Errors
/// Those of the run.
pub fn measure_launch(bench: &Bench, program: &Program, threads: usize, rounds: usize) -> Result<Timing> {
    let native = &bench.sweeps;
    native.library().set_threads(threads);
    let parameters = default_parameters(program);
    let mut data = initial::random(program, Layout::dense(program, &bench.least_size)?, STEPS, 1)?;
    let repetition = Repetition { warm_up: 1, runs: rounds };
    let timing = measure(
        repetition,
        &mut data,
        |_| Ok::<(), ExecutionError>(interrupt::check()?),
        |data| native.run(program, &parameters, data, STEPS),
    )?;
    let launches = (STEPS * program.statements.len() as i64) as f64;
    let per_launch = timing.seconds_all.iter().map(|seconds| seconds / launches).collect();
    Timing::of(per_launch).ok_or_else(|| ExecutionError::Generate("no launch was measured".to_owned()))
}
