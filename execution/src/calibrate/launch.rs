//! `T_sync`: what it costs to start and to end a parallel region, measured with a program that has nothing to do: plain
//! sweeps over a single point, one launch per time step.

use crate::error::{ExecutionError, Result};
use crate::initial;
use crate::layout::Layout;
use crate::native::NativeProgram;
use crate::tiled;
use cost_models::machine::Quantity;
use hhc_codegen::strategy::{self, Target};
use polyhedral::analysis::analyze;
use polyhedral::program::Program;
use std::sync::Arc;
use std::time::Instant;
use toolchain::clock::Timing;
use toolchain::compiler::CompileOptions;
use toolchain::interrupt;

/// The program.
const IDLE: &str = "stencil idle(t, i) { field u: f32; u[t+1, i] = u[t, i]; }";
/// Its threads are woken although there is hardly anything to do.
const ALL_THREADS: &str = "-DTW_FEW=0";
/// Time steps of one measurement, and measurements at most. Others only ever take time, a thousand times as much where a thread
/// waits for its processor: the least of many short ones counts.
const STEPS: i64 = 10;
const MOST: usize = 200;
/// Seconds after which no other one begins.
const PATIENCE_S: f64 = 0.3;

/// Compiles it, into the cache.
///
/// # Errors
/// Those of the compiler.
pub fn compile() -> Result<(Arc<Program>, NativeProgram)> {
    let internal = |error: String| ExecutionError::Generate(error);
    let program = polyhedral::parse("idle", IDLE).map_err(|_| internal("the idle program".to_owned()))?;
    let program = Arc::new(program);
    let cone = analyze(&program).map_err(|error| internal(error.to_string()))?.cone;
    let sweeps = strategy::baseline();
    let tile = sweeps.default_tile(&program, &cone, Target::OpenMp);
    let plan = strategy::plan(sweeps, &program, &cone, &tile).map_err(|error| internal(error.to_string()))?;
    let options = CompileOptions { arguments: vec![ALL_THREADS.to_owned()], ..CompileOptions::default() };
    Ok((program, tiled::load_with(&plan, &options)?.native))
}

/// Seconds per launch with this many threads: the least that was measured.
///
/// # Errors
/// Those of the compiler and of the run.
pub fn measure(threads: usize) -> Result<Quantity> {
    let (program, native) = compile()?;
    native.library().set_threads(threads);
    let mut data = initial::random(&program, Layout::dense(&program, &[1])?, STEPS, 1)?;
    let mut per_launch = Vec::new();
    let start = Instant::now();
    // The first one starts the threads.
    for number in 0..=MOST {
        interrupt::check()?;
        let begin = Instant::now();
        native.run(&program, &[], &mut data, STEPS)?;
        if number > 0 {
            per_launch.push(begin.elapsed().as_secs_f64() / STEPS as f64);
        }
        if number > 0 && start.elapsed().as_secs_f64() > PATIENCE_S {
            break;
        }
    }
    let none = || ExecutionError::Generate("no launch was measured".to_owned());
    let timing = Timing::of(per_launch).ok_or_else(none)?;
    let runs = timing.seconds_all.len() as i64;
    Ok(Quantity { value: timing.minimum, dispersion: Some(timing.dispersion), runs: Some(runs) })
}
