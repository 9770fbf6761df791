//! Live lines: how many cells of a tile's cross-section have to be read from memory, and how many are written back.
//!
//! The cross-section is taken across the innermost dimension, in which the window of a tile slides: there all cells
//! are alike, so that a sub-tile moves `lines * s_innermost` words. (In one dimension a line is a cell.) A cell of a
//! stored level is *live in* if some row reads it before a row writes it; a row's value is *live out* unless the next
//! row that writes the same level covers it.

use super::shape::{Row, Shape};
use crate::counts::bounds::{Interval, range};
use crate::counts::multilinear::Multilinear;
use crate::geometry::first_planes;
use polyhedral::program::{FieldId, FieldRole, Program};
use std::collections::BTreeSet;

/// Lines that enter and leave a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineCount {
    /// Read from memory.
    pub live_in: i64,
    /// Written to memory.
    pub live_out: i64,
}

/// Counts the lines of one cross-section by executing its rows on sets of cells: `s0` columns of the flat top, `s1`
/// points of the middle dimension (1 where there is none).
pub fn count(program: &Program, shape: &Shape, s0: i64, s1: i64) -> LineCount {
    LineCount { live_in: live_in(program, shape, s0, s1), live_out: live_out(program, shape, s0, s1) }
}

/// Cells of one plane: a set of positions along dimension 0 for every position along the middle dimension.
struct Plane {
    words: usize,
    bits: Vec<u64>,
}

impl Plane {
    fn new(extent0: i64, extent1: i64) -> Self {
        let words = (extent0 as usize).div_ceil(64);
        Plane { words, bits: vec![0; words * extent1 as usize] }
    }

    /// Calls `change(word, mask)` for all words of the box `low0 ..= high0`, `low1 ..= high1`.
    fn for_each(
        &self,
        (low0, high0): (i64, i64),
        (low1, high1): (i64, i64),
        mut change: impl FnMut(usize, u64),
    ) {
        for line in low1..=high1 {
            for word in low0 / 64..=high0 / 64 {
                let from = (low0 - word * 64).max(0);
                let to = (high0 - word * 64).min(63);
                let mask = (u64::MAX >> (63 - (to - from))) << from;
                change(line as usize * self.words + word as usize, mask);
            }
        }
    }
}

fn live_in(program: &Program, shape: &Shape, s0: i64, s1: i64) -> i64 {
    let (extent0, extent1) = (shape.extent[0] + s0 - 1, shape.middle_extent(s1));
    let first_plane = first_planes(program);
    let planes = first_plane[program.fields.len()];
    let blank = || (0..planes).map(|_| Plane::new(extent0, extent1)).collect::<Vec<_>>();
    let (mut live, mut written) = (blank(), blank());
    for row in &shape.rows {
        let statement = &program.statements[row.statement];
        let at = |offset0: i64, offset1: i64| {
            let low0 = row.first - shape.low[0] + offset0;
            let low1 = offset1 - shape.middle_skew(row) - shape.middle_low();
            ((low0, low0 + row.width + s0 - 2), (low1, low1 + s1 - 1))
        };
        let plane =
            |field: FieldId, time: i64| first_plane[field.0] + program.slot_of_level(field, row.group + time);
        let reads: BTreeSet<(usize, i64, i64)> = (statement.reads.iter())
            .map(|read| (plane(read.field, read.time), read.offset[0], shape.middle_offset(&read.offset)))
            .collect();
        for (plane, offset0, offset1) in reads {
            let (along0, along1) = at(offset0, offset1);
            let (live, written) = (&mut live[plane], &written[plane]);
            written.for_each(along0, along1, |word, mask| live.bits[word] |= mask & !written.bits[word]);
        }
        let target = &mut written[plane(statement.target, 1)];
        let (along0, along1) = at(0, 0);
        let mut bits = std::mem::take(&mut target.bits);
        target.for_each(along0, along1, |word, mask| bits[word] |= mask);
        target.bits = bits;
    }
    live.iter().flat_map(|plane| &plane.bits).map(|bits| i64::from(bits.count_ones())).sum()
}

fn live_out(program: &Program, shape: &Shape, s0: i64, s1: i64) -> i64 {
    let stored = |(index, row): (usize, &Row)| {
        let target = program.statements[row.statement].target;
        let slots = match program.field(target).role {
            FieldRole::State { slots, .. } => slots,
            FieldRole::Coefficient => 1,
        };
        let cells = (row.width + s0 - 1) * s1;
        let Some(later) = shape.rows.get(index + slots * shape.running) else { return cells };
        let first = row.first.max(later.first);
        let last = (row.first + row.width).min(later.first + later.width) + s0 - 2;
        let common1 = s1 - (shape.middle_skew(later) - shape.middle_skew(row)).abs();
        cells - (last - first + 1).max(0) * common1.max(0)
    };
    shape.rows.iter().enumerate().map(stored).sum()
}

/// The line counts for all `(s0, s1)`.
///
/// All boxes of cells have corners `constant` or `s + constant` per dimension, so that the number of cells in a union
/// of them is bilinear in `(s0, s1)` as soon as left and right corners no longer change their order. For sizes beyond
/// the reach of one point that is usually the case; it is checked at a size beyond every constant, and the table of
/// small sizes grows until it is.
#[derive(Debug, Clone)]
pub struct Lines {
    live_in: Multilinear,
    live_out: Multilinear,
}

impl Lines {
    /// Whether no larger `s0` has fewer lines, in one dimension or for the least of the other sizes.
    pub fn grow(&self) -> bool {
        self.live_in.grows() && self.live_out.grows()
    }

    /// The counts of a shape whose flat top is at least `least0`.
    pub fn new(program: &Program, shape: &Shape, least0: i64) -> Self {
        let spread = |d: usize| {
            let offsets = || program.statements.iter().flat_map(|s| &s.reads).map(|read| read.offset[d]);
            offsets().max().unwrap_or(0) - offsets().min().unwrap_or(0)
        };
        let middle = program.dimension() == 3 && !shape.uncut[1];
        let size1 = |s1: i64| if middle { s1 } else { shape.middle_size(1) };
        let most = (shape.extent[0] + 2, if middle { shape.extent[1] + 2 } else { 1 });
        let far = (least0 + most.0, if middle { most.1 } else { 1 });
        let exact = count(program, shape, far.0, size1(far.1));
        let mut length = (spread(0) + 2, if middle { spread(1) + 2 } else { 1 });
        loop {
            length = (length.0.min(most.0), length.1.min(most.1));
            let mut counts = Vec::new();
            for i in 0..length.0 {
                for j in 0..length.1 {
                    counts.push(count(program, shape, least0 + i, size1(1 + j)));
                }
            }
            let table = |value: fn(&LineCount) -> i64| {
                let at = |[i, j, _]: [i64; 3]| value(&counts[((i - least0) * length.1 + j - 1) as usize]);
                Multilinear::new([least0, 1, 1], [length.0 as usize, length.1 as usize, 1], at)
            };
            let lines =
                Lines { live_in: table(|count| count.live_in), live_out: table(|count| count.live_out) };
            if lines.at(far.0, far.1) == exact || length == most {
                return lines;
            }
            length = (length.0 * 2, length.1 * 2);
        }
    }

    /// Live lines, in and out, divided by `divide(s0, s1)`: the least and the greatest value over a box. `divide` is
    /// 1 or a product of linear functions of the sizes, so that the extremes lie at corners of the multilinear part.
    pub fn range(&self, low: [i64; 2], high: [i64; 2], divide: impl Fn(i64, i64) -> f64) -> Interval {
        let second = self.live_in.corners(1, low[1], high[1]);
        let points =
            self.live_in.corners(0, low[0], high[0]).flat_map(|s0| second.clone().map(move |s1| (s0, s1)));
        range(points.map(|(s0, s1)| {
            let lines = self.at(s0, s1);
            (lines.live_in + lines.live_out) as f64 / divide(s0, s1)
        }))
    }

    /// The lines for these sizes; `s1` is 1 where there is no middle dimension that is cut.
    #[inline]
    pub fn at(&self, s0: i64, s1: i64) -> LineCount {
        LineCount { live_in: self.live_in.at([s0, s1, 1]), live_out: self.live_out.at([s0, s1, 1]) }
    }
}
