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
use std::time::{Duration, Instant};
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
/// Seconds after which no other one begins, and after which none does where all of them waited.
const PATIENCE_S: f64 = 0.3;
const LAST_PATIENCE_S: f64 = 1.5;
/// No launch takes so many seconds whose threads have their processors.
const WAITING_S: f64 = 1e-4;
/// Time in which threads go to sleep. Two that share a processor each wait for the other one's slice of time, launch after launch; a
/// sleeper is woken on an idle processor.
const PAUSE: Duration = Duration::from_millis(5);

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
    let (mut per_launch, mut least) = (Vec::new(), f64::INFINITY);
    let start = Instant::now();
    // The first one starts the threads.
    for number in 0..=MOST {
        interrupt::check()?;
        let begin = Instant::now();
        native.run(&program, &[], &mut data, STEPS)?;
        if number == 0 {
            continue;
        }
        let seconds = begin.elapsed().as_secs_f64() / STEPS as f64;
        per_launch.push(seconds);
        least = least.min(seconds);
        let patience_s = if least < WAITING_S { PATIENCE_S } else { LAST_PATIENCE_S };
        if start.elapsed().as_secs_f64() > patience_s {
            break;
        }
        if seconds > WAITING_S {
            std::thread::sleep(PAUSE);
        }
    }
    let none = || ExecutionError::Generate("no launch was measured".to_owned());
    let timing = Timing::of(per_launch).ok_or_else(none)?;
    let runs = timing.seconds_all.len() as i64;
    Ok(Quantity { value: timing.minimum, dispersion: Some(timing.dispersion), runs: Some(runs) })
}
