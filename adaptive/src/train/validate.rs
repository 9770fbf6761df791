//! Cross-validation: what a trainer's settings are worth, and the best of them.

use super::data::Data;
use super::folds::folds;
use super::trainer::Trainer;
use crate::classifier::{Classifier, Learned};
use crate::ranking::Ranking;
use rayon::prelude::*;

/// What came of cross-validation.
#[derive(Debug, Clone, PartialEq)]
pub struct Validated {
    /// The setting.
    pub setting: usize,
    /// Mean performance of held-out rows against their best variants.
    pub performance: f64,
    /// What held-out rows lost on the mean ([`Data::loss`]): where there is a time limit, more than performance says.
    pub loss: f64,
    /// Share of held-out rows for which the best variant was chosen.
    pub accuracy: f64,
    /// The choice for each row when it was held out.
    pub chosen: Vec<usize>,
    /// What each choice adds to the cost ([`Data::choosing`]), which is in performance and loss.
    pub added: Vec<f64>,
}

/// The choice of a classifier.
pub fn choose(classifier: &Learned, point: &[f64], default: usize) -> usize {
    let mut ranking = Ranking::new();
    classifier.rank(point, &mut ranking);
    ranking.best().unwrap_or(default)
}

/// Validates one setting.
pub fn validate(trainer: &dyn Trainer, data: &Data, folds: &[usize], setting: usize) -> Validated {
    let count = folds.iter().max().map_or(0, |last| last + 1);
    let mut chosen = vec![data.default; data.len()];
    let mut added = vec![0.0; data.len()];
    for fold in 0..count {
        let train: Vec<usize> = (0..data.len()).filter(|&row| folds[row] != fold).collect();
        if train.is_empty() {
            continue;
        }
        let classifier = trainer.fit(data, &train, setting);
        for row in (0..data.len()).filter(|&row| folds[row] == fold) {
            chosen[row] = choose(&classifier, &data.points[row], data.default);
            added[row] = data.choosing * classifier.seconds();
        }
    }
    let mean = |value: &dyn Fn(usize) -> f64| {
        let total: f64 = data.weights.iter().sum();
        let sum: f64 = (0..data.len()).map(|row| data.weights[row] * value(row)).sum();
        if total > 0.0 { sum / total } else { 0.0 }
    };
    let performance = mean(&|row| data.net_performance(row, chosen[row], added[row]));
    let loss = mean(&|row| data.net_loss(row, chosen[row], added[row]));
    let accuracy = mean(&|row| f64::from(u8::from(chosen[row] == data.labels[row])));
    Validated { setting, performance, loss, accuracy, chosen, added }
}

/// What settings are compared by, first and then where that is equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Criterion {
    /// What is lost, which without a time limit is what performance lacks; then accuracy.
    Performance,
    /// Accuracy, then performance: of few inputs, where a model that always takes the safe variant would seem best.
    Accuracy,
}

/// The best setting of a trainer by a criterion; of equal ones the simplest.
pub fn best_setting(
    trainer: &dyn Trainer,
    data: &Data,
    count: usize,
    seed: u64,
    criterion: Criterion,
) -> Validated {
    let folds = folds(&data.labels, count, seed);
    let each = (0..trainer.settings(data)).into_par_iter();
    let validated: Vec<Validated> = each.map(|setting| validate(trainer, data, &folds, setting)).collect();
    let key = |own: &Validated| match criterion {
        Criterion::Performance => [-own.loss, own.accuracy],
        Criterion::Accuracy => [own.accuracy, -own.loss],
    };
    let better = |a: &Validated, b: &Validated| {
        let (a, b) = (key(a), key(b));
        (0..2).find(|&at| (a[at] - b[at]).abs() > 1e-12).is_some_and(|at| a[at] > b[at])
    };
    let best = validated.into_iter().reduce(|best, other| if better(&other, &best) { other } else { best });
    best.unwrap_or(Validated {
        setting: 0,
        performance: 0.0,
        loss: 1.0,
        accuracy: 0.0,
        chosen: Vec::new(),
        added: Vec::new(),
    })
}
