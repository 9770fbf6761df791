//! Few of many candidates, and which of them is the best for which use: what tilings of a stencil and implementations of a nested
//! program have in common.

use super::candidates::{KEPT, kept_of_best, serving};
use crate::error::{Error, Result};
use adaptive::AdaptiveError;
use adaptive::model::{Model, Training};
use adaptive::table::{Row, Table};
use adaptive::train::{Kind, TrainOptions, choose, train};
use serde::Serialize;

/// Who is so near to the best for a use, as a part of its time, is as good: measurements are no closer, and where fewer tilings
/// are told apart the rules are simpler. Where too few are left by that, less is as good.
const AS_GOOD: [f64; 3] = [0.02, 0.005, 0.0];

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
    /// The time of the best of all candidates, as a part of that of the best of the few: mean over the uses.
    pub kept_of_best: f64,
    /// The same of as many as are allowed, with those that are never chosen.
    pub kept_by_most: f64,
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

/// At most `most` candidates that serve all uses, the first one among them, without those that are never chosen. They have 99 % of
/// the speed of the best of all wherever `most` and the features allow that. `costs[candidate][use]`.
///
/// # Errors
/// A table that nothing can be learned from.
pub fn few_of(known: &Known<'_>, costs: &[Vec<f64>], most: usize) -> Result<Learned> {
    let few = serving(costs, most);
    let mut best: Option<Learned> = None;
    for as_good in AS_GOOD {
        let learned = without_idle(known, few.clone(), costs, as_good)?;
        if best.as_ref().is_none_or(|best| best.kept_of_best < learned.kept_of_best) {
            best = Some(learned);
        }
        if best.as_ref().is_some_and(|best| best.kept_of_best >= KEPT) {
            break;
        }
    }
    let kept_by_most = kept_of_best(costs, &few);
    let found = best.map(|best| Learned { kept_by_most, ..best });
    found.ok_or_else(|| Error::internal("nothing was learned"))
}

/// Candidates without those that are never chosen.
fn without_idle(known: &Known<'_>, mut few: Vec<usize>, costs: &[Vec<f64>], as_good: f64) -> Result<Learned> {
    loop {
        let learned = learn(known, &few, costs, as_good)?;
        let idle: Vec<usize> = (1..few.len()).filter(|own| !learned.choices.contains(own)).collect();
        if idle.is_empty() {
            return Ok(learned);
        }
        few = few.iter().enumerate().filter(|(at, _)| !idle.contains(at)).map(|(_, one)| *one).collect();
    }
}

/// Learns which of a few candidates is the best for which use.
fn learn(known: &Known<'_>, few: &[usize], costs: &[Vec<f64>], as_good: f64) -> Result<Learned> {
    let uses = known.uses.len();
    let row = |(at, (name, features)): (usize, &(String, Vec<f64>))| {
        let best = few.iter().map(|&one| costs[one][at]).fold(f64::INFINITY, f64::min);
        let cost = |&one: &usize| {
            let cost = costs[one][at];
            if cost <= best * (1.0 + as_good) { best } else { cost }
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
    let kept_of_best = kept_of_best(costs, few);
    Ok(Learned {
        few: few.to_vec(),
        model: trained.model,
        worth,
        kept_of_best,
        kept_by_most: kept_of_best,
        choices,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve of sixteen uses have a candidate that is 1.9 % faster: as good as the first one, where nothing else is wanted, but
    /// together they would lose more than 1 %.
    #[test]
    fn what_counts_as_equal_costs_no_more_than_one_percent() {
        let uses: Vec<(String, Vec<f64>)> =
            (0..16).map(|own| (format!("u{own}"), vec![f64::from(own)])).collect();
        let features = ["x".to_owned()];
        let known = Known { name: "p", features: &features, uses };
        let cost = |early: f64, late: f64| (0..16).map(|own| if own < 4 { early } else { late }).collect();
        let costs: Vec<Vec<f64>> = vec![cost(1.0, 1.019), cost(1.019, 1.0)];
        let learned = few_of(&known, &costs, 8).unwrap();
        assert_eq!((learned.few.len(), learned.kept_of_best), (2, 1.0));
        // Fewer are allowed than are needed.
        let one = |at: usize| (0..16).map(|own| if own / 4 == at { 1.0 } else { 2.0 }).collect();
        let costs: Vec<Vec<f64>> = (0..4).map(one).collect();
        let learned = few_of(&known, &costs, 3).unwrap();
        assert!(learned.kept_by_most < KEPT && learned.kept_of_best <= learned.kept_by_most);
    }
}
