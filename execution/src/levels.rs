//! Time levels in arrays of somebody else, such as those of another language's arrays.
//!
//! [`crate::grid::ProgramData`] owns its arrays and has the levels of a field at one distance. Here each level lies
//! wherever its owner has it; all have the same strides. Compiled code of the entry points `NAME_invoke_levels` works on
//! them in place.
#![allow(unsafe_code)]

use crate::error::{ExecutionError, Result};
use polyhedral::program::{ElementType, Program};
use std::ffi::{c_longlong, c_void};
use std::marker::PhantomData;

/// Borrowed time levels of all fields of a program, and its series.
#[derive(Debug)]
pub struct Levels<'a> {
    /// Of each slot of each field in order, then of each series.
    pointers: Vec<*mut c_void>,
    /// Bytes of an element, for series only: they go on where a run goes on.
    series_bytes: Vec<usize>,
    /// Extents, then strides but the innermost, which is 1; in elements.
    sizes: Vec<c_longlong>,
    series_lengths: Vec<i64>,
    owner: PhantomData<&'a mut c_void>,
}

// SAFETY: nobody else reads or writes what is written, as `new` demands, on whichever thread.
unsafe impl Send for Levels<'_> {}

/// One array of somebody else: its first element, and the number of elements from there to the last one.
#[derive(Debug, Clone, Copy)]
pub struct Array {
    /// The first element.
    pub first: *mut c_void,
    /// Type of the elements.
    pub element: ElementType,
    /// Elements from the first to the last one, both counted.
    pub span: usize,
}

impl<'a> Levels<'a> {
    /// The arrays of all slots of all fields, in order, and of all series; extents and outer strides in elements.
    ///
    /// # Errors
    /// [`ExecutionError::WrongData`] where their number, their types or their lengths are not those of the program.
    ///
    /// # Safety
    /// Each array has as many elements as it says, aligned, which nobody else reads or writes for `'a`; coefficients and
    /// series may be read by others.
    pub unsafe fn new(
        program: &Program,
        size: &[i64],
        outer_strides: &[i64],
        fields: &[Array],
        series: &[Array],
    ) -> Result<Levels<'a>> {
        let wrong = |problem: String| ExecutionError::WrongData { program: program.name.clone(), problem };
        let slots: usize = program.fields.iter().map(|field| field.role.slots()).sum();
        if size.len() != program.dimension() || outer_strides.len() + 1 != size.len() {
            return Err(wrong(format!("{} extents, {} strides", size.len(), outer_strides.len())));
        }
        if fields.len() != slots || series.len() != program.series.len() {
            return Err(wrong(format!("{} levels and {} series were given", fields.len(), series.len())));
        }
        let span = span(size, outer_strides).ok_or_else(|| wrong("strides without meaning".to_owned()))?;
        let kinds =
            program.fields.iter().flat_map(|field| std::iter::repeat_n(field.element, field.role.slots()));
        for (array, element) in fields.iter().zip(kinds) {
            if array.element != element || array.span < span {
                return Err(wrong(format!(
                    "a level has {} elements of {}",
                    array.span,
                    array.element.name()
                )));
            }
        }
        if series.iter().zip(&program.series).any(|(array, series)| array.element != series.element) {
            return Err(wrong("a series has another type".to_owned()));
        }
        Ok(Levels {
            pointers: fields.iter().chain(series).map(|array| array.first).collect(),
            series_bytes: series.iter().map(|array| array.element.bytes()).collect(),
            sizes: size.iter().chain(outer_strides).map(|&value| value as c_longlong).collect(),
            series_lengths: series
                .iter()
                .map(|array| i64::try_from(array.span).unwrap_or(i64::MAX))
                .collect(),
            owner: PhantomData,
        })
    }

    /// Whether every series is long enough for so many steps.
    pub(crate) fn check_steps(&self, program: &Program, steps: i64) -> Result<()> {
        match program
            .series
            .iter()
            .zip(&self.series_lengths)
            .find(|(series, has)| **has < series.length(steps))
        {
            Some((series, has)) => {
                let problem = format!(
                    "series `{}` has {has} values, and {steps} steps need {}",
                    series.name,
                    series.length(steps)
                );
                Err(ExecutionError::WrongData { program: program.name.clone(), problem })
            }
            None => Ok(()),
        }
    }

    /// The pointers after `done` steps, for which the series are long enough.
    pub(crate) fn pointers(&self, done: usize) -> Vec<*mut c_void> {
        let fields = self.pointers.len() - self.series_bytes.len();
        let (fields, series) = self.pointers.split_at(fields);
        let moved =
            series.iter().zip(&self.series_bytes).map(|(first, bytes)| first.wrapping_byte_add(done * bytes));
        fields.iter().copied().chain(moved).collect()
    }

    pub(crate) fn sizes(&self) -> &[c_longlong] {
        &self.sizes
    }

    /// Points of the grid.
    pub fn points(&self, program: &Program) -> usize {
        self.sizes[..program.dimension()].iter().map(|&extent| extent as usize).product()
    }
}

/// Elements from the first to the last point of a level, both counted; `None` where rows overlap or cannot be counted.
pub fn span(size: &[i64], outer_strides: &[i64]) -> Option<usize> {
    let strides = outer_strides.iter().copied().chain([1]);
    let mut span = 1_i64;
    for (&extent, stride) in size.iter().rev().zip(strides.collect::<Vec<_>>().into_iter().rev()) {
        if extent < 1 || stride < span {
            return None;
        }
        span = (extent - 1).checked_mul(stride)?.checked_add(span)?;
    }
    usize::try_from(span).ok()
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn rows_do_not_overlap() {
        assert_eq!(span(&[3, 4], &[4]), Some(12));
        assert_eq!(span(&[3, 4], &[7]), Some(18));
        assert_eq!(span(&[5], &[]), Some(5));
        assert_eq!(span(&[3, 4], &[3]), None);
        assert_eq!(span(&[2, 3, 4], &[12, 4]), Some(24));
        assert_eq!(span(&[2, 3, 4], &[11, 4]), None);
        assert_eq!(span(&[0, 4], &[4]), None);
        assert_eq!(span(&[i64::MAX, 4], &[i64::MAX]), None);
    }
}
