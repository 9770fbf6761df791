//! The dependence cone: how far, per logical time row, a value can travel in each direction.

use crate::dependence::Dependence;
use crate::program::Rational;
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// Per dimension `i` the tightest non-negative rationals with
///
/// ```text
/// -lower_i * rows  <=  offset_i  <=  upper_i * rows        for every dependence distance (rows, offset)
/// ```
///
/// In points per logical time row; see `hexagonal-tiling.md` ("Input").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cone {
    /// Towards smaller indices.
    pub lower: Vec<Rational>,
    /// Towards larger indices.
    pub upper: Vec<Rational>,
}

/// A dependence whose target is not in a later logical row than its source: no cone contains it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {dependence} does not go forward in logical time, so no tiling in time can respect it")]
pub struct NotForward {
    /// The dependence.
    pub dependence: Dependence,
}

/// The tightest cone of dependences in `dimension` space dimensions. Without any dependence it is zero.
///
/// # Errors
/// [`NotForward`] names the first dependence with `rows < 1`.
pub fn cone(dimension: usize, dependences: &[Dependence]) -> Result<Cone, NotForward> {
    let zero = Rational::from_integer(0);
    let mut cone = Cone { lower: vec![zero; dimension], upper: vec![zero; dimension] };
    for dependence in dependences {
        if dependence.rows < 1 {
            return Err(NotForward { dependence: dependence.clone() });
        }
        for (i, &offset) in dependence.offset.iter().enumerate() {
            let slope = Rational::new(offset, dependence.rows);
            cone.lower[i] = cone.lower[i].max(-slope);
            cone.upper[i] = cone.upper[i].max(slope);
        }
    }
    Ok(cone)
}

/// `lower` and `upper` as fractions such as `"1/2"`, `lower_value` and `upper_value` as numbers.
impl Serialize for Cone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let texts = |slopes: &[Rational]| slopes.iter().map(Rational::to_string).collect::<Vec<_>>();
        let values = |slopes: &[Rational]| {
            slopes.iter().map(|slope| *slope.numer() as f64 / *slope.denom() as f64).collect::<Vec<_>>()
        };
        let mut fields = serializer.serialize_struct("Cone", 4)?;
        fields.serialize_field("lower", &texts(&self.lower))?;
        fields.serialize_field("upper", &texts(&self.upper))?;
        fields.serialize_field("lower_value", &values(&self.lower))?;
        fields.serialize_field("upper_value", &values(&self.upper))?;
        fields.end()
    }
}

impl Cone {
    /// Whether a distance lies in the cone.
    pub fn contains(&self, rows: i64, offset: &[i64]) -> bool {
        let rows = Rational::from_integer(rows);
        offset.iter().enumerate().all(|(i, &offset)| {
            let offset = Rational::from_integer(offset);
            -self.lower[i] * rows <= offset && offset <= self.upper[i] * rows
        })
    }
}
