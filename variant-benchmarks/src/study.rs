//! A benchmark measured, trained and scored.

use crate::benchmark::{Benchmark, Inputs, Ran, built, timed};
use crate::convergence::{Convergence, convergence};
use crate::score::{Chosen, Score, score};
use adaptive::table::Table;
use adaptive::train::TrainOptions;
use adaptive::tune::{Calls, Measured, Objective, TuneOptions, tune};
use adaptive::{Result, error::AdaptiveError};
use serde::Serialize;
use std::path::PathBuf;
use trials::{Metric, Outcome, Status};

/// What is measured, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Inputs to train on.
    pub training: usize,
    /// Held-out inputs.
    pub held_out: usize,
    /// Elements of the largest inputs.
    pub largest: usize,
    /// Calls that one choice, and one conversion, serve.
    pub calls: f64,
    /// Runs of each variant on each input; the least time counts.
    pub repeat: usize,
    /// How the model is trained.
    pub train: TrainOptions,
    /// Whether features that do not pay are left out.
    pub select: bool,
    /// Seeds over which it is seen how few labels do; 0 if that is not asked for.
    pub seeds: usize,
    /// A folder where what was measured is kept, so that a study that was stopped goes on.
    pub store: Option<PathBuf>,
}

/// A study of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Study {
    /// The benchmark.
    pub benchmark: String,
    /// The family that is in no training input.
    pub unseen: String,
    /// Inputs trained on.
    pub training: usize,
    /// Elements of the largest inputs.
    pub largest: usize,
    /// Calls that one choice, and one conversion, serve.
    pub calls: f64,
    /// Features in use.
    pub features: Vec<String>,
    /// What the model is.
    pub model: String,
    /// How often each variant is the best in training.
    pub labels: Vec<usize>,
    /// The score.
    pub score: Score,
    /// How few labels do; null where that was not asked for.
    pub convergence: Option<Convergence>,
}

/// The metric: seconds of all calls, conversion included.
const COST: &str = "cost";

/// Inputs as a workload.
fn calls<B: Benchmark>(inputs: &Inputs, run: &str, options: &Options) -> Result<Calls<B::Argument, Ran>> {
    let (times, source) = (options.calls, format!("{run}, {inputs:?}, {} calls", options.calls));
    let check = move |own: &B::Argument, ran: &Ran, outcome: &mut Outcome| {
        let wrong = |status, message: &str| Outcome::failed(status, message);
        match ran {
            Err(reason) => *outcome = wrong(Status::RunError, reason),
            Ok(spent) => match B::check(own) {
                Err(reason) => *outcome = wrong(Status::WrongResult, &reason),
                Ok(()) => {
                    let before = outcome.metrics.get(COST).map_or(f64::INFINITY, |metric| metric.value);
                    let value = before.min(spent.over(times));
                    let metric = Metric { value, repetitions: Vec::new(), unit: "s".to_owned() };
                    outcome.metrics.insert(COST.to_owned(), metric);
                }
            },
        }
    };
    let mut calls = Calls::new(&built::<B>(None)?).repeat(options.repeat).source(&source).check(check);
    for input in B::inputs(inputs) {
        calls = calls.input(&input.name, &input.family, input.make);
    }
    Ok(calls)
}

/// All variants on all inputs of a run.
fn measured<B: Benchmark, T>(
    inputs: &Inputs,
    run: &str,
    options: &Options,
    then: impl FnOnce(&mut Measured<'_>, &[usize]) -> Result<T>,
) -> Result<T> {
    let mut calls = calls::<B>(inputs, run, options)?;
    let store = options.store.as_ref().map(|folder| folder.join(format!("{}-{run}.jsonl", B::NAME)));
    let mut measured = Measured::new(&mut calls, Objective::least(COST), store.as_deref())?;
    let all: Vec<usize> = (0..inputs.count).collect();
    then(&mut measured, &all)
}

fn labelled<B: Benchmark>(inputs: &Inputs, run: &str, options: &Options) -> Result<Table> {
    measured::<B, Table>(inputs, run, options, |measured, all| {
        all.iter().try_for_each(|&input| measured.label(input).map(drop))?;
        Ok(measured.table(all))
    })
}

/// Measures training inputs and trains; measures held-out inputs twice, chooses for them, and scores the choices.
///
/// # Errors
/// A store that cannot be used; no input that a variant solves; an interruption.
pub fn study<B: Benchmark>(options: &Options) -> Result<Study> {
    let training = Inputs { held_out: false, count: options.training, largest: options.largest };
    let held_out = Inputs { held_out: true, count: options.held_out, largest: options.largest };
    // Times are those of all calls, which one choice serves.
    let tuning = TuneOptions { train: options.train, select: options.select, calls: 1.0 };
    let tuned = measured::<B, _>(&training, "training", options, |own, all| tune(own, all, &tuning))?;
    let labels = labelled::<B>(&held_out, "labels", options)?;
    let times = labelled::<B>(&held_out, "times", options)?;
    let every: Vec<usize> = (0..tuned.table.features.len()).collect();
    let convergence = (options.seeds > 0)
        .then(|| convergence(&tuned.table, &labels, &every, &options.train, options.seeds))
        .transpose()?;
    let model = tuned.trained.model;
    let description = adaptive::Classifier::description(&model.classifier);
    let function = built::<B>(Some(model))?;
    let choose = |input: &crate::benchmark::Input<B::Argument>| {
        let argument = (input.make)();
        let each = (0..options.repeat.max(1)).map(|_| timed(|| function.choose(&argument)));
        let least = each.reduce(|best, own| if own.1 < best.1 { own } else { best });
        least.map(|(choice, seconds)| Chosen { variant: choice.variant, seconds })
    };
    let chosen: Vec<Chosen> = B::inputs(&held_out).iter().filter_map(choose).collect();
    let score = score(&labels, &times, &chosen).ok_or_else(|| {
        let reason = format!("no held-out input of `{}` is solved by a variant", B::NAME);
        AdaptiveError::infeasible(reason, "take other inputs")
    })?;
    Ok(Study {
        benchmark: B::NAME.to_owned(),
        unseen: B::UNSEEN.to_owned(),
        training: tuned.table.rows.len(),
        largest: options.largest,
        calls: options.calls,
        features: tuned.features.iter().map(|&at| tuned.table.features[at].clone()).collect(),
        model: description,
        labels: tuned.table.label_counts(),
        score,
        convergence,
    })
}
