//! Numbers as trainers need them: the chosen features of a table, labels and costs.

use crate::table::Table;

/// What a classifier is trained on. Rows are those of the table that have a label and all features.
#[derive(Debug, Clone)]
pub struct Data {
    /// Places of the rows in the table.
    pub places: Vec<usize>,
    /// Values of the chosen features.
    pub points: Vec<Vec<f64>>,
    /// The best variant of each.
    pub labels: Vec<usize>,
    /// What the variants cost.
    pub costs: Vec<Vec<f64>>,
    /// For how many inputs each row stands in a cross-validation.
    pub weights: Vec<f64>,
    /// Number of variants.
    pub variants: usize,
    /// The variant that is run where a classifier knows none.
    pub default: usize,
    /// The time limit, where costs are times that have one.
    pub cutoff: Option<f64>,
    /// The share of a choice's own time that each cost is to have ([`super::TrainOptions::choosing`]).
    pub choosing: f64,
}

/// What a run that is stopped at the time limit counts as, in time limits (PAR10).
pub const PENALTY: f64 = 10.0;

/// The time that a run counts as: what is late or fails counts as ten time limits.
pub fn par10(seconds: f64, cutoff: f64) -> f64 {
    if seconds <= cutoff { seconds } else { PENALTY * cutoff }
}

impl Data {
    /// Some features of the rows of a table that can be trained on.
    pub fn new(table: &Table, rows: &[usize], features: &[usize]) -> Data {
        let known = |row: &usize| {
            let row = &table.rows[*row];
            row.label().is_some() && features.iter().all(|&at| row.features[at].is_finite())
        };
        let places: Vec<usize> = rows.iter().copied().filter(known).collect();
        let point = |row: &usize| features.iter().map(|&at| table.rows[*row].features[at]).collect();
        Data {
            points: places.iter().map(point).collect(),
            labels: places.iter().filter_map(|&row| table.rows[row].label()).collect(),
            costs: places.iter().map(|&row| table.rows[row].costs.clone()).collect(),
            weights: vec![1.0; places.len()],
            variants: table.variants.len(),
            default: table.default,
            cutoff: table.cutoff,
            choosing: 0.0,
            places,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How near a variant is to the best one in a row.
    pub fn performance(&self, row: usize, variant: usize) -> f64 {
        self.net_performance(row, variant, 0.0)
    }

    /// The same with what is to be added to the variant's cost.
    pub fn net_performance(&self, row: usize, variant: usize, more: f64) -> f64 {
        let (best, cost) = (self.costs[row][self.labels[row]], self.costs[row][variant] + more);
        if cost <= best { 1.0 } else { best / cost }
    }

    /// What is lost where a variant runs in place of the best one, in 0 to 1: of performance; or, where there is a time limit, of
    /// ten time limits, so that the seconds of long runs count for more than those of short ones.
    pub fn loss(&self, row: usize, variant: usize) -> f64 {
        self.net_loss(row, variant, 0.0)
    }

    /// The same with what is to be added to the variant's cost.
    pub fn net_loss(&self, row: usize, variant: usize, more: f64) -> f64 {
        match self.cutoff {
            None => 1.0 - self.net_performance(row, variant, more),
            Some(cutoff) => {
                let (best, cost) = (self.costs[row][self.labels[row]], self.costs[row][variant] + more);
                (par10(cost, cutoff) - par10(best, cutoff)) / (PENALTY * cutoff)
            }
        }
    }

    /// The variant that loses least where it runs for all of some rows; of equal ones the first.
    pub fn best_single(&self, rows: &[usize]) -> usize {
        let lost = |variant: usize| rows.iter().map(|&row| self.loss(row, variant)).sum::<f64>();
        let each = (0..self.variants).map(|variant| (variant, lost(variant)));
        each.reduce(|best, other| if other.1 < best.1 { other } else { best })
            .map_or(self.default, |best| best.0)
    }
}
