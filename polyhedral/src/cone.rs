//! The dependence cone: how far, per logical time row, a value can travel in each direction.

use crate::dependence::Dependence;
use crate::draft::comes_later;
use crate::program::Rational;
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// Per dimension `i` the tightest non-negative rationals with
///
/// ```text
/// -lower_i * rows  <=  offset_i  <=  upper_i * rows        for every dependence distance (rows, offset)
/// ```
///
/// In points per logical time row; see `hexagonal-tiling.md` ("Input"). Dependences within a row, of sweeps in order
/// ([`crate::program::Program::in_order`]), lie in no such cone: it is that of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cone {
    /// Towards smaller indices.
    pub lower: Vec<Rational>,
    /// Towards larger indices.
    pub upper: Vec<Rational>,
    /// All dependences, for shapes that no cone describes.
    pub dependences: Vec<Dependence>,
}

/// A dependence whose target does not come after its source: no cone contains it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {dependence} does not go forward in logical time, so no tiling in time can respect it")]
pub struct NotForward {
    /// The dependence.
    pub dependence: Dependence,
}

/// The tightest cone of dependences in `dimension` space dimensions. Without any dependence it is zero.
///
/// # Errors
/// [`NotForward`] names the first dependence that goes back in rows, or within a row to a point that is not later.
pub fn cone(dimension: usize, dependences: &[Dependence]) -> Result<Cone, NotForward> {
    let zero = Rational::from_integer(0);
    let mut cone = Cone {
        lower: vec![zero; dimension],
        upper: vec![zero; dimension],
        dependences: dependences.to_vec(),
    };
    for dependence in dependences {
        if dependence.rows < 0 || dependence.rows == 0 && !comes_later(&dependence.offset) {
            return Err(NotForward { dependence: dependence.clone() });
        }
        if dependence.rows == 0 {
            continue;
        }
        for (i, &offset) in dependence.offset.iter().enumerate() {
            let slope = Rational::new(offset, dependence.rows);
            cone.lower[i] = cone.lower[i].max(-slope);
            cone.upper[i] = cone.upper[i].max(slope);
        }
    }
    Ok(cone)
}

/// `lower` and `upper` as fractions such as `"1/2"`, `lower_value` and `upper_value` as numbers; `within`, where there are
/// dependences within a row, the offsets of these.
impl Serialize for Cone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let texts = |slopes: &[Rational]| slopes.iter().map(Rational::to_string).collect::<Vec<_>>();
        let values = |slopes: &[Rational]| {
            slopes.iter().map(|slope| *slope.numer() as f64 / *slope.denom() as f64).collect::<Vec<_>>()
        };
        let within: Vec<&[i64]> = self.offsets_within().collect();
        let mut fields = serializer.serialize_struct("Cone", 4 + usize::from(!within.is_empty()))?;
        fields.serialize_field("lower", &texts(&self.lower))?;
        fields.serialize_field("upper", &texts(&self.upper))?;
        fields.serialize_field("lower_value", &values(&self.lower))?;
        fields.serialize_field("upper_value", &values(&self.upper))?;
        if !within.is_empty() {
            fields.serialize_field("within", &within)?;
        }
        fields.end()
    }
}

impl Cone {
    /// The offsets of dependences within a row.
    pub fn offsets_within(&self) -> impl Iterator<Item = &[i64]> {
        let within = self.dependences.iter().filter(|dependence| dependence.rows == 0);
        within.map(|dependence| dependence.offset.as_slice())
    }

    /// Whether a distance lies in the cone.
    pub fn contains(&self, rows: i64, offset: &[i64]) -> bool {
        let rows = Rational::from_integer(rows);
        offset.iter().enumerate().all(|(i, &offset)| {
            let offset = Rational::from_integer(offset);
            -self.lower[i] * rows <= offset && offset <= self.upper[i] * rows
        })
    }
}
