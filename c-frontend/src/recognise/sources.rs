//! Sources: `u[x][y] += signal[t];` behind the loops that compute `u`, at a place that is known when the program runs.
//!
//! A statement of its own would compute a point that another one computes, at no fixed distance from the ends of the grid. So
//! it becomes part of the other one: `u[i][j] = i == x && j == y ? v + signal[t] : v`, where `v` is what was computed there.
//! That is the same as long as nothing reads or writes `u` between the two, and nothing else in the loops does: not the
//! neighbours of the point, nor the loops between.

use super::points::reads_of;
use crate::ast::{BinaryOp, Expr as CExpr, ExprKind as CKind};
use crate::nest::{Element, Leaf, Nest, Read, ReadOf, Temporary, Touched};
use crate::polynomial::{Polynomial, Symbol};
use polyhedral::program::{Access, CompareOp, Condition, ElementType, Expr, ExprKind, FieldId, LocalId};
use std::collections::BTreeSet;

/// The nest with its sources as parts of what computes their arrays; `None` if there are none. Other statements of a single
/// point stay, such as those at the ends of a line.
pub fn with_sources(nest: &Nest) -> Option<Nest> {
    let mut nest = nest.clone();
    let (mut at, mut joined) = (0, false);
    while let Some(leaf) = nest.leaves.get(at) {
        if leaf.path.is_empty() && !leaf.overwritten {
            let mut without = nest.clone();
            let source = without.leaves.remove(at);
            if join(&mut without, &source).is_some() {
                (nest, joined) = (without, true);
                continue;
            }
        }
        at += 1;
    }
    joined.then_some(nest)
}

fn join(nest: &mut Nest, source: &Leaf) -> Option<()> {
    let array = &source.target.array;
    let (at, host) = nest
        .leaves
        .iter()
        .enumerate()
        .filter(|(_, leaf)| leaf.target.array == *array && leaf.order < source.order && !leaf.overwritten)
        .max_by(|(_, a), (_, b)| a.order.cmp(&b.order))?;
    let host = host.clone();
    let point = point(nest, &host, &source.target)?;
    if host.touched != Touched::Always || !is_alone(nest, &host, source) {
        return None;
    }
    for (index, place) in &point {
        let (_, low, high) = host.narrowed.iter().find(|(of, ..)| of == index)?;
        let behind = place.plus(&Polynomial::number(1), 1)?;
        for (less, more) in [(low, place), (&behind, high)] {
            match more.distance(less) {
                Some(by) if by < 0 => return None,
                Some(_) => {}
                None => nest.assumed.push((less.clone(), more.clone())),
            }
        }
    }
    let span = &source.span;
    // Whether this is the point, computed once for each point by the C compiler.
    let made = |kind| CExpr { kind, span: span.clone() };
    let mut is_point: Option<CExpr> = None;
    for (index, place) in &point {
        let text = place.to_c(&|symbol| match symbol {
            Symbol::Constant(text) => format!("(long)({text})"),
            _ => "0".to_owned(),
        });
        let here = made(CKind::Name(nest.loops[*index].name.clone()));
        let there = made(CKind::Other("place".to_owned(), format!("({text})")));
        let equal = made(CKind::Binary(BinaryOp::Equal, Box::new(here), Box::new(there)));
        is_point = Some(match is_point {
            None => equal,
            Some(before) => made(CKind::Binary(BinaryOp::And, Box::new(before), Box::new(equal))),
        });
    }
    let element = ElementType::F32;
    nest.reads.push(Read {
        what: ReadOf::Place(is_point?, Vec::new(), element),
        span: span.clone(),
        order: host.order.clone(),
        touched: Touched::Always,
        path: host.path.clone(),
    });
    let access = Access { field: FieldId(nest.reads.len() - 1), time: 0, offset: Vec::new() };
    let read = Expr { kind: ExprKind::Read(access), element, span: span.clone() };
    let truth = Condition::Compare(
        CompareOp::NotEqual,
        read,
        Expr { kind: ExprKind::Literal(0.0), element, span: span.clone() },
    );
    let then = written_out(nest, source, &host.value)?;
    let kind = ExprKind::Select(Box::new(truth), Box::new(then), Box::new(host.value.clone()));
    let value = Expr { kind, element: host.target.element, span: span.clone() };
    nest.temporaries.push(Temporary { name: array.clone(), value });
    let local = ExprKind::Local(LocalId(nest.temporaries.len() - 1));
    nest.leaves[at].value = Expr { kind: local, element: host.target.element, span: host.span.clone() };
    Some(())
}

/// The values of the loops' indices at which the loops compute an element that does not depend on them.
fn point(nest: &Nest, host: &Leaf, source: &Element) -> Option<Vec<(usize, Polynomial)>> {
    if host.target.indices.len() != source.indices.len() {
        return None;
    }
    let mut found = Vec::new();
    for (own, wanted) in host.target.indices.iter().zip(&source.indices) {
        let mut indices: Vec<(usize, Polynomial)> = own
            .indices()
            .into_iter()
            .map(|at| Some((at, own.coefficient(&Symbol::Index(at))?)))
            .collect::<Option<_>>()?;
        if indices.is_empty() {
            if own != wanted {
                return None;
            }
            continue;
        }
        if !wanted.is_invariant() {
            return None;
        }
        indices.sort_by_key(|(_, stride)| std::cmp::Reverse(stride.magnitude()));
        let shift = indices.iter().fold(own.clone(), |rest, (at, _)| rest.without(&Symbol::Index(*at)));
        let mut rest = wanted.plus(&shift, -1)?;
        let last = indices.len() - 1;
        for (number, (at, stride)) in indices.into_iter().enumerate() {
            let value = if number == last { rest.clone() } else { rest.divided(&stride) };
            if number == last && stride.constant() != Some(1) {
                return None;
            }
            rest = rest.plus(&value.times(&stride)?, -1)?;
            found.push((at, value));
        }
    }
    // Each loop around the statement is told apart.
    let told: BTreeSet<usize> = found.iter().map(|(at, _)| *at).collect();
    (told.len() == found.len() && host.path.iter().all(|at| told.contains(at)) && !nest.loops.is_empty())
        .then_some(found)
}

/// Whether nothing touches the source's array between the loops and the source, and nothing else in the loops does.
fn is_alone(nest: &Nest, host: &Leaf, source: &Leaf) -> bool {
    let own = reads_of(nest, &source.value);
    let of_itself = own.iter().all(|number| match &nest.reads[*number].what {
        ReadOf::State(element) => {
            element.array == source.target.array && element.indices == source.target.indices
        }
        _ => false,
    });
    let (from, to) = (host.order.first(), &source.order);
    let between = |order: &Vec<u32>| order.first() >= from && order < to;
    let others = nest
        .leaves
        .iter()
        .filter(|leaf| leaf.order != host.order && leaf.target.array == source.target.array)
        .all(|leaf| !between(&leaf.order));
    let live: BTreeSet<usize> = nest.leaves.iter().flat_map(|leaf| reads_of(nest, &leaf.value)).collect();
    let reads = nest.reads.iter().enumerate().filter(|(number, _)| live.contains(number)).all(|(_, read)| {
        let ReadOf::State(element) = &read.what else { return true };
        element.array != source.target.array
            || !between(&read.order)
            || (element.indices == host.target.indices && read.path == host.path)
            || is_other_buffer(&host.target, element)
    });
    of_itself && others && reads
}

/// Whether two elements lie in different buffers for certain.
fn is_other_buffer(a: &Element, b: &Element) -> bool {
    a.indices.len() == b.indices.len()
        && a.indices.iter().zip(&b.indices).any(|(a, b)| {
            let turn = |index: &Polynomial| {
                let symbols = index.symbols();
                let symbol = symbols.first().filter(|_| symbols.len() == 1)?.clone();
                (index.distance(&Polynomial::symbol(symbol.clone())) == Some(0)).then_some(symbol)
            };
            match (a.constant(), b.constant(), turn(a), turn(b)) {
                (Some(a), Some(b), ..) => a != b,
                (
                    ..,
                    Some(Symbol::TimeModulo { shift: a, modulus: m, from: f }),
                    Some(Symbol::TimeModulo { shift: b, modulus: n, from: g }),
                ) => a != b && m == n && f == g,
                _ => false,
            }
        })
}

/// Deepest nesting of scalars that a source's value is computed of.
const MOST_DEPTH: usize = 32;

/// A source's value, of which what stood at the point is another one.
fn written_out(nest: &Nest, source: &Leaf, before: &Expr) -> Option<Expr> {
    let mut result = inlined(nest, &source.value, 0)?;
    let mut complete = true;
    result.walk_mut(|expr| {
        let ExprKind::Read(access) = &expr.kind else { return };
        match &nest.reads[access.field.0].what {
            ReadOf::State(element) if element.indices == source.target.indices => *expr = before.clone(),
            _ => complete = false,
        }
    });
    complete.then_some(result)
}

/// A value with its scalars written out.
fn inlined(nest: &Nest, value: &Expr, depth: usize) -> Option<Expr> {
    if depth > MOST_DEPTH {
        return None;
    }
    let mut result = value.clone();
    let mut complete = true;
    result.walk_mut(|expr| {
        if let ExprKind::Local(LocalId(number)) = &expr.kind {
            match inlined(nest, &nest.temporaries[*number].value, depth + 1) {
                Some(inner) => *expr = inner,
                None => complete = false,
            }
        }
    });
    complete.then_some(result)
}
