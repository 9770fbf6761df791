//! Statements that read what an earlier statement of the step has computed at some of their points, and older values at others.
//!
//! Rows at an edge that are copied behind those at another one read corners of what was copied just before, and between
//! them what an earlier step has left. A read has one time, so the statement is cut into boxes, each of which reads
//! all that it finds from one step.
//!
//! So does a sweep in place, whose edges are copied behind it: what it reads of points before its own is of this step,
//! and at the edge it is what the step before has copied there.

use super::levels::{comes_first, distance};
use super::overwritten::{Assumed, Sides, around, intersection};
use super::points::{Point, Points};
use super::stencil::ReadAt;
use crate::polynomial::Polynomial;

/// Most statements that there are afterwards.
const MOST_STATEMENTS: usize = 64;

/// Cuts statements at the ends of what other loops compute of what they read.
pub fn cut_readers(points: &mut Points<'_>) {
    let mut reader = 0;
    while reader < points.statements.len() {
        match cut(points, reader) {
            Some((parts, assumed)) if points.statements.len() + parts.len() <= MOST_STATEMENTS => {
                let point = points.statements.remove(reader);
                let parts = parts.into_iter().map(|domain| Point { domain, ..point.clone() });
                points.statements.splice(reader..reader, parts);
                points.assumed.extend(assumed);
            }
            _ => reader += 1,
        }
    }
    points.assumed.sort();
    points.assumed.dedup();
}

/// The boxes of a statement of which a read finds values of this step in one, and none in the others.
fn cut(points: &Points<'_>, reader: usize) -> Option<(Vec<Sides>, Assumed)> {
    let own = &points.statements[reader];
    let leaf = |point: &Point| &points.nest.leaves[point.leaf];
    for (number, read, shift) in &own.reads {
        let field = &points.fields[read.field];
        if *shift != Some(field.shift) {
            continue;
        }
        for writer in points.statements.iter().filter(|other| other.target == read.field) {
            let shared = leaf(writer).path.first().is_some_and(|first| leaf(own).path.first() == Some(first));
            if shared {
                continue;
            }
            let behind = leaf(writer).order >= leaf(own).order;
            // The points at which the read finds what the writer computes.
            let moved = |bound: &Polynomial, by: i64| bound.plus(&Polynomial::number(1), -by);
            let seen: Option<Sides> = writer
                .domain
                .iter()
                .zip(&read.offset)
                .map(|((low, high), by)| moved(low, *by).zip(moved(high, *by)))
                .collect();
            let mut assumed = Assumed::new();
            let Some(Some(inner)) = seen.and_then(|seen| intersection(&own.domain, &seen, &mut assumed))
            else {
                continue;
            };
            let mixed = if behind {
                finds_new(points, reader, *number, read)
            } else {
                read_later(points, own, read.field, &read.offset)
            };
            if inner == own.domain || !mixed {
                continue;
            }
            let mut parts = around(&own.domain, &inner, &mut assumed);
            if parts.is_empty() {
                continue;
            }
            parts.push(inner);
            if behind {
                in_order(&mut parts, &own.domain);
            }
            return Some((parts, assumed));
        }
    }
    None
}

/// Brings boxes that are cut off a box into the order in which a sweep runs through it.
fn in_order(parts: &mut [Sides], whole: &Sides) {
    let at = |part: &Sides| -> Vec<u8> {
        let place =
            |((low, high), (first, behind)): (&(Polynomial, Polynomial), &(Polynomial, Polynomial))| {
                if low == first { 0 } else { 1 + u8::from(high == behind) }
            };
        part.iter().zip(whole).map(place).collect()
    };
    parts.sort_by_key(at);
}

/// Whether the sweep that a read stands in has computed some of what it reads, before it is read.
fn finds_new(points: &Points<'_>, reader: usize, number: usize, at: &ReadAt) -> bool {
    let (own, read) = (&points.statements[reader], &points.nest.reads[number]);
    let leaf = |point: &Point| &points.nest.leaves[point.leaf];
    let place = super::levels::place(points, reader, &at.offset);
    points.statements.iter().any(|other| {
        other.target == at.field
            && leaf(other).path.first().is_some_and(|first| read.path.first() == Some(first))
            && intersection(&place, &other.domain, &mut Assumed::new()) != Some(None)
            && distance(points, read, own, other, &at.offset)
                .is_ok_and(|distance| comes_first(points, other, read, &distance))
    })
}

/// Whether a statement behind the reader, or the reader itself, computes some of what it reads: only then do steps mix.
fn read_later(points: &Points<'_>, own: &Point, field: usize, offset: &[i64]) -> bool {
    let order = &points.nest.leaves[own.leaf].order;
    let one = Polynomial::number(1);
    let place: Option<Sides> = own
        .domain
        .iter()
        .zip(offset)
        .map(|((low, high), by)| low.plus(&one, *by).zip(high.plus(&one, *by)))
        .collect();
    let Some(place) = place else { return false };
    points.statements.iter().any(|other| {
        other.target == field
            && points.nest.leaves[other.leaf].order >= *order
            && intersection(&place, &other.domain, &mut Assumed::new()) != Some(None)
    })
}
