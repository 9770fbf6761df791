//! The shape of a tile of the hybrid hexagonal strategy, for a flat top and classical sizes of one point: every row's
//! position and width. Larger sizes add to the widths and change nothing else.

use super::hexagon::Hexagon;
use crate::plan::FullTiles;
use polyhedral::cone::Cone;
use polyhedral::program::{Program, Rational};

/// One row `a` of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Statement.
    pub statement: usize,
    /// Time step, from the tile's first one on.
    pub group: i64,
    /// First column of the hexagon.
    pub first: i64,
    /// Points along dimension 0 for `s0 = 1`; each further unit of `s0` adds one.
    pub width: i64,
    /// Shift towards smaller indices per classical dimension: `floor(lower_d * a)`.
    pub skew: [i64; 3],
}

/// All rows of a tile, and the window around what they touch.
#[derive(Debug, Clone)]
pub struct Shape {
    /// The rows in order of execution, without those of statements that do not run in full tiles because their
    /// domains do not grow with the grid.
    pub rows: Vec<Row>,
    /// Per dimension: coordinate of the first cell that is touched.
    pub low: [i64; 3],
    /// Per dimension: number of cells that are touched, for a size of one point.
    pub extent: [i64; 3],
    /// Dimensions that are not cut.
    pub uncut: [bool; 3],
    /// Rows of a time step.
    pub(super) running: usize,
    dimension: usize,
    middle: i64,
}

impl Shape {
    /// The shape for half height `st` (a multiple of the number of statements). `uncut[d]` holds the points of a
    /// classical dimension that is not cut; its rows are not skewed.
    pub fn new(program: &Program, cone: &Cone, st: i64, uncut: [Option<i64>; 3]) -> Self {
        let hexagon = Hexagon { half_height: st, flat_top: 1, lower: cone.lower[0], upper: cone.upper[0] };
        let statements = program.statements.len() as i64;
        let dimension = program.dimension();
        let shift = |d: usize, a: i64| {
            let cut = d > 0 && d < dimension && uncut[d].is_none();
            if cut { floor(cone.lower[d] * a) } else { 0 }
        };
        let mut rows: Vec<Row> = (0..hexagon.rows())
            .map(|a| {
                let (first, last) = hexagon.row(a);
                Row {
                    statement: (a % statements) as usize,
                    group: a / statements,
                    first,
                    width: last - first + 1,
                    skew: [0, shift(1, a), shift(2, a)],
                }
            })
            .collect();
        let (mut low, mut high) = ([i64::MAX; 3], [i64::MIN; 3]);
        for row in &rows {
            for d in 0..3 {
                let offsets = || {
                    let reads = program.statements[row.statement].reads.iter();
                    reads.map(move |read| read.offset.get(d).copied().unwrap_or(0))
                };
                let (first, last) = if d == 0 {
                    (row.first, row.first + row.width - 1)
                } else {
                    (-row.skew[d], -row.skew[d])
                };
                low[d] = low[d].min(first + offsets().min().unwrap_or(0).min(0));
                high[d] = high[d].max(last + offsets().max().unwrap_or(0).max(0));
            }
        }
        let cut: Vec<bool> = (0..dimension).map(|d| d == 0 || uncut[d].is_none()).collect();
        let runs = FullTiles::new(program, &cut).runs;
        if runs.contains(&true) {
            rows.retain(|row| runs[row.statement]);
        }
        let running = runs.iter().filter(|&&runs| runs).count().max(1);
        let extent = [0, 1, 2].map(|d| high[d] - low[d] + 1);
        let middle = uncut[1].unwrap_or(1);
        Shape { rows, low, extent, uncut: uncut.map(|points| points.is_some()), dimension, middle, running }
    }

    /// The points of the middle dimension of three: its size, or all where it is not cut; 1 with fewer dimensions.
    pub(super) fn middle_size(&self, s1: i64) -> i64 {
        match (self.dimension, self.uncut[1]) {
            (3, true) => self.middle,
            (3, false) => s1,
            _ => 1,
        }
    }

    /// Cells of the middle dimension of three that are touched; 1 with fewer dimensions.
    pub(super) fn middle_extent(&self, s1: i64) -> i64 {
        if self.dimension == 3 { self.extent[1] + s1 - 1 } else { 1 }
    }

    /// The shift of a row in the middle dimension of three; 0 with fewer dimensions.
    pub(super) fn middle_skew(&self, row: &Row) -> i64 {
        if self.dimension == 3 { row.skew[1] } else { 0 }
    }

    /// First cell of the middle dimension of three; 0 with fewer dimensions.
    pub(super) fn middle_low(&self) -> i64 {
        if self.dimension == 3 { self.low[1] } else { 0 }
    }

    /// The offset of a read in the middle dimension of three, in the coordinates of [`Shape::low`].
    pub(super) fn middle_offset(&self, offset: &[i64]) -> i64 {
        if self.dimension == 3 { offset[1] } else { 0 }
    }
}

fn floor(value: Rational) -> i64 {
    value.floor().to_integer()
}
