//! Sets of points as boxes whose sides are fixed to the ends of the grid: what is touched of each array, exactly.
//!
//! Comparisons of a bound from the start with one from the end hold from some extent on. The least extents are kept;
//! on smaller grids the loops run as they were written.

use polyhedral::domain::{Bound, GridEnd, Interval};

/// A box.
pub type Points = Vec<Interval>;

/// Boxes, and the extents from which on they are right.
#[derive(Debug, Clone, PartialEq)]
pub struct Boxes {
    pub list: Vec<Points>,
    /// Whether they have no common points; too many are left as they are.
    pub apart: bool,
    pub least: Vec<i64>,
}

/// More boxes than this are not made disjoint.
const MOST_BOXES: usize = 48;

impl Boxes {
    /// The union of some boxes.
    pub fn union(mut boxes: Vec<Points>, dimension: usize) -> Boxes {
        let mut least = vec![0; dimension];
        boxes.sort();
        boxes.dedup();
        loop {
            // Along each dimension by itself: a box that is joined along one still fills gaps along another.
            let mut next = boxes.clone();
            for d in 0..dimension {
                let mut along = boxes.clone();
                join_along(&mut along, d, &mut least);
                next.extend(along);
            }
            next.sort();
            next.dedup();
            drop_contained(&mut next, &mut least);
            if next == boxes {
                break;
            }
            boxes = next;
        }
        // The large ones stay whole.
        boxes.sort_by_key(|one| {
            let wide = one.iter().filter(|side| side.is_wide()).count();
            let trimmed: i64 = one
                .iter()
                .filter(|side| side.is_wide())
                .map(|side| side.low.offset.saturating_sub(side.high.offset))
                .sum();
            (std::cmp::Reverse(wide), trimmed)
        });
        let mut list: Vec<Points> = Vec::new();
        for one in &boxes {
            let mut rest = vec![one.clone()];
            for other in &list {
                rest = rest.into_iter().flat_map(|part| without(part, other, &mut least)).collect();
            }
            list.extend(rest);
            if list.len() > MOST_BOXES {
                return Boxes { list: boxes, apart: false, least };
            }
        }
        Boxes { list, apart: true, least }
    }
}

/// Whether `a <= b` from some extent on, which is kept.
fn before(a: Bound, b: Bound, least: &mut i64) -> bool {
    match b.reaches(a) {
        Some(from) => {
            *least = (*least).max(from);
            true
        }
        None => false,
    }
}

/// Joins boxes that overlap or touch in one dimension and are the same in all others.
fn join_along(boxes: &mut Vec<Points>, d: usize, least: &mut [i64]) {
    boxes.sort_by(|a, b| {
        let rest = |one: &Points| {
            let mut rest = one.clone();
            rest.remove(d);
            rest
        };
        rest(a).cmp(&rest(b)).then_with(|| a[d].cmp(&b[d]))
    });
    let mut joined: Vec<Points> = Vec::new();
    for next in std::mem::take(boxes) {
        let same = joined
            .last_mut()
            .filter(|last| last.iter().zip(&next).enumerate().all(|(at, (a, b))| at == d || a == b));
        if let Some(last) = same {
            let (own, other) = (last[d], next[d]);
            let mut from = least[d];
            // Bounds from the start are sorted before those from the end.
            if before(own.low, other.low, &mut from) && before(other.low, own.high, &mut from) {
                least[d] = from;
                if before(own.high, other.high, &mut least[d]) {
                    last[d].high = other.high;
                }
                continue;
            }
        }
        joined.push(next);
    }
    *boxes = joined;
}

/// Leaves out boxes that lie within another one.
fn drop_contained(boxes: &mut Vec<Points>, least: &mut [i64]) {
    let mut at = 0;
    while at < boxes.len() {
        let inside = (0..boxes.len()).filter(|other| *other != at).any(|other| {
            let mut from = least.to_vec();
            let holds = boxes[at].iter().zip(&boxes[other]).enumerate().all(|(d, (a, b))| {
                before(b.low, a.low, &mut from[d]) && before(a.high, b.high, &mut from[d])
            });
            if holds {
                least.copy_from_slice(&from);
            }
            holds
        });
        if inside {
            boxes.remove(at);
        } else {
            at += 1;
        }
    }
}

/// A box without the points of another.
fn without(mut rest: Points, other: &Points, least: &mut [i64]) -> Vec<Points> {
    for (d, (a, b)) in rest.iter().zip(other).enumerate() {
        if let Some(from) = a.apart_from(*b) {
            least[d] = least[d].max(from);
            return vec![rest];
        }
    }
    let mut found = Vec::new();
    for (d, side) in other.iter().enumerate() {
        if !before(side.low, rest[d].low, &mut least[d]) {
            least[d] = least[d].max(side.low.reaches(rest[d].low).unwrap_or(0));
            let mut part = rest.clone();
            part[d].high = side.low;
            found.push(part);
            rest[d].low = side.low;
        }
        if !before(rest[d].high, side.high, &mut least[d]) {
            least[d] = least[d].max(rest[d].high.reaches(side.high).unwrap_or(0));
            let mut part = rest.clone();
            part[d].low = side.high;
            found.push(part);
            rest[d].high = side.high;
        }
    }
    found
}

/// A bound in the coordinates of the arrays.
pub fn place(bound: Bound, dimension: usize) -> String {
    let end = match bound.from {
        GridEnd::Start => format!("tw_low{dimension}"),
        GridEnd::End => format!("tw_high{dimension}"),
    };
    match bound.offset {
        0 => end,
        offset if offset < 0 => format!("{end} - {}", -offset),
        offset => format!("{end} + {offset}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn points(list: &[Points], size: i64) -> BTreeMap<Vec<i64>, usize> {
        let mut found = BTreeMap::new();
        for one in list {
            let sides: Vec<(i64, i64)> = one.iter().map(|side| side.at(size)).collect();
            for i in sides[0].0..sides[0].1 {
                for j in sides[1].0..sides[1].1 {
                    *found.entry(vec![i, j]).or_default() += 1;
                }
            }
        }
        found
    }

    #[test]
    fn unions_hold_each_point_once() {
        let star = |domain: &Points| -> Vec<Points> {
            [(0, 0), (-1, 0), (1, 0), (0, -2), (0, 1)]
                .iter()
                .map(|(i, j)| vec![domain[0].shifted(*i), domain[1].shifted(*j)])
                .collect()
        };
        let side = |low: Bound, high: Bound| Interval { low, high };
        let inner = vec![Interval::margin(1, 1), Interval::margin(2, 1)];
        let top = vec![side(Bound::start(0), Bound::start(1)), Interval::margin(0, 0)];
        let right = vec![Interval::margin(1, 0), side(Bound::end(-1), Bound::end(0))];
        for list in
            [star(&inner), [star(&inner), vec![top.clone(), right.clone()]].concat(), vec![top, right]]
        {
            let union = Boxes::union(list.clone(), 2);
            let least = union.least.iter().copied().max().unwrap();
            assert!(least <= 5, "{least}");
            for size in least..12 {
                let (found, wanted) = (points(&union.list, size), points(&list, size));
                assert!(found.keys().eq(wanted.keys()), "{size}: {union:?}");
                assert!(found.values().all(|count| *count == 1), "{size}: {union:?}");
            }
        }
        // As small as the reads of a star allow.
        assert_eq!(Boxes::union(star(&vec![Interval::margin(1, 1), Interval::margin(2, 1)]), 2).least[0], 3);
        let whole = star(&inner).into_iter().chain([vec![Interval::margin(0, 0), Interval::margin(0, 0)]]);
        assert_eq!(Boxes::union(whole.collect(), 2).list.len(), 1);
    }
}
