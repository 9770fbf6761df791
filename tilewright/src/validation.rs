//! Predictions against measurements: which tiles are measured, and how well the model fits and picks.

use crate::error::{Error, Result};
use crate::model::{Model, Residence};
use execution::trials::Fit;
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::Strategy;
use optimizer::{Method, Objective};
use serde::Serialize;

/// A tile that was measured.
#[derive(Debug, Clone, Serialize)]
pub struct Sample {
    /// Its sizes.
    pub tile: String,
    /// Predicted time in seconds.
    pub predicted_s: f64,
    /// Median of the measured times in seconds.
    pub measured_s: f64,
    /// Median of the absolute differences from it.
    pub dispersion_s: f64,
}

/// How well a model does.
#[derive(Debug, Clone, Serialize)]
pub struct Validation {
    /// Tiles that were measured, the model's own choice not counted.
    pub samples: usize,
    /// How well predictions fit, the model's own choice not counted.
    #[serde(flatten)]
    pub fit: Fit,
    /// The best measured tile.
    pub best_tile: String,
    /// The tile that the model picks.
    pub picked_tile: String,
    /// Its predicted time in seconds.
    pub picked_predicted_s: f64,
    /// Its measured time in seconds.
    pub picked_measured_s: f64,
    /// `picked_measured_s / best_measured_s`
    pub picked_over_best: f64,
    /// The place of the picked tile among all measured ones; 1 is the fastest.
    pub rank_of_picked: usize,
    /// All tiles; the last one is the model's own choice.
    pub tiles: Vec<Sample>,
}

/// About `number` tiles of a strategy that are spread over all sizes, and behind them the one that the model picks.
///
/// # Errors
/// No tile fits.
pub fn tiles(
    model: &Model,
    strategy: &'static dyn Strategy,
    number: usize,
    seed: u64,
) -> Result<Vec<TileSizes>> {
    let picked = model.tune(strategy.id(), Method::Exact, Objective::Time)?.tuned.choice.tile;
    let mut tiles = model.sample(strategy, number, seed)?;
    tiles.retain(|tile| *tile != picked);
    tiles.push(picked);
    Ok(tiles)
}

/// The time in seconds that the model predicts for a tile, with as many resident ones as fit.
///
/// # Errors
/// A tile that cannot be counted.
pub fn predicted_s(model: &Model, strategy: &'static dyn Strategy, tile: &TileSizes) -> Result<f64> {
    Ok(model.cost(strategy, tile, Residence::Most)?.0.prediction.seconds)
}

impl Validation {
    /// Judges a model by tiles that were measured, the one that it picked last.
    ///
    /// # Errors
    /// Fewer than two tiles.
    pub fn of(samples: Vec<Sample>) -> Result<Validation> {
        let none = || Error::infeasible("no tile was measured");
        let (picked, drawn) = samples.split_last().ok_or_else(none)?;
        let pairs: Vec<(f64, f64)> = drawn.iter().map(|own| (own.predicted_s, own.measured_s)).collect();
        let fit = Fit::of(&pairs).ok_or_else(none)?;
        let best = drawn.iter().find(|sample| sample.measured_s == fit.best_measured_s);
        Ok(Validation {
            samples: drawn.len(),
            best_tile: best.map(|sample| sample.tile.clone()).unwrap_or_default(),
            picked_tile: picked.tile.clone(),
            picked_predicted_s: picked.predicted_s,
            picked_measured_s: picked.measured_s,
            picked_over_best: picked.measured_s / fit.best_measured_s,
            rank_of_picked: 1 + drawn.iter().filter(|own| own.measured_s < picked.measured_s).count(),
            fit,
            tiles: samples,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picked_tile_is_ranked_among_the_drawn_ones() {
        let sample = |tile: &str, predicted_s, measured_s| Sample {
            tile: tile.to_owned(),
            predicted_s,
            measured_s,
            dispersion_s: 0.0,
        };
        let samples = vec![sample("a", 1.0, 1.0), sample("b", 3.0, 2.0), sample("c", 1.0, 1.5)];
        let judged = Validation::of(samples).unwrap();
        assert_eq!((judged.samples, judged.rank_of_picked, judged.tiles.len()), (2, 2, 3));
        assert_eq!((judged.best_tile.as_str(), judged.picked_tile.as_str()), ("a", "c"));
        assert_eq!((judged.picked_over_best, judged.fit.top20), (1.5, 1));
        assert!(Validation::of(vec![sample("a", 1.0, 1.0)]).is_err() && Validation::of(Vec::new()).is_err());
    }
}
