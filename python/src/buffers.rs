//! Arrays of Python as levels of a program, by the buffer protocol: a buffer that is held can neither be freed nor
//! resized.
#![allow(unsafe_code)]

use crate::errors::raised;
use execution::levels::{Array, Levels, span};
use polyhedral::program::{ElementType, Program};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ffi::c_void;

/// Buffers of all slots of all fields, then of all series.
pub struct Buffers {
    held: Vec<Held>,
    arrays: Vec<Array>,
    fields: usize,
}

enum Held {
    F32(PyBuffer<f32>),
    F64(PyBuffer<f64>),
}

impl Buffers {
    /// Holds the buffers of `fields` (one for each slot of each field, in order) and of `series`.
    pub fn hold(
        program: &Program,
        fields: &[Bound<'_, PyAny>],
        series: &[Bound<'_, PyAny>],
        size: &[i64],
        outer_strides: &[i64],
    ) -> PyResult<Buffers> {
        let kinds = program.fields.iter().flat_map(|field| {
            let constant = field.role == polyhedral::program::FieldRole::Coefficient;
            std::iter::repeat_n((field.element, !constant), field.role.slots())
        });
        let mut buffers = Buffers { held: Vec::new(), arrays: Vec::new(), fields: fields.len() };
        let level = span(size, outer_strides);
        for (array, (element, written)) in fields.iter().zip(kinds) {
            let held = Held::of(array, element)?;
            let strides = outer_strides.iter().chain(&[1]).map(|stride| *stride * element.bytes() as i64);
            let fits = held.shape().iter().map(|&extent| extent as i64).eq(size.iter().copied())
                && held.strides().iter().map(|&stride| stride as i64).eq(strides)
                && !(written && held.is_read_only());
            let Some(span) = level.filter(|_| fits) else {
                return Err(PyValueError::new_err(
                    "a level has another shape or other strides, or is read-only",
                ));
            };
            buffers.push(held, element, span);
        }
        for (array, series) in series.iter().zip(&program.series) {
            let held = Held::of(array, series.element)?;
            let (&[length], &[stride]) = (held.shape(), held.strides()) else {
                return Err(PyValueError::new_err("a series has one dimension"));
            };
            if stride != series.element.bytes() as isize && length > 1 {
                return Err(PyValueError::new_err("a series has gaps"));
            }
            buffers.push(held, series.element, length);
        }
        Ok(buffers)
    }

    fn push(&mut self, held: Held, element: ElementType, span: usize) {
        self.arrays.push(Array { first: held.first(), element, span });
        self.held.push(held);
    }

    /// The levels, as long as the buffers are held.
    pub fn levels(
        &mut self,
        py: Python<'_>,
        program: &Program,
        size: &[i64],
        outer_strides: &[i64],
    ) -> PyResult<Levels<'_>> {
        let (fields, series) = self.arrays.split_at(self.fields);
        // SAFETY: each array is that of a buffer which is held, whose shape and strides were compared with these, and
        // which may be written where the program does. Other threads of Python could write to the same arrays, as they
        // could with any function of NumPy: that is their race, documented at `Stencil.run`.
        let levels = unsafe { Levels::new(program, size, outer_strides, fields, series) };
        raised(py, levels.map_err(tilewright::Error::from))
    }
}

impl Held {
    fn of(array: &Bound<'_, PyAny>, element: ElementType) -> PyResult<Held> {
        Ok(match element {
            ElementType::F32 => Held::F32(PyBuffer::get(array)?),
            ElementType::F64 => Held::F64(PyBuffer::get(array)?),
        })
    }

    fn shape(&self) -> &[usize] {
        match self {
            Held::F32(buffer) => buffer.shape(),
            Held::F64(buffer) => buffer.shape(),
        }
    }

    fn strides(&self) -> &[isize] {
        match self {
            Held::F32(buffer) => buffer.strides(),
            Held::F64(buffer) => buffer.strides(),
        }
    }

    fn is_read_only(&self) -> bool {
        match self {
            Held::F32(buffer) => buffer.readonly(),
            Held::F64(buffer) => buffer.readonly(),
        }
    }

    fn first(&self) -> *mut c_void {
        match self {
            Held::F32(buffer) => buffer.buf_ptr(),
            Held::F64(buffer) => buffer.buf_ptr(),
        }
    }
}

/// Copies between buffers without gaps and grids.
impl Buffers {
    /// The elements of array `number`, of an array without gaps.
    pub fn elements(&self, number: usize) -> Elements<'_> {
        let Array { first, element, span } = self.arrays[number];
        // SAFETY: the buffer is held and has so many elements of this type, which the buffer protocol has checked.
        unsafe {
            match element {
                ElementType::F32 => Elements::F32(std::slice::from_raw_parts(first.cast(), span)),
                ElementType::F64 => Elements::F64(std::slice::from_raw_parts(first.cast(), span)),
            }
        }
    }

    /// Writes the elements of array `number`.
    pub fn write(&mut self, number: usize, from: Elements<'_>) {
        let Array { first, span, .. } = self.arrays[number];
        // SAFETY: as in `elements`; fields that are written were checked to be writable.
        unsafe {
            match from {
                Elements::F32(from) => {
                    std::slice::from_raw_parts_mut(first.cast::<f32>(), span).copy_from_slice(from)
                }
                Elements::F64(from) => {
                    std::slice::from_raw_parts_mut(first.cast::<f64>(), span).copy_from_slice(from)
                }
            }
        }
    }
}

/// Elements of one type or the other.
pub type Elements<'a> = execution::grid::ValuesRef<'a>;
