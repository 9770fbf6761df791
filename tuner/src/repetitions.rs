//! Many searches with different seeds on a recorded space: how good a searcher is, and not how lucky.

use crate::error::Result;
use crate::evaluator::Replay;
use crate::run::{Budget, Run, Stop};
use crate::searcher::Searcher;
use crate::space::Space;
use crate::tried::Tried;
use rayon::prelude::*;
use serde::Serialize;

/// What one search found.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its best trial; `None` where every one failed.
    pub best: Option<Tried>,
    /// Best response divided by the global minimum; infinite where every trial failed.
    pub slowdown: f64,
    /// Measurements used.
    pub used: usize,
    /// Best response after each measurement.
    pub convergence: Vec<Option<f64>>,
}

/// Mean, least and largest of some numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Least.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

impl Spread {
    /// Of these numbers; all zero where there are none.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Spread {
        let numbers: Vec<f64> = numbers.into_iter().collect();
        if numbers.is_empty() {
            return Spread { mean: 0.0, min: 0.0, max: 0.0 };
        }
        Spread {
            mean: numbers.iter().sum::<f64>() / numbers.len() as f64,
            min: numbers.iter().copied().fold(f64::INFINITY, f64::min),
            max: numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// How often, and from which seed on.
#[derive(Debug, Clone, Copy)]
pub struct Repetitions {
    /// Number of searches.
    pub count: usize,
    /// Most measurements of each.
    pub budget: usize,
    /// Seed of the first.
    pub seed: u64,
}

/// The seed of a repetition: the first is the seed itself.
pub fn seed_of(seed: u64, repetition: usize) -> u64 {
    seed.wrapping_add((repetition as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Runs a searcher again and again on a replay, on all cores, and returns the outcomes in the order of their seeds;
/// `done` is called after each, and ends it all with false.
///
/// # Errors
/// The first error of a run.
pub fn repeat(
    searcher: &dyn Searcher,
    space: &Space,
    replay: &Replay,
    response: &str,
    repetitions: Repetitions,
    done: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Outcome>> {
    let one = |repetition: usize| {
        let budget = Budget { evaluations: repetitions.budget, time: None };
        let seed = seed_of(repetitions.seed, repetition);
        let mut run = Run::new(space, response, replay, budget, seed);
        match searcher.search(&mut run) {
            Err(Stop::Failed(error)) => return Err(error),
            Ok(()) | Err(Stop::BudgetSpent | Stop::Exhausted | Stop::Interrupted) => {}
        }
        if !done() {
            return Err(crate::TunerError::Interrupted);
        }
        Ok(Outcome {
            best: run.best().cloned(),
            slowdown: run.best_response().map_or(f64::INFINITY, |best| best / replay.best()),
            used: run.trials().len(),
            convergence: run.convergence(),
        })
    };
    (0..repetitions.count).into_par_iter().map(one).collect()
}
