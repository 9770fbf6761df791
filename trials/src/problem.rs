//! Tuning problems of others: parameters and conditions, not yet a space.

use crate::value::Value;

/// A tuning problem as T1 states it.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The parameters.
    pub parameters: Vec<ProblemParameter>,
    /// Conditions, all of which must hold.
    pub conditions: Vec<String>,
}

/// A parameter of a problem.
#[derive(Debug, Clone)]
pub struct ProblemParameter {
    /// Its name.
    pub name: String,
    /// Its levels.
    pub levels: Levels,
    /// Whether 0 and 1 are booleans.
    pub boolean: bool,
}

/// A list, or the text of an expression that makes one.
#[derive(Debug, Clone)]
pub enum Levels {
    /// The list.
    List(Vec<Value>),
    /// The expression.
    Text(String),
}
