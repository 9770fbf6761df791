//! The model of a space about which nothing is known.

use crate::doe::{Formula, Model, model::Contrasts};
use crate::error::Result;
use crate::space::Space;
use trials::{Parameter, ParameterKind};

/// Kinds of models, the richest first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Terms {
    /// Linear terms, and a second one for each parameter of three levels or more.
    Curved,
    /// Linear terms.
    Linear,
}

/// For each parameter with a choice a linear term, and a second one where it has three levels or more: the inverse
/// where all are positive, since time is often work per unit plus overhead over units (the model of Bruel et al.,
/// Table VII, has these), else the square. Where that makes the first design too large for the budget, the second
/// terms are left out.
pub(super) fn formula(space: &Space, budget: usize, runs_per_coefficient: f64) -> Result<Formula> {
    let names: Vec<&str> = space.parameters().iter().map(Parameter::name).collect();
    let mut formula = Formula::parse("~ 1", &names)?;
    for terms in [Terms::Curved, Terms::Linear] {
        formula = Formula::parse(&text(space, terms), &names)?;
        let width = Model::new(&formula, space, Contrasts::Treatment)?.width() as f64;
        // The first design may take up to two thirds of the budget.
        if width * runs_per_coefficient <= budget as f64 * 2.0 / 3.0 {
            break;
        }
    }
    Ok(formula)
}

fn text(space: &Space, kind: Terms) -> String {
    let mut terms = Vec::new();
    for parameter in space.parameters().iter().filter(|parameter| parameter.len() > 1) {
        let name = parameter.name();
        terms.push(name.to_owned());
        // Other names cannot stand in arithmetic.
        let simple = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let curved = kind == Terms::Curved && simple && parameter.len() > 2;
        if curved && parameter.kind() != ParameterKind::Categorical {
            let positive = parameter.number(0) > 0.0;
            terms.push(if positive { format!("I(1/{name})") } else { format!("I({name}^2)") });
        }
    }
    format!("~ {}", if terms.is_empty() { "1".to_owned() } else { terms.join(" + ") })
}
