//! Measurements of a workload, kept in a store of trials or on a server, record by record: what was measured before a kill is not
//! measured again.

use super::objective::Objective;
use super::workload::{Evaluated, Workload};
use crate::error::{AdaptiveError, Result};
use crate::table::{Row, Table};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolchain::interrupt;
use trials::repository::{self, Repository};
use trials::{Configuration, Metric, Outcome, Setting, Status, Trial, Value};
use tuner::Point;

/// In the place of a variant in records of features. No variant may be named so.
pub const FEATURES: &str = "(features)";

/// A workload with what is known of it.
pub struct Measured<'a> {
    workload: &'a mut dyn Workload,
    objective: Objective,
    repository: Option<Box<dyn Repository>>,
    setting: Arc<Setting>,
    known: HashMap<(String, String), Outcome>,
    rows: Vec<Option<Row>>,
    names: Arc<[String]>,
    deadline: Option<Instant>,
    fresh: usize,
    others: usize,
}

impl<'a> Measured<'a> {
    /// A workload, and what a store or a server (`redis://..`) has of it, if one is given.
    ///
    /// # Errors
    /// A store that cannot be read or written; a server that does not answer; a variant that has the name of the features.
    pub fn new(
        workload: &'a mut dyn Workload,
        objective: Objective,
        store: Option<&Path>,
    ) -> Result<Measured<'a>> {
        if workload.variants().iter().any(|variant| variant == FEATURES) {
            return Err(AdaptiveError::request(format!("a variant is named `{FEATURES}`"), "rename it"));
        }
        let mut names = std::collections::HashSet::new();
        if let Some(twice) = workload.inputs().iter().find(|name| !names.insert(name.as_str())) {
            let hint = "give each a name of its own: what is measured is kept by it";
            return Err(AdaptiveError::request(format!("two inputs are named `{twice}`"), hint));
        }
        let setting = Arc::new(workload.setting());
        let repository = store.map(|place| repository::open(place, &setting)).transpose()?;
        let (mut known, mut others) = (HashMap::new(), 0);
        for trial in repository.iter().flat_map(|repository| repository.trials()) {
            let text = |name: &str| match trial.configuration.get(name) {
                Some(Value::Text(text)) => Some(text.clone()),
                Some(value) => Some(value.to_string()),
                None => None,
            };
            match (text("input"), text("variant")) {
                (Some(input), Some(variant)) if setting.agrees(&trial.setting) && trial.round == 0 => {
                    known.insert((input, variant), trial.outcome.clone());
                }
                _ => others += 1,
            }
        }
        let rows = vec![None; workload.inputs().len()];
        let names: Arc<[String]> = ["input", "variant"].map(str::to_owned).into();
        let measured = Measured {
            workload,
            objective,
            repository,
            setting,
            known,
            rows,
            names,
            deadline: None,
            fresh: 0,
            others,
        };
        Ok(measured)
    }

    /// Measures nothing new when this time is over.
    pub fn within(mut self, limit: Option<Duration>) -> Self {
        self.deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        self
    }

    /// Whether nothing new is measured any more.
    pub fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The time that is left; `None` where there is no limit.
    pub fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// What is optimised.
    pub fn objective(&self) -> &Objective {
        &self.objective
    }

    /// The place of a variant with these values of its parameters.
    ///
    /// # Errors
    /// A variant without parameters.
    pub fn instance(&mut self, variant: usize, point: &Point) -> Result<usize> {
        self.workload.instance(variant, point)
    }

    /// Has these variants from now on ([`Workload::adopt`]).
    pub fn adopt(&mut self, names: &[String]) {
        self.workload.adopt(names);
        for row in self.rows.iter_mut().flatten() {
            row.costs.clear();
            row.forbidden.clear();
        }
    }

    /// What is measured.
    pub fn workload(&self) -> &dyn Workload {
        self.workload
    }

    /// Where trials are kept.
    pub fn repository(&self) -> Option<&dyn Repository> {
        self.repository.as_deref()
    }

    /// Trials that were measured and not found in the store.
    pub fn fresh(&self) -> usize {
        self.fresh
    }

    /// Trials of the store that are of something else.
    pub fn others(&self) -> usize {
        self.others
    }

    fn keep(&mut self, input: &str, variant: &str, outcome: &Outcome) -> Result<()> {
        self.fresh += 1;
        self.known.insert((input.to_owned(), variant.to_owned()), outcome.clone());
        let Some(repository) = &mut self.repository else { return Ok(()) };
        let values = vec![Value::Text(input.to_owned()), Value::Text(variant.to_owned())];
        let configuration = Configuration::new(Arc::clone(&self.names), values);
        let trial =
            Trial { configuration, outcome: outcome.clone(), setting: Arc::clone(&self.setting), round: 0 };
        // Features may be others than those that are there; of variants the first outcome counts.
        match variant {
            FEATURES => repository.append(&trial)?,
            _ => repository.append_once(&trial)?,
        }
        Ok(())
    }

    /// The features of an input: of the store, or evaluated now.
    ///
    /// # Errors
    /// What the workload or the store says; an interruption.
    pub fn features(&mut self, input: usize) -> Result<&Row> {
        if self.rows[input].is_none() {
            let name = self.workload.inputs()[input].clone();
            let features = self.workload.features().to_vec();
            let found = self.known.get(&(name.clone(), FEATURES.to_owned()));
            let evaluated = match found.and_then(|outcome| evaluated(outcome, &features)) {
                Some(evaluated) => evaluated,
                None => {
                    interrupt::check().map_err(|_| AdaptiveError::Interrupted)?;
                    let evaluated = self.workload.evaluate(input)?;
                    self.keep(&name, FEATURES, &outcome(&evaluated, &features))?;
                    evaluated
                }
            };
            let charged = self.objective.is_time();
            self.rows[input] = Some(Row {
                family: self.workload.family(input).to_owned(),
                features: evaluated.iter().map(|own| own.value.unwrap_or(f64::NAN)).collect(),
                feature_costs: evaluated.iter().map(|own| if charged { own.seconds } else { 0.0 }).collect(),
                input: name,
                ..Row::default()
            });
        }
        self.rows[input].as_ref().ok_or_else(|| AdaptiveError::request("an input is not there", ""))
    }

    /// The costs of all variants for an input: of the store, or measured now.
    ///
    /// # Errors
    /// What the workload or the store says; a metric that was not measured; an interruption.
    pub fn label(&mut self, input: usize) -> Result<&Row> {
        let row = self.features(input)?;
        if row.costs.is_empty() {
            let (name, features) = (row.input.clone(), row.features.clone());
            let (mut outcomes, mut forbidden) = (Vec::new(), Vec::new());
            for variant in 0..self.workload.variants().len() {
                if !self.workload.is_allowed(input, variant, &features)? {
                    outcomes.push(Outcome::failed(Status::Invalid, "its constraint does not hold"));
                    forbidden.push(variant);
                    continue;
                }
                outcomes.push(self.outcome(&name, input, variant)?);
            }
            let costs = self.costs(&name, &outcomes)?;
            if let Some(row) = &mut self.rows[input] {
                row.costs = costs;
                row.forbidden = forbidden;
            }
        }
        self.features(input)
    }

    /// What came of a variant: of the store, or measured now.
    fn outcome(&mut self, name: &str, input: usize, variant: usize) -> Result<Outcome> {
        let key = (name.to_owned(), self.workload.variants()[variant].clone());
        if let Some(outcome) = self.known.get(&key) {
            return Ok(outcome.clone());
        }
        interrupt::check().map_err(|_| AdaptiveError::Interrupted)?;
        let outcome = self.workload.measure(input, variant)?;
        // A child that was ended with us says nothing of the variant.
        interrupt::check().map_err(|_| AdaptiveError::Interrupted)?;
        self.keep(&key.0, &key.1, &outcome)?;
        Ok(outcome)
    }

    fn costs(&self, input: &str, outcomes: &[Outcome]) -> Result<Vec<f64>> {
        self.objective.costs(outcomes).map_err(|error| match error {
            AdaptiveError::Request { reason, hint } => {
                AdaptiveError::request(format!("input `{input}`: {reason}"), hint)
            }
            error => error,
        })
    }

    /// Whether a variant may be run for an input.
    ///
    /// # Errors
    /// What the workload or the store says; an interruption.
    pub fn is_allowed(&mut self, input: usize, variant: usize) -> Result<bool> {
        let features = self.features(input)?.features.clone();
        self.workload.is_allowed(input, variant, &features)
    }

    /// What one variant costs for an input, by an objective that sees each by itself: infinite where it may not be run, or fails.
    ///
    /// # Errors
    /// As for [`Measured::label`].
    pub fn cost(&mut self, input: usize, variant: usize) -> Result<f64> {
        if !self.is_allowed(input, variant)? {
            return Ok(f64::INFINITY);
        }
        let name = self.workload.inputs()[input].clone();
        let outcome = self.outcome(&name, input, variant)?;
        let costs = self.costs(&name, &[outcome])?;
        Ok(costs.first().copied().unwrap_or(f64::INFINITY))
    }

    /// Whether an input's costs are known without measuring.
    pub fn is_labelled(&self, input: usize) -> bool {
        self.rows[input].as_ref().is_some_and(|row| !row.costs.is_empty())
    }

    /// A table of some inputs as far as they are known; unlabelled ones have no costs.
    pub fn table(&self, inputs: &[usize]) -> Table {
        Table {
            name: self.workload.name().to_owned(),
            variants: self.workload.variants().to_vec(),
            default: self.workload.default_variant(),
            features: self.workload.features().to_vec(),
            metric: self.objective.text().to_owned(),
            maximize: self.objective.maximize(),
            cutoff: self.workload.cutoff(),
            rows: inputs.iter().filter_map(|&input| self.rows[input].clone()).collect(),
        }
    }
}

/// Features as an outcome: metrics `value NAME` and `seconds NAME`; a value that could not be had is missing.
fn outcome(evaluated: &[Evaluated], features: &[String]) -> Outcome {
    let mut metrics = BTreeMap::new();
    for (own, name) in evaluated.iter().zip(features) {
        let mut put = |what: &str, value: f64, unit: &str| {
            let metric = Metric { value, repetitions: Vec::new(), unit: unit.to_owned() };
            metrics.insert(format!("{what} {name}"), metric);
        };
        if let Some(value) = own.value.filter(|value| value.is_finite()) {
            put("value", value, "");
        }
        put("seconds", own.seconds, "s");
    }
    Outcome { status: Status::Ok, metrics, message: String::new(), when: String::new() }.now()
}

/// The features of an outcome; `None` where it is of other features.
fn evaluated(outcome: &Outcome, features: &[String]) -> Option<Vec<Evaluated>> {
    let metric = |what: &str, name: &String| Some(outcome.metrics.get(&format!("{what} {name}"))?.value);
    features
        .iter()
        .map(|name| Some(Evaluated { seconds: metric("seconds", name)?, value: metric("value", name) }))
        .collect()
}
