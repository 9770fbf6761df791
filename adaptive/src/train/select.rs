//! Which features are worth what they cost.
//!
//! Performance here is net: the best variant's cost over that of the chosen one and of the features, which is divided by the
//! number of calls that they serve.

use super::data::Data;
use super::model::{TrainOptions, fit_best};
use super::svm::Grid;
use crate::error::Result;
use crate::table::Table;
use serde::Serialize;

/// What a feature adds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Worth {
    /// The feature.
    pub feature: String,
    /// What evaluating it costs, as a share of the best variant's cost, mean over the inputs.
    pub cost: f64,
    /// Cross-validated performance with this feature and those before it, features not charged.
    pub performance: f64,
    /// The same, features charged.
    pub net: f64,
}

/// A feature is taken if it adds more than this.
const LEAST_GAIN: f64 = 1e-3;
/// Of more features nobody begins with all: that takes half their square of cross-validations.
const FROM_ALL: usize = 16;

/// Of so many inputs folds say by themselves what features are worth; of fewer, where one that is drawn into another fold turns the
/// balance, this many draws of folds do together.
const ENOUGH: usize = 200;
const DRAWS: u64 = 3;

/// Cross-validated performance with some features, and the same with what they cost.
fn performance(
    table: &Table,
    rows: &[usize],
    features: &[usize],
    calls: f64,
    options: &TrainOptions,
) -> [f64; 2] {
    let data = Data { choosing: options.choosing, ..Data::new(table, rows, features) };
    let draws = if data.len() < ENOUGH { DRAWS } else { 1 };
    let of_draw = |draw: u64| {
        let seed = options.seed.wrapping_add(draw);
        let (_, validated) = fit_best(&data, &TrainOptions { grid: Grid::COARSE, seed, ..*options });
        let choices = validated.chosen.iter().zip(&validated.added);
        let net = data.places.iter().zip(choices).filter_map(|(&row, (&chosen, added))| {
            table.rows[row].performance(chosen, table.charge(row, features, calls) + added)
        });
        [validated.performance, net.sum::<f64>() / data.len().max(1) as f64]
    };
    let all: Vec<[f64; 2]> = (0..draws).map(of_draw).collect();
    [0, 1].map(|at| all.iter().map(|own| own[at]).sum::<f64>() / draws as f64)
}

/// What a feature costs, as a share of the best variant's cost.
fn cost(table: &Table, rows: &[usize], feature: usize, calls: f64) -> f64 {
    let shares = rows.iter().filter_map(|&row| {
        let best = table.rows[row].best().filter(|best| *best > 0.0)?;
        Some(table.charge(row, &[feature], calls) / best)
    });
    shares.clone().sum::<f64>() / shares.count().max(1) as f64
}

/// Cost and worth of each feature added in the order of its cost.
///
/// # Errors
/// A table that makes no sense.
pub fn worth_by_cost(
    table: &Table,
    rows: &[usize],
    calls: f64,
    options: &TrainOptions,
) -> Result<Vec<Worth>> {
    table.check()?;
    let costs: Vec<f64> = (0..table.features.len()).map(|at| cost(table, rows, at, calls)).collect();
    let mut order: Vec<usize> = (0..table.features.len()).collect();
    order.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
    let worth = |at: usize| {
        let [performance, net] = performance(table, rows, &order[..=at], calls, options);
        Worth { feature: table.features[order[at]].clone(), cost: costs[order[at]], performance, net }
    };
    Ok((0..order.len()).map(worth).collect())
}

/// The features that are worth their costs: from none on, the one that adds most is taken while it adds something; from all on, where they
/// are few, the one without which most is reached is left out while nothing is lost. The better end of the two counts:
/// where one feature alone says next to nothing and two together say all, the first way ends too early.
///
/// # Errors
/// A table that makes no sense.
pub fn select_features(
    table: &Table,
    rows: &[usize],
    calls: f64,
    options: &TrainOptions,
) -> Result<Vec<usize>> {
    table.check()?;
    let net = |features: &[usize]| performance(table, rows, features, calls, options)[1];
    let all: Vec<usize> = (0..table.features.len()).collect();
    let added = |chosen: &[usize]| {
        let free = all.iter().filter(|at| !chosen.contains(at));
        let with = |at: &usize| {
            let mut with = [chosen, &[*at]].concat();
            with.sort_unstable();
            (net(&with), with)
        };
        free.map(with).reduce(better)
    };
    let left_out = |chosen: &[usize]| {
        let without = |at: &usize| {
            let without: Vec<usize> = chosen.iter().copied().filter(|own| own != at).collect();
            (net(&without), without)
        };
        chosen.iter().map(without).reduce(better)
    };
    let mut upwards = (net(&[]), Vec::new());
    while let Some(next) = added(&upwards.1).filter(|next| next.0 > upwards.0 + LEAST_GAIN) {
        upwards = next;
    }
    let from_all = (2..=FROM_ALL).contains(&all.len()).then(|| (net(&all), all.clone()));
    let ends = [from_all, Some(upwards)].into_iter().flatten().map(|mut end| {
        while let Some(next) = left_out(&end.1).filter(|next| next.0 >= end.0) {
            end = next;
        }
        end
    });
    Ok(ends.reduce(better).unwrap_or_default().1)
}

/// The better one of two, the first one of equal ones.
fn better(one: (f64, Vec<usize>), other: (f64, Vec<usize>)) -> (f64, Vec<usize>) {
    if other.0 > one.0 { other } else { one }
}
