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

/// Cross-validated performance with some features, and the same with what they cost.
fn performance(
    table: &Table,
    rows: &[usize],
    features: &[usize],
    calls: f64,
    options: &TrainOptions,
) -> [f64; 2] {
    let data = Data::new(table, rows, features);
    let options = TrainOptions { grid: Grid::COARSE, ..*options };
    let (_, validated) = fit_best(&data, &options);
    let net = data.places.iter().zip(&validated.chosen).filter_map(|(&row, &chosen)| {
        table.rows[row].performance(chosen, table.charge(row, features, calls))
    });
    [validated.performance, net.sum::<f64>() / data.len().max(1) as f64]
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

/// The features that are worth their costs: from none on, the one that adds most is taken while it adds something; then
/// those that others made useless are left out.
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
    let mut chosen: Vec<usize> = Vec::new();
    let mut reached = net(&chosen);
    loop {
        let free: Vec<usize> = (0..table.features.len()).filter(|at| !chosen.contains(at)).collect();
        let tried = free.into_iter().map(|at| {
            let mut with = chosen.clone();
            with.push(at);
            with.sort_unstable();
            (net(&with), with)
        });
        let best = tried.reduce(|best, other| if other.0 > best.0 { other } else { best });
        match best {
            Some((value, with)) if value > reached + LEAST_GAIN => (reached, chosen) = (value, with),
            _ => break,
        }
    }
    let mut at = 0;
    while chosen.len() > 1 && at < chosen.len() {
        let mut without = chosen.clone();
        without.remove(at);
        let value = net(&without);
        if value >= reached {
            (reached, chosen) = (value, without);
        } else {
            at += 1;
        }
    }
    Ok(chosen)
}
