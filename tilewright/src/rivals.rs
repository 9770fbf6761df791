//! Why one strategy wins: the best tiles of all that a choice considers, side by side.

use cost_models::time::Terms;
use hhc_codegen::TileSizes;
use optimizer::{SubProblem, Tuned};
use serde::Serialize;

/// A strategy beside the best one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rival {
    /// Name of the strategy.
    pub strategy: &'static str,
    /// Its best tile; null where none fits.
    pub tile: Option<TileSizes>,
    /// Its predicted time.
    pub seconds: Option<f64>,
    /// How many times as long as the best one it takes.
    pub times: Option<f64>,
    /// Its terms less those of the best one, in seconds.
    pub more: Option<Terms>,
    /// The term that makes most of the difference; null of the best one.
    pub most: Option<&'static str>,
    /// Why there is no tile.
    pub reason: Option<String>,
}

/// The strategies' optima by their time, the best one first; behind them those that have none.
pub fn rivals(solved: &[SubProblem]) -> Vec<Rival> {
    let mut tuned: Vec<&Tuned> = solved.iter().filter_map(|own| own.result.as_ref().ok()).collect();
    tuned.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    let with_tile = tuned.iter().enumerate().map(|(index, own)| {
        let more = own.evaluation.prediction.terms.less(&tuned[0].evaluation.prediction.terms);
        Rival {
            strategy: own.choice.strategy,
            tile: Some(own.choice.tile.clone()),
            seconds: Some(seconds(own)),
            times: Some(seconds(own) / seconds(tuned[0])),
            more: Some(more),
            most: (index > 0).then(|| more.largest().0),
            reason: None,
        }
    });
    let without = solved.iter().filter_map(|own| {
        let reason = own.result.as_ref().err()?.to_string();
        let strategy = own.strategy;
        Some(Rival {
            strategy,
            tile: None,
            seconds: None,
            times: None,
            more: None,
            most: None,
            reason: Some(reason),
        })
    });
    with_tile.chain(without).collect()
}

fn seconds(tuned: &Tuned) -> f64 {
    tuned.evaluation.prediction.seconds
}
