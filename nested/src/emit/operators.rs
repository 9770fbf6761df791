//! Operators whose elements are computed each by itself: lengths, and elements at places. Nothing is stored.

use super::emitter::{At, Emitter, Seq, StepBy, View};
use super::env::Env;
use super::fold::Folding;
use super::value::without_origin;
use super::view::RowShape;
use crate::fault::FaultKind;
use crate::program::*;
use c_tree::{Expr as C, call, int};
use polyhedral::source::Span;
use std::rc::Rc;

impl<'p> Emitter<'p> {
    /// An operator with its operands.
    pub fn apply(
        &mut self,
        operator: Operator,
        function: Option<&'p Function>,
        operands: &'p [Expr],
        expr: &'p Expr,
        env: &Env<'p>,
    ) -> View<'p> {
        let span: &'p Span = &expr.span;
        if operator == Operator::Reduce
            && let Some(function) = function
        {
            let sequence = self.sequence(&operands[0], env);
            let prefix = self.value(&operands[1], env);
            let folding = Folding { function, env: env.clone(), sequence, prefix, ty: &expr.ty, span };
            return match expr.ty.has_sequence() {
                true => View::Sequence(self.row_fold(folding)),
                false => self.fold(&[folding]).pop().unwrap_or(View::Parts(Vec::new())),
            };
        }
        View::Sequence(match (operator, function) {
            (Operator::Map, Some(function)) => self.map(function, operands, env, span),
            (Operator::Scan, Some(function)) => {
                let sequence = self.sequence(&operands[0], env);
                let prefix = self.value(&operands[1], env);
                let prefix = self.named(prefix);
                self.stream(Folding {
                    function,
                    env: env.clone(),
                    sequence,
                    prefix,
                    ty: &operands[1].ty,
                    span,
                })
            }
            _ => self.moved(operator, operands, expr, env),
        })
    }

    /// Whether places were found by steps of ours, and are right.
    fn is_own(&self, places: &Expr) -> bool {
        matches!(places.kind, Kind::Variable(id) if self.lowered.found.contains(&id))
    }

    fn length_of_all(&mut self, parts: &[Seq<'p>], span: &Span) -> C {
        let first = parts[0].length.clone();
        parts[1..].iter().fold(first, |length, part| self.same(length, part.length.clone(), span))
    }

    fn map(&mut self, function: &'p Function, operands: &'p [Expr], env: &Env<'p>, span: &Span) -> Seq<'p> {
        let parts: Vec<Seq<'p>> = operands.iter().map(|operand| self.sequence(operand, env)).collect();
        let length = self.length_of_all(&parts, span);
        let rows = parts.iter().find_map(|part| part.rows.clone());
        let env = env.clone();
        combined(
            length,
            rows,
            parts,
            Rc::new(move |emitter, operands| emitter.call(function, operands, &env)),
        )
    }

    /// Operators without a function.
    fn moved(&mut self, operator: Operator, operands: &'p [Expr], expr: &'p Expr, env: &Env<'p>) -> Seq<'p> {
        let span: &'p Span = &expr.span;
        match operator {
            Operator::Zip => {
                let parts: Vec<Seq<'p>> =
                    operands.iter().map(|operand| self.sequence(operand, env)).collect();
                let length = self.length_of_all(&parts, span);
                let rows = parts.iter().find_map(|part| part.rows.clone());
                combined(length, rows, parts, Rc::new(|_, operands| View::Parts(operands)))
            }
            Operator::Gather => {
                let source = self.sequence(&operands[0], env);
                let indices = self.sequence(&operands[1], env);
                let at = indices.at.clone();
                let own = self.is_own(&operands[1]);
                Seq::new(
                    indices.length,
                    Rc::new(move |emitter, place| match at(emitter, place) {
                        View::Scalar(index, ..) if own => {
                            let index = emitter.bind(Scalar::I64, index);
                            without_origin((source.at)(emitter, index))
                        }
                        index => without_origin(emitter.element(&source, index, span)),
                    }),
                )
            }
            Operator::Range => {
                let scalar = expr.ty.element().and_then(Type::scalar).unwrap_or(Scalar::I64);
                let start = self.number(&operands[0], env);
                let start = self.bind(Scalar::I64, start);
                let end = self.number(&operands[1], env);
                let stride = operands.get(2).map_or(int(1), |stride| self.number(stride, env));
                let stride = self.bind(Scalar::I64, stride);
                let (zero, large) = (self.check(FaultKind::Step, span), self.check(FaultKind::TooLong, span));
                let count =
                    call("tw_range", [start.clone(), end, stride.clone(), self.report(), zero, large]);
                let length = self.steady(count.integer());
                Seq::new(
                    length,
                    Rc::new(move |_, place| {
                        let value = start.clone() + place * stride.clone();
                        let value = if scalar == Scalar::I32 { value.cast("int32_t") } else { value };
                        View::Scalar(value, scalar, None)
                    }),
                )
            }
            Operator::Replicate => {
                let value = self.value(&operands[0], env);
                let value = self.named(value);
                let count = self.number(&operands[1], env);
                let check = self.check(FaultKind::Count, span);
                let length = self.steady(call("tw_count", [count, self.report(), check]).integer());
                Seq::new(length, Rc::new(move |_, _| value.clone()))
            }
            Operator::Split => {
                let source = self.sequence(&operands[0], env);
                let tile = self.number(&operands[1], env);
                let check = self.check(FaultKind::Step, span);
                let tile = self.steady(call("tw_positive", [tile, self.report(), check]).integer());
                let total = source.length.clone();
                let length =
                    self.steady((total.clone() / tile.clone()) + (total.clone() % tile.clone()).gt(0));
                self.rows(length, RowShape::Tiled(tile, total), source.at)
            }
            Operator::Nest => {
                let source = self.sequence(&operands[0], env);
                let offsets = self.sequence(&operands[1], env);
                let total = source.length.clone();
                let check = self.check(FaultKind::Offsets, span);
                let own = self.is_own(&operands[1]);
                match offsets.array {
                    Some((array, scalar)) if own => {
                        let length = self.steady(offsets.length - 1);
                        self.rows(length, RowShape::Offsets(array, scalar), source.at)
                    }
                    Some((array, scalar)) => {
                        let rows = self.checked_offsets(&array, scalar, offsets.length, total.clone(), check);
                        // Once, not for each row.
                        let length = self.hoist(rows.integer());
                        self.checked.push((array.clone(), total, length.clone()));
                        self.rows(length, RowShape::Offsets(array, scalar), source.at)
                    }
                    None => self.nest_computed(source, offsets, check),
                }
            }
            Operator::Join => {
                let parts: Vec<Seq<'p>> =
                    operands.iter().map(|operand| self.sequence(operand, env)).collect();
                let check = self.check(FaultKind::TooLong, span);
                let mut length = int(1);
                for part in &parts {
                    let product =
                        call("tw_product", [length, part.length.clone(), self.report(), check.clone()]);
                    length = self.steady(product.integer());
                }
                Seq::new(
                    length,
                    Rc::new(move |emitter, place| {
                        let mut rest = place;
                        let mut tuple = Vec::new();
                        for part in parts.iter().rev() {
                            let index = emitter.bind(Scalar::I64, rest.clone() % part.length.clone());
                            tuple.push((part.at)(emitter, index));
                            rest = emitter.bind(Scalar::I64, rest / part.length.clone());
                        }
                        tuple.reverse();
                        View::Parts(tuple)
                    }),
                )
            }
            Operator::Striding => {
                let source = self.sequence(&operands[0], env);
                let stride = self.number(&operands[1], env);
                let check = self.check(FaultKind::Step, span);
                let stride = self.steady(call("tw_positive", [stride, self.report(), check]).integer());
                let total = source.length.clone();
                let length = self.steady((total.clone() / stride.clone()) + (total % stride.clone()).gt(0));
                let at = source.at;
                Seq::new(
                    length,
                    Rc::new(move |emitter, place| without_origin(at(emitter, place * stride.clone()))),
                )
            }
            Operator::Reverse => {
                let source = self.sequence(&operands[0], env);
                let (at, total) = (source.at, source.length.clone());
                Seq::new(source.length, Rc::new(move |emitter, place| at(emitter, total.clone() - 1 - place)))
            }
            Operator::Cyclic => {
                let source = self.sequence(&operands[0], env);
                let count = self.number(&operands[1], env);
                let (negative, empty) =
                    (self.check(FaultKind::Count, span), self.check(FaultKind::Empty, span));
                let total = source.length.clone();
                let count = call("tw_cyclic", [count, total.clone(), self.report(), negative, empty]);
                let length = self.steady(count.integer());
                let at = source.at;
                Seq::new(length, Rc::new(move |emitter, place| at(emitter, place % total.clone())))
            }
            // Steps of their own: a checked program has none of them here.
            _ => self.sequence(&operands[0], env),
        }
    }

    /// Rows of a sequence.
    fn rows(&mut self, length: C, shape: RowShape, at: At<'p>) -> Seq<'p> {
        let (own, count) = (shape.clone(), length.clone());
        let row = Rc::new(move |emitter: &mut Emitter<'p>, row: C| {
            let bound = if matches!(row, C::Name(ref name, _) if name.starts_with('i')) {
                None
            } else {
                Some(&count)
            };
            let (begin, count) = emitter.row(&own, &row, bound);
            let at = at.clone();
            View::Sequence(Seq::new(count, Rc::new(move |emitter, place| at(emitter, begin.clone() + place))))
        });
        Seq { rows: Some(shape), ..Seq::new(length, row) }
    }

    /// The number of rows, once their offsets are checked.
    fn checked_offsets(&mut self, offsets: &C, scalar: Scalar, count: C, total: C, check: C) -> C {
        if self.gpu.is_none() {
            let checked = format!("tw_offsets_{}", super::emitter::c_type(scalar));
            let own = call(checked, [offsets.clone(), count, total.clone(), c_tree::name("tw"), check]);
            // For two sequences of one length they are checked once.
            let known = self.checked.iter().find(|known| known.0 == *offsets && self.is_invariant(&known.2));
            return match known.filter(|known| known.1 != total && self.is_invariant(&total)) {
                Some((_, other, rows)) => total.clone().is(other.clone()).select(rows.clone(), own),
                None => own,
            };
        }
        let given = self.slots.list.iter().any(|slot| {
            slot.given && matches!(offsets, C::Name(name, _) if *name == format!("s_{}", slot.name))
        });
        let (wide, given) = (int(i64::from(scalar == Scalar::I64)), int(i64::from(given)));
        let list = [c_tree::name("tw"), offsets.clone(), count, total, check, wide, given];
        call("tw_offsets", list)
    }

    /// Rows by offsets that are no array: each pair is computed where its row is read, and checked there.
    fn nest_computed(&mut self, source: Seq<'p>, offsets: Seq<'p>, check: C) -> Seq<'p> {
        let report = self.report();
        let some = call("tw_in", [int(0), offsets.length.clone(), report.clone(), check.clone()]);
        let length = self.steady(some.select(offsets.length.clone() - 1, int(0)));
        let (total, rows) = (source.length.clone(), length.clone());
        let (at, offset) = (source.at, offsets.at);
        Seq::new(
            length,
            Rc::new(move |emitter, row| {
                let bound = |emitter: &mut Emitter<'p>, place: C| match offset(emitter, place) {
                    View::Scalar(value, ..) => emitter.bind(Scalar::I64, value.cast("int64_t")),
                    _ => int(0),
                };
                let begin = bound(emitter, row.clone());
                let end = bound(emitter, row.clone() + 1);
                let first = row.clone().is_not(0).or(begin.clone().is(0));
                let last = (row.clone() + 1).is_not(rows.clone()).or(end.clone().is(total.clone()));
                let ordered =
                    begin.clone().ge(0).and(end.clone().ge(begin.clone())).and(end.clone().le(total.clone()));
                let fits = emitter.bind(Scalar::Bool, first.and(last).and(ordered));
                let fits = call(
                    "tw_in",
                    [fits.select(row.clone(), int(-1)), row + 1, report.clone(), check.clone()],
                );
                let count = emitter.bind(Scalar::I64, fits.select(end - begin.clone(), int(0)));
                let at = at.clone();
                View::Sequence(Seq::new(
                    count,
                    Rc::new(move |emitter, place| at(emitter, begin.clone() + place)),
                ))
            }),
        )
    }
}

type Combine<'p> = Rc<dyn Fn(&mut Emitter<'p>, Vec<View<'p>>) -> View<'p> + 'p>;

/// A sequence of what becomes of the elements of some, in order where one of them comes so.
fn combined<'p>(length: C, rows: Option<RowShape>, parts: Vec<Seq<'p>>, combine: Combine<'p>) -> Seq<'p> {
    let ordered = parts.iter().any(|part| part.open.is_some());
    let ats: Vec<At<'p>> = parts.iter().map(|part| part.at.clone()).collect();
    let own = combine.clone();
    let at: At<'p> = Rc::new(move |emitter, place| {
        let operands = ats.iter().map(|at| at(emitter, place.clone())).collect();
        own(emitter, operands)
    });
    let mut seq = Seq::new(length, at);
    seq.rows = rows;
    if ordered {
        seq.open = Some(Rc::new(move |emitter| {
            let mut ats: Vec<At<'p>> = Vec::new();
            let mut steps: Vec<StepBy<'p>> = Vec::new();
            for part in &parts {
                match &part.open {
                    Some(open) => {
                        let (at, more) = open(emitter);
                        ats.push(at);
                        steps.extend(more);
                    }
                    None => ats.push(part.at.clone()),
                }
            }
            let combine = combine.clone();
            let at: At<'p> = Rc::new(move |emitter, place| {
                let operands = ats.iter().map(|at| at(emitter, place.clone())).collect();
                combine(emitter, operands)
            });
            (at, steps)
        }));
    }
    seq
}
