//! What choices are worth on inputs that no model was trained on.
//!
//! All variants are measured twice. The first run says which variant is the best for an input; times are those of the second, so
//! that luck of the first is nobody's gain. A choice is charged what it took: features, constraints and the model.

use adaptive::table::{Row, Table};
use serde::Serialize;

/// What was chosen for an input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    /// The variant.
    pub variant: usize,
    /// Seconds that choosing took.
    pub seconds: f64,
}

/// Some inputs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Family {
    /// What they have in common.
    pub family: String,
    /// How many of them some variant solves.
    pub inputs: usize,
    /// Mean performance of the choices.
    pub performance: f64,
    /// That of the best single variant.
    pub best_single_performance: f64,
}

/// A variant, run for all inputs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Single {
    /// The variant.
    pub variant: String,
    /// Its mean performance.
    pub performance: f64,
    /// Share of the inputs for which it is the best.
    pub best: f64,
    /// The same by at least a tenth, in both runs.
    pub best_by_a_tenth: f64,
    /// Share of the inputs for which it was chosen.
    pub chosen: f64,
    /// Inputs that it may be run for, and does not solve.
    pub failed: usize,
}

/// Performance is the best variant's time over that of the chosen one with what choosing took; 0 where the chosen one fails.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// Inputs that some variant solves in both runs.
    pub inputs: usize,
    /// Inputs that none solves.
    pub unsolved: usize,
    /// By how much times of the two runs differ, as a share of the first: the median. Where it is not small, all else means little.
    pub noise: f64,
    /// Mean performance.
    pub performance: f64,
    /// The same without what choosing took.
    pub performance_of_choices: f64,
    /// The least.
    pub least: f64,
    /// Share of inputs with at least 0.9.
    pub above_90: f64,
    /// What choosing takes, as a share of the best variant's time: the mean.
    pub choosing: f64,
    /// The single variant that is best for these inputs.
    pub best_single: String,
    /// Its mean performance.
    pub best_single_performance: f64,
    /// Share of what lies between it and exhaustive search that the choices win; null where there is nothing.
    pub gap_closed: Option<f64>,
    /// Inputs that some variants solve and some fail on.
    pub risky: usize,
    /// Those of them for which one that does was chosen.
    pub risky_solved: usize,
    /// All variants.
    pub variants: Vec<Single>,
    /// All families.
    pub families: Vec<Family>,
}

/// The time of the best variant over another one's.
fn ratio(best: f64, own: f64) -> f64 {
    match (best.is_finite(), own.is_finite()) {
        (_, false) => 0.0,
        (false, true) => 1.0,
        _ => best / own,
    }
}

/// Whether a variant fails on an input; one that is not allowed for it does not.
fn fails(row: &Row, variant: usize) -> bool {
    row.costs[variant].is_infinite() && !row.forbidden.contains(&variant)
}

/// Whether a variant is the best by a tenth.
fn leads(row: &Row, variant: usize) -> bool {
    let others = row.costs.iter().enumerate().filter(|(at, _)| *at != variant);
    let next = others.fold(f64::INFINITY, |least, (_, cost)| least.min(*cost));
    1.1 * row.costs[variant] <= next
}

/// The median difference of two runs, as a share of the first.
fn noise(labels: &Table, times: &Table) -> f64 {
    let rows = labels.rows.iter().zip(&times.rows).flat_map(|(one, two)| one.costs.iter().zip(&two.costs));
    let mut differences: Vec<f64> = rows
        .filter(|(one, two)| one.is_finite() && two.is_finite() && **one > 0.0)
        .map(|(one, two)| (two / one - 1.0).abs())
        .collect();
    differences.sort_by(f64::total_cmp);
    differences.get(differences.len() / 2).copied().unwrap_or(0.0)
}

/// Scores choices: `labels` and `times` are two runs over the same inputs, which were chosen for in their order. `None` where
/// no input was solved.
pub fn score(labels: &Table, times: &Table, chosen: &[Chosen]) -> Option<Score> {
    let all = labels.rows.iter().zip(&times.rows).zip(chosen);
    let solved: Vec<(usize, &Row, &Row, Chosen)> = all
        .clone()
        .filter(|((_, times), _)| times.best().is_some())
        .filter_map(|((labels, times), chosen)| Some((labels.label()?, labels, times, *chosen)))
        .collect();
    let (unsolved, count) = (all.len() - solved.len(), solved.len() as f64);
    let mean = |value: &dyn Fn(usize) -> f64| (0..solved.len()).map(value).sum::<f64>() / count;
    let of = |at: usize, variant: usize, more: f64| {
        let (label, _, times, _) = solved[at];
        ratio(times.costs[label], times.costs[variant] + more)
    };
    let own: Vec<f64> =
        (0..solved.len()).map(|at| of(at, solved[at].3.variant, solved[at].3.seconds)).collect();
    let single = |(variant, name): (usize, &String)| Single {
        variant: name.clone(),
        performance: mean(&|at| of(at, variant, 0.0)),
        best: mean(&|at| f64::from(solved[at].0 == variant)),
        best_by_a_tenth: mean(&|at| {
            let (label, labels, times, _) = solved[at];
            f64::from(label == variant && leads(labels, variant) && leads(times, variant))
        }),
        chosen: mean(&|at| f64::from(solved[at].3.variant == variant)),
        failed: solved.iter().filter(|own| fails(own.2, variant)).count(),
    };
    let variants: Vec<Single> = labels.variants.iter().enumerate().map(single).collect();
    let best = (0..variants.len()).reduce(|best, own| {
        if variants[own].performance > variants[best].performance { own } else { best }
    })?;
    let performance = mean(&|at| own[at]);
    let gap = 1.0 - variants[best].performance;
    let risky: Vec<bool> =
        solved.iter().map(|own| (0..own.2.costs.len()).any(|variant| fails(own.2, variant))).collect();
    let mut names: Vec<&String> = solved.iter().map(|own| &own.2.family).collect();
    names.sort();
    names.dedup();
    let family = |name: &&String| {
        let places: Vec<usize> = (0..solved.len()).filter(|&at| solved[at].2.family == **name).collect();
        let mean = |value: &dyn Fn(usize) -> f64| {
            places.iter().map(|&at| value(at)).sum::<f64>() / places.len() as f64
        };
        Family {
            family: (*name).clone(),
            inputs: places.len(),
            performance: mean(&|at| own[at]),
            best_single_performance: mean(&|at| of(at, best, 0.0)),
        }
    };
    (!solved.is_empty()).then(|| Score {
        inputs: solved.len(),
        unsolved,
        noise: noise(labels, times),
        performance,
        performance_of_choices: mean(&|at| of(at, solved[at].3.variant, 0.0)),
        least: own.iter().copied().fold(f64::INFINITY, f64::min),
        above_90: mean(&|at| f64::from(own[at] >= 0.9)),
        choosing: mean(&|at| solved[at].3.seconds / solved[at].2.best().unwrap_or(f64::INFINITY)),
        best_single: variants[best].variant.clone(),
        best_single_performance: variants[best].performance,
        gap_closed: (gap > 1e-9).then(|| (performance - variants[best].performance) / gap),
        risky: risky.iter().filter(|own| **own).count(),
        risky_solved: (0..solved.len())
            .filter(|&at| risky[at] && solved[at].2.costs[solved[at].3.variant].is_finite())
            .count(),
        families: names.iter().map(family).collect(),
        variants,
    })
}
