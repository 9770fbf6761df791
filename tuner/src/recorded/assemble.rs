//! From rows of values to a space and the trials in it.

use super::limits::check_size;
use crate::error::{Result, TunerError, malformed};
use crate::space::{Parameter, ParameterKind, Point, Space};
use crate::trial::Trial;
use crate::value::Value;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// A trial on the way, with values instead of levels.
pub(super) struct Row {
    pub values: Vec<Value>,
    pub trial: Trial,
}

/// The space of the recorded configurations, and the trials in it. `levels` are known beforehand for some parameters;
/// values that are missing there are added.
pub(super) fn assemble(
    path: &Path,
    names: &[String],
    levels: Vec<Vec<Value>>,
    rows: Vec<Row>,
) -> Result<(Space, Vec<Trial>)> {
    if rows.is_empty() {
        return Err(malformed(path, "", "there is no trial in it", ""));
    }
    check_size(path, names.len(), rows.len())?;
    let mut levels = levels;
    levels.resize(names.len(), Vec::new());
    for (place, levels) in levels.iter_mut().enumerate() {
        let mut seen: HashSet<String> = levels.iter().map(Value::to_string).collect();
        for row in &rows {
            if seen.insert(row.values[place].to_string()) {
                levels.push(row.values[place].clone());
            }
        }
    }
    let named = |error: TunerError| malformed(path, "", error.to_string(), "");
    let parameters: Vec<Parameter> = names
        .iter()
        .zip(levels)
        .map(|(name, levels)| Parameter::new(name, levels))
        .collect::<Result<_>>()
        .map_err(named)?;
    let mut points: Vec<Vec<u32>> = rows.iter().map(|_| Vec::with_capacity(parameters.len())).collect();
    for (place, parameter) in parameters.iter().enumerate() {
        // Levels without an order are found one by one; each text is looked for once.
        let mut known: HashMap<String, u32> = HashMap::new();
        let level_at = |at: usize, level: &Value| (level.to_string(), at as u32);
        if parameter.kind() == ParameterKind::Categorical {
            known.extend(parameter.levels().iter().enumerate().map(|(at, level)| level_at(at, level)));
        }
        for (row, point) in rows.iter().zip(&mut points) {
            let value = &row.values[place];
            let found = match known.is_empty() {
                true => parameter.place(value).map(|place| place as u32),
                false => known.get(&value.to_string()).copied(),
            };
            // Every value of a row is among the levels.
            point.push(found.ok_or_else(|| {
                malformed(path, "", format!("`{}` has no level {value}", parameter.name()), "")
            })?);
        }
    }
    let with_point = |(row, point): (Row, Vec<u32>)| Trial { point: Point::new(point), ..row.trial };
    let trials: Vec<Trial> = rows.into_iter().zip(points).map(with_point).collect();
    let points: Vec<Point> = trials.iter().map(|trial| trial.point.clone()).collect();
    let space = Space::of_points(parameters, points).map_err(named)?;
    Ok((space, trials))
}
