//! Where blocks lie, and in them the slices of warps and the rows and columns of lanes; what is computed at a position.

use super::sizes::{Lie, Sizes};
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Binding, Range, bound};
use crate::strategy::bands::{self, Bands};
use polyhedral::program::{FieldId, Program};

pub(super) const BLOCK_NAMES: [&str; 3] = ["b0", "b1", "b2"];

/// The position of the stream.
pub(super) const POSITION: &str = "c";

/// The warp.
pub(super) const MEMBER: &str = "w";

/// The first row and the first column of a block.
pub(super) const FIRST_ROW: &str = "y0";

pub(super) const FIRST_COLUMN: &str = "x0";

/// Planes that are loaded ahead of the one that enters the pipeline.
pub(super) const AHEAD: i64 = 1;

/// A kernel for bands of up to [`Sizes::steps`] steps.
pub(super) struct Stream<'a> {
    pub(super) program: &'a Program,
    pub(super) bands: Bands,
    pub(super) sizes: Sizes,
    /// How far the statement reads, per dimension: towards smaller and larger indices.
    pub(super) reach: Vec<(i64, i64)>,
    /// Of the reads in other rows, how far along the stream: the least and the greatest; none where there are no such reads, or
    /// one warp alone.
    pub(super) across: Option<(i64, i64)>,
    pub(super) field: FieldId,
    /// Whether it is for grids narrower than a block.
    pub(super) narrow: bool,
}

/// What two intervals have in common.
pub(super) fn both(a: Range, b: &Range) -> Range {
    Range { low: a.low.max(b.low.clone()), high: a.high.min(b.high.clone()) }
}

impl<'a> Stream<'a> {
    pub(super) fn new(program: &'a Program, bands: Bands, sizes: Sizes, narrow: bool) -> Self {
        let statement = &program.statements[0];
        let (field, reach) = (statement.target, bands::reach(program));
        let reads = statement.reads.iter().filter(|read| read.field == field && read.offset[1] != 0);
        let along: Vec<i64> = reads.map(|read| read.offset[0]).collect();
        let across = along.iter().min().copied().zip(along.iter().max().copied()).filter(|_| sizes.warps > 1);
        Stream { program, bands, sizes, reach, across, field, narrow }
    }

    /// The domain along a dimension: its first point, and the one after its last.
    pub(super) fn domain(&self, d: usize) -> (IntExpr, IntExpr) {
        let interval = self.program.statements[0].domain[d];
        (bound(interval.low, d), bound(interval.high, d))
    }

    /// The points of the domain along a dimension and those that it reads beside them: the first one, and the one after the last.
    pub(super) fn around(&self, d: usize) -> (IntExpr, IntExpr) {
        let ((low, high), (before, after)) = (self.domain(d), self.reach[d]);
        (low - before, high + after)
    }

    /// By how much a grid is wider than a block.
    pub(super) fn wider(&self) -> IntExpr {
        let (low, high) = self.around(2);
        high - low - self.sizes.columns()
    }

    /// Points that a block shares with its neighbours along a dimension: before its own, and behind them.
    pub(super) fn ghosts(&self, d: usize) -> (i64, i64) {
        let lie = self.lie(d);
        (lie.before, lie.behind)
    }

    fn lie(&self, d: usize) -> Lie {
        self.sizes.lie(self.program, self.reach[d], d)
    }

    /// Points of a block's own along a dimension.
    pub(super) fn width(&self, d: usize) -> i64 {
        if d == 0 { self.sizes.planes } else { self.lie(d).own }
    }

    /// How far before the domain the first point of those lies that blocks share out.
    pub(super) fn shift(&self, d: usize) -> i64 {
        if self.is_alone_along(d) { self.reach[d].0 } else { self.lie(d).shift }
    }

    /// The first point of those that blocks share out.
    pub(super) fn origin(&self, d: usize) -> IntExpr {
        self.domain(d).0 - self.shift(d)
    }

    pub(super) fn is_alone_along(&self, d: usize) -> bool {
        self.narrow && d == 2
    }

    /// The first point of a block's own.
    pub(super) fn own(&self, d: usize) -> IntExpr {
        if self.is_alone_along(d) {
            self.origin(d)
        } else {
            var(BLOCK_NAMES[d]) * self.width(d) + self.origin(d)
        }
    }

    /// Planes from one level to the next one.
    pub(super) fn lag(&self) -> i64 {
        let up = self.reach[0].1;
        self.across.map_or(up, |(_, greatest)| up.max(greatest + 1))
    }

    /// What a block needs in dimension `d` of the level after so many stages.
    pub(super) fn interval(&self, stage: &IntExpr, d: usize) -> Range {
        let (low, high) = self.reach[d];
        let steps = self.sizes.steps;
        self.clipped(d, stage.clone() * low - steps * low, stage.clone() * high - steps * high)
    }

    /// What a block loads in dimension `d`.
    pub(super) fn loaded(&self, d: usize) -> Range {
        let (before, behind) = self.ghosts(d);
        self.clipped(d, int(-before), int(-behind))
    }

    /// A block's own points in dimension `d` without so many at both ends, as far as there is something to know.
    pub(super) fn clipped(&self, d: usize, before: IntExpr, behind: IntExpr) -> Range {
        if self.is_alone_along(d) {
            let first = self.around(d).0;
            return Range { low: first.clone(), high: first + (self.sizes.columns() - 1) };
        }
        let needed = Range { low: self.own(d) + before, high: self.own(d) - behind + (self.width(d) - 1) };
        if d == 0 {
            return needed;
        }
        let (first, end) = self.around(d);
        Range { low: needed.low.max(first), high: needed.high.min(end - 1) }
    }

    /// What a block needs of some rows of a plane.
    pub(super) fn of_plane(&self, stage: &IntExpr, plane: &IntExpr, rows: &Range) -> Vec<Range> {
        let one = Range { low: plane.clone(), high: plane.clone() };
        let needed = |d: usize| self.interval(stage, d);
        vec![both(needed(0), &one), both(needed(1), rows), needed(2)]
    }

    /// So many rows of a slice from one on, counted from its first one.
    pub(super) fn rows(&self, from: i64, count: i64) -> Range {
        let first = self.first_row() + from;
        Range { low: first.clone(), high: first + (count - 1) }
    }

    pub(super) fn slice(&self) -> Range {
        self.rows(0, self.sizes.rows)
    }

    /// The first row of a warp's slice.
    pub(super) fn first_row(&self) -> IntExpr {
        var(FIRST_ROW) + var(MEMBER) * self.sizes.rows
    }

    /// So many columns of some rows of a plane from one on, counted from that of the first lane.
    pub(super) fn columns(plane: &IntExpr, rows: &Range, from: i64, count: i64) -> Vec<Range> {
        let first = var(FIRST_COLUMN) + from;
        let columns = Range { low: first.clone(), high: first + (count - 1) };
        vec![Range { low: plane.clone(), high: plane.clone() }, rows.clone(), columns]
    }

    /// Some rows of a plane, as the lanes have them.
    pub(super) fn lanes(&self, plane: &IntExpr, rows: &Range) -> Vec<Range> {
        Self::columns(plane, rows, 0, self.sizes.columns())
    }

    /// The first row of a block, and its first column, in the grid.
    pub(super) fn corner(&self) -> [Binding; 2] {
        let row = self.own(1) - self.ghosts(1).0;
        let (first, end) = self.around(2);
        let column = match self.narrow {
            true => first,
            false => (self.own(2) - self.ghosts(2).0).max(first).min(end - self.sizes.columns()),
        };
        let binding = |name, value, comment: &str| Binding { name, value, comment: comment.to_owned() };
        [
            binding(FIRST_ROW, row, "first row of the block"),
            binding(FIRST_COLUMN, column, "first column of the block"),
        ]
    }

    /// The first position: some later the first plane that is loaded enters.
    pub(super) fn first_position(&self) -> IntExpr {
        self.interval(&int(0), 0).low - AHEAD
    }

    /// The plane of the level after so many steps that is computed at a position.
    pub(super) fn plane_after(&self, steps: &IntExpr) -> IntExpr {
        var(POSITION) - steps.clone() * self.lag()
    }

    pub(super) fn group() -> IntExpr {
        var(bands::ROW)
    }

    /// The step of a stage.
    pub(super) fn step(&self) -> IntExpr {
        self.bands.first() + Self::group()
    }

    /// The level after so many stages of a band, or its last one.
    pub(super) fn level_after(&self, stage: &IntExpr) -> IntExpr {
        (self.bands.first() + stage.clone()).min(self.bands.last())
    }

    /// When a step of the band computes a plane.
    pub(super) fn runs(&self, plane: &IntExpr) -> Vec<IntExpr> {
        let (low, high) = self.domain(0);
        vec![self.bands.last() - 1 - self.step(), plane.clone() - low, high - 1 - plane.clone()]
    }
}
