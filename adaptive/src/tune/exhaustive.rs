//! Exhaustive tuning: every variant is measured on every training input.

use super::measured::Measured;
use crate::error::Result;
use crate::table::Table;
use crate::train::{TrainOptions, Trained, select_features, train};

/// How a function is tuned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TuneOptions {
    /// How models are trained.
    pub train: TrainOptions,
    /// Takes only the features that are worth what they cost.
    pub select: bool,
    /// Calls that one evaluation of the features serves.
    pub calls: f64,
}

impl Default for TuneOptions {
    fn default() -> TuneOptions {
        TuneOptions { train: TrainOptions::default(), select: false, calls: 1.0 }
    }
}

/// A tuned function.
#[derive(Debug)]
pub struct Tuned {
    /// The model.
    pub trained: Trained,
    /// What it was trained on.
    pub table: Table,
    /// Places of the features in use.
    pub features: Vec<usize>,
    /// Whether time was over before all inputs were labelled.
    pub cut_short: bool,
}

/// Labels inputs, as many as time allows, and trains a model of them.
///
/// # Errors
/// What measuring says; no input that a variant solves.
pub fn tune(measured: &mut Measured<'_>, inputs: &[usize], options: &TuneOptions) -> Result<Tuned> {
    let mut labelled = Vec::new();
    let mut cut_short = false;
    for &input in inputs {
        if measured.is_over() {
            cut_short = true;
            break;
        }
        measured.label(input)?;
        labelled.push(input);
    }
    let table = measured.table(&labelled);
    let rows = table.trainable();
    let all: Vec<usize> = (0..table.features.len()).collect();
    // Where features cost something, so does the choice.
    let choosing = if table.has_charges() { 1.0 / options.calls } else { 0.0 };
    let own = TrainOptions { choosing, ..options.train };
    let features = match options.select && !rows.is_empty() {
        true => select_features(&table, &rows, options.calls, &own)?,
        false => all,
    };
    let rows: Vec<usize> = (0..table.rows.len()).collect();
    let trained = train(&table, &rows, &features, &own)?;
    Ok(Tuned { trained, table, features, cut_short })
}
