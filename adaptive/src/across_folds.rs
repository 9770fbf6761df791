//! What training is worth on folds that are given: each in turn is held out, and nothing of it is looked at before. Scenarios of
//! ASlib state their folds, so that these scores stand beside published ones.

use crate::error::{AdaptiveError, Result};
use crate::table::{Row, Table};
use crate::train::{Data, TrainOptions, par10, train};
use serde::Serialize;

/// Scores of one fold: mean times of its inputs, what is late or fails with ten time limits, features charged to the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoldScore {
    /// Inputs of the fold, those that no variant solves, too.
    pub inputs: usize,
    /// Of the choices.
    pub model: f64,
    /// Of the variant that is the best one for all inputs of the other folds.
    pub best_single: f64,
    /// Of the best variant for each input.
    pub exhaustive: f64,
    /// Share of what lies between the latter two that the model loses: 0 for the best choices, 1 for the best single variant; null
    /// where there is nothing.
    pub lost: Option<f64>,
    /// Whether the model of the other folds is one variant for all.
    pub single: bool,
}

/// Scores of all folds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AcrossFolds {
    /// Means over the folds.
    pub model: f64,
    /// The same of the best single variant.
    pub best_single: f64,
    /// The same of the best variant for each input.
    pub exhaustive: f64,
    /// Mean of what the folds lose (nPAR10).
    pub lost: Option<f64>,
    /// Each fold.
    pub folds: Vec<FoldScore>,
}

/// Trains without each fold, and scores its inputs.
///
/// # Errors
/// A table without a time limit; fewer than two folds, or one without which nothing can be trained.
pub fn across_folds(
    table: &Table,
    folds: &[usize],
    features: &[usize],
    options: &TrainOptions,
) -> Result<AcrossFolds> {
    let Some(cutoff) = table.cutoff else {
        let reason = "scores across folds are of times with a limit, and this table has none".to_owned();
        return Err(AdaptiveError::request(reason, "hold inputs out instead"));
    };
    let count = folds.iter().max().map_or(0, |last| last + 1);
    if count < 2 || folds.len() != table.rows.len() {
        return Err(AdaptiveError::request("there are fewer than two folds".to_owned(), ""));
    }
    let scores = (0..count).map(|fold| score(table, folds, fold, features, options, cutoff));
    let folds = scores.collect::<Result<Vec<FoldScore>>>()?;
    let mean = |value: &dyn Fn(&FoldScore) -> f64| folds.iter().map(value).sum::<f64>() / folds.len() as f64;
    let lost: Vec<f64> = folds.iter().filter_map(|fold| fold.lost).collect();
    Ok(AcrossFolds {
        model: mean(&|fold| fold.model),
        best_single: mean(&|fold| fold.best_single),
        exhaustive: mean(&|fold| fold.exhaustive),
        lost: (!lost.is_empty()).then(|| lost.iter().sum::<f64>() / lost.len() as f64),
        folds,
    })
}

fn score(
    table: &Table,
    folds: &[usize],
    fold: usize,
    features: &[usize],
    options: &TrainOptions,
    cutoff: f64,
) -> Result<FoldScore> {
    let (held, others): (Vec<usize>, Vec<usize>) = (0..folds.len()).partition(|&row| folds[row] == fold);
    let model = train(table, &others, features, options)?.model;
    let place = |name: &String| table.features.iter().position(|own| own == name);
    let used: Vec<usize> = model.features.iter().filter_map(|feature| place(&feature.name)).collect();
    let known = Data::new(table, &others, &[]);
    let single = known.best_single(&(0..known.len()).collect::<Vec<usize>>());
    let cost = |row: &Row, variant: usize| row.costs.get(variant).copied().unwrap_or(f64::INFINITY);
    let mean = |value: &dyn Fn(usize) -> f64| {
        held.iter().map(|&row| par10(value(row), cutoff)).sum::<f64>() / held.len().max(1) as f64
    };
    let own = mean(&|at| {
        let row = &table.rows[at];
        let point: Vec<f64> = used.iter().map(|&feature| row.features[feature]).collect();
        let chosen =
            if point.iter().all(|value| value.is_finite()) { model.best(&point) } else { model.default };
        cost(row, chosen) + table.charge(at, &used, 1.0)
    });
    let best_single = mean(&|at| cost(&table.rows[at], single));
    let exhaustive = mean(&|at| table.rows[at].best().unwrap_or(f64::INFINITY));
    let gap = best_single - exhaustive;
    let lost = (gap > 1e-9 * best_single).then(|| (own - exhaustive) / gap);
    Ok(FoldScore { inputs: held.len(), model: own, best_single, exhaustive, lost, single: used.is_empty() })
}
