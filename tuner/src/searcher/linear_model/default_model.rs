//! The model of a space about which nothing is known.

use crate::doe::{Formula, Model, model::Contrasts};
use crate::error::Result;
use crate::space::{Parameter, ParameterKind, Space};

/// For each parameter with a choice a linear term, and quadratic and cubic ones as its levels allow (Bruel et al.,
/// section V.B), in the logarithm where its levels are positive and span a factor of 8 or more. Where that makes a
/// design too large for the budget, cubic terms go first, then quadratic ones.
pub(super) fn formula(space: &Space, budget: usize, runs_per_coefficient: f64) -> Result<Formula> {
    let names: Vec<&str> = space.parameters().iter().map(Parameter::name).collect();
    let mut formula = Formula::parse("~ 1", &names)?;
    for degree in [3, 2, 1] {
        let text = text(space, degree);
        formula = Formula::parse(&text, &names)?;
        let width = Model::new(&formula, space, Contrasts::Treatment)?.width() as f64;
        // The first design may take up to two thirds of the budget.
        if width * runs_per_coefficient <= budget as f64 * 2.0 / 3.0 {
            break;
        }
    }
    Ok(formula)
}

fn text(space: &Space, degree: usize) -> String {
    let mut terms = Vec::new();
    for parameter in space.parameters().iter().filter(|parameter| parameter.len() > 1) {
        let name = parameter.name();
        let simple = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if parameter.kind() == ParameterKind::Categorical || !simple {
            terms.push(name.to_owned());
            continue;
        }
        let (least, most) = (parameter.number(0), parameter.number(parameter.len() - 1));
        let base = if least > 0.0 && most >= 8.0 * least { format!("log({name})") } else { name.to_owned() };
        terms.push(base.clone());
        terms.extend((2..=degree.min(parameter.len() - 1)).map(|power| format!("I({base}^{power})")));
    }
    format!("~ {}", if terms.is_empty() { "1".to_owned() } else { terms.join(" + ") })
}
