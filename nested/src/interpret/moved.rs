//! What operators without a function mean: elements in other places.

use super::Scope;
use super::value::{Done, Element, Value, elements, fault, listed, sequence, together, whole};
use crate::fault::FaultKind;
use crate::program::*;
use polyhedral::source::Span;
use std::rc::Rc;

impl<'p> Scope<'p> {
    /// Operators without a function.
    pub(super) fn moved(
        &self,
        operator: Operator,
        values: Vec<Value<'p>>,
        span: &'p Span,
    ) -> Done<Value<'p>> {
        let first = sequence(values[0].clone());
        let (length, at) = (first.0, first.1);
        let number = |place: usize| values.get(place).map_or(1, whole);
        let made = |length: i64, at: Element<'p>| Ok(Value::Sequence(length, at));
        match operator {
            Operator::Gather => {
                let (count, indices) = sequence(values[1].clone());
                made(
                    count,
                    Rc::new(move |place| {
                        let index = whole(&indices(place)?);
                        if (0..length).contains(&index) {
                            at(index)
                        } else {
                            fault(FaultKind::Index, span, index, length)
                        }
                    }),
                )
            }
            Operator::Scatter => {
                let mut target = elements(&values[2])?;
                let (_, parts) = together(&values[..2], span)?;
                let mut written = vec![false; target.len()];
                for place in 0..length {
                    let index = whole(&parts[1](place)?);
                    if !(0..target.len() as i64).contains(&index) {
                        return fault(FaultKind::Index, span, index, target.len() as i64);
                    }
                    if std::mem::replace(&mut written[index as usize], true) {
                        return fault(FaultKind::Twice, span, index, 0);
                    }
                    let element = at(place)?;
                    if let (Value::Sequence(new, _), Value::Sequence(old, _)) =
                        (&element, &target[index as usize])
                        && new != old
                    {
                        return fault(FaultKind::Lengths, span, *new, *old);
                    }
                    target[index as usize] = element;
                }
                Ok(listed(target))
            }
            Operator::Range => {
                let (start, end, stride) = (whole(&values[0]), number(1), number(2));
                if stride == 0 {
                    return fault(FaultKind::Step, span, 0, 0);
                }
                let distance = if stride > 0 {
                    i128::from(end) - i128::from(start)
                } else {
                    i128::from(start) - i128::from(end)
                };
                let step = i128::from(stride.unsigned_abs());
                let count = (distance.max(0) + step - 1) / step;
                if count > 1 << 62 {
                    return fault(FaultKind::TooLong, span, 0, 0);
                }
                let narrow = matches!(values[0], Value::Scalar(Literal::I32(_)));
                made(
                    count as i64,
                    Rc::new(move |place| {
                        let value = start.wrapping_add(place.wrapping_mul(stride));
                        Ok(Value::Scalar(if narrow {
                            Literal::I32(value as i32)
                        } else {
                            Literal::I64(value)
                        }))
                    }),
                )
            }
            Operator::Replicate => {
                let (value, count) = (values[0].clone(), number(1));
                if count < 0 {
                    return fault(FaultKind::Count, span, count, 0);
                }
                made(count, Rc::new(move |_| Ok(value.clone())))
            }
            Operator::Zip => {
                let (length, parts) = together(&values, span)?;
                made(
                    length,
                    Rc::new(move |place| {
                        Ok(Value::Parts(Rc::new(parts.iter().map(|part| part(place)).collect::<Done<_>>()?)))
                    }),
                )
            }
            Operator::Split => {
                let tile = number(1);
                if tile <= 0 {
                    return fault(FaultKind::Step, span, tile, 0);
                }
                made(
                    length / tile + i64::from(length % tile > 0),
                    Rc::new(move |row| {
                        let (at, begin) = (Rc::clone(&at), row * tile);
                        let inner: Element<'p> = Rc::new(move |place| at(begin + place));
                        Ok(Value::Sequence(tile.min(length - begin), inner))
                    }),
                )
            }
            Operator::Join => {
                let parts: Vec<(i64, Element<'p>)> = values.into_iter().map(sequence).collect();
                let total = parts.iter().try_fold(1_i64, |product, (length, _)| product.checked_mul(*length));
                let Some(total) = total.filter(|total| *total <= 1 << 62) else {
                    return fault(FaultKind::TooLong, span, 0, 0);
                };
                made(
                    total,
                    Rc::new(move |mut place| {
                        let mut tuple = Vec::new();
                        for (length, at) in parts.iter().rev() {
                            tuple.push(at(place % length)?);
                            place /= length;
                        }
                        tuple.reverse();
                        Ok(Value::Parts(Rc::new(tuple)))
                    }),
                )
            }
            Operator::Striding => {
                let stride = number(1);
                if stride <= 0 {
                    return fault(FaultKind::Step, span, stride, 0);
                }
                made(
                    length / stride + i64::from(length % stride > 0),
                    Rc::new(move |place| at(place * stride)),
                )
            }
            Operator::Reverse => made(length, Rc::new(move |place| at(length - 1 - place))),
            Operator::Cyclic => {
                let count = number(1);
                match (count, length) {
                    (i64::MIN..=-1, _) => fault(FaultKind::Count, span, count, 0),
                    (1.., 0) => fault(FaultKind::Empty, span, 0, 0),
                    _ => made(count, Rc::new(move |place| at(place % length))),
                }
            }
            Operator::Nest => {
                let offsets: Vec<i64> = elements(&values[1])?.iter().map(whole).collect();
                for (place, offset) in offsets.iter().enumerate() {
                    let before = if place == 0 { 0 } else { offsets[place - 1] };
                    let last = place + 1 == offsets.len();
                    if *offset < before || place == 0 && *offset != 0 || last && *offset != length {
                        return fault(FaultKind::Offsets, span, place as i64, *offset);
                    }
                }
                if offsets.is_empty() {
                    return fault(FaultKind::Offsets, span, 0, 0);
                }
                made(
                    offsets.len() as i64 - 1,
                    Rc::new(move |row| {
                        let (begin, end) = (offsets[row as usize], offsets[row as usize + 1]);
                        let at = Rc::clone(&at);
                        let inner: Element<'p> = Rc::new(move |place| at(begin + place));
                        Ok(Value::Sequence(end - begin, inner))
                    }),
                )
            }
            Operator::SortByKey => {
                let (_, parts) = together(&values, span)?;
                let mut keyed = Vec::new();
                for place in 0..length {
                    keyed.push((whole(&parts[1](place)?), place));
                }
                keyed.sort();
                Ok(listed(keyed.into_iter().map(|(_, place)| at(place)).collect::<Done<_>>()?))
            }
            _ => Ok(values[0].clone()),
        }
    }
}
