//! What goes into a program and comes out of it: arrays of numbers.

use crate::program::{Literal, Program, Role, Scalar, Type};
use std::collections::BTreeMap;

/// Numbers of one type.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Array {
    I32(Vec<i32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Bool(Vec<bool>),
}

impl Array {
    /// An array without elements.
    pub fn new(scalar: Scalar) -> Array {
        match scalar {
            Scalar::I32 => Array::I32(Vec::new()),
            Scalar::I64 => Array::I64(Vec::new()),
            Scalar::F32 => Array::F32(Vec::new()),
            Scalar::F64 => Array::F64(Vec::new()),
            Scalar::Bool => Array::Bool(Vec::new()),
        }
    }

    /// The type of its elements.
    pub fn scalar(&self) -> Scalar {
        match self {
            Array::I32(_) => Scalar::I32,
            Array::I64(_) => Scalar::I64,
            Array::F32(_) => Scalar::F32,
            Array::F64(_) => Scalar::F64,
            Array::Bool(_) => Scalar::Bool,
        }
    }

    /// How many it has.
    pub fn len(&self) -> usize {
        match self {
            Array::I32(values) => values.len(),
            Array::I64(values) => values.len(),
            Array::F32(values) => values.len(),
            Array::F64(values) => values.len(),
            Array::Bool(values) => values.len(),
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An element; `None` behind the end.
    pub fn get(&self, place: usize) -> Option<Literal> {
        Some(match self {
            Array::I32(values) => Literal::I32(*values.get(place)?),
            Array::I64(values) => Literal::I64(*values.get(place)?),
            Array::F32(values) => Literal::F32(*values.get(place)?),
            Array::F64(values) => Literal::F64(*values.get(place)?),
            Array::Bool(values) => Literal::Bool(*values.get(place)?),
        })
    }

    /// Adds an element; one of another type is left out.
    pub fn push(&mut self, literal: Literal) {
        match (self, literal) {
            (Array::I32(values), Literal::I32(value)) => values.push(value),
            (Array::I64(values), Literal::I64(value)) => values.push(value),
            (Array::F32(values), Literal::F32(value)) => values.push(value),
            (Array::F64(values), Literal::F64(value)) => values.push(value),
            (Array::Bool(values), Literal::Bool(value)) => values.push(value),
            _ => {}
        }
    }

    /// Whether both have the same bits. What is no number is the same as anything else that is none: of two of them, a processor
    /// keeps the sign of the first operand, and compilers choose which of a sum's is that.
    pub fn same_bits(&self, other: &Array) -> bool {
        match (self, other) {
            (Array::F32(a), Array::F32(b)) => {
                let same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
                a.len() == b.len() && a.iter().zip(b).all(same)
            }
            (Array::F64(a), Array::F64(b)) => {
                let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
                a.len() == b.len() && a.iter().zip(b).all(same)
            }
            (a, b) => a == b,
        }
    }

    /// The elements as numbers.
    pub fn numbers(&self) -> Vec<f64> {
        match self {
            Array::I32(values) => values.iter().map(|value| f64::from(*value)).collect(),
            Array::I64(values) => values.iter().map(|value| *value as f64).collect(),
            Array::F32(values) => values.iter().map(|value| f64::from(*value)).collect(),
            Array::F64(values) => values.clone(),
            Array::Bool(values) => values.iter().map(|value| f64::from(u8::from(*value))).collect(),
        }
    }
}

/// Inputs and parameters by name: one number for a scalar, and the components of each element side by side.
pub type Inputs = BTreeMap<String, Array>;

/// One result.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// What is stored of it: one array for a number or vector, one for each component of a tuple.
    pub leaves: Vec<Array>,
    /// Where its rows begin, and the end of the last one; of a sequence of sequences only.
    pub offsets: Option<Vec<i64>>,
}

impl Output {
    /// Whether both have the same bits, but for those of what is no number.
    pub fn same_bits(&self, other: &Output) -> bool {
        self.leaves.len() == other.leaves.len()
            && self.offsets == other.offsets
            && self.leaves.iter().zip(&other.leaves).all(|(a, b)| a.same_bits(b))
    }

    /// The greatest difference of two numbers, relative to the greater one of both and 1; infinite where shapes differ.
    pub fn difference(&self, other: &Output) -> f64 {
        if self.leaves.len() != other.leaves.len() || self.offsets != other.offsets {
            return f64::INFINITY;
        }
        let leaves = self.leaves.iter().zip(&other.leaves).map(|(a, b)| {
            if a.len() != b.len() {
                return f64::INFINITY;
            }
            let pairs = a.numbers().into_iter().zip(b.numbers());
            pairs
                .map(|(a, b)| match a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan() {
                    true => 0.0,
                    false => (a - b).abs() / a.abs().max(b.abs()).max(1.0),
                })
                .fold(0.0, |most: f64, own| if own.is_nan() { f64::INFINITY } else { most.max(own) })
        });
        leaves.fold(0.0, f64::max)
    }
}

/// What is wrong with what was given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum InputError {
    #[error("the input `{name}` of type {ty} is missing; give it with --input {name}=FILE")]
    Missing { name: String, ty: String },
    #[error("the program has no input or parameter `{0}`; it has {1}")]
    Unknown(String, String),
    #[error("`{name}` is of type {wanted}, but its data is of type {found}; convert it with `a.astype('{numpy}')`", numpy = .wanted.trim_matches(['[', ']']))]
    WrongType { name: String, wanted: String, found: &'static str },
    #[error("`{name}` is one value, but its data has {found}")]
    NotOne { name: String, found: usize },
    #[error("each element of `{name}` has {width} numbers, but its data has {found}, which is no multiple")]
    NotWhole { name: String, width: usize, found: usize },
}

/// The arrays for all that the program is given, in its order; parameters that are missing have their defaults.
///
/// # Errors
/// What is missing, unknown, or of another type or size.
pub fn arranged(program: &Program, inputs: &Inputs) -> Result<Vec<Array>, InputError> {
    let names: Vec<&str> = program.given().map(|(_, variable)| variable.name.as_str()).collect();
    if let Some(unknown) = inputs.keys().find(|name| !names.contains(&name.as_str())) {
        return Err(InputError::Unknown(unknown.clone(), names.join(", ")));
    }
    let one = |(_, variable): (usize, &crate::program::Variable)| {
        let (name, ty) = (variable.name.clone(), variable.ty.clone());
        let Some(array) = inputs.get(&variable.name) else {
            return match variable.role {
                Role::Param(default) => {
                    let mut array = Array::new(default.scalar());
                    array.push(default);
                    Ok(array)
                }
                _ => Err(InputError::Missing { name, ty: ty.to_string() }),
            };
        };
        let leaves = ty.leaves();
        let Some(&(scalar, width)) = leaves.first() else {
            return Err(InputError::Missing { name, ty: ty.to_string() });
        };
        if array.scalar() != scalar {
            return Err(InputError::WrongType { name, wanted: ty.to_string(), found: array.scalar().name() });
        }
        let found = array.len();
        if ty.element().is_none() && found != width {
            return Err(InputError::NotOne { name, found });
        }
        if found % width != 0 {
            return Err(InputError::NotWhole { name, width, found });
        }
        Ok(array.clone())
    };
    program.given().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::Array;

    #[test]
    fn what_is_no_number_is_the_same_whatever_its_sign() {
        let array = |number: f64| [Array::F64(vec![1.0, number]), Array::F32(vec![1.0, number as f32])];
        for (one, other) in array(f64::NAN).iter().zip(&array(-f64::NAN)) {
            assert!(one.same_bits(other));
        }
        for (one, other) in array(0.0).iter().zip(&array(-0.0)).chain(array(f64::NAN).iter().zip(&array(1.0)))
        {
            assert!(!one.same_bits(other));
        }
    }
}
