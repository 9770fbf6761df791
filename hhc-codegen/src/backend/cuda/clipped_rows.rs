//! Rows of sub-tiles that the grid, or the run, cuts.
//!
//! Dimension 0 and time cut whole rows, and all threads of a block alike; the other dimensions cut columns, each of one
//! thread. Most rows of a cut sub-tile are whole all the same: these take the code of full sub-tiles, and a word of bits
//! says of each row whether it does. The others go from the first point on the grid to the last, a few at once.

use super::super::points::{max, min};
use super::cells::{cell_by, cell_of};
use super::full_rows::FullRow;
use super::printer::Printer;
use super::text::{ends_of_time, here, thread, unrolled_by};
use c_tree::{BinaryOp, Block, Expr, Stmt, all, flag, int, name, truth, var};

/// Points of a row that the grid cuts, at once, at most.
const MOST_AT_ONCE: i64 = 4;

/// Rows for which one word has bits; an `int` without its sign.
const ROWS_OF_A_WORD: usize = 31;

fn word(number: usize) -> (String, i64) {
    (format!("unclipped{}", number / ROWS_OF_A_WORD), 1 << (number % ROWS_OF_A_WORD))
}

/// A value that is asked for in clipped rows only: whatever is computed from it is computed there.
fn only_here(name: String) -> Expr {
    here(var(name))
}

impl Printer<'_> {
    /// Whether each thread has one column of each row, so that the words of bits hold for columns, too.
    pub(super) fn columns_alone(&self) -> bool {
        let threads = &self.staging.threads.per_dimension;
        let mut boxes = self.staging.local.rows.iter().flat_map(|row| &row.boxes);
        boxes.all(|bounds| (1..self.dimension()).all(|d| bounds[d].1 - bounds[d].0 < threads[d]))
    }

    /// The declarations of the words of bits: a bit is set where all points of the thread's row are computed, and as in a full
    /// sub-tile.
    pub(super) fn unclipped_rows(&self, rows: &[FullRow<'_>]) -> Block {
        let mut body = Block::new();
        let words = rows.len().div_ceil(ROWS_OF_A_WORD);
        let mut bits = Block::new();
        for index in 0..words {
            body.push(Stmt::declare("int", word(index * ROWS_OF_A_WORD).0, -1));
            bits.push(Stmt::assign(name(word(index * ROWS_OF_A_WORD).0), int(0)));
        }
        for (number, row) in rows.iter().enumerate() {
            let (word, bit) = word(number);
            bits.push(Stmt::when(self.is_whole(row), Stmt::Update(name(word), "|=", int(bit))));
        }
        let columns = self.columns_alone();
        let index = |d: usize| Stmt::constant("int", format!("i{d}"), thread(&self.staging.threads, d));
        let mut cut = Block::new();
        cut.extend((1..self.dimension()).filter(|_| columns).map(index));
        cut.extend(bits);
        body.comment("rows that are as those of a full sub-tile are, a bit each");
        body.push(Stmt::when(!flag("whole"), cut));
        body
    }

    /// Whether a row is as in a full sub-tile.
    pub(super) fn is_unclipped(&self, number: usize) -> Expr {
        let (word, bit) = word(number);
        Expr::binary(BinaryOp::BitAnd, var(word), int(bit)).is_not(0)
    }

    /// The same, of a sub-tile that is not full: whether the row and the one that computes it again exist, whether it lies on
    /// the grid.
    fn is_whole(&self, of: &FullRow<'_>) -> Expr {
        let FullRow { row, moves, group, .. } = of;
        let domain = &self.program.statements[row.statement].domain[0];
        let [begin, end] = ends_of_time().map(var);
        let time = group + row.step;
        let last_time = if of.again.is_some() { time + moves.left_out.groups } else { time };
        let [low, high] = [domain.low, domain.high].map(|bound| cell_of(bound, 0));
        let (first, last) = of.cells[0];
        let on_grid = low.le(first).and(high.gt(last));
        let column = if self.columns_alone() { self.column_is_there(of, &var) } else { truth(true) };
        begin.le(time).and(end.gt(last_time)).and(on_grid).and(column)
    }

    /// Whether the thread's column is one of the domain.
    pub(super) fn column_is_there(&self, of: &FullRow<'_>, value: &dyn Fn(String) -> Expr) -> Expr {
        let domain = &self.program.statements[of.row.statement].domain;
        all((1..self.dimension()).map(|d| {
            let cell = || var(format!("i{d}")) + of.cells[d].0;
            let [low, high] = [domain[d].low, domain[d].high].map(|bound| cell_by(bound, d, value));
            cell().ge(low).and(cell().lt(high))
        }))
    }

    /// A row that is not as in a full sub-tile, whose `column` is known. A later row computes `again` what there is
    /// of such columns.
    pub(super) fn clipped_row(&self, of: &FullRow<'_>, again: Expr, placed: Block) -> Stmt {
        let FullRow { row, moves, group, .. } = of;
        let domain = &self.program.statements[row.statement].domain[0];
        let threads = &self.staging.threads;
        let (first, last) = of.cells[0];
        let parts = threads.per_dimension[0];
        let part = of.part(parts);
        let begin = thread(threads, 0) * part + first;
        let end = if parts == 1 { int(last + 1) } else { min(&begin + part, int(last + 1)) };
        let [low, high] = [domain.low, domain.high].map(|bound| cell_by(bound, 0, &only_here));
        let [begin_step, end_step] = ends_of_time().map(only_here);
        let time = group + row.step;

        let mut body = placed;
        let covered = of.again.as_ref().map(|covered| covered[0].unwrap_or(of.cells[0]));
        if let Some((first, _)) = covered {
            let later = end_step.clone().gt(time + moves.left_out.groups);
            let first = again.and(later).select(first, var("TW_FAR"));
            body.push(Stmt::constant("int", "again_first", first));
        }
        body.push(Stmt::declare("int", "at", max(begin, low)));
        body.push(Stmt::constant("int", "to", min(end, high)));
        let at = || var("at");
        let most = if part >= MOST_AT_ONCE { of.most.min(MOST_AT_ONCE) } else { 1 };
        for count in [most, 1].into_iter().take(if most > 1 { 2 } else { 1 }) {
            let cell = var("column") + at() * self.staging.window.stride(0);
            let to = self.goes_to(of, 0, Some(at() * var("stride0")));
            let ends = match covered {
                Some((_, last)) => [truth(true), var("again_first") - at(), int(last) - at()],
                None => [truth(false), int(0), int(0)],
            };
            let indices = self.indices_at(of, at());
            let arguments = self.given(of).into_iter().chain(indices).chain([cell, to]).chain(ends);
            let update = Expr::instance(self.update_name(row.statement), [int(count)], arguments);
            let each = Stmt::go_on("at", (at() + count).le(var("to")), count, Stmt::Expr(update));
            body.extend(unrolled_by(1, each));
        }
        let exists = begin_step.le(time).and(end_step.gt(time));
        Stmt::when(exists.and(self.column_is_there(of, &only_here)), body)
    }
}
