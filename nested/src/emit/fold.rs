//! Reductions.
//!
//! Where the function is one of the language's operators, or is stated to be associative, elements are folded in blocks of
//! [`BLOCK`], and the blocks' results one after the other. Within a block an operator of the language keeps [`LANES`]
//! partial results. So each order of threads and lanes gives the same bits, those of the interpreter.

use super::emitter::{At, Emitter, Seq, StepBy, View};
use super::env::Env;
use super::value::literal;
use super::view::{Dest, flat, load, scalars, whole};
use super::wide::{self, Lanes};
use crate::analysis::Level;
use crate::program::*;
use c_tree::{Block, Expr as C, Stmt, call, int, name, var};
use polyhedral::source::Span;
use std::rc::Rc;

/// Blocks of a round of a team: their results lie on the stack.
const ROUND: i64 = 1024;
/// Fewer elements than these are not shared among threads.
const FEW: i64 = 16384;

/// A reduction.
#[derive(Clone)]
pub struct Folding<'p> {
    /// The function.
    pub function: &'p Function,
    /// The names that it knows.
    pub env: Env<'p>,
    /// The elements.
    pub sequence: Seq<'p>,
    /// What comes before them.
    pub prefix: View<'p>,
    /// The type of the result.
    pub ty: &'p Type,
    /// Where it stands.
    pub span: &'p Span,
}

impl Folding<'_> {
    pub(crate) fn is_tree(&self) -> bool {
        self.function.builtin.is_some() || self.function.associative
    }
}

/// The values of results.
fn wholes<'p>(foldings: &[Folding<'p>], totals: Vec<Vec<C>>) -> Vec<View<'p>> {
    let pairs = foldings.iter().zip(totals);
    pairs.map(|(folding, total)| whole(folding.ty, &mut total.into_iter())).collect()
}

impl<'p> Emitter<'p> {
    pub(crate) fn combine(&mut self, folding: &Folding<'p>, state: &[C], element: View<'p>) -> Vec<C> {
        let state = whole(folding.ty, &mut state.iter().cloned());
        let result = self.call(folding.function, vec![state, element], &folding.env);
        let values = flat(&result);
        if values.len() == 1 {
            return values;
        }
        // All parts before one of them changes.
        let kinds = scalars(folding.ty);
        values.into_iter().zip(kinds).map(|(value, scalar)| self.kept(scalar, value)).collect()
    }

    /// The value as it is now.
    pub(crate) fn kept(&mut self, scalar: Scalar, value: C) -> C {
        let own = self.fresh("k");
        self.push(Stmt::constant(super::emitter::c_type(scalar), own.clone(), value));
        name(own)
    }

    pub(crate) fn assign(&mut self, targets: &[C], values: Vec<C>) {
        for (target, value) in targets.iter().zip(values) {
            self.push(Stmt::assign(target.clone(), value));
        }
    }

    pub(crate) fn states(&mut self, folding: &Folding<'p>, stem: &str, values: Vec<C>) -> Vec<C> {
        let kinds = scalars(folding.ty);
        kinds
            .into_iter()
            .zip(values)
            .map(|(scalar, value)| name(self.changing(scalar, stem, value)))
            .collect()
    }

    pub(crate) fn identities(&self, folding: &Folding<'p>) -> Vec<C> {
        let kinds = scalars(folding.ty).into_iter();
        kinds
            .map(|scalar| {
                folding.function.builtin.map_or(int(0), |builtin| literal(builtin.identity(scalar)))
            })
            .collect()
    }

    /// Reductions over sequences of one length, in one loop.
    pub fn fold(&mut self, foldings: &[Folding<'p>]) -> Vec<View<'p>> {
        let mut level = self.level();
        let mut length = foldings[0].sequence.length.clone();
        for folding in &foldings[1..] {
            length = self.same(length, folding.sequence.length.clone(), folding.span);
        }
        let length = self.steady(length);
        let mut totals = Vec::new();
        for folding in foldings {
            let prefix = flat(&folding.prefix);
            totals.push(self.states(folding, "total", prefix));
        }
        if self.in_stage(foldings, &totals, &length) || self.is_product(foldings, &totals, &length) {
            return wholes(foldings, totals);
        }
        self.depth += 1;
        let ordered = foldings.iter().any(|folding| folding.sequence.open.is_some());
        let tree = foldings.iter().all(Folding::is_tree);
        let team = self.gpu.is_some() && level.schedule.is_parallel() && tree && !ordered;
        if self.gpu.is_some() {
            level = Level { unroll: level.unroll, ..Level::SEQUENTIAL };
        }
        if team {
            self.fold_by_team(foldings, &totals, &length);
        } else if !tree {
            self.in_order(
                foldings,
                &totals,
                int(0),
                length,
                Level { unroll: level.unroll && !ordered, ..Level::SEQUENTIAL },
            );
        } else if level.is_threads() && !ordered {
            self.by_threads(foldings, &totals, &length, level);
        } else {
            self.by_blocks(foldings, &totals, &length, level, ordered);
        }
        self.depth -= 1;
        wholes(foldings, totals)
    }

    /// One element after the other.
    fn in_order(&mut self, foldings: &[Folding<'p>], totals: &[Vec<C>], first: C, end: C, level: Level) {
        let (ats, steps) = self.opened(foldings);
        self.each(level, first, end, |emitter, place| {
            for ((folding, at), total) in foldings.iter().zip(&ats).zip(totals) {
                let element = at(emitter, place.clone());
                let values = emitter.combine(folding, total, element);
                emitter.assign(total, values);
            }
            steps.iter().for_each(|step| step(emitter, place.clone()));
        });
    }

    fn opened(&mut self, foldings: &[Folding<'p>]) -> (Vec<At<'p>>, Vec<StepBy<'p>>) {
        let mut ats = Vec::new();
        let mut steps = Vec::new();
        for folding in foldings {
            match &folding.sequence.open {
                Some(open) => {
                    let (at, more) = open(self);
                    ats.push(at);
                    steps.extend(more);
                }
                None => ats.push(folding.sequence.at.clone()),
            }
        }
        (ats, steps)
    }

    /// Blocks, one after the other, by one thread.
    fn by_blocks(
        &mut self,
        foldings: &[Folding<'p>],
        totals: &[Vec<C>],
        length: &C,
        level: Level,
        ordered: bool,
    ) {
        if self.fast && self.gpu.is_none() && !ordered && self.any_order(foldings, totals, length, level) {
            return;
        }
        let (ats, steps) = self.opened(foldings);
        let few = if ordered { None } else { self.few(foldings, totals, &ats, length) };
        let start = self.fresh("b");
        let alone = self.is_one_block(length);
        let (body, ()) = self.block(|emitter| {
            let first = if alone { int(0) } else { var(&start) };
            let next = call("tw_min", [first.clone() + BLOCK, length.clone()]).integer();
            let end = if alone { length.clone() } else { emitter.bind(Scalar::I64, next) };
            let blocks = emitter.kept_or_folded(foldings, &first, |emitter| {
                let blocks = emitter.one_block(foldings, &ats, &steps, first.clone(), end, level);
                emitter.keep_block(foldings, &first, &blocks[0]);
                blocks
            });
            for ((folding, total), block) in foldings.iter().zip(totals).zip(blocks) {
                let block = whole(folding.ty, &mut block.into_iter());
                let values = emitter.combine(folding, total, block);
                emitter.assign(total, values);
            }
        });
        let all = match alone {
            true => Stmt::when(length.clone().gt(0), body),
            false => Stmt::each("int64_t", start.clone(), 0, var(&start).lt(length), BLOCK, body),
        };
        self.push(match few {
            Some(few) => Stmt::choose(length.clone().lt(LANES), few, all),
            None => all,
        });
    }

    /// Rows that are too short for lanes: these would have the identity alone, which brought together is the identity. None where
    /// all rows are of one length, or an element is more work than the lanes.
    fn few(
        &mut self,
        foldings: &[Folding<'p>],
        totals: &[Vec<C>],
        ats: &[At<'p>],
        length: &C,
    ) -> Option<Block> {
        /// Statements of an element that are more work than the lanes.
        const MUCH: usize = 12;
        let builtin = foldings.iter().all(|folding| folding.function.builtin.is_some());
        if self.gpu.is_some() || !builtin || self.is_invariant(length) {
            return None;
        }
        let (block, ()) = self.block(|emitter| {
            let mut results = Vec::new();
            for folding in foldings {
                let identities = emitter.identities(folding);
                results.push(emitter.states(folding, "block", identities));
            }
            emitter.each(Level::SEQUENTIAL, int(0), length.clone(), |emitter, place| {
                emitter.add_elements(foldings, ats, &results, &[], &place);
            });
            for ((folding, total), block) in foldings.iter().zip(totals).zip(results) {
                let block = whole(folding.ty, &mut block.into_iter());
                let values = emitter.combine(folding, total, block);
                emitter.assign(total, values);
            }
        });
        let mut statements = 0;
        block.walk(&mut |_| statements += 1);
        // Nothing comes before an element where there is none: the prefix stays what it is.
        (statements <= MUCH + 2 * foldings.len())
            .then(|| Block::from(Stmt::when(length.clone().gt(0), block)))
    }

    /// One loop whose order the compiler chooses; whether there is one.
    fn any_order(&mut self, foldings: &[Folding<'p>], totals: &[Vec<C>], length: &C, level: Level) -> bool {
        let mut clauses = String::new();
        for (folding, total) in foldings.iter().zip(totals) {
            let (Some(builtin), [C::Name(total, _)]) = (folding.function.builtin, &total[..]) else {
                return false;
            };
            let symbol = match builtin {
                Builtin::Add => "+",
                Builtin::Multiply => "*",
                Builtin::Min => "min",
                Builtin::Max => "max",
                Builtin::And => "&&",
                Builtin::Or => "||",
            };
            clauses.push_str(&format!(" reduction({symbol} : {total})"));
        }
        let pragma = match level.is_threads() {
            true => format!("omp parallel for simd num_threads(tw->threads) {}", Emitter::sharing(&level)),
            false => "omp simd".to_owned(),
        };
        self.push(Stmt::Pragma(pragma + &clauses));
        self.within(true, |emitter| {
            emitter.in_order(foldings, totals, int(0), length.clone(), Level::SEQUENTIAL)
        });
        true
    }

    /// Blocks shared among threads.
    fn by_threads(&mut self, foldings: &[Folding<'p>], totals: &[Vec<C>], length: &C, level: Level) {
        if self.fast && self.any_order(foldings, totals, length, level) {
            return;
        }
        let round = self.fresh("r");
        let (body, ()) = self.block(|emitter| {
            let rest = emitter.bind(Scalar::I64, length.clone() - var(&round));
            let all = (rest + (BLOCK - 1)) / BLOCK;
            let count = emitter.bind(Scalar::I64, call("tw_min", [int(ROUND), all]).integer());
            let parts = emitter.parts(foldings, ROUND);
            let block = emitter.fresh("b");
            let (inner, ()) = emitter.block(|emitter| {
                emitter.part(foldings, &parts, var(&round), var(&block), length, level);
            });
            let C::Name(few, _) = count.clone() else { return };
            let sharing = Emitter::sharing(&Level { chunk: level.chunk / BLOCK as u64, ..level });
            let clause = format!("if ({few} > {})", FEW / BLOCK);
            emitter
                .push(Stmt::Pragma(format!("omp parallel for num_threads(tw->threads) {sharing} {clause}")));
            emitter.push(Stmt::count("int64_t", block.clone(), 0, count.clone(), inner));
            let block = emitter.fresh("b");
            let (inner, ()) = emitter.block(|emitter| {
                emitter.add_parts(foldings, totals, &parts, &var(&block));
            });
            emitter.push(Stmt::count("int64_t", block, 0, count, inner));
        });
        self.push(Stmt::each("int64_t", round.clone(), 0, var(&round).lt(length), BLOCK * ROUND, body));
    }

    /// Arrays for the results of blocks.
    pub(crate) fn parts(&mut self, foldings: &[Folding<'p>], count: i64) -> Vec<Vec<C>> {
        let arrays = foldings.iter().map(|folding| {
            let kinds = scalars(folding.ty);
            kinds.into_iter().map(|scalar| name(self.array(scalar, "part", count))).collect()
        });
        arrays.collect()
    }

    /// The result of a block of a round.
    pub(crate) fn part(
        &mut self,
        foldings: &[Folding<'p>],
        parts: &[Vec<C>],
        round: C,
        block: C,
        length: &C,
        level: Level,
    ) {
        let start = self.bind(Scalar::I64, round + block.clone() * BLOCK);
        let end = self.bind(Scalar::I64, call("tw_min", [start.clone() + BLOCK, length.clone()]).integer());
        let ats: Vec<At<'p>> = foldings.iter().map(|folding| folding.sequence.at.clone()).collect();
        let results = self.one_block(foldings, &ats, &[], start, end, Level::simd(level.schedule));
        for (part, result) in parts.iter().zip(results) {
            let targets: Vec<C> = part.iter().map(|part| part.at(block.clone())).collect();
            self.assign(&targets, result);
        }
    }

    /// The elements of a block, folded without the prefix.
    pub(crate) fn one_block(
        &mut self,
        foldings: &[Folding<'p>],
        ats: &[At<'p>],
        steps: &[StepBy<'p>],
        start: C,
        end: C,
        level: Level,
    ) -> Vec<Vec<C>> {
        if !foldings.iter().all(|folding| folding.function.builtin.is_some()) {
            return self.in_order_block(foldings, ats, steps, start, end);
        }
        let mut lanes: Vec<Vec<C>> = Vec::new();
        for folding in foldings {
            let kinds = scalars(folding.ty);
            lanes.push(kinds.iter().map(|scalar| name(self.array(*scalar, "lane", LANES))).collect());
        }
        let lane = self.fresh("l");
        let clear: Vec<Stmt> = foldings
            .iter()
            .zip(&lanes)
            .flat_map(|(folding, lanes)| {
                let identities = self.identities(folding);
                lanes
                    .iter()
                    .zip(identities)
                    .map(|(own, identity)| Stmt::assign(own.at(var(&lane)), identity))
                    .collect::<Vec<_>>()
            })
            .collect();
        self.push(Stmt::count("int", lane, 0, LANES, clear));
        let index = self.changing(Scalar::I64, "i", start);
        let place = var(&index);
        let lane = self.fresh("l");
        let in_lanes = level.is_simd() && steps.is_empty();
        let (inner, ()) = self.within(in_lanes, |emitter| {
            emitter.block(|emitter| {
                let here = emitter.kept(Scalar::I64, place.clone() + var(&lane)).integer();
                for ((folding, at), lanes) in foldings.iter().zip(ats).zip(&lanes) {
                    let state: Vec<C> = lanes.iter().map(|own| own.at(var(&lane))).collect();
                    let element = at(emitter, here.clone());
                    let values = emitter.combine(folding, &state, element);
                    emitter.assign(&state, values);
                }
                steps.iter().for_each(|step| step(emitter, here.clone()));
            })
        });
        let wide = if in_lanes { self.wide(foldings, &lanes, &inner, (&lane, &place)) } else { None };
        let mut groups = Block::new();
        if in_lanes {
            groups.push(Stmt::Pragma("omp simd".to_owned()));
        } else if self.gpu.is_some() {
            groups.push(Stmt::Pragma("unroll".to_owned()));
        } else if level.unroll {
            groups.push(Stmt::Pragma("GCC unroll 8".to_owned()));
        }
        groups.push(Stmt::count("int", lane, 0, LANES, inner));
        let all = |groups: Block| {
            Stmt::go_on(index.clone(), (place.clone() + LANES).le(end.clone()), LANES, groups)
        };
        let narrow = all(groups);
        match wide {
            Some((before, wide, after)) => {
                let wide = before.into_iter().chain([all(wide)]).chain(after).collect::<Block>();
                self.push(Stmt::choose(var(wide::IS_WIDE), wide, narrow));
            }
            None => self.push(narrow),
        }
        let mut results = Vec::new();
        for (folding, lanes) in foldings.iter().zip(&lanes) {
            let result = self.lanes_together(folding, lanes);
            results.push(self.states(folding, "block", result));
        }
        let (rest, ()) = self.block(|emitter| {
            emitter.add_elements(foldings, ats, &results, steps, &place);
        });
        self.push(Stmt::go_on(index, place.lt(end), 1, rest));
        results
    }

    /// What lanes are together: each time the upper half onto the lower one.
    pub(crate) fn lanes_together(&mut self, folding: &Folding<'p>, lanes: &[C]) -> Vec<C> {
        let kinds = scalars(folding.ty);
        let mut states: Vec<Vec<C>> =
            (0..LANES).map(|lane| lanes.iter().map(|own| own.at(lane)).collect()).collect();
        while states.len() > 1 {
            let upper = states.split_off(states.len() / 2);
            let pairs: Vec<(Vec<C>, Vec<C>)> = states.into_iter().zip(upper).collect();
            states = Vec::new();
            for (low, high) in pairs {
                let high = whole(folding.ty, &mut high.into_iter());
                let values = self.combine(folding, &low, high);
                let values = values.into_iter().zip(&kinds);
                states.push(values.map(|(value, scalar)| self.kept(*scalar, value)).collect());
            }
        }
        states.remove(0)
    }

    /// The lanes of a block as vectors, where that can be said: what makes them, what is done with all of a group, and what puts them back.
    fn wide(
        &mut self,
        foldings: &[Folding<'p>],
        lanes: &[Vec<C>],
        body: &Block,
        (lane, place): (&str, &C),
    ) -> Option<(Block, Block, Block)> {
        let kinds: Vec<Scalar> = foldings.iter().flat_map(|folding| scalars(folding.ty)).collect();
        let &[scalar, ..] = &kinds[..] else { return None };
        if kinds.iter().any(|other| *other != scalar) {
            return None;
        }
        let results: Vec<&C> = lanes.iter().flatten().collect();
        let group = wide::all_at_once(&Lanes {
            body,
            lane,
            place,
            results: results.clone(),
            scalar,
            inside: None,
            part: None,
            ahead: true,
        })?;
        let (vector, suffix) = wide::kind(scalar)?;
        let identities = foldings.iter().flat_map(|folding| self.identities(folding)).collect::<Vec<_>>();
        let make = |(result, identity): (&&C, C)| {
            let C::Name(own, _) = wide::vector_of(result) else { return None };
            Some(Stmt::declare(vector, own, call(format!("TW_ALL_{suffix}"), [identity])))
        };
        let before = results.iter().zip(identities).map(make).collect::<Option<Vec<Stmt>>>()?;
        let store = |result: &&C| {
            Stmt::Expr(call(format!("TW_STORE_{suffix}"), [(*result).clone(), wide::vector_of(result)]))
        };
        Some((before.into(), group, results.iter().map(store).collect()))
    }

    /// Brings the elements at a place into the results, and does what else is done there.
    fn add_elements(
        &mut self,
        foldings: &[Folding<'p>],
        ats: &[At<'p>],
        results: &[Vec<C>],
        steps: &[StepBy<'p>],
        place: &C,
    ) {
        for ((folding, at), result) in foldings.iter().zip(ats).zip(results) {
            let element = at(self, place.clone());
            let values = self.combine(folding, result, element);
            self.assign(result, values);
        }
        steps.iter().for_each(|step| step(self, place.clone()));
    }

    /// Brings the results of a block, which lie in arrays, into the totals.
    pub(crate) fn add_parts(
        &mut self,
        foldings: &[Folding<'p>],
        totals: &[Vec<C>],
        parts: &[Vec<C>],
        place: &C,
    ) {
        for ((folding, total), part) in foldings.iter().zip(totals).zip(parts) {
            let part: Vec<C> = part.iter().map(|part| part.at(place.clone())).collect();
            let part = whole(folding.ty, &mut part.into_iter());
            let values = self.combine(folding, total, part);
            self.assign(total, values);
        }
    }

    /// A block of an associative function of the user: its first element, then the others in order.
    pub(crate) fn in_order_block(
        &mut self,
        foldings: &[Folding<'p>],
        ats: &[At<'p>],
        steps: &[StepBy<'p>],
        start: C,
        end: C,
    ) -> Vec<Vec<C>> {
        let mut results = Vec::new();
        for (folding, at) in foldings.iter().zip(ats) {
            let first = flat(&at(self, start.clone()));
            results.push(self.states(folding, "block", first));
        }
        steps.iter().for_each(|step| step(self, start.clone()));
        self.each(Level::SEQUENTIAL, start + 1, end, |emitter, place| {
            emitter.add_elements(foldings, ats, &results, steps, &place);
        });
        results
    }

    /// A reduction of rows: column by column, all columns of a row at a time where it is stored.
    pub fn row_fold(&mut self, folding: Folding<'p>) -> Seq<'p> {
        let View::Sequence(prefix) = folding.prefix.clone() else {
            return Seq::new(int(0), Rc::new(|_, _| View::Parts(Vec::new())));
        };
        let length = prefix.length.clone();
        let column = folding.clone();
        let first = prefix.at.clone();
        let at: At<'p> = Rc::new(move |emitter, place| {
            let Some(ty) = column.ty.element() else { return View::Parts(Vec::new()) };
            let start = flat(&first(emitter, place.clone()));
            let kinds = scalars(ty);
            let state: Vec<C> = kinds
                .into_iter()
                .zip(start)
                .map(|(scalar, value)| name(emitter.changing(scalar, "total", value)))
                .collect();
            let end = column.sequence.length.clone();
            emitter.each(Level::SEQUENTIAL, int(0), end, |emitter, row| {
                let View::Sequence(row) = (column.sequence.at)(emitter, row) else { return };
                let values = emitter.column(&column, ty, &state, &row, place.clone());
                emitter.assign(&state, values);
            });
            whole(ty, &mut state.into_iter())
        });
        let mut seq = Seq::new(length.clone(), at);
        if self.gpu.is_some() {
            // A thread keeps its column.
            return seq;
        }
        seq.into = Some(Rc::new(move |emitter: &mut Emitter<'p>, dest: &Dest, base: &C| {
            let Some(ty) = folding.ty.element() else { return };
            let level = match emitter.level() {
                level if level.is_threads() => Level::simd(level.schedule),
                level => level,
            };
            emitter.each(level, int(0), length.clone(), |emitter, place| {
                let value = (prefix.at)(emitter, place.clone());
                emitter.store(dest, &(base.clone() + place), &value);
            });
            let end = folding.sequence.length.clone();
            emitter.each(Level::SEQUENTIAL, int(0), end.clone(), |emitter, row| {
                emitter.row_ahead(&folding.sequence, &row, &end);
                let View::Sequence(row) = (folding.sequence.at)(emitter, row) else { return };
                let columns = emitter.same(length.clone(), row.length.clone(), folding.span);
                emitter.each(level, int(0), columns, |emitter, place| {
                    let own = base.clone() + place.clone();
                    let state: View<'p> = load(ty, &dest.arrays, &own, None);
                    let state = flat(&state);
                    let values = emitter.column(&folding, ty, &state, &row, place);
                    let value = whole(ty, &mut values.into_iter());
                    emitter.store(dest, &own, &value);
                });
            });
        }));
        seq
    }

    /// One column's state with one row more.
    fn column(&mut self, folding: &Folding<'p>, ty: &Type, state: &[C], row: &Seq<'p>, place: C) -> Vec<C> {
        let Kind::Apply(_, Some(function), operands) = &folding.function.body.kind else { return Vec::new() };
        let element = (row.at)(self, place);
        let element = self.named(element);
        let kinds = scalars(ty);
        let state: Vec<C> =
            state.iter().zip(kinds).map(|(value, scalar)| self.kept(scalar, value.clone())).collect();
        let state = whole(ty, &mut state.into_iter());
        let first = folding.function.parameters[0];
        let values = operands
            .iter()
            .map(|operand| match operand.kind {
                Kind::Variable(used) if used == first => state.clone(),
                _ => element.clone(),
            })
            .collect();
        flat(&self.call(function, values, &folding.env))
    }

    /// Stores an element.
    pub fn store(&mut self, dest: &Dest, place: &C, value: &View<'p>) {
        if let Some((lane, _)) = self.gpu.as_ref().and_then(super::gpu::Gpu::lane) {
            let (block, ()) = self.block(|emitter| emitter.put(dest, place, value));
            return self.push(Stmt::when(lane.is(0), block));
        }
        self.put(dest, place, value);
    }

    /// Stores an element, whoever runs this.
    pub(crate) fn put(&mut self, dest: &Dest, place: &C, value: &View<'p>) {
        let numbers = flat(value);
        let mut numbers = numbers.into_iter();
        for (array, _, width) in &dest.arrays {
            for component in 0..*width {
                let Some(value) = numbers.next() else { return };
                let index = if *width == 1 {
                    place.clone()
                } else {
                    place.clone() * *width as i64 + component as i64
                };
                self.push(Stmt::assign(array.at(index), value));
            }
        }
    }
}
