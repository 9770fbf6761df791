//! What a processor is asked to read before it is needed, where it cannot foresee it: rows that are looked up.

use super::emitter::{Emitter, Seq, View};
use crate::program::Scalar;
use c_tree::{Expr as C, Stmt, int, var};

/// How many rows before it is used a row is asked for.
const ROWS: i64 = 8;
/// Bytes that are read at once.
const LINE: i64 = 64;

impl<'p> Emitter<'p> {
    /// Asks for a row further on, where that lies at a place that is looked up.
    pub(super) fn row_ahead(&mut self, rows: &Seq<'p>, row: &C, end: &C) {
        let next = row.clone() + ROWS;
        let (block, found) = self.maybe(|emitter| {
            let View::Sequence(own) = (rows.at)(emitter, next.clone()) else { return false };
            let column = emitter.fresh("c");
            let (inner, element) = emitter.block(|emitter| (own.at)(emitter, var(&column)));
            let View::Scalar(C::Index(array, place), scalar, _) = element else { return false };
            if !emitter.is_looked_up(&place) || !inner.is_empty() {
                return false;
            }
            let ask = Stmt::call("TW_NEXT", [array.at(*place).address(), int(0)]);
            let step = LINE / scalar.bytes().max(1) as i64;
            let length = emitter.bind(Scalar::I64, own.length);
            emitter.push(Stmt::each("int64_t", column.clone(), 0, var(&column).lt(length), step, [ask]));
            true
        });
        if found {
            self.push(Stmt::when(next.lt(end), block));
        }
    }

    /// Whether a place depends on what is read.
    fn is_looked_up(&self, place: &C) -> bool {
        let mut found = false;
        place.walk(&mut |part| match part {
            C::Index(..) => found = true,
            C::Name(..) if !found && !self.is_invariant(part) => {
                let known = self.known.iter().flatten().find(|(_, named)| named == part);
                found |= known.is_some_and(|(value, _)| self.is_looked_up(value));
            }
            _ => {}
        });
        found
    }
}
