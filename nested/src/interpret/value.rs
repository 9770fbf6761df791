//! Values while a program is interpreted.

use crate::data::{Array, Output};
use crate::fault::{Fault, FaultKind};
use crate::program::*;
use polyhedral::source::Span;
use std::rc::Rc;

pub(super) type Done<T> = Result<T, Fault>;
pub(super) type Element<'p> = Rc<dyn Fn(i64) -> Done<Value<'p>> + 'p>;

#[derive(Clone)]
pub(super) enum Value<'p> {
    Scalar(Literal),
    Parts(Rc<Vec<Value<'p>>>),
    Sequence(i64, Element<'p>),
}

pub(super) fn listed<'p>(values: Vec<Value<'p>>) -> Value<'p> {
    let length = values.len() as i64;
    Value::Sequence(length, Rc::new(move |place| Ok(values[place as usize].clone())))
}

pub(super) fn given<'p>(ty: &Type, array: Array) -> Value<'p> {
    let (element, is_sequence) = (ty.element().unwrap_or(ty).clone(), ty.element().is_some());
    let width = element.leaves().first().map_or(1, |(_, width)| *width);
    let length = (array.len() / width) as i64;
    let at = move |place: i64| {
        let number = |component: usize| {
            Value::Scalar(array.get(place as usize * width + component).unwrap_or(Literal::I64(0)))
        };
        match element {
            Type::Vector(..) => Value::Parts(Rc::new((0..width).map(number).collect())),
            _ => number(0),
        }
    };
    if is_sequence { Value::Sequence(length, Rc::new(move |place| Ok(at(place)))) } else { at(0) }
}

pub(super) fn output(variable: &Variable, value: Value<'_>) -> Done<Output> {
    let mut leaves: Vec<Array> =
        variable.ty.leaves().into_iter().map(|(scalar, _)| Array::new(scalar)).collect();
    let mut offsets = None;
    let element = variable.ty.element();
    if let Some(inner) = element.and_then(Type::element) {
        let mut places = vec![0];
        for row in elements(&value)? {
            let row = elements(&row)?;
            places.push(places[places.len() - 1] + row.len() as i64);
            row.iter().for_each(|value| keep(inner, value, &mut leaves));
        }
        offsets = Some(places);
    } else if let Some(element) = element {
        elements(&value)?.iter().for_each(|value| keep(element, value, &mut leaves));
    } else {
        keep(&variable.ty, &value, &mut leaves);
    }
    Ok(Output { name: variable.name.clone(), ty: variable.ty.clone(), leaves, offsets })
}

/// Puts a value without sequences into the arrays of its numbers.
fn keep(ty: &Type, value: &Value<'_>, leaves: &mut [Array]) {
    match (ty, value) {
        (Type::Tuple(types), Value::Parts(parts)) => {
            let mut first = 0;
            for (ty, part) in types.iter().zip(parts.iter()) {
                let count = ty.leaves().len();
                keep(ty, part, &mut leaves[first..first + count]);
                first += count;
            }
        }
        (Type::Vector(..), Value::Parts(parts)) => {
            for part in parts.iter() {
                keep(&Type::Scalar(Scalar::F64), part, leaves);
            }
        }
        (_, Value::Scalar(literal)) => leaves[0].push(*literal),
        _ => {}
    }
}

pub(super) fn elements<'p>(value: &Value<'p>) -> Done<Vec<Value<'p>>> {
    match value {
        Value::Sequence(length, at) => (0..*length).map(|place| at(place)).collect(),
        _ => Ok(Vec::new()),
    }
}

/// The value with all its elements computed.
pub(super) fn stored<'p>(value: &Value<'p>) -> Done<Value<'p>> {
    Ok(match value {
        Value::Scalar(_) => value.clone(),
        Value::Parts(parts) => Value::Parts(Rc::new(parts.iter().map(stored).collect::<Done<_>>()?)),
        Value::Sequence(..) => listed(elements(value)?.iter().map(stored).collect::<Done<_>>()?),
    })
}

pub(super) fn whole(value: &Value<'_>) -> i64 {
    match value {
        Value::Scalar(Literal::I64(value)) => *value,
        Value::Scalar(Literal::I32(value)) => i64::from(*value),
        _ => 0,
    }
}

pub(super) fn truth(value: &Value<'_>) -> bool {
    matches!(value, Value::Scalar(Literal::Bool(true)))
}

pub(super) fn sequence<'p>(value: Value<'p>) -> (i64, Element<'p>) {
    match value {
        Value::Sequence(length, at) => (length, at),
        _ => (0, Rc::new(|_| Ok(Value::Scalar(Literal::I64(0))))),
    }
}

pub(super) fn fault<T>(kind: FaultKind, span: &Span, a: i64, b: i64) -> Done<T> {
    Err(Fault { kind, span: span.clone(), numbers: [a, b] })
}

/// The elements of several sequences of one length.
pub(super) fn together<'p>(values: &[Value<'p>], span: &Span) -> Done<(i64, Vec<Element<'p>>)> {
    let parts: Vec<(i64, Element<'p>)> = values.iter().cloned().map(sequence).collect();
    let length = parts.first().map_or(0, |(length, _)| *length);
    if let Some((other, _)) = parts.iter().find(|(other, _)| *other != length) {
        return fault(FaultKind::Lengths, span, length, *other);
    }
    Ok((length, parts.into_iter().map(|(_, at)| at).collect()))
}
