//! Rows of a nest that are one sum each, one after the other, where vectors have four doubles: a row's whole eights are added up lane by
//! lane in two registers, and what is left of it in order. Offsets and indices are checked as they are read, so that all is read once; or
//! before, for a group that lies in the cache meanwhile, where rows are short and of many lengths, and each test is felt.

use super::group::{Group, Put};
use crate::analysis::Level;
use crate::emit::emitter::{At, Emitter};
use crate::emit::indices::IndexCheck;
use crate::emit::stage::{Stage, Sums, Terms};
use crate::emit::terms::name_of;
use crate::program::{BLOCK, LANES, Scalar};
use c_tree::{Block, Expr as C, Stmt, call, int, name};

/// Rows of which nothing was checked; `listed` puts one aside that is very long, `stop` notes that something is wrong, and ends the share.
/// None where a row is anything but one sum of terms that lie next to each other.
pub(super) fn rows<'p>(
    emitter: &mut Emitter<'p>,
    at: &At<'p>,
    put: &Put<'p>,
    (offsets, scalar, length): (&C, Scalar, &C),
    [first, end]: [C; 2],
    (listed, stop): (&Block, &Block),
) -> Option<Block> {
    let (body, fits) = emitter.block(|emitter| {
        let mut fits = false;
        emitter.each(Level::SEQUENTIAL, first, end, |emitter, row| {
            let own = Group::of_row(emitter, (at, put), (offsets, scalar), row);
            let [from, to] = own.elements.clone();
            let wrong = call("tw_wrong_row", [from.clone(), to.clone(), own.offset(length.clone())]);
            emitter.push(Stmt::when(wrong, stop.clone()));
            // Long rows are sums of several blocks.
            let (long, found) = emitter.block(|emitter| {
                let (rows, found, _) = own.one_by_one(emitter, listed);
                for check in &found {
                    let inside = check.inside(&own.elements);
                    emitter.push(Stmt::when(inside.is(C::Bool(false)), stop.clone()));
                }
                rows.into_iter().for_each(|statement| emitter.push(statement));
                found
            });
            let (short, known) = emitter.block(|emitter| own.sum(emitter, length, Some(stop)));
            fits = known.is_some_and(|known| known == found);
            emitter.push(Stmt::choose((to - from).le(BLOCK), short, long));
        });
        fits
    });
    fits.then_some(body)
}

/// Rows of one block each, with nothing to be checked but `checks`, which was done.
pub(super) fn checked_rows<'p>(
    emitter: &mut Emitter<'p>,
    at: &At<'p>,
    put: &Put<'p>,
    (offsets, scalar, length): (&C, Scalar, &C),
    [first, end]: [C; 2],
    checks: &[IndexCheck],
) -> Option<Block> {
    let (body, fits) = emitter.block(|emitter| {
        let mut fits = false;
        emitter.each(Level::SEQUENTIAL, first, end, |emitter, row| {
            let own = Group::of_row(emitter, (at, put), (offsets, scalar), row);
            fits = own.sum(emitter, length, None).is_some_and(|known| known == checks);
        });
        fits
    });
    fits.then_some(body)
}

impl<'p, 'a> Group<'p, 'a> {
    /// A row alone.
    fn of_row(
        emitter: &mut Emitter<'p>,
        (at, put): (&'a At<'p>, &'a Put<'p>),
        (offsets, scalar): (&'a C, Scalar),
        row: C,
    ) -> Self {
        let rows = [row.clone(), row + 1];
        let mut own = Group { at, put, offsets, scalar, rows, elements: [int(0), int(0)] };
        own.elements = own.rows.clone().map(|row| emitter.bind(Scalar::I64, own.offset(row)));
        own
    }

    /// The only row, of one block; also the checks of its indices, which are done as they are read where `stop` says what follows if one is
    /// wrong, and were done before where it does not.
    fn sum(&self, emitter: &mut Emitter<'p>, length: &C, stop: Option<&Block>) -> Option<Vec<IndexCheck>> {
        let ([row, _], [from, to]) = (self.rows.clone(), self.elements.clone());
        let (terms, sum, lanes) = (emitter.fresh("terms"), emitter.fresh("sum"), emitter.fresh("lanes"));
        let stage = Terms::new(name(terms), from.clone(), to.clone(), self.offset(length.clone()));
        let stage = if stop.is_none() { stage.checked() } else { stage };
        let (_, grouped) = self.row(emitter, &row, Stage::Terms(Box::new(stage)), self.put);
        let Stage::Terms(own) = grouped.stage else { return None };
        let (made, found) = (own.made()?, grouped.found);
        let bounds = [self.offset(row.clone()), self.offset(row.clone() + 1)];
        let stage = Stage::Sums(Box::new(Sums { sum: name(&sum), bounds, found: 0, fits: true }));
        let (rest, grouped) = self.row(emitter, &row, stage, self.put);
        if !(grouped.found.is_empty() && grouped.stage.is_one_sum()) {
            return None;
        }
        let ([place, _], (one, term)) = (&made.places, &made.one);
        let (index, elements) = (name_of(place)?, to - from);
        let whole = (place.clone() + LANES).le(elements.clone());
        made.declared.into_iter().for_each(|statement| emitter.push(statement));
        // Of no terms -0, which leaves the prefix what it is.
        let start = elements.clone().gt(0).select(C::f64(0.0), C::f64(-0.0));
        emitter.push(Stmt::declare("double", sum.clone(), start));
        let mut eight = made.all.clone();
        eight.push(Stmt::assign(name(&lanes), call("TW_ADD_F64", [name(&lanes), made.eight.clone()])));
        let eights = Block::from([
            Stmt::declare("tw_f64x8", lanes.clone(), call("TW_ALL_F64", [C::f64(0.0)])),
            Stmt::go_on(index, whole.clone(), LANES, eight),
            Stmt::assign(name(&sum), call("TW_SUM_F64", [name(&lanes)])),
        ]);
        emitter.push(Stmt::when(whole, eights));
        let mut one = one.clone();
        one.push(Stmt::assign(name(&sum), name(&sum) + term.clone()));
        emitter.push(Stmt::go_on(index, place.clone().lt(elements), 1, one));
        if let Some(stop) = stop {
            emitter.push(Stmt::when(made.out, stop.clone()));
        }
        rest.into_iter().for_each(|statement| emitter.push(statement));
        Some(found)
    }
}
