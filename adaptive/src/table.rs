//! What training works on: for each input its features, and what each variant costs.

use crate::error::{AdaptiveError, Result};
use crate::limits::{MOST_FEATURES, MOST_VARIANTS};

/// An input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// Its name.
    pub input: String,
    /// What it is one of; empty where nothing is known. Reports keep families apart.
    pub family: String,
    /// Values of the features; not a number where one could not be had.
    pub features: Vec<f64>,
    /// What each feature costs, in the unit of `costs`; zero where it is not known.
    pub feature_costs: Vec<f64>,
    /// What each variant costs: the least is the best; infinite for one that fails, is wrong, too late or not allowed. Empty
    /// where it was not measured.
    pub costs: Vec<f64>,
    /// Variants that are not allowed for it; their costs are infinite.
    pub forbidden: Vec<usize>,
}

impl Row {
    /// The best variant, the first of equal ones; `None` where no variant solves the input, or none was measured.
    pub fn label(&self) -> Option<usize> {
        let solved = self.costs.iter().enumerate().filter(|(_, cost)| cost.is_finite());
        solved.reduce(|best, other| if other.1 < best.1 { other } else { best }).map(|(variant, _)| variant)
    }

    /// The least cost, if a variant solves the input.
    pub fn best(&self) -> Option<f64> {
        self.label().map(|label| self.costs[label])
    }

    /// How near a variant is to the best one: the ratio of their costs, 0 for one that fails; `more` is added to the cost of this
    /// one. `None` where no variant solves the input.
    pub fn performance(&self, variant: usize, more: f64) -> Option<f64> {
        let best = self.best()?;
        let cost = self.costs.get(variant).copied().unwrap_or(f64::INFINITY) + more;
        Some(if cost <= best { 1.0 } else { best / cost })
    }

    /// Whether all features have values.
    pub fn is_known(&self) -> bool {
        self.features.iter().all(|value| value.is_finite())
    }
}

/// Inputs, features and costs of one function with variants.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// The function.
    pub name: String,
    /// Names of the variants.
    pub variants: Vec<String>,
    /// The variant that is right for every input.
    pub default: usize,
    /// Names of the features.
    pub features: Vec<String>,
    /// What costs are of.
    pub metric: String,
    /// Whether costs are reciprocals of the metric, since greater values of it are better.
    pub maximize: bool,
    /// The time after which a variant counts as failed, if the table is of one.
    pub cutoff: Option<f64>,
    /// The inputs.
    pub rows: Vec<Row>,
}

impl Table {
    /// Refuses tables that make no sense.
    ///
    /// # Errors
    /// Too many variants or features, rows of another length, costs that are negative or no number.
    pub fn check(&self) -> Result<()> {
        if self.variants.is_empty() || self.variants.len() > MOST_VARIANTS {
            let reason = format!("{} variants, where 1 to {MOST_VARIANTS} can be", self.variants.len());
            return Err(AdaptiveError::request(reason, "name the columns or solvers that count"));
        }
        if self.features.len() > MOST_FEATURES {
            let reason = format!("{} features, which is more than {MOST_FEATURES}", self.features.len());
            return Err(AdaptiveError::request(reason, "name those that count"));
        }
        for row in &self.rows {
            let fits = row.features.len() == self.features.len()
                && row.feature_costs.len() == self.features.len()
                && (row.costs.is_empty() || row.costs.len() == self.variants.len());
            if !fits {
                let reason = format!("input `{}` has other features or variants than the table", row.input);
                return Err(AdaptiveError::request(reason, ""));
            }
            if row.costs.iter().any(|cost| cost.is_nan() || *cost < 0.0) {
                let reason = format!("a metric of input `{}` is negative or no number", row.input);
                return Err(AdaptiveError::request(
                    reason,
                    "performance is a ratio: take a metric that is positive, such as a time",
                ));
            }
        }
        Ok(())
    }

    /// The rows that can be trained on: those with a label and all features.
    pub fn trainable(&self) -> Vec<usize> {
        let fits = |at: &usize| self.rows[*at].label().is_some() && self.rows[*at].is_known();
        (0..self.rows.len()).filter(fits).collect()
    }

    /// The table with some rows only.
    pub fn with_rows(&self, rows: &[usize]) -> Table {
        let rows = rows.iter().filter_map(|&row| self.rows.get(row).cloned()).collect();
        Table { rows, ..self.clone() }
    }

    /// What evaluating these features of a row costs one call, when its result serves `calls` of them.
    pub fn charge(&self, row: usize, features: &[usize], calls: f64) -> f64 {
        let costs = &self.rows[row].feature_costs;
        features.iter().map(|&feature| costs.get(feature).copied().unwrap_or(0.0)).sum::<f64>() / calls
    }

    /// Whether it says what evaluating features costs.
    pub fn has_charges(&self) -> bool {
        self.rows.iter().any(|row| row.feature_costs.iter().any(|cost| *cost > 0.0))
    }

    /// How often each variant is the best.
    pub fn label_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.variants.len()];
        self.rows.iter().filter_map(Row::label).for_each(|label| counts[label] += 1);
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_performance() {
        let row = |costs: &[f64]| Row { costs: costs.to_vec(), ..Row::default() };
        let inf = f64::INFINITY;
        assert_eq!(row(&[inf, 2.0, 2.0]).label(), Some(1));
        assert_eq!(row(&[inf, inf]).label(), None);
        assert_eq!(row(&[inf, 2.0, 4.0]).performance(2, 0.0), Some(0.5));
        assert_eq!(row(&[inf, 2.0, 4.0]).performance(0, 0.0), Some(0.0));
        assert_eq!(row(&[0.0, 2.0]).performance(0, 0.0), Some(1.0));
        assert_eq!(row(&[inf, 2.0]).performance(1, 2.0), Some(0.5));
    }
}
