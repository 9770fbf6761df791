//! Accuracy on held-out trials, and how it grows with the samples.

use super::arguments::Nodes;
use super::explanation::Explanation;
use super::report::Accuracy;
use crate::error::Result;
use rayon::prelude::*;
use tuner::starchart::accuracy::{
    CurvePoint, GrowthOptions, Learner, grow_until, hold_out, median_relative_error,
};
use tuner::starchart::iterative::{self, IterativeOptions};
use tuner::starchart::stargazer::StargazerOptions;

/// Samples whose accuracy is measured where --samples does not say it, as in section 7.1.
const SAMPLES: usize = 200;
/// Where there are few trials, at least so many are held out.
const LEAST_HELD_OUT: usize = 10;

/// The accuracy of trees on held-out trials; nothing where there are too few.
pub(super) fn measure(explanation: &Explanation<'_>, response: &[f64]) -> Result<Option<Accuracy>> {
    let accuracy = &explanation.arguments.accuracy;
    let table = &explanation.data.table;
    let pool: Vec<u32> = (0..table.rows() as u32).collect();
    let validation = accuracy.validation.min(pool.len() / 2);
    let samples = accuracy.samples.unwrap_or(SAMPLES).min(pool.len() - validation);
    if validation < LEAST_HELD_OUT.min(accuracy.validation.max(1)) || samples == 0 {
        return Ok(None);
    }
    let options = explanation.grow_options();
    let model = explanation.model_options();
    let learner: &dyn Learner = match explanation.arguments.tree.nodes {
        Nodes::Means => &options,
        Nodes::Linear => &model,
    };
    let stargazer = accuracy.stargazer.then(StargazerOptions::default);
    // For each draw: the tree, that of Algorithm 2 with the same number of samples, Stargazer; and the first two inside
    // the box of the best.
    let draws: Vec<[Option<f64>; 5]> = (0..accuracy.draws)
        .into_par_iter()
        .map(|draw| {
            let seed = accuracy.seed.wrapping_add(draw);
            let order = tuner::starchart::accuracy::draw(&pool, seed);
            let (training, validating) = hold_out(&pool, samples, validation, seed)?;
            let error = |learner: &dyn Learner, rows: &[u32], validating: &[u32]| -> Result<Option<f64>> {
                let predictor = learner.learn(table, response, rows)?;
                Ok(median_relative_error(predictor.as_ref(), table, response, validating))
            };
            let mut found = [error(learner, &training, &validating)?, None, None, None, None];
            if accuracy.iterative {
                let free: Vec<u32> = order.iter().copied().filter(|row| !validating.contains(row)).collect();
                let sampled = iterative::sample_in_order(
                    table,
                    response,
                    &free,
                    &IterativeOptions::for_budget(samples, explanation.goal),
                );
                let inside: Vec<u32> = validating
                    .iter()
                    .copied()
                    .filter(|&row| sampled.best_box.contains(table, row as usize))
                    .collect();
                found[1] = error(learner, &sampled.rows, &validating)?;
                found[2] = error(learner, &training, &inside)?;
                found[3] = error(learner, &sampled.rows, &inside)?;
            }
            if let Some(stargazer) = &stargazer {
                found[4] = error(stargazer, &training, &validating)?;
            }
            Ok(found)
        })
        .collect::<Result<_>>()?;
    let mean = |at: usize| {
        let values: Vec<f64> = draws.iter().filter_map(|draw| draw[at]).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let iterative = mean(1);
    Ok(mean(0).map(|uniform| Accuracy {
        median_relative_error: iterative.unwrap_or(uniform),
        samples,
        validation,
        draws: accuracy.draws,
        seed: accuracy.seed,
        uniform,
        iterative,
        uniform_in_box: mean(2),
        iterative_in_box: mean(3),
        stargazer: mean(4),
    }))
}

/// The errors of growing training sets, where asked for.
pub(super) fn curve(explanation: &Explanation<'_>, response: &[f64]) -> Result<Option<Vec<CurvePoint>>> {
    let accuracy = &explanation.arguments.accuracy;
    if accuracy.until.is_none() && explanation.arguments.curve.is_none() {
        return Ok(None);
    }
    let table = &explanation.data.table;
    let pool: Vec<u32> = (0..table.rows() as u32).collect();
    // Without a target the curve ends where the article's does.
    let most = match (accuracy.samples, accuracy.until) {
        (Some(samples), _) => samples,
        (None, Some(_)) => pool.len(),
        (None, None) => 2 * SAMPLES,
    };
    let growth = GrowthOptions {
        validation: accuracy.validation.min(pool.len() / 2),
        step: accuracy.step,
        most,
        target: accuracy.until,
        draws: accuracy.draws as usize,
        seed: accuracy.seed,
        ..GrowthOptions::default()
    };
    let (options, model) = (explanation.grow_options(), explanation.model_options());
    let learner: &dyn Learner = match explanation.arguments.tree.nodes {
        Nodes::Means => &options,
        Nodes::Linear => &model,
    };
    Ok(Some(grow_until(learner, table, response, &pool, &growth)?))
}
