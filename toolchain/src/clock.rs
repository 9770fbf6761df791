//! Run times: measured again and again, and summarised.

use crate::interrupt::{self, Interrupted};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Run times in seconds, in the order measured; at least one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Every run, after the warm-up runs.
    pub seconds_all: Vec<f64>,
    /// Their median.
    pub median: f64,
    /// The shortest.
    pub minimum: f64,
    /// Dispersion: the median of the absolute differences from the median (MAD).
    pub dispersion: f64,
}

/// How often to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repetition {
    /// Runs that are not counted: they load code and touch memory.
    pub warm_up: usize,
    /// Runs that are counted; 0 counts as 1.
    pub runs: usize,
}

impl Default for Repetition {
    fn default() -> Self {
        Repetition { warm_up: 1, runs: 5 }
    }
}

impl Timing {
    /// The summary of run times in seconds; `None` where there are none.
    pub fn of(seconds_all: Vec<f64>) -> Option<Timing> {
        let median = median(&seconds_all)?;
        let deviations: Vec<f64> = seconds_all.iter().map(|seconds| (seconds - median).abs()).collect();
        let minimum = seconds_all.iter().copied().fold(f64::INFINITY, f64::min);
        Some(Timing { median, minimum, dispersion: self::median(&deviations)?, seconds_all })
    }

    /// Dispersion as a part of the median.
    pub fn relative_dispersion(&self) -> f64 {
        if self.median > 0.0 { self.dispersion / self.median } else { 0.0 }
    }
}

/// Runs `prepare`, which is not timed, then `run`, which is, again and again. Both get `state`.
///
/// # Errors
/// The first error of either; that of [`Interrupted`] between runs.
pub fn measure<S, E: From<Interrupted>>(
    repetition: Repetition,
    state: &mut S,
    mut prepare: impl FnMut(&mut S) -> Result<(), E>,
    mut run: impl FnMut(&mut S) -> Result<(), E>,
) -> Result<Timing, E> {
    let runs = repetition.runs.max(1);
    let mut seconds_all = Vec::with_capacity(runs);
    for number in 0..repetition.warm_up + runs {
        interrupt::check()?;
        prepare(state)?;
        let start = Instant::now();
        run(state)?;
        let seconds = start.elapsed().as_secs_f64();
        if number >= repetition.warm_up {
            seconds_all.push(seconds);
        }
    }
    // There was at least one run.
    let empty = Timing { seconds_all: Vec::new(), median: 0.0, minimum: 0.0, dispersion: 0.0 };
    Ok(Timing::of(seconds_all).unwrap_or(empty))
}

/// The middle value, or the mean of the two in the middle; `None` where there are none.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(lower + (upper - lower) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries() {
        let timing = Timing::of(vec![3.0, 1.0, 2.0, 10.0]).unwrap();
        assert_eq!((timing.median, timing.minimum, timing.dispersion), (2.5, 1.0, 1.0));
        assert_eq!(Timing::of(vec![4.0]).unwrap().dispersion, 0.0);
        assert_eq!(Timing::of(vec![]), None);
    }

    #[test]
    fn warm_up_runs_are_not_counted() {
        let mut calls = (0, 0);
        let repetition = Repetition { warm_up: 2, runs: 3 };
        let prepare = |calls: &mut (i32, i32)| {
            calls.0 += 1;
            Ok(())
        };
        let run = |calls: &mut (i32, i32)| {
            calls.1 += 1;
            Ok::<(), Interrupted>(())
        };
        let timing = measure(repetition, &mut calls, prepare, run).unwrap();
        assert_eq!((calls, timing.seconds_all.len()), ((5, 5), 3));
    }
}
