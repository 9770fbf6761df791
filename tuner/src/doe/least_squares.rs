//! Least squares by QR decomposition, with what statistics says about the result.
//!
//! Columns that depend linearly on those before them are left out, as R does, and reported.

use crate::error::{Result, TunerError};
use nalgebra::{DMatrix, DVector};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A column depends on those before it where what they leave of it is below this part of its length (R: `lm`).
const DEPENDENT: f64 = 1e-7;

/// A fitted linear model.
#[derive(Debug, Clone)]
pub struct Fit {
    /// Coefficients, in the order of the columns; `None` for a column that depends on others.
    pub coefficients: Vec<Option<f64>>,
    /// Their standard errors; not a number without residual degrees of freedom.
    pub standard_errors: Vec<Option<f64>>,
    /// Residuals.
    pub residuals: Vec<f64>,
    /// Sum of squared residuals.
    pub residual_sum: f64,
    /// Residual degrees of freedom.
    pub residual_freedom: usize,
    /// Part of the variance about the mean that the model explains.
    pub r_squared: f64,
    /// For each used column the component of the response along its direction: its square is what the column adds to
    /// the explained sum of squares, given those before it.
    pub effects: Vec<Option<f64>>,
    used: Vec<usize>,
    /// `R^-1`, so that the covariance of the coefficients is `s^2 R^-1 R^-T`.
    inverse: DMatrix<f64>,
}

/// A prediction with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Predicted response.
    pub value: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl Fit {
    /// Fits `y ~ X b`.
    ///
    /// # Errors
    /// Fewer rows than independent columns, no row, or values that are not finite.
    pub fn new(matrix: &DMatrix<f64>, response: &[f64]) -> Result<Fit> {
        let rows = matrix.nrows();
        if rows != response.len() || rows == 0 {
            return Err(infeasible(format!(
                "{} responses for {rows} rows of the design matrix",
                response.len()
            )));
        }
        if matrix.iter().chain(response).any(|value| !value.is_finite()) {
            return Err(infeasible(
                "the design matrix or the response has a value that is not finite".to_owned(),
            ));
        }
        let used = independent_columns(matrix);
        // Columns of length 1 keep the decomposition exact whatever their units are.
        let lengths: Vec<f64> = used.iter().map(|&column| matrix.column(column).norm()).collect();
        let scaled = DMatrix::from_fn(rows, used.len(), |row, k| matrix[(row, used[k])] / lengths[k]);
        let response = DVector::from_column_slice(response);
        let decomposition = scaled.clone().qr();
        let mut rotated = response.clone();
        decomposition.q_tr_mul(&mut rotated);
        let upper = decomposition.r();
        let rank = used.len();
        let singular = || infeasible("the design does not identify the model".to_owned());
        let explained = rotated.rows(0, rank).into_owned();
        let solution = upper.solve_upper_triangular(&explained).ok_or_else(singular)?;
        let mut inverse =
            upper.solve_upper_triangular(&DMatrix::identity(rank, rank)).ok_or_else(singular)?;
        let residuals = &response - scaled * &solution;
        for (row, length) in lengths.iter().enumerate() {
            inverse.row_mut(row).iter_mut().for_each(|value| *value /= length);
        }
        let residual_sum = residuals.norm_squared();
        let freedom = rows - rank;
        let variance = if freedom > 0 { residual_sum / freedom as f64 } else { f64::NAN };
        let mean = response.mean();
        let about_mean = response.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let mut fit = Fit {
            coefficients: vec![None; matrix.ncols()],
            standard_errors: vec![None; matrix.ncols()],
            effects: vec![None; matrix.ncols()],
            residuals: residuals.iter().copied().collect(),
            residual_sum,
            residual_freedom: freedom,
            r_squared: if about_mean > 0.0 { 1.0 - residual_sum / about_mean } else { 1.0 },
            used,
            inverse,
        };
        for (k, &column) in fit.used.iter().enumerate() {
            fit.coefficients[column] = Some(solution[k] / lengths[k]);
            fit.standard_errors[column] = Some((variance * fit.inverse.row(k).norm_squared()).sqrt());
            fit.effects[column] = Some(explained[k]);
        }
        Ok(fit)
    }

    /// Residual standard error; not a number without residual degrees of freedom.
    pub fn sigma(&self) -> f64 {
        (self.residual_sum / self.residual_freedom as f64).sqrt()
    }

    /// Number of independent columns.
    pub fn rank(&self) -> usize {
        self.used.len()
    }

    /// t statistic of a coefficient and the probability of a larger one by chance.
    pub fn t_test(&self, column: usize) -> Option<(f64, f64)> {
        let t = self.coefficients[column]? / self.standard_errors[column]?;
        let distribution = StudentsT::new(0.0, 1.0, self.residual_freedom as f64).ok()?;
        Some((t, 2.0 * distribution.sf(t.abs())))
    }

    /// Prediction at a row of the design matrix.
    pub fn predict(&self, row: &[f64]) -> f64 {
        self.used.iter().map(|&column| row[column] * self.coefficients[column].unwrap_or(0.0)).sum()
    }

    /// Interval that holds the mean response at a row with this probability; `None` without residual degrees of
    /// freedom.
    pub fn confidence(&self, row: &[f64], level: f64) -> Option<Interval> {
        self.interval(row, level, 0.0)
    }

    /// Interval that holds a new measurement at a row with this probability.
    pub fn prediction(&self, row: &[f64], level: f64) -> Option<Interval> {
        self.interval(row, level, 1.0)
    }

    fn interval(&self, row: &[f64], level: f64, own: f64) -> Option<Interval> {
        let distribution = StudentsT::new(0.0, 1.0, self.residual_freedom as f64).ok()?;
        let used = DVector::from_iterator(self.used.len(), self.used.iter().map(|&column| row[column]));
        let leverage = (self.inverse.transpose() * used).norm_squared();
        let quantile = t_quantile(&distribution, 0.5 + level / 2.0);
        let half = quantile * self.sigma() * (leverage + own).sqrt();
        let value = self.predict(row);
        Some(Interval { value, lower: value - half, upper: value + half })
    }
}

/// A quantile, refined with Newton's method, since the library's is good to a few digits only.
fn t_quantile(distribution: &StudentsT, probability: f64) -> f64 {
    use statrs::distribution::Continuous;
    let mut quantile = distribution.inverse_cdf(probability);
    for _ in 0..4 {
        let density = distribution.pdf(quantile);
        if density > 0.0 {
            quantile -= (distribution.cdf(quantile) - probability) / density;
        }
    }
    quantile
}

/// For each column whether it depends linearly on those before it.
pub fn dependent_columns(matrix: &DMatrix<f64>) -> Vec<bool> {
    let mut dependent = vec![true; matrix.ncols()];
    independent_columns(matrix).into_iter().for_each(|column| dependent[column] = false);
    dependent
}

/// Columns that do not depend on those before them: Gram-Schmidt, twice is enough.
fn independent_columns(matrix: &DMatrix<f64>) -> Vec<usize> {
    let mut basis: Vec<DVector<f64>> = Vec::new();
    let mut used = Vec::new();
    for column in 0..matrix.ncols() {
        let mut rest = matrix.column(column).into_owned();
        let length = rest.norm();
        for _ in 0..2 {
            for direction in &basis {
                let along = direction.dot(&rest);
                rest.axpy(-along, direction, 1.0);
            }
        }
        let left = rest.norm();
        if left > DEPENDENT * length && left > 0.0 && basis.len() < matrix.nrows() {
            basis.push(rest / left);
            used.push(column);
        }
    }
    used
}

fn infeasible(reason: String) -> TunerError {
    TunerError::Infeasible { reason, hint: String::new() }
}
