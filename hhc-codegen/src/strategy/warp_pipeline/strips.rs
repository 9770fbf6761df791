//! Where strips and blocks lie, and in them the rows of warps and the columns of lanes; what is computed at a position.

use super::sizes::Sizes;
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Binding, Range, bound};
use crate::strategy::bands::{self, Bands};
use polyhedral::program::{FieldId, Program};

pub(super) const BLOCK_NAMES: [&str; 2] = ["b0", "b1"];

/// The position of the stream.
pub(super) const POSITION: &str = "c";

/// The warp.
pub(super) const MEMBER: &str = "w";

/// The first column of a strip.
pub(super) const FIRST_COLUMN: &str = "x0";

/// Rows that are loaded ahead of the one that enters the pipeline.
pub(super) const AHEAD: i64 = 2;

/// Rows of a link: the one that is taken, and those ahead of it.
pub(super) const LINK_ROWS: i64 = 1 + AHEAD;

/// The bands of tiles of these sizes. What cannot be divided into bands is not taken.
pub(super) fn bands(program: &Program, sizes: Sizes) -> Bands {
    Bands { depth: sizes.depth(), levels: bands::levels_of_bands(program).unwrap_or(1) }
}

/// A kernel for bands of up to [`Sizes::depth`] steps.
pub(super) struct Team<'a> {
    pub(super) program: &'a Program,
    pub(super) bands: Bands,
    pub(super) sizes: Sizes,
    /// How far the statement reads, per dimension: towards smaller and larger indices. Coefficients, too: of them a block has the
    /// rows and columns that it has of the field.
    pub(super) reach: Vec<(i64, i64)>,
    pub(super) field: FieldId,
    /// Whether it is for grids narrower than a strip.
    pub(super) narrow: bool,
}

impl Team<'_> {
    /// The domain along a dimension: its first point, and the one after its last.
    pub(super) fn domain(&self, d: usize) -> (IntExpr, IntExpr) {
        let interval = self.program.statements[0].domain[d];
        (bound(interval.low, d), bound(interval.high, d))
    }

    /// The columns of the domain and those that it reads beside it: the first one, and the one after the last.
    pub(super) fn around(&self) -> (IntExpr, IntExpr) {
        let ((low, high), (left, right)) = (self.domain(1), self.reach[1]);
        (low - left, high + right)
    }

    /// By how much a grid is wider than a strip.
    pub(super) fn wider(&self) -> IntExpr {
        let (low, high) = self.around();
        high - low - self.sizes.columns()
    }

    /// Points of a block's own along a dimension.
    pub(super) fn width(&self, d: usize) -> i64 {
        if d == 0 {
            return self.sizes.rows;
        }
        let (low, high) = self.reach[d];
        let rest = self.sizes.columns() - self.sizes.depth() * (low + high);
        let beside = self.ghosts_on_the_left() - self.sizes.depth() * low;
        (rest - beside) / self.alignment() * self.alignment()
    }

    /// Columns of a strip before its own ones, so many that strips of a grid begin where accesses of several elements do.
    pub(super) fn ghosts_on_the_left(&self) -> i64 {
        let ghosts = self.sizes.depth() * self.reach[1].0;
        (ghosts + self.alignment() - 1) / self.alignment() * self.alignment()
    }

    /// Of what strips begin at a multiple: elements of an access, where a strip has so many of its own.
    pub(super) fn alignment(&self) -> i64 {
        let of_an_access = 16 / self.program.field(self.field).element.bytes() as i64;
        let (low, high) = self.reach[1];
        let own = self.sizes.columns() - self.sizes.depth() * (low + high);
        let useful = self.sizes.points % of_an_access == 0 && own >= 2 * of_an_access;
        if useful { of_an_access } else { 1 }
    }

    /// The first point of those that blocks share out.
    pub(super) fn origin(&self, d: usize) -> IntExpr {
        if d == 0 { self.domain(0).0 } else { self.around().0 }
    }

    /// The first point of a block's own.
    pub(super) fn own(&self, d: usize) -> IntExpr {
        if self.narrow && d == 1 {
            self.origin(1)
        } else {
            var(BLOCK_NAMES[d]) * self.width(d) + self.origin(d)
        }
    }

    pub(super) fn down(&self) -> i64 {
        self.reach[0].0
    }

    pub(super) fn up(&self) -> i64 {
        self.reach[0].1
    }

    /// Positions from one warp to the next one: as few as let it take what the one before has left one position before.
    /// One more, for which a link has room, where all warps then find a row in the same cell of their links, and registers, too,
    /// are where they were after so many positions.
    pub(super) fn skew(&self) -> i64 {
        let least = self.up() * self.sizes.steps + 2;
        let same = self.rows_of_ring() == LINK_ROWS && (least + 1) % LINK_ROWS == 0;
        least + i64::from(same)
    }

    /// Rows that a warp keeps of a level: those that the next level is computed from, and, where steps read two levels, those from the
    /// row that the level after the next one is computed from, and that is left with the last level.
    pub(super) fn rows_of_ring(&self) -> i64 {
        let of_next = self.down() + self.up() + 1;
        if self.two_levels() { of_next.max(2 * self.up() + 1).max(self.up() + 2) } else { of_next }
    }

    /// Whether steps read two levels.
    pub(super) fn two_levels(&self) -> bool {
        self.bands.levels > 1
    }

    /// From the position at which a row is the newest of the first level to that at which the last warp stores it.
    pub(super) fn stored_after(&self) -> i64 {
        self.up() * self.sizes.steps + self.skew() * (self.sizes.warps - 1) + 1
    }

    /// What a block needs in dimension `d` of the level after so many stages; 0 is what is loaded.
    pub(super) fn interval(&self, stage: &IntExpr, d: usize) -> Range {
        let (low, high) = self.reach[d];
        let (own, depth) = (self.own(d), self.sizes.depth());
        if d == 1 && self.narrow {
            let first = self.around().0;
            return Range { low: first.clone(), high: first + (self.sizes.columns() - 1) };
        }
        let needed = Range {
            low: own.clone() + stage.clone() * low - depth * low,
            high: own - stage.clone() * high + (self.width(d) - 1 + depth * high),
        };
        if d == 0 {
            return needed;
        }
        let (first, end) = self.around();
        Range { low: needed.low.max(first), high: needed.high.min(end - 1) }
    }

    /// A row and its columns, where it is one of those.
    pub(super) fn row(&self, stage: &IntExpr, row: &IntExpr) -> Vec<Range> {
        let rows = self.interval(stage, 0);
        vec![
            Range { low: rows.low.max(row.clone()), high: rows.high.min(row.clone()) },
            self.interval(stage, 1),
        ]
    }

    /// So many columns of a row from one on, counted from that of the first lane.
    pub(super) fn columns(row: &IntExpr, from: i64, count: i64) -> Vec<Range> {
        let first = var(FIRST_COLUMN) + from;
        let columns = Range { low: first.clone(), high: first + (count - 1) };
        vec![Range { low: row.clone(), high: row.clone() }, columns]
    }

    /// A row, as the lanes have it.
    pub(super) fn lanes(&self, row: &IntExpr) -> Vec<Range> {
        Self::columns(row, 0, self.sizes.columns())
    }

    /// The first column of a strip, in the grid.
    pub(super) fn first_column(&self) -> Binding {
        let (first, end) = self.around();
        let value = match self.narrow {
            true => first,
            false => (self.own(1) - self.ghosts_on_the_left()).max(first).min(end - self.sizes.columns()),
        };
        let comment = "first column of the strip".to_owned();
        Binding { name: FIRST_COLUMN, value, comment }
    }

    /// The first position: some later the first row that is loaded enters.
    pub(super) fn first_position(&self) -> IntExpr {
        self.interval(&int(0), 0).low - (1 + AHEAD)
    }

    /// The newest row of the first level of a warp.
    pub(super) fn newest(&self) -> IntExpr {
        var(POSITION) - var(MEMBER) * self.skew()
    }

    /// The row that a warp has computed of the level after so many of its steps.
    pub(super) fn row_after(&self, steps: &IntExpr) -> IntExpr {
        self.newest() - steps.clone() * self.up()
    }

    /// The stage that a warp's first level is.
    pub(super) fn first_stage(&self) -> IntExpr {
        var(MEMBER) * self.sizes.steps
    }

    pub(super) fn group() -> IntExpr {
        var(bands::ROW)
    }

    /// The step of a stage.
    pub(super) fn step(&self) -> IntExpr {
        self.bands.first() + self.first_stage() + Self::group()
    }

    /// The level after so many stages of a band, or its last one, or one of the last two.
    pub(super) fn level_after(&self, stage: &IntExpr) -> IntExpr {
        self.bands.level_after(stage.clone())
    }

    /// When a step of the band computes a row.
    pub(super) fn runs(&self, row: &IntExpr) -> Vec<IntExpr> {
        let (low, high) = self.domain(0);
        vec![self.bands.last() - 1 - self.step(), row.clone() - low, high - 1 - row.clone()]
    }
}
