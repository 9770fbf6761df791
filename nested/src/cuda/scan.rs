//! Scans: results of blocks of elements, what comes before each, and each block from there on, element by element. A warp
//! has several blocks: their elements are loaded side by side into shared memory, where each thread walks through its own.

use super::fold::SUB;
use crate::emit::device::Shape;
use crate::emit::emitter::{At, Emitter};
use crate::emit::fold::Folding;
use crate::emit::gpu::{Team, WARP, Where};
use crate::emit::view::{Dest, Into, flat, scalars, whole};
use crate::program::*;
use c_tree::{Expr as C, Stmt, int, name, var};
use std::rc::Rc;

/// Warps of a block that scans a whole sequence.
const WARPS: i64 = 2;

/// Some blocks of elements that a warp scans.
struct Share<'a> {
    /// The number of the first one.
    first: C,
    /// How many there are at most; a thread has one each.
    rows: i64,
    /// Their elements side by side, in shared memory.
    tiles: &'a [C],
    /// Where in these arrays the warp's own part begins.
    base: C,
    /// The thread's number in the warp.
    lane: C,
    /// The state of each thread's block.
    state: &'a [C],
}

impl<'p> Emitter<'p> {
    /// A scan of a whole sequence.
    pub fn scan_by_device(&mut self, folding: &Folding<'p>, dest: &Dest, length: &C) {
        let foldings = std::slice::from_ref(folding);
        let (parts, blocks) = self.parts_of_device(foldings, length);
        self.chain(foldings, &parts, &blocks, true, &[]);
        let shares = self.steady((blocks.clone() + (WARP - 1)) / WARP);
        let saved = self.gpu.as_ref().map(|gpu| (gpu.team, gpu.block));
        if let Some(gpu) = &mut self.gpu {
            (gpu.team, gpu.block) = (Team::Warp(WARP as u32), WARP * WARPS);
        }
        self.launch(Shape::Items(shares.clone(), WARPS), WARP * WARPS, Where::Team, |emitter| {
            let lane = emitter.gpu.as_ref().and_then(|gpu| gpu.lane()).map_or(int(0), |(lane, _)| lane);
            let kinds = scalars(folding.ty);
            let tiles: Vec<C> = kinds
                .iter()
                .map(|scalar| emitter.shared(*scalar, "tile", WARPS * WARP * (WARP + 1)))
                .collect();
            let base = emitter.fresh("t");
            let warp = name("threadIdx").dot("x").cast("int") / WARP;
            emitter.push(Stmt::constant("int", base.clone(), warp * (WARP * (WARP + 1))));
            emitter.each_of_team(shares.clone(), |emitter, share| {
                let first = emitter.bind(Scalar::I64, share * WARP);
                let own = emitter.fresh("b");
                emitter.push(Stmt::constant("int64_t", own.clone(), first.clone() + lane.clone()));
                let before = emitter.part_at(folding, &parts[0], &var(&own));
                let nothing = kinds.iter().map(|scalar| crate::emit::value::zero(*scalar));
                let start = before
                    .into_iter()
                    .zip(nothing)
                    .map(|(before, nothing)| var(&own).lt(&blocks).select(before, nothing));
                let start = start.collect();
                let state = emitter.states(folding, "scan", start);
                let at = folding.sequence.at.clone();
                let own = Share {
                    first,
                    rows: WARP,
                    tiles: &tiles,
                    base: var(&base),
                    lane: lane.clone(),
                    state: &state,
                };
                emitter.scan_share(folding, &at, own, length, dest, &int(0));
            });
        });
        if let (Some(gpu), Some((team, block))) = (&mut self.gpu, saved) {
            (gpu.team, gpu.block) = (team, block);
        }
    }

    /// Scans some blocks of elements, as many of each at a time as the warp has threads.
    fn scan_share(
        &mut self,
        folding: &Folding<'p>,
        at: &At<'p>,
        own: Share<'_>,
        length: &C,
        dest: &Dest,
        offset: &C,
    ) {
        let column = self.fresh("c");
        let (body, ()) = self.block(|emitter| {
            let row_of = |emitter: &mut Self, turn: &str| {
                let here = emitter.fresh("i");
                let place = (own.first.clone() + var(turn)) * BLOCK + var(&column) + own.lane.clone();
                emitter.push(Stmt::constant("int64_t", here.clone(), place));
                (var(here), own.base.clone() + var(turn) * (WARP + 1) + own.lane.clone())
            };
            // Elements of one block side by side.
            let turn = emitter.fresh("n");
            let (load, ()) = emitter.block(|emitter| {
                let (here, near) = row_of(emitter, &turn);
                let (some, ()) = emitter.block(|emitter| {
                    emitter.alone(|emitter| {
                        let value = flat(&at(emitter, here.clone()));
                        for (tile, value) in own.tiles.iter().zip(value) {
                            emitter.push(Stmt::assign(tile.at(near.clone()), value));
                        }
                    });
                });
                emitter.push(Stmt::when(here.lt(length), some));
            });
            emitter.push(Stmt::Pragma("unroll 8".to_owned()));
            emitter.push(Stmt::count("int", turn, 0, own.rows, load));
            emitter.push(Stmt::call("__syncwarp", []));
            // Each thread its own block.
            let turn = emitter.fresh("n");
            let (walk, ()) = emitter.block(|emitter| {
                let place = emitter.fresh("i");
                let here = (own.first.clone() + own.lane.clone()) * BLOCK + var(&column) + var(&turn);
                emitter.push(Stmt::constant("int64_t", place.clone(), here));
                let near = own.base.clone() + own.lane.clone() * (WARP + 1) + var(&turn);
                let (some, ()) = emitter.block(|emitter| {
                    let kinds = scalars(folding.ty);
                    let targets: Vec<C> = own.tiles.iter().map(|tile| tile.at(near.clone())).collect();
                    let value: Vec<C> = targets
                        .iter()
                        .zip(kinds)
                        .map(|(value, scalar)| emitter.kept(scalar, value.clone()))
                        .collect();
                    emitter.assign(&targets, own.state.to_vec());
                    let value = whole(folding.ty, &mut value.into_iter());
                    let values = emitter.combine(folding, own.state, value);
                    emitter.assign(own.state, values);
                });
                emitter.push(Stmt::when(var(place).lt(length), some));
            });
            let mut walks = c_tree::Block::new();
            walks.push(Stmt::Pragma("unroll 8".to_owned()));
            walks.push(Stmt::count("int", turn, 0, WARP, walk));
            match own.rows < WARP {
                true => emitter.push(Stmt::when(own.lane.clone().lt(own.rows), walks)),
                false => walks.into_iter().for_each(|statement| emitter.push(statement)),
            }
            emitter.push(Stmt::call("__syncwarp", []));
            let turn = emitter.fresh("n");
            let (back, ()) = emitter.block(|emitter| {
                let (here, near) = row_of(emitter, &turn);
                let (some, ()) = emitter.block(|emitter| {
                    let values: Vec<C> = own.tiles.iter().map(|tile| tile.at(near.clone())).collect();
                    let value = whole(folding.ty, &mut values.into_iter());
                    emitter.put(dest, &(offset.clone() + here.clone()), &value);
                });
                emitter.push(Stmt::when(here.lt(length), some));
            });
            emitter.push(Stmt::Pragma("unroll 8".to_owned()));
            emitter.push(Stmt::count("int", turn, 0, own.rows, back));
            emitter.push(Stmt::call("__syncwarp", []));
        });
        let more = (own.first.clone() * BLOCK + var(&column)).lt(length).and(var(&column).lt(BLOCK));
        self.push(Stmt::each("int", column, 0, more, WARP, body));
    }

    /// How all threads of a block store a scan of a row, where they have one together.
    pub fn scan_of_a_team(&mut self, folding: &Folding<'p>) -> Option<Into<'p, Emitter<'p>>> {
        let together = self.level().schedule.is_parallel()
            && self.gpu.as_ref().is_some_and(|gpu| gpu.team == Team::Block && gpu.lane().is_some());
        if !together || !folding.is_tree() || folding.sequence.open.is_some() {
            return None;
        }
        let folding = folding.clone();
        Some(Rc::new(move |emitter: &mut Emitter<'p>, dest: &Dest, base: &C| {
            emitter.scan_by_block(&folding, dest, base);
        }))
    }

    fn scan_by_block(&mut self, folding: &Folding<'p>, dest: &Dest, base: &C) {
        let threads = self.gpu.as_ref().map_or(WARP, |gpu| gpu.block);
        let (teams, rows) = (threads / SUB, WARP / SUB);
        let foldings = std::slice::from_ref(folding);
        let length = folding.sequence.length.clone();
        let ats = [folding.sequence.at.clone()];
        let kinds = scalars(folding.ty);
        let warp = self.warp_of_block(SUB);
        let (lane, first) = (self.fresh("lane"), self.fresh("w"));
        let thread = name("threadIdx").dot("x").cast("int");
        self.push(Stmt::constant("int", lane.clone(), thread.clone() % WARP));
        self.push(Stmt::constant("int", first.clone(), thread.clone() / WARP));
        let parts = self.shared_parts(foldings, "part", teams);
        let starts = self.shared_parts(foldings, "before", teams);
        let tiles: Vec<C> = kinds
            .iter()
            .map(|scalar| self.shared(*scalar, "tile", threads / WARP * rows * (WARP + 1)))
            .collect();
        let prefix = flat(&folding.prefix);
        let carry = self.states(folding, "carry", prefix);
        let round = self.fresh("r");
        let (body, ()) = self.block(|emitter| {
            emitter.parts_of_round(foldings, &ats, &parts, &warp, var(&round), &length);
            let count = emitter.results_of_round(&round, &length, teams);
            let index = emitter.fresh("n");
            let (chain, ()) = emitter.block(|emitter| {
                let targets: Vec<C> = starts[0].iter().map(|start| start.at(var(&index))).collect();
                let (put, ()) = emitter.block(|emitter| emitter.assign(&targets, carry.clone()));
                emitter.push(Stmt::when(thread.clone().is(0), put));
                let part = parts[0].iter().map(|part| part.at(var(&index)));
                let part = whole(folding.ty, &mut part.collect::<Vec<_>>().into_iter());
                let values = emitter.combine(folding, &carry, part);
                emitter.assign(&carry, values);
            });
            emitter.push(Stmt::count("int", index, 0, count.clone(), chain));
            emitter.barrier();
            // The blocks of this warp, in the round.
            let own = emitter.fresh("n");
            emitter.push(Stmt::constant("int", own.clone(), var(&first) * rows + var(&lane)));
            let start: Vec<C> = starts[0]
                .iter()
                .zip(&kinds)
                .map(|(start, scalar)| {
                    let some = var(&lane).lt(rows).and(var(&own).lt(&count));
                    some.select(start.at(var(&own)), crate::emit::value::zero(*scalar))
                })
                .collect();
            let state = emitter.states(folding, "scan", start);
            let share = Share {
                first: var(&round) / BLOCK + var(&first) * rows,
                rows,
                tiles: &tiles,
                base: var(&first) * (rows * (WARP + 1)),
                lane: var(&lane),
                state: &state,
            };
            emitter.scan_share(folding, &ats[0], share, &length, dest, base);
            emitter.barrier();
        });
        self.push(Stmt::each("int64_t", round.clone(), 0, var(&round).lt(&length), BLOCK * teams, body));
    }
}
