//! The trials of a recording as points of a space.

use crate::error::Result;
use crate::space::{Point, Space};
use crate::tried::Tried;
use std::collections::HashMap;
use std::path::Path;
use trials::{Parameter, ParameterKind, Trial, TrialsError};

/// The space of the recorded configurations, and the trials in it.
pub(super) fn points(
    path: &Path,
    parameters: Vec<Parameter>,
    trials: Vec<Trial>,
) -> Result<(Space, Vec<Tried>)> {
    let wrong = |reason: String| TrialsError::malformed(path, "", reason, "");
    let mut points: Vec<Vec<u32>> = trials.iter().map(|_| Vec::with_capacity(parameters.len())).collect();
    for (place, parameter) in parameters.iter().enumerate() {
        // Levels without an order are found one by one; each text is looked for once.
        let mut known: HashMap<String, u32> = HashMap::new();
        if parameter.kind() == ParameterKind::Categorical {
            let levels = parameter.levels().iter().enumerate();
            known.extend(levels.map(|(at, level)| (level.to_string(), at as u32)));
        }
        for (trial, point) in trials.iter().zip(&mut points) {
            let value = &trial.configuration.values()[place];
            let found = match known.is_empty() {
                true => parameter.place(value).map(|place| place as u32),
                false => known.get(&value.to_string()).copied(),
            };
            // Every value of a trial is among the levels.
            point.push(found.ok_or_else(|| wrong(format!("`{}` has no level {value}", parameter.name())))?);
        }
    }
    let tried =
        |(trial, point): (Trial, Vec<u32>)| Tried { point: Point::new(point), outcome: trial.outcome };
    let tried: Vec<Tried> = trials.into_iter().zip(points).map(tried).collect();
    let points: Vec<Point> = tried.iter().map(|tried| tried.point.clone()).collect();
    let space = Space::of_points(parameters, points).map_err(|error| wrong(error.to_string()))?;
    Ok((space, tried))
}
