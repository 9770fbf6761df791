//! Blocks of a thread's next share, folded while those of the share at hand are scanned: what is read from memory and what is stored
//! to it are under way at the same time, and a share that is to be scanned is in a cache, with all results of its blocks.

use super::emitter::{At, Emitter, View};
use super::fold::Folding;
use super::kept::{Next, Sides};
use crate::program::{BLOCK, LANES, Scalar};
use c_tree::{Expr as C, Stmt, int, name, var};

/// Bytes after which an element of a block is asked for: it is read from memory while as many are folded.
const BYTES_AHEAD: i64 = 4096;

impl<'p> Emitter<'p> {
    /// Room for results of so many blocks of two shares.
    pub(crate) fn sides(&mut self, scalar: Scalar, room: i64) -> Sides {
        let values = name(self.array(scalar, "kept", 2 * room));
        let side = var(self.changing(Scalar::I64, "side", int(0)));
        let folded = var(self.changing(Scalar::I64, "folded", int(0)));
        Sides { values, room, side, folded }
    }

    /// The next share becomes the one at hand.
    pub(crate) fn turn_over(&mut self) {
        let Some(Next { sides, more, done: true, .. }) = self.next.take() else { return };
        let other = int(sides.room) - sides.side.clone();
        self.push(Stmt::assign(sides.side, other));
        self.push(Stmt::assign(sides.folded, more.select(int(1), int(0))));
    }

    /// Lanes for a block of the next share.
    pub(crate) fn lanes_ahead(&mut self, folding: &Folding<'p>, scalar: Scalar) -> C {
        let lanes = name(self.array(scalar, "lane", LANES));
        let identities = self.identities(folding);
        let clear = self.cleared(std::slice::from_ref(&lanes), &identities);
        self.push(clear);
        lanes
    }

    /// Folds so many elements of a block of the next share, and asks for what comes further on.
    pub(crate) fn fold_ahead(
        &mut self,
        folding: &Folding<'p>,
        next: &Next<'p, Self>,
        lanes: &C,
        [first, width]: [C; 2],
        scalar: Scalar,
    ) {
        let group = self.fresh("g");
        let (groups, ()) = self.block(|emitter| {
            let lane = emitter.fresh("l");
            let (inner, ()) = emitter.within(true, |emitter| {
                emitter.block(|emitter| {
                    let place = first.clone() + var(&group) + var(&lane);
                    let place = emitter.kept(Scalar::I64, place).integer();
                    let state = [lanes.at(var(&lane))];
                    let element = (next.at)(emitter, place);
                    let values = emitter.combine(folding, &state, element);
                    emitter.assign(&state, values);
                })
            });
            emitter.push(Stmt::Pragma("omp simd".to_owned()));
            emitter.push(Stmt::count("int", lane, 0, LANES, inner));
        });
        self.push(Stmt::each("int", group.clone(), 0, var(&group).lt(width), LANES, groups));
        let far = int(BYTES_AHEAD / scalar.bytes().max(1) as i64);
        self.ask_for(&next.at, first, far);
    }

    /// Keeps the result of a block of the next share.
    pub(crate) fn keep_ahead(&mut self, folding: &Folding<'p>, next: &Next<'p, Self>, lanes: &C, first: C) {
        let result = self.lanes_together(folding, std::slice::from_ref(lanes));
        let other = int(next.sides.room) - next.sides.own();
        let place = other + (first - next.origin.clone()) / BLOCK;
        self.assign(&[next.sides.values().at(place)], result);
    }

    /// Asks for what lies so many elements behind one, where that is an element of an array.
    pub(crate) fn ask_for(&mut self, at: &At<'p>, place: C, far: C) {
        let place = self.bind(Scalar::I64, place);
        let (block, element) = self.block(|emitter| at(emitter, place));
        if block.is_empty()
            && let View::Scalar(element @ C::Index(..), ..) = element
        {
            self.push(Stmt::call("TW_NEXT", [element.address(), far]));
        }
    }
}
