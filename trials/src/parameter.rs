//! Parameters: a name, a kind and levels.

use crate::error::{Result, TrialsError};
use crate::value::Value;
use serde::{Deserialize, Serialize};

/// Most levels of one parameter.
const MOST_LEVELS: usize = 1 << 20;
/// Neighbours of a point along one parameter: the nearest levels where it has more.
pub const MOST_NEIGHBOURS: usize = 256;

/// What the levels of a parameter are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterKind {
    /// Whole numbers, in ascending order.
    Integer,
    /// Numbers, in ascending order.
    Real,
    /// `false` and `true`, or one of them.
    Boolean,
    /// Names without an order, in the order given.
    Categorical,
}

impl ParameterKind {
    /// Whether the levels have an order that means something.
    pub fn is_ordered(self) -> bool {
        self != ParameterKind::Categorical
    }
}

/// A named parameter and its levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    name: String,
    kind: ParameterKind,
    levels: Vec<Value>,
}

impl Parameter {
    /// A parameter of the kind that its levels have: only whole numbers, only numbers, only booleans, else
    /// categorical. Levels that stand there twice count once.
    ///
    /// # Errors
    /// An empty name, no level, more than 2^20 of them, a number that is not finite.
    pub fn new(name: impl Into<String>, levels: Vec<Value>) -> Result<Parameter> {
        let kind = if levels.iter().all(|level| matches!(level, Value::Boolean(_))) {
            ParameterKind::Boolean
        } else if levels.iter().all(|level| matches!(level, Value::Integer(_))) {
            ParameterKind::Integer
        } else if levels.iter().all(|level| matches!(level, Value::Integer(_) | Value::Real(_))) {
            ParameterKind::Real
        } else {
            ParameterKind::Categorical
        };
        Parameter::of_kind(name, kind, levels)
    }

    /// A parameter whose levels have no order, whatever they look like.
    ///
    /// # Errors
    /// As [`Parameter::new`].
    pub fn categorical(name: impl Into<String>, levels: Vec<Value>) -> Result<Parameter> {
        Parameter::of_kind(name, ParameterKind::Categorical, levels)
    }

    fn of_kind(name: impl Into<String>, kind: ParameterKind, levels: Vec<Value>) -> Result<Parameter> {
        let name = name.into();
        let refuse = |reason: String| Err(TrialsError::Parameter { reason });
        if name.trim().is_empty() {
            return refuse("a parameter has no name".to_owned());
        }
        if levels.is_empty() {
            return refuse(format!("the parameter `{name}` has no level"));
        }
        if levels.len() > MOST_LEVELS {
            return refuse(format!("the parameter `{name}` has more than {MOST_LEVELS} levels"));
        }
        if levels.iter().any(|level| matches!(level, Value::Real(number) if !number.is_finite())) {
            return refuse(format!("a level of the parameter `{name}` is not finite"));
        }
        let mut levels = levels;
        if kind.is_ordered() {
            levels.sort_by(Value::order);
            levels.dedup_by(|left, right| left.same(right));
        } else {
            let mut seen = std::collections::HashSet::new();
            levels.retain(|level| seen.insert(level.to_string()));
        }
        Ok(Parameter { name, kind, levels })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the levels are.
    pub fn kind(&self) -> ParameterKind {
        self.kind
    }

    /// All levels.
    pub fn levels(&self) -> &[Value] {
        &self.levels
    }

    /// Number of levels; at least one.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// A level.
    pub fn level(&self, place: usize) -> &Value {
        &self.levels[place]
    }

    /// A level as a number: itself, 0 and 1 for booleans, its place for categorical ones.
    pub fn number(&self, place: usize) -> f64 {
        match self.kind {
            ParameterKind::Categorical => place as f64,
            _ => self.levels[place].number().unwrap_or(place as f64),
        }
    }

    /// Place of a level.
    pub fn place(&self, value: &Value) -> Option<usize> {
        match self.kind {
            ParameterKind::Integer | ParameterKind::Real => match value {
                Value::Integer(_) | Value::Real(_) => {
                    self.levels.binary_search_by(|level| level.order(value)).ok()
                }
                _ => None,
            },
            ParameterKind::Boolean => {
                // Files of other tools write booleans as 0 and 1.
                let wanted = match value {
                    Value::Boolean(wanted) => *wanted,
                    Value::Integer(number @ (0 | 1)) => *number == 1,
                    _ => return None,
                };
                self.levels.iter().position(|level| *level == Value::Boolean(wanted))
            }
            ParameterKind::Categorical => {
                let exact = self.levels.iter().position(|level| level.same(value));
                exact.or_else(|| {
                    let text = value.to_string();
                    self.levels.iter().position(|level| level.to_string() == text)
                })
            }
        }
    }

    /// The levels as a short text: `16, 32, .. 256 (16 levels)`.
    pub fn levels_text(&self) -> String {
        let text = |levels: &[Value]| levels.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        match self.levels.as_slice() {
            [first, second, .., last] if self.levels.len() > 12 => {
                format!("{first}, {second}, .. {last} ({} levels)", self.levels.len())
            }
            levels => text(levels),
        }
    }

    /// The `index`-th of the levels that are neighbours of `from`: all, or a window around it where there are many.
    pub fn near(&self, from: u32, index: u32) -> u32 {
        let (count, window) = (self.levels.len(), self.levels.len().min(MOST_NEIGHBOURS));
        let start = (from as usize).saturating_sub(window / 2).min(count - window);
        start as u32 + index
    }
}
