//! Arrays of Python as levels of a program, by the buffer protocol: a buffer that is held can neither be freed nor
//! resized.
#![allow(unsafe_code)]

use crate::errors::raised;
use crate::interpreter::detached;
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
            let mut strides = outer_strides.iter().chain(&[1]).map(|stride| *stride * element.bytes() as i64);
            // The stride of an extent of one has no meaning, and NumPy tells any value.
            let mut own = held.shape().iter().zip(held.strides());
            let fits = held.shape().iter().map(|&extent| extent as i64).eq(size.iter().copied())
                && outer_strides.len() + 1 == size.len()
                && strides.all(|stride| {
                    own.next().is_some_and(|(&extent, &own)| extent == 1 || own as i64 == stride)
                })
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

/// Copies an array into another one by several threads: large ones are new memory, whose pages the system gives one after the
/// other. `false`, and nothing done, where the two are not alike, or rows lie in several pieces.
#[pyfunction]
#[pyo3(signature = (to, from, threads, /))]
pub fn copy(
    py: Python<'_>,
    to: &Bound<'_, PyAny>,
    from: &Bound<'_, PyAny>,
    threads: Option<usize>,
) -> PyResult<bool> {
    for element in [ElementType::F32, ElementType::F64] {
        let (Ok(to), Ok(from)) = (Held::of(to, element), Held::of(from, element)) else { continue };
        let (Some(into), Some(rows)) = (Rows::of(&to, element), Rows::of(&from, element)) else {
            return Ok(false);
        };
        if to.is_read_only() || to.shape() != from.shape() {
            return Ok(false);
        }
        let available = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.unwrap_or_else(available).clamp(1, rows.count.max(1));
        detached(py, || {
            std::thread::scope(|scope| {
                for part in 0..threads {
                    let range = part * rows.count / threads..(part + 1) * rows.count / threads;
                    let (into, rows) = (&into, &rows);
                    scope.spawn(move || into.copy_from(rows, range));
                }
            });
        });
        return Ok(true);
    }
    Ok(false)
}

/// The rows of a buffer that is held: as many bytes each, in one piece.
struct Rows {
    /// The address of the first one.
    first: usize,
    /// Extents and strides, in bytes, of all dimensions but the innermost.
    outer: Vec<(usize, isize)>,
    bytes: usize,
    count: usize,
}

impl Rows {
    fn of(held: &Held, element: ElementType) -> Option<Rows> {
        let (&extent, outer) = held.shape().split_last()?;
        let (&stride, strides) = held.strides().split_last()?;
        if stride != element.bytes() as isize && extent > 1 {
            return None;
        }
        let outer: Vec<(usize, isize)> = outer.iter().copied().zip(strides.iter().copied()).collect();
        let count = outer.iter().map(|(extent, _)| extent).product();
        Some(Rows { first: held.first() as usize, outer, bytes: extent * element.bytes(), count })
    }

    /// The address of a row.
    fn row(&self, mut number: usize) -> usize {
        let mut address = self.first;
        for &(extent, stride) in self.outer.iter().rev() {
            address = address.wrapping_add_signed((number % extent) as isize * stride);
            number /= extent;
        }
        address
    }

    fn copy_from(&self, from: &Rows, rows: std::ops::Range<usize>) {
        for number in rows {
            // SAFETY: both buffers are held and have this row; the caller of Python's function gives two that do not overlap,
            // and where they do, `copy` copies what is there.
            unsafe {
                std::ptr::copy(from.row(number) as *const u8, self.row(number) as *mut u8, self.bytes);
            }
        }
    }
}
