//! A model of a table: a trainer's best setting, or the best trainer, trained on all rows.

use super::data::Data;
use super::forest::ForestTrainer;
use super::svm::{Grid, SvmTrainer};
use super::trainer::Trainer;
use super::tree::TreeTrainer;
use super::validate::{Criterion, Validated, best_setting};
use crate::classifier::Learned;
use crate::error::{AdaptiveError, Result};
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
}

impl Default for TrainOptions {
    fn default() -> TrainOptions {
        TrainOptions { kind: Kind::Svm, folds: 5, seed: 0, grid: Grid::FULL, trees: 30 }
    }
}

/// Inputs above which the grid of support vectors is the coarse one.
const MANY: usize = 500;

/// A trained model, and what cross-validation says of it.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The model.
    pub model: Model,
    /// What cross-validation says; nothing was held out where there are fewer than two inputs.
    pub validated: Validated,
}

/// Trains a model on some rows and features of a table.
///
/// # Errors
/// A table that makes no sense; no row with a label and all features.
pub fn train(table: &Table, rows: &[usize], features: &[usize], options: &TrainOptions) -> Result<Trained> {
    table.check()?;
    train_on(table, Data::new(table, rows, features), features, options)
}

/// As [`train`], with data at hand: rows may stand for several inputs.
pub(crate) fn train_on(
    table: &Table,
    data: Data,
    features: &[usize],
    options: &TrainOptions,
) -> Result<Trained> {
    if data.is_empty() {
        return Err(AdaptiveError::infeasible(
            format!("no input of `{}` has a variant that solves it and all its features", table.name),
            "measure more inputs, or give variants more time",
        ));
    }
    let (learned, validated) = fit_best(&data, options);
    let feature = |(at, &place): (usize, &usize)| {
        let values = data.points.iter().map(|point| point[at]);
        Feature {
            name: table.features[place].clone(),
            least: values.clone().fold(f64::INFINITY, f64::min),
            greatest: values.fold(f64::NEG_INFINITY, f64::max),
        }
    };
    let model = Model {
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
        classifier: learned,
    };
    Ok(Trained { model, validated })
}

/// The best classifier of the kind that is asked for, trained on all rows.
pub(crate) fn fit_best(data: &Data, options: &TrainOptions) -> (Learned, Validated) {
    let grid = if data.len() > MANY && options.grid == Grid::FULL { Grid::COARSE } else { options.grid };
    let svm = SvmTrainer { grid };
    let forest = ForestTrainer { trees: options.trees, seed: options.seed };
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
        if best.as_ref().is_none_or(|(_, best)| validated.performance > best.performance + 1e-12) {
            best = Some((trainer, validated));
        }
    }
    let all: Vec<usize> = (0..data.len()).collect();
    let (trainer, validated) =
        best.unwrap_or_else(|| (&svm, best_setting(&svm, data, 2, options.seed, Criterion::Performance)));
    (trainer.fit(data, &all, validated.setting), validated)
}
