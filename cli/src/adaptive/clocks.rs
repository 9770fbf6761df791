//! `tilewright adaptive clocks`: which variant, and at which clock frequency.

use super::arguments::ClocksArguments;
use super::shown::percent;
use super::source::{Source, open, table, told};
use super::train::kind;
use crate::error::{Error, Result};
use crate::outputs;
use crate::progress::Session;
use crate::report::{self, Report};
use adaptive::description::{ClockOwner, Description};
use adaptive::table::Table;
use adaptive::train::{TrainOptions, held_out};
use adaptive::tune::{Clocked, Measured, PairEvaluation, TrainedPair, evaluate_pair, split, train_pair};
use adaptive::{Classifier, model_file};
use serde::Serialize;
use std::path::PathBuf;
use toolchain::clocks::Clocks;

/// Pairs are few: frequencies that are not named are taken from all, evenly.
const MOST_FREQUENCIES: usize = 8;

/// The report of `adaptive clocks`.
#[derive(Debug, Serialize)]
pub struct ClocksReport {
    /// The function.
    pub name: String,
    /// The file of the model of variants.
    pub file: PathBuf,
    /// The file of the model of frequencies.
    pub frequency_file: PathBuf,
    /// Both models in a few words.
    pub models: [String; 2],
    /// What set the clocks; null where all was recorded.
    pub clocks: Option<String>,
    /// What was optimised.
    pub metric: String,
    /// Inputs that the models were trained on.
    pub inputs: usize,
    /// Pairs that were measured; others stood in the store.
    pub measured: usize,
    /// The frequencies, in MHz.
    pub frequencies: Vec<u32>,
    /// Names of the variants.
    pub variants: Vec<String>,
    /// The chosen pairs on held-out inputs; null without any.
    pub test: Option<PairEvaluation>,
}

/// What was measured or read.
struct Labelled {
    training: Table,
    test: Option<Table>,
    clocks: Option<String>,
    fresh: usize,
}

/// Measures pairs and trains both models.
///
/// # Errors
/// Clocks that cannot be set here; sources that are none; no input that a pair solves.
pub fn clocks(arguments: &ClocksArguments, session: &Session) -> Result<ClocksReport> {
    let inputs: Vec<PathBuf> =
        [Some(&arguments.file), arguments.test.as_ref()].into_iter().flatten().cloned().collect();
    let written = [
        ("--output", Some(arguments.output.clone())),
        ("--frequency-output", Some(arguments.frequency_output.clone())),
        ("--trials", arguments.source.trials.clone()),
    ];
    let written: Vec<_> = written.iter().filter_map(|(name, path)| Some((*name, path.as_deref()?))).collect();
    outputs::check(&written, &inputs)?;
    if arguments.hold_out.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
        return Err(Error::wrong_input("--hold-out is not between 0 and 1"));
    }
    let options = TrainOptions {
        kind: kind(arguments.classifier),
        folds: arguments.folds as usize,
        seed: arguments.seed,
        ..TrainOptions::default()
    };
    let Labelled { training, test, clocks, fresh } = labelled(arguments, session)?;
    let (variants, frequencies) = split(&training).map_err(told)?;
    let rows = variants.trainable();
    let features: Vec<usize> = (0..training.features.len()).collect();
    let pair = session.stage("train", || train_pair(&training, &rows, &features, &options)).map_err(told)?;
    let TrainedPair { variant, frequency } = &pair;
    let test = match test.filter(|test| !test.rows.is_empty()) {
        Some(test) => Some(evaluate_pair(&variant.model, &frequency.model, &test).map_err(told)?),
        None => None,
    };
    session
        .stage("write", || {
            model_file::write(&arguments.output, &variant.model)?;
            model_file::write(&arguments.frequency_output, &frequency.model)
        })
        .map_err(told)?;
    Ok(ClocksReport {
        name: variants.name,
        file: arguments.output.clone(),
        frequency_file: arguments.frequency_output.clone(),
        models: [variant.model.classifier.description(), frequency.model.classifier.description()],
        clocks,
        metric: training.metric,
        inputs: rows.len(),
        measured: fresh,
        frequencies: frequencies.variants.iter().filter_map(|mhz| mhz.parse().ok()).collect(),
        variants: variants.variants,
        test,
    })
}

fn labelled(arguments: &ClocksArguments, session: &Session) -> Result<Labelled> {
    let mut opened = open(&arguments.file, &arguments.source, &[])?;
    let objective = opened.objective.clone();
    let (training, test) = (opened.training.clone(), opened.test.clone());
    match &opened.source {
        Source::Table(_, read) => {
            let (pairs, all) = (read.clone(), training);
            let (variants, _) = split(&pairs).map_err(told)?;
            let (mut train, mut out) = (all.clone(), Vec::new());
            if let Some(share) = arguments.hold_out {
                let rows = variants.trainable();
                let labels: Vec<usize> = rows.iter().filter_map(|&row| variants.rows[row].label()).collect();
                let held = held_out(&labels, share, arguments.seed);
                out = rows.iter().zip(&held).filter(|(_, held)| **held).map(|(row, _)| *row).collect();
                train.retain(|row| !out.contains(row));
            }
            let mut test = pairs.with_rows(&out);
            if let Some(path) = &arguments.test {
                test = table(path, &arguments.source)?;
                if (&test.variants, &test.features) != (&pairs.variants, &pairs.features) {
                    return Err(Error::wrong_input(format!(
                        "{} has other columns than {}",
                        path.display(),
                        arguments.file.display()
                    )));
                }
            }
            Ok(Labelled { training: pairs.with_rows(&train), test: Some(test), clocks: None, fresh: 0 })
        }
        Source::Commands(commands) => {
            if arguments.hold_out.is_some() || arguments.test.is_some() {
                return Err(Error::wrong_input("--hold-out and --test are for tables")
                    .hint("name test inputs in the description"));
            }
            let description: Description = commands.description().clone();
            let asked = description.frequencies.unwrap_or_default();
            let mut clocks = match asked.of {
                ClockOwner::Cpu => Clocks::cpu(),
                ClockOwner::Gpu => Clocks::gpu(),
            }?;
            let frequencies = match asked.mhz {
                named if !named.is_empty() => named,
                _ => some_of(clocks.supported()),
            };
            let trials = opened.trials.clone();
            let name = clocks.name().to_owned();
            let (training, test, fresh) = {
                let mut pairs = Clocked::new(opened.workload(), &mut clocks, &frequencies).map_err(told)?;
                let mut measured = Measured::new(&mut pairs, objective, trials.as_deref()).map_err(told)?;
                if let Some(store) = measured.repository() {
                    session.tell_damage(store.damage());
                }
                session.stage("measure", || -> Result<()> {
                    for &input in training.iter().chain(&test) {
                        measured.label(input).map_err(told)?;
                    }
                    Ok(())
                })?;
                (measured.table(&training), measured.table(&test), measured.fresh())
            };
            clocks.restore()?;
            opened.clean()?;
            Ok(Labelled { training, test: Some(test), clocks: Some(name), fresh })
        }
    }
}

/// At most a few frequencies, evenly from the lowest to the highest.
fn some_of(all: &[u32]) -> Vec<u32> {
    let count = all.len().min(MOST_FREQUENCIES);
    (0..count).map(|at| all[at * (all.len() - 1) / (count - 1).max(1)]).collect()
}

impl Report for ClocksReport {
    const SCHEMA: &'static str = "tilewright.adaptive-clocks/1";

    fn text(&self) -> String {
        let mhz: Vec<String> = self.frequencies.iter().map(u32::to_string).collect();
        let mut lines = vec![
            ("function", format!("{}, {}", self.name, self.metric)),
            ("variants", report::listed(&self.variants, 90)),
            ("frequencies", format!("{} MHz", report::listed(&mhz, 90))),
            ("clocks", self.clocks.clone().unwrap_or_else(|| "recorded".to_owned())),
            ("inputs", format!("{} trained on, {} pairs measured", self.inputs, self.measured)),
            ("variant's model", format!("{}, in {}", self.models[0], self.file.display())),
            ("frequency's model", format!("{}, in {}", self.models[1], self.frequency_file.display())),
        ];
        let Some(test) = &self.test else { return report::pairs(&lines) };
        lines.push((
            "performance",
            format!(
                "{} of the best pairs on {} held-out inputs, {} at least",
                percent(test.performance),
                test.inputs,
                percent(test.least)
            ),
        ));
        let right = [test.variants_right, test.frequencies_right].map(percent);
        lines.push(("right", format!("{} of the variants, {} of the frequencies", right[0], right[1])));
        let (single, share) = &test.best_single;
        lines.push(("best single", format!("{} with {single}", percent(*share))));
        for (name, share) in &test.at_greatest {
            lines.push(("at the greatest", format!("{} with {name}", percent(*share))));
        }
        let rows: Vec<Vec<String>> = test
            .frequencies
            .iter()
            .map(|(mhz, best, chosen)| vec![mhz.to_string(), best.to_string(), chosen.to_string()])
            .collect();
        format!("{}\n{}", report::pairs(&lines), report::table(&["MHz", "best", "chosen"], &rows, &[0, 1, 2]))
    }
}
