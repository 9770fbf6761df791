//! Scans in order, with the results of whole blocks taken up.

use super::emitter::{At, Emitter, Seq, StepBy, View};
use super::fold::Folding;
use super::view::{Dest, flat, scalars, whole};
use crate::analysis::Level;
use crate::program::*;
use c_tree::{Expr as C, Stmt, int, name, var};
use std::rc::Rc;

impl<'p> Emitter<'p> {
    /// A scan whose elements come in order.
    pub fn stream(&mut self, folding: Folding<'p>) -> Seq<'p> {
        let length = folding.sequence.length.clone();
        let mut seq = Seq::new(length, Rc::new(|_, _| View::Parts(Vec::new())));
        seq.into = match self.gpu {
            Some(_) => self.scan_of_a_team(&folding),
            None => self.scan_of_a_row(&folding),
        };
        seq.open = Some(Rc::new(move |emitter: &mut Emitter<'p>| emitter.open_scan(&folding, true)));
        seq
    }

    /// The state of a scan from its prefix on, and its steps; carried from block to block if asked for.
    pub fn open_scan(&mut self, folding: &Folding<'p>, carried: bool) -> (At<'p>, Vec<StepBy<'p>>) {
        let prefix = flat(&folding.prefix);
        let state = self.states(folding, "scan", prefix.clone());
        let mut steps: Vec<StepBy<'p>> = Vec::new();
        let source = match &folding.sequence.open {
            Some(open) => {
                let (at, more) = open(self);
                steps.extend(more);
                at
            }
            None => folding.sequence.at.clone(),
        };
        let exact = scalars(folding.ty).into_iter().all(|scalar| !scalar.is_float());
        let builtin = folding.function.builtin.is_some();
        let carries = carried && folding.is_tree() && !(self.fast || exact && builtin);
        let carry = carries.then(|| {
            let carry = self.states(folding, "carry", prefix);
            let kinds = scalars(folding.ty);
            let lanes: Vec<C> = kinds.iter().map(|scalar| name(self.array(*scalar, "lane", LANES))).collect();
            let identities = self.identities(folding);
            let clear = self.cleared(&lanes, &identities);
            self.push(clear);
            (carry, lanes, identities)
        });
        let (own, ty, fold) = (state.clone(), folding.ty, folding.clone());
        let at: At<'p> = Rc::new(move |_, _| whole(ty, &mut own.clone().into_iter()));
        let step: StepBy<'p> = Rc::new(move |emitter, place| {
            let element = source(emitter, place.clone());
            let element = emitter.named(element);
            if let Some((carry, lanes, identities)) = &carry {
                emitter.carry(&fold, &state, carry, lanes, identities, &element, &place);
            } else {
                let values = emitter.combine(&fold, &state, element);
                emitter.assign(&state, values);
            }
        });
        steps.insert(0, step);
        (at, steps)
    }

    pub(crate) fn cleared(&mut self, lanes: &[C], identities: &[C]) -> Stmt {
        let lane = self.fresh("l");
        let clear: Vec<Stmt> = lanes
            .iter()
            .zip(identities)
            .map(|(own, identity)| Stmt::assign(own.at(var(&lane)), identity.clone()))
            .collect();
        Stmt::count("int", lane, 0, LANES, clear)
    }

    /// One step of a scan that takes up the results of whole blocks.
    #[allow(clippy::too_many_arguments)]
    fn carry(
        &mut self,
        folding: &Folding<'p>,
        state: &[C],
        carry: &[C],
        lanes: &[C],
        identities: &[C],
        element: &View<'p>,
        place: &C,
    ) {
        let values = self.combine(folding, state, element.clone());
        self.assign(state, values);
        let builtin = folding.function.builtin.is_some();
        let lane = if builtin { place.clone() % LANES } else { int(0) };
        let own: Vec<C> = lanes.iter().map(|lanes| lanes.at(lane.clone())).collect();
        let (more, ()) = self.block(|emitter| {
            let values = emitter.combine(folding, &own, element.clone());
            emitter.assign(&own, values);
        });
        match builtin {
            true => self.push(Stmt::Block(more)),
            false => {
                let first: Vec<Stmt> = own
                    .iter()
                    .zip(flat(element))
                    .map(|(own, value)| Stmt::assign(own.clone(), value))
                    .collect();
                self.push(Stmt::choose((place.clone() % BLOCK).is(0), first, more));
            }
        }
        let (end, ()) = self.block(|emitter| {
            let result = match builtin {
                true => emitter.lanes_together(folding, lanes),
                false => lanes.iter().map(|own| own.at(0)).collect(),
            };
            let block = whole(folding.ty, &mut result.into_iter());
            let values = emitter.combine(folding, carry, block);
            emitter.assign(carry, values);
            emitter.assign(state, carry.to_vec());
            let clear = emitter.cleared(lanes, identities);
            emitter.push(clear);
        });
        self.push(Stmt::when((place.clone() % BLOCK).is(BLOCK - 1), end));
    }

    /// A scan of some elements, from its prefix on, to the same places behind a base.
    pub fn scan_range(
        &mut self,
        folding: &Folding<'p>,
        dest: &Dest,
        base: &C,
        [start, end]: [C; 2],
        carried: bool,
    ) {
        let (at, steps) = self.open_scan(folding, carried);
        self.each(Level::SEQUENTIAL, start, end, |emitter, place| {
            let value = at(emitter, place.clone());
            emitter.store(dest, &(base.clone() + place.clone()), &value);
            steps.iter().for_each(|step| step(emitter, place.clone()));
        });
    }
}
