//! Instances of variants with parameters: a variant and a value of each parameter, which is a variant like any other. Its name says
//! both: `blocked{block=32, unroll=2}`.

use crate::error::{AdaptiveError, Result};
use trials::{Parameter, Value};
use tuner::{Point, Space};

/// What stands between a variant's name and its parameters; no variant with parameters has it in its name.
pub const OPEN: char = '{';

/// The name of an instance.
pub fn name(variant: &str, space: &Space, point: &Point) -> String {
    let values = space.parameters().iter().enumerate().map(|(place, parameter)| {
        let value = space.value(point, place);
        format!("{}={value}", parameter.name())
    });
    format!("{variant}{OPEN}{}}}", values.collect::<Vec<_>>().join(", "))
}

/// The point of an instance's name; `None` where it is none of this variant, or has values that are no levels.
pub fn point(variant: &str, space: &Space, name: &str) -> Option<Point> {
    let text = name.strip_prefix(variant)?.strip_prefix(OPEN)?.strip_suffix('}')?;
    let point = Point::new(levels(space.parameters(), text)?);
    space.is_valid(&point).then_some(point)
}

/// The levels of parameters whose text this is. The text of a level may begin with that of another one, and have commas: whoever
/// leaves a rest that is none of the other parameters' is passed over.
fn levels(parameters: &[Parameter], text: &str) -> Option<Vec<u32>> {
    let Some((first, others)) = parameters.split_first() else { return text.is_empty().then(Vec::new) };
    let text = text.strip_prefix(first.name())?.strip_prefix('=')?;
    first.levels().iter().enumerate().find_map(|(level, value)| {
        let behind = text.strip_prefix(&value.to_string())?;
        let behind = if others.is_empty() { behind } else { behind.strip_prefix(", ")? };
        let mut found = levels(others, behind)?;
        found.insert(0, u32::try_from(level).ok()?);
        Some(found)
    })
}

/// The point at which a search begins: the values that are stated, and of other parameters the first level.
///
/// # Errors
/// A value of a parameter that there is not, or that is no level; a point that violates a constraint.
pub fn start(variant: &str, space: &Space, stated: &[(String, Value)]) -> Result<Point> {
    let names: Vec<&str> = space.parameters().iter().map(Parameter::name).collect();
    let mut levels = vec![0; names.len()];
    for (name, value) in stated {
        let place = names.iter().position(|own| own == name);
        let place = place.ok_or_else(|| AdaptiveError::unknown("parameter", name, &names))?;
        let parameter = &space.parameters()[place];
        let level = parameter.place(value).and_then(|level| u32::try_from(level).ok());
        levels[place] = level.ok_or_else(|| {
            let reason = format!("variant `{variant}` cannot begin with `{name}` = {value}");
            AdaptiveError::request(reason, format!("it has {}", parameter.levels_text()))
        })?;
    }
    let point = Point::new(levels);
    if space.is_valid(&point) {
        return Ok(point);
    }
    let reason =
        format!("variant `{variant}` cannot begin with {}: a condition forbids it", space.text(&point));
    Err(AdaptiveError::request(reason, "state values of parameters that are allowed, as its `start`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        let parameter = |name: &str, levels: &[&str]| {
            Parameter::new(name, levels.iter().map(|level| Value::parse(level)).collect()).unwrap()
        };
        let parameters = vec![
            parameter("b", &["1", "16", "160"]),
            parameter("how", &["a", "a, u=2", "}"]),
            parameter("u", &["0.5", "2"]),
        ];
        let space = Space::new(parameters, &["b != 16 or u < 1".to_owned()]).unwrap();
        let points = space.points().unwrap();
        assert_eq!(points.len(), 15);
        for own in points {
            let text = name("v", &space, own);
            assert_eq!(point("v", &space, &text).as_ref(), Some(own), "{text}");
        }
        assert_eq!(name("v", &space, &points[0]), "v{b=1, how=a, u=0.5}");
        for wrong in [
            "v",
            "v{}",
            "w{b=1, how=a, u=0.5}",
            "v{b=1, how=a, u=0.5",
            "v{b=2, how=a, u=0.5}",
            "v{b=16, how=a, u=2}",
            "v{b=1, how=a, u=0.5, c=1}",
        ] {
            assert_eq!(point("v", &space, wrong), None, "{wrong}");
        }
        let stated = |name: &str, value: i64| start("v", &space, &[(name.to_owned(), Value::Integer(value))]);
        assert_eq!(space.value(&stated("b", 160).unwrap(), 0), &Value::Integer(160));
        assert!(stated("c", 1).is_err() && stated("b", 3).is_err());
    }
}
