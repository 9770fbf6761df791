//! One function of the host for each step, and its kernels.

use crate::analysis::Level;
use crate::analysis::gpu::GpuImplementation;
use crate::emit::device::Shape;
use crate::emit::emitter::{Emitter, Seq, View};
use crate::emit::env::Env;
use crate::emit::fold::Folding;
use crate::emit::generated::Kernel;
use crate::emit::gpu::Where;
use crate::emit::view::{Dest, RowShape, flat};
use crate::fault::FaultKind;
use crate::lower::Step;
use crate::program::*;
use c_tree::{Expr as C, Function as CFunction, Stmt, call, int, name, var};
use std::rc::Rc;

/// What becomes of an element of the outermost sequence, given its place.
pub(super) type Put<'p> = Rc<dyn Fn(&mut Emitter<'p>, C, View<'p>) + 'p>;

impl<'p> Emitter<'p> {
    /// The function of a step; none of control.
    pub fn step(&mut self, step: &'p Step, own: &GpuImplementation, title: &str) -> Option<Kernel> {
        let levels =
            own.schedule.iter().map(|schedule| Level { unroll: own.unroll, ..Level::simd(*schedule) });
        self.begin(levels.collect(), 0);
        let env = Env::default();
        let names = |list: &[VarId]| {
            let names = list.iter().map(|id| self.lowered.program.variable(*id).name.clone());
            names.collect::<Vec<String>>()
        };
        let fills: Vec<VarId> = match step {
            Step::Fill(id, _) | Step::Scan(id, _) | Step::Order(id, _) | Step::Scatter(id, _) => vec![*id],
            Step::Places { variable, .. } => vec![*variable],
            Step::Fold(list) => list.iter().map(|(id, _)| *id).collect(),
            Step::Swap(..) | Step::Repeat { .. } => return None,
        };
        let names = names(&fills);
        let title = format!("{title}_{}", names.join("_"));
        if let Some(gpu) = &mut self.gpu {
            gpu.begin(&title, own.team, i64::from(own.block));
            (gpu.balanced, gpu.look_back) = (own.balanced, own.look_back);
        }
        match step {
            Step::Fill(variable, value) => self.fill_by_device(*variable, value, &env),
            Step::Fold(list) => self.folds_by_device(list, &env),
            Step::Scan(variable, value) => self.scan_step(*variable, value, &env),
            Step::Places { variable, sequence, condition } => {
                self.places_by_device(*variable, sequence, condition.as_ref(), &env);
            }
            Step::Order(variable, keys) => self.order_by_device(*variable, keys, &env),
            Step::Scatter(variable, value) => self.scatter_by_device(*variable, value, &env),
            Step::Swap(..) | Step::Repeat { .. } => {}
        }
        let body = self.end();
        let function = CFunction::new(title.clone())
            .comment(format!("Fills {}.", names.join(", ")))
            .attribute("static")
            .parameter(c_tree::Type::new("tw_context").pointer(), "tw")
            .body(body);
        let (reads, writes) = (self.reads.iter().copied().collect(), self.writes.iter().copied().collect());
        Some(Kernel { function, name: title, fills, reads, writes })
    }

    /// Whether the outermost sequence is gone through one element after the other.
    fn is_sequential(&self) -> bool {
        self.levels.first().is_none_or(|level| !level.schedule.is_parallel())
    }

    fn fill_by_device(&mut self, variable: VarId, value: &'p Expr, env: &Env<'p>) {
        if value.ty.element().is_none() {
            let dest = self.dest(variable, &int(1));
            self.stop_if_wrong();
            return self.launch(Shape::One, 1, Where::Thread, |emitter| {
                let view = emitter.value(value, env);
                emitter.put(&dest, &int(0), &view);
            });
        }
        let sequence = self.sequence(value, env);
        let length = self.steady(sequence.length.clone());
        if value.ty.element().is_some_and(Type::has_sequence) {
            return self.rows_by_device(variable, &sequence, length);
        }
        let dest = self.dest(variable, &length);
        self.stop_if_wrong();
        let put: Put<'p> = Rc::new(move |emitter, place, view| emitter.store(&dest, &place, &view));
        self.outer_by_device(&sequence, length, put);
    }

    /// A kernel of the outermost loop: each team has one element at a time.
    fn outer_by_device(&mut self, sequence: &Seq<'p>, length: C, put: Put<'p>) {
        if let Some(open) = sequence.open.clone() {
            return self.launch(Shape::One, 1, Where::Thread, |emitter| {
                let (at, steps) = open(emitter);
                emitter.one_thread(length, |emitter, place| {
                    let view = at(emitter, place.clone());
                    put(emitter, place.clone(), view);
                    steps.iter().for_each(|step| step(emitter, place.clone()));
                });
            });
        }
        let at = sequence.at.clone();
        if let Some(RowShape::Offsets(offsets, scalar)) = &sequence.rows
            && self.gpu.as_ref().is_some_and(|gpu| gpu.balanced)
            && !self.is_sequential()
        {
            return self.merged_by_device(&at, (offsets, *scalar), &length, &put);
        }
        let (team, block) = self.gpu.as_ref().map_or((1, 1), |gpu| (gpu.team_size(), gpu.block));
        let each = |emitter: &mut Self, place: C| {
            emitter.depth += 1;
            let view = at(emitter, place.clone());
            put(emitter, place, view);
            emitter.depth -= 1;
        };
        if self.is_sequential() {
            // One team, and no other.
            return self.launch(Shape::One, team, Where::Team, |emitter| {
                emitter.one_thread(length, each);
            });
        }
        self.launch(Shape::Items(length.clone(), block / team), block, Where::Team, |emitter| {
            emitter.each_of_team(length, each);
        });
    }

    /// All rounds of a loop, by whoever runs this.
    fn one_thread(&mut self, end: C, body: impl FnOnce(&mut Self, C)) {
        let index = self.fresh("i");
        let (inner, ()) = self.block(|emitter| body(emitter, var(&index)));
        self.push(Stmt::count("int64_t", index, 0, end, inner));
    }

    /// A sequence of rows: where they begin, then their elements.
    fn rows_by_device(&mut self, variable: VarId, sequence: &Seq<'p>, length: C) {
        let place = self.place(variable);
        let Some(rows_slot) = place.rows else { return };
        let shape = self.shape(sequence);
        let count = length.clone() + 1;
        let offsets = self.room(rows_slot, &count);
        self.stop_if_wrong();
        let into = offsets.clone();
        let total = match shape {
            Some(RowShape::Offsets(from, _)) => {
                let own = from.clone();
                self.by_threads_of_device(count, |emitter, row| {
                    emitter.push(Stmt::assign(into.at(row.clone()), own.at(row)));
                });
                from.at(length.clone()).cast("int64_t")
            }
            Some(RowShape::Tiled(tile, total)) => {
                let (rows, all) = (length.clone(), total.clone());
                self.by_threads_of_device(count, |emitter, row| {
                    let value = call("tw_min", [row.clone() * tile, all.clone()]);
                    // Behind the last tile, which may end beyond the greatest number.
                    let value = row.clone().lt(rows).select(value, all);
                    emitter.push(Stmt::assign(into.at(row), value));
                });
                total
            }
            Some(RowShape::Equal(own)) => {
                let equal = own.clone();
                self.by_threads_of_device(count, |emitter, row| {
                    emitter.push(Stmt::assign(into.at(row.clone()), row * equal));
                });
                own * length.clone()
            }
            None => {
                let at = sequence.at.clone();
                self.by_threads_of_device(length.clone(), |emitter, row| {
                    if let View::Sequence(own) = at(emitter, row.clone()) {
                        emitter.push(Stmt::assign(into.at(row), own.length));
                    }
                });
                call("tw_totals", [name("tw"), offsets.clone(), length.clone()])
            }
        };
        let total = self.changing(Scalar::I64, "total", total);
        self.stop_if_wrong();
        let dest = self.dest(variable, &var(total));
        self.stop_if_wrong();
        let put: Put<'p> = Rc::new(move |emitter, row, view| {
            let View::Sequence(own) = view else { return };
            let base = emitter.fresh("base");
            emitter.push(Stmt::constant("int64_t", base.clone(), offsets.at(row)));
            emitter.store_row(&own, &dest, &var(base));
        });
        self.outer_by_device(sequence, length, put);
    }

    fn folds_by_device(&mut self, list: &'p [(VarId, Expr)], env: &Env<'p>) {
        let foldings: Vec<Folding<'p>> =
            list.iter().filter_map(|(_, value)| self.folding(value, env)).collect();
        let dests: Vec<Dest> = list.iter().map(|(variable, _)| self.dest(*variable, &int(1))).collect();
        self.stop_if_wrong();
        let ordered = foldings.iter().any(|folding| folding.sequence.open.is_some());
        if self.is_sequential() || ordered || !foldings.iter().all(Folding::is_tree) {
            return self.launch(Shape::One, 1, Where::Thread, |emitter| {
                let results = emitter.fold(&foldings);
                for (dest, result) in dests.iter().zip(results) {
                    emitter.put(dest, &int(0), &result);
                }
            });
        }
        let mut length = foldings[0].sequence.length.clone();
        for folding in &foldings[1..] {
            length = self.same(length, folding.sequence.length.clone(), folding.span);
        }
        let length = self.steady(length);
        self.depth += 1;
        let (parts, blocks) = self.parts_of_device(&foldings, &length);
        self.chain(&foldings, &parts, &blocks, false, &dests);
        self.depth -= 1;
    }

    fn scan_step(&mut self, variable: VarId, value: &'p Expr, env: &Env<'p>) {
        let Some(folding) = self.folding(value, env) else { return };
        let length = self.steady(folding.sequence.length.clone());
        let dest = self.dest(variable, &length);
        self.stop_if_wrong();
        if self.is_sequential() || !folding.is_tree() || folding.sequence.open.is_some() {
            return self.launch(Shape::One, 1, Where::Thread, |emitter| {
                emitter.scan_range(&folding, &dest, &int(0), [int(0), length], true);
            });
        }
        self.depth += 1;
        match self.gpu.as_ref().is_some_and(|gpu| gpu.look_back) {
            true => self.scan_looking_back(&folding, &dest, &length),
            false => self.scan_by_device(&folding, &dest, &length),
        }
        self.depth -= 1;
    }

    /// Places where a condition holds, in order: they are counted in tiles, then written.
    fn places_by_device(
        &mut self,
        variable: VarId,
        sequence: &'p Expr,
        condition: Option<&'p Function>,
        env: &Env<'p>,
    ) {
        const THREADS: i64 = 256;
        let source = self.sequence(sequence, env);
        let length = self.steady(source.length.clone());
        let at = source.at.clone();
        let holds = |emitter: &mut Emitter<'p>, place: C, found: &str| {
            let (inside, ()) = emitter.block(|emitter| {
                let value = match condition {
                    Some(condition) => {
                        let element = at(emitter, place.clone());
                        flat(&emitter.call(condition, vec![element], env)).pop().unwrap_or(C::Bool(false))
                    }
                    None => {
                        let own = flat(&at(emitter, place.clone())).pop().unwrap_or(int(0));
                        let (before, other) = emitter
                            .block(|emitter| flat(&at(emitter, place.clone() - 1)).pop().unwrap_or(int(0)));
                        let own = emitter.kept(Scalar::I64, own);
                        let mut then = before;
                        then.push(Stmt::assign(name(found), own.is_not(other)));
                        emitter.push(Stmt::choose(
                            place.clone().is(0),
                            Stmt::assign(name(found), C::Bool(true)),
                            then,
                        ));
                        return;
                    }
                };
                emitter.push(Stmt::assign(name(found), value));
            });
            emitter.push(Stmt::when(place.lt(&length), inside));
        };
        let tiles = self.steady((length.clone() + (BLOCK - 1)) / BLOCK);
        let slot = self.slots.scratch("counts", Scalar::I64);
        let counts = self.room(slot, &(tiles.clone() + 1));
        self.stop_if_wrong();
        self.depth += 1;
        let pass = |emitter: &mut Self, target: Option<&C>| {
            emitter.launch(Shape::Blocks(tiles.clone()), THREADS, Where::Thread, |emitter| {
                let words = emitter.shared(Scalar::I32, "words", THREADS / 32);
                let tile = emitter.fresh("b");
                emitter.push(Stmt::constant(
                    "int64_t",
                    tile.clone(),
                    name("blockIdx").dot("x").cast("int64_t"),
                ));
                let first = if target.is_some() { counts.at(var(&tile)) } else { int(0) };
                let count = emitter.changing(Scalar::I64, "count", first);
                let turn = emitter.fresh("r");
                let (body, ()) = emitter.block(|emitter| {
                    let place = emitter.fresh("i");
                    let thread = name("threadIdx").dot("x").cast("int");
                    let here = var(&tile) * BLOCK + var(&turn) + thread;
                    emitter.push(Stmt::constant("int64_t", place.clone(), here));
                    let found = emitter.changing(Scalar::Bool, "found", C::Bool(false));
                    holds(emitter, var(&place), &found);
                    let all = emitter.changing(Scalar::I32, "all", int(0));
                    let rank = emitter.fresh("rank");
                    let value = call("tw_block_rank", [words.clone(), name(&found), var(&all).address()]);
                    emitter.push(Stmt::constant("int", rank.clone(), value));
                    match target {
                        Some(target) => {
                            let put = Stmt::assign(target.at(var(&count) + var(rank)), var(place));
                            emitter.push(Stmt::when(name(found), put));
                        }
                        None => emitter.push(Stmt::unused(rank)),
                    }
                    emitter.push(Stmt::Update(var(&count), "+=", var(all)));
                });
                emitter.push(Stmt::each("int", turn.clone(), 0, var(&turn).lt(BLOCK), THREADS, body));
                if target.is_none() {
                    let own = name("threadIdx").dot("x").cast("int").is(0);
                    emitter.push(Stmt::when(own, Stmt::assign(counts.at(var(&tile)), var(&count))));
                }
            });
        };
        pass(self, None);
        let sum = self.changing(
            Scalar::I64,
            "sum",
            call("tw_totals", [name("tw"), counts.clone(), tiles.clone()]).integer(),
        );
        self.stop_if_wrong();
        let more = i64::from(condition.is_none());
        let dest = self.dest(variable, &(var(&sum) + more));
        self.stop_if_wrong();
        let Some((target, _, _)) = dest.arrays.first().cloned() else { return };
        pass(self, Some(&target));
        if more == 1 {
            self.launch(Shape::One, 1, Where::Thread, |emitter| {
                emitter.push(Stmt::assign(target.at(var(&sum)), length.clone()));
            });
        }
        self.depth -= 1;
    }

    fn order_by_device(&mut self, variable: VarId, keys: &'p Expr, env: &Env<'p>) {
        let source = self.sequence(keys, env);
        let length = self.steady(source.length.clone());
        let slots = ["keys", "scratch", "counts"].map(|own| self.slots.scratch(own, Scalar::I64));
        let tiles = self.steady((length.clone() + (BLOCK - 1)) / BLOCK);
        let wide = self.room(slots[0], &length);
        let other = self.room(slots[1], &length);
        let counts = self.room(slots[2], &(tiles * 16 + 129));
        let dest = self.dest(variable, &length);
        self.stop_if_wrong();
        let own = wide.clone();
        self.depth += 1;
        self.by_threads_of_device(length.clone(), |emitter, place| {
            let key = flat(&(source.at)(emitter, place.clone())).pop().unwrap_or(int(0));
            emitter.push(Stmt::assign(own.at(place), key));
        });
        self.depth -= 1;
        let Some((order, _, _)) = dest.arrays.first().cloned() else { return };
        self.push(Stmt::call("tw_order", [name("tw"), wide, length, order, other, counts]));
    }

    fn scatter_by_device(&mut self, variable: VarId, value: &'p Expr, env: &Env<'p>) {
        let Kind::Apply(_, _, operands) = &value.kind else { return };
        let (span, rows) = (&value.span, value.ty.element().is_some_and(Type::has_sequence));
        let source = self.sequence(&operands[0], env);
        let indices = self.sequence(&operands[1], env);
        let target = self.sequence(&operands[2], env);
        let count = self.same(source.length.clone(), indices.length.clone(), span);
        let length = self.steady(target.length.clone());
        // The target first, as it is.
        let copied = match rows {
            true => {
                self.rows_by_device(variable, &target, length.clone());
                None
            }
            false => {
                let dest = self.dest(variable, &length);
                self.stop_if_wrong();
                let own = dest.clone();
                let put: Put<'p> = Rc::new(move |emitter, place, view| emitter.store(&own, &place, &view));
                self.outer_by_device(&target, length.clone(), put);
                Some(dest)
            }
        };
        // Of those that want a place the last one claims it; the others are too many.
        let slot = self.slots.scratch("claims", Scalar::I64);
        let claims = self.room(slot, &length);
        self.stop_if_wrong();
        self.push(Stmt::call("tw_filled", [name("tw"), claims.clone(), length.clone(), int(-1)]));
        let index_check = self.check(FaultKind::Index, span);
        let twice = self.check(FaultKind::Twice, span);
        let lengths = self.check(FaultKind::Lengths, span);
        self.depth += 1;
        let inside = |emitter: &mut Self, place: &C| {
            let index = flat(&(indices.at)(emitter, place.clone())).pop().unwrap_or(int(0));
            let index = emitter.bind(Scalar::I64, index);
            let report = emitter.report();
            (index.clone(), call("tw_in", [index, length.clone(), report, index_check.clone()]))
        };
        let own = claims.clone();
        self.by_threads_of_device(count.clone(), |emitter, place| {
            let (index, inside) = inside(emitter, &place);
            emitter.push(Stmt::when(inside, Stmt::call("tw_claim", [own, index, place])));
        });
        self.by_threads_of_device(count, |emitter, place| {
            let (index, inside) = inside(emitter, &place);
            let report = emitter.report();
            let (some, ()) = emitter.block(|emitter| {
                let (then, ()) = emitter.block(|emitter| {
                    let view = (source.at)(emitter, place.clone());
                    match (&copied, view) {
                        (Some(dest), view) => emitter.put(dest, &index, &view),
                        (None, View::Sequence(row)) => {
                            emitter.replaced_row(variable, &row, &index, &lengths);
                        }
                        _ => {}
                    }
                });
                let again = Stmt::call("tw_fault", [report, twice, index.clone(), int(0)]);
                emitter.push(Stmt::choose(claims.at(index.clone()).is(place), then, again));
            });
            emitter.push(Stmt::when(inside, some));
        });
        self.depth -= 1;
    }

    /// A row in the place of another one of its length.
    fn replaced_row(&mut self, variable: VarId, row: &Seq<'p>, index: &C, check: &C) {
        let own = self.place(variable);
        let named = |emitter: &Self, slot: usize| name(format!("d_{}", emitter.slots.list[slot].name));
        let Some(offsets) = own.rows.map(|slot| named(self, slot)) else { return };
        let base = self.fresh("base");
        self.push(Stmt::constant("int64_t", base.clone(), offsets.at(index.clone())));
        let room = offsets.at(index.clone() + 1) - var(&base);
        let fits = call("tw_same", [row.length.clone(), room, self.report(), check.clone()]).integer();
        let arrays = own.leaves.iter().map(|slot| {
            let leaf = &self.slots.list[*slot];
            (named(self, *slot), leaf.scalar, leaf.width)
        });
        let dest = Dest { arrays: arrays.collect(), length: row.length.clone() };
        let kept = self.kept(Scalar::I64, fits);
        let at = row.at.clone();
        self.one_thread(kept, |emitter, column| {
            let view = at(emitter, column.clone());
            emitter.put(&dest, &(var(&base) + column), &view);
        });
    }
}
