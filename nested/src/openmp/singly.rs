//! Rows of a nest that are one sum each, one after the other, where vectors have four doubles: a row's whole eights are added up lane by
//! lane in two registers, and what is left of it in order. Offsets and indices are checked as they are read, so that all is read once; or
//! before, for a group that lies in the cache meanwhile, where rows are short and each test is felt. What is left of rows whose lengths
//! cannot be foreseen is eight terms, of which some are none: no jump depends on the length then. Which way is fast is known before the
//! rows, and each has its own loop.

use super::group::{Group, Put};
use crate::analysis::Level;
use crate::emit::emitter::{At, Emitter};
use crate::emit::indices::IndexCheck;
use crate::emit::stage::{Lookups, Stage, Sums, Terms};
use crate::emit::terms::name_of;
use crate::program::{BLOCK, LANES, Scalar};
use c_tree::{Block, Expr as C, Stmt, call, int, name};

/// What rows one after the other need to know of all rows.
pub(super) struct Lengths<'a> {
    /// How many there are.
    pub(super) rows: &'a C,
    /// What is known of the lengths of the group's (`tw_lengths` of the runtime).
    pub(super) group: &'a C,
    /// The checks of their indices.
    pub(super) checks: &'a [IndexCheck],
}

/// Sequences of more numbers lie in no cache near enough to look anything up in vain, where that hides no more than the jump behind a row
/// of 8 and more, or of fewer.
const NEAR: [i64; 2] = [1 << 17, 1 << 19];

impl Lengths<'_> {
    /// Whether something holds of all sequences that are looked up in.
    fn of_all(&self, holds: impl Fn(&C) -> C) -> C {
        let first = holds(self.checks.first().map_or(&int(0), |check| &check.length));
        self.checks.iter().skip(1).fold(first, |all, check| all.and(holds(&check.length)))
    }

    /// Whether what whole eights leave of a row is computed at once.
    fn at_once(&self, near: i64) -> C {
        self.of_all(|length| {
            let list = [self.group.clone().address(), self.rows.clone(), length.clone(), int(near)];
            call("tw_at_once", list)
        })
    }

    /// Whether what is looked up lies far apart.
    fn apart(&self) -> C {
        self.of_all(|length| call("tw_apart", [self.group.clone().address(), length.clone()]))
    }

    /// Whether what is looked up lies in runs, as it does at the beginning of a row; of `all` elements it is known that they are there.
    fn in_runs(&self, [from, to]: &[C; 2], all: &C) -> C {
        let runs = |check: &IndexCheck| {
            let list = [check.indices[0].clone(), from.clone(), to.clone(), all.clone()];
            call("TW_BEGINS_WITH_RUN", list)
        };
        self.checks.iter().map(runs).reduce(C::and).unwrap_or(C::Bool(false))
    }
}

/// How a row is added up.
struct How<'a> {
    /// Whether the last terms are computed at once, where eight elements lie there.
    once: bool,
    /// What follows if an index is wrong, which is checked as it is read; it was before where there is none.
    stop: Option<&'a Block>,
    /// How what is looked up lies.
    lookups: Lookups,
}

/// Rows of which nothing was checked; `listed` puts one aside that is very long, `stop` notes that something is wrong, and ends the share.
/// None where a row is anything but one sum of terms that lie next to each other.
pub(super) fn rows<'p>(
    emitter: &mut Emitter<'p>,
    at: &At<'p>,
    put: &Put<'p>,
    (offsets, scalar): (&C, Scalar),
    lengths: &Lengths<'_>,
    [first, end]: [C; 2],
    (listed, stop): (&Block, &Block),
) -> Option<Block> {
    let mut rows = |lookups: Lookups, once: bool| {
        let (body, fits) = emitter.block(|emitter| {
            let how = How { once, stop: Some(stop), lookups };
            let mut fits = false;
            emitter.each(Level::SEQUENTIAL, first.clone(), end.clone(), |emitter, row| {
                let own = Group::of_row(emitter, (at, put), (offsets, scalar), row);
                let [from, to] = own.elements.clone();
                let all = own.offset(lengths.rows.clone());
                let wrong = call("tw_wrong_row", [from.clone(), to.clone(), all]);
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
                let (short, known) = emitter.block(|emitter| own.sum(emitter, lengths.rows, &how));
                fits = known.is_some_and(|known| known == found && known == lengths.checks);
                emitter.push(Stmt::choose((to - from).le(BLOCK), short, long));
            });
            fits
        });
        fits.then_some(body)
    };
    let (once, singly) = (rows(Lookups::Anywhere, true)?, rows(Lookups::Anywhere, false)?);
    let anywhere = Stmt::choose(lengths.at_once(NEAR[0]), once, singly);
    if lengths.checks.is_empty() {
        return Some(Block::from(anywhere));
    }
    let others = Stmt::choose(lengths.apart(), rows(Lookups::Apart, false)?, [anywhere]);
    let runs = rows(Lookups::InRuns, false)?;
    let (body, ()) = emitter.block(|emitter| {
        let middle = Group::of_row(emitter, (at, put), (offsets, scalar), (first + end) / 2);
        let are_runs = lengths.in_runs(&middle.elements, &middle.offset(lengths.rows.clone()));
        emitter.push(Stmt::choose(are_runs, runs, [others]));
    });
    Some(body)
}

/// Rows of one block each, whose indices were checked, and those of eight elements behind them, which a row without a rest looks up.
pub(super) fn checked_rows<'p>(
    emitter: &mut Emitter<'p>,
    at: &At<'p>,
    put: &Put<'p>,
    (offsets, scalar): (&C, Scalar),
    lengths: &Lengths<'_>,
    [first, end]: [C; 2],
) -> Option<Block> {
    let mut rows = |once: bool| {
        let how = How { once, stop: None, lookups: Lookups::Anywhere };
        let (body, fits) = emitter.block(|emitter| {
            let mut fits = false;
            emitter.each(Level::SEQUENTIAL, first.clone(), end.clone(), |emitter, row| {
                let own = Group::of_row(emitter, (at, put), (offsets, scalar), row);
                fits = own.sum(emitter, lengths.rows, &how).is_some_and(|known| known == lengths.checks);
            });
            fits
        });
        fits.then_some(body)
    };
    Some(Block::from(Stmt::choose(lengths.at_once(NEAR[1]), rows(true)?, rows(false)?)))
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

    /// The only row, of one block; also the checks of its indices.
    fn sum(&self, emitter: &mut Emitter<'p>, rows: &C, how: &How<'_>) -> Option<Vec<IndexCheck>> {
        let ([row, _], [from, to]) = (self.rows.clone(), self.elements.clone());
        let (terms, sum, lanes) = (emitter.fresh("terms"), emitter.fresh("sum"), emitter.fresh("lanes"));
        let all = self.offset(rows.clone());
        let mut stage = Terms::new(name(terms), from.clone(), to.clone(), all.clone()).lookups(how.lookups);
        if how.stop.is_none() {
            stage = stage.checked();
        }
        let (_, grouped) = self.row(emitter, &row, Stage::Terms(Box::new(stage)), self.put);
        let Stage::Terms(own) = grouped.stage else { return None };
        let (made, found) = (own.made()?, grouped.found);
        let bounds = [self.offset(row.clone()), self.offset(row.clone() + 1)];
        let stage =
            Stage::Sums(Box::new(Sums { sum: name(&sum), from_zero: true, bounds, found: 0, fits: true }));
        let (rest, grouped) = self.row(emitter, &row, stage, self.put);
        if !(grouped.found.is_empty() && grouped.stage.is_one_sum()) {
            return None;
        }
        let ([place, _], (one, term)) = (&made.places, &made.one);
        let (index, elements) = (name_of(place)?, to - from.clone());
        let whole = (place.clone() + LANES).le(elements.clone());
        made.declared.into_iter().for_each(|statement| emitter.push(statement));
        // Of no terms -0, which leaves the prefix what it is, if that is not 0.
        let start = match &grouped.stage {
            Stage::Sums(own) if own.from_zero => C::f64(0.0),
            _ => elements.clone().gt(0).select(C::f64(0.0), C::f64(-0.0)),
        };
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
        let singly = Stmt::go_on(index, place.clone().lt(elements.clone()), 1, one);
        emitter.push(if how.once {
            let mut last = made.behind.clone();
            let left = call("TW_REST_F64", [name(&sum), made.eight.clone(), elements - place.clone()]);
            last.push(Stmt::assign(name(&sum), left));
            let eight_lie_there = (from + place.clone() + LANES).le(all);
            Stmt::choose(eight_lie_there, last, [singly])
        } else {
            singly
        });
        if let Some(stop) = how.stop {
            emitter.push(Stmt::when(made.out, stop.clone()));
        }
        rest.into_iter().for_each(|statement| emitter.push(statement));
        Some(found)
    }
}
