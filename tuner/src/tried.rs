//! A point of a space that was tried.

use crate::space::{Point, Space};
use std::ops::Deref;
use std::sync::Arc;
use trials::{Configuration, Outcome, Parameter, Setting, Trial};

/// A point, and what came of measuring it. With the space and the [setting](Setting) it is a [trial](Trial).
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// The configuration: for each parameter of the space, the index of its level.
    pub point: Point,
    /// What came of it.
    pub outcome: Outcome,
}

impl Deref for Tried {
    type Target = Outcome;

    fn deref(&self) -> &Outcome {
        &self.outcome
    }
}

impl Tried {
    /// A point that succeeded with one metric.
    pub fn measured(point: Point, metric: &str, value: f64) -> Tried {
        Tried { point, outcome: Outcome::measured(metric, value) }
    }
}

/// Points that were tried in one setting, as trials.
pub fn trials_of<'a>(
    space: &'a Space,
    setting: &'a Arc<Setting>,
    tried: impl IntoIterator<Item = &'a Tried> + 'a,
) -> impl Iterator<Item = Trial> + 'a {
    let names: Arc<[String]> = space.parameters().iter().map(|p: &Parameter| p.name().to_owned()).collect();
    tried.into_iter().map(move |tried| Trial {
        configuration: Configuration::new(Arc::clone(&names), space.values(&tried.point)),
        outcome: tried.outcome.clone(),
        setting: Arc::clone(setting),
        round: 0,
    })
}
