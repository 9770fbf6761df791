//! Initial data: reproducible pseudo-random values, and the fixed boundary.

use crate::element::Element;
use crate::error::{ExecutionError, Result};
use crate::grid::{ProgramData, ValuesMut, fill_with};
use crate::layout::Layout;
use crate::npy;
use polyhedral::program::{FieldId, FieldRole, Program};
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

fn stream(seed: u64, field: usize, level: i64) -> u64 {
    mix(mix(mix(seed) ^ field as u64) ^ level as u64)
}

#[inline]
fn value_of(stream: u64, index: usize) -> f64 {
    (mix(stream ^ index as u64) >> 40) as f64 / (1u64 << 24) as f64
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
pub fn initial_levels(program: &Program, field: FieldId) -> std::ops::RangeInclusive<i64> {
    match program.field(field).role {
        FieldRole::State { levels, .. } => 1 - levels as i64..=0,
        FieldRole::Coefficient => 0..=0,
    }
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

/// Makes the boundary of every state field, that is the points outside the domain of the statement that
/// computes it, the same at all levels: that of the newest initial level, 0.
///
/// # Errors
/// [`ExecutionError::WrongData`] where `data` belong to another program.
pub fn prepare_boundary(program: &Program, data: &mut ProgramData) -> Result<()> {
    data.check(program)?;
    let layout = data.layout().clone();
    for field in (0..program.fields.len()).map(FieldId) {
        let Some((statement, _)) = program.writer_of(field) else { continue };
        let domain = program.domain(statement, layout.size());
        let newest = program.slot_of_level(field, 0);
        match data.values_mut(field) {
            ValuesMut::F32(values) => copy_boundary(values, &layout, &domain, newest),
            ValuesMut::F64(values) => copy_boundary(values, &layout, &domain, newest),
        }
    }
    Ok(())
}

/// Copies the points outside `domain` from slot `newest` to all other slots.
fn copy_boundary<T: Element>(values: &mut [T], layout: &Layout, domain: &[(i64, i64)], newest: usize) {
    let mut slots: Vec<&mut [T]> = values.chunks_exact_mut(layout.level_stride()).collect();
    let source: &[T] = slots.swap_remove(newest);
    for slot in slots {
        copy_outside(slot, source, layout, domain);
    }
}

fn copy_outside<T: Element>(to: &mut [T], from: &[T], layout: &Layout, domain: &[(i64, i64)]) {
    let Some(&columns) = domain.last() else { return };
    layout.pieces_mut(to, PIECE).into_par_iter().for_each(|piece| {
        piece.for_each_segment(layout, |segment, to| {
            let from = &from[segment.elements()];
            if row_in_domain(segment.row, layout.size(), domain) && columns.0 < columns.1 {
                // The domain's columns, counted from the segment's first.
                let column =
                    |column: i64| (column as usize).saturating_sub(segment.column).min(segment.length);
                let (low, high) = (column(columns.0), column(columns.1));
                to[..low].copy_from_slice(&from[..low]);
                to[high..].copy_from_slice(&from[high..]);
            } else {
                to.copy_from_slice(from);
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
