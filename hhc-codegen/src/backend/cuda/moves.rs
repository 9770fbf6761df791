//! The cells that stay in a sliding window move to its front.
//!
//! A thread moves the same columns of its lines in each sub-tile: which, is computed once, in a way that keeps the compiler from
//! dividing anew in each of them.

use super::printer::Printer;
use super::text::{barrier, once, thread, unrolled, unrolled_by};
use c_tree::{Block, Expr, Stmt, int, name, var};

/// Lines that a thread moves one after the other without a loop, at most.
const MOST_UNROLLED: i64 = 16;

/// How the threads share what moves.
struct Share {
    /// Cells by which the window slides, cells that stay, and cells of a line.
    size: i64,
    kept: i64,
    extent: i64,
    /// Columns that move at once, and lines that do.
    columns: i64,
    lines: i64,
}

impl Printer<'_> {
    fn share(&self) -> Option<Share> {
        let (window, threads) = (self.staging.window, self.staging.threads.count());
        let (Some(size), kept @ 1..) = (window.slide, window.kept) else { return None };
        let extent = window.extent[self.dimension() - 1];
        let columns = kept.min(size).min(threads);
        Some(Share { size, kept, extent, columns, lines: threads / columns })
    }

    /// What is computed before the first sub-tile: `moved_line`, `moved_column`.
    pub(super) fn before_moves(&self) -> Block {
        let Some(share) = self.share() else { return Block::new() };
        let threads = &self.staging.threads;
        let number = (1..self.dimension())
            .fold(thread(threads, 0), |number, d| number * threads.per_dimension[d] + thread(threads, d));
        let mut body = Block::new();
        body.push(Stmt::constant("int", "thread", number));
        body.push(Stmt::constants(
            "int",
            [
                ("moved_line".to_string(), once(var("thread") / share.columns)),
                ("moved_column".to_string(), once(var("thread") % share.columns)),
            ],
        ));
        body
    }

    /// The moves.
    pub(super) fn moves(&self) -> Block {
        let mut body = Block::new();
        let Some(Share { size, kept, extent, columns, lines }) = self.share() else { return body };
        body.comment("the cells that stay in the window move to its front");
        let fields: Vec<usize> = (0..self.program.fields.len()).collect();
        let all_lines = |field: usize| self.slots(field) * self.staging.window.cells() / extent;
        // A pass moves no cell to a place from which another one has to move.
        let pass = |first: &Expr, within: Option<Expr>| -> Block {
            let mut pass = Block::new();
            for &field in &fields {
                let count = (all_lines(field) + lines - 1) / lines;
                let rest = all_lines(field) - (count - 1) * lines;
                let line = |k: Expr| var("moved_line") * extent + first + k * (lines * extent);
                let moved = |k: Expr| {
                    let mut block = Block::from(Stmt::constant("int", "w", line(k)));
                    let cells = [name(self.array(field)), var("w"), var("w") + size];
                    block.push(Stmt::call("TW_MOVE", cells));
                    block
                };
                let takes_part = |most: i64| var("moved_line").lt(most);
                let both = |most: i64| match &within {
                    Some(within) => takes_part(most).and(within.clone()),
                    None => takes_part(most),
                };
                if count > 1 {
                    let each = Stmt::count("int", "k", 0, count - 1, moved(var("k")));
                    let inner = if count <= MOST_UNROLLED { unrolled(each) } else { unrolled_by(4, each) };
                    pass.push(Stmt::when(both(lines), inner));
                }
                pass.push(Stmt::when(both(rest), moved(int(count - 1))));
            }
            pass
        };
        if columns == kept {
            body.extend(pass(&var("moved_column"), None));
            body.push(barrier());
            return body;
        }
        // Several passes: no more columns at once than leave, nor than there are threads.
        let to = var("to") + var("moved_column");
        let mut passes = pass(&to, Some(to.clone().lt(kept)));
        passes.push(barrier());
        body.push(Stmt::each("int", "to", 0, var("to").lt(kept), columns, passes));
        body
    }
}
