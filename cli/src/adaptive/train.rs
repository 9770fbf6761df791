//! `tilewright adaptive train`: measures variants and trains a model.

use super::arguments::{ClassifierName, TrainArguments};
use super::page::{self, Content};
use super::shown;
use super::source::{Source, open, table, told};
use crate::error::{Error, Result};
use crate::outputs;
use crate::progress::Session;
use crate::report::{self, Report};
use adaptive::across_folds::{AcrossFolds, across_folds};
use adaptive::aslib;
use adaptive::evaluate::{Evaluation, evaluate};
use adaptive::model::Model;
use adaptive::train::{Data, Kind, TrainOptions, Worth, held_out, worth_by_cost};
use adaptive::tune::{
    Measured, Order, Recorded, Searched, Step, Stopping, TuneOptions, search_parameters, tune,
    tune_incrementally,
};
use adaptive::{Classifier, model_file};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;
use tilewright::text;
use toolchain::machine::cpu_name;

/// The report of `adaptive train`.
#[derive(Debug, Serialize)]
pub struct TrainReport {
    /// The function.
    pub name: String,
    /// The model's file.
    pub file: PathBuf,
    /// Kind of the model.
    pub classifier: &'static str,
    /// The model in a few words.
    pub description: String,
    /// The tree, where the model is one; else empty.
    pub tree: String,
    /// What was optimised.
    pub metric: String,
    /// Whether greater values are better.
    pub maximize: bool,
    /// Inputs that the model was trained on.
    pub inputs: usize,
    /// Inputs of the training that are labelled; fewer than there are where it was incremental or time was over.
    pub labelled: usize,
    /// Trials that were measured; others stood in the store.
    pub measured: usize,
    /// Features in use.
    pub features: Vec<String>,
    /// Names of the variants.
    pub variants: Vec<String>,
    /// For how many training inputs each variant is the best.
    pub best: Vec<usize>,
    /// Mean performance in cross-validation.
    pub cross_validated: Option<f64>,
    /// Share of inputs for which the best variant was chosen in cross-validation.
    pub accuracy: f64,
    /// Labels before the first choice of a further one; null where all were labelled.
    pub seeds: Option<usize>,
    /// Performance after each label of an incremental training; empty otherwise.
    pub steps: Vec<Step>,
    /// Whether time was over before all inputs were labelled.
    pub cut_short: bool,
    /// What was searched for values of variants' parameters; null where none has any.
    pub parameters: Option<Searched>,
    /// What each feature costs and is worth; empty where it was not asked for.
    pub worth: Vec<Worth>,
    /// The model on held-out inputs; null without any.
    pub test: Option<Evaluation>,
    /// What the same training is worth on the folds of a scenario; null where it was not asked for.
    pub scenario: Option<AcrossFolds>,
}

/// The kind of classifier of this name.
pub(super) fn kind(name: ClassifierName) -> Kind {
    match name {
        ClassifierName::Svm => Kind::Svm,
        ClassifierName::Tree => Kind::Tree,
        ClassifierName::Forest => Kind::Forest,
        ClassifierName::Auto => Kind::Auto,
    }
}

/// Trains.
///
/// # Errors
/// Sources that are none, measuring that fails altogether, no input that a variant solves.
pub fn train(arguments: &TrainArguments, session: &Session) -> Result<TrainReport> {
    let share = |value: Option<f64>, option: &str| match value {
        Some(value) if !(value > 0.0 && value < 1.0 || option == "--acc" && value == 1.0) => {
            Err(Error::wrong_input(format!("{option} {value} is not between 0 and 1")))
        }
        _ => Ok(()),
    };
    share(arguments.hold_out, "--hold-out")?;
    share(arguments.acc, "--acc")?;
    let inputs: Vec<PathBuf> =
        [Some(&arguments.file), arguments.test.as_ref()].into_iter().flatten().cloned().collect();
    let mut opened = open(&arguments.file, &arguments.source, &[])?;
    let written = [
        ("--output", Some(arguments.output.clone())),
        ("--trials", opened.trials.clone()),
        ("--html", arguments.html.clone()),
    ];
    let written: Vec<_> = written.iter().filter_map(|(name, path)| Some((*name, path.as_deref()?))).collect();
    outputs::check(&written, &inputs)?;
    let options = TrainOptions {
        kind: kind(arguments.classifier),
        folds: arguments.folds as usize,
        seed: arguments.seed,
        trees: arguments.trees as usize,
        ..TrainOptions::default()
    };
    let scenario = match &opened.source {
        Source::Table(_, table) if arguments.scenario_folds && arguments.file.is_dir() => {
            let folds = aslib::folds(&arguments.file, table).map_err(told)?;
            let features: Vec<usize> = (0..table.features.len()).collect();
            let scored =
                session.stage("train without each fold", || across_folds(table, &folds, &features, &options));
            Some(scored.map_err(told)?)
        }
        _ if arguments.scenario_folds => {
            return Err(Error::wrong_input("--scenario-folds is for scenarios of ASlib")
                .hint("--hold-out keeps a share of a table's inputs for the test"));
        }
        _ => None,
    };
    if let Source::Table(recorded, table_read) = &mut opened.source {
        if let Some(share) = arguments.hold_out {
            let data = Data::new(table_read, &opened.training, &[]);
            let held = held_out(&data.labels, share, arguments.seed);
            let out = data.places.iter().zip(&held).filter(|(_, held)| **held);
            let out: Vec<usize> = out.map(|(row, _)| *row).collect();
            opened.training.retain(|row| !out.contains(row));
            opened.test = out;
        }
        if let Some(path) = &arguments.test {
            let other = table(path, &arguments.source)?;
            if (&other.variants, &other.features) != (&table_read.variants, &table_read.features) {
                return Err(Error::wrong_input(format!(
                    "{} has other columns than {}",
                    path.display(),
                    arguments.file.display()
                )));
            }
            let first = table_read.rows.len();
            table_read.rows.extend(other.rows);
            opened.test = (first..table_read.rows.len()).collect();
            **recorded = Recorded::new(table_read.clone()).map_err(told)?;
        }
    } else if arguments.hold_out.is_some() || arguments.test.is_some() {
        return Err(Error::wrong_input("--hold-out and --test are for tables")
            .hint("name test inputs in the description"));
    }
    if opened.training.is_empty() {
        return Err(Error::wrong_input(format!("{} has no training input", arguments.file.display())));
    }
    let (objective, trials) = (opened.objective.clone(), opened.trials.clone());
    let (training, test) = (opened.training.clone(), opened.test.clone());
    let calls = arguments.source.calls;
    let search = opened.parameters(arguments.seed);
    let incremental = arguments.iter.is_some() || arguments.acc.is_some();
    let mut measured = Measured::new(opened.workload(), objective.clone(), trials.as_deref())
        .map_err(told)?
        .within(arguments.time_limit.map(Duration::from_secs));
    if let Some(store) = measured.repository() {
        session.tell_damage(store.damage());
    }
    if measured.others() > 0 {
        let others = text::count(measured.others() as u64, "trial", "trials");
        session.tell(&format!("{others} of the store are of something else: they stay, and are not used"));
    }
    let searched = search
        .map(|search| {
            session
                .stage("search parameters", || search_parameters(&mut measured, &training, &search))
                .map_err(told)
        })
        .transpose()?;
    let features: Vec<usize> = (0..measured.workload().features().len()).collect();
    let (trained, labelled, seeds, steps, cut_short) = if incremental {
        let stopping = Stopping { iterations: arguments.iter, accuracy: arguments.acc };
        let order = Order::BestVersusSecondBest;
        let tuned = session.stage("label and train", || {
            tune_incrementally(&mut measured, &training, &test, &features, stopping, order, &options)
        });
        let tuned = tuned.map_err(told)?;
        (tuned.trained, tuned.labelled, Some(tuned.seeds), tuned.steps, tuned.cut_short)
    } else {
        let options = TuneOptions { train: options, select: arguments.select_features, calls };
        let tuned =
            session.stage("label and train", || tune(&mut measured, &training, &options)).map_err(told)?;
        let labelled = training[..tuned.table.rows.len()].to_vec();
        (tuned.trained, labelled, None, Vec::new(), tuned.cut_short)
    };
    let learned = measured.table(&labelled);
    let rows = learned.trainable();
    let worth = match arguments.worth && !rows.is_empty() {
        true => session
            .stage("worth of features", || worth_by_cost(&learned, &rows, calls, &options))
            .map_err(told)?,
        false => Vec::new(),
    };
    let mut model: Model = trained.model;
    if arguments.file.extension().is_some_and(|end| end == "toml") {
        model.training.machine = cpu_name();
    }
    let mut labels = Vec::new();
    for &input in &test {
        if measured.is_over() && !measured.is_labelled(input) {
            continue;
        }
        measured.label(input).map_err(told)?;
        labels.push(input);
    }
    let evaluation = match labels.is_empty() {
        true => None,
        false => Some(evaluate(&model, &measured.table(&labels), calls).map_err(told)?),
    };
    let fresh = measured.fresh();
    drop(measured);
    opened.clean()?;
    session.stage("write", || model_file::write(&arguments.output, &model)).map_err(told)?;
    let tree = shown::tree(&model);
    if let Some(path) = &arguments.html {
        let description = format!(
            "{} trained on {} inputs, {} of {} features.",
            model.classifier.description(),
            model.training.inputs,
            model.features.len(),
            features.len()
        );
        let content = Content {
            name: &model.name,
            description,
            tree: &tree,
            evaluation: evaluation.as_ref(),
            steps: &steps,
            worth: &worth,
        };
        session.stage("page", || page::write(path, &content))?;
    }
    Ok(TrainReport {
        name: model.name.clone(),
        file: arguments.output.clone(),
        classifier: model.classifier.name(),
        description: model.classifier.description(),
        tree,
        metric: model.training.metric.clone(),
        maximize: model.training.maximize,
        inputs: model.training.inputs,
        labelled: labelled.len(),
        measured: fresh,
        features: model.feature_names(),
        best: learned.label_counts(),
        cross_validated: model.training.cross_validated,
        accuracy: trained.validated.accuracy,
        variants: model.variants,
        seeds,
        steps,
        cut_short: cut_short || searched.as_ref().is_some_and(|own| own.cut_short),
        parameters: searched,
        worth,
        test: evaluation,
        scenario,
    })
}

impl Report for TrainReport {
    const SCHEMA: &'static str = "tilewright.adaptive-train/1";

    fn text(&self) -> String {
        let percent = shown::percent;
        let better = if self.maximize { "greatest" } else { "least" };
        let best: Vec<String> =
            self.variants.iter().zip(&self.best).map(|(name, count)| format!("{name} {count}")).collect();
        let mut lines = vec![
            ("function", format!("{}, {better} {}", self.name, self.metric)),
            ("model", self.description.clone()),
            ("inputs", {
                let cut = if self.cut_short { "; time was over" } else { "" };
                format!(
                    "{} labelled, {} trained on, {} trials measured{cut}",
                    self.labelled, self.inputs, self.measured
                )
            }),
            ("best variants", report::listed(&best, 90)),
            ("features", report::listed(&self.features, 90)),
        ];
        if let Some(own) = &self.parameters {
            let searches = text::count(own.searches as u64, "search", "searches");
            let classes = text::count(own.classes as u64, "class", "classes");
            let kept = percent(own.kept_of_best);
            let told = format!(
                "{searches} by {} for {classes} of inputs; variants keep {kept} of the best found",
                own.method
            );
            lines.push(("parameters", told));
        }
        if let Some(performance) = self.cross_validated {
            let accuracy = percent(self.accuracy);
            lines.push((
                "cross-validated",
                format!("{} of exhaustive search; the best variant in {accuracy}", percent(performance)),
            ));
        }
        if let (Some(seeds), Some(last)) = (self.seeds, self.steps.last()) {
            let reached = last.performance.map(|value| format!(", {} on the test inputs", percent(value)));
            lines.push((
                "labels",
                format!("{seeds} first ones, {} in all{}", last.labels, reached.unwrap_or_default()),
            ));
        }
        lines.push(("file", self.file.display().to_string()));
        let mut text = report::pairs(&lines);
        if !self.tree.is_empty() {
            text.push_str(&format!("\n{}", report::indented(&self.tree)));
        }
        if !self.worth.is_empty() {
            let rows: Vec<Vec<String>> = self
                .worth
                .iter()
                .map(|worth| {
                    vec![
                        worth.feature.clone(),
                        percent(worth.cost),
                        percent(worth.performance),
                        percent(worth.net),
                    ]
                })
                .collect();
            let header = ["feature, in order of cost", "cost", "performance", "less all costs"];
            text.push_str(&format!("\n{}", report::table(&header, &rows, &[1, 2, 3])));
        }
        if let Some(own) = &self.scenario {
            text.push_str(&format!("\n{}", shown::across_folds(own)));
        }
        if let Some(test) = &self.test {
            text.push_str(&format!("\n{}", shown::evaluation(test)));
        }
        text
    }
}
