//! Analysis of variance: which terms of a model matter. Sums of squares are sequential (type I), as R's `aov` has
//! them: each term given those before it.

use super::least_squares::Fit;
use super::model::Model;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// The table.
#[derive(Debug, Clone, Serialize)]
pub struct Anova {
    /// One row for each term that the design can tell from those before it.
    pub rows: Vec<AnovaRow>,
    /// Sum of squared residuals.
    pub residual_sum: f64,
    /// Residual degrees of freedom.
    pub residual_freedom: usize,
}

/// A term.
#[derive(Debug, Clone, Serialize)]
pub struct AnovaRow {
    /// Its place in the formula.
    pub term: usize,
    /// Its name.
    pub name: String,
    /// Degrees of freedom: its independent columns.
    pub freedom: usize,
    /// Sum of squares.
    pub sum: f64,
    /// Ratio of its mean square to that of the residuals; not a number where these have no freedom.
    pub f: f64,
    /// Probability of such a ratio by chance.
    pub p: f64,
}

impl Anova {
    /// The table of a fitted model.
    pub fn of(model: &Model, fit: &Fit) -> Anova {
        let residual_mean = fit.residual_sum / fit.residual_freedom as f64;
        let row = |term: usize| {
            let effects: Vec<f64> = model
                .term_of()
                .iter()
                .zip(&fit.effects)
                .filter(|(of, _)| **of == Some(term))
                .filter_map(|(_, effect)| *effect)
                .collect();
            let sum: f64 = effects.iter().map(|effect| effect * effect).sum();
            let f = sum / effects.len() as f64 / residual_mean;
            (!effects.is_empty()).then(|| AnovaRow {
                term,
                name: model.formula().term_name(&model.formula().terms[term]),
                freedom: effects.len(),
                sum,
                f,
                p: f_test(f, effects.len(), fit.residual_freedom),
            })
        };
        Anova {
            rows: (0..model.formula().terms.len()).filter_map(row).collect(),
            residual_sum: fit.residual_sum,
            residual_freedom: fit.residual_freedom,
        }
    }
}

/// Probability that an F statistic exceeds `f` by chance.
pub fn f_test(f: f64, freedom: usize, residual_freedom: usize) -> f64 {
    match FisherSnedecor::new(freedom as f64, residual_freedom as f64) {
        Ok(distribution) if f.is_finite() => distribution.sf(f),
        Ok(_) if f == f64::INFINITY => 0.0,
        _ => f64::NAN,
    }
}

/// R's marks of significance.
pub fn mark(p: f64) -> &'static str {
    match p {
        p if p < 0.001 => "***",
        p if p < 0.01 => "**",
        p if p < 0.05 => "*",
        p if p < 0.1 => ".",
        _ => "",
    }
}

impl std::fmt::Display for Anova {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max(9);
        writeln!(f, "{:<width$} {:>3} {:>12} {:>10} {:>10}", "", "Df", "Sum Sq", "F value", "Pr(>F)")?;
        for row in &self.rows {
            let AnovaRow { name, freedom, sum, f: ratio, p, .. } = row;
            writeln!(f, "{name:<width$} {freedom:>3} {sum:>12.5e} {ratio:>10.3} {p:>10.3e} {}", mark(*p))?;
        }
        writeln!(f, "{:<width$} {:>3} {:>12.5e}", "Residuals", self.residual_freedom, self.residual_sum)
    }
}
