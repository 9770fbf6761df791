//! Long runs of compiled code in pieces: often enough for signals and the progress bar, and so seldom that it does
//! not cost time. A tiling in time starts and ends each piece with partial tiles, so that a piece has some bands of
//! tiles at least; where those take longer than a signal may wait, [`toolchain::interrupt`] ends the process within
//! one.

use execution::ExecutionError;
use execution::grid::ProgramData;
use execution::native::NativeProgram;
use polyhedral::program::Program;
use std::ops::ControlFlow;
use std::time::Instant;
use toolchain::interrupt;

/// Wanted length of a piece in seconds: a signal is seen within it.
const PIECE_SECONDS: f64 = 0.5;
/// Operations of the first piece per thread: half a second even where nothing is vectorized.
const FIRST_OPERATIONS: f64 = 2e9;
/// What a launch of a step counts beside its operations, per thread.
const LAUNCH_OPERATIONS: f64 = 2e4;
/// How many times longer than the one before it a piece may be.
const GROWTH: f64 = 8.0;
/// Least bands of a piece.
const LEAST_BANDS: i64 = 16;
/// What a function such as `exp` or a division counts.
const SLOW_OPERATION: usize = 12;

/// Runs all steps of a program whose bands of tiles have so many; `progress` gets the number of steps done.
///
/// # Errors
/// As for [`NativeProgram::run_in_chunks`].
pub fn run(
    (native, band): (&NativeProgram, i64),
    program: &Program,
    parameters: &[f64],
    data: &mut ProgramData,
    steps: i64,
    progress: &dyn Fn(i64),
) -> Result<(), ExecutionError> {
    let threads = native.library().threads().unwrap_or(1) as f64;
    let mut pieces = Pieces::new(
        execution::native::chunk_unit(program),
        band,
        FIRST_OPERATIONS * threads / (operations_per_step(program, data) + LAUNCH_OPERATIONS * threads),
    );
    let mut done = 0;
    loop {
        let now = pieces.next(steps - done);
        let start = Instant::now();
        native
            .run_in_chunks(program, parameters, data, now, now.max(1), &mut |_| ControlFlow::Continue(()))?;
        done += now;
        progress(done);
        if done >= steps {
            return Ok(());
        }
        interrupt::check()?;
        pieces.took(now, start.elapsed().as_secs_f64());
    }
}

/// How many steps the pieces have.
struct Pieces {
    /// All but the last have a multiple of this.
    unit: i64,
    least: f64,
    wanted: f64,
}

impl Pieces {
    fn new(unit: i64, band: i64, first: f64) -> Pieces {
        Pieces { unit, least: (LEAST_BANDS * band) as f64, wanted: first }
    }

    /// Steps of the next piece, where there are so many left.
    fn next(&self, rest: i64) -> i64 {
        let piece = self.wanted.max(self.least);
        // A short rest is not worth a piece of its own.
        if (rest as f64) < 1.5 * piece {
            return rest;
        }
        let units = ((piece / self.unit as f64).min(1e15) as i64).max(1);
        units.saturating_mul(self.unit).min(rest)
    }

    fn took(&mut self, steps: i64, seconds: f64) {
        let pace = steps as f64 / seconds.max(1e-6);
        self.wanted = (pace * PIECE_SECONDS).min(steps as f64 * GROWTH);
    }
}

/// Operations on all points in one step, slow ones counted several times.
fn operations_per_step(program: &Program, data: &ProgramData) -> f64 {
    let counts = polyhedral::counts::counts(program);
    let slow = counts.operations.divs + counts.operations.sqrts + counts.operations.exps;
    let operations = counts.flops + (SLOW_OPERATION - 1) * slow + program.statements.len();
    operations as f64 * data.points() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the first guess, pieces soon take half a second, and no piece on the way takes much longer.
    #[test]
    fn pieces_find_their_pace() {
        for seconds_per_step in [1e-8, 1e-6, 1e-4, 1e-2] {
            let mut pieces = Pieces::new(6, 2, 100.0);
            let mut longest: f64 = 0.0;
            for _ in 0..12 {
                let steps = pieces.next(1_000_000_000_000);
                assert_eq!(steps % 6, 0);
                let seconds = steps as f64 * seconds_per_step;
                longest = longest.max(seconds);
                pieces.took(steps, seconds);
            }
            assert!(longest <= 1.01, "{longest}");
            let last = pieces.next(1_000_000_000_000) as f64 * seconds_per_step;
            assert!((0.3..0.6).contains(&last), "{last}");
        }
    }

    #[test]
    fn a_piece_has_some_bands_and_a_short_rest_is_none() {
        let mut pieces = Pieces::new(1, 8, 1.0);
        assert_eq!(pieces.next(1000), 128);
        assert_eq!(pieces.next(190), 190);
        pieces.took(128, 100.0);
        assert_eq!(pieces.next(1000), 128);
        assert_eq!(pieces.next(0), 0);
    }
}
