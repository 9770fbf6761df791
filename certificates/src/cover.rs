//! Whether boxes of integers cover a box: no gap, overlaps allowed.

/// Dimensions: `k` and three sizes.
const D: usize = 4;

/// First and last integer of each dimension.
pub(crate) type Block = [(i64, i64); D];

/// Pieces that are looked at, for each box there is.
const MOST_PIECES: usize = 200;

/// Why a box is not known to be covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap {
    /// This point is in no box.
    At([i64; D]),
    /// The boxes cut each other into too many pieces.
    TooMany,
}

/// Looks for a point of `whole` in no box.
pub(crate) fn gap(whole: Block, boxes: &[Block]) -> Option<Gap> {
    let mut pieces = MOST_PIECES * (boxes.len() + 10);
    let all: Vec<&Block> = boxes.iter().collect();
    gap_in(whole, &all, &mut pieces)
}

fn gap_in(piece: Block, boxes: &[&Block], pieces: &mut usize) -> Option<Gap> {
    let meets = |own: &Block| (0..D).all(|d| own[d].0 <= piece[d].1 && own[d].1 >= piece[d].0);
    let holds = |own: &Block| (0..D).all(|d| own[d].0 <= piece[d].0 && own[d].1 >= piece[d].1);
    let near: Vec<&Block> = boxes.iter().copied().filter(|own| meets(own)).collect();
    if near.is_empty() {
        return Some(Gap::At(piece.map(|(low, _)| low)));
    }
    if near.iter().any(|own| holds(own)) {
        return None;
    }
    *pieces = match pieces.checked_sub(1) {
        None => return Some(Gap::TooMany),
        Some(left) => left,
    };
    let (d, at) = plane(&piece, &near);
    let (mut below, mut above) = (piece, piece);
    below[d].1 = at - 1;
    above[d].0 = at;
    gap_in(below, &near, pieces).or_else(|| gap_in(above, &near, pieces))
}

/// A plane between integers `at - 1` and `at` of some dimension, on a side of a box: the most even one of those that cut no
/// box, else any.
fn plane(piece: &Block, boxes: &[&Block]) -> (usize, i64) {
    let mut best: Option<(usize, (usize, i64))> = None;
    let mut any = None;
    for d in 0..D {
        let (first, last) = piece[d];
        let mut sides: Vec<(i64, i64)> =
            boxes.iter().map(|own| (own[d].0.max(first), own[d].1.min(last))).collect();
        sides.sort_unstable();
        let mut reached = first;
        for (index, &(low, high)) in sides.iter().enumerate() {
            if low > first {
                any = any.or(Some((d, low)));
                let least = index.min(sides.len() - index);
                if low > reached && best.is_none_or(|(known, _)| least > known) {
                    best = Some((least, (d, low)));
                }
            }
            if high < last {
                any = any.or(Some((d, high + 1)));
            }
            reached = reached.max(high);
        }
        if reached < last && best.is_none() {
            best = Some((0, (d, reached + 1)));
        }
        if best.is_some_and(|(least, _)| 4 * least >= boxes.len()) {
            break;
        }
    }
    // A box that meets the piece and does not hold it has a side in it.
    best.map(|(_, plane)| plane).or(any).unwrap_or((0, piece[0].1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(low: [i64; D], size: [i64; D]) -> Block {
        std::array::from_fn(|d| (low[d], low[d] + size[d]))
    }

    proptest! {
        #[test]
        fn gaps_are_points_in_no_box(
            boxes in prop::collection::vec((any::<[u8; 4]>(), any::<[u8; 4]>()), 0..30),
        ) {
            let small = |bytes: [u8; 4], most: u8| bytes.map(|byte| i64::from(byte % most));
            let whole = block([0; D], [3; D]);
            let boxes: Vec<Block> =
                boxes.into_iter().map(|(low, size)| block(small(low, 4), small(size, 4))).collect();
            let inside = |at: [i64; D]| boxes.iter().any(|own| (0..D).all(|d| own[d].0 <= at[d] && at[d] <= own[d].1));
            let all = (0..256).map(|n| [n / 64, n / 16 % 4, n / 4 % 4, n % 4]);
            let covered = all.clone().all(inside);
            match gap(whole, &boxes) {
                None => prop_assert!(covered),
                Some(Gap::At(at)) => prop_assert!(!inside(at)),
                Some(Gap::TooMany) => prop_assert!(false),
            }
        }

        #[test]
        fn halves_of_halves_cover_and_one_less_does_not(cuts in prop::collection::vec(any::<(u16, u8)>(), 0..200), out: u16) {
            let whole: Block = [(1, 32), (0, 99), (0, 49), (0, 9)];
            let mut parts = vec![whole];
            for (which, d) in cuts {
                let which = usize::from(which) % parts.len();
                let d = usize::from(d) % D;
                let (low, high) = parts[which][d];
                if low < high {
                    let mut other = parts[which];
                    parts[which][d].1 = low + (high - low) / 2;
                    other[d].0 = parts[which][d].1 + 1;
                    parts.push(other);
                }
            }
            prop_assert_eq!(gap(whole, &parts), None);
            let gone = parts.swap_remove(usize::from(out) % parts.len());
            let found = gap(whole, &parts);
            let in_it = |at: [i64; D]| (0..D).all(|d| gone[d].0 <= at[d] && at[d] <= gone[d].1);
            prop_assert!(matches!(found, Some(Gap::At(at)) if in_it(at)), "{:?}", found);
        }
    }
}
