//! A workload whose measurements are there already: a table.

use super::workload::{Evaluated, Workload};
use crate::error::Result;
use crate::table::Table;
use trials::{Outcome, Setting, Status};

/// A table, looked up where others measure.
#[derive(Debug, Clone)]
pub struct Recorded {
    table: Table,
    inputs: Vec<String>,
}

/// The metric that looked-up outcomes have: what the table's costs are.
pub const COST: &str = "cost";

impl Recorded {
    /// A table as a workload; the objective is the least [`COST`].
    ///
    /// # Errors
    /// A table that makes no sense.
    pub fn new(table: Table) -> Result<Recorded> {
        table.check()?;
        // Inputs of two files may have one name.
        let mut taken = std::collections::HashSet::new();
        let unique = |row: &crate::table::Row| {
            let mut name = row.input.clone();
            let mut number = 1;
            while !taken.insert(name.clone()) {
                number += 1;
                name = format!("{} ({number})", row.input);
            }
            name
        };
        let inputs = table.rows.iter().map(unique).collect();
        Ok(Recorded { table, inputs })
    }
}

impl Workload for Recorded {
    fn name(&self) -> &str {
        &self.table.name
    }

    fn variants(&self) -> &[String] {
        &self.table.variants
    }

    fn default_variant(&self) -> usize {
        self.table.default
    }

    fn features(&self) -> &[String] {
        &self.table.features
    }

    fn inputs(&self) -> &[String] {
        &self.inputs
    }

    fn family(&self, input: usize) -> &str {
        &self.table.rows[input].family
    }

    fn evaluate(&mut self, input: usize) -> Result<Vec<Evaluated>> {
        let row = &self.table.rows[input];
        let each = row.features.iter().zip(&row.feature_costs);
        Ok(each
            .map(|(&value, &seconds)| Evaluated {
                value: Some(value).filter(|value| value.is_finite()),
                seconds,
            })
            .collect())
    }

    fn is_allowed(&mut self, input: usize, variant: usize, _: &[f64]) -> Result<bool> {
        Ok(!self.table.rows[input].forbidden.contains(&variant))
    }

    fn measure(&mut self, input: usize, variant: usize) -> Result<Outcome> {
        let cost = self.table.rows[input].costs.get(variant).copied().unwrap_or(f64::INFINITY);
        Ok(if cost.is_finite() {
            Outcome::measured(COST, cost)
        } else {
            Outcome::failed(Status::RunError, "it is recorded as failed")
        })
    }

    fn cutoff(&self) -> Option<f64> {
        self.table.cutoff
    }

    fn setting(&self) -> Setting {
        Setting { job: format!("recorded: {}", self.table.name), ..Setting::default() }
    }
}
