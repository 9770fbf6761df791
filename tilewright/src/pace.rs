//! Long runs of compiled code in pieces: often enough for signals and the progress bar, and so seldom that it does
//! not cost time. A tiling in time starts and ends each piece with partial tiles, so that a piece has some bands of
//! tiles at least: fewer where they take longer than a signal may wait, down to one. Where that one takes longer still,
//! commands are ended within it by [`toolchain::interrupt`]; calls of the library are not.

use execution::ExecutionError;
use execution::native::NativeProgram;
use polyhedral::program::Program;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use toolchain::interrupt;

/// Wanted length of a piece in seconds: a signal is seen within it.
const PIECE_SECONDS: f64 = 0.5;
/// The first one is shorter: threads that others keep waiting may be sixty times slower than they would be alone.
const FIRST_PIECE_SECONDS: f64 = 0.02;
/// Longest wanted piece in seconds, for the sake of bands. A rest may be half a piece more.
const LONGEST_PIECE_SECONDS: f64 = 1.2;
/// Operations per second of a thread, before anything was timed: as many even where nothing is vectorized.
const FIRST_SPEED: f64 = 4e9;
/// What a launch of a step counts beside its operations, per thread.
const LAUNCH_OPERATIONS: f64 = 2e4;
/// How many times longer than the one before it a piece may be.
const GROWTH: f64 = 8.0;
/// Bands of a piece, where they do not take too long.
const LEAST_BANDS: i64 = 16;
/// What a function such as `exp` or a division counts.
const SLOW_OPERATION: usize = 12;

/// What is run in pieces.
pub struct Work<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its compiled code, for the number of threads.
    pub native: &'a NativeProgram,
    /// Time steps of a band of tiles.
    pub band: i64,
    /// How fast it is.
    pub speed: &'a Speed,
    /// Points of the grid.
    pub points: usize,
    /// Time steps in all.
    pub steps: i64,
}

/// How fast a program is computed.
#[derive(Debug)]
pub struct Speed {
    /// What [`operations`] says of the program.
    operations: f64,
    /// Operations per second of a thread in the last piece, as bits; 0 before the first one.
    seen: AtomicU64,
}

impl Speed {
    /// Of a program that nobody has timed.
    pub fn of(program: &Program) -> Speed {
        Speed { operations: operations(program), seen: AtomicU64::new(0) }
    }

    /// What a step counts for each of so many threads.
    fn step(&self, points: usize, threads: f64) -> f64 {
        self.operations * points as f64 / threads + LAUNCH_OPERATIONS
    }

    fn seen(&self) -> Option<f64> {
        Some(f64::from_bits(self.seen.load(Ordering::Relaxed))).filter(|seen| *seen > 0.0)
    }
}

/// Runs all steps: `piece` gets the number of steps done before and of those to do now, `progress` the number done after
/// each piece, and whether it goes on.
///
/// # Errors
/// Those of `piece`; [`ExecutionError::Interrupted`] where `progress` breaks or somebody has asked to stop. The newest
/// levels are then those after the number of steps that `progress` got last.
pub fn run(
    work: &Work<'_>,
    piece: &mut dyn FnMut(i64, i64) -> Result<(), ExecutionError>,
    progress: &mut dyn FnMut(i64) -> ControlFlow<()>,
) -> Result<(), ExecutionError> {
    let threads = work.native.library().threads().unwrap_or(1) as f64;
    let step = work.speed.step(work.points, threads);
    let unit = execution::native::chunk_unit(work.program);
    let mut pieces = Pieces::new(unit, work.band, FIRST_SPEED / step);
    if let Some(seen) = work.speed.seen() {
        pieces.bands_at(seen / step);
    }
    let mut done = 0;
    loop {
        let now = pieces.next(work.steps - done);
        let start = Instant::now();
        piece(done, now)?;
        let seconds = start.elapsed().as_secs_f64();
        if now > 0 {
            work.speed.seen.store((now as f64 * step / seconds.max(1e-6)).to_bits(), Ordering::Relaxed);
        }
        done += now;
        let stop = progress(done).is_break();
        if done >= work.steps {
            return Ok(());
        }
        if stop {
            return Err(ExecutionError::Interrupted);
        }
        interrupt::check()?;
        pieces.took(now, seconds);
    }
}

/// How many steps the pieces have.
struct Pieces {
    /// All but the last have a multiple of this.
    unit: i64,
    band: i64,
    least: f64,
    wanted: f64,
}

impl Pieces {
    /// Pieces for a program of which at least so many steps are done in a second.
    fn new(unit: i64, band: i64, steps_per_second: f64) -> Pieces {
        let mut pieces = Pieces { unit, band, least: 0.0, wanted: steps_per_second * FIRST_PIECE_SECONDS };
        pieces.bands_at(steps_per_second);
        pieces
    }

    /// Has as many bands in a piece as are worth it and do not take too long.
    fn bands_at(&mut self, steps_per_second: f64) {
        let bands = (steps_per_second * LONGEST_PIECE_SECONDS / self.band as f64).floor();
        self.least = bands.clamp(1.0, LEAST_BANDS as f64) * self.band as f64;
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
        self.bands_at(pace);
    }
}

/// Operations on a point in one step, slow ones counted several times.
fn operations(program: &Program) -> f64 {
    let counts = polyhedral::counts::counts(program);
    let slow = counts.operations.divs + counts.operations.sqrts + counts.operations.exps;
    (counts.flops + (SLOW_OPERATION - 1) * slow + program.statements.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the first guess, pieces soon take half a second, and no piece on the way takes much longer.
    #[test]
    fn pieces_find_their_pace() {
        for seconds_per_step in [1e-8, 1e-6, 1e-4, 1e-2] {
            let mut pieces = Pieces::new(6, 2, 200.0);
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

    /// Barriers wait for threads that others keep from their cores.
    #[test]
    fn pieces_on_a_busy_computer_end_in_time() {
        let mut pieces = Pieces::new(1, 1, 12_000.0);
        for _ in 0..12 {
            let steps = pieces.next(1_000_000_000);
            let seconds = steps as f64 * 5e-3;
            assert!(seconds < 1.5, "{seconds} s");
            pieces.took(steps, seconds);
        }
    }

    /// Whatever depends on the number of the time step goes on where the piece before has ended.
    #[test]
    fn pieces_of_a_driven_program_are_one_run() {
        let stencil = crate::load("fdtd2d_driven").unwrap();
        let program = &*stencil.program;
        let steps = 70;
        let tiling = crate::Tiling { strategy: "naive".to_owned(), tile: None };
        let planned =
            crate::plan(&stencil, &tiling, hhc_codegen::strategy::Target::OpenMp, &crate::Silent).unwrap();
        let native = execution::tiled::load(&planned.plan).unwrap().native;
        let parameters = execution::reference::default_parameters(program);
        let mut expected = crate::random_data(&stencil, &[9, 11], steps, 3).unwrap();
        let mut found = expected.try_clone().unwrap();
        execution::reference::run_quietly(program, &parameters, &mut expected, steps).unwrap();
        // As many points as make the shortest pieces.
        let speed = Speed::of(program);
        let work = Work { program, native: &native, band: 1, speed: &speed, points: usize::MAX, steps };
        let mut seen = Vec::new();
        let mut piece = |done, now| native.run_on(program, &parameters, &mut found, done, now);
        run(&work, &mut piece, &mut |done| {
            seen.push(done);
            ControlFlow::Continue(())
        })
        .unwrap();
        assert!(seen.len() > 1 && seen.last() == Some(&steps), "{seen:?}");
        assert_eq!(execution::compare::compare(program, &found, &expected, steps).first, None);
    }

    #[test]
    fn a_piece_has_some_bands_and_a_short_rest_is_none() {
        let mut pieces = Pieces::new(1, 8, 200.0);
        assert_eq!(pieces.next(1000), 128);
        assert_eq!(pieces.next(190), 190);
        pieces.took(128, 0.9);
        assert_eq!(pieces.next(1000), 128);
        assert_eq!(pieces.next(0), 0);
    }

    /// Whatever a band takes below a second, no piece takes two; a band is not cut.
    #[test]
    fn pieces_of_slow_bands_have_fewer() {
        for seconds_per_band in [0.01, 0.1, 0.3, 0.9, 5.0] {
            let mut pieces = Pieces::new(2, 16, 1.0);
            for _ in 0..12 {
                let steps = pieces.next(1_000_000);
                let seconds = steps as f64 / 16.0 * seconds_per_band;
                assert!(steps >= 16 && (seconds <= 1.21 || steps == 16), "{steps} steps, {seconds} s");
                pieces.took(steps, seconds);
            }
            let rest = pieces.next(23) as f64 / 16.0 * seconds_per_band;
            assert!(rest < 2.0 || seconds_per_band > 1.3, "{rest}");
        }
    }
}
