//! Results compared: checksums, and bit-for-bit comparison of two data sets.

use crate::element::Element;
use crate::grid::{ProgramData, ValuesRef};
use crate::initial::mix;
use crate::layout::Layout;
use polyhedral::program::{FieldId, FieldRole, Program};
use rayon::prelude::*;

/// Points that are worth a thread.
const PIECE: usize = 1 << 16;

/// How the newest levels of two data sets differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Number of points compared, over all state fields.
    pub points: u64,
    /// Number of points whose bits differ; two NaN count as equal, `0.0` and `-0.0` as different.
    pub mismatches: u64,
    /// Largest absolute difference; infinite where only one side is NaN or infinite.
    pub max_abs_error: f64,
    /// The first mismatch, in order of fields and then of indices.
    pub first: Option<Mismatch>,
}

/// One point at which two results differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// Name of the field.
    pub field: String,
    /// Index of the point, slowest dimension first.
    pub index: Vec<i64>,
    /// The value in the first data set.
    pub left: f64,
    /// The value in the second data set.
    pub right: f64,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let index: Vec<String> = self.index.iter().map(i64::to_string).collect();
        write!(f, "{}[{}]: {:e} against {:e}", self.field, index.join(", "), self.left, self.right)
    }
}

fn state_fields(program: &Program) -> impl Iterator<Item = FieldId> + '_ {
    let is_state = |&id: &FieldId| matches!(program.field(id).role, FieldRole::State { .. });
    (0..program.fields.len()).map(FieldId).filter(is_state)
}

/// Compares the newest level of every state field after `steps` steps. The layouts may differ.
///
/// # Panics
/// Where the data sets belong to different programs or sizes.
pub fn compare(program: &Program, left: &ProgramData, right: &ProgramData, steps: i64) -> Comparison {
    assert_eq!(left.size(), right.size(), "data sets of different sizes");
    let mut total = Comparison { points: 0, mismatches: 0, max_abs_error: 0.0, first: None };
    let layouts = (left.layout(), right.layout());
    for field in state_fields(program) {
        let views = (left.level(program, field, steps), right.level(program, field, steps));
        let difference = match views {
            (ValuesRef::F32(a), ValuesRef::F32(b)) => Difference::between(layouts, a, b),
            (ValuesRef::F64(a), ValuesRef::F64(b)) => Difference::between(layouts, a, b),
            _ => panic!("data sets of different programs"),
        };
        total.points += left.points() as u64;
        total.mismatches += difference.mismatches;
        total.max_abs_error = total.max_abs_error.max(difference.max_abs_error);
        if let (None, Some(linear)) = (&total.first, difference.first) {
            total.first = Some(Mismatch {
                field: program.field(field).name.clone(),
                index: index_of(linear, left.size()),
                left: views.0.get(layouts.0.offset(linear)).unwrap_or(f64::NAN),
                right: views.1.get(layouts.1.offset(linear)).unwrap_or(f64::NAN),
            });
        }
    }
    total
}

fn index_of(mut linear: usize, size: &[i64]) -> Vec<i64> {
    let mut index = vec![0; size.len()];
    for (position, &extent) in index.iter_mut().zip(size).rev() {
        *position = (linear as i64) % extent;
        linear /= extent as usize;
    }
    index
}

#[derive(Clone, Copy)]
struct Difference {
    mismatches: u64,
    max_abs_error: f64,
    first: Option<usize>,
}

impl Difference {
    const NONE: Difference = Difference { mismatches: 0, max_abs_error: 0.0, first: None };

    fn between<T: Element>(layouts: (&Layout, &Layout), left: &[T], right: &[T]) -> Self {
        let piece = |points: std::ops::Range<usize>| {
            let segments = layouts.0.segments(points.clone()).zip(layouts.1.segments(points));
            segments.fold(Self::NONE, |found, (a, b)| {
                found.joined(Self::between_rows(a.index, &left[a.elements()], &right[b.elements()]))
            })
        };
        layouts.0.ranges(PIECE).map(piece).reduce(|| Self::NONE, Self::joined)
    }

    /// `start` is the dense index of the first point.
    fn between_rows<T: Element>(start: usize, left: &[T], right: &[T]) -> Self {
        let mut found = Self::NONE;
        for (offset, (&a, &b)) in left.iter().zip(right).enumerate() {
            if a.comparable_bits() != b.comparable_bits() {
                let error = (a.to_f64() - b.to_f64()).abs();
                found.mismatches += 1;
                found.max_abs_error =
                    found.max_abs_error.max(if error.is_nan() { f64::INFINITY } else { error });
                found.first = found.first.or(Some(start + offset));
            }
        }
        found
    }

    fn joined(self, later: Self) -> Self {
        Difference {
            mismatches: self.mismatches + later.mismatches,
            max_abs_error: self.max_abs_error.max(later.max_abs_error),
            first: match (self.first, later.first) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
        }
    }
}

/// A checksum of the newest level of every state field after `steps` steps. Equal results have equal
/// checksums on every machine, in every layout and with any number of threads; all NaN count as the same
/// value.
pub fn checksum(program: &Program, data: &ProgramData, steps: i64) -> u64 {
    state_fields(program).fold(0, |sum, field| {
        let seed = mix(field.0 as u64 + 1);
        let values = match data.level(program, field, steps) {
            ValuesRef::F32(values) => sum_of_hashes(data.layout(), values, seed),
            ValuesRef::F64(values) => sum_of_hashes(data.layout(), values, seed),
        };
        sum.wrapping_add(values)
    })
}

fn sum_of_hashes<T: Element>(layout: &Layout, values: &[T], seed: u64) -> u64 {
    let piece_sum = |points| {
        layout.segments(points).fold(0u64, |sum, segment| {
            values[segment.elements()].iter().zip(segment.index..).fold(sum, |sum, (value, index)| {
                let position = seed.wrapping_add(index as u64);
                sum.wrapping_add(mix(mix(position) ^ value.comparable_bits()))
            })
        })
    };
    layout.ranges(PIECE).map(piece_sum).reduce(|| 0, u64::wrapping_add)
}
