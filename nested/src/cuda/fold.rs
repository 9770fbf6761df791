//! Reductions by several threads: the order of operations is that of [`BLOCK`] and [`LANES`], whoever computes.
//!
//! The lanes of a block of elements are threads of a logical warp. Where it has fewer threads than lanes, each thread has
//! several; where it has more, all of them compute elements, and the first ones bring them together by shuffles.

use crate::emit::device::{Shape, lanes_mask};
use crate::emit::emitter::{At, Emitter};
use crate::emit::fold::Folding;
use crate::emit::gpu::{Team, WARP, Where};
use crate::emit::value::literal;
use crate::emit::view::{Dest, flat, load, scalars, whole};
use crate::program::*;
use c_tree::{Expr as C, Stmt, call, int, name, var};

/// Threads of a logical warp that folds a block of elements, where all threads of a block share a row.
pub const SUB: i64 = LANES;
/// Threads of the block that brings the results of blocks together, and the results that it keeps at a time.
const CHAIN: (i64, i64) = (128, 512);

/// A logical warp: the thread's number in it, the mask of its lanes, and its threads.
#[derive(Clone)]
pub struct LogicalWarp {
    /// The thread's number in it.
    pub lane: C,
    /// The mask of its lanes.
    pub mask: C,
    /// Its threads.
    pub width: i64,
}

impl<'p> Emitter<'p> {
    /// The team of the kernel as a logical warp.
    fn team_warp(&self) -> LogicalWarp {
        let gpu = self.gpu.as_ref();
        let (lane, width) = gpu.and_then(|gpu| gpu.lane()).unwrap_or((int(0), 1));
        LogicalWarp { lane, mask: gpu.map_or(int(0), |gpu| gpu.mask()), width }
    }

    /// A logical warp of so many threads, of a block.
    pub fn warp_of_block(&mut self, width: i64) -> LogicalWarp {
        let (lane, mask) = (self.fresh("lane"), self.fresh("mask"));
        let thread = name("threadIdx").dot("x").cast("int");
        self.push(Stmt::constant("int", lane.clone(), thread % width));
        self.push(lanes_mask(&mask, width));
        LogicalWarp { lane: var(lane), mask: name(mask), width }
    }

    /// Reductions over sequences of one length, by the threads of a team; all of them know the results.
    pub fn fold_by_team(&mut self, foldings: &[Folding<'p>], totals: &[Vec<C>], length: &C) {
        let ats: Vec<At<'p>> = foldings.iter().map(|folding| folding.sequence.at.clone()).collect();
        match self.gpu.as_ref().map(|gpu| gpu.team) {
            Some(Team::Block) => self.fold_by_block(foldings, &ats, totals, length),
            _ => {
                let warp = self.team_warp();
                let start = self.fresh("b");
                let (body, ()) = self.block(|emitter| {
                    let end = emitter.end_of_block(&var(&start), length);
                    let blocks = emitter.fold_block(foldings, &ats, var(&start), end, &warp);
                    for ((folding, total), block) in foldings.iter().zip(totals).zip(blocks) {
                        let block = emitter.known_by_all(folding, block, &warp);
                        let block = whole(folding.ty, &mut block.into_iter());
                        let values = emitter.combine(folding, total, block);
                        emitter.assign(total, values);
                    }
                });
                self.push(Stmt::each("int64_t", start.clone(), 0, var(&start).lt(length), BLOCK, body));
            }
        }
    }

    /// The end of a block of elements.
    pub fn end_of_block(&mut self, start: &C, length: &C) -> C {
        self.bind(Scalar::I64, call("tw_min", [start.clone() + BLOCK, length.clone()]).integer())
    }

    /// The values of a logical warp's first thread.
    fn known_by_all(&mut self, folding: &Folding<'p>, values: Vec<C>, warp: &LogicalWarp) -> Vec<C> {
        if warp.width == 1 || folding.function.builtin.is_none() {
            return values;
        }
        let list = values.into_iter().zip(scalars(folding.ty));
        list.map(|(value, scalar)| {
            self.shuffled("__shfl_sync", scalar, value, int(0), warp.mask.clone(), warp.width)
        })
        .collect()
    }

    /// All threads of a block: each logical warp of them has a block of elements, then results are brought together.
    fn fold_by_block(&mut self, foldings: &[Folding<'p>], ats: &[At<'p>], totals: &[Vec<C>], length: &C) {
        let threads = self.gpu.as_ref().map_or(SUB, |gpu| gpu.block);
        let teams = threads / SUB;
        let warp = self.warp_of_block(SUB);
        let parts = self.shared_parts(foldings, "part", teams);
        let round = self.fresh("r");
        let (body, ()) = self.block(|emitter| {
            emitter.parts_of_round(foldings, ats, &parts, &warp, var(&round), length);
            let count = emitter.results_of_round(&round, length, teams);
            let index = emitter.fresh("n");
            let (chain, ()) = emitter.block(|emitter| {
                emitter.add_parts(foldings, totals, &parts, &var(&index));
            });
            emitter.push(Stmt::count("int", index, 0, count, chain));
            emitter.barrier();
        });
        let step = BLOCK * teams;
        self.push(Stmt::each("int64_t", round.clone(), 0, var(&round).lt(length), step, body));
    }

    /// How many results a round of a block's threads gives.
    pub fn results_of_round(&mut self, round: &str, length: &C, teams: i64) -> C {
        let rest = (length.clone() - var(round) + (BLOCK - 1)) / BLOCK;
        self.bind(Scalar::I64, call("tw_min", [int(teams), rest]).integer())
    }

    /// Each logical warp of a block folds a block of elements into its place, and all wait.
    pub fn parts_of_round(
        &mut self,
        foldings: &[Folding<'p>],
        ats: &[At<'p>],
        parts: &[Vec<C>],
        warp: &LogicalWarp,
        round: C,
        length: &C,
    ) {
        let team = name("threadIdx").dot("x").cast("int") / SUB;
        let own = self.fresh("w");
        self.push(Stmt::constant("int", own.clone(), team));
        let start = self.fresh("b");
        self.push(Stmt::constant("int64_t", start.clone(), round + var(&own) * BLOCK));
        let (some, ()) = self.block(|emitter| {
            let end = emitter.end_of_block(&var(&start), length);
            let results = emitter.fold_block(foldings, ats, var(&start), end, warp);
            let (stored, ()) = emitter.block(|emitter| {
                for (part, result) in parts.iter().zip(results) {
                    let targets: Vec<C> = part.iter().map(|part| part.at(var(&own))).collect();
                    emitter.assign(&targets, result);
                }
            });
            emitter.push(Stmt::when(warp.lane.clone().is(0), stored));
        });
        self.push(Stmt::when(var(&start).lt(length), some));
        self.barrier();
    }

    /// Arrays in shared memory for results.
    pub fn shared_parts(&mut self, foldings: &[Folding<'p>], stem: &str, count: i64) -> Vec<Vec<C>> {
        let arrays = foldings.iter().map(|folding| {
            let kinds = scalars(folding.ty);
            kinds.into_iter().map(|scalar| self.shared(scalar, stem, count)).collect()
        });
        arrays.collect()
    }

    /// The elements of a block, folded without the prefix, by a logical warp; its first thread has the results.
    pub fn fold_block(
        &mut self,
        foldings: &[Folding<'p>],
        ats: &[At<'p>],
        start: C,
        end: C,
        warp: &LogicalWarp,
    ) -> Vec<Vec<C>> {
        if !foldings.iter().all(|folding| folding.function.builtin.is_some()) {
            return self.alone(|emitter| emitter.in_order_block(foldings, ats, &[], start, end));
        }
        if warp.width == 1 {
            let level = crate::analysis::Level::SEQUENTIAL;
            return self.alone(|emitter| emitter.one_block(foldings, ats, &[], start, end, level));
        }
        let (lane, width) = (warp.lane.clone(), warp.width);
        // The lanes of the order that a thread has: lane, lane + width, ..
        let own = (LANES / width).max(1);
        let mut states: Vec<Vec<Vec<C>>> = Vec::new();
        for folding in foldings {
            let one = |emitter: &mut Self| {
                let identities = emitter.identities(folding);
                emitter.states(folding, "lane", identities)
            };
            states.push((0..own).map(|_| one(self)).collect());
        }
        let grouped = self.fresh("g");
        let count = (end.clone() - start.clone()) / LANES * LANES;
        self.push(Stmt::constant("int64_t", grouped.clone(), start.clone() + count));
        let grouped = var(grouped);
        let base = self.fresh("c");
        let step = width.max(LANES);
        let (groups, ()) = self.block(|emitter| {
            if width <= LANES {
                for number in 0..own {
                    let place = emitter.fresh("i");
                    let here = var(&base) + lane.clone() + number * width;
                    emitter.push(Stmt::constant("int64_t", place.clone(), here));
                    for ((folding, at), states) in foldings.iter().zip(ats).zip(&states) {
                        let element = emitter.alone(|emitter| at(emitter, var(&place)));
                        let state = &states[number as usize];
                        let values = emitter.combine(folding, state, element);
                        emitter.assign(state, values);
                    }
                }
                return;
            }
            // Each thread one element, then the threads of the lanes one after the other.
            let elements = emitter.elements_of_warp(foldings, ats, var(&base) + lane.clone(), &grouped);
            for turn in 0..width / LANES {
                let (body, ()) = emitter.block(|emitter| {
                    for ((folding, element), states) in foldings.iter().zip(&elements).zip(&states) {
                        let from = lane.clone() + turn * LANES;
                        let moved = emitter.value_of_lane("__shfl_sync", folding, element, &from, warp);
                        let values = emitter.combine(folding, &states[0], moved);
                        emitter.assign(&states[0], values);
                    }
                });
                emitter.push(Stmt::when((var(&base) + turn * LANES).lt(&grouped), body));
            }
        });
        // Elements are loaded ahead of the sums that wait for them.
        self.push(Stmt::Pragma(format!("unroll {}", if width <= LANES { 8 } else { 4 })));
        self.push(Stmt::each("int64_t", base.clone(), start, var(&base).lt(&grouped), step, groups));
        let mut results: Vec<Vec<C>> = Vec::new();
        for (folding, mut states) in foldings.iter().zip(states) {
            let mut half = LANES / 2;
            while half > 0 {
                if half >= width {
                    // Lanes of one thread.
                    let upper = states.split_off(states.len() / 2);
                    for (low, high) in states.iter().zip(upper) {
                        let high = whole(folding.ty, &mut high.into_iter());
                        let values = self.combine(folding, low, high);
                        self.assign(low, values);
                    }
                } else {
                    let state = states[0].clone();
                    let high = self.value_of_lane("__shfl_down_sync", folding, &state, &int(half), warp);
                    let values = self.combine(folding, &state, high);
                    self.assign(&state, values);
                }
                half /= 2;
            }
            results.push(states.swap_remove(0));
        }
        self.rest_of_block(foldings, ats, &results, grouped, end, warp);
        results
    }

    /// What is left behind the groups of a block, one after the other.
    fn rest_of_block(
        &mut self,
        foldings: &[Folding<'p>],
        ats: &[At<'p>],
        results: &[Vec<C>],
        first: C,
        end: C,
        warp: &LogicalWarp,
    ) {
        let base = self.fresh("c");
        let (body, ()) = self.block(|emitter| {
            let elements = emitter.elements_of_warp(foldings, ats, var(&base) + warp.lane.clone(), &end);
            let left = call("tw_min", [int(warp.width.min(LANES)), end.clone() - var(&base)]);
            let left = emitter.bind(Scalar::I64, left.integer());
            let turn = emitter.fresh("n");
            let (inner, ()) = emitter.block(|emitter| {
                for ((folding, element), result) in foldings.iter().zip(&elements).zip(results) {
                    let moved = emitter.value_of_lane("__shfl_sync", folding, element, &var(&turn), warp);
                    let values = emitter.combine(folding, result, moved);
                    emitter.assign(result, values);
                }
            });
            emitter.push(Stmt::count("int", turn, 0, left, inner));
        });
        let step = warp.width.min(LANES);
        self.push(Stmt::each("int64_t", base.clone(), first, var(&base).lt(end), step, body));
    }

    /// The element at a place for each thread, or the identity behind the end.
    fn elements_of_warp(
        &mut self,
        foldings: &[Folding<'p>],
        ats: &[At<'p>],
        place: C,
        end: &C,
    ) -> Vec<Vec<C>> {
        let here = self.fresh("i");
        self.push(Stmt::constant("int64_t", here.clone(), place));
        let mut elements = Vec::new();
        for folding in foldings {
            let identities = self.identities(folding);
            elements.push(self.states(folding, "e", identities));
        }
        let (some, ()) = self.block(|emitter| {
            emitter.alone(|emitter| {
                for ((element, at), folding) in elements.iter().zip(ats).zip(foldings) {
                    let value = at(emitter, var(&here));
                    let value = flat(&value);
                    let kinds = scalars(folding.ty);
                    let value: Vec<C> = value
                        .into_iter()
                        .zip(kinds)
                        .map(|(value, scalar)| emitter.kept(scalar, value))
                        .collect();
                    emitter.assign(element, value);
                }
            });
        });
        self.push(Stmt::when(var(&here).lt(end), some));
        elements
    }

    /// A value of another thread of a logical warp: with `__shfl_sync` that of thread `which`, with `__shfl_down_sync` that of the
    /// thread which is so much further.
    fn value_of_lane(
        &mut self,
        primitive: &'static str,
        folding: &Folding<'p>,
        own: &[C],
        which: &C,
        warp: &LogicalWarp,
    ) -> crate::emit::emitter::View<'p> {
        let moved: Vec<C> = own
            .iter()
            .zip(scalars(folding.ty))
            .map(|(own, scalar)| {
                self.shuffled(primitive, scalar, own.clone(), which.clone(), warp.mask.clone(), warp.width)
            })
            .collect();
        whole(folding.ty, &mut moved.into_iter())
    }

    /// The results of all blocks of elements, in arrays of the device: a kernel.
    pub fn parts_of_device(&mut self, foldings: &[Folding<'p>], length: &C) -> (Vec<Dest>, C) {
        let blocks = self.steady((length.clone() + (BLOCK - 1)) / BLOCK);
        let mut parts = Vec::new();
        for folding in foldings {
            let kinds = scalars(folding.ty);
            let arrays = kinds.into_iter().map(|scalar| {
                let slot = self.slots.scratch("parts", scalar);
                (self.room(slot, &(blocks.clone() + 1)), scalar, 1)
            });
            parts.push(Dest { arrays: arrays.collect(), length: blocks.clone() });
        }
        self.stop_if_wrong();
        let ats: Vec<At<'p>> = foldings.iter().map(|folding| folding.sequence.at.clone()).collect();
        let (team, threads) = self.gpu.as_ref().map_or((1, 1), |gpu| (gpu.team_size().min(WARP), gpu.block));
        let saved = self.gpu.as_ref().map(|gpu| gpu.team);
        if let Some(gpu) = self.gpu.as_mut().filter(|gpu| gpu.team == Team::Block) {
            gpu.team = Team::Warp(SUB as u32);
        }
        let team = if saved == Some(Team::Block) { SUB } else { team };
        let shape = Shape::Items(blocks.clone(), threads / team);
        self.launch(shape, threads, Where::Team, |emitter| {
            let warp = emitter.team_warp();
            emitter.each_of_team(blocks.clone(), |emitter, block| {
                let start = emitter.bind(Scalar::I64, block.clone() * BLOCK);
                let end = emitter.end_of_block(&start, length);
                let results = emitter.fold_block(foldings, &ats, start, end, &warp);
                for ((part, result), folding) in parts.iter().zip(results).zip(foldings) {
                    let value = whole(folding.ty, &mut result.into_iter());
                    emitter.store(part, &block, &value);
                }
            });
        });
        if let (Some(gpu), Some(saved)) = (self.gpu.as_mut(), saved) {
            gpu.team = saved;
        }
        (parts, blocks)
    }

    /// Brings results of blocks together, from the prefixes on, in a kernel of one block. `each` is told the total before
    /// each of them, where that is wanted.
    pub fn chain(
        &mut self,
        foldings: &[Folding<'p>],
        parts: &[Dest],
        blocks: &C,
        kept: bool,
        dests: &[Dest],
    ) {
        let (threads, most) = CHAIN;
        self.launch(Shape::One, threads, Where::Thread, |emitter| {
            let thread = emitter.fresh("thread");
            emitter.push(Stmt::constant("int", thread.clone(), name("threadIdx").dot("x").cast("int")));
            let mut totals = Vec::new();
            for folding in foldings {
                let prefix = flat(&folding.prefix);
                totals.push(emitter.states(folding, "total", prefix));
            }
            let own = emitter.shared_parts(foldings, "part", most);
            let round = emitter.fresh("r");
            let (body, ()) = emitter.block(|emitter| {
                let rest = call("tw_min", [int(most), blocks.clone() - var(&round)]);
                let count = emitter.bind(Scalar::I64, rest.integer());
                let copy = |emitter: &mut Self, back: bool| {
                    let index = emitter.fresh("n");
                    let (inner, ()) = emitter.block(|emitter| {
                        for (own, part) in own.iter().zip(parts) {
                            for (own, (part, ..)) in own.iter().zip(&part.arrays) {
                                let (near, far) = (own.at(var(&index)), part.at(var(&round) + var(&index)));
                                let (to, from) = if back { (far, near) } else { (near, far) };
                                emitter.push(Stmt::assign(to, from));
                            }
                        }
                    });
                    let condition = var(&index).lt(&count);
                    emitter.push(Stmt::each("int", index, var(&thread), condition, threads, inner));
                };
                copy(emitter, false);
                emitter.barrier();
                let index = emitter.fresh("n");
                let (inner, ()) = emitter.block(|emitter| {
                    for ((folding, total), own) in foldings.iter().zip(&totals).zip(&own) {
                        let kinds = scalars(folding.ty);
                        let targets: Vec<C> = own.iter().map(|own| own.at(var(&index))).collect();
                        let part: Vec<C> = targets
                            .iter()
                            .zip(kinds)
                            .map(|(value, scalar)| emitter.kept(scalar, value.clone()))
                            .collect();
                        if kept {
                            emitter.assign(&targets, total.clone());
                        }
                        let part = whole(folding.ty, &mut part.into_iter());
                        let values = emitter.combine(folding, total, part);
                        emitter.assign(total, values);
                    }
                });
                let mut chain = c_tree::Block::new();
                chain.push(Stmt::Pragma("unroll 8".to_owned()));
                chain.push(Stmt::count("int", index, 0, count.clone(), inner));
                // What changes the results is done by one thread; else all do the same.
                match kept {
                    true => emitter.push(Stmt::when(var(&thread).is(0), chain)),
                    false => chain.into_iter().for_each(|statement| emitter.push(statement)),
                }
                emitter.barrier();
                if kept {
                    copy(emitter, true);
                    emitter.barrier();
                }
            });
            emitter.push(Stmt::each("int64_t", round.clone(), 0, var(&round).lt(blocks), most, body));
            let (end, ()) = emitter.block(|emitter| {
                for ((folding, total), dest) in foldings.iter().zip(&totals).zip(dests) {
                    let value = whole(folding.ty, &mut total.iter().cloned());
                    emitter.put(dest, &int(0), &value);
                }
            });
            if !dests.is_empty() {
                emitter.push(Stmt::when(var(&thread).is(0), end));
            }
        });
    }

    /// What is stored of a block's result.
    pub fn part_at(&mut self, folding: &Folding<'p>, part: &Dest, block: &C) -> Vec<C> {
        let kinds = scalars(folding.ty);
        let list = part.arrays.iter().zip(kinds);
        list.map(|((array, ..), scalar)| {
            let value: crate::emit::emitter::View<'p> =
                load(&Type::Scalar(scalar), &[(array.clone(), scalar, 1)], block, None);
            flat(&value).pop().unwrap_or(literal(Literal::I64(0)))
        })
        .collect()
    }
}
