//! Pieces of one assignment, as guards cut it, joined again where they compute the same.

use super::loops::{Leaf, Narrowed, Nest, ReadOf};
use super::refusal::{Result, limitation};
use crate::codes;
use polyhedral::program::{Condition, Expr, ExprKind};
use std::collections::BTreeSet;

/// Most assignments of one step after joining: each takes a row of every tile, and isl's proof grows with their square and
/// more: a development build takes 26 s for 36, more than two minutes for 49.
const MOST_PIECES: usize = 40;

/// Puts assignments into the order of execution, and joins the pieces of each into as few boxes as a search finds.
pub(super) fn join(nest: &mut Nest) -> Result<()> {
    let mut rest = std::mem::take(&mut nest.leaves);
    rest.retain(|leaf| !leaf.overwritten);
    rest.sort_by(|a, b| a.order.cmp(&b.order));
    let cut = |leaf: &Leaf, nest: &Nest| {
        leaf.narrowed.iter().any(|(of, low, high)| {
            let source = &nest.loops[*of];
            *low != source.low || *high != source.high
        })
    };
    let before = rest.len();
    while !rest.is_empty() {
        let first = rest.remove(0);
        let mut same = vec![first];
        let mut at = 0;
        while at < rest.len() && rest[at].order == same[0].order {
            if alike(nest, &same[0], &rest[at]) {
                same.push(rest.remove(at));
            } else {
                at += 1;
            }
        }
        let kept = still(nest, &same[0]);
        let boxes = fewest(same.iter().map(|leaf| leaf.narrowed.clone()).collect(), &kept);
        let leaf = same.swap_remove(0);
        nest.leaves.extend(boxes.into_iter().map(|narrowed| Leaf { narrowed, ..leaf.clone() }));
    }
    if nest.leaves.len() > MOST_PIECES
        && nest.leaves.len() <= before
        && let Some(leaf) = nest.leaves.iter().find(|leaf| cut(leaf, nest))
    {
        let message = format!(
            "conditions on indices cut the grid into {} assignments per step; at most {MOST_PIECES} are supported",
            nest.leaves.len()
        );
        return limitation(codes::PIECES, &leaf.span, message);
    }
    Ok(())
}

/// The loops that do not move something that an assignment reads of the arrays that are computed: such a read lies at a
/// constant distance at one point only.
fn still(nest: &Nest, leaf: &Leaf) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![leaf.value.clone()];
    while let Some(value) = open.pop() {
        value.walk(|expr| match &expr.kind {
            ExprKind::Local(local) if seen.insert(local.0) => {
                open.push(nest.temporaries[local.0].value.clone());
            }
            ExprKind::Read(access) => {
                if let ReadOf::State(element) = &nest.reads[access.field.0].what {
                    let moves: BTreeSet<usize> =
                        element.indices.iter().flat_map(|one| one.indices()).collect();
                    found.extend(leaf.path.iter().filter(|at| !moves.contains(at)));
                }
            }
            _ => {}
        });
    }
    found
}

/// Whether two pieces compute the same.
fn alike(nest: &Nest, a: &Leaf, b: &Leaf) -> bool {
    let value = |leaf: &Leaf| match leaf.value.kind {
        ExprKind::Local(local) => nest.temporaries[local.0].value.clone(),
        _ => leaf.value.clone(),
    };
    a.target == b.target && a.path == b.path && a.touched == b.touched && same(&value(a), &value(b))
}

/// Whether two expressions are the same but for their places in the text.
pub(super) fn same(a: &Expr, b: &Expr) -> bool {
    use ExprKind::*;
    a.element == b.element
        && match (&a.kind, &b.kind) {
            (Literal(a), Literal(b)) => a.to_bits() == b.to_bits(),
            (Parameter(a), Parameter(b)) => a == b,
            (Local(a), Local(b)) => a == b,
            (Read(a), Read(b)) => a == b,
            (Series(a, by), Series(b, other)) => a == b && by == other,
            (Negate(a), Negate(b)) | (Cast(a), Cast(b)) => same(a, b),
            (Binary(one, a, b), Binary(other, c, d)) => one == other && same(a, c) && same(b, d),
            (Call(one, a), Call(other, b)) => one == other && same(a, b),
            (Select(one, a, b), Select(other, c, d)) => {
                same_condition(one, other) && same(a, c) && same(b, d)
            }
            _ => false,
        }
}

fn same_condition(a: &Condition, b: &Condition) -> bool {
    use Condition::*;
    match (a, b) {
        (Compare(one, a, b), Compare(other, c, d)) => one == other && same(a, c) && same(b, d),
        (And(a, b), And(c, d)) | (Or(a, b), Or(c, d)) => same_condition(a, c) && same_condition(b, d),
        (Not(a), Not(b)) => same_condition(a, b),
        (Congruent(a), Congruent(b)) => a == b,
        _ => false,
    }
}

type Segments = Vec<Narrowed>;

/// The same points in as few boxes as joining neighbours gives, over all orders of the loops; not along those that are kept.
fn fewest(boxes: Vec<Segments>, kept: &BTreeSet<usize>) -> Vec<Segments> {
    let loops = boxes.first().map_or(0, Vec::len);
    let mut best = boxes.clone();
    for order in orders(loops) {
        let mut list = boxes.clone();
        loop {
            let count = list.len();
            for dimension in order.iter().filter(|dimension| !kept.contains(&boxes[0][**dimension].0)) {
                join_along(&mut list, *dimension);
            }
            if list.len() == count {
                break;
            }
        }
        if list.len() < best.len() {
            best = list;
        }
    }
    best
}

fn orders(count: usize) -> Vec<Vec<usize>> {
    match count {
        0 => vec![Vec::new()],
        1..=3 => {
            let mut found = Vec::new();
            for shorter in orders(count - 1) {
                for at in 0..=shorter.len() {
                    let mut longer = shorter.clone();
                    longer.insert(at, count - 1);
                    found.push(longer);
                }
            }
            found
        }
        _ => vec![(0..count).collect()],
    }
}

/// Joins boxes that follow one another in a loop and are the same in all others.
fn join_along(list: &mut Vec<Segments>, dimension: usize) {
    let mut at = 0;
    while at < list.len() {
        let next = (0..list.len()).find(|other| {
            *other != at
                && list[at][dimension].2 == list[*other][dimension].1
                && list[at].iter().zip(&list[*other]).enumerate().all(|(d, (a, b))| d == dimension || a == b)
        });
        match next {
            Some(next) => {
                list[at][dimension].2 = list[next][dimension].2.clone();
                list.remove(next);
                at = 0;
            }
            None => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polynomial::Polynomial;

    fn square(i: (i64, i64), j: (i64, i64)) -> Segments {
        let number = Polynomial::number;
        vec![(0, number(i.0), number(i.1)), (1, number(j.0), number(j.1))]
    }

    #[test]
    fn a_frame_is_four_boxes() {
        let cuts = [(0, 1), (1, 8), (8, 9)];
        let frame: Vec<Segments> = cuts
            .iter()
            .flat_map(|i| cuts.iter().map(move |j| (*i, *j)))
            .filter(|both| *both != ((1, 8), (1, 8)))
            .map(|(i, j)| square(i, j))
            .collect();
        assert_eq!(fewest(frame, &BTreeSet::new()).len(), 4);
        let all: Vec<Segments> = cuts.iter().flat_map(|i| cuts.iter().map(move |j| square(*i, *j))).collect();
        assert_eq!(fewest(all, &BTreeSet::new()), vec![square((0, 9), (0, 9))]);
    }
}
