//! Few of many candidates, and which of them is the best for which use: what tilings of a stencil and implementations of a nested
//! program have in common.

use super::candidates::serving;
use crate::error::{Error, Result};
use adaptive::AdaptiveError;
use adaptive::model::{Model, Training};
use adaptive::table::{Row, Table};
use adaptive::train::{Kind, TrainOptions, choose, train};
use serde::Serialize;

/// Who is so near to the best for a use, as a part of its time, is as good: measurements are no closer, and where fewer tilings
/// are told apart the rules are simpler.
const AS_GOOD: f64 = 0.02;

/// What choices are worth, over all uses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Worth {
    /// The time of the best tiling of the portfolio, as a part of the chosen one's: mean.
    pub of_best: f64,
    /// The same for uses that were held out in turn.
    pub of_best_held_out: f64,
    /// The fixed tiling's time, as a multiple of the chosen one's: geometric mean.
    pub over_fixed: f64,
    /// The least of these.
    pub over_fixed_least: f64,
}

/// What is known of the uses.
pub struct Known<'a> {
    /// The program's name.
    pub name: &'a str,
    /// What is looked at.
    pub features: &'a [String],
    /// The name of each use, and its features.
    pub uses: Vec<(String, Vec<f64>)>,
}

/// Few candidates, and what chooses among them.
pub struct Learned {
    /// The candidates, the fixed one first.
    pub few: Vec<usize>,
    /// What chooses.
    pub model: Model,
    /// What the choices are worth.
    pub worth: Worth,
    /// For each use, the number of the one that is chosen.
    choices: Vec<usize>,
}

impl Learned {
    /// For how many uses one is chosen.
    pub fn chosen_for(&self, number: usize) -> usize {
        self.choices.iter().filter(|&&choice| choice == number).count()
    }
}

/// What is wrong with a request that was made here.
pub fn failed(error: AdaptiveError) -> Error {
    Error::internal(error.to_string())
}

/// The model, with the processor that its costs are of.
pub fn on_machine(model: Model, machine: &str) -> Model {
    let training = Training { machine: machine.to_owned(), ..model.training };
    Model { training, ..model }
}

/// At most `most` candidates that serve all uses, the first one among them, without those that are never chosen.
/// `costs[candidate][use]`.
///
/// # Errors
/// A table that nothing can be learned from.
pub fn few_of(known: &Known<'_>, costs: &[Vec<f64>], most: usize) -> Result<Learned> {
    let mut few = serving(costs, most);
    loop {
        let learned = learn(known, &few, costs)?;
        let idle: Vec<usize> = (1..few.len()).filter(|own| !learned.choices.contains(own)).collect();
        if idle.is_empty() {
            return Ok(learned);
        }
        few = few.iter().enumerate().filter(|(at, _)| !idle.contains(at)).map(|(_, one)| *one).collect();
    }
}

/// Learns which of a few candidates is the best for which use.
fn learn(known: &Known<'_>, few: &[usize], costs: &[Vec<f64>]) -> Result<Learned> {
    let uses = known.uses.len();
    let row = |(at, (name, features)): (usize, &(String, Vec<f64>))| {
        let best = few.iter().map(|&one| costs[one][at]).fold(f64::INFINITY, f64::min);
        let cost = |&one: &usize| {
            let cost = costs[one][at];
            if cost <= best * (1.0 + AS_GOOD) { best } else { cost }
        };
        Row {
            input: name.clone(),
            features: features.clone(),
            feature_costs: vec![0.0; known.features.len()],
            costs: few.iter().map(cost).collect(),
            ..Row::default()
        }
    };
    let table = Table {
        name: known.name.to_owned(),
        variants: (0..few.len()).map(|number| format!("v{number}")).collect(),
        default: 0,
        features: known.features.to_vec(),
        metric: "seconds".to_owned(),
        rows: known.uses.iter().enumerate().map(row).collect(),
        ..Table::default()
    };
    let rows: Vec<usize> = (0..table.rows.len()).collect();
    let places: Vec<usize> = (0..known.features.len()).collect();
    let options = TrainOptions { kind: Kind::Tree, ..TrainOptions::default() };
    let trained = train(&table, &rows, &places, &options).map_err(failed)?;
    let choices: Vec<usize> =
        table.rows.iter().map(|row| choose(&trained.model.classifier, &row.features, 0)).collect();
    let least = |at: usize| few.iter().map(|&one| costs[one][at]).fold(f64::INFINITY, f64::min);
    let cost = |at: usize| costs[few[choices[at]]][at];
    let mean = |parts: &[f64]| parts.iter().sum::<f64>() / parts.len().max(1) as f64;
    let of_best: Vec<f64> = (0..uses).map(|at| least(at) / cost(at)).collect();
    let over: Vec<f64> = (0..uses).map(|at| costs[few[0]][at] / cost(at)).collect();
    let worth = Worth {
        of_best: mean(&of_best),
        of_best_held_out: trained.validated.performance,
        over_fixed: mean(&over.iter().map(|part| part.ln()).collect::<Vec<_>>()).exp(),
        over_fixed_least: over.iter().copied().fold(f64::INFINITY, f64::min),
    };
    Ok(Learned { few: few.to_vec(), model: trained.model, worth, choices })
}
