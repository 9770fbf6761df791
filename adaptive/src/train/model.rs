//! A model of a table: a trainer's best setting, or the best trainer, trained on all rows.

use super::data::{Data, PENALTY, par10};
use super::forest::ForestTrainer;
use super::svm::{Grid, SvmTrainer};
use super::trainer::Trainer;
use super::tree::TreeTrainer;
use super::validate::{Criterion, Validated, best_setting};
use crate::classifier::Learned;
use crate::error::{AdaptiveError, Result};
use crate::forest::Forest;
use crate::model::{Feature, Model, Training};
use crate::table::Table;

/// A kind of classifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Support vectors.
    #[default]
    Svm,
    /// A tree that can be read.
    Tree,
    /// Forests of pairs, which weigh mistakes by what they cost.
    Forest,
    /// That of the three which cross-validation likes best.
    Auto,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Svm, Kind::Tree, Kind::Forest, Kind::Auto];

    /// As options name it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Svm => "svm",
            Kind::Tree => "tree",
            Kind::Forest => "forest",
            Kind::Auto => "auto",
        }
    }

    /// The kind of this name.
    ///
    /// # Errors
    /// An unknown name.
    pub fn named(name: &str) -> Result<Kind> {
        let names = Kind::ALL.map(Kind::name);
        let found = Kind::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| AdaptiveError::unknown("classifier", name, &names))
    }
}

/// How models are trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainOptions {
    /// The kind of classifier.
    pub kind: Kind,
    /// Folds of the cross-validation.
    pub folds: usize,
    /// Seed of folds and draws.
    pub seed: u64,
    /// What is tried for support vectors.
    pub grid: Grid,
    /// Trees of each pair of a forest.
    pub trees: usize,
    /// The share of a choice's own time that counts with each cost, where costs are seconds: 1 / calls that one choice serves. With 0
    /// choosing is for nothing.
    pub choosing: f64,
}

impl Default for TrainOptions {
    fn default() -> TrainOptions {
        TrainOptions { kind: Kind::Svm, folds: 5, seed: 0, grid: Grid::FULL, trees: 30, choosing: 0.0 }
    }
}

/// Inputs above which the grid of support vectors is the coarse one.
const MANY: usize = 500;

/// Most trees of each pair of a forest in cross-validation: fewer than those of the model choose no better.
const VALIDATED_TREES: usize = 30;

/// A trained model, and what cross-validation says of it.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The model.
    pub model: Model,
    /// What cross-validation says; nothing was held out where there are fewer than two inputs.
    pub validated: Validated,
}

/// Trains a model on some rows and features of a table. Where there is a time limit, and in cross-validation the choices with
/// what features cost lose more than one variant for all, the model is that variant, and needs no feature.
///
/// # Errors
/// A table that makes no sense; no row with a label and all features.
pub fn train(table: &Table, rows: &[usize], features: &[usize], options: &TrainOptions) -> Result<Trained> {
    table.check()?;
    let with = Data::new(table, rows, features);
    let trained = train_on(table, with.clone(), features, options)?;
    let Some(cutoff) = table.cutoff.filter(|_| !features.is_empty()) else { return Ok(trained) };
    let without = Data::new(table, rows, &[]);
    let all: Vec<usize> = (0..without.len()).collect();
    let single = without.best_single(&all);
    // What both lose against the best variants; a charge can make a run late.
    let time =
        |row: usize, variant: usize| with.costs[row][variant] + table.charge(with.places[row], features, 1.0);
    let chosen = trained.validated.chosen.iter().enumerate();
    let late = |(row, &variant): (usize, &usize)| par10(time(row, variant), cutoff) / (PENALTY * cutoff);
    let single_time = |row: usize| par10(with.costs[row][single], cutoff) / (PENALTY * cutoff);
    if chosen.map(late).sum::<f64>() < (0..with.len()).map(single_time).sum::<f64>() {
        return Ok(trained);
    }
    let mean =
        |value: &dyn Fn(usize) -> f64| all.iter().map(|&row| value(row)).sum::<f64>() / all.len() as f64;
    let validated = Validated {
        setting: 0,
        performance: mean(&|row| without.performance(row, single)),
        loss: mean(&|row| without.loss(row, single)),
        accuracy: mean(&|row| f64::from(u8::from(without.labels[row] == single))),
        chosen: vec![single; without.len()],
        added: vec![0.0; without.len()],
    };
    let learned = Learned::Forest(Forest::new(vec![single], Vec::new()));
    Ok(Trained { model: model_of(table, &without, &[], learned, &validated, options), validated })
}

/// As [`train`], with data at hand: rows may stand for several inputs.
pub(crate) fn train_on(
    table: &Table,
    mut data: Data,
    features: &[usize],
    options: &TrainOptions,
) -> Result<Trained> {
    data.choosing = options.choosing;
    if data.is_empty() {
        return Err(AdaptiveError::infeasible(
            format!("no input of `{}` has a variant that solves it and all its features", table.name),
            "measure more inputs, or give variants more time",
        ));
    }
    let (learned, validated) = fit_best(&data, options);
    Ok(Trained { model: model_of(table, &data, features, learned, &validated, options), validated })
}

fn model_of(
    table: &Table,
    data: &Data,
    features: &[usize],
    classifier: Learned,
    validated: &Validated,
    options: &TrainOptions,
) -> Model {
    let feature = |(at, &place): (usize, &usize)| {
        let values = data.points.iter().map(|point| point[at]);
        Feature {
            name: table.features[place].clone(),
            least: values.clone().fold(f64::INFINITY, f64::min),
            greatest: values.fold(f64::NEG_INFINITY, f64::max),
        }
    };
    Model {
        name: table.name.clone(),
        variants: table.variants.clone(),
        default: table.default,
        features: features.iter().enumerate().map(feature).collect(),
        constants: Vec::new(),
        training: Training {
            inputs: data.len(),
            metric: table.metric.clone(),
            maximize: table.maximize,
            cross_validated: (data.len() > 1).then_some(validated.performance),
            machine: String::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: options.seed,
        },
        classifier,
    }
}

/// The best classifier of the kind that is asked for, trained on all rows.
pub(crate) fn fit_best(data: &Data, options: &TrainOptions) -> (Learned, Validated) {
    let grid = if data.len() > MANY && options.grid == Grid::FULL { Grid::COARSE } else { options.grid };
    let svm = SvmTrainer { grid };
    let forest = ForestTrainer { trees: options.trees.min(VALIDATED_TREES), seed: options.seed };
    let trainers: Vec<&dyn Trainer> = match options.kind {
        Kind::Svm => vec![&svm],
        Kind::Tree => vec![&TreeTrainer],
        Kind::Forest => vec![&forest],
        Kind::Auto => vec![&svm, &TreeTrainer, &forest],
    };
    let mut best: Option<(&dyn Trainer, Validated)> = None;
    for trainer in trainers {
        let validated =
            best_setting(trainer, data, options.folds.max(2), options.seed, Criterion::Performance);
        if best.as_ref().is_none_or(|(_, best)| validated.loss < best.loss - 1e-12) {
            best = Some((trainer, validated));
        }
    }
    let all: Vec<usize> = (0..data.len()).collect();
    let (trainer, validated) =
        best.unwrap_or_else(|| (&svm, best_setting(&svm, data, 2, options.seed, Criterion::Performance)));
    let whole = ForestTrainer { trees: options.trees, ..forest };
    let trainer: &dyn Trainer = if trainer.name() == whole.name() { &whole } else { trainer };
    (trainer.fit(data, &all, validated.setting), validated)
}
