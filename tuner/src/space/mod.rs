//! Spaces: named parameters with their levels, constraints, and points.
//!
//! A space is given by constraints, and then it may have 1e37 points and is never enumerated, or by the list of its
//! valid points, as a recorded space is. Callers see no difference: they sample, check and walk to neighbours.

mod group;
mod limits;
mod listed;
mod point;
mod sample;

pub use limits::ENUMERABLE;
pub use point::Point;

use crate::error::{Result, TunerError};
use crate::expression::Expression;
use group::Group;
use limits::enumerable;
use listed::Listed;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::collections::HashSet;
use trials::Value;
use trials::parameter::{self, Parameter, ParameterKind};

/// Parameters, and which combinations of their levels are valid.
#[derive(Debug, Clone)]
pub struct Space {
    parameters: Vec<Parameter>,
    constraints: Vec<Expression>,
    /// Parameters that constraints tie together, for sampling; unused where the points are listed.
    groups: Vec<Group>,
    listed: Option<Listed>,
}

impl Space {
    /// A space in which the points are valid that satisfy every constraint. A constraint that has no value at a point
    /// (a division by zero) excludes the point.
    ///
    /// # Errors
    /// No parameter, two of one name, a constraint that cannot be read, constraints that no point satisfies. Where
    /// the space is too large to look at every point, a limited search that finds none is taken for that.
    pub fn new(parameters: Vec<Parameter>, constraints: &[String]) -> Result<Space> {
        let names = names_of(&parameters)?;
        let constraints: Vec<Expression> = constraints
            .iter()
            .map(|text| Expression::parse(text, &names).map_err(TunerError::from))
            .collect::<Result<_>>()?;
        let groups = group::groups(&parameters, &constraints)?;
        let mut space = Space { parameters, constraints, groups, listed: None };
        if enumerable(space.unconstrained_size(), space.parameters.len()) {
            // Small groups hold all their valid combinations, so their product is the space.
            if let Some(points) = space.product_of_groups() {
                space.listed = Some(Listed::new(points, &space.parameters));
            }
        } else {
            // Whether there is a point at all.
            space.sample(&mut ChaCha8Rng::seed_from_u64(0))?;
        }
        Ok(space)
    }

    /// The space whose valid points are exactly these; points that stand there twice count once.
    ///
    /// # Errors
    /// No parameter, two of one name, no point, a point that does not fit the parameters.
    pub fn of_points(parameters: Vec<Parameter>, points: impl IntoIterator<Item = Point>) -> Result<Space> {
        names_of(&parameters)?;
        let mut seen = HashSet::new();
        let points: Vec<Point> = points.into_iter().filter(|point| seen.insert(point.clone())).collect();
        let fits = |point: &Point| {
            point.levels().len() == parameters.len()
                && point.levels().iter().zip(&parameters).all(|(&level, p)| (level as usize) < p.len())
        };
        if points.is_empty() {
            return Err(TunerError::no_valid_point("the list of its points is empty".to_owned()));
        }
        if let Some(wrong) = points.iter().position(|point| !fits(point)) {
            return Err(TunerError::Space {
                reason: format!("point {} of the list does not fit the parameters of the space", wrong + 1),
                hint: String::new(),
            });
        }
        let listed = Some(Listed::new(points, &parameters));
        Ok(Space { parameters, constraints: Vec::new(), groups: Vec::new(), listed })
    }

    /// The points of this space that satisfy one more constraint, with the same parameters and levels.
    ///
    /// # Errors
    /// As [`Space::new`].
    pub fn restricted(&self, constraint: &str) -> Result<Space> {
        let names: Vec<&str> = self.parameters.iter().map(Parameter::name).collect();
        let expression = Expression::parse(constraint, &names)?;
        match &self.listed {
            Some(listed) => {
                let kept: Vec<Point> = listed
                    .points()
                    .iter()
                    .filter(|point| self.satisfies(&expression, point))
                    .cloned()
                    .collect();
                if kept.is_empty() {
                    return Err(TunerError::no_valid_point(format!(
                        "no point of the space satisfies `{constraint}`"
                    )));
                }
                let mut space = Space::of_points(self.parameters.clone(), kept)?;
                space.constraints = self.constraints.iter().cloned().chain([expression]).collect();
                Ok(space)
            }
            None => {
                let texts = self.constraints.iter().map(|c| c.text().to_owned());
                Space::new(self.parameters.clone(), &texts.chain([constraint.to_owned()]).collect::<Vec<_>>())
            }
        }
    }

    /// The parameters.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The constraints. A recorded space often has none: its points are listed.
    pub fn constraints(&self) -> &[Expression] {
        &self.constraints
    }

    /// Place of the parameter of this name.
    ///
    /// # Errors
    /// An unknown name.
    pub fn parameter_place(&self, name: &str) -> Result<usize> {
        let names: Vec<&str> = self.parameters.iter().map(Parameter::name).collect();
        let place = names.iter().position(|known| *known == name);
        place.ok_or_else(|| TunerError::unknown("parameter", name, &names))
    }

    /// All valid points, where they are listed: in recorded spaces, and in spaces of at most [`ENUMERABLE`]
    /// combinations.
    pub fn points(&self) -> Option<&[Point]> {
        self.listed.as_ref().map(Listed::points)
    }

    /// Number of combinations of levels, valid or not.
    pub fn unconstrained_size(&self) -> f64 {
        self.parameters.iter().map(|parameter| parameter.len() as f64).product()
    }

    /// Whether a point satisfies every constraint, or is in the list.
    pub fn is_valid(&self, point: &Point) -> bool {
        if point.levels().len() != self.parameters.len() {
            return false;
        }
        if let Some(listed) = &self.listed {
            return listed.contains(point);
        }
        point.levels().iter().zip(&self.parameters).all(|(&level, p)| (level as usize) < p.len())
            && self.constraints.iter().all(|constraint| self.satisfies(constraint, point))
    }

    /// Whether an expression over the parameters holds at a point; where it has no value there, it does not.
    pub fn satisfies(&self, expression: &Expression, point: &Point) -> bool {
        expression.holds(&|place| self.value(point, place)).unwrap_or(false)
    }

    /// Value of a parameter at a point of this space.
    pub fn value(&self, point: &Point, place: usize) -> &Value {
        self.parameters[place].level(point.levels()[place] as usize)
    }

    /// All values of a point, in the order of the parameters.
    pub fn values(&self, point: &Point) -> Vec<Value> {
        (0..self.parameters.len()).map(|place| self.value(point, place).clone()).collect()
    }

    /// The point as numbers: numeric levels themselves, booleans as 0 and 1, of categorical parameters the place of
    /// the level.
    pub fn numbers(&self, point: &Point) -> Vec<f64> {
        let levels = point.levels().iter();
        self.parameters
            .iter()
            .zip(levels)
            .map(|(parameter, &level)| parameter.number(level as usize))
            .collect()
    }

    /// The point of these values; it need not be valid.
    ///
    /// # Errors
    /// A wrong number of values, or one that is no level.
    pub fn point(&self, values: &[Value]) -> Result<Point> {
        if values.len() != self.parameters.len() {
            return Err(TunerError::Request {
                reason: format!("{} values for {} parameters", values.len(), self.parameters.len()),
                hint: String::new(),
            });
        }
        let level = |(parameter, value): (&Parameter, &Value)| {
            parameter.place(value).ok_or_else(|| TunerError::Request {
                reason: format!("`{}` has no level {value}", parameter.name()),
                hint: format!("it has {}", parameter.levels_text()),
            })
        };
        let levels = self.parameters.iter().zip(values).map(level);
        Ok(Point::new(levels.map(|place| place.map(|place| place as u32)).collect::<Result<Vec<u32>>>()?))
    }

    /// The point as text: `block_size_x=16, tile_size=2`, only parameters that have a choice.
    pub fn text(&self, point: &Point) -> String {
        let chosen = (0..self.parameters.len()).filter(|&place| self.parameters[place].len() > 1);
        let pair = |place: usize| format!("{}={}", self.parameters[place].name(), self.value(point, place));
        chosen.map(pair).collect::<Vec<_>>().join(", ")
    }

    /// The valid points that differ from this one in one parameter, by any level; in the order of the parameters.
    pub fn neighbours(&self, point: &Point) -> Vec<Point> {
        let mut neighbours = Vec::new();
        for (place, parameter) in self.parameters.iter().enumerate() {
            for level in 0..parameter.len().min(parameter::MOST_NEIGHBOURS) as u32 {
                let level = parameter.near(point.levels()[place], level);
                if level != point.levels()[place] {
                    let neighbour = point.with(place, level);
                    if self.is_valid(&neighbour) {
                        neighbours.push(neighbour);
                    }
                }
            }
        }
        neighbours
    }

    /// As [`Space::neighbours`], only to the next lower and the next higher level of numeric parameters; of
    /// categorical ones to any.
    pub fn adjacent(&self, point: &Point) -> Vec<Point> {
        let is_next = |neighbour: &Point| {
            let different = (0..self.parameters.len()).find(|&p| neighbour.levels()[p] != point.levels()[p]);
            different.is_some_and(|place| {
                self.parameters[place].kind() == ParameterKind::Categorical
                    || neighbour.levels()[place].abs_diff(point.levels()[place]) == 1
            })
        };
        self.neighbours(point).into_iter().filter(is_next).collect()
    }

    /// All combinations of the groups' valid ones; `None` where a group is not listed.
    fn product_of_groups(&self) -> Option<Vec<Point>> {
        let mut points = vec![Point::new(vec![0; self.parameters.len()])];
        for group in &self.groups {
            let combinations = group.combinations()?;
            let width = group.places().len();
            points = points
                .iter()
                .flat_map(|point| {
                    combinations.chunks_exact(width).map(|levels| point.with_all(group.places(), levels))
                })
                .collect();
        }
        Some(points)
    }
}

/// The names, which must differ.
fn names_of(parameters: &[Parameter]) -> Result<Vec<&str>> {
    let names: Vec<&str> = parameters.iter().map(Parameter::name).collect();
    if names.is_empty() {
        return Err(TunerError::Space {
            reason: "the space has no parameter".to_owned(),
            hint: String::new(),
        });
    }
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(**name)) {
        Some(twice) => Err(TunerError::Space {
            reason: format!("two parameters are named `{twice}`"),
            hint: "give each its own name".to_owned(),
        }),
        None => Ok(names),
    }
}

#[cfg(test)]
mod tests;
