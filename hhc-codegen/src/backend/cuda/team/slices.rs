//! The rows of a slice, from the arrays or to them.
//!
//! ```text
//! if the position has the plane:              what all rows ask of it
//!     if the grid has all rows:               one truth, found before the stream
//!         rows without tests
//!     else:
//!         for each row: if the grid has it    the row
//! ```

use super::super::super::bounds::non_negative;
use super::Team;
use super::columns::{Columns, Row};
use super::facts::implied;
use super::moves::Points;
use super::sums::constant;
use crate::int_expr::{IntExpr, int};
use crate::plan::Range;
use crate::storage::{Place, Transfer};
use c_tree::{Block, Expr, Stmt, all, any};

impl Team<'_> {
    /// Several rows of a slice, from the arrays or to them; `None` where they are few, where they ask different things of the position, or where
    /// their columns change with it.
    pub(super) fn slice(&self, transfer: &Transfer, rows: &[Row], known: &[IntExpr]) -> Option<Block> {
        let [first, .., last] = rows else { return None };
        let loads = self.loads_slices(transfer)?;
        let asked = |row: &Row| self.asked(transfer, row, known);
        let Asked { of_position, of_row: of_first, columns } = asked(first);
        let bounds = columns.low.iter().chain(&columns.high);
        if rows.iter().any(|row| asked(row).of_position != of_position)
            || bounds.into_iter().any(|bound| self.changes(bound))
            || (loads && !columns.all(self.strip()))
        {
            return None;
        }
        // They are linear in the number of the row.
        let mut of_all = of_first;
        of_all
            .extend(asked(last).of_row.into_iter().filter(|test| !of_all.contains(test)).collect::<Vec<_>>());
        let all_rows = match of_all.is_empty() {
            true => Vec::new(),
            false => vec![self.truth("tw_rows", &of_all)],
        };
        let aligned = || self.aligned(transfer.field);
        let moved = |rows: &[Row], points: &dyn Fn(&Row) -> Block| -> Block {
            rows.iter().map(|row| Stmt::Block(points(row))).collect()
        };
        let body = if loads {
            let whole = |row: &Row| self.through_arrays(transfer, row, &columns, Points::Whole);
            let each = |row: &Row| {
                let asked = asked(row).of_row;
                let body = self.through_arrays(transfer, row, &columns, Points::Asked);
                if asked.is_empty() {
                    body
                } else {
                    Block::from(Stmt::when(all(self.held(&asked, row)), body))
                }
            };
            let fast = all(all_rows.into_iter().chain([aligned()]));
            match self.half.get() {
                Some(_) => Block::from(Stmt::when(fast, moved(rows, &whole))),
                None => Block::from(Stmt::choose(fast, moved(rows, &whole), moved(rows, &each))),
            }
        } else {
            let stored = |rows: &[Row]| self.stored(transfer, rows, &columns);
            let each = rows.iter().map(|row| {
                let asked = asked(row).of_row;
                let body = stored(std::slice::from_ref(row));
                if asked.is_empty() {
                    Stmt::Block(body)
                } else {
                    Stmt::when(all(self.held(&asked, row)), body)
                }
            });
            match all_rows.is_empty() {
                true => stored(rows),
                false => Block::from(Stmt::choose(all(all_rows), stored(rows), each.collect::<Block>())),
            }
        };
        let moves = |test: &&IntExpr| self.in_turns.get() && implied(test, &self.moving);
        let of_position: Vec<IntExpr> = of_position.iter().filter(|test| !moves(test)).cloned().collect();
        let position = self.hold(&of_position);
        Some(if position.is_empty() { body } else { Block::from(Stmt::when(all(position), body)) })
    }

    /// What slices that move ask of the position alone, where text without tests can begin and end with it: nothing where no rows are tested.
    pub(super) fn positions_of_slices(&self) -> Vec<IntExpr> {
        if self.facts.is_empty() {
            return Vec::new();
        }
        let of_transfer = |transfer: &'_ Transfer| -> Vec<IntExpr> {
            let rows = self.rows_of(&transfer.ranges, transfer.junk.as_ref()).unwrap_or_default();
            match (&rows[..], self.loads_slices(transfer)) {
                ([first, _, ..], Some(_)) => self.asked(transfer, first, &[]).of_position,
                _ => Vec::new(),
            }
        };
        let others = [self.member.variable, self.kernel.rows.variable];
        let bounds = |test: &IntExpr| {
            let slope = self.slope(test, self.position.variable);
            slope.is_some_and(|slope| slope.abs() == 1) && !others.iter().any(|name| test.mentions(name))
        };
        self.kernel.transfers.iter().flat_map(of_transfer).filter(bounds).collect()
    }

    /// Whether a transfer loads rows into shared memory, or stores them from registers.
    fn loads_slices(&self, transfer: &Transfer) -> Option<bool> {
        match (&transfer.from.place, &transfer.to) {
            (Place::Arrays(_), to) if !self.in_registers(to) => Some(true),
            (from, Place::Arrays(_)) if self.in_registers(from) => Some(false),
            _ => None,
        }
    }

    fn changes(&self, test: &IntExpr) -> bool {
        [self.position.variable, self.kernel.rows.variable].iter().any(|name| test.mentions(name))
    }

    fn asked(&self, transfer: &Transfer, row: &Row, known: &[IntExpr]) -> Asked {
        let (tests, columns) = self.tests(&transfer.ranges, transfer.region, row, known);
        let (of_position, of_row) = tests.into_iter().partition(|test| self.changes(test));
        Asked { of_position, of_row, columns }
    }

    /// The lane's points of rows, to the arrays: whole pieces where blocks' own columns begin and end with them, and points.
    fn stored(&self, transfer: &Transfer, rows: &[Row], columns: &Columns) -> Block {
        let piece = self.piece(transfer.field);
        let point = |number: i64| {
            let number = || self.number(c_tree::int(number));
            let has = self.have(columns, &number(), &number());
            if has.is_empty() { c_tree::truth(true) } else { self.declared("bool", "tw_point", all(has)) }
        };
        let flags: Vec<Expr> = (0..self.points).map(point).collect();
        let stored = |points: Points<'_>| -> Block {
            rows.iter().map(|row| Stmt::Block(self.through_arrays(transfer, row, columns, points))).collect()
        };
        let points = stored(Points::Some(&flags));
        if piece == 1 || !self.begin_with_pieces(transfer.ranges.last(), piece) {
            return points;
        }
        let whole = all([self.aligned(transfer.field)].into_iter().chain(flags.iter().cloned()));
        let whole = self.declared("bool", "tw_whole", whole);
        let some = self.declared("bool", "tw_some", any(flags.iter().cloned()));
        let points = Block::from(Stmt::when(some, points));
        Block::from(Stmt::choose(whole, stored(Points::Whole), points))
    }

    /// Whether a block's own columns begin and end where pieces do, if its bounds are not those of the grid.
    fn begin_with_pieces(&self, columns: Option<&Range>, piece: i64) -> bool {
        let (Some(columns), Some(block)) = (columns, self.kernel.blocks.last()) else { return false };
        let first = |of: &IntExpr| of.substitute(block.variable, &int(0));
        let whole = |bound: &IntExpr| {
            let slope = self.slope(bound, block.variable);
            !bound.mentions(block.variable)
                || (slope.is_some_and(|slope| slope % piece == 0)
                    && constant(&first(bound)).is_some_and(|first| first % piece == 0))
        };
        let low = columns.low.largest_of();
        let high = columns.high.least_of().into_iter().map(|high| high + 1);
        low.into_iter().chain(high).all(|bound| whole(&bound))
    }

    /// That none of these, which do not change with the position, is negative.
    fn truth(&self, wanted: &str, of: &[IntExpr]) -> Expr {
        self.declared("bool", wanted, all(of.iter().map(non_negative)))
    }
}

/// What a transfer asks where it moves a row: of the position or the row of the group, of the row itself, and its columns.
struct Asked {
    of_position: Vec<IntExpr>,
    of_row: Vec<IntExpr>,
    columns: Columns,
}
