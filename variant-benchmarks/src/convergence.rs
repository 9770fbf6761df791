//! How few labels do: inputs chosen by what the model is least sure of, against inputs in any order (Figure 2.6 of the
//! dissertation).

use adaptive::Result;
use adaptive::error::AdaptiveError;
use adaptive::evaluate::evaluate;
use adaptive::table::Table;
use adaptive::train::{TrainOptions, train};
use adaptive::tune::{COST, Measured, Objective, Order, Recorded, Stopping, tune_incrementally};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// One order, over several seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Labels {
    /// Mean performance with a quarter of the pool labelled, the first labels counted.
    pub with_a_quarter: f64,
    /// Mean number of labels after which performance is that of the whole pool; all where half of them were not enough.
    pub needed: f64,
    /// Seeds for which a quarter was enough.
    pub enough: usize,
}

/// What labels are worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Convergence {
    /// Inputs that could be labelled.
    pub pool: usize,
    /// Seeds, each of which shuffles the pool.
    pub seeds: usize,
    /// Performance on the held-out inputs with all of them labelled.
    pub whole: f64,
    /// The next label is that of the input for which the best and the second-best variant are nearest.
    pub chosen: Labels,
    /// The next label is that of any input.
    pub random: Labels,
}

/// Labels inputs of a pool one by one, in both orders, and watches performance on held-out inputs.
///
/// # Errors
/// No seed; a pool or held-out inputs that nothing can be learned from.
pub fn convergence(
    pool: &Table,
    held_out: &Table,
    features: &[usize],
    options: &TrainOptions,
    seeds: usize,
) -> Result<Convergence> {
    if seeds == 0 {
        return Err(AdaptiveError::request("no seed to take means over", "give one at least"));
    }
    let rows: Vec<usize> = (0..pool.rows.len()).collect();
    let model = train(pool, &rows, features, options)?.model;
    let whole = evaluate(&model, held_out, 1.0)?.performance.mean;
    let labels = |order: Order| -> Result<Labels> {
        let (mut with_a_quarter, mut needed, mut enough) = (0.0_f64, 0.0_f64, 0);
        for seed in 0..seeds as u64 {
            let steps = labelled(pool, held_out, features, &TrainOptions { seed, ..*options }, order)?;
            let quarter = rows.len() / 4;
            let least = steps.iter().find(|step| step.1 >= whole).map_or(rows.len(), |step| step.0);
            let last = steps.iter().rev().find(|step| step.0 <= quarter).or(steps.first());
            with_a_quarter += last.map_or(0.0, |step| step.1) / seeds as f64;
            needed += least as f64 / seeds as f64;
            enough += usize::from(least <= quarter);
        }
        Ok(Labels { with_a_quarter, needed, enough })
    };
    Ok(Convergence {
        pool: rows.len(),
        seeds,
        whole,
        chosen: labels(Order::BestVersusSecondBest)?,
        random: labels(Order::Given)?,
    })
}

/// Numbers of labels, and the performance with each, up to half of the pool.
fn labelled(
    pool: &Table,
    held_out: &Table,
    features: &[usize],
    options: &TrainOptions,
    order: Order,
) -> Result<Vec<(usize, f64)>> {
    let mut table = pool.clone();
    table.rows.shuffle(&mut ChaCha8Rng::seed_from_u64(options.seed));
    let count = table.rows.len();
    table.rows.extend(held_out.rows.iter().cloned());
    let (own, test): (Vec<usize>, Vec<usize>) = (0..table.rows.len()).partition(|&at| at < count);
    let mut recorded = Recorded::new(table)?;
    let mut measured = Measured::new(&mut recorded, Objective::least(COST), None)?;
    let stopping = Stopping { iterations: Some(count / 2), accuracy: None };
    let run = tune_incrementally(&mut measured, &own, &test, features, stopping, order, options)?;
    Ok(run.steps.iter().filter_map(|step| Some((step.labels, step.performance?))).collect())
}
