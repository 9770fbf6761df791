//! T1: a tuning problem, as the autotuning community writes it: parameters with their values, which may be Python
//! expressions, and conditions.

use super::cell::{Cell, Entries};
use super::limits::check_size;
use super::recording::{Format, Recorded};
use super::roles::Roles;
use crate::error::{Result, malformed};
use crate::expression::Expression;
use crate::space::{Parameter, Space};
use crate::value::Value;
use serde::Deserialize;
use serde::de::Deserializer;
use std::path::Path;

/// Most conditions.
const MOST_CONDITIONS: usize = 1_000;

/// The part of the problem that is the space.
#[derive(Debug, Deserialize)]
pub(super) struct ConfigurationSpace {
    #[serde(rename = "TuningParameters")]
    parameters: Vec<TuningParameter>,
    #[serde(rename = "Conditions", default)]
    conditions: Vec<Condition>,
}

#[derive(Debug, Deserialize)]
struct TuningParameter {
    #[serde(rename = "Name")]
    name: String,
    #[serde(rename = "Type", default)]
    kind: String,
    #[serde(rename = "Values")]
    values: Values,
}

#[derive(Debug, Deserialize)]
struct Condition {
    #[serde(rename = "Expression")]
    expression: String,
}

/// A list, or the text of an expression that makes one.
#[derive(Debug)]
enum Values {
    List(Vec<Value>),
    Text(String),
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Text(String),
            List(Vec<Value>),
        }
        Ok(match Either::deserialize(deserializer)? {
            Either::Text(text) => Values::Text(text),
            Either::List(values) => Values::List(values),
        })
    }
}

pub(super) fn read(path: &Path, general: Entries<Cell>, space: ConfigurationSpace) -> Result<Recorded> {
    check_size(path, space.parameters.len(), 0)?;
    if space.conditions.len() > MOST_CONDITIONS {
        return Err(malformed(path, "`Conditions`", format!("more than {MOST_CONDITIONS} of them"), ""));
    }
    let mut parameters = Vec::with_capacity(space.parameters.len());
    for parameter in &space.parameters {
        let place = format!("parameter `{}`", parameter.name);
        let mut levels = match &parameter.values {
            Values::List(values) => values.clone(),
            Values::Text(text) => {
                let expression = Expression::parse(text, &[])
                    .map_err(|error| malformed(path, &place, error.to_string(), &error.hint))?;
                expression
                    .levels()
                    .map_err(|error| malformed(path, &place, format!("`{text}` has no value: {error}"), ""))?
            }
        };
        if parameter.kind == "bool" {
            levels = levels
                .into_iter()
                .map(|level| match level {
                    Value::Integer(number @ (0 | 1)) => Value::Boolean(number == 1),
                    other => other,
                })
                .collect();
        }
        let made = Parameter::new(&parameter.name, levels);
        parameters.push(made.map_err(|error| malformed(path, &place, error.to_string(), ""))?);
    }
    let constraints: Vec<String> =
        space.conditions.into_iter().map(|condition| condition.expression).collect();
    let space = Space::new(parameters, &constraints)
        .map_err(|error| malformed(path, "", error.to_string(), &error.hint()))?;
    Ok(Recorded {
        path: path.to_owned(),
        damage: Vec::new(),
        format: Format::T1,
        kernel: general.get("BenchmarkName").map(Cell::text).unwrap_or_default(),
        device: String::new(),
        space,
        trials: Vec::new(),
        response: "time".to_owned(),
        roles: Roles::default(),
    })
}
