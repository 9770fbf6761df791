//! What a model is worth: its choices against those of exhaustive search and against the best single variant.

use crate::error::{AdaptiveError, Result};
use crate::model::Model;
use crate::ranking::Ranking;
use crate::table::Table;
use crate::train::par10;
use serde::Serialize;

/// Mean and distribution of performances: the best variant's cost over that of the chosen one, 0 where it fails.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Least.
    pub least: f64,
    /// The value that a tenth of the inputs is below.
    pub tenth: f64,
    /// That of half of them.
    pub median: f64,
    /// Share of inputs with at least 0.9.
    pub above_90: f64,
    /// Share of inputs with at least 0.7.
    pub above_70: f64,
}

impl Spread {
    /// Of some performances, of which there is at least one.
    fn of(values: &[f64]) -> Spread {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len().max(1);
        let at =
            |share: f64| sorted.get((share * (count - 1) as f64).round() as usize).copied().unwrap_or(0.0);
        let above = |least: f64| values.iter().filter(|value| **value >= least).count() as f64 / count as f64;
        let mean = values.iter().sum::<f64>() / count as f64;
        Spread {
            mean,
            least: at(0.0),
            tenth: at(0.1),
            median: at(0.5),
            above_90: above(0.9),
            above_70: above(0.7),
        }
    }
}

/// A single variant, run for every input.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Single {
    /// The variant.
    pub variant: String,
    /// Its mean performance.
    pub performance: f64,
    /// Inputs for which it is the best.
    pub best: usize,
    /// Inputs for which the model chooses it.
    pub chosen: usize,
    /// Inputs that it does not solve.
    pub failed: usize,
}

/// Inputs of one family.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Family {
    /// The family.
    pub family: String,
    /// Its inputs that some variant solves.
    pub inputs: usize,
    /// Mean performance of the model.
    pub performance: f64,
}

/// Scores of algorithm selection: mean time, a failure counted as ten times the time limit, features charged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Par10 {
    /// Of the model's choices.
    pub model: f64,
    /// Of the single variant that is best by this score.
    pub best_single: f64,
    /// Of the best variant for each input.
    pub exhaustive: f64,
    /// Share of what lies between the latter two that the model wins; null where there is nothing.
    pub gap_closed: Option<f64>,
}

/// What a model is worth on the inputs of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// Inputs that some variant solves.
    pub inputs: usize,
    /// Inputs that none solves; nothing can be chosen well there, and they do not count.
    pub unsolved: usize,
    /// The model against exhaustive search, features not charged.
    pub performance: Spread,
    /// The same with features charged.
    pub net: Spread,
    /// Calls that one evaluation of the features serves.
    pub calls: f64,
    /// Share of inputs for which the best variant is chosen.
    pub accuracy: f64,
    /// The best variant where one is run for all inputs of this table.
    pub best_single: String,
    /// Its mean performance.
    pub best_single_performance: f64,
    /// Share of what lies between the best single variant and exhaustive search that the model wins; null where there is nothing.
    pub gap_closed: Option<f64>,
    /// Inputs that some variants solve and some do not.
    pub risky: usize,
    /// Those of them for which the model chooses one that does.
    pub risky_solved: usize,
    /// All variants.
    pub variants: Vec<Single>,
    /// For each best variant how often each variant is chosen.
    pub confusion: Vec<Vec<usize>>,
    /// Families of inputs; empty where nothing is known of them.
    pub families: Vec<Family>,
    /// Scores with failures as ten times the time limit; null without such a limit.
    pub par10: Option<Par10>,
    /// The performance of each input that some variant solves, for drawings.
    #[serde(skip)]
    pub each: Vec<f64>,
    /// The same of the best single variant.
    #[serde(skip)]
    pub each_best_single: Vec<f64>,
}

/// Evaluates a model on the labelled inputs of a table.
///
/// # Errors
/// A table of other variants, or without a feature that the model needs; no input that a variant solves.
pub fn evaluate(model: &Model, table: &Table, calls: f64) -> Result<Evaluation> {
    table.check()?;
    let place = |list: &[String], name: &String, what: &str| {
        let place = list.iter().position(|own| own == name);
        place.ok_or_else(|| AdaptiveError::unknown(what, name, list))
    };
    let variants: Vec<usize> =
        model.variants.iter().map(|name| place(&table.variants, name, "variant")).collect::<Result<_>>()?;
    let features: Vec<usize> =
        model.features.iter().map(|f| place(&table.features, &f.name, "feature")).collect::<Result<_>>()?;
    let default = variants[model.default];
    let count = table.variants.len();
    let (mut plain, mut net, mut chosen_of) = (Vec::new(), Vec::new(), Vec::new());
    let mut confusion = vec![vec![0; count]; count];
    let (mut unsolved, mut risky, mut risky_solved, mut right) = (0, 0, 0, 0);
    for (at, row) in table.rows.iter().enumerate().filter(|(_, row)| !row.costs.is_empty()) {
        let Some(label) = row.label() else {
            unsolved += 1;
            continue;
        };
        let point: Vec<f64> = features.iter().map(|&feature| row.features[feature]).collect();
        let mut chosen = default;
        if point.iter().all(|value| value.is_finite()) {
            let mut ranking = Ranking::new();
            model.rank(&point, &mut ranking);
            let mut allowed =
                ranking.iter().map(|own| variants[own]).filter(|own| !row.forbidden.contains(own));
            chosen = allowed.next().unwrap_or(default);
        }
        let performance = |more| row.performance(chosen, more).unwrap_or(0.0);
        plain.push(performance(0.0));
        net.push(performance(table.charge(at, &features, calls)));
        confusion[label][chosen] += 1;
        chosen_of.push((at, chosen));
        right += usize::from(row.costs[chosen] <= row.costs[label]);
        if row.costs.iter().any(|cost| cost.is_infinite()) {
            risky += 1;
            risky_solved += usize::from(row.costs[chosen].is_finite());
        }
    }
    if plain.is_empty() {
        let reason = format!("no labelled input of `{}` is solved by a variant", table.name);
        return Err(AdaptiveError::infeasible(reason, "name other inputs"));
    }
    let inputs = plain.len();
    let labels = table.label_counts();
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / inputs as f64;
    let single = |variant: usize| Single {
        variant: table.variants[variant].clone(),
        performance: mean(
            &mut chosen_of.iter().map(|&(at, _)| table.rows[at].performance(variant, 0.0).unwrap_or(0.0)),
        ),
        best: labels[variant],
        chosen: chosen_of.iter().filter(|(_, chosen)| *chosen == variant).count(),
        failed: chosen_of.iter().filter(|&&(at, _)| table.rows[at].costs[variant].is_infinite()).count(),
    };
    let singles: Vec<Single> = (0..count).map(single).collect();
    let best = singles.iter().enumerate();
    let best = best.reduce(|best, other| if other.1.performance > best.1.performance { other } else { best });
    let (best_at, best_single, best_single_performance) =
        best.map(|(at, best)| (at, best.variant.clone(), best.performance)).unwrap_or_default();
    let each_best_single =
        chosen_of.iter().map(|&(at, _)| table.rows[at].performance(best_at, 0.0).unwrap_or(0.0)).collect();
    let performance = Spread::of(&plain);
    let par10 = table.cutoff.map(|cutoff| {
        let score = |cost: f64, more: f64| par10(cost + more, cutoff);
        let over =
            |cost: &dyn Fn(usize, usize) -> f64| mean(&mut chosen_of.iter().map(|&(at, own)| cost(at, own)));
        let model = over(&|at, own| score(table.rows[at].costs[own], table.charge(at, &features, calls)));
        let exhaustive = over(&|at, _| score(table.rows[at].best().unwrap_or(f64::INFINITY), 0.0));
        let each = (0..count).map(|variant| over(&|at, _| score(table.rows[at].costs[variant], 0.0)));
        let best_single = each.fold(f64::INFINITY, f64::min);
        let gap = best_single - exhaustive;
        let gap_closed = (gap > 1e-9 * best_single).then(|| (best_single - model) / gap);
        Par10 { model, best_single, exhaustive, gap_closed }
    });
    let gap = 1.0 - best_single_performance;
    let mut names: Vec<&String> =
        table.rows.iter().map(|row| &row.family).filter(|name| !name.is_empty()).collect();
    names.sort();
    names.dedup();
    let family = |name: &&String| {
        let own = chosen_of.iter().zip(&plain).filter(|((at, _), _)| table.rows[*at].family == **name);
        let values: Vec<f64> = own.map(|(_, value)| *value).collect();
        let performance = values.iter().sum::<f64>() / values.len().max(1) as f64;
        Family { family: (*name).clone(), inputs: values.len(), performance }
    };
    Ok(Evaluation {
        inputs,
        unsolved,
        net: Spread::of(&net),
        calls,
        accuracy: right as f64 / inputs as f64,
        best_single,
        best_single_performance,
        gap_closed: (gap > 1e-9).then(|| (performance.mean - best_single_performance) / gap),
        performance,
        risky,
        risky_solved,
        variants: singles,
        confusion,
        par10,
        each: plain.clone(),
        each_best_single,
        families: names.iter().map(family).filter(|family| family.inputs > 0).collect(),
    })
}
