//! Points that two statements of one step compute: the last writer wins, as C says.
//!
//! Rows at an edge are often computed twice: with all others, and then by a loop of their own. Let `S` write a box and `B`
//! write another one of the same array later in the step. Where no statement reads a value of `S` within both boxes before
//! `B` replaces it, `S` need not compute it: its box is cut into those around that of `B`.

use super::points::{Point, Points};
use crate::polynomial::Polynomial;

pub(super) type Sides = Vec<(Polynomial, Polynomial)>;

/// Pairs of which the first must not be greater than the second.
pub(super) type Assumed = Vec<(Polynomial, Polynomial)>;

/// Cuts points off that are computed again before they are read.
pub fn drop_overwritten(points: &mut Points<'_>) {
    let mut later = 0;
    while later < points.statements.len() {
        let mut at = 0;
        while at < points.statements.len() {
            if at != later
                && let Some((parts, assumed)) = cut(points, at, later)
            {
                let point = points.statements.remove(at);
                let count = parts.len();
                let parts = parts.into_iter().map(|domain| Point { domain, ..point.clone() });
                points.statements.splice(at..at, parts);
                points.assumed.extend(assumed);
                if at < later {
                    later = later + count - 1;
                }
                at += count;
                continue;
            }
            at += 1;
        }
        later += 1;
    }
    points.assumed.sort();
    points.assumed.dedup();
}

/// What is left of a statement's box where a later one computes a part of it; `None` where they have no common point, or
/// it cannot be cut.
fn cut(points: &Points<'_>, earlier: usize, later: usize) -> Option<(Vec<Sides>, Assumed)> {
    let (own, other) = (&points.statements[earlier], &points.statements[later]);
    let leaf = |point: &Point| &points.nest.leaves[point.leaf];
    if own.target != other.target || leaf(own).order >= leaf(other).order {
        return None;
    }
    // In loops of their own, all points of one come before all of the other.
    let shared = leaf(own).path.first().is_some_and(|first| leaf(other).path.first() == Some(first));
    if shared {
        return None;
    }
    let mut assumed = Vec::new();
    let common = intersection(&own.domain, &other.domain, &mut assumed)??;
    let own_field = &points.fields[own.target];
    for (number, reader) in points.statements.iter().enumerate() {
        let apart = |other: &Point| leaf(reader).path.first() != leaf(other).path.first();
        // What stands before the earlier one reads older values, and what stands behind the later one what that computes.
        let before = apart(own) && leaf(reader).order < leaf(own).order;
        let behind = apart(other) && leaf(reader).order > leaf(other).order;
        if before || behind {
            continue;
        }
        let zero = vec![0; own.domain.len()];
        for (_, read, shift) in &reader.reads {
            // Its own point is read before it is written.
            let before = number == earlier && read.offset == zero;
            if before || read.field != own.target || *shift != Some(own_field.shift) {
                continue;
            }
            let one = Polynomial::number(1);
            let place: Option<Sides> = reader
                .domain
                .iter()
                .zip(&read.offset)
                .map(|((low, high), by)| low.plus(&one, *by).zip(high.plus(&one, *by)))
                .collect();
            if intersection(&place?, &common, &mut assumed) != Some(None) {
                return None;
            }
        }
    }
    Some((around(&own.domain, &common, &mut assumed), assumed))
}

/// The boxes around one that lies in another.
pub(super) fn around(whole: &Sides, inner: &Sides, assumed: &mut Assumed) -> Vec<Sides> {
    let mut parts = Vec::new();
    let mut rest = whole.clone();
    for d in 0..rest.len() {
        let (low, high) = rest[d].clone();
        let (from, to) = inner[d].clone();
        for part in [(low, from.clone()), (to.clone(), high)] {
            if order(&part.0, &part.1, &mut Vec::new()) == Some(Order::Less) {
                order(&part.0, &part.1, assumed);
                let mut sides = rest.clone();
                sides[d] = part;
                parts.push(sides);
            }
        }
        rest[d] = (from, to);
    }
    parts
}

#[derive(PartialEq)]
enum Order {
    Less,
    Equal,
    Greater,
}

/// How two bounds compare, where that is known, or follows from large extents, which is noted.
fn order(a: &Polynomial, b: &Polynomial, assumed: &mut Assumed) -> Option<Order> {
    if let Some(by) = b.distance(a) {
        return Some(match by {
            0 => Order::Equal,
            by if by > 0 => Order::Less,
            _ => Order::Greater,
        });
    }
    let gap = b.plus(a, -1)?;
    let by = gap.growing().magnitude();
    if by > 0 {
        assumed.push((a.plus(&Polynomial::number(1), 1)?, b.clone()));
        Some(Order::Less)
    } else if by < 0 {
        assumed.push((b.plus(&Polynomial::number(1), 1)?, a.clone()));
        Some(Order::Greater)
    } else {
        None
    }
}

/// The common points of two boxes, or `Some(None)` if there are none; `None` if that is not known.
pub(super) fn intersection(a: &Sides, b: &Sides, assumed: &mut Assumed) -> Option<Option<Sides>> {
    let mut found = Vec::new();
    let mut noted = Vec::new();
    let mut known = true;
    for ((low, high), (other_low, other_high)) in a.iter().zip(b) {
        let mut own = Vec::new();
        let first = match order(low, other_low, &mut own) {
            Some(Order::Less) => Some(other_low),
            Some(_) => Some(low),
            None => None,
        };
        let behind = match order(high, other_high, &mut own) {
            Some(Order::Greater) => Some(other_high),
            Some(_) => Some(high),
            None => None,
        };
        let (Some(first), Some(behind)) = (first, behind) else {
            known = false;
            continue;
        };
        // What is known of neither bound by itself follows from what lies between those of one box.
        let has_points = |(low, high): (&Polynomial, &Polynomial)| {
            let (gap, extent) = (behind.plus(first, -1)?, high.plus(low, -1)?);
            (gap.growing() == extent.growing()).then_some(Order::Less)
        };
        let found_order = order(first, behind, &mut own).or_else(|| {
            let order = [(low, high), (other_low, other_high)].into_iter().find_map(has_points)?;
            own.push((first.plus(&Polynomial::number(1), 1)?, behind.clone()));
            Some(order)
        });
        match found_order {
            Some(Order::Less) => {
                noted.append(&mut own);
                found.push((first.clone(), behind.clone()));
            }
            Some(_) => {
                // Apart in one dimension is apart.
                assumed.append(&mut own);
                return Some(None);
            }
            None => known = false,
        }
    }
    if !known {
        return None;
    }
    assumed.append(&mut noted);
    Some(Some(found))
}
