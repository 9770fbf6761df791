//! T1: a tuning problem, as the autotuning community writes it: parameters with their values, which may be Python
//! expressions, and conditions.

use super::cell::Cell;
use super::roles::Roles;
use crate::entries::Entries;
use crate::error::{Result, malformed};
use crate::limits::check_size;
use crate::problem::{Levels, Problem, ProblemParameter};
use crate::recording::{Format, Recording};
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

pub(super) fn read(path: &Path, general: Entries<Cell>, space: ConfigurationSpace) -> Result<Recording> {
    check_size(path, space.parameters.len(), 0)?;
    if space.conditions.len() > MOST_CONDITIONS {
        return Err(malformed(path, "`Conditions`", format!("more than {MOST_CONDITIONS} of them"), ""));
    }
    let parameter = |parameter: TuningParameter| ProblemParameter {
        name: parameter.name,
        levels: match parameter.values {
            Values::List(values) => Levels::List(values),
            Values::Text(text) => Levels::Text(text),
        },
        boolean: parameter.kind == "bool",
    };
    let problem = Problem {
        parameters: space.parameters.into_iter().map(parameter).collect(),
        conditions: space.conditions.into_iter().map(|condition| condition.expression).collect(),
    };
    Ok(Recording {
        path: path.to_owned(),
        damage: Vec::new(),
        format: Format::T1,
        kernel: general.get("BenchmarkName").map(Cell::text).unwrap_or_default(),
        device: String::new(),
        parameters: Vec::new(),
        trials: Vec::new(),
        problem: Some(problem),
        mixed: Vec::new(),
        response: "time".to_owned(),
        roles: Roles::default(),
    })
}
