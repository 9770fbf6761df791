//! Predictions against measurements: which tiles are measured, and how well the model fits and picks.

use crate::error::{Error, Result};
use crate::model::{Model, Residence};
use execution::trials::Fit;
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::Strategy;
use optimizer::{Method, Objective};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

mod energy;

pub use energy::{Energies, energies, with_energies};

/// What is predicted and measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Seconds.
    Time,
    /// Joules.
    Energy,
}

impl Metric {
    /// What the model's own choice has least of.
    pub fn objective(self) -> Objective {
        match self {
            Metric::Time => Objective::Time,
            Metric::Energy => Objective::Energy,
        }
    }

    /// What keys of values end with in documents.
    fn suffix(self) -> &'static str {
        match self {
            Metric::Time => "s",
            Metric::Energy => "j",
        }
    }
}

/// A tile that was measured.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Its sizes.
    pub tile: String,
    /// The predicted value.
    pub predicted: f64,
    /// Median of the measured values.
    pub measured: f64,
    /// Median of the absolute differences from it.
    pub dispersion: f64,
}

/// How well a model does.
#[derive(Debug, Clone)]
pub struct Validation {
    /// What was compared.
    pub metric: Metric,
    /// Tiles that were measured, the model's own choice not counted.
    pub samples: usize,
    /// How well predictions fit, the model's own choice not counted.
    pub fit: Fit,
    /// The best measured tile.
    pub best_tile: String,
    /// The tile that the model picks.
    pub picked_tile: String,
    /// Its predicted value.
    pub picked_predicted: f64,
    /// Its measured value.
    pub picked_measured: f64,
    /// `picked_measured / best_measured`
    pub picked_over_best: f64,
    /// The place of the picked tile among all measured ones; 1 is the best.
    pub rank_of_picked: usize,
    /// All tiles; the last one is the model's own choice.
    pub tiles: Vec<Sample>,
}

/// Values have their unit in the name: `measured_s`, `measured_j`.
impl Serialize for Validation {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let of = |name: &str| format!("{name}_{}", self.metric.suffix());
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("metric", &self.metric)?;
        map.serialize_entry("samples", &self.samples)?;
        map.serialize_entry("rmse_all", &self.fit.rmse_all)?;
        map.serialize_entry("rmse_top20", &self.fit.rmse_top20)?;
        map.serialize_entry("top20", &self.fit.top20)?;
        map.serialize_entry(&of("best_measured"), &self.fit.best_measured)?;
        map.serialize_entry("best_tile", &self.best_tile)?;
        map.serialize_entry("picked_tile", &self.picked_tile)?;
        map.serialize_entry(&of("picked_predicted"), &self.picked_predicted)?;
        map.serialize_entry(&of("picked_measured"), &self.picked_measured)?;
        map.serialize_entry("picked_over_best", &self.picked_over_best)?;
        map.serialize_entry("rank_of_picked", &self.rank_of_picked)?;
        let tiles = self.tiles.iter().map(|own| OfMetric(self.metric, own));
        map.serialize_entry("tiles", &tiles.collect::<Vec<_>>())?;
        map.end()
    }
}

/// A tile of a document.
struct OfMetric<'a>(Metric, &'a Sample);

impl Serialize for OfMetric<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let OfMetric(metric, own) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("tile", &own.tile)?;
        for (name, value) in
            [("predicted", own.predicted), ("measured", own.measured), ("dispersion", own.dispersion)]
        {
            map.serialize_entry(&format!("{name}_{}", metric.suffix()), &value)?;
        }
        map.end()
    }
}

/// About `number` tiles of a strategy that are spread over all sizes, and behind them the one that the model picks for a metric.
///
/// # Errors
/// No tile fits.
pub fn tiles(
    model: &Model,
    metric: Metric,
    strategy: &'static dyn Strategy,
    (number, seed): (usize, u64),
) -> Result<Vec<TileSizes>> {
    let picked = model.tune(strategy.id(), Method::Exact, metric.objective())?.tuned.choice.tile;
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
    pub fn of(metric: Metric, samples: Vec<Sample>) -> Result<Validation> {
        let none = || Error::infeasible("no tile was measured");
        let (picked, drawn) = samples.split_last().ok_or_else(none)?;
        let pairs: Vec<(f64, f64)> = drawn.iter().map(|own| (own.predicted, own.measured)).collect();
        let fit = Fit::of(&pairs).ok_or_else(none)?;
        let best = drawn.iter().find(|sample| sample.measured == fit.best_measured);
        Ok(Validation {
            metric,
            samples: drawn.len(),
            best_tile: best.map(|sample| sample.tile.clone()).unwrap_or_default(),
            picked_tile: picked.tile.clone(),
            picked_predicted: picked.predicted,
            picked_measured: picked.measured,
            picked_over_best: picked.measured / fit.best_measured,
            rank_of_picked: 1 + drawn.iter().filter(|own| own.measured < picked.measured).count(),
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
        let sample = |tile: &str, predicted, measured| Sample {
            tile: tile.to_owned(),
            predicted,
            measured,
            dispersion: 0.0,
        };
        let samples = vec![sample("a", 1.0, 1.0), sample("b", 3.0, 2.0), sample("c", 1.0, 1.5)];
        let judged = Validation::of(Metric::Time, samples).unwrap();
        assert_eq!((judged.samples, judged.rank_of_picked, judged.tiles.len()), (2, 2, 3));
        assert_eq!((judged.best_tile.as_str(), judged.picked_tile.as_str()), ("a", "c"));
        assert_eq!((judged.picked_over_best, judged.fit.top20), (1.5, 1));
        assert!(
            Validation::of(Metric::Time, vec![sample("a", 1.0, 1.0)]).is_err()
                && Validation::of(Metric::Time, Vec::new()).is_err()
        );
    }
}
