//! Where strips and blocks lie, and in them the rows of warps and the columns of lanes; what is computed at a position.

use super::lags::{Around, Growth, Source, around, source};
use super::tile::Sizes;
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Binding, Range, bound};
use crate::strategy::bands::{self, Bands};
use polyhedral::domain::Interval;
use polyhedral::program::{FieldId, Program, Statement};

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

/// Positions that are unrolled for the cells of links at most.
const MOST_UNROLLED: i64 = 9;

/// The bands of tiles of these sizes. What cannot be divided into bands is not taken.
pub(super) fn bands(program: &Program, sizes: Sizes) -> Bands {
    let bands::Carried { levels, spare } = bands::carried(program).unwrap_or_default();
    Bands { depth: sizes.depth(), levels, spare }
}

/// A kernel for bands of up to [`Sizes::depth`] steps.
pub(super) struct Team<'a> {
    pub(super) program: &'a Program,
    pub(super) bands: Bands,
    pub(super) sizes: Sizes,
    /// How far statements read, per dimension. Coefficients, too: of them a block has the rows and columns that it has of the field that
    /// it needs most of.
    pub(super) reach: Vec<Around>,
    /// Whether it is for grids narrower than a strip.
    pub(super) narrow: bool,
}

impl<'a> Team<'a> {
    pub(super) fn new(program: &'a Program, sizes: Sizes, narrow: bool) -> Self {
        Team { program, bands: bands(program, sizes), sizes, reach: around(program), narrow }
    }
}

impl Team<'_> {
    /// How many statements, each of a field of its own, a step has.
    pub(super) fn statements(&self) -> usize {
        self.program.statements.len()
    }

    /// The field of a statement.
    pub(super) fn field(&self, statement: usize) -> FieldId {
        self.program.statements[statement].target
    }

    /// The points along a dimension that statements compute, those between them included: the first one, and the one after the last.
    pub(super) fn domain(&self, d: usize) -> (IntExpr, IntExpr) {
        self.hull(d, |domain, _| domain)
    }

    /// The columns that statements compute and those that they read beside them: the first one, and the one after the last.
    pub(super) fn around(&self) -> (IntExpr, IntExpr) {
        self.hull(1, |domain, (left, right)| Interval {
            low: domain.low.shifted(-left),
            high: domain.high.shifted(right),
        })
    }

    /// The hull of intervals of all statements, by the domain of each and how far it reads; all of them grow with the grid.
    fn hull(&self, d: usize, of: impl Fn(Interval, (i64, i64)) -> Interval) -> (IntExpr, IntExpr) {
        let all = || self.program.statements.iter().map(|own| of(own.domain[d], reads_beside(own, d)));
        let low = all().map(|interval| interval.low).min_by_key(|low| low.offset);
        let high = all().map(|interval| interval.high).max_by_key(|high| high.offset);
        let [low, high] = [low, high].map(|end| end.map_or(int(0), |end| bound(end, d)));
        (low, high)
    }

    /// Columns before a statement's first one and behind its last one, among those around.
    pub(super) fn boundary(&self, statement: usize) -> (i64, i64) {
        let (first, end) = self.around();
        let domain = self.program.statements[statement].domain[1];
        let [left, right] = [bound(domain.low, 1).minus(&first), end.minus(&bound(domain.high, 1))];
        (left.unwrap_or(0), right.unwrap_or(0))
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
        let (_, right) = self.ghosts();
        (self.sizes.columns() - self.ghosts_on_the_left() - right) / self.alignment() * self.alignment()
    }

    /// Columns of a strip that are its neighbours', on the left and on the right.
    fn ghosts(&self) -> (i64, i64) {
        self.reach[1].ghosts(self.sizes.depth())
    }

    /// Columns of a strip before its own ones, so many that strips of a grid begin where accesses of several elements do.
    pub(super) fn ghosts_on_the_left(&self) -> i64 {
        (self.ghosts().0 + self.alignment() - 1) / self.alignment() * self.alignment()
    }

    /// Of what strips begin at a multiple: elements of an access, where a strip has so many of its own.
    pub(super) fn alignment(&self) -> i64 {
        let bytes =
            (0..self.statements()).map(|statement| self.program.field(self.field(statement)).element.bytes());
        let of_an_access = 16 / bytes.min().unwrap_or(4) as i64;
        let (left, right) = self.ghosts();
        let own = self.sizes.columns() - left - right;
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

    /// Rows that a step goes back in the stream.
    pub(super) fn up(&self) -> i64 {
        self.reach[0].high.of_a_step
    }

    /// Rows that a statement's field is behind the first one.
    pub(super) fn behind(&self, statement: usize) -> i64 {
        let Around { high, .. } = &self.reach[0];
        high.most_beside() - high.beside[statement]
    }

    /// Positions from one warp to the next one: as few as let it take what the one before has left one position before.
    /// One more, for which a link has room, where all warps then find a row in the same cell of their links.
    pub(super) fn skew(&self) -> i64 {
        let least = self.up() * self.sizes.steps + 2;
        least + i64::from(self.turns().is_some() && (least + 1) % LINK_ROWS == 0)
    }

    /// Rows that a warp has of a level. All fields have as many, so that all are in the same registers after as many positions.
    /// A few more than it keeps, which take no register, where all are then in the same cells of links, too: these are constants.
    pub(super) fn rows_of_ring(&self) -> i64 {
        let turns = self.turns().filter(|_| self.skew() % LINK_ROWS == 0);
        turns.unwrap_or_else(|| self.kept_rows())
    }

    /// As many rows as it keeps, and some more: a multiple of those of a link, if so many positions can be unrolled.
    fn turns(&self) -> Option<i64> {
        let rows = (self.kept_rows() + LINK_ROWS - 1) / LINK_ROWS * LINK_ROWS;
        (rows <= MOST_UNROLLED).then_some(rows)
    }

    /// Rows that a warp keeps of a level: those that the next level is computed from, or other fields of the same one, and, where steps
    /// read two levels, those from the row that the level after the next one is computed from, and that is left with the last level.
    fn kept_rows(&self) -> i64 {
        let rows = (0..self.statements()).map(|statement| self.rows_of(statement)).max().unwrap_or(1);
        if self.two_levels() { rows.max(2 * self.up() + 1).max(self.up() + 2) } else { rows }
    }

    /// Rows of a level of the field `j` of a statement that other rows are computed from. The newest is `U + d_k - d_j` ahead of the one that
    /// statement `k` computes from it, and `d_k - d_j` if it is of the same step; the row that is copied on is `U` behind the newest.
    pub(super) fn rows_of(&self, field: usize) -> i64 {
        let mut rows = self.up() + 1;
        for (reader, statement) in self.program.statements.iter().enumerate() {
            for read in &statement.reads {
                let Source::Field(of, same_step) = source(self.program, read) else { continue };
                if of == field {
                    let ahead = if same_step { 0 } else { self.up() };
                    rows = rows.max(ahead + self.behind(reader) - self.behind(field) - read.offset[0] + 1);
                }
            }
        }
        rows
    }

    /// Whether steps read two levels.
    pub(super) fn two_levels(&self) -> bool {
        self.bands.levels > 1
    }

    /// From the position at which a row is the newest of the first level of the first field to that at which the last warp stores it of a
    /// statement's field.
    pub(super) fn stored_after(&self, statement: usize) -> i64 {
        self.up() * self.sizes.steps + self.skew() * (self.sizes.warps - 1) + 1 + self.behind(statement)
    }

    /// The same of the field that is stored last.
    pub(super) fn all_stored_after(&self) -> i64 {
        (0..self.statements()).map(|statement| self.stored_after(statement)).max().unwrap_or(1)
    }

    /// Points before a block's own ones, and behind them, that it needs so many steps before the last one.
    pub(super) fn more(&self, of: Needed, steps: i64, d: usize) -> (i64, i64) {
        let more = |growth: &Growth| {
            let beside = match of {
                Needed::Own => 0,
                Needed::Field(statement) => growth.beside[statement],
                Needed::Coefficient => growth.most_beside(),
            };
            steps * growth.of_a_step + beside
        };
        (more(&self.reach[d].low), more(&self.reach[d].high))
    }

    /// What a block needs of a field in dimension `d` of the level after so many stages; 0 is what is loaded.
    fn interval(&self, of: Needed, stage: &IntExpr, d: usize) -> Range {
        let Around { low, high } = &self.reach[d];
        let (own, depth) = (self.own(d), self.sizes.depth());
        if d == 1 && self.narrow {
            let first = self.around().0;
            return Range { low: first.clone(), high: first + (self.sizes.columns() - 1) };
        }
        let (before, behind) = self.more(of, depth, d);
        let needed = Range {
            low: own.clone() + stage.clone() * low.of_a_step - before,
            high: own - stage.clone() * high.of_a_step + (self.width(d) - 1 + behind),
        };
        if d == 0 {
            return needed;
        }
        let (first, end) = self.around();
        Range { low: needed.low.max(first), high: needed.high.min(end - 1) }
    }

    /// The points of a block's own.
    pub(super) fn owned(&self) -> Vec<Range> {
        (0..2).map(|d| self.interval(Needed::Own, &int(self.sizes.depth()), d)).collect()
    }

    /// A row and its columns, where it is one of those.
    pub(super) fn row(&self, of: Needed, stage: &IntExpr, row: &IntExpr) -> Vec<Range> {
        let rows = self.interval(of, stage, 0);
        vec![
            Range { low: rows.low.max(row.clone()), high: rows.high.min(row.clone()) },
            self.interval(of, stage, 1),
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

    /// Rows before those of a field of which it needs none besides, of the field of which the first row is loaded first.
    pub(super) fn earlier(&self) -> i64 {
        let low = &self.reach[0].low;
        let of_fields =
            (0..self.statements()).map(|statement| low.beside[statement] - self.behind(statement));
        let of_coefficients = (!self.coefficients().is_empty()).then(|| low.most_beside());
        of_fields.chain(of_coefficients).max().unwrap_or(0)
    }

    /// The first position: some later that row enters.
    pub(super) fn first_position(&self) -> IntExpr {
        self.interval(Needed::Own, &int(0), 0).low - (self.earlier() + 1 + AHEAD)
    }

    /// The last position: then the last warp leaves its last row.
    pub(super) fn last_position(&self) -> IntExpr {
        self.interval(Needed::Own, &int(self.sizes.depth()), 0).high.min(self.domain(0).1 - 1)
            + self.all_stored_after()
    }

    /// The newest row of the first level of a warp, of the first field.
    pub(super) fn newest(&self) -> IntExpr {
        var(POSITION) - var(MEMBER) * self.skew()
    }

    /// The row that a warp has computed of a statement's field of the level after so many of its steps.
    pub(super) fn row_after(&self, statement: usize, steps: &IntExpr) -> IntExpr {
        self.newest() - steps.clone() * self.up() - self.behind(statement)
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

    /// When a step of the band computes a row of a statement.
    pub(super) fn runs(&self, statement: usize, row: &IntExpr) -> Vec<IntExpr> {
        let rows = self.program.statements[statement].domain[0];
        let (low, high) = (bound(rows.low, 0), bound(rows.high, 0));
        vec![self.bands.last() - 1 - self.step(), row.clone() - low, high - 1 - row.clone()]
    }
}

/// Whose points of a level a block needs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Needed {
    /// Its own.
    Own,
    /// Those of the field of a statement.
    Field(usize),
    /// Those of coefficients: of the field of which it needs most.
    Coefficient,
}

/// How far a statement reads along a dimension, towards smaller and towards larger indices.
pub(super) fn reads_beside(statement: &Statement, d: usize) -> (i64, i64) {
    let farthest =
        |sign: i64| statement.reads.iter().map(|read| sign * read.offset[d]).max().unwrap_or(0).max(0);
    (farthest(-1), farthest(1))
}
