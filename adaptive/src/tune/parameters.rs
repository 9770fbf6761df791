//! Variants with parameters: searches find instances that are good somewhere, and models choose among those.
//!
//! S. Muralidharan, "Abstractions and strategies for adaptive programming", University of Utah, 2016, section 7.2.1. Searches are done
//! for classes of inputs, and what one finds is kept for all inputs of its class. The few instances that serve all classes become
//! variants like others, so that one model says the variant and the values of its parameters.

use super::measured::Measured;
use crate::error::{AdaptiveError, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use trials::{Outcome, Setting, Status, Value};
use tuner::evaluator::Evaluator;
use tuner::expression::Expression;
use tuner::run::{Budget, Run, Stop};
use tuner::searcher::{SearchOptions, named};
use tuner::{Point, TunerError};

/// The response of searches.
const COST: &str = "cost";
/// What a further instance must gain on the mean over the classes.
const GAIN: f64 = 1e-3;

/// Which variants are searched for a class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Levels {
    /// All of them.
    Multilevel,
    /// The one that is the best where all parameters have the values with which searches begin.
    #[default]
    Restricted,
}

/// How parameters are searched.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterOptions {
    /// Which variants are searched.
    pub levels: Levels,
    /// The searcher's name, as of `tilewright search`.
    pub method: String,
    /// Most instances that one search measures.
    pub budget: usize,
    /// Most instances that are kept beside the default and the variants without parameters.
    pub keep: usize,
    /// Expressions over features: inputs for which they have the same values are one class. Without any, inputs with the same
    /// features are.
    pub classes: Vec<String>,
    /// Seed of the searches.
    pub seed: u64,
}

impl Default for ParameterOptions {
    fn default() -> ParameterOptions {
        ParameterOptions {
            levels: Levels::default(),
            method: "greedy-restart".to_owned(),
            budget: 20,
            keep: 8,
            classes: Vec::new(),
            seed: 0,
        }
    }
}

/// What searches found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Searched {
    /// Which variants were searched.
    pub levels: Levels,
    /// The searcher.
    pub method: String,
    /// Classes of inputs.
    pub classes: usize,
    /// Searches that were done.
    pub searches: usize,
    /// Instances that were the best of a search.
    pub found: usize,
    /// The variants from now on.
    pub variants: Vec<String>,
    /// Mean share of the best found instance's speed that the kept ones have, over the classes.
    pub kept_of_best: f64,
    /// Whether time was over before all classes were searched.
    pub cut_short: bool,
}

/// Measures instances of one variant on one input.
struct Probe<'a, 'b> {
    measured: Mutex<&'a mut Measured<'b>>,
    input: usize,
    variant: usize,
    /// What went wrong; searches know other errors.
    failed: Mutex<Option<AdaptiveError>>,
}

impl Evaluator for Probe<'_, '_> {
    fn evaluate(&self, point: &Point) -> tuner::error::Result<Outcome> {
        let mut measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        let cost = measured.instance(self.variant, point).and_then(|at| measured.cost(self.input, at));
        match cost {
            Ok(cost) if cost.is_finite() => Ok(Outcome::measured(COST, cost)),
            Ok(_) => Ok(Outcome::failed(Status::RunError, "it does not solve the input")),
            Err(error) => {
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Err(TunerError::Interrupted)
            }
        }
    }

    fn description(&self) -> String {
        "instances of a variant".to_owned()
    }

    fn setting(&self) -> Setting {
        Setting::default()
    }
}

/// The classes of inputs, each in the order of the inputs.
fn classes(measured: &mut Measured<'_>, inputs: &[usize], expressions: &[String]) -> Result<Vec<Vec<usize>>> {
    let names: Vec<String> = measured.workload().features().to_vec();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let parsed = expressions.iter().map(|text| Expression::parse(text, &names).map_err(TunerError::from));
    let parsed: Vec<Expression> = parsed.collect::<std::result::Result<_, _>>()?;
    let (mut places, mut classes) = (HashMap::new(), Vec::<Vec<usize>>::new());
    for &input in inputs {
        let row = measured.features(input)?;
        let values: Vec<Value> = row.features.iter().map(|&value| Value::Real(value)).collect();
        let class = |expression: &Expression| {
            let value = expression.value(&|place| &values[place]).ok();
            value.map_or_else(String::new, |value| {
                value.number().map_or_else(String::new, |own| own.to_string())
            })
        };
        let key: Vec<String> = match parsed.is_empty() {
            true => values.iter().map(Value::to_string).collect(),
            false => parsed.iter().map(class).collect(),
        };
        let place = *places.entry(key).or_insert(classes.len());
        if place == classes.len() {
            classes.push(Vec::new());
        }
        classes[place].push(input);
    }
    Ok(classes)
}

/// One search; the best point, if there is one.
fn search(
    measured: &mut Measured<'_>,
    input: usize,
    variant: usize,
    options: &ParameterOptions,
) -> Result<Option<Point>> {
    let Some((space, start)) = measured.workload().parameters(variant) else { return Ok(None) };
    let (space, start) = (space.clone(), start.clone());
    let searcher =
        named(&options.method, &SearchOptions { start: vec![start.clone()], ..SearchOptions::default() })?;
    let budget = Budget { evaluations: options.budget.max(1), time: measured.left() };
    let probe = Probe { measured: Mutex::new(measured), input, variant, failed: Mutex::new(None) };
    let best = {
        let mut run = Run::new(&space, COST, &probe, budget, options.seed);
        let ended = run.measure_one(&start).and_then(|_| searcher.search(&mut run));
        if let Err(Stop::Failed(error)) = ended {
            return Err(error.into());
        }
        run.best().map(|tried| tried.point.clone())
    };
    match probe.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(best),
    }
}

/// Searches the parameters of the variants for each class of some inputs, by its first input that any variant solves, and keeps the
/// instances that serve the classes: variants of the workload are those from then on.
///
/// # Errors
/// An objective that is no metric, an unknown searcher, expressions that are none, what measuring says.
pub fn search_parameters(
    measured: &mut Measured<'_>,
    inputs: &[usize],
    options: &ParameterOptions,
) -> Result<Searched> {
    if measured.objective().sees_all() {
        let reason = "parameters are searched for a metric, and not for what all variants measured together";
        return Err(AdaptiveError::request(reason, "name a metric or an expression over metrics"));
    }
    named(&options.method, &SearchOptions::default())?;
    let classes = classes(measured, inputs, &options.classes)?;
    let base = measured.workload().variants().len();
    let (mut searches, mut cut_short) = (0, false);
    let (mut found, mut representatives) = (Vec::new(), Vec::new());
    'classes: for class in &classes {
        // An input that no variant solves says nothing of parameters.
        let mut first = None;
        for &input in class {
            if measured.is_over() {
                cut_short = true;
                break 'classes;
            }
            let costs = (0..base).map(|at| measured.cost(input, at)).collect::<Result<Vec<f64>>>()?;
            if costs.iter().any(|cost| cost.is_finite()) {
                first = Some((input, costs));
                break;
            }
        }
        let Some((input, costs)) = first else { continue };
        representatives.push(input);
        let best = (0..base).min_by(|&a, &b| costs[a].total_cmp(&costs[b]));
        let searched = (0..base).filter(|&at| match options.levels {
            Levels::Multilevel => measured.workload().parameters(at).is_some(),
            Levels::Restricted => Some(at) == best && measured.workload().parameters(at).is_some(),
        });
        for variant in searched.collect::<Vec<usize>>() {
            if !measured.is_allowed(input, variant)? {
                continue;
            }
            searches += 1;
            if let Some(point) = search(measured, input, variant, options)? {
                let at = measured.instance(variant, &point)?;
                if !found.contains(&at) {
                    found.push(at);
                }
            }
        }
    }
    let (kept, kept_of_best) = keep(measured, &representatives, base, &found, options.keep)?;
    let variants: Vec<String> = kept.iter().map(|&at| measured.workload().variants()[at].clone()).collect();
    measured.adopt(&variants);
    Ok(Searched {
        levels: options.levels,
        method: options.method.clone(),
        classes: classes.len(),
        searches,
        found: found.len(),
        variants,
        kept_of_best,
        cut_short,
    })
}

/// The variants that are kept: the default, those without parameters, and as many instances as gain something, that which gains the most
/// on the mean first. Also the share of the best one's speed that these have.
fn keep(
    measured: &mut Measured<'_>,
    inputs: &[usize],
    base: usize,
    found: &[usize],
    most: usize,
) -> Result<(Vec<usize>, f64)> {
    let default = measured.workload().default_variant();
    let plain = (0..base).filter(|&at| at == default || measured.workload().parameters(at).is_none());
    let mut kept: Vec<usize> = plain.collect();
    // Where a search begins is an instance, too.
    let others: Vec<usize> = (0..base).chain(found.iter().copied()).filter(|at| !kept.contains(at)).collect();
    let mut others: Vec<usize> = others
        .iter()
        .enumerate()
        .filter(|(at, own)| !others[..*at].contains(own))
        .map(|(_, own)| *own)
        .collect();
    let mut costs: HashMap<(usize, usize), f64> = HashMap::new();
    for &input in inputs {
        for &at in kept.iter().chain(&others) {
            costs.insert((input, at), measured.cost(input, at)?);
        }
    }
    let least = |input: usize, among: &[usize]| {
        among.iter().map(|&at| costs[&(input, at)]).fold(f64::INFINITY, f64::min)
    };
    let all: Vec<usize> = kept.iter().chain(&others).copied().collect();
    let share = |among: &[usize]| {
        let each = inputs.iter().map(|&input| {
            let (best, own) = (least(input, &all), least(input, among));
            if own <= best { 1.0 } else { best / own }
        });
        each.sum::<f64>() / inputs.len().max(1) as f64
    };
    let mut reached = share(&kept);
    for _ in 0..most {
        let with = |at: usize| share(&[&kept[..], &[at]].concat());
        let each = others.iter().map(|&at| (with(at), at));
        let Some((next, at)) = each.reduce(|best, own| if own.0 > best.0 { own } else { best }) else {
            break;
        };
        if next < reached + GAIN {
            break;
        }
        kept.push(at);
        others.retain(|own| *own != at);
        reached = next;
    }
    kept.sort_unstable();
    Ok((kept, reached))
}
