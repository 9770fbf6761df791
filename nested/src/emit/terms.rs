//! Sums of short rows in two parts. The terms of all rows of a group are computed by themselves, since they lie next to each other
//! whatever row they are of; then each row is the sum of its own.

use super::emitter::{Emitter, View};
use super::fold::Folding;
use super::indices::IndexCheck;
use super::stage::{Lookups, Made, Stage};
use super::view::flat;
use super::wide::{self, Inside, Lanes};
use crate::program::{Builtin, LANES, Scalar, Type};
use c_tree::{Block, Expr as C, Stmt, call, int, name, var};
use std::collections::BTreeSet;

impl<'p> Emitter<'p> {
    /// A reduction in a row whose terms or sum are emitted by themselves; whether it was that.
    pub(super) fn in_stage(&mut self, foldings: &[Folding<'p>], totals: &[Vec<C>], length: &C) -> bool {
        let own = match foldings {
            [own] if own.function.builtin == Some(Builtin::Add) && own.sequence.open.is_none() => {
                Some(own).filter(|own| *own.ty == Type::Scalar(Scalar::F64))
            }
            _ => None,
        };
        match self.grouped.as_mut().map(|grouped| &mut grouped.stage) {
            None | Some(Stage::Rows) => false,
            Some(Stage::Terms(terms)) => {
                terms.found += 1;
                let (list, elements, total) =
                    (terms.list.clone(), terms.elements.clone(), terms.total.clone());
                let how = (terms.checked, terms.lookups);
                let made = own.and_then(|own| self.terms(own, &list, &elements, (&total, how)));
                if let Some(Stage::Terms(terms)) = self.grouped.as_mut().map(|grouped| &mut grouped.stage) {
                    terms.made = made;
                }
                true
            }
            Some(Stage::Sums(sums)) => {
                sums.found += 1;
                let (sum, [begin, end]) = (sums.sum.clone(), sums.bounds.clone());
                let zero = |own: &Folding<'p>| flat(&own.prefix) == [C::f64(0.0)];
                sums.from_zero &= own.is_some_and(zero);
                let from_zero = sums.from_zero;
                let whole = self.named_as(&begin).zip(self.named_as(&end));
                let whole = whole.and_then(|(begin, end)| self.named_as(&(end - begin)));
                if whole.is_none_or(|whole| whole != *length)
                    && let Some(Stage::Sums(sums)) = self.grouped.as_mut().map(|grouped| &mut grouped.stage)
                {
                    sums.fits = false;
                }
                let Some(own) = own else { return true };
                // The sum of no terms is -0, which leaves the prefix what it is.
                let values = if from_zero {
                    vec![sum]
                } else {
                    self.combine(own, &totals[0], View::Scalar(sum, Scalar::F64, None))
                };
                self.assign(&totals[0], values);
                true
            }
        }
    }

    /// The name of a value that has one.
    fn named_as(&self, value: &C) -> Option<C> {
        self.known.iter().flatten().find(|(known, _)| known == value).map(|(_, named)| named.clone())
    }

    /// The terms of all rows of a group of rows; the row that is emitted is the first one. None where they depend on the row.
    fn terms(
        &mut self,
        folding: &Folding<'p>,
        list: &C,
        [from, to]: &[C; 2],
        (total, (checked, lookups)): (&C, (bool, Lookups)),
    ) -> Option<Made> {
        let at = folding.sequence.at.clone();
        let elements = to.clone() - from.clone();
        let (eights, whole) = self.block(|emitter| {
            // Those of the next rows do not matter, but lie there.
            let more = (elements.clone() + (LANES - 1)) / LANES;
            let eights = (to.clone() + LANES).le(total.clone()).select(more, elements.clone() / LANES);
            emitter.bind(Scalar::I64, eights * LANES)
        });
        let (declared, (index, out)) = self.block(|emitter| {
            let index = emitter.changing(Scalar::I64, "e", int(0));
            let out = emitter.fresh("out");
            if !checked {
                emitter.push(Stmt::declare("int", out.clone(), 0));
            }
            (index, out)
        });
        let (place, lane, part) = (var(&index), self.fresh("l"), self.fresh("part"));
        let term = |emitter: &mut Emitter<'p>, here: C, target: C| {
            let element = at(emitter, here);
            let element = emitter.named(element);
            emitter.assign(&[target], flat(&element));
        };
        let (body, ()) = self.within(true, |emitter| {
            emitter.block(|emitter| {
                let here = emitter.kept(Scalar::I64, place.clone() + var(&lane)).integer();
                term(emitter, here, list.at(var(&lane)));
            })
        });
        let (rest, ()) = self.block(|emitter| term(emitter, place.clone(), list.at(place.clone())));
        let single = self.fresh("term");
        let (one, ()) = self.block(|emitter| {
            emitter.push(Stmt::uninitialised("double", single.clone()));
            term(emitter, place.clone(), name(&single));
        });
        let checks: &[IndexCheck] = if checked { &[] } else { &self.grouped.as_ref()?.found };
        let wide = |part: Option<C>, ahead: bool| {
            let lookups = if part.is_none() { lookups } else { Lookups::Anywhere };
            wide::all_at_once(&Lanes {
                body: &body,
                lane: &lane,
                place: &place,
                results: vec![list],
                scalar: Scalar::F64,
                inside: Some(Inside { checks, out: name(&out), lookups }),
                part,
                ahead,
            })
        };
        let (mut all, mut behind) = (wide(None, true)?, wide(None, false)?);
        let mut some = wide(Some(var(&part)), false)?;
        let eight = wide::vector_of(list);
        let known = [&*out, &part, name_of(&eight)?];
        if ![(&all, 0), (&some, 0), (&rest, 1), (&one, 0)]
            .into_iter()
            .all(|(block, stored)| self.is_of_no_row(block, (from, &place, list), &known, stored))
        {
            return None;
        }
        let (vector, suffix) = wide::kind(Scalar::F64)?;
        for block in [&mut all, &mut behind, &mut some] {
            let mut own = Block::from(Stmt::uninitialised(vector, name_of(&eight)?));
            own.extend(block.clone());
            *block = own;
        }
        some.push(Stmt::assign(
            eight.clone(),
            call(format!("TW_KEPT_{suffix}"), [eight.clone(), var(&part)]),
        ));
        let mut single_checked = Block::new();
        for check in checks {
            let index = check.indices[0].clone().at(from.clone() + place.clone());
            let wrong = call("tw_outside", [index, check.length.clone()]);
            single_checked.push(Stmt::when(wrong, [Stmt::assign(name(&out), 1), Stmt::Break]));
        }
        single_checked.extend(one);
        let mut last = Block::from(Stmt::assign(place.clone(), whole.clone()));
        for check in checks {
            let inside = check.inside(&[from.clone() + place.clone(), to.clone()]);
            last.push(Stmt::when(inside.is(C::Bool(false)), Stmt::assign(name(&out), 1)));
        }
        let left = name(&out).is(0).and(place.clone().lt(elements));
        last.push(Stmt::go_on(index, left, 1, rest));
        last.push(Stmt::assign(place.clone(), 0));
        let (places, part, out) = ([place, whole], var(part), name(out));
        let one = (single_checked, name(single));
        Some(Made { declared, eights, last, places, all, behind, some, eight, part, one, out })
    }

    /// Whether a block reads of arrays only what lies at `from + place`, and beside that what is the same in the whole kernel.
    fn is_of_no_row(
        &self,
        block: &Block,
        (from, place, list): (&C, &C, &C),
        known: &[&str],
        stored: usize,
    ) -> bool {
        let mut own: BTreeSet<String> = known.iter().map(|name| (*name).to_owned()).collect();
        block.walk(&mut |statement| {
            if let Stmt::Declare(all) = statement {
                all.iter().for_each(|one| {
                    own.insert(one.name.clone());
                });
            }
        });
        let here = from.clone() + place.clone();
        let (mut of_rows, mut begins, mut places, mut into, mut others) = (0, 0, 0, 0, false);
        block.walk(&mut |statement| {
            statement.expressions(&mut |value| {
                value.walk(&mut |part| match part {
                    C::Index(array, at) if **at == here && self.is_invariant(array) => of_rows += 1,
                    C::Index(array, at) if **at == *place && **array == *list => into += 1,
                    part if part == from => begins += 1,
                    part if part == place => places += 1,
                    C::Name(name, _) => {
                        let macros = name.starts_with("TW_");
                        others |= !(macros || own.contains(name) || part == list || self.is_invariant(part));
                    }
                    _ => {}
                });
            });
        });
        !others && begins == of_rows && places == of_rows + into && into == stored
    }
}

/// The name that a value is.
pub fn name_of(value: &C) -> Option<&str> {
    match value {
        C::Name(name, _) => Some(name),
        _ => None,
    }
}
