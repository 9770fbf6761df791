//! How well a model predicts designs that it has not seen, and how many samples that takes (section 7.1).

use super::draws::permutation;
use super::request;
use super::table::Table;
use crate::error::Result;
use serde::Serialize;
pub use trials::median::median;

/// Predicts the response of a design.
pub trait Predictor {
    /// The modelled response of a row of a table with the columns of the training set.
    fn predict(&self, table: &Table, row: usize) -> f64;
}

impl Predictor for super::tree::Tree {
    fn predict(&self, table: &Table, row: usize) -> f64 {
        super::tree::Tree::predict(self, table, row)
    }
}

/// Makes predictors from samples.
pub trait Learner: Sync {
    /// Learns the response over some rows of a table.
    ///
    /// # Errors
    /// Rows from which nothing can be learned.
    fn learn(&self, table: &Table, response: &[f64], rows: &[u32]) -> Result<Box<dyn Predictor>>;
}

impl Learner for super::grow::GrowOptions {
    fn learn(&self, table: &Table, response: &[f64], rows: &[u32]) -> Result<Box<dyn Predictor>> {
        Ok(Box::new(super::grow::grow(table, response, rows, self)?))
    }
}

/// The median of `|predicted - measured| / |measured|` over some rows. Rows that measured zero count as predicted
/// right if the prediction is zero, and as infinitely wrong else. `None` without rows.
pub fn median_relative_error(
    predictor: &dyn Predictor,
    table: &Table,
    response: &[f64],
    rows: &[u32],
) -> Option<f64> {
    let error = |&row: &u32| {
        let (predicted, measured) = (predictor.predict(table, row as usize), response[row as usize]);
        let difference = (predicted - measured).abs();
        if difference == 0.0 { 0.0 } else { difference / measured.abs() }
    };
    median(rows.iter().map(error).collect())
}

/// How the training set grows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrowthOptions {
    /// Designs that are held out for validation, 200 in the paper.
    pub validation: usize,
    /// Designs of the first training set, 20 in the paper.
    pub start: usize,
    /// Designs that are added each time.
    pub step: usize,
    /// Most designs of a training set.
    pub most: usize,
    /// Median relative error that is enough; `None` to go on to `most`.
    pub target: Option<f64>,
    /// Independent repetitions with other designs, whose errors are averaged.
    pub draws: usize,
    /// Seed of the first repetition; the others follow.
    pub seed: u32,
}

impl Default for GrowthOptions {
    fn default() -> GrowthOptions {
        GrowthOptions { validation: 200, start: 20, step: 20, most: 200, target: None, draws: 1, seed: 0 }
    }
}

/// The error at one size of the training set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Designs of the training set.
    pub samples: usize,
    /// Median relative error on the validation set, mean over the repetitions.
    pub error: f64,
    /// Least and greatest error of a repetition.
    pub range: [f64; 2],
}

/// The designs of `pool` in random order: `numpy.random.RandomState(seed).permutation(len(pool))` as places in it.
pub fn draw(pool: &[u32], seed: u32) -> Vec<u32> {
    permutation(seed, pool.len() as u32).into_iter().map(|place| pool[place as usize]).collect()
}

/// A training set and a validation set without a common design, both uniformly at random from `pool`: the first and the
/// next designs of [`draw`].
///
/// # Errors
/// Fewer designs than asked for.
pub fn hold_out(pool: &[u32], training: usize, validation: usize, seed: u32) -> Result<(Vec<u32>, Vec<u32>)> {
    if training == 0 || validation == 0 || training + validation > pool.len() {
        let reason = format!(
            "{training} samples and {validation} designs for validation are asked for, and there are {} successful trials",
            pool.len()
        );
        return Err(request(reason, "ask for fewer; both need at least one"));
    }
    let order = draw(pool, seed);
    Ok((order[..training].to_vec(), order[training..training + validation].to_vec()))
}

/// Grows the training set from `start` by `step` until the error is at most `target` or `most` is reached, and tells
/// the error at every size.
///
/// # Errors
/// Fewer trials than `most` and the validation set need, or what the learner refuses.
pub fn grow_until(
    learner: &dyn Learner,
    table: &Table,
    response: &[f64],
    pool: &[u32],
    options: &GrowthOptions,
) -> Result<Vec<CurvePoint>> {
    let most = options.most.max(options.start).min(pool.len().saturating_sub(options.validation));
    if options.start > most || options.step == 0 || options.draws == 0 {
        // Says how many there are.
        hold_out(pool, options.start, options.validation, options.seed)?;
        return Err(request("a step of no designs, or no repetition", "both must be at least 1"));
    }
    let draws: Vec<(Vec<u32>, Vec<u32>)> = (0..options.draws as u32)
        .map(|draw| hold_out(pool, most, options.validation, options.seed.wrapping_add(draw)))
        .collect::<Result<_>>()?;
    let mut curve = Vec::new();
    let mut samples = options.start;
    loop {
        let mut errors = Vec::new();
        for (training, validation) in &draws {
            let predictor = learner.learn(table, response, &training[..samples])?;
            errors.extend(median_relative_error(predictor.as_ref(), table, response, validation));
        }
        let error = errors.iter().sum::<f64>() / errors.len() as f64;
        let low = errors.iter().copied().fold(f64::INFINITY, f64::min);
        let high = errors.iter().copied().fold(0.0, f64::max);
        curve.push(CurvePoint { samples, error, range: [low, high] });
        if samples == most || options.target.is_some_and(|target| error <= target) {
            return Ok(curve);
        }
        samples = (samples + options.step).min(most);
    }
}
