//! Initial data: reproducible pseudo-random values, and the fixed boundary.

use crate::element::Element;
use crate::error::{ExecutionError, Result};
use crate::grid::{ProgramData, ValuesMut, fill_with};
use crate::layout::Layout;
use crate::npy;
use polyhedral::program::{Boundary, FieldId, FieldRole, Program, SeriesId};
use rayon::prelude::*;
use std::path::Path;

/// Points that are worth a thread.
const PIECE: usize = 1 << 16;

/// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
/// OOPSLA 2014, doi 10.1145/2660193.2660195): a bijection of 64-bit words that mixes all bits.
pub fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The pseudo-random value in `[0, 1)` at dense index `index` of time level `level` of field number
/// `field`. It has 24 significant bits, so that `f32` and `f64` hold the same value.
pub fn random_value(seed: u64, field: usize, level: i64, index: usize) -> f64 {
    value_of(stream(seed, field, level), index)
}

/// The values of [`random_value`] in a box of a grid of `size` points, the last dimension fastest: `low <= x < high` in each dimension.
pub fn random_box<T: Element>(
    (seed, field, level): (u64, usize, i64),
    own: &[(i64, i64)],
    size: &[i64],
) -> Vec<T> {
    let points: i64 = own.iter().map(|(low, high)| high - low).product();
    let row = own.last().map_or(1, |(low, high)| high - low);
    let mut values = vec![T::zeroed(); usize::try_from(points).unwrap_or(0)];
    if values.is_empty() {
        return values;
    }
    let stream = stream(seed, field, level);
    let rows = values.par_chunks_mut(row as usize).with_min_len(1 + PIECE / row as usize);
    rows.enumerate().for_each(|(number, cells)| {
        // Of the row's first point.
        let (mut rest, mut index, mut stride) = (number as i64 * row, 0, 1);
        for (&(low, high), extent) in own.iter().zip(size).rev() {
            index += (low + rest % (high - low)) * stride;
            rest /= high - low;
            stride *= extent;
        }
        for (cell, index) in cells.iter_mut().zip(index as usize..) {
            *cell = T::from_f64(value_of(stream, index));
        }
    });
    values
}

fn stream(seed: u64, field: usize, level: i64) -> u64 {
    mix(mix(mix(seed) ^ field as u64) ^ level as u64)
}

#[inline]
fn value_of(stream: u64, index: usize) -> f64 {
    (mix(stream ^ index as u64) >> 40) as f64 / (1u64 << 24) as f64
}

/// The data of a run of so many steps: initial levels, coefficients and series with pseudo-random values.
///
/// # Errors
/// [`ExecutionError::OutOfMemory`].
pub fn random(program: &Program, layout: Layout, steps: i64, seed: u64) -> Result<ProgramData> {
    let mut data = ProgramData::zeroed_with(program, layout)?;
    fill_random(program, &mut data, seed)?;
    fill_series(program, &mut data, steps, seed)?;
    Ok(data)
}

/// Fills all initial levels and all coefficients with [`random_value`], and prepares the boundary.
///
/// # Errors
/// [`ExecutionError::WrongData`] where `data` belong to another program.
pub fn fill_random(program: &Program, data: &mut ProgramData, seed: u64) -> Result<()> {
    data.check(program)?;
    let layout = data.layout().clone();
    for field in (0..program.fields.len()).map(FieldId) {
        for level in initial_levels(program, field) {
            let stream = stream(seed, field.0, level);
            match data.level_mut(program, field, level) {
                ValuesMut::F32(values) => fill_with(&layout, values, |index| value_of(stream, index) as f32),
                ValuesMut::F64(values) => fill_with(&layout, values, |index| value_of(stream, index)),
            }
        }
    }
    prepare_boundary(program, data)
}

/// The time levels that the user gives: `1 - levels ..= 0`; `0` alone for coefficients.
///
/// Where every slot has a boundary of its own, all slots are given: those after the initial levels as if they held
/// levels 1, 2, ..
pub fn initial_levels(program: &Program, field: FieldId) -> std::ops::RangeInclusive<i64> {
    match program.field(field).role {
        FieldRole::State { levels, slots } => {
            let first = 1 - levels as i64;
            match program.boundary {
                Boundary::Fixed => first..=0,
                Boundary::PerSlot => first..=first + slots as i64 - 1,
            }
        }
        FieldRole::Coefficient => 0..=0,
    }
}

/// Makes room for the series of a run of so many steps and fills them with pseudo-random values in `[0, 1)`, those
/// of a field that comes after all fields.
///
/// # Errors
/// [`ExecutionError::OutOfMemory`].
pub fn fill_series(program: &Program, data: &mut ProgramData, steps: i64, seed: u64) -> Result<()> {
    data.set_steps(program, steps)?;
    for number in 0..program.series.len() {
        let stream = stream(seed, program.fields.len() + number, 0);
        match data.series_mut(SeriesId(number)) {
            ValuesMut::F32(values) => {
                values.iter_mut().enumerate().for_each(|(at, value)| *value = value_of(stream, at) as f32);
            }
            ValuesMut::F64(values) => {
                values.iter_mut().enumerate().for_each(|(at, value)| *value = value_of(stream, at));
            }
        }
    }
    Ok(())
}

/// Reads a series, for which there must be room, from a NumPy file with one dimension; a longer array is read as far
/// as it is needed.
///
/// # Errors
/// [`ExecutionError::Npy`] for a wrong shape, type or file; [`ExecutionError::File`].
pub fn load_series(program: &Program, data: &mut ProgramData, series: SeriesId, path: &Path) -> Result<()> {
    let mut reader = npy::Reader::open(path)?;
    let needed = data.series(series).len() as u64;
    if let [found] = reader.header().shape[..]
        && found >= needed
    {
        return reader.read_into(data.series_mut(series));
    }
    let first = program.series[series.0].first;
    let problem = format!(
        "the array has shape {}, but series `{}` needs one dimension with {needed} values, from time {first} on",
        npy::shape_text(&reader.header().shape),
        program.series[series.0].name
    );
    Err(ExecutionError::Npy { path: path.to_owned(), problem })
}

/// The id of the series of this name.
pub fn series_named(program: &Program, name: &str) -> Option<SeriesId> {
    program.series.iter().position(|series| series.name == name).map(SeriesId)
}

/// The id of the field of this name.
///
/// # Errors
/// [`ExecutionError::UnknownField`].
pub fn field_named(program: &Program, name: &str) -> Result<FieldId> {
    program.fields.iter().position(|field| field.name == name).map(FieldId).ok_or_else(|| {
        let known: Vec<&str> = program.fields.iter().map(|field| field.name.as_str()).collect();
        ExecutionError::UnknownField {
            program: program.name.clone(),
            field: name.to_owned(),
            known: known.join(", "),
        }
    })
}

/// Reads the initial values of a field from a NumPy file. The array has the grid's shape; for a field with
/// more than one initial level it may also have shape `(levels, n0, ...)`, oldest level first, and an array
/// of the grid's shape then serves for all levels. Call [`prepare_boundary`] after the last field.
///
/// # Errors
/// [`ExecutionError::Npy`] for a wrong shape, type or file; [`ExecutionError::File`].
pub fn load_field(program: &Program, data: &mut ProgramData, field: FieldId, path: &Path) -> Result<()> {
    let layout = data.layout().clone();
    let levels: Vec<i64> = initial_levels(program, field).collect();
    let mut reader = npy::Reader::open(path)?;
    let found = reader.header().shape.clone();
    let one_level: Vec<u64> = layout.size().iter().map(|&extent| extent as u64).collect();
    let all_levels: Vec<u64> = std::iter::once(levels.len() as u64).chain(one_level.clone()).collect();
    if found == one_level {
        reader.read_level(&layout, data.level_mut(program, field, 0))?;
        let newest = program.slot_of_level(field, 0);
        let others: Vec<usize> = levels
            .iter()
            .map(|&level| program.slot_of_level(field, level))
            .filter(|&slot| slot != newest)
            .collect();
        let stride = layout.level_stride();
        match data.values_mut(field) {
            ValuesMut::F32(values) => copy_slots(values, stride, newest, &others),
            ValuesMut::F64(values) => copy_slots(values, stride, newest, &others),
        }
        Ok(())
    } else if levels.len() > 1 && found == all_levels {
        levels.iter().try_for_each(|&level| reader.read_level(&layout, data.level_mut(program, field, level)))
    } else {
        let or_all = if levels.len() > 1 {
            format!(
                " or, with all {} initial levels, oldest first, {}",
                levels.len(),
                npy::shape_text(&all_levels)
            )
        } else {
            String::new()
        };
        let problem = format!(
            "the array has shape {}, but field `{}` needs {}{or_all}",
            npy::shape_text(&found),
            program.field(field).name,
            npy::shape_text(&one_level)
        );
        Err(ExecutionError::Npy { path: path.to_owned(), problem })
    }
}

fn copy_slots<T: Element>(values: &mut [T], level_stride: usize, from: usize, to: &[usize]) {
    for &slot in to {
        values.copy_within(from * level_stride..(from + 1) * level_stride, slot * level_stride);
    }
}

/// Makes the boundary of every state field, that is the points outside the domains of the statements that
/// compute it, the same at all levels: that of the newest initial level, 0. Nothing is done where every slot has a
/// boundary of its own.
///
/// # Errors
/// [`ExecutionError::WrongData`] where `data` belong to another program.
pub fn prepare_boundary(program: &Program, data: &mut ProgramData) -> Result<()> {
    data.check(program)?;
    if program.boundary == Boundary::PerSlot {
        return Ok(());
    }
    let layout = data.layout().clone();
    for field in (0..program.fields.len()).map(FieldId) {
        if program.writers_of(field).next().is_none() {
            continue;
        }
        let domains = domains_of(program, field, layout.size());
        let newest = program.slot_of_level(field, 0);
        match data.values_mut(field) {
            ValuesMut::F32(values) => copy_boundary(values, &layout, &domains, newest),
            ValuesMut::F64(values) => copy_boundary(values, &layout, &domains, newest),
        }
    }
    Ok(())
}

/// The points on the user's grid, half-open per dimension, of all statements that compute a field.
pub(crate) fn domains_of(program: &Program, field: FieldId, size: &[i64]) -> Vec<Vec<(i64, i64)>> {
    program.writers_of(field).map(|(statement, _)| program.points(statement, size)).collect()
}

/// Copies the points outside all `domains` from slot `newest` to all other slots.
fn copy_boundary<T: Element>(values: &mut [T], layout: &Layout, domains: &[Vec<(i64, i64)>], newest: usize) {
    let mut slots: Vec<&mut [T]> = values.chunks_exact_mut(layout.level_stride()).collect();
    let source: &[T] = slots.swap_remove(newest);
    for slot in slots {
        copy_outside(slot, source, layout, domains);
    }
}

fn copy_outside<T: Element>(to: &mut [T], from: &[T], layout: &Layout, domains: &[Vec<(i64, i64)>]) {
    layout.pieces_mut(to, PIECE).into_par_iter().for_each(|piece| {
        piece.for_each_segment(layout, |segment, to| {
            let from = &from[segment.elements()];
            // The domains' columns in this row, counted from the segment's first, from left to right.
            let column = |column: i64| (column as usize).saturating_sub(segment.column).min(segment.length);
            let mut columns: Vec<(usize, usize)> = domains
                .iter()
                .filter(|domain| row_in_domain(segment.row, layout.size(), domain))
                .filter_map(|domain| domain.last().filter(|(low, high)| low < high))
                .map(|&(low, high)| (column(low), column(high)))
                .collect();
            columns.sort_unstable();
            let mut copied = 0;
            for (low, high) in columns.into_iter().chain([(segment.length, segment.length)]) {
                let end = low.max(copied);
                to[copied..end].copy_from_slice(&from[copied..end]);
                copied = high.max(copied);
            }
        });
    });
}

/// Whether the row with this number (all dimensions but the last, linearised) meets the domain.
pub(crate) fn row_in_domain(mut row: usize, size: &[i64], domain: &[(i64, i64)]) -> bool {
    for dimension in (0..size.len() - 1).rev() {
        let extent = size[dimension] as usize;
        let position = (row % extent) as i64;
        row /= extent;
        if position < domain[dimension].0 || position >= domain[dimension].1 {
            return false;
        }
    }
    true
}
