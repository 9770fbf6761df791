//! The space of a tuning problem (T1): levels and conditions may be Python expressions.

use crate::error::Result;
use crate::expression::Expression;
use crate::space::Space;
use std::path::Path;
use trials::problem::{Levels, Problem};
use trials::{Parameter, TrialsError, Value};

/// The space that a problem states.
///
/// # Errors
/// Expressions that cannot be understood, and parameters that make no space.
pub(super) fn space(path: &Path, problem: &Problem) -> Result<Space> {
    let mut parameters = Vec::with_capacity(problem.parameters.len());
    for parameter in &problem.parameters {
        let place = format!("parameter `{}`", parameter.name);
        let wrong = |reason: String, hint: &str| TrialsError::malformed(path, &place, reason, hint);
        let mut levels = match &parameter.levels {
            Levels::List(values) => values.clone(),
            Levels::Text(text) => {
                let expression =
                    Expression::parse(text, &[]).map_err(|error| wrong(error.to_string(), &error.hint))?;
                expression.levels().map_err(|error| wrong(format!("`{text}` has no value: {error}"), ""))?
            }
        };
        if parameter.boolean {
            levels = levels
                .into_iter()
                .map(|level| match level {
                    Value::Integer(number @ (0 | 1)) => Value::Boolean(number == 1),
                    other => other,
                })
                .collect();
        }
        parameters
            .push(Parameter::new(&parameter.name, levels).map_err(|error| wrong(error.to_string(), ""))?);
    }
    let space = Space::new(parameters, &problem.conditions);
    Ok(space.map_err(|error| TrialsError::malformed(path, "", error.to_string(), &error.hint()))?)
}
