//! Trials as a table: one or several recorded files, one or several metrics.

use super::request;
use super::table::{Column, Table};
use crate::error::{Result, TunerError};
use crate::expression::Expression;
use crate::recorded::Recorded;
use crate::tried::Tried;
use std::collections::BTreeMap;
use trials::formats::joined::NONE;
use trials::{Parameter, ParameterKind, Status, Value};

/// A recorded space and the value that the parameter which joins several of them has for it: a device (section 8.2),
/// an input size (8.4), a compiler.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    /// The parameters of the trials.
    pub parameters: &'a [Parameter],
    /// The trials.
    pub trials: &'a [Tried],
    /// The file or device, for messages and as the value of the joining parameter.
    pub value: Value,
}

impl<'a> Source<'a> {
    /// All trials of a recorded space.
    pub fn of(recorded: &'a Recorded, value: Value) -> Source<'a> {
        Source { parameters: recorded.space.parameters(), trials: &recorded.trials, value }
    }
}

/// How trials become a table.
#[derive(Debug, Clone, Default)]
pub struct DataOptions {
    /// Metrics, or expressions over metrics and parameters, such as `energy / time`; each is a response.
    pub metrics: Vec<String>,
    /// Name of the parameter that tells the sources apart; needed if there are several.
    pub join: Option<String>,
    /// Parameters whose values have no order, although they are numbers.
    pub categorical: Vec<String>,
    /// Only trials for which this holds.
    pub condition: Option<String>,
}

/// A response of all rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The metric, as it was asked for.
    pub name: String,
    /// Its unit, where the trials say it; empty else.
    pub unit: String,
    /// One value for each row; finite.
    pub values: Vec<f64>,
}

/// Successful trials as a table, and what was left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    /// Parameters.
    pub table: Table,
    /// Metrics, in the order of [`DataOptions::metrics`].
    pub responses: Vec<Response>,
    /// Trials that failed inside the subspace, by status.
    pub failed: BTreeMap<&'static str, usize>,
    /// Trials that succeeded but lack a metric, or for which an expression has no value.
    pub unmeasured: usize,
    /// Trials outside the subspace of [`DataOptions::condition`].
    pub outside: usize,
}

impl Data {
    /// The table of the trials of some sources.
    ///
    /// # Errors
    /// Unknown names, expressions that cannot be understood, sources with different parameters, no successful trial.
    pub fn new(sources: &[Source<'_>], options: &DataOptions) -> Result<Data> {
        let joined = Joined::new(sources, options)?;
        let names: Vec<&str> = joined.parameters.iter().map(Parameter::name).collect();
        let known = metric_names(sources);
        let metrics: Vec<Measure> = options
            .metrics
            .iter()
            .map(|metric| Measure::new(metric, &known, &names))
            .collect::<Result<_>>()?;
        if metrics.is_empty() {
            return Err(request("no metric is asked for", format!("there are: {}", known.join(", "))));
        }
        let condition =
            options.condition.as_deref().map(|text| Expression::parse(text, &names)).transpose()?;
        let mut codes: Vec<Vec<u32>> = vec![Vec::new(); names.len()];
        let mut responses: Vec<Response> = metrics
            .iter()
            .map(|metric| Response { name: metric.name.clone(), unit: String::new(), values: Vec::new() })
            .collect();
        let (mut failed, mut unmeasured, mut outside) = (BTreeMap::new(), 0, 0);
        for (number, source) in sources.iter().enumerate() {
            for trial in source.trials {
                let place = joined.places(number, source, trial)?;
                let value = |k: usize| joined.parameters[k].level(place[k] as usize);
                if condition.as_ref().is_some_and(|condition| !condition.holds(&value).unwrap_or(false)) {
                    outside += 1;
                    continue;
                }
                if trial.status != Status::Ok {
                    *failed.entry(trial.status.name()).or_insert(0) += 1;
                    continue;
                }
                let values: Option<Vec<f64>> =
                    metrics.iter().map(|metric| metric.of(trial, &known, &value)).collect();
                let Some(values) = values else {
                    unmeasured += 1;
                    continue;
                };
                codes.iter_mut().zip(&place).for_each(|(codes, &place)| codes.push(place));
                for ((response, value), metric) in responses.iter_mut().zip(values).zip(&metrics) {
                    response.values.push(value);
                    if response.unit.is_empty() && metric.expression.is_none() {
                        response.unit =
                            trial.metrics.get(&metric.name).map_or_else(String::new, |m| m.unit.clone());
                    }
                }
            }
        }
        let columns = joined.parameters.iter().zip(codes);
        let columns = columns.map(|(parameter, codes)| column(parameter, codes)).collect::<Result<_>>()?;
        let data = Data { table: Table::new(columns)?, responses, failed, unmeasured, outside };
        if data.table.rows() == 0 {
            let reason = format!("no successful trial: {}", data.left_out());
            return Err(request(reason, "widen the condition, or take a metric that the trials have"));
        }
        Ok(data)
    }

    /// Number of failed trials.
    pub fn failures(&self) -> usize {
        self.failed.values().sum()
    }

    /// What was left out, as text: `161 failed (161 run-error), 3 without the metric`.
    pub fn left_out(&self) -> String {
        let mut parts = Vec::new();
        if self.failures() > 0 {
            let each: Vec<String> =
                self.failed.iter().map(|(name, count)| format!("{count} {name}")).collect();
            parts.push(format!("{} failed ({})", self.failures(), each.join(", ")));
        }
        if self.unmeasured > 0 {
            parts.push(format!("{} without the metric", self.unmeasured));
        }
        if self.outside > 0 {
            parts.push(format!("{} outside the subspace", self.outside));
        }
        if parts.is_empty() { "none left out".to_owned() } else { parts.join(", ") }
    }
}

/// The column of a parameter. Where only trials are left that have the parameter, it is what its values are.
fn column(parameter: &Parameter, codes: Vec<u32>) -> Result<Column> {
    let none = parameter.levels().iter().position(|level| level.same(&Value::from(NONE)));
    let Some(none) = none.filter(|&none| codes.iter().all(|&code| code as usize != none)) else {
        return Column::of_parameter(parameter, codes);
    };
    let mut levels = parameter.levels().to_vec();
    levels.remove(none);
    if levels.is_empty() {
        return Column::of_parameter(parameter, codes);
    }
    let own = Parameter::new(parameter.name(), levels)?;
    let place = |code: u32| own.place(parameter.level(code as usize)).unwrap_or(0) as u32;
    Column::of_parameter(&own, codes.into_iter().map(place).collect())
}

/// Names of all metrics, in alphabetical order.
fn metric_names<'a>(sources: &[Source<'a>]) -> Vec<&'a str> {
    let trials = sources.iter().flat_map(|source| source.trials);
    let names = trials.flat_map(|trial| trial.metrics.keys().map(String::as_str));
    let names: std::collections::BTreeSet<&str> = names.collect();
    names.into_iter().collect()
}

/// A metric, or an expression over metrics and parameters.
struct Measure {
    name: String,
    expression: Option<Expression>,
}

impl Measure {
    fn new(text: &str, metrics: &[&str], parameters: &[&str]) -> Result<Measure> {
        let name = text.trim().to_owned();
        if metrics.contains(&name.as_str()) {
            return Ok(Measure { name, expression: None });
        }
        if name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return Err(TunerError::unknown("metric", &name, metrics));
        }
        let names: Vec<&str> = metrics.iter().chain(parameters).copied().collect();
        let expression = Expression::parse(&name, &names)?;
        Ok(Measure { name, expression: Some(expression) })
    }

    /// Its value for a trial; `None` where it is not measured or not finite.
    fn of<'a>(&self, trial: &Tried, metrics: &[&str], parameter: &dyn Fn(usize) -> &'a Value) -> Option<f64> {
        let measured = |name: &str| trial.metrics.get(name).map(|metric| metric.value);
        let value = match &self.expression {
            None => measured(&self.name),
            Some(expression) => {
                let used = expression.parameters();
                let values: Option<Vec<Value>> = used
                    .iter()
                    .map(|&place| match metrics.get(place) {
                        Some(name) => measured(name).map(Value::Real),
                        None => Some(parameter(place - metrics.len()).clone()),
                    })
                    .collect();
                let values = values?;
                let nothing = Value::Boolean(false);
                let value = |place: usize| match used.iter().position(|&other| other == place) {
                    Some(at) => &values[at],
                    None => &nothing,
                };
                expression.value(&value).ok().and_then(|value| value.number())
            }
        };
        value.filter(|value| value.is_finite())
    }
}

/// A parameter of a source, and for each of its levels the place in the joined parameter.
type LevelMap = (usize, Vec<u32>);

/// The parameters of several sources as one list.
struct Joined {
    parameters: Vec<Parameter>,
    /// For each source and parameter of the list, the parameter of the source and its levels as places in the list.
    maps: Vec<Vec<Option<LevelMap>>>,
}

impl Joined {
    fn new(sources: &[Source<'_>], options: &DataOptions) -> Result<Joined> {
        let Some(first) = sources.first() else { return Err(request("no trials are given", "name a file")) };
        let mut names: Vec<&str> = first.parameters.iter().map(Parameter::name).collect();
        for source in sources {
            let here: Vec<&str> = source.parameters.iter().map(Parameter::name).collect();
            if let Some(odd) = names
                .iter()
                .find(|name| !here.contains(name))
                .or_else(|| here.iter().find(|name| !names.contains(name)))
            {
                let reason = format!("only some of the files have the parameter `{odd}`");
                return Err(request(
                    reason,
                    "files can be explained together if they have the same parameters",
                ));
            }
        }
        if sources.len() > 1 {
            let Some(join) = options.join.as_deref() else {
                return Err(request(
                    "several files need a parameter that tells them apart",
                    "name it with --join",
                ));
            };
            if names.contains(&join) {
                return Err(request(
                    format!("the files have a parameter `{join}` already"),
                    "take another name for --join",
                ));
            }
            names.push(join);
        }
        for name in &options.categorical {
            if !names.contains(&name.as_str()) {
                return Err(TunerError::unknown("parameter", name, &names));
            }
        }
        let mut parameters = Vec::new();
        for (k, name) in names.iter().enumerate() {
            let levels: Vec<Value> = if k < first.parameters.len() {
                let all = sources.iter().flat_map(|source| source.parameters);
                all.filter(|parameter| parameter.name() == *name).flat_map(|p| p.levels().to_vec()).collect()
            } else {
                sources.iter().map(|source| source.value.clone()).collect()
            };
            let categorical = options.categorical.iter().any(|other| other == name)
                || sources.iter().flat_map(|source| source.parameters).any(|parameter| {
                    parameter.name() == *name && parameter.kind() == ParameterKind::Categorical
                });
            parameters.push(if categorical {
                Parameter::categorical(*name, levels)?
            } else {
                Parameter::new(*name, levels)?
            });
        }
        let map = |source: &Source<'_>| {
            parameters
                .iter()
                .map(|joined| {
                    let at =
                        source.parameters.iter().position(|parameter| parameter.name() == joined.name())?;
                    let levels = source.parameters[at].levels().iter();
                    Some((at, levels.map(|level| joined.place(level).unwrap_or(0) as u32).collect()))
                })
                .collect()
        };
        let maps = sources.iter().map(map).collect();
        Ok(Joined { parameters, maps })
    }

    /// The place of the level of each parameter of the list for a trial.
    fn places(&self, number: usize, source: &Source<'_>, trial: &Tried) -> Result<Vec<u32>> {
        let place = |(k, map): (usize, &Option<LevelMap>)| match map {
            Some((at, levels)) => levels.get(*trial.point.levels().get(*at)? as usize).copied(),
            None => self.parameters[k].place(&source.value).map(|place| place as u32),
        };
        let places: Option<Vec<u32>> = self.maps[number].iter().enumerate().map(place).collect();
        places.ok_or_else(|| request("a trial does not fit the parameters of its space", ""))
    }
}
