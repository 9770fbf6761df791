//! Long runs of compiled code in pieces: often enough for Ctrl-C and the progress bar, and so seldom that it does
//! not cost time. A tiling in time starts and ends each piece with partial tiles.

use execution::grid::ProgramData;
use execution::native::NativeProgram;
use execution::{ExecutionError, interrupt};
use polyhedral::program::Program;
use std::ops::ControlFlow;
use std::time::Instant;

/// Wanted length of a piece in seconds.
const PIECE_SECONDS: f64 = 2.0;
/// Operations of the first piece per thread: a fraction of a second for common stencils.
const FIRST_OPERATIONS: f64 = 1.6e10;
/// What a function such as `exp` or a division counts.
const SLOW_OPERATION: usize = 12;

/// Runs all steps; `progress` gets the number of steps done.
///
/// # Errors
/// As for [`NativeProgram::run_in_chunks`].
pub fn run(
    native: &NativeProgram,
    program: &Program,
    parameters: &[f64],
    data: &mut ProgramData,
    steps: i64,
    progress: &dyn Fn(i64),
) -> Result<(), ExecutionError> {
    let unit = execution::native::chunk_unit(program);
    let threads = native.library().threads().unwrap_or(1) as f64;
    let mut piece = FIRST_OPERATIONS * threads / operations_per_step(program, data).max(1.0);
    let mut done = 0;
    loop {
        // A short rest is not worth a piece of its own.
        let rest = steps - done;
        let whole_units = ((piece / unit as f64).min(1e15) as i64).max(1) * unit;
        let now = if (rest as f64) < 1.5 * piece { rest } else { whole_units.min(rest) };
        let start = Instant::now();
        native
            .run_in_chunks(program, parameters, data, now, now.max(1), &mut |_| ControlFlow::Continue(()))?;
        done += now;
        progress(done);
        if done >= steps {
            return Ok(());
        }
        interrupt::check()?;
        piece = now as f64 * PIECE_SECONDS / start.elapsed().as_secs_f64().max(1e-3);
    }
}

/// Operations on all points in one step, slow ones counted several times.
fn operations_per_step(program: &Program, data: &ProgramData) -> f64 {
    let counts = polyhedral::counts::counts(program);
    let slow = counts.operations.divs + counts.operations.sqrts + counts.operations.exps;
    let operations = counts.flops + (SLOW_OPERATION - 1) * slow + program.statements.len();
    operations as f64 * data.points() as f64
}
