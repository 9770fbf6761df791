//! The power transformation that makes the residuals of a linear model most nearly normal with equal variance
//! (G. E. P. Box, D. R. Cox, J. R. Statist. Soc. B 26, 1964), by profile likelihood.

use super::least_squares::Fit;
use crate::error::{Result, TunerError};
use nalgebra::DMatrix;
use serde::Serialize;

/// Least and largest exponent looked at.
const RANGE: (f64, f64) = (-4.0, 4.0);
/// Half the 95 % quantile of the chi-squared distribution with one degree of freedom.
const HALF_QUANTILE: f64 = 1.920_729_410_347_062_4;

/// A power transformation, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BoxCox {
    /// The exponent with the largest profile likelihood.
    pub lambda: f64,
    /// 95 % confidence interval of the exponent, by the likelihood ratio.
    pub interval: (f64, f64),
    /// The exponent to use: of 1, 0, 0.5, -0.5, -1, 2 and -2 the first inside the interval, else `lambda`.
    pub rounded: f64,
    /// Profile log-likelihood at `lambda`, up to a constant that does not depend on it.
    pub log_likelihood: f64,
}

/// `(y^lambda - 1) / lambda`, and `log y` for 0.
pub fn transform(y: f64, lambda: f64) -> f64 {
    if lambda.abs() < 1e-12 { y.ln() } else { (lambda * y.ln()).exp_m1() / lambda }
}

/// The response whose transform this is; `None` where there is none.
pub fn inverse(z: f64, lambda: f64) -> Option<f64> {
    if lambda.abs() < 1e-12 {
        return Some(z.exp());
    }
    let base = 1.0 + lambda * z;
    (base > 0.0).then(|| base.powf(1.0 / lambda))
}

impl BoxCox {
    /// The transformation of positive responses under a linear model.
    ///
    /// # Errors
    /// Responses that are not positive, a model that leaves no residual.
    pub fn new(matrix: &DMatrix<f64>, response: &[f64]) -> Result<BoxCox> {
        if response.iter().any(|&y| y <= 0.0 || !y.is_finite()) {
            return Err(TunerError::Infeasible {
                reason: "the Box-Cox transformation needs positive responses".to_owned(),
                hint: String::new(),
            });
        }
        // Units do not change the exponent; the geometric mean becomes 1.
        let count = response.len() as f64;
        let mean = response.iter().map(|y| y.ln()).sum::<f64>() / count;
        let logs: Vec<f64> = response.iter().map(|y| y.ln() - mean).collect();
        let profile = Profile { matrix, logs: &logs };
        let steps = 64;
        let at = |step: usize| RANGE.0 + (RANGE.1 - RANGE.0) * step as f64 / steps as f64;
        let mut values = Vec::with_capacity(steps + 1);
        for step in 0..=steps {
            values.push(profile.at(at(step))?);
        }
        if values.iter().any(|(value, _)| !value.is_finite()) {
            return Err(TunerError::Infeasible {
                reason: "the model fits the responses exactly, so that there is no scale to choose"
                    .to_owned(),
                hint: "measure more points than the model has coefficients".to_owned(),
            });
        }
        let best = (0..=steps).max_by(|&a, &b| values[a].0.total_cmp(&values[b].0)).unwrap_or(0);
        let (low, high) = (at(best.saturating_sub(1)), at((best + 1).min(steps)));
        let lambda = root(low, high, |lambda| profile.at(lambda).map(|(_, slope)| slope))?;
        let log_likelihood = profile.at(lambda)?.0;
        let below =
            |lambda: f64| profile.at(lambda).map(|(value, _)| value - (log_likelihood - HALF_QUANTILE));
        let end = |mut inside: f64, direction: f64| -> Result<f64> {
            let mut outside = lambda;
            for _ in 0..64 {
                outside += direction * 0.25;
                if below(outside)? < 0.0 {
                    return root(inside.min(outside), inside.max(outside), below);
                }
                inside = outside;
            }
            Ok(direction * f64::INFINITY)
        };
        let interval = (end(lambda, -1.0)?, end(lambda, 1.0)?);
        let inside = |value: &f64| (interval.0..=interval.1).contains(value);
        let rounded = [1.0, 0.0, 0.5, -0.5, -1.0, 2.0, -2.0].into_iter().find(inside).unwrap_or(lambda);
        Ok(BoxCox { lambda, interval, rounded, log_likelihood: log_likelihood - count * mean })
    }
}

struct Profile<'a> {
    matrix: &'a DMatrix<f64>,
    /// Logarithms of the responses, with mean 0.
    logs: &'a [f64],
}

impl Profile<'_> {
    /// Profile log-likelihood and its derivative. With the residuals `r` of `y^(lambda)` and those of its derivative
    /// `z` (the part in the model's space drops out): `-n/2 log(r.r/n)` and `-n r.z / r.r`, since the logarithms sum
    /// to 0.
    fn at(&self, lambda: f64) -> Result<(f64, f64)> {
        let count = self.logs.len() as f64;
        let transformed: Vec<f64> = self
            .logs
            .iter()
            .map(|&log| if lambda.abs() < 1e-12 { log } else { (lambda * log).exp_m1() / lambda })
            .collect();
        let derivative = |log: f64| {
            let a = lambda * log;
            if a.abs() < 1e-3 {
                // (a e^a - e^a + 1) / lambda^2 as a series.
                log * log * (0.5 + a / 3.0 + a * a / 8.0 + a * a * a / 30.0)
            } else {
                (a * a.exp() - a.exp_m1()) / (lambda * lambda)
            }
        };
        let fit = Fit::new(self.matrix, &transformed)?;
        let slope: f64 = fit.residuals.iter().zip(self.logs).map(|(r, &log)| r * derivative(log)).sum();
        let sum = fit.residual_sum;
        let exact = transformed.iter().map(|value| value * value).sum::<f64>() * 1e-24;
        if sum <= exact {
            return Ok((f64::INFINITY, 0.0));
        }
        Ok((-0.5 * count * (sum / count).ln(), -count * slope / sum))
    }
}

/// A root between two ends, by bisection and secants; where there is no change of sign, the end with the smaller
/// value.
fn root(low: f64, high: f64, f: impl Fn(f64) -> Result<f64>) -> Result<f64> {
    let (mut a, mut b) = (low, high);
    let (mut fa, mut fb) = (f(a)?, f(b)?);
    if fa * fb > 0.0 {
        return Ok(if fa.abs() < fb.abs() { a } else { b });
    }
    for step in 0..200 {
        if (b - a).abs() < 1e-13 || fa == 0.0 || fb == 0.0 {
            break;
        }
        let secant = a - fa * (b - a) / (fb - fa);
        let inside = secant > a && secant < b && step % 3 != 2;
        let middle = if inside { secant } else { 0.5 * (a + b) };
        let value = f(middle)?;
        if value * fa <= 0.0 {
            (b, fb) = (middle, value);
        } else {
            (a, fa) = (middle, value);
        }
    }
    Ok(if fa.abs() < fb.abs() { a } else { b })
}
