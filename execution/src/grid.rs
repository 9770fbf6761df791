//! The data of a program: one array for each field.
//!
//! A state field is one array of `slots` levels, a coefficient of one; [`Layout`] says where the points of a
//! level lie. Time level `l` lies in slot [`Program::slot_of_level`].

use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::{ExecutionError, Result};
use crate::layout::{LINE, Layout};
use polyhedral::program::{ElementType, Field, FieldId, Program, SeriesId};
use rayon::prelude::*;
use std::ffi::c_void;

/// Lines by which the arrays of a program's fields start differently within a page.
const STAGGER: usize = 9;
/// Lines of a page.
const LINES_PER_PAGE: usize = 64;
/// Points that are worth a thread.
const PIECE: usize = 1 << 16;

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
        Values::zeroed_at(element, length, 0)
    }

    /// [`Values::zeroed`] with a start for [`Buffer::zeroed_at`].
    fn zeroed_at(element: ElementType, length: usize, start: usize) -> Result<Self> {
        Ok(match element {
            ElementType::F32 => Values::F32(Buffer::zeroed_at(length, start)?),
            ElementType::F64 => Values::F64(Buffer::zeroed_at(length, start)?),
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
    /// Copies all elements, in parallel, from an array of the same type and length.
    ///
    /// # Panics
    /// Where type or length differ.
    pub fn copy_from(self, source: ValuesRef<'_>) {
        match (self, source) {
            (ValuesMut::F32(to), ValuesRef::F32(from)) => copy(to, from),
            (ValuesMut::F64(to), ValuesRef::F64(from)) => copy(to, from),
            _ => panic!("copy between arrays of different element types"),
        }
    }

    /// Copies all points of a level, in parallel, from one of the same type and size.
    ///
    /// # Panics
    /// Where type or size differ.
    pub fn copy_level_from(self, layout: &Layout, source: ValuesRef<'_>, source_layout: &Layout) {
        assert_eq!(layout.size(), source_layout.size(), "levels of different sizes");
        match (self, source) {
            (ValuesMut::F32(to), ValuesRef::F32(from)) => copy_level(to, layout, from, source_layout),
            (ValuesMut::F64(to), ValuesRef::F64(from)) => copy_level(to, layout, from, source_layout),
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

fn copy<T: Element>(to: &mut [T], from: &[T]) {
    assert_eq!(to.len(), from.len(), "copy between arrays of different lengths");
    to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE)).for_each(|(to, from)| to.copy_from_slice(from));
}

fn copy_level<T: Element>(to: &mut [T], to_layout: &Layout, from: &[T], from_layout: &Layout) {
    to_layout.pieces_mut(to, PIECE).into_par_iter().for_each(|piece| {
        piece.for_each_segment(to_layout, |segment, to| {
            let start = from_layout.offset(segment.index);
            to.copy_from_slice(&from[start..start + segment.length]);
        });
    });
}

/// The array of one field.
#[derive(Debug)]
pub struct FieldData {
    /// Name of the field.
    pub name: String,
    /// Number of time levels stored; 1 for coefficients.
    pub slots: usize,
    /// `slots` times [`Layout::level_stride`] elements, or more ([`ProgramData::make_room`]).
    pub values: Values,
}

/// The arrays of all fields of a program on one grid.
#[derive(Debug)]
pub struct ProgramData {
    layout: Layout,
    fields: Vec<FieldData>,
    /// The elements of each series; none before [`ProgramData::set_steps`].
    series: Vec<Values>,
}

/// Whether the machine has this many bytes available. Without the question, a system that overcommits gives
/// the addresses and kills the process when it touches them.
///
/// # Errors
/// [`ExecutionError::OutOfMemory`].
pub fn check_memory(bytes: u128) -> Result<()> {
    match toolchain::machine::available_memory().map(u128::from) {
        Some(available) if bytes > available => {
            Err(ExecutionError::OutOfMemory { bytes, available: Some(available) })
        }
        _ => Ok(()),
    }
}

impl ProgramData {
    /// The arrays of all fields, all 0, dense, on a grid of this size (slowest dimension first).
    ///
    /// # Errors
    /// As for [`Layout::dense`] and [`ProgramData::zeroed_with`].
    pub fn zeroed(program: &Program, size: &[i64]) -> Result<Self> {
        ProgramData::zeroed_with(program, Layout::dense(program, size)?)
    }

    /// The arrays of all fields, all 0, in a layout of the program's dimension. Each starts at a cache
    /// line, those of different fields at different places of a page, so that the same row of several fields
    /// does not fall into one set of a cache.
    ///
    /// # Errors
    /// [`ExecutionError::OutOfMemory`] where the arrays need more memory than the machine has available;
    /// [`ExecutionError::WrongData`] for a layout of another dimension.
    pub fn zeroed_with(program: &Program, layout: Layout) -> Result<Self> {
        let bytes = layout.level_stride() as u128 * program.bytes_of_a_point() as u128;
        check_memory(bytes)?;
        let field_data = |(number, field): (usize, &Field)| {
            let slots = field.role.slots();
            let length = slots
                .checked_mul(layout.level_stride())
                .ok_or(ExecutionError::OutOfMemory { bytes, available: None })?;
            let values = Values::zeroed_at(field.element, length, array_start(number))?;
            Ok(FieldData { name: field.name.clone(), slots, values })
        };
        let fields = program.fields.iter().enumerate().map(field_data).collect::<Result<Vec<_>>>()?;
        let series = program.series.iter().map(|series| Values::zeroed(series.element, 0));
        let data = ProgramData { layout, fields, series: series.collect::<Result<_>>()? };
        data.check(program).map(|()| data)
    }

    /// Where the points of a level lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The grid's extents, slowest dimension first.
    pub fn size(&self) -> &[i64] {
        self.layout.size()
    }

    /// Number of points of the grid.
    pub fn points(&self) -> usize {
        self.layout.points()
    }

    /// The arrays in the order of [`Program::fields`].
    pub fn fields(&self) -> &[FieldData] {
        &self.fields
    }

    /// Bytes of all arrays together, padding included.
    pub fn bytes(&self) -> u64 {
        let bytes = |field: &FieldData| field.values.view().len() * field.values.element().bytes();
        self.fields.iter().map(bytes).sum::<usize>() as u64
    }

    /// One stored time level of a field: [`Layout::level_stride`] elements, padding included. Coefficients
    /// have slot 0 only.
    pub fn slot(&self, field: FieldId, slot: usize) -> ValuesRef<'_> {
        self.fields[field.0].values.view().part(slot, self.layout.level_stride())
    }

    /// [`ProgramData::slot`], to be changed.
    pub fn slot_mut(&mut self, field: FieldId, slot: usize) -> ValuesMut<'_> {
        self.fields[field.0].values.view_mut().part(slot, self.layout.level_stride())
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

    /// Makes room for so many elements in a field's array, if it has fewer; all elements are then 0.
    ///
    /// # Errors
    /// [`ExecutionError::OutOfMemory`].
    pub fn make_room(&mut self, field: FieldId, elements: usize) -> Result<()> {
        let values = &mut self.fields[field.0].values;
        if values.view().len() < elements {
            check_memory(elements as u128 * values.element().bytes() as u128)?;
            *values = Values::zeroed_at(values.element(), elements, array_start(field.0))?;
        }
        Ok(())
    }

    /// Makes room for the series of a run of so many steps; all elements are then 0.
    ///
    /// # Errors
    /// [`ExecutionError::OutOfMemory`].
    pub fn set_steps(&mut self, program: &Program, steps: i64) -> Result<()> {
        let series = program
            .series
            .iter()
            .map(|series| Values::zeroed(series.element, usize::try_from(series.length(steps)).unwrap_or(0)));
        self.series = series.collect::<Result<_>>()?;
        Ok(())
    }

    /// The elements of a series, the first one of time [`polyhedral::program::Series::first`].
    pub fn series(&self, series: SeriesId) -> ValuesRef<'_> {
        self.series[series.0].view()
    }

    /// [`ProgramData::series`], to be changed.
    pub fn series_mut(&mut self, series: SeriesId) -> ValuesMut<'_> {
        self.series[series.0].view_mut()
    }

    /// Whether every series is long enough for a run of so many steps.
    ///
    /// # Errors
    /// [`ExecutionError::WrongData`] names the first that is not.
    pub fn check_steps(&self, program: &Program, steps: i64) -> Result<()> {
        for (series, values) in program.series.iter().zip(&self.series) {
            let (needed, found) = (series.length(steps), values.view().len() as i64);
            if found < needed {
                return Err(ExecutionError::WrongData {
                    program: program.name.clone(),
                    problem: format!(
                        "series `{}` has {found} values, and {steps} steps need {needed}",
                        series.name
                    ),
                });
            }
        }
        Ok(())
    }

    /// The address of each field's array, in the order of [`Program::fields`], and then of each series' element
    /// number `done`, as native code gets them.
    pub fn pointers(&mut self, done: usize) -> Vec<*mut c_void> {
        let pointer = |values: &mut Values, first: usize| -> *mut c_void {
            match values.view_mut() {
                ValuesMut::F32(values) => {
                    values.get_mut(first..).map_or(std::ptr::null_mut(), <[f32]>::as_mut_ptr).cast()
                }
                ValuesMut::F64(values) => {
                    values.get_mut(first..).map_or(std::ptr::null_mut(), <[f64]>::as_mut_ptr).cast()
                }
            }
        };
        let fields = self.fields.iter_mut().map(|field| pointer(&mut field.values, 0));
        let series = self.series.iter_mut().map(|values| pointer(values, done));
        fields.chain(series).collect()
    }

    /// Number of elements of each array, in the order of [`ProgramData::pointers`].
    pub fn lengths(&self) -> Vec<usize> {
        let fields = self.fields.iter().map(|field| &field.values);
        fields.chain(&self.series).map(|values| values.view().len()).collect()
    }

    /// Whether these are arrays of `program`: same fields, types and slots.
    ///
    /// # Errors
    /// [`ExecutionError::WrongData`] with the first difference.
    pub fn check(&self, program: &Program) -> Result<()> {
        let wrong = |problem| Err(ExecutionError::WrongData { program: program.name.clone(), problem });
        let dimension = self.size().len();
        if self.series.len() != program.series.len() {
            return wrong(format!(
                "they have {} series, the program {}",
                self.series.len(),
                program.series.len()
            ));
        }
        if dimension != program.dimension() || self.fields.len() != program.fields.len() {
            return wrong(format!(
                "they have {} field(s) of dimension {}, the program {} of dimension {}",
                self.fields.len(),
                dimension,
                program.fields.len(),
                program.dimension()
            ));
        }
        for (data, field) in self.fields.iter().zip(&program.fields) {
            let expected = (field.element, field.role.slots());
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
        let fields = self.fields.iter().enumerate().map(|(number, field)| {
            let source = field.values.view();
            let mut values = Values::zeroed_at(source.element(), source.len(), array_start(number))?;
            values.view_mut().copy_from(source);
            Ok(FieldData { name: field.name.clone(), slots: field.slots, values })
        });
        let series = self.series.iter().map(|source| {
            let source = source.view();
            let mut values = Values::zeroed(source.element(), source.len())?;
            values.view_mut().copy_from(source);
            Ok(values)
        });
        Ok(ProgramData {
            layout: self.layout.clone(),
            fields: fields.collect::<Result<Vec<_>>>()?,
            series: series.collect::<Result<Vec<_>>>()?,
        })
    }

    /// Copies all levels from a data set of the same program and size, in this or another layout; no memory
    /// is allocated. Series, which no run changes, are left alone.
    ///
    /// # Panics
    /// Where the two differ in size or in fields.
    pub fn copy_from(&mut self, source: &ProgramData) {
        assert_eq!(self.size(), source.size(), "data sets of different sizes");
        assert_eq!(self.fields.len(), source.fields.len(), "data sets of different programs");
        for (number, from) in source.fields.iter().enumerate() {
            let to = &mut self.fields[number];
            assert_eq!(to.slots, from.slots, "data sets of different programs");
            if self.layout == source.layout {
                to.values.view_mut().copy_from(from.values.view());
                continue;
            }
            for slot in 0..from.slots {
                let from = source.slot(FieldId(number), slot);
                let to = to.values.view_mut().part(slot, self.layout.level_stride());
                to.copy_level_from(&self.layout, from, &source.layout);
            }
        }
    }
}

/// Where the array of field number `number` starts, in bytes after a page.
fn array_start(number: usize) -> usize {
    number * STAGGER % LINES_PER_PAGE * LINE
}

/// Sets every point of a level in parallel: `value(i)` for dense index `i`. The first touch of each page
/// happens on the thread that sets it.
pub fn fill_with<T: Element>(layout: &Layout, level: &mut [T], value: impl Fn(usize) -> T + Sync) {
    layout.pieces_mut(level, PIECE).into_par_iter().for_each(|piece| {
        piece.for_each_segment(layout, |segment, cells| {
            for (cell, index) in cells.iter_mut().zip(segment.index..) {
                *cell = value(index);
            }
        });
    });
}
