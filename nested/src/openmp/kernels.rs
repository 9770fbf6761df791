//! One function for each step.

use super::group::Put;
use crate::analysis::{Implementation, Level, OmpSchedule};
use crate::emit::emitter::{Emitter, Seq, View};
use crate::emit::env::Env;
use crate::emit::fold::Folding;
use crate::emit::generated::Kernel;
use crate::emit::view::{Dest, RowShape, flat};
use crate::fault::FaultKind;
use crate::lower::Step;
use crate::program::*;
use c_tree::{Expr as C, Function as CFunction, Stmt, call, int, name, var};
use std::rc::Rc;

impl<'p> Emitter<'p> {
    /// The kernel of a step; none of control.
    pub fn kernel(&mut self, step: &'p Step, own: &Implementation, title: &str) -> Option<Kernel> {
        self.begin(own.levels.clone(), own.tile);
        let env = Env::default();
        let fills = match step {
            Step::Fill(variable, value) => {
                self.fill(*variable, value, &env);
                vec![*variable]
            }
            Step::Fold(list) => {
                self.folds(list, &env);
                list.iter().map(|(variable, _)| *variable).collect()
            }
            Step::Scan(variable, value) => {
                self.scan(*variable, value, &env);
                vec![*variable]
            }
            Step::Places { variable, sequence, condition } => {
                self.places(*variable, sequence, condition.as_ref(), &env);
                vec![*variable]
            }
            Step::Order(variable, keys) => {
                self.order(*variable, keys, &env);
                vec![*variable]
            }
            Step::Scatter(variable, value) => {
                self.scatter(*variable, value, &env);
                vec![*variable]
            }
            Step::Swap(..) | Step::Repeat { .. } => return None,
        };
        Some(self.finished(fills, title))
    }

    /// The kernel that was begun, which fills these.
    pub(super) fn finished(&mut self, fills: Vec<VarId>, title: &str) -> Kernel {
        let body = self.end();
        let names: Vec<String> =
            fills.iter().map(|id| self.lowered.program.variable(*id).name.clone()).collect();
        let (function_name, parameter) =
            (format!("{title}_{}", names.join("_")), c_tree::Type::new("tw_context").pointer());
        let function = CFunction::new(function_name.clone())
            .comment(format!("Fills {}.", names.join(", ")))
            .attribute("static")
            .parameter(parameter, "tw")
            .body(body);
        let (reads, writes) = (self.reads.iter().copied().collect(), self.writes.iter().copied().collect());
        Kernel { function, name: function_name, fills, reads, writes }
    }

    fn fill(&mut self, variable: VarId, value: &'p Expr, env: &Env<'p>) {
        if value.ty.element().is_none() {
            let view = self.value(value, env);
            let dest = self.dest(variable, &int(1));
            self.stop_if_wrong();
            self.store(&dest, &int(0), &view);
            return;
        }
        let sequence = self.sequence(value, env);
        let length = self.steady(sequence.length.clone());
        if value.ty.element().is_some_and(Type::has_sequence) {
            return self.fill_rows(variable, &sequence, length);
        }
        let dest = self.dest(variable, &length);
        self.stop_if_wrong();
        if let Some(into) = &sequence.into {
            return into.clone()(self, &dest, &int(0));
        }
        // The array of results that are f64 each.
        let results = match &dest.arrays[..] {
            [(array, Scalar::F64, 1)] => Some(array.clone()),
            _ => None,
        };
        self.outer(
            &sequence,
            length,
            Rc::new(move |emitter: &mut Emitter<'p>, place: C, view: View<'p>| {
                emitter.store(&dest, &place, &view)
            }),
            results,
        );
    }

    /// The outermost loop of a kernel; `results` is the array where each result is one number of it.
    fn outer(&mut self, sequence: &Seq<'p>, length: C, put: Put<'p>, results: Option<C>) {
        let level = self.level();
        if let Some(open) = &sequence.open {
            let (at, steps) = open.clone()(self);
            return self.each(Level::SEQUENTIAL, int(0), length, |emitter, place| {
                let view = at(emitter, place.clone());
                put(emitter, place.clone(), view);
                steps.iter().for_each(|step| step(emitter, place.clone()));
            });
        }
        let at = sequence.at.clone();
        if self.tile > 0 {
            let tile = self.tile as i64;
            let tiles = self.steady((length.clone() + (tile - 1)) / tile);
            return self.each(level, int(0), tiles, |emitter, own| {
                emitter.depth += 1;
                let start = emitter.bind(Scalar::I64, own * tile);
                let end = emitter
                    .bind(Scalar::I64, call("tw_min", [start.clone() + tile, length.clone()]).integer());
                let level = emitter.level();
                emitter.each(level, start, end, |emitter, place| {
                    emitter.depth += 1;
                    let view = at(emitter, place.clone());
                    put(emitter, place, view);
                    emitter.depth -= 1;
                });
                emitter.depth -= 1;
            });
        }
        match (&sequence.rows, level.omp_schedule) {
            (Some(RowShape::Offsets(offsets, scalar)), OmpSchedule::Merge) if level.is_threads() => {
                self.merged(&at, (offsets, *scalar), length, level, (&put, results));
            }
            (_, OmpSchedule::Static)
                if level.is_threads() && level.chunk == 0 && self.by_products(&at, &put, &length, level) => {}
            _ => self.each(level, int(0), length, |emitter, place| {
                emitter.depth += 1;
                let view = at(emitter, place.clone());
                put(emitter, place, view);
                emitter.depth -= 1;
            }),
        }
    }

    /// A sequence of rows: where they begin, then their elements.
    fn fill_rows(&mut self, variable: VarId, sequence: &Seq<'p>, length: C) {
        let shape = self.shape(sequence);
        let Some(put) = self.rows_of(variable, sequence, length.clone(), shape) else { return };
        self.outer(sequence, length, put, None);
    }

    /// Room for rows, with where they begin, and what stores one of them.
    pub(super) fn rows_of(
        &mut self,
        variable: VarId,
        sequence: &Seq<'p>,
        length: C,
        shape: Option<RowShape>,
    ) -> Option<Put<'p>> {
        let rows_slot = self.place(variable).rows?;
        let count = length.clone() + 1;
        let offsets = self.room(rows_slot, &count);
        self.stop_if_wrong();
        let threads = Level { omp_schedule: OmpSchedule::Static, chunk: 0, ..self.level() };
        match &shape {
            Some(RowShape::Offsets(from, _)) => {
                self.each(threads, int(0), count, |emitter, row| {
                    emitter.push(Stmt::assign(offsets.at(row.clone()), from.at(row)));
                });
            }
            Some(RowShape::Tiled(tile, total)) => {
                self.each(threads, int(0), count, |emitter, row| {
                    let value = call("tw_min", [row.clone() * tile.clone(), total.clone()]);
                    // Behind the last tile, which may end beyond the greatest number.
                    let value = row.clone().lt(length.clone()).select(value, total.clone());
                    emitter.push(Stmt::assign(offsets.at(row), value));
                });
            }
            Some(RowShape::Equal(own)) => {
                self.each(threads, int(0), count, |emitter, row| {
                    emitter.push(Stmt::assign(offsets.at(row.clone()), row * own.clone()));
                });
            }
            None => {
                self.push(Stmt::assign(offsets.at(0), int(0)));
                let at = sequence.at.clone();
                self.each(Level::SEQUENTIAL, int(0), length.clone(), |emitter, row| {
                    emitter.depth += 9;
                    let View::Sequence(own) = at(emitter, row.clone()) else { return };
                    emitter.depth -= 9;
                    emitter.push(Stmt::assign(offsets.at(row.clone() + 1), offsets.at(row) + own.length));
                });
            }
        }
        let total = self.changing(Scalar::I64, "total", offsets.at(length.clone()));
        let dest = self.dest(variable, &var(total));
        self.stop_if_wrong();
        Some(Rc::new(move |emitter: &mut Emitter<'p>, row: C, view: View<'p>| {
            let View::Sequence(own) = view else { return };
            let base = emitter.fresh("base");
            emitter.push(Stmt::constant("int64_t", base.clone(), offsets.at(row)));
            emitter.store_row(&own, &dest, &var(base));
        }))
    }

    pub(crate) fn store_row(&mut self, row: &Seq<'p>, dest: &Dest, base: &C) {
        if let Some(into) = &row.into {
            return into.clone()(self, dest, base);
        }
        let length = row.length.clone();
        if let Some(open) = &row.open {
            let (at, steps) = open.clone()(self);
            return self.each(Level::SEQUENTIAL, int(0), length, |emitter, place| {
                let view = at(emitter, place.clone());
                emitter.store(dest, &(base.clone() + place.clone()), &view);
                steps.iter().for_each(|step| step(emitter, place.clone()));
            });
        }
        let level = self.level();
        let at = row.at.clone();
        self.each(level, int(0), length, |emitter, place| {
            emitter.depth += 1;
            let view = at(emitter, place.clone());
            emitter.store(dest, &(base.clone() + place), &view);
            emitter.depth -= 1;
        });
    }

    /// Where the rows of a sequence lie, if that is known without computing them.
    pub(crate) fn shape(&mut self, sequence: &Seq<'p>) -> Option<RowShape> {
        if sequence.open.is_some() {
            return None;
        }
        let (_, shape) = self.block(|emitter| {
            let row = var(emitter.fresh("i"));
            let View::Sequence(own) = (sequence.at)(emitter, row.clone()) else { return None };
            if emitter.is_invariant(&own.length) {
                return Some(RowShape::Equal(own.length));
            }
            let claimed = sequence.rows.clone()?;
            let (_, count) = emitter.row(&claimed, &row, None);
            (count == own.length).then_some(claimed)
        });
        shape
    }

    pub(crate) fn folding(&mut self, value: &'p Expr, env: &Env<'p>) -> Option<Folding<'p>> {
        let Kind::Apply(_, Some(function), operands) = &value.kind else { return None };
        let sequence = self.sequence(&operands[0], env);
        let prefix = self.value(&operands[1], env);
        let prefix = self.named(prefix);
        Some(Folding { function, env: env.clone(), sequence, prefix, ty: &operands[1].ty, span: &value.span })
    }

    fn folds(&mut self, list: &'p [(VarId, Expr)], env: &Env<'p>) {
        let foldings: Vec<Folding<'p>> =
            list.iter().filter_map(|(_, value)| self.folding(value, env)).collect();
        let dests: Vec<Dest> = list.iter().map(|(variable, _)| self.dest(*variable, &int(1))).collect();
        self.stop_if_wrong();
        let results = self.fold(&foldings);
        for (dest, result) in dests.iter().zip(results) {
            self.store(dest, &int(0), &result);
        }
    }

    fn scan(&mut self, variable: VarId, value: &'p Expr, env: &Env<'p>) {
        let Some(folding) = self.folding(value, env) else { return };
        let length = self.steady(folding.sequence.length.clone());
        let dest = self.dest(variable, &length);
        self.stop_if_wrong();
        let level = self.level();
        self.depth += 1;
        if level.is_threads() && folding.is_tree() && folding.sequence.open.is_none() {
            match (level.omp_schedule, level.chunk) {
                (OmpSchedule::Static, 0) => self.scan_in_turn(&folding, &dest, &length),
                _ => self.scan_by_rounds(&folding, &dest, &length, level),
            }
        } else {
            self.scan_range(&folding, &dest, &int(0), [int(0), length], true);
        }
        self.depth -= 1;
    }

    /// Places where a condition holds, in order: they are counted in blocks, then written.
    fn places(
        &mut self,
        variable: VarId,
        sequence: &'p Expr,
        condition: Option<&'p Function>,
        env: &Env<'p>,
    ) {
        let source = self.sequence(sequence, env);
        let length = self.steady(source.length.clone());
        let level = self.level();
        let threads = Level { omp_schedule: OmpSchedule::Static, chunk: 0, ..level };
        let at = source.at.clone();
        let holds = |emitter: &mut Emitter<'p>, place: C| match condition {
            Some(condition) => {
                let element = at(emitter, place);
                let value = emitter.call(condition, vec![element], env);
                flat(&value).pop().unwrap_or(C::Bool(false))
            }
            None => {
                let own = flat(&at(emitter, place.clone())).pop().unwrap_or(int(0));
                let (block, before) =
                    emitter.block(|emitter| flat(&at(emitter, place.clone() - 1)).pop().unwrap_or(int(0)));
                if block.is_empty() {
                    return place.is(0).or(own.is_not(before));
                }
                let first = emitter.changing(Scalar::Bool, "c", place.clone().is(0));
                let mut then = block;
                then.push(Stmt::assign(name(&first), own.is_not(before)));
                emitter.push(Stmt::when(!C::Name(first.clone(), c_tree::Sort::Truth), then));
                name(first)
            }
        };
        let blocks = self.steady((length.clone() + (BLOCK - 1)) / BLOCK);
        let slot = self.slots.scratch("counts", Scalar::I64);
        let counts = self.room(slot, &(blocks.clone() + 1));
        self.stop_if_wrong();
        self.depth += 1;
        let pass = |emitter: &mut Emitter<'p>, target: Option<&C>| {
            emitter.each(
                if threads.is_threads() { threads } else { Level::SEQUENTIAL },
                int(0),
                blocks.clone(),
                |emitter, block| {
                    let start = emitter.bind(Scalar::I64, block.clone() * BLOCK);
                    let end = emitter
                        .bind(Scalar::I64, call("tw_min", [start.clone() + BLOCK, length.clone()]).integer());
                    let first = if target.is_some() { counts.at(block.clone()) } else { int(0) };
                    let count = emitter.changing(Scalar::I64, "count", first);
                    emitter.each(Level::SEQUENTIAL, start, end, |emitter, place| {
                        let found = holds(emitter, place.clone());
                        let next = var(&count);
                        match target {
                            Some(target) => {
                                let kept = c_tree::Block::from([
                                    Stmt::assign(target.at(next.clone()), place),
                                    Stmt::Update(next, "+=", int(1)),
                                ]);
                                emitter.push(Stmt::when(found, kept));
                            }
                            None => emitter.push(Stmt::Update(next, "+=", found.select(int(1), int(0)))),
                        }
                    });
                    if target.is_none() {
                        emitter.push(Stmt::assign(counts.at(block), var(&count)));
                    }
                },
            );
        };
        pass(self, None);
        let sum = self.changing(Scalar::I64, "sum", int(0));
        self.each(Level::SEQUENTIAL, int(0), blocks.clone(), |emitter, block| {
            let own = emitter.fresh("k");
            emitter.push(Stmt::constant("int64_t", own.clone(), counts.at(block.clone())));
            emitter.push(Stmt::assign(counts.at(block), var(&sum)));
            emitter.push(Stmt::Update(var(&sum), "+=", var(own)));
        });
        let more = i64::from(condition.is_none());
        let dest = self.dest(variable, &(var(&sum) + more));
        self.stop_if_wrong();
        let Some((target, _, _)) = dest.arrays.first().cloned() else { return };
        pass(self, Some(&target));
        if more == 1 {
            self.push(Stmt::assign(target.at(var(sum)), length));
        }
        self.depth -= 1;
    }

    fn order(&mut self, variable: VarId, keys: &'p Expr, env: &Env<'p>) {
        let source = self.sequence(keys, env);
        let length = self.steady(source.length.clone());
        let other = self.slots.scratch("scratch", Scalar::I64);
        let other = self.room(other, &length);
        let stored = match &source.array {
            Some((array, Scalar::I64)) => Some(array.clone()),
            _ => None,
        };
        let wide = stored.clone().unwrap_or_else(|| {
            let wide = self.slots.scratch("keys", Scalar::I64);
            self.room(wide, &length)
        });
        let dest = self.dest(variable, &length);
        self.stop_if_wrong();
        let level = self.level();
        if stored.is_none() {
            let own = wide.clone();
            self.each(level, int(0), length.clone(), |emitter, place| {
                let key = flat(&(source.at)(emitter, place.clone())).pop().unwrap_or(int(0));
                emitter.push(Stmt::assign(own.at(place), key));
            });
        }
        let Some((order, _, _)) = dest.arrays.first().cloned() else { return };
        let threads = if level.is_threads() { name("tw").arrow("threads") } else { int(1) };
        self.push(Stmt::call("tw_order", [wide, length, order, other, threads]));
    }

    fn scatter(&mut self, variable: VarId, value: &'p Expr, env: &Env<'p>) {
        let Kind::Apply(_, _, operands) = &value.kind else { return };
        let (span, rows) = (&value.span, value.ty.element().is_some_and(Type::has_sequence));
        let source = self.sequence(&operands[0], env);
        let indices = self.sequence(&operands[1], env);
        let target = self.sequence(&operands[2], env);
        let count = self.same(source.length.clone(), indices.length.clone(), span);
        let length = self.steady(target.length.clone());
        let level = self.level();
        // The target first, as it is.
        let copied = match rows {
            true => {
                self.fill_rows(variable, &target, length.clone());
                None
            }
            false => {
                let dest = self.dest(variable, &length);
                self.stop_if_wrong();
                let own = dest.clone();
                self.outer(
                    &target,
                    length.clone(),
                    Rc::new(move |emitter: &mut Emitter<'p>, place: C, view: View<'p>| {
                        emitter.store(&own, &place, &view)
                    }),
                    None,
                );
                Some(dest)
            }
        };
        let seen = self.slots.scratch("seen", Scalar::Bool);
        let seen = self.room(seen, &length);
        self.stop_if_wrong();
        self.push(Stmt::call("memset", [seen.clone(), int(0), length.clone()]));
        let index_check = self.check(FaultKind::Index, span);
        let twice = self.check(FaultKind::Twice, span);
        let lengths = self.check(FaultKind::Lengths, span);
        self.each(level, int(0), count, |emitter, place| {
            emitter.depth += 1;
            let index = flat(&(indices.at)(emitter, place.clone())).pop().unwrap_or(int(0));
            let index = emitter.bind(Scalar::I64, index);
            let report = emitter.report();
            let inside = call("tw_in", [index.clone(), length.clone(), report.clone(), index_check]);
            let (then, ()) = emitter.block(|emitter| {
                let mark = call(
                    "__atomic_exchange_n",
                    [seen.at(index.clone()).address(), int(1), name("__ATOMIC_RELAXED")],
                );
                let again = Stmt::call("tw_fault", [report.clone(), twice, index.clone(), int(0)]);
                emitter.push(Stmt::when(mark, again));
                let view = (source.at)(emitter, place.clone());
                match (&copied, view) {
                    (Some(dest), view) => emitter.store(dest, &index, &view),
                    (None, View::Sequence(row)) => {
                        let own = emitter.place(variable);
                        let named = |emitter: &Emitter<'p>, slot: usize| {
                            name(format!("d_{}", emitter.slots.list[slot].name))
                        };
                        let Some(offsets) = own.rows.map(|slot| named(emitter, slot)) else { return };
                        let base = emitter.fresh("base");
                        emitter.push(Stmt::constant("int64_t", base.clone(), offsets.at(index.clone())));
                        let room = offsets.at(index.clone() + 1) - var(&base);
                        let fits =
                            call("tw_same", [row.length.clone(), room, report.clone(), lengths]).integer();
                        let arrays = own.leaves.iter().map(|slot| {
                            let leaf = &emitter.slots.list[*slot];
                            (named(emitter, *slot), leaf.scalar, leaf.width)
                        });
                        let dest = Dest { arrays: arrays.collect(), length: row.length.clone() };
                        let own = emitter.fresh("k");
                        emitter.push(Stmt::constant("int64_t", own.clone(), fits));
                        let at = row.at.clone();
                        emitter.each(Level::SEQUENTIAL, int(0), var(own), |emitter, column| {
                            let view = at(emitter, column.clone());
                            emitter.store(&dest, &(var(&base) + column), &view);
                        });
                    }
                    _ => {}
                }
            });
            emitter.push(Stmt::when(inside, then));
            emitter.depth -= 1;
        });
    }
}
