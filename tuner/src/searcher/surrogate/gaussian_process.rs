//! A Gaussian process (C. E. Rasmussen, C. K. I. Williams, Gaussian Processes for Machine Learning, 2006, chapters 2
//! and 5) with one length scale per coordinate.

use super::features::Features;
use crate::run::Run;
use statrs::distribution::{Continuous, ContinuousCDF, Normal};

/// Length scales, amplitude 1 and noise of the kernel, all as logarithms; the response is standardised.
#[derive(Debug, Clone)]
pub(super) struct Hyperparameters {
    scales: Vec<f64>,
    noise: f64,
}

/// Expected logarithm of a length scale: most parameters act smoothly until measurements say otherwise.
const EXPECTED_SCALE: f64 = 1.0;

impl Hyperparameters {
    pub fn new(width: usize) -> Hyperparameters {
        Hyperparameters { scales: vec![EXPECTED_SCALE; width], noise: (0.05f64).ln() }
    }

    fn weights(&self) -> Vec<f64> {
        self.scales.iter().map(|scale| (-scale).exp()).collect()
    }

    /// The hyperparameters with the largest posterior density: marginal likelihood (equation 2.30) times log-normal
    /// priors. Coordinate search from these.
    pub fn fitted(&self, features: &Features, run: &Run<'_>) -> Hyperparameters {
        let data = Data::of(features, run);
        let mut best = self.clone();
        let mut most = best.log_posterior(&data);
        for step in [1.2, 0.6, 0.3] {
            for _ in 0..2 {
                let before = most;
                for coordinate in 0..=best.scales.len() {
                    for direction in [step, -step] {
                        let mut next = best.clone();
                        match next.scales.get_mut(coordinate) {
                            Some(scale) => *scale += direction,
                            None => next.noise += direction,
                        }
                        let value = next.log_posterior(&data);
                        if value > most {
                            (best, most) = (next, value);
                        }
                    }
                }
                if most <= before {
                    break;
                }
            }
        }
        best
    }

    fn log_posterior(&self, data: &Data) -> f64 {
        let prior = |value: f64, mean: f64, deviation: f64| -0.5 * ((value - mean) / deviation).powi(2);
        let mut total: f64 = self.scales.iter().map(|&scale| prior(scale, EXPECTED_SCALE, 1.2)).sum();
        total += prior(self.noise, (0.03f64).ln(), 1.5);
        let mut factor = Factor::default();
        let weights = self.weights();
        let noise = self.noise.exp();
        let scaled: Vec<Vec<f64>> = data.rows.iter().map(|row| scaled(row, &weights)).collect();
        for (place, row) in scaled.iter().enumerate() {
            let kernels: Vec<f64> = scaled[..place].iter().map(|other| kernel(row, other)).collect();
            factor.push(&kernels, 1.0 + noise);
        }
        let solved = factor.solve(&data.responses);
        let ones = factor.solve(&vec![1.0; data.responses.len()]);
        // Generalised least squares for the constant mean.
        let mean = dot(&ones, &solved) / dot(&ones, &ones);
        let fit: f64 = solved.iter().zip(&ones).map(|(value, one)| (value - mean * one).powi(2)).sum();
        let count = data.responses.len() as f64;
        // The amplitude that fits best, in closed form.
        total - 0.5 * count * (fit / count).max(1e-12).ln() - factor.log_determinant()
    }
}

/// Successful trials, standardised.
struct Data {
    rows: Vec<Vec<f64>>,
    responses: Vec<f64>,
}

impl Data {
    fn of(features: &Features, run: &Run<'_>) -> Data {
        let trials = run.trials().iter();
        let (rows, responses): (Vec<Vec<f64>>, Vec<f64>) = trials
            .filter_map(|trial| Some((features.row(&trial.point), trial.response(run.response())?)))
            .unzip();
        Data { rows, responses: transformed(&responses) }
    }
}

/// Logarithms, where all responses are positive. What is far worse than the best is told apart less and less.
fn transformed(responses: &[f64]) -> Vec<f64> {
    let logarithmic = responses.iter().all(|&response| response > 0.0);
    let values: Vec<f64> =
        responses.iter().map(|&response| if logarithmic { response.ln() } else { response }).collect();
    let best = values.iter().copied().fold(f64::INFINITY, f64::min);
    let bent: Vec<f64> = values.iter().map(|value| ((value - best) / BEND).ln_1p() * BEND).collect();
    let count = bent.len() as f64;
    let mean = bent.iter().sum::<f64>() / count;
    let variance = bent.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    let deviation = variance.sqrt().max(1e-9);
    bent.iter().map(|value| (value - mean) / deviation).collect()
}

/// Beyond this factor (as a logarithm) from the best, differences count less and less.
const BEND: f64 = 1.0;

fn scaled(row: &[f64], weights: &[f64]) -> Vec<f64> {
    row.iter().zip(weights).map(|(value, weight)| value * weight).collect()
}

/// Product over the coordinates of Matern kernels of smoothness 3/2 (equation 4.17), amplitude 1. The response of
/// tuning spaces bends sharply along single parameters, which a product of rougher kernels follows.
fn kernel(left: &[f64], right: &[f64]) -> f64 {
    let (mut product, mut sum) = (1.0, 0.0);
    for (left, right) in left.iter().zip(right) {
        let distance = 3f64.sqrt() * (left - right).abs();
        product *= 1.0 + distance;
        sum += distance;
    }
    product * (-sum).exp()
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// A Cholesky factor that grows by rows.
#[derive(Default)]
struct Factor {
    rows: Vec<Vec<f64>>,
    diagonal: Vec<f64>,
}

impl Factor {
    /// Adds a row of the matrix: the part left of the diagonal, and the diagonal.
    fn push(&mut self, left: &[f64], diagonal: f64) {
        let row = self.solve(left);
        let rest = (diagonal - dot(&row, &row)).max(1e-10).sqrt();
        self.rows.push(row);
        self.diagonal.push(rest);
    }

    /// `L^-1 b`, for a `b` as long as the factor or shorter.
    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut solved = Vec::with_capacity(right.len());
        for (place, value) in right.iter().enumerate() {
            solved.push((value - dot(&self.rows[place], &solved)) / self.diagonal[place]);
        }
        solved
    }

    /// Half of the logarithm of the determinant.
    fn log_determinant(&self) -> f64 {
        self.diagonal.iter().map(|value| value.ln()).sum()
    }
}

/// A process that has learned some trials.
pub(super) struct GaussianProcess {
    weights: Vec<f64>,
    noise: f64,
    factor: Factor,
    /// Scaled rows of the training set.
    rows: Vec<Vec<f64>>,
    /// `L^-1 (y - m)`, the mean and the amplitude.
    solved: Vec<f64>,
    mean: f64,
    amplitude: f64,
    best: f64,
    /// All trials and whether they succeeded.
    outcomes: Vec<(Vec<f64>, bool)>,
    failures: usize,
}

impl GaussianProcess {
    pub fn new(hyper: Hyperparameters) -> GaussianProcess {
        GaussianProcess {
            weights: hyper.weights(),
            noise: hyper.noise.exp(),
            factor: Factor::default(),
            rows: Vec::new(),
            solved: Vec::new(),
            mean: 0.0,
            amplitude: 1.0,
            best: 0.0,
            outcomes: Vec::new(),
            failures: 0,
        }
    }

    /// Takes in the trials that are new.
    pub fn learn(&mut self, features: &Features, run: &Run<'_>) {
        for trial in &run.trials()[self.outcomes.len()..] {
            let row = scaled(&features.row(&trial.point), &self.weights);
            let success = trial.response(run.response()).is_some();
            if success {
                let kernels: Vec<f64> = self.rows.iter().map(|other| kernel(&row, other)).collect();
                self.factor.push(&kernels, 1.0 + self.noise);
                self.rows.push(row.clone());
            } else {
                self.failures += 1;
            }
            self.outcomes.push((row, success));
        }
        let responses: Vec<f64> =
            run.trials().iter().filter_map(|trial| trial.response(run.response())).collect();
        let responses = transformed(&responses);
        let solved = self.factor.solve(&responses);
        let ones = self.factor.solve(&vec![1.0; responses.len()]);
        self.mean = dot(&ones, &solved) / dot(&ones, &ones);
        self.solved = solved.iter().zip(&ones).map(|(value, one)| value - self.mean * one).collect();
        self.amplitude = (dot(&self.solved, &self.solved) / responses.len() as f64).max(1e-9);
        self.best = responses.iter().copied().fold(f64::INFINITY, f64::min);
    }

    /// Extends `L^-1 k(X, x)` of a candidate to all of the training set.
    pub fn extend(&self, row: &[f64], solved: &mut Vec<f64>) {
        if solved.len() == self.rows.len() {
            return;
        }
        let row = scaled(row, &self.weights);
        for place in solved.len()..self.rows.len() {
            let value = kernel(&row, &self.rows[place]) - dot(&self.factor.rows[place], solved);
            solved.push(value / self.factor.diagonal[place]);
        }
    }

    /// How much is to be gained from a candidate: the logarithm of the expected improvement over the best response.
    pub fn log_expected_improvement(&self, solved: &[f64]) -> f64 {
        let (mean, deviation) = self.prediction(solved);
        log_improvement((self.best - mean) / deviation) + deviation.ln()
    }

    /// Minus the lower confidence bound, so many deviations below the mean: large where much is unknown.
    pub fn bound(&self, solved: &[f64], deviations: f64) -> f64 {
        let (mean, deviation) = self.prediction(solved);
        deviations * deviation - mean
    }

    /// Mean and standard deviation.
    fn prediction(&self, solved: &[f64]) -> (f64, f64) {
        let mean = self.mean + dot(solved, &self.solved);
        let variance = (1.0 - dot(solved, solved)).max(1e-9) * self.amplitude;
        (mean, variance.sqrt())
    }

    /// Probability that a candidate does not fail: the part of successes among the trials, weighted by the kernel.
    /// `near` holds the sums for the trials that were seen before.
    pub fn success(&self, row: &[f64], near: &mut Near) -> f64 {
        if self.failures == 0 {
            return 1.0;
        }
        let row = scaled(row, &self.weights);
        for (other, success) in &self.outcomes[near.seen..] {
            let weight = kernel(&row, other).powi(4);
            near.all += weight;
            near.good += if *success { weight } else { 0.0 };
        }
        near.seen = self.outcomes.len();
        let rate = 1.0 - self.failures as f64 / self.outcomes.len() as f64;
        ((near.good + 0.5 * rate) / (near.all + 0.5)).max(1e-6)
    }
}

/// Sums over the trials around a candidate.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Near {
    seen: usize,
    all: f64,
    good: f64,
}

/// `log(phi(z) + z Phi(z))`, by its asymptotic form where that underflows.
fn log_improvement(z: f64) -> f64 {
    let normal = Normal::standard();
    if z > -6.0 {
        (normal.pdf(z) + z * normal.cdf(z)).max(1e-300).ln()
    } else {
        normal.ln_pdf(z) - 2.0 * (-z).ln()
    }
}
