//! Scans in one kernel that reads each element once: decoupled look-back (D. Merrill and M. Garland, Single-pass Parallel Prefix
//! Scan with Decoupled Look-back, 2016), with the one order of operations.
//!
//! A tile is a few blocks of elements, in shared memory. Blocks of threads take tiles in order, by a number that all of them
//! count up, so that all tiles before one that is taken are taken, too. Of a tile two things are told, one after the other:
//! the results `r` of its blocks of elements, and what comes behind it, `e = ((p f r_0) f r_1) .. f r_k` over all blocks of elements
//! up to its last one. A tile looks back for the nearest one of which `e` is known, and from there takes up the `r` of all between
//! one by one, forwards: whichever tile that is, the operations and their order are the same, where brackets of window by window
//! would be others.

use super::fold::SUB;
use crate::analysis::gpu::blocks_of_a_tile;
use crate::emit::device::Shape;
use crate::emit::emitter::{At, Emitter};
use crate::emit::fold::Folding;
use crate::emit::gpu::Where;
use crate::emit::view::{Dest, flat, scalars, whole};
use crate::program::*;
use c_tree::{Expr as C, Stmt, call, int, name, var};
use std::rc::Rc;

/// What is told of a tile: the results of its blocks of elements, then what comes behind it.
const RESULTS: i64 = 1;
const BEHIND: i64 = 2;

impl<'p> Emitter<'p> {
    /// A scan of a whole sequence in one kernel.
    pub fn scan_looking_back(&mut self, folding: &Folding<'p>, dest: &Dest, length: &C) {
        let kinds = scalars(folding.ty);
        let bytes = kinds.iter().map(|scalar| scalar.bytes().max(4) as i64).sum();
        let Some(rows) = blocks_of_a_tile(bytes) else {
            if let Some(gpu) = &mut self.gpu {
                gpu.refusal.get_or_insert("the elements of a scan do not fit into shared memory".to_owned());
            }
            return;
        };
        let size = BLOCK * rows;
        let tiles = self.steady((length.clone() + (size - 1)) / size);
        let mut arrays = |stem: &str, count: C| -> Vec<C> {
            let room = kinds.iter().map(|scalar| {
                let slot = self.slots.scratch(stem, *scalar);
                self.room(slot, &count)
            });
            room.collect()
        };
        let results = arrays("parts", tiles.clone() * rows + 1);
        let behind = arrays("ends", tiles.clone() + 1);
        // What is told of each tile, and the number of the next one.
        let slot = self.slots.scratch("marks", Scalar::I64);
        let marks = self.room(slot, &(tiles.clone() + 1));
        self.stop_if_wrong();
        self.push(Stmt::call("tw_filled", [name("tw"), marks.clone(), tiles.clone() + 1, int(0)]));
        let threads = self.gpu.as_ref().map_or(SUB, |gpu| gpu.block);
        self.launch(Shape::Items(tiles.clone(), 1), threads, Where::Thread, |emitter| {
            let thread = emitter.fresh("thread");
            emitter.push(Stmt::constant("int", thread.clone(), name("threadIdx").dot("x").cast("int")));
            let words = emitter.shared(Scalar::I64, "word", 2);
            let elements: Vec<C> = kinds.iter().map(|scalar| emitter.shared(*scalar, "tile", size)).collect();
            let foldings = std::slice::from_ref(folding);
            let own_results = emitter.shared_parts(foldings, "part", rows).swap_remove(0);
            let near_results = emitter.shared_parts(foldings, "near", threads).swap_remove(0);
            let next = call("tw_next_tile", [words.clone(), marks.clone(), tiles.clone()]);
            let tile = emitter.changing(Scalar::I64, "tile", next.clone());
            let (body, ()) = emitter.block(|emitter| {
                let one = Tile {
                    number: var(&tile),
                    rows,
                    threads,
                    thread: var(&thread),
                    elements,
                    own_results,
                    near_results,
                    results,
                    behind,
                    marks,
                    words,
                };
                emitter.scan_tile(folding, &one, dest, length);
                emitter.push(Stmt::assign(var(&tile), next));
            });
            emitter.push(Stmt::While(var(&tile).lt(&tiles), body));
        });
    }

    /// The tile that a block of threads has taken.
    fn scan_tile(&mut self, folding: &Folding<'p>, tile: &Tile, dest: &Dest, length: &C) {
        let (ty, kinds) = (folding.ty, scalars(folding.ty));
        let size = BLOCK * tile.rows;
        let first = self.fresh("first");
        self.push(Stmt::constant("int64_t", first.clone(), tile.number.clone() * size));
        let rest = call("tw_min", [int(size), length.clone() - var(&first)]).integer();
        let count = self.fresh("count");
        self.push(Stmt::constant("int64_t", count.clone(), rest));
        let count = var(count);
        // Its elements, side by side.
        let at = folding.sequence.at.clone();
        self.each_of_tile(tile, &count, |emitter, place| {
            let value = flat(&at(emitter, var(&first) + place.clone()));
            for (element, value) in tile.elements.iter().zip(value) {
                emitter.push(Stmt::assign(element.at(place.clone()), value));
            }
        });
        self.barrier();
        // The results of its blocks of elements.
        let warp = self.warp_of_block(SUB);
        let team = self.fresh("w");
        self.push(Stmt::constant("int", team.clone(), tile.thread.clone() / SUB));
        let start = self.fresh("b");
        self.push(Stmt::constant("int64_t", start.clone(), var(&team).cast("int64_t") * BLOCK));
        let near: Vec<C> = tile.elements.clone();
        let from_tile: At<'p> =
            Rc::new(move |_, place| whole(ty, &mut near.iter().map(|element| element.at(place.clone()))));
        let (some, ()) = self.block(|emitter| {
            let end = emitter.end_of_block(&var(&start), &count);
            let foldings = std::slice::from_ref(folding);
            let found = emitter.fold_block(foldings, &[from_tile], var(&start), end, &warp).swap_remove(0);
            let (told, ()) = emitter.block(|emitter| {
                let number = tile.number.clone() * tile.rows + var(&team);
                emitter.assign(&places(&tile.own_results, &var(&team)), found.clone());
                emitter.assign(&places(&tile.results, &number), found);
            });
            emitter.push(Stmt::when(warp.lane.clone().is(0), told));
        });
        self.push(Stmt::when(var(&start).lt(&count), some));
        self.barrier();
        self.tell_of_tile(tile, RESULTS);
        let carry = self.before_tile(folding, tile);
        // What comes before each of its blocks of elements, and behind all of them.
        let state = self.states(folding, "scan", carry.clone());
        let row = self.fresh("n");
        let (chain, ()) = self.block(|emitter| {
            let (own, ()) = emitter.block(|emitter| emitter.assign(&state, carry.clone()));
            emitter.push(Stmt::when(var(&row).is(var(&team)), own));
            emitter.take_up(folding, &carry, &places(&tile.own_results, &var(&row)));
        });
        let blocks = (count.clone() + (BLOCK - 1)) / BLOCK;
        self.push(Stmt::count("int64_t", row, 0, blocks, chain));
        let (end, ()) = self.block(|emitter| emitter.assign(&places(&tile.behind, &tile.number), carry));
        self.push(Stmt::when(tile.thread.clone().is(0), end));
        self.tell_of_tile(tile, BEHIND);
        // Each block of elements from there on, by one thread, in its place.
        let (walk, ()) = self.block(|emitter| {
            let end = emitter.end_of_block(&var(&start), &count);
            let index = emitter.fresh("i");
            let (step, ()) = emitter.block(|emitter| {
                let targets = places(&tile.elements, &var(&index));
                let value: Vec<C> = targets
                    .iter()
                    .zip(&kinds)
                    .map(|(value, scalar)| emitter.kept(*scalar, value.clone()))
                    .collect();
                emitter.assign(&targets, state.clone());
                let value = whole(ty, &mut value.into_iter());
                let values = emitter.combine(folding, &state, value);
                emitter.assign(&state, values);
            });
            emitter.push(Stmt::Pragma("unroll 8".to_owned()));
            emitter.push(Stmt::count("int64_t", index, var(&start), end, step));
        });
        self.push(Stmt::when(warp.lane.clone().is(0).and(var(&start).lt(&count)), walk));
        self.barrier();
        self.each_of_tile(tile, &count, |emitter, place| {
            let value = places(&tile.elements, &place);
            let value = whole(ty, &mut value.into_iter());
            emitter.put(dest, &(var(&first) + place), &value);
        });
    }

    /// What comes before a tile; all threads of the block know it.
    fn before_tile(&mut self, folding: &Folding<'p>, tile: &Tile) -> Vec<C> {
        let found = self.fresh("found");
        let back = [tile.words.clone(), tile.marks.clone(), tile.number.clone()];
        self.push(Stmt::constant("int64_t", found.clone(), call("tw_look_back", back)));
        let carry = self.states(folding, "carry", flat(&folding.prefix));
        let (known, ()) = self.block(|emitter| {
            emitter.assign(&carry, places(&tile.behind, &var(&found)));
        });
        self.push(Stmt::when(var(&found).ge(0), known));
        let round = self.fresh("r");
        let (body, ()) = self.block(|emitter| {
            let left = tile.number.clone() * tile.rows - var(&round);
            let some = emitter.fresh("count");
            let least = call("tw_min", [int(tile.threads), left]).integer();
            emitter.push(Stmt::constant("int64_t", some.clone(), least));
            let (copy, ()) = emitter.block(|emitter| {
                let far = places(&tile.results, &(var(&round) + tile.thread.clone()));
                emitter.assign(&places(&tile.near_results, &tile.thread), far);
            });
            emitter.push(Stmt::when(tile.thread.clone().lt(var(&some)), copy));
            emitter.barrier();
            let index = emitter.fresh("n");
            let (chain, ()) = emitter.block(|emitter| {
                emitter.take_up(folding, &carry, &places(&tile.near_results, &var(&index)));
            });
            emitter.push(Stmt::Pragma("unroll 8".to_owned()));
            emitter.push(Stmt::count("int64_t", index, 0, var(some), chain));
            emitter.barrier();
        });
        let more = var(&round).lt(tile.number.clone() * tile.rows);
        let from = (var(&found) + 1) * tile.rows;
        self.push(Stmt::each("int64_t", round, from, more, tile.threads, body));
        carry
    }

    /// Takes up the result of a block of elements.
    fn take_up(&mut self, folding: &Folding<'p>, carry: &[C], result: &[C]) {
        let result = whole(folding.ty, &mut result.iter().cloned());
        let values = self.combine(folding, carry, result);
        self.assign(carry, values);
    }

    /// Lets other blocks know something of the tile: what was written before.
    fn tell_of_tile(&mut self, tile: &Tile, what: i64) {
        self.push(Stmt::call("tw_mark", [tile.marks.clone(), tile.number.clone(), int(what)]));
    }

    /// A loop over the elements of a tile, side by side.
    fn each_of_tile(&mut self, tile: &Tile, count: &C, body: impl FnOnce(&mut Self, C)) {
        let index = self.fresh("i");
        let (inner, ()) = self.block(|emitter| body(emitter, var(&index)));
        self.push(Stmt::Pragma("unroll 4".to_owned()));
        let more = var(&index).lt(count);
        self.push(Stmt::each("int64_t", index, tile.thread.clone(), more, tile.threads, inner));
    }
}

/// A tile, and the arrays around it: of each one for each number of an element.
struct Tile {
    number: C,
    /// Blocks of elements, of threads, and the thread's number.
    rows: i64,
    threads: i64,
    thread: C,
    /// In shared memory: its elements, the results of its blocks of elements, and some of those of other tiles.
    elements: Vec<C>,
    own_results: Vec<C>,
    near_results: Vec<C>,
    /// On the device: results of all blocks of elements, what comes behind each tile, and what is told of it.
    results: Vec<C>,
    behind: Vec<C>,
    marks: C,
    /// Words of shared memory for what one thread finds for all.
    words: C,
}

/// The elements of some arrays at a place.
fn places(arrays: &[C], place: &C) -> Vec<C> {
    arrays.iter().map(|array| array.at(place.clone())).collect()
}
