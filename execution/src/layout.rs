//! Where the points of a grid lie in memory: dense, or with padding against cache conflicts.
//!
//! The point `s` of a time level is element `s_0 stride_0 + ... + s_{n-1}` of the level, level `l` of a field
//! starts `level_stride` elements after the one in the slot before. All fields of a program share one layout.
//!
//! Addresses a multiple of 4096 bytes apart share a set of the first-level cache. Where rows are that far
//! apart, the few rows that a tile works on evict each other; [`Layout::padded`] keeps rows, planes and
//! levels away from such distances.

use crate::error::{ExecutionError, Result};
use polyhedral::program::Program;
use std::ops::Range;

/// Bytes of a cache line.
pub const LINE: usize = 64;
/// Distance in bytes at which addresses fall into the same set of the first-level cache.
const SET_PERIOD: usize = 4096;
/// Least distance in bytes that strides keep from a multiple of [`SET_PERIOD`].
const CLEARANCE: usize = 5 * LINE;
/// Rows of a tile that should spread over all sets of a second cache, and lines of each at most.
const ROWS: usize = 48;
const PIECE: usize = 64;

/// Size and strides of a grid. Points are numbered in row-major order, whatever the strides are: that is
/// their dense index. A row is all points that differ in the innermost dimension only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    size: Vec<i64>,
    strides: Vec<usize>,
    level_stride: usize,
    points: usize,
}

/// Consecutive points of one row, which are consecutive in memory too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Number of the row: the indices of all dimensions but the innermost, linearised.
    pub row: usize,
    /// Innermost index of the first point.
    pub column: usize,
    /// Dense index of the first point.
    pub index: usize,
    /// Element of the level at which the first point lies.
    pub offset: usize,
    /// Number of points; at least 1.
    pub length: usize,
}

impl Segment {
    /// The elements of the level.
    pub fn elements(&self) -> Range<usize> {
        self.offset..self.offset + self.length
    }
}

/// A part of a level for one thread.
#[derive(Debug)]
pub struct PieceMut<'a, T> {
    /// The points, by dense index.
    points: Range<usize>,
    /// Element of the level at which `values` starts.
    start: usize,
    values: &'a mut [T],
}

/// Number of points of a grid for a program.
///
/// # Errors
/// [`ExecutionError::WrongSize`] for a wrong number of dimensions, a size below 1, or a grid that cannot
/// be counted.
pub fn grid_points(program: &Program, size: &[i64]) -> Result<usize> {
    if size.len() != program.dimension() {
        let indices = program.space_indices.join(", ");
        return Err(wrong_size(
            program,
            format!(
                "{} dimension(s) were given, but the stencil has {} ({indices})",
                size.len(),
                program.dimension(),
            ),
        ));
    }
    size.iter().zip(&program.space_indices).try_fold(1usize, |points, (&extent, index)| {
        if extent < 1 {
            let problem = format!("the extent in `{index}` is {extent}, and must be at least 1");
            return Err(wrong_size(program, problem));
        }
        // The factor leaves room for padding, which never multiplies a size by more than 32.
        usize::try_from(extent)
            .ok()
            .and_then(|extent| points.checked_mul(extent))
            .filter(|&points| i64::try_from(points).is_ok_and(|points| points < i64::MAX / 64))
            .ok_or_else(|| wrong_size(program, "the number of points is too large to be counted".to_owned()))
    })
}

fn wrong_size(program: &Program, problem: String) -> ExecutionError {
    ExecutionError::WrongSize { program: program.name.clone(), problem }
}

impl Layout {
    /// No padding: `stride_d = stride_{d+1} size_{d+1}`, levels right behind each other.
    ///
    /// # Errors
    /// [`ExecutionError::WrongSize`] as for [`grid_points`].
    pub fn dense(program: &Program, size: &[i64]) -> Result<Layout> {
        let points = grid_points(program, size)?;
        Ok(Layout::from_inner_to_outer(size, points, |elements| elements))
    }

    /// Rows, planes and levels start at cache lines, an odd number of lines apart and at least five lines
    /// away from every multiple of 4096 bytes, for every element type of the program's fields, and so that the rows of a tile
    /// spread over all sets of a second cache. (For the larger
    /// type of a program with both, the number of lines is twice an odd one.)
    ///
    /// # Errors
    /// [`ExecutionError::WrongSize`] as for [`grid_points`].
    pub fn padded(program: &Program, size: &[i64]) -> Result<Layout> {
        let points = grid_points(program, size)?;
        let element_bytes: Vec<usize> = program.fields.iter().map(|field| field.element.bytes()).collect();
        Ok(Layout::from_inner_to_outer(size, points, |elements| without_conflicts(elements, &element_bytes)))
    }

    /// Strides of one's own, in elements: those of all dimensions but the innermost, slowest first, and the
    /// distance between time levels.
    ///
    /// # Errors
    /// [`ExecutionError::WrongSize`] as for [`grid_points`], and where points would overlap or could not be
    /// addressed.
    pub fn with_strides(
        program: &Program,
        size: &[i64],
        outer_strides: &[usize],
        level_stride: usize,
    ) -> Result<Layout> {
        let points = grid_points(program, size)?;
        if outer_strides.len() + 1 != size.len() {
            let problem =
                format!("{} outer strides were given for {} dimensions", outer_strides.len(), size.len());
            return Err(wrong_size(program, problem));
        }
        let mut strides = outer_strides.to_vec();
        strides.push(1);
        // Elements from the first to the last point of a row, of a plane, ...
        let mut span = 1usize;
        for (d, (&stride, &extent)) in strides.iter().zip(size).enumerate().rev() {
            if stride < span {
                let index = &program.space_indices[d];
                let problem = format!("the stride in `{index}` is {stride}, and must be at least {span}");
                return Err(wrong_size(program, problem));
            }
            span = (extent as usize - 1)
                .checked_mul(stride)
                .and_then(|before_last| before_last.checked_add(span))
                .ok_or_else(|| wrong_size(program, "the strides are too large to be counted".to_owned()))?;
        }
        if level_stride < span || level_stride > i64::MAX as usize {
            let problem = format!("the distance of levels is {level_stride}, and must be at least {span}");
            return Err(wrong_size(program, problem));
        }
        Ok(Layout { size: size.to_vec(), strides, level_stride, points })
    }

    /// Each stride is `fit` of the elements that lie between neighbours at least.
    fn from_inner_to_outer(size: &[i64], points: usize, fit: impl Fn(usize) -> usize) -> Layout {
        let mut strides = vec![1; size.len()];
        let mut stride = 1;
        for (d, &extent) in size.iter().enumerate().rev() {
            strides[d] = stride;
            stride = fit(stride * extent as usize);
        }
        Layout { size: size.to_vec(), strides, level_stride: stride, points }
    }

    /// Extents, slowest dimension first.
    pub fn size(&self) -> &[i64] {
        &self.size
    }

    /// Elements between neighbours along each dimension, slowest first; 1 for the innermost.
    pub fn strides(&self) -> &[usize] {
        &self.strides
    }

    /// Elements between time levels.
    pub fn level_stride(&self) -> usize {
        self.level_stride
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.points
    }

    /// Whether there is no padding anywhere.
    pub fn is_dense(&self) -> bool {
        self.level_stride == self.points
    }

    /// The `sizes` of native entry points: the extents, the strides of all dimensions but the innermost, and
    /// the level stride.
    pub fn native_sizes(&self) -> Vec<i64> {
        let outer = &self.strides[..self.strides.len() - 1];
        let strides = outer.iter().chain([&self.level_stride]).map(|&stride| stride as i64);
        self.size.iter().copied().chain(strides).collect()
    }

    /// Element of the level at which the point with this dense index lies.
    pub fn offset(&self, index: usize) -> usize {
        let row_length = self.row_length();
        self.row_offset(index / row_length) + index % row_length
    }

    /// The points with dense indices in `points`, row by row.
    pub fn segments(&self, points: Range<usize>) -> impl Iterator<Item = Segment> + '_ {
        let row_length = self.row_length();
        let mut index = points.start;
        std::iter::from_fn(move || {
            if index >= points.end {
                return None;
            }
            let (row, column) = (index / row_length, index % row_length);
            let length = (row_length - column).min(points.end - index);
            let segment = Segment { row, column, index, offset: self.row_offset(row) + column, length };
            index += length;
            Some(segment)
        })
    }

    /// Dense indices of all points in ranges of `length` points, the last one shorter: for work that is
    /// divided among threads.
    pub fn ranges(&self, length: usize) -> impl rayon::iter::IndexedParallelIterator<Item = Range<usize>> {
        use rayon::prelude::*;
        let points = self.points;
        (0..points.div_ceil(length))
            .into_par_iter()
            .map(move |number| number * length..((number + 1) * length).min(points))
    }

    /// [`Layout::ranges`] with the elements of a level, to be changed.
    ///
    /// # Panics
    /// Where `level` is shorter than a level.
    pub fn pieces_mut<'a, T>(&self, level: &'a mut [T], length: usize) -> Vec<PieceMut<'a, T>> {
        let mut rest = level;
        let mut start = 0;
        let mut pieces = Vec::with_capacity(self.points.div_ceil(length));
        for first in (0..self.points).step_by(length) {
            let end = (first + length).min(self.points);
            let elements = if end < self.points { self.offset(end) - start } else { rest.len() };
            let (values, later) = rest.split_at_mut(elements);
            pieces.push(PieceMut { points: first..end, start, values });
            start += elements;
            rest = later;
        }
        pieces
    }

    /// Points of a row.
    pub fn row_length(&self) -> usize {
        self.size.last().map_or(1, |&extent| extent as usize)
    }

    /// Element of the level at which a row starts.
    fn row_offset(&self, mut row: usize) -> usize {
        let outer = self.size.len() - 1;
        self.size[..outer].iter().zip(&self.strides).rev().fold(0, |offset, (&extent, &stride)| {
            let position = row % extent as usize;
            row /= extent as usize;
            offset + position * stride
        })
    }
}

impl<T> PieceMut<'_, T> {
    /// Calls `work` with every segment of the piece and its elements. `layout` is the one that the piece was
    /// made by.
    pub fn for_each_segment(self, layout: &Layout, mut work: impl FnMut(Segment, &mut [T])) {
        for segment in layout.segments(self.points) {
            let first = segment.offset - self.start;
            work(segment, &mut self.values[first..first + segment.length]);
        }
    }
}

/// The least stride of at least `elements` elements that is an odd number of lines in the smallest of the
/// element types, keeps [`CLEARANCE`] in all of them, and spreads rows over a second cache.
fn without_conflicts(elements: usize, element_bytes: &[usize]) -> usize {
    let smallest = element_bytes.iter().copied().min().unwrap_or(LINE);
    let elements_per_line = LINE / smallest;
    let conflicts = |lines: usize| {
        element_bytes.iter().any(|&bytes| {
            let stride = lines * elements_per_line * bytes;
            let beyond = stride % SET_PERIOD;
            // The multiple 0 is none: neighbouring short rows lie in neighbouring sets.
            let evict = stride > SET_PERIOD / 2 && beyond.min(SET_PERIOD - beyond) < CLEARANCE;
            evict || is_crowd(stride / LINE)
        })
    };
    let mut lines = elements.div_ceil(elements_per_line);
    while lines.is_multiple_of(2) || conflicts(lines) {
        lines += 1;
    }
    lines * elements_per_line
}

/// Whether rows so many lines apart crowd on a part of a second cache of 1,024 or 2,048 sets. Of [`ROWS`] rows of at most
/// [`PIECE`] lines, those whose distance is a multiple of `k` rows lie in `piece + ROWS / k * off` sets, if `k` rows are `off` lines from a
/// multiple of all sets: overlapping pieces that do not reach from one of the `k` groups to the next leave sets unused.
fn is_crowd(lines: usize) -> bool {
    let piece = lines.min(PIECE);
    [1024usize, 2048].into_iter().any(|sets| {
        (1..sets.div_ceil(piece)).any(|k| {
            let beyond = k * (lines % sets) % sets;
            let off = beyond.min(sets - beyond);
            off < piece && ROWS * off < sets - k * piece
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_without_conflicts() {
        // (elements, bytes of the element types, lines of the smallest)
        for (elements, bytes, lines) in [
            (1, &[4][..], 1),
            (16, &[4], 1),
            (17, &[4], 3),
            (4096, &[4], 261),
            (4096 + 16 * 5, &[4], 261),
            (4096 + 16 * 5 + 1, &[4], 263),
            (1024 - 16 * 5, &[4], 59),
            (1024 - 16 * 4, &[4], 69),
            (4096, &[8], 523),
            // Two rows of 1029 lines lie ten lines from all sets: 8192^2 in f64 took a sixth longer.
            (8192, &[8], 1045),
            // Both: 32 lines of f32 are 64 of f64.
            (16 * 29, &[4, 8], 29),
            (16 * 30, &[8, 4], 35),
        ] {
            let stride = without_conflicts(elements, bytes);
            let elements_per_line = LINE / bytes.iter().min().unwrap();
            assert_eq!(stride, lines * elements_per_line, "{elements} elements of {bytes:?}");
        }
        for elements in 1..5000 {
            for bytes in [&[4][..], &[8], &[4, 8]] {
                let stride = without_conflicts(elements, bytes);
                assert!(stride >= elements && stride < elements + 16 * 24);
                assert_eq!(without_conflicts(stride, bytes), stride);
            }
        }
    }

    #[test]
    fn rows_of_a_tile_spread_over_a_second_cache() {
        for elements in (16..200_000).step_by(112) {
            for bytes in [4, 8] {
                let lines = without_conflicts(elements, &[bytes]) * bytes / LINE;
                let piece = lines.min(PIECE);
                for sets in [1024, 2048] {
                    let mut taken = vec![false; sets];
                    let rows = (0..ROWS).map(|row| row * lines);
                    rows.flat_map(|row| row..row + piece).for_each(|line| taken[line % sets] = true);
                    let spread = taken.iter().filter(|&&is| is).count();
                    assert!(10 * spread >= 7 * sets.min(ROWS * piece), "{elements} of {bytes}: {spread}");
                }
            }
        }
        assert!(is_crowd(1029) && !is_crowd(1045) && !is_crowd(261) && !is_crowd(9));
    }
}
