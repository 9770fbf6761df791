//! The data of a program: one array for each field.
//!
//! A state field is one contiguous array `[slots][n0]..[n_last]`, a coefficient `[n0]..[n_last]`, both
//! row-major. Time level `l` lies in slot [`Program::slot_of_level`].

use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::{ExecutionError, Result};
use polyhedral::program::{ElementType, FieldId, FieldRole, Program};
use std::ffi::c_void;

/// The elements of one array.
#[derive(Debug)]
pub enum Values {
    /// Single precision.
    F32(Buffer<f32>),
    /// Double precision.
    F64(Buffer<f64>),
}

/// A part of an array, to be read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValuesRef<'a> {
    /// Single precision.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
}

/// A part of an array, to be changed.
#[derive(Debug, PartialEq)]
pub enum ValuesMut<'a> {
    /// Single precision.
    F32(&'a mut [f32]),
    /// Double precision.
    F64(&'a mut [f64]),
}

impl Values {
    /// `length` elements, all 0.
    ///
    /// # Errors
    /// [`ExecutionError::OutOfMemory`].
    pub fn zeroed(element: ElementType, length: usize) -> Result<Self> {
        Ok(match element {
            ElementType::F32 => Values::F32(Buffer::zeroed(length)?),
            ElementType::F64 => Values::F64(Buffer::zeroed(length)?),
        })
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        match self {
            Values::F32(_) => ElementType::F32,
            Values::F64(_) => ElementType::F64,
        }
    }

    /// All elements.
    pub fn view(&self) -> ValuesRef<'_> {
        match self {
            Values::F32(buffer) => ValuesRef::F32(buffer.as_slice()),
            Values::F64(buffer) => ValuesRef::F64(buffer.as_slice()),
        }
    }

    /// All elements, to be changed.
    pub fn view_mut(&mut self) -> ValuesMut<'_> {
        match self {
            Values::F32(buffer) => ValuesMut::F32(buffer.as_mut_slice()),
            Values::F64(buffer) => ValuesMut::F64(buffer.as_mut_slice()),
        }
    }
}

impl<'a> ValuesRef<'a> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            ValuesRef::F32(values) => values.len(),
            ValuesRef::F64(values) => values.len(),
        }
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        match self {
            ValuesRef::F32(_) => ElementType::F32,
            ValuesRef::F64(_) => ElementType::F64,
        }
    }

    /// Element `index` as a double; exact. `None` past the end.
    pub fn get(&self, index: usize) -> Option<f64> {
        match self {
            ValuesRef::F32(values) => values.get(index).map(|&value| f64::from(value)),
            ValuesRef::F64(values) => values.get(index).copied(),
        }
    }

    fn part(self, number: usize, length: usize) -> Self {
        let range = number * length..(number + 1) * length;
        match self {
            ValuesRef::F32(values) => ValuesRef::F32(&values[range]),
            ValuesRef::F64(values) => ValuesRef::F64(&values[range]),
        }
    }
}

impl<'a> ValuesMut<'a> {
    /// Copies all elements from an array of the same type and length.
    ///
    /// # Panics
    /// Where type or length differ.
    pub fn copy_from(self, source: ValuesRef<'_>) {
        match (self, source) {
            (ValuesMut::F32(to), ValuesRef::F32(from)) => to.copy_from_slice(from),
            (ValuesMut::F64(to), ValuesRef::F64(from)) => to.copy_from_slice(from),
            _ => panic!("copy between arrays of different element types"),
        }
    }

    fn part(self, number: usize, length: usize) -> Self {
        let range = number * length..(number + 1) * length;
        match self {
            ValuesMut::F32(values) => ValuesMut::F32(&mut values[range]),
            ValuesMut::F64(values) => ValuesMut::F64(&mut values[range]),
        }
    }
}

/// The array of one field.
#[derive(Debug)]
pub struct FieldData {
    /// Name of the field.
    pub name: String,
    /// Number of time levels stored; 1 for coefficients.
    pub slots: usize,
    /// `slots` times the grid's points.
    pub values: Values,
}

/// The arrays of all fields of a program on one grid.
#[derive(Debug)]
pub struct ProgramData {
    size: Vec<i64>,
    points: usize,
    fields: Vec<FieldData>,
}

/// Number of points of a grid for a program.
///
/// # Errors
/// [`ExecutionError::WrongSize`] for a wrong number of dimensions, a size below 1, or a grid that cannot
/// be counted.
pub fn grid_points(program: &Program, size: &[i64]) -> Result<usize> {
    let wrong = |problem: String| ExecutionError::WrongSize { program: program.name.clone(), problem };
    if size.len() != program.dimension() {
        let indices = program.space_indices.join(", ");
        return Err(wrong(format!(
            "{} dimension(s) were given, but the stencil has {} ({indices})",
            size.len(),
            program.dimension(),
        )));
    }
    size.iter().zip(&program.space_indices).try_fold(1usize, |points, (&extent, index)| {
        if extent < 1 {
            return Err(wrong(format!("the extent in `{index}` is {extent}, and must be at least 1")));
        }
        usize::try_from(extent)
            .ok()
            .and_then(|extent| points.checked_mul(extent))
            .filter(|&points| i64::try_from(points).is_ok_and(|points| points < i64::MAX / 64))
            .ok_or_else(|| wrong("the number of points is too large to be counted".to_owned()))
    })
}

/// Whether the machine has this many bytes available. Without the question, a system that overcommits gives
/// the addresses and kills the process when it touches them.
///
/// # Errors
/// [`ExecutionError::OutOfMemory`].
pub fn check_memory(bytes: u128) -> Result<()> {
    match crate::machine::available_memory().map(u128::from) {
        Some(available) if bytes > available => {
            Err(ExecutionError::OutOfMemory { bytes, available: Some(available) })
        }
        _ => Ok(()),
    }
}

/// Number of time levels stored of a field; 1 for coefficients.
pub fn slots(role: FieldRole) -> usize {
    match role {
        FieldRole::State { slots, .. } => slots,
        FieldRole::Coefficient => 1,
    }
}

impl ProgramData {
    /// The arrays of all fields, all 0, on a grid of this size (slowest dimension first).
    ///
    /// # Errors
    /// [`ExecutionError::WrongSize`] as for [`grid_points`]; [`ExecutionError::OutOfMemory`] where the
    /// arrays need more memory than the machine has available.
    pub fn zeroed(program: &Program, size: &[i64]) -> Result<Self> {
        let points = grid_points(program, size)?;
        let bytes: u128 = program
            .fields
            .iter()
            .map(|field| points as u128 * slots(field.role) as u128 * field.element.bytes() as u128)
            .sum();
        check_memory(bytes)?;
        let fields = program
            .fields
            .iter()
            .map(|field| {
                let slots = slots(field.role);
                let values = Values::zeroed(field.element, slots * points)?;
                Ok(FieldData { name: field.name.clone(), slots, values })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(ProgramData { size: size.to_vec(), points, fields })
    }

    /// The grid's extents, slowest dimension first.
    pub fn size(&self) -> &[i64] {
        &self.size
    }

    /// Number of points of the grid.
    pub fn points(&self) -> usize {
        self.points
    }

    /// The arrays in the order of [`Program::fields`].
    pub fn fields(&self) -> &[FieldData] {
        &self.fields
    }

    /// Bytes of all arrays together.
    pub fn bytes(&self) -> u64 {
        let bytes = |field: &FieldData| field.values.view().len() * field.values.element().bytes();
        self.fields.iter().map(bytes).sum::<usize>() as u64
    }

    /// One stored time level of a field, `size` elements; coefficients have slot 0 only.
    pub fn slot(&self, field: FieldId, slot: usize) -> ValuesRef<'_> {
        self.fields[field.0].values.view().part(slot, self.points)
    }

    /// [`ProgramData::slot`], to be changed.
    pub fn slot_mut(&mut self, field: FieldId, slot: usize) -> ValuesMut<'_> {
        self.fields[field.0].values.view_mut().part(slot, self.points)
    }

    /// Time level `level` of a field: an initial level (`1 - levels ..= 0`), or after `n` steps one of the
    /// last ones stored. For coefficients the level does not matter.
    pub fn level(&self, program: &Program, field: FieldId, level: i64) -> ValuesRef<'_> {
        self.slot(field, program.slot_of_level(field, level))
    }

    /// [`ProgramData::level`], to be changed.
    pub fn level_mut(&mut self, program: &Program, field: FieldId, level: i64) -> ValuesMut<'_> {
        self.slot_mut(field, program.slot_of_level(field, level))
    }

    /// All elements of a field, all slots, to be changed.
    pub fn values_mut(&mut self, field: FieldId) -> ValuesMut<'_> {
        self.fields[field.0].values.view_mut()
    }

    /// The address of each field's array, in the order of [`Program::fields`], as native code gets them.
    pub fn pointers(&mut self) -> Vec<*mut c_void> {
        let pointer = |field: &mut FieldData| match field.values.view_mut() {
            ValuesMut::F32(values) => values.as_mut_ptr().cast(),
            ValuesMut::F64(values) => values.as_mut_ptr().cast(),
        };
        self.fields.iter_mut().map(pointer).collect()
    }

    /// Whether these are arrays of `program`: same fields, types and slots.
    ///
    /// # Errors
    /// [`ExecutionError::WrongData`] with the first difference.
    pub fn check(&self, program: &Program) -> Result<()> {
        let wrong = |problem| Err(ExecutionError::WrongData { program: program.name.clone(), problem });
        if self.size.len() != program.dimension() || self.fields.len() != program.fields.len() {
            return wrong(format!(
                "they have {} field(s) of dimension {}, the program {} of dimension {}",
                self.fields.len(),
                self.size.len(),
                program.fields.len(),
                program.dimension()
            ));
        }
        for (data, field) in self.fields.iter().zip(&program.fields) {
            let expected = (field.element, slots(field.role));
            let found = (data.values.element(), data.slots);
            if expected != found {
                return wrong(format!(
                    "field `{}` should have {} slot(s) of {}, and has {} of {}",
                    field.name,
                    expected.1,
                    expected.0.name(),
                    found.1,
                    found.0.name()
                ));
            }
        }
        Ok(())
    }

    /// A copy of all arrays.
    ///
    /// # Errors
    /// [`ExecutionError::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self> {
        let fields = self.fields.iter().map(|field| {
            let source = field.values.view();
            let mut values = Values::zeroed(source.element(), source.len())?;
            values.view_mut().copy_from(source);
            Ok(FieldData { name: field.name.clone(), slots: field.slots, values })
        });
        Ok(ProgramData {
            size: self.size.clone(),
            points: self.points,
            fields: fields.collect::<Result<Vec<_>>>()?,
        })
    }

    /// Copies all arrays from a data set of the same program and size; no memory is allocated.
    ///
    /// # Panics
    /// Where the two differ in size or in fields.
    pub fn copy_from(&mut self, source: &ProgramData) {
        assert_eq!(self.size, source.size, "data sets of different sizes");
        for (to, from) in self.fields.iter_mut().zip(&source.fields) {
            to.values.view_mut().copy_from(from.values.view());
        }
    }
}

/// Sets every element in parallel: `value(i)` for linear index `i`. The first touch of each page happens
/// on the thread that sets it.
pub fn fill_with<T: Element>(values: &mut [T], value: impl Fn(usize) -> T + Sync) {
    use rayon::prelude::*;
    const PIECE: usize = 1 << 16;
    values.par_chunks_mut(PIECE).enumerate().for_each(|(piece, values)| {
        for (offset, slot) in values.iter_mut().enumerate() {
            *slot = value(piece * PIECE + offset);
        }
    });
}
