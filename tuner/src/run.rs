//! One search: the budget, what was measured, and the journal of decisions. A searcher asks for measurements here and
//! is told the outcomes.
//!
//! A run is determined by its seed, its space and what is measured. That is how it resumes: the searcher starts anew,
//! asks for the same points, and those that the [store](crate::kept) knows are not measured again.

use crate::error::{Result, TunerError};
use crate::evaluator::Evaluator;
use crate::space::{Point, Space};
use crate::tried::Tried;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use toolchain::cancel::Cancel;
use trials::Outcome;

/// How much may be spent.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Most configurations that are measured, failed ones included.
    pub evaluations: usize,
    /// Most time; a measurement that runs is finished.
    pub time: Option<Duration>,
}

/// Why a search ends.
#[derive(Debug)]
pub enum Stop {
    /// The evaluations or the time are spent.
    BudgetSpent,
    /// Every point that the searcher could ask for has been measured.
    Exhausted,
    /// The user stopped it.
    Interrupted,
    /// Something went wrong.
    Failed(TunerError),
}

impl From<TunerError> for Stop {
    fn from(error: TunerError) -> Stop {
        if matches!(error, TunerError::Interrupted) {
            return Stop::Interrupted;
        }
        Stop::Failed(error)
    }
}

/// What keeps trials beyond the run.
pub trait Keeper {
    /// The trial of a point that was measured before the run was interrupted.
    fn known(&self, point: &Point) -> Option<Outcome>;

    /// Keeps the trial of a point.
    ///
    /// # Errors
    /// Where it cannot be written.
    fn keep(&mut self, tried: &Tried) -> Result<()>;
}

/// Keeps nothing.
pub struct Forgetful;

impl Keeper for Forgetful {
    fn known(&self, _point: &Point) -> Option<Outcome> {
        None
    }

    fn keep(&mut self, _tried: &Tried) -> Result<()> {
        Ok(())
    }
}

/// What is told after every measurement.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Measurements so far.
    pub used: usize,
    /// Measurements that the budget allows.
    pub budget: usize,
    /// Best response so far.
    pub best: Option<f64>,
    /// Time since the start.
    pub elapsed: Duration,
}

/// Told after every measurement; returns false to stop.
pub type Watcher<'a> = dyn FnMut(Progress) -> bool + 'a;

/// An entry of the journal: what a searcher decided in one step, for people and for programs.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Text of several lines.
    pub text: String,
    /// The same as data.
    pub data: Json,
}

/// A search that is under way.
pub struct Run<'a> {
    /// What is searched.
    pub space: &'a Space,
    /// Source of all chance in the search.
    pub rng: ChaCha8Rng,
    response: &'a str,
    budget: Budget,
    evaluator: &'a dyn Evaluator,
    keeper: Box<dyn Keeper + 'a>,
    watcher: Box<Watcher<'a>>,
    started: Instant,
    trials: Vec<Tried>,
    seen: HashMap<Point, usize>,
    best: Option<usize>,
    repeats: usize,
    journal: Vec<Entry>,
}

/// Points asked for in a row that were all measured before, after which the search ends.
const MOST_REPEATS: usize = 20_000;

impl<'a> Run<'a> {
    /// A search for the least `response` in a space.
    pub fn new(
        space: &'a Space,
        response: &'a str,
        evaluator: &'a dyn Evaluator,
        budget: Budget,
        seed: u64,
    ) -> Self {
        Run {
            space,
            rng: ChaCha8Rng::seed_from_u64(seed),
            response,
            budget,
            evaluator,
            keeper: Box::new(Forgetful),
            watcher: Box::new(|_| true),
            started: Instant::now(),
            trials: Vec::new(),
            seen: HashMap::new(),
            best: None,
            repeats: 0,
            journal: Vec::new(),
        }
    }

    /// Keeps trials, and takes those that are known from there.
    pub fn keeping(mut self, keeper: impl Keeper + 'a) -> Self {
        self.keeper = Box::new(keeper);
        self
    }

    /// Tells the progress.
    pub fn watched(mut self, watcher: impl FnMut(Progress) -> bool + 'a) -> Self {
        self.watcher = Box::new(watcher);
        self
    }

    /// Measures points and returns their responses in the same order, `None` where a trial failed. Points that were
    /// measured before, and those that stand there twice, cost nothing.
    ///
    /// # Errors
    /// [`Stop`], after the points that the budget allowed; their trials are in [`Run::trials`].
    pub fn measure(&mut self, points: &[Point]) -> std::result::Result<Vec<Option<f64>>, Stop> {
        let mut new: Vec<Point> = Vec::new();
        for point in points {
            if !self.seen.contains_key(point) && !new.contains(point) {
                new.push(point.clone());
            }
        }
        if new.is_empty() {
            self.repeats += points.len().max(1);
            if self.repeats > MOST_REPEATS {
                return Err(Stop::Exhausted);
            }
        } else {
            self.repeats = 0;
        }
        let allowed = new.len().min(self.left());
        let at_once = self.evaluator.parallel().max(1);
        for chunk in new[..allowed].chunks(at_once.min(allowed.max(1))) {
            if self.budget.time.is_some_and(|time| self.started.elapsed() >= time) {
                return Err(Stop::BudgetSpent);
            }
            self.measure_at_once(chunk)?;
        }
        if allowed < new.len() {
            return Err(Stop::BudgetSpent);
        }
        Ok(points.iter().map(|point| self.response_at(point)).collect())
    }

    /// As [`Run::measure`], of one point.
    ///
    /// # Errors
    /// As [`Run::measure`].
    pub fn measure_one(&mut self, point: &Point) -> std::result::Result<Option<f64>, Stop> {
        Ok(self.measure(std::slice::from_ref(point))?.pop().flatten())
    }

    fn measure_at_once(&mut self, points: &[Point]) -> std::result::Result<(), Stop> {
        let known: Vec<Option<Outcome>> = points.iter().map(|point| self.keeper.known(point)).collect();
        let evaluator = self.evaluator;
        let measure = |(point, known): (&Point, Option<Outcome>)| match known {
            Some(trial) => (Ok(trial), true),
            None => (evaluator.evaluate(point), false),
        };
        let pairs: Vec<(&Point, Option<Outcome>)> = points.iter().zip(known).collect();
        let slow = points.len() > 1 && evaluator.parallel() != usize::MAX;
        let outcomes: Vec<(Result<Outcome>, bool)> = if slow {
            let token = Cancel::current();
            pairs.into_par_iter().map(|pair| token.scope(|| measure(pair))).collect()
        } else {
            pairs.into_iter().map(measure).collect()
        };
        let mut go_on = true;
        for ((outcome, was_known), point) in outcomes.into_iter().zip(points) {
            let trial = Tried { point: point.clone(), outcome: outcome? };
            if !was_known {
                self.keeper.keep(&trial)?;
            }
            go_on &= self.take(trial);
        }
        if go_on { Ok(()) } else { Err(Stop::Interrupted) }
    }

    fn take(&mut self, trial: Tried) -> bool {
        let number = self.trials.len();
        let response = trial.response(self.response);
        if response.is_some_and(|response| self.best_response().is_none_or(|best| response < best)) {
            self.best = Some(number);
        }
        self.seen.insert(trial.point.clone(), number);
        self.trials.push(trial);
        let progress = Progress {
            used: self.trials.len(),
            budget: self.budget.evaluations,
            best: self.best_response(),
            elapsed: self.started.elapsed(),
        };
        (self.watcher)(progress)
    }

    /// Evaluations that are left.
    pub fn left(&self) -> usize {
        self.budget.evaluations - self.trials.len().min(self.budget.evaluations)
    }

    /// Evaluations allowed in all.
    pub fn budget(&self) -> usize {
        self.budget.evaluations
    }

    /// Name of the metric that is minimised.
    pub fn response(&self) -> &str {
        self.response
    }

    /// All trials in the order measured.
    pub fn trials(&self) -> &[Tried] {
        &self.trials
    }

    /// Whether a point was measured.
    pub fn is_measured(&self, point: &Point) -> bool {
        self.seen.contains_key(point)
    }

    /// Response of a point that was measured without failure.
    pub fn response_at(&self, point: &Point) -> Option<f64> {
        self.seen.get(point).and_then(|&number| self.trials[number].response(self.response))
    }

    /// The best trial.
    pub fn best(&self) -> Option<&Tried> {
        self.best.map(|number| &self.trials[number])
    }

    /// Its response.
    pub fn best_response(&self) -> Option<f64> {
        self.best().and_then(|trial| trial.response(self.response))
    }

    /// Best response after each measurement; `None` before the first success.
    pub fn convergence(&self) -> Vec<Option<f64>> {
        let mut best: Option<f64> = None;
        let step = |trial: &Tried| {
            if let Some(response) = trial.response(self.response) {
                best = Some(best.map_or(response, |best| best.min(response)));
            }
            best
        };
        self.trials.iter().map(step).collect()
    }

    /// Writes into the journal.
    pub fn log(&mut self, entry: Entry) {
        self.journal.push(entry);
    }

    /// The journal.
    pub fn journal(&self) -> &[Entry] {
        &self.journal
    }
}
