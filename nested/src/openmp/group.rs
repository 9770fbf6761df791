//! Some rows of a nest, as they are emitted one by one.

use crate::analysis::Level;
use crate::emit::emitter::{At, Emitter, View};
use crate::emit::indices::{Grouped, IndexCheck};
use crate::emit::stage::Stage;
use crate::program::Scalar;
use c_tree::{Block, Expr as C, Stmt, int};
use std::rc::Rc;

/// Rows with more elements than these are shared by all threads.
pub(super) const LONG: i64 = 65536;

/// What stores a row's value.
pub(super) type Put<'p> = Rc<dyn Fn(&mut Emitter<'p>, C, View<'p>) + 'p>;

/// A group of rows.
pub(super) struct Group<'p, 'a> {
    pub(super) at: &'a At<'p>,
    pub(super) put: &'a Put<'p>,
    pub(super) offsets: &'a C,
    pub(super) scalar: Scalar,
    /// The first row, and the one behind the last.
    pub(super) rows: [C; 2],
    /// Where their elements begin and end.
    pub(super) elements: [C; 2],
}

impl<'p> Group<'p, '_> {
    pub(super) fn offset(&self, place: C) -> C {
        let value = self.offsets.at(place);
        if self.scalar == Scalar::I64 { value } else { value.cast("int64_t") }
    }

    /// A row, in a block of its own.
    pub(super) fn row(
        &self,
        emitter: &mut Emitter<'p>,
        row: &C,
        stage: Stage,
        put: &Put<'p>,
    ) -> (Block, Grouped) {
        let before = Grouped { begin: self.offset(row.clone()), found: Vec::new(), done: false, stage };
        emitter.grouped = Some(before);
        let (block, ()) = emitter.block(|emitter| {
            emitter.depth += 1;
            let view = (self.at)(emitter, row.clone());
            put(emitter, row.clone(), view);
            emitter.depth -= 1;
        });
        let grouped = emitter.grouped.take();
        (
            block,
            grouped.unwrap_or(Grouped { begin: int(0), found: Vec::new(), done: true, stage: Stage::Rows }),
        )
    }

    /// Row by row; very long ones are listed. Also what is to be checked before, and whether of the offsets only those of each row are
    /// read.
    pub(super) fn one_by_one(
        &self,
        emitter: &mut Emitter<'p>,
        listed: &Block,
    ) -> (Block, Vec<IndexCheck>, bool) {
        let (rows, (found, alone)) = emitter.block(|emitter| {
            let mut known = (Vec::new(), true);
            let [first, end] = self.rows.clone();
            emitter.each(Level::SEQUENTIAL, first, end, |emitter, row| {
                let length = self.offset(row.clone() + 1) - self.offset(row.clone());
                let (short, grouped) = self.row(emitter, &row, Stage::Rows, self.put);
                known = (grouped.found, self.reads_its_offsets(&short, &row));
                let mut long = Block::from(Stmt::constant("int64_t", "row", row));
                long.extend(listed.clone());
                // Most groups have none.
                let [from, to] = self.elements.clone();
                emitter.push(Stmt::choose((to - from).gt(LONG).and(length.gt(LONG)), long, short));
            });
            known
        });
        (rows, found, alone)
    }

    fn reads_its_offsets(&self, block: &Block, row: &C) -> bool {
        let mut own = true;
        block.walk(&mut |statement| {
            statement.expressions(&mut |value| {
                value.walk(&mut |part| {
                    if let C::Index(array, place) = part
                        && **array == *self.offsets
                    {
                        own &= **place == *row || **place == row.clone() + 1;
                    }
                });
            });
        });
        own
    }
}
