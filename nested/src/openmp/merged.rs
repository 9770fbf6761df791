//! Rows of a nest, dealt out by their elements: each thread has groups of rows, which are checked just before they are computed, while
//! they are in the cache. Sums are computed with a row in a lane; terms of groups of short rows all together first.

use super::group::{Group, LONG, Put};
use super::singly;
use crate::analysis::{Level, OmpSchedule};
use crate::emit::emitter::{At, Emitter, c_type};
use crate::emit::indices::{Grouped, IndexCheck};
use crate::emit::stage::{Made, Stage, Sums, Terms};
use crate::emit::terms::name_of;
use crate::emit::view::flat;
use crate::emit::wide;
use crate::emit::work::SHARED;
use crate::program::{BLOCK, LANES, Scalar};
use c_tree::{Block, Declaration, Expr as C, Stmt, call, int, name, var};
use std::rc::Rc;

/// Rows of a group at most, and their elements where there are several (`tw_group_T` of the runtime).
const GROUP: [i64; 2] = [256, 2048];
/// Rows and their elements together that caches do not hold, so that results need not be kept there.
const LARGE: i64 = 1 << 21;
/// Rows whose terms are computed before they are added up, of which the runtime knows how many are best.
const ROWS: &str = "TW_ROWS_AT_ONCE";

/// What sums of eight rows at a time need to know.
struct Lanes {
    /// How many rows there are in all.
    length: C,
    /// What is known of the lengths of the group's rows (`tw_lengths` of the runtime).
    lengths: C,
    /// The array that results go to, where it holds these alone.
    array: Option<C>,
    /// Whether caches do not hold it.
    large: C,
}

/// Groups whose rows are added up eight at a time.
struct AllAtOnce {
    declared: Vec<Stmt>,
    /// For which groups it is meant.
    groups: C,
    /// Whether a group's rows are so short that their terms are computed first.
    short: C,
    block: Block,
}

/// What is known of a group's rows once they are emitted.
struct Known {
    /// The checks of their indices.
    found: Vec<IndexCheck>,
    /// What is to be declared before all groups.
    declared: Vec<Stmt>,
    /// Whether of the offsets only those of each row are read.
    alone: bool,
    /// Whether each is one sum of terms that lie next to each other.
    is_sum: bool,
}

impl<'p> Group<'p, '_> {
    /// The rows: those that are sums eight at a time or by themselves, as vectors and lengths are, others one after the other. `listed`
    /// puts one aside that is very long, `stop` notes that something is wrong, and ends the share.
    fn rows_of_group(
        &self,
        emitter: &mut Emitter<'p>,
        (listed, stop): (&Block, &Block),
        lanes: &Lanes,
    ) -> Known {
        let (rows, found, alone) = self.one_by_one(emitter, listed);
        let mut checks = Block::new();
        for check in &found {
            let inside = check.inside(&self.elements);
            checks.push(Stmt::when(inside.is(C::Bool(false)), stop.clone()));
        }
        let mut slow = checks;
        slow.extend(rows);
        let offsets = (self.offsets, self.scalar);
        let lengths = singly::Lengths { rows: &lanes.length, group: &lanes.lengths, checks: &found };
        let rows = self.rows.clone();
        let singly = singly::rows(emitter, self.at, self.put, offsets, &lengths, rows, (listed, stop));
        let (mut declared, is_sum) = (Vec::new(), singly.is_some());
        if let Some(mut singly) = singly {
            let mut halves = var(wide::IS_HALVES);
            if let Some(fast) = self.all_at_once(emitter, &found, stop, lanes) {
                declared = fast.declared;
                slow = Block::from(Stmt::choose(fast.groups, fast.block, slow));
                let [from, to] = self.elements.clone();
                let uneven = call("tw_uneven", [lanes.lengths.clone().address(), to - from]);
                let rows = self.rows.clone();
                if let Some(rows) = singly::checked_rows(emitter, self.at, self.put, offsets, &lengths, rows)
                {
                    let mut own = Block::new();
                    let [from, to] = self.elements.clone();
                    let behind = call("tw_min", [to + LANES, self.offset(lanes.length.clone())]);
                    for check in &found {
                        let inside = check.inside(&[from.clone(), behind.clone()]);
                        own.push(Stmt::when(inside.is(C::Bool(false)), stop.clone()));
                    }
                    own.extend(rows);
                    singly = Block::from(Stmt::choose(uneven, own, singly));
                }
                halves = halves.and(fast.short.is(C::Bool(false)));
            }
            slow = Block::from(Stmt::choose(halves, singly, slow));
        }
        slow.into_iter().for_each(|statement| emitter.push(statement));
        Known { found, declared, alone, is_sum }
    }

    /// Eight rows at a time, a row in a lane. None where a row is anything but one sum of terms that lie next to each other.
    fn all_at_once(
        &self,
        emitter: &mut Emitter<'p>,
        found: &[IndexCheck],
        stop: &Block,
        put: &Lanes,
    ) -> Option<AllAtOnce> {
        let ([first, end], [from, to]) = (self.rows.clone(), self.elements.clone());
        let mut declared = Vec::new();
        let mut array = |emitter: &mut Emitter<'p>, stem: &str, count: i64| {
            let own = emitter.fresh(stem);
            let mut declaration = Declaration::array("double", own.clone(), count);
            declaration.attribute = Some("TW_ALIGNED".to_owned());
            declared.push(Stmt::Declare(vec![declaration]));
            name(own)
        };
        // Vectors behind the last term or sum may be read or written.
        let terms = array(emitter, "terms", GROUP[1] + 15 * LANES);
        let sums = array(emitter, "sums", GROUP[0] + LANES);
        let vectors = [array(emitter, "whole", LANES * LANES), array(emitter, "rest", LANES * LANES)];
        let filled = emitter.fresh("rows");
        declared.push(Stmt::uninitialised("tw_filled", filled.clone()));
        let stage = Terms::new(terms.clone(), from.clone(), to.clone(), self.offset(put.length.clone()));
        let (_, grouped) = self.row(emitter, &first, Stage::Terms(Box::new(stage)), self.put);
        let Stage::Terms(own) = grouped.stage else { return None };
        let made = own.made().filter(|_| grouped.found == found)?;
        let (rows, is_sum) = emitter.block(|emitter| {
            let mut is_sum = false;
            emitter.each(Level::SEQUENTIAL, first.clone(), end.clone(), |emitter, row| {
                let bounds = [self.offset(row.clone()), self.offset(row.clone() + 1)];
                let sum = sums.at(row.clone() - first.clone());
                let into = sum.clone();
                let result: Put<'p> = Rc::new(move |emitter: &mut Emitter<'p>, _, view| {
                    emitter.assign(std::slice::from_ref(&into), flat(&view));
                });
                let put = if put.array.is_some() { &result } else { self.put };
                let stage =
                    Stage::Sums(Box::new(Sums { sum, from_zero: false, bounds, found: 0, fits: true }));
                let (block, grouped) = self.row(emitter, &row, stage, put);
                is_sum = grouped.found.is_empty() && grouped.stage.is_one_sum();
                block.into_iter().for_each(|statement| emitter.push(statement));
            });
            is_sum
        });
        if !is_sum {
            return None;
        }
        let elements = to - from;
        let short = call("tw_short_rows", [put.lengths.clone().address(), elements.clone()]);
        let mut block = made.declared.clone();
        block.push(Stmt::choose(
            short.clone(),
            self.by_terms(emitter, &made, &terms, (&sums, &put.lengths.dot("same")))?,
            self.by_rows(emitter, &made, (&sums, &put.lengths), (&vectors, &name(filled)))?,
        ));
        block.push(Stmt::when(made.out, stop.clone()));
        block.extend(rows);
        if let Some(array) = &put.array {
            let list = [array.clone() + first.clone(), sums, end - first, put.large.clone()];
            block.push(Stmt::call("tw_put_f64", list));
        }
        Some(AllAtOnce { declared, groups: var(wide::IS_WIDE).and(elements.le(BLOCK)), short, block })
    }

    /// The terms of some rows, whatever row they are of, then their sums.
    fn by_terms(
        &self,
        emitter: &mut Emitter<'p>,
        made: &Made,
        terms: &C,
        (sums, same): (&C, &C),
    ) -> Option<Block> {
        let ([first, end], [from, _], [place, whole]) = (&self.rows, &self.elements, &made.places);
        let (start, next) = (emitter.fresh("r"), emitter.fresh("r"));
        let step = call(ROWS, [same.clone()]);
        let behind = call("tw_min", [var(&start) + step.clone(), end.clone()]);
        let mut some = Block::from(Stmt::constant("int64_t", next.clone(), behind));
        let filled =
            place.clone().lt(whole.clone()).and(place.clone().lt(self.offset(var(&next)) - from.clone()));
        let mut eight = made.all.clone();
        eight.push(Stmt::call("TW_STORE_F64", [terms.clone() + place.clone(), made.eight.clone()]));
        some.push(Stmt::go_on(name_of(place)?, filled, LANES, eight));
        let (at, count) = (self.offsets.at(var(&start)).address(), var(&next) - var(&start));
        let own = [terms.clone(), from.clone(), at, count, same.clone()];
        let sums = sums.clone() + (var(&start) - first.clone());
        let kind = c_type(self.scalar);
        some.push(Stmt::call(format!("tw_row_sums_f64_{kind}"), own.into_iter().chain([sums])));
        let mut block = made.eights.clone();
        block.extend(made.last.clone());
        block.push(Stmt::each(
            "int64_t",
            start.clone(),
            first.clone(),
            var(&start).lt(end.clone()),
            step,
            some,
        ));
        Some(block)
    }

    /// The lanes of eight rows that are not empty, then the sums of these.
    fn by_rows(
        &self,
        emitter: &mut Emitter<'p>,
        made: &Made,
        (sums, lengths): (&C, &C),
        ([whole, rest], filled): (&[C; 2], &C),
    ) -> Option<Block> {
        let ([first, end], [from, _], [place, _]) = (&self.rows, &self.elements, &made.places);
        let (start, row, lanes) = (emitter.fresh("r"), emitter.fresh("r"), emitter.fresh("lanes"));
        let (count, left) = (lengths.dot("filled"), emitter.fresh("left"));
        let ends = filled.dot("end").at(var(&row));
        let vector = |of: &C| of.clone() + (var(&row) - var(&start)) * LANES;
        let mut own = Block::from([
            Stmt::assign(place.clone(), filled.dot("begin").at(var(&row))),
            Stmt::declare("tw_f64x8", lanes.clone(), call("TW_ALL_F64", [C::f64(0.0)])),
        ]);
        let mut eight = made.all.clone();
        eight.push(Stmt::assign(name(&lanes), call("TW_ADD_F64", [name(&lanes), made.eight.clone()])));
        own.push(Stmt::go_on(name_of(place)?, (place.clone() + LANES).le(ends.clone()), LANES, eight));
        own.push(Stmt::call("TW_STORE_F64", [vector(whole), name(&lanes)]));
        let bits = call("TW_FIRST", [ends - place.clone()]);
        let mut some = Block::from(Stmt::constant("unsigned", name_of(&made.part)?, bits));
        some.extend(made.some.clone());
        some.push(Stmt::call("TW_STORE_F64", [vector(rest), made.eight.clone()]));
        own.push(Stmt::when(name(&left), some));
        let behind = call("tw_min", [var(&start) + LANES, count.clone()]).integer();
        let eight_rows = Block::from([
            Stmt::each("int64_t", row.clone(), var(&start), var(&row).lt(behind), 1, own),
            Stmt::call(
                "tw_eight_sums",
                [whole.clone(), rest.clone(), name(&left), sums.clone() + var(&start)],
            ),
        ]);
        let rows = end.clone() - first.clone();
        let kind = c_type(self.scalar);
        let at = self.offsets.at(first.clone()).address();
        let listed = [at, from.clone(), rows.clone(), count.clone(), filled.clone().address()];
        Some(Block::from([
            // All rows of whole eights alone?
            Stmt::constant("bool", left, (lengths.dot("bits") % LANES).is_not(0)),
            Stmt::call(format!("tw_filled_rows_{kind}"), listed),
            Stmt::each("int64_t", start.clone(), int(0), var(&start).lt(count.clone()), LANES, eight_rows),
            Stmt::call("tw_spread", [sums.clone(), count.clone(), filled.clone().address(), rows]),
        ]))
    }
}

impl<'p> Emitter<'p> {
    /// Rows in equal shares of rows and elements; very long ones are left, and shared by all threads afterwards.
    pub(super) fn merged(
        &mut self,
        at: &At<'p>,
        (offsets, scalar): (&C, Scalar),
        length: C,
        level: Level,
        (put, results): (&Put<'p>, Option<C>),
    ) {
        let kind = c_type(scalar);
        let slot = self.slots.scratch("long_rows", Scalar::I64);
        let room = self.bind(Scalar::I64, offsets.at(length.clone()).cast("int64_t") / LONG + 1);
        let list = self.room(slot, &room);
        self.stop_if_wrong();
        let values = length.clone() * 2 + offsets.at(length.clone()).cast("int64_t");
        let large = self.bind(Scalar::Bool, values.clone().gt(LARGE));
        let count = self.changing(Scalar::I64, "count", int(0));
        let counted = name(count.clone());
        let beyond = self.changing(Scalar::I64, "beyond", int(0));
        let mark = [name(beyond.clone()).address(), int(1), name("__ATOMIC_RELAXED")];
        let mark = Stmt::call("__atomic_store_n", mark);
        let stop = Block::from([mark.clone(), Stmt::Break]);
        let next = call("__atomic_fetch_add", [counted.clone().address(), int(1), name("__ATOMIC_RELAXED")]);
        // Wrong offsets may list a row twice.
        let listed = Block::from([
            Stmt::constant("int64_t", "next", next),
            Stmt::when(var("next").lt(room), Stmt::assign(list.at(var("next")), var("row"))),
        ]);
        let (team, (found, alone)) = self.block(|emitter| {
            let share = |emitter: &mut Emitter<'p>, more: i64| {
                let own = call("omp_get_thread_num", []).integer() + more;
                let shares = call("omp_get_num_threads", []).integer();
                let first = call(format!("tw_share_{kind}"), [offsets.clone(), length.clone(), own, shares]);
                let named = emitter.fresh("share");
                emitter.push(Stmt::constant("int64_t", named.clone(), first));
                var(named)
            };
            let (first, end) = (share(emitter, 0), share(emitter, 1));
            // Shares follow each other where offsets never decrease.
            emitter.push(Stmt::when(first.clone().gt(end.clone()), mark.clone()));
            let taken = emitter.changing(Scalar::I64, "taken", int(0));
            let lengths = emitter.fresh("lengths");
            emitter.push(Stmt::uninitialised("tw_lengths", lengths.clone()));
            let lengths = name(lengths);
            let group = emitter.fresh("g");
            let (body, known) = emitter.block(|emitter| {
                let (rows, known) = emitter.block(|emitter| {
                    let next = emitter.bind(Scalar::I64, var(&group) + var(&taken));
                    let mut own = Group {
                        at,
                        put,
                        offsets,
                        scalar,
                        rows: [var(&group), next],
                        elements: [int(0), int(0)],
                    };
                    own.elements = own.rows.clone().map(|row| emitter.bind(Scalar::I64, own.offset(row)));
                    let lanes = Lanes {
                        length: length.clone(),
                        lengths: lengths.clone(),
                        array: results.clone(),
                        large: large.clone(),
                    };
                    own.rows_of_group(emitter, (&listed, &stop), &lanes)
                });
                let lengths = [lengths.clone().address(), C::Bool(known.is_sum)];
                let group = [offsets.clone(), var(&group), end.clone(), length.clone()];
                let own = call(format!("tw_group_{kind}"), group.into_iter().chain(lengths));
                emitter.push(Stmt::assign(var(&taken), own));
                emitter.push(Stmt::when(var(&taken).is(0), stop.clone()));
                rows.into_iter().for_each(|statement| emitter.push(statement));
                known
            });
            let stored = !known.declared.is_empty();
            known.declared.into_iter().for_each(|statement| emitter.push(statement));
            let within = var(&group).lt(end);
            emitter.push(Stmt::each("int64_t", group, first, within, var(&taken), body));
            if stored {
                emitter.push(Stmt::call("TW_PUT_ALL", []));
            }
            (known.found, known.alone)
        });
        let later = if alone { self.checked_by_groups(offsets, kind) } else { Vec::new() };
        let directive = "omp parallel num_threads(tw->threads) if".to_owned();
        self.push(Stmt::PragmaOf(directive, values.gt(SHARED / 2)));
        self.push(Stmt::Block(team));
        // All once more, which says what is wrong whatever the threads met first.
        let mut all = Block::from(Stmt::assign(self.report().arrow("check"), int(0)));
        all.extend(later.into_iter().map(Stmt::Expr));
        all.extend(found.iter().map(IndexCheck::whole));
        let memo = |own: &IndexCheck| {
            Stmt::assign(name("tw").arrow("memo").at(own.check.clone()), own.length.clone() + 1)
        };
        let good: Block = found.iter().map(memo).collect();
        self.push(Stmt::choose(name(beyond), all, good));
        self.stop_if_wrong();
        self.grouped = Some(Grouped { begin: int(0), found, done: true, stage: Stage::Rows });
        let saved = self.levels.clone();
        if let Some(inner) = self.levels.get_mut(1) {
            *inner = Level { omp_schedule: OmpSchedule::Static, chunk: 0, ..Level::threads(level.schedule) };
        }
        self.each(Level::SEQUENTIAL, int(0), counted, |emitter, place| {
            emitter.depth += 1;
            let row = emitter.bind(Scalar::I64, list.at(place));
            let view = at(emitter, row.clone());
            put(emitter, row, view);
            emitter.depth -= 1;
        });
        self.levels = saved;
        self.grouped = None;
    }

    /// Leaves the check of these offsets to the groups of rows, but for the ends. What it was.
    fn checked_by_groups(&mut self, offsets: &C, kind: &str) -> Vec<C> {
        let (whole, ends) = (name(format!("tw_offsets_{kind}")), name(format!("tw_ends_{kind}")));
        let mut found = Vec::new();
        let mut exchange = |value: &mut C| {
            let before = value.clone();
            if let C::Call { function, arguments, .. } = value
                && **function == whole
                && arguments.first() == Some(offsets)
            {
                **function = ends.clone();
                found.push(before);
            }
        };
        for statement in &mut self.hoisted {
            let Stmt::Declare(list) = statement else { continue };
            for value in list.iter_mut().filter_map(|own| own.value.as_mut()) {
                exchange(value);
                if let C::Select(_, _, other) = value {
                    exchange(other);
                }
            }
        }
        found
    }
}
