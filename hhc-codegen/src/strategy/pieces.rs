//! The pieces into which tiles cut an interval, and what cores do with boxes of them.
//!
//! Where tiles are all combinations of pieces, what a box takes, a product over dimensions, adds up to the product of the
//! dimensions' sums:
//!
//! ```text
//! sum over tiles of f_0(length_0) * f_1(length_1) * ..  =  product over d of sum over pieces of f_d(length)
//! ```

use crate::counts::cores::{MAX_VARIANTS, Outer, RowCode};

/// An interval, both ends included.
pub(super) type Closed = (i64, i64);

/// The lengths of the pieces of an interval, and how many there are of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pieces([(i64, f64); 3]);

impl Pieces {
    const NONE: Pieces = Pieces([(0, 0.0); 3]);

    /// The interval itself.
    pub(super) fn whole((low, high): Closed) -> Pieces {
        if high < low { Self::NONE } else { Pieces([(high - low + 1, 1.0), (0, 0.0), (0, 0.0)]) }
    }

    /// Of coordinates between multiples of a size; a size of 0 does not cut.
    pub(super) fn of(all: Closed, size: i64) -> Pieces {
        if size == 0 { Self::whole(all) } else { Self::repeated((0, size - 1), size, all) }
    }

    /// What the repetitions of an interval, no longer than their distance, have of another one.
    pub(super) fn repeated((first, last): Closed, distance: i64, (low, high): Closed) -> Pieces {
        if high < low || last < first {
            return Self::NONE;
        }
        let (least, most) = Self::numbers((first, last), distance, (low, high));
        let length =
            |number: i64| (last + number * distance).min(high) - (first + number * distance).max(low) + 1;
        match most - least {
            ..0 => Self::NONE,
            0 => Pieces([(length(least), 1.0), (0, 0.0), (0, 0.0)]),
            more => {
                Pieces([(length(least), 1.0), (last - first + 1, (more - 1) as f64), (length(most), 1.0)])
            }
        }
    }

    /// The first and the last repetition that has some of it.
    pub(super) fn numbers((first, last): Closed, distance: i64, (low, high): Closed) -> Closed {
        (-(last - low).div_euclid(distance), (high - first).div_euclid(distance))
    }

    pub(super) fn sum(&self, of: impl Fn(i64) -> f64) -> f64 {
        self.0.iter().filter(|(_, times)| *times > 0.0).map(|&(length, times)| times * of(length)).sum()
    }

    pub(super) fn number(&self) -> f64 {
        self.sum(|_| 1.0)
    }

    pub(super) fn points(&self) -> f64 {
        self.sum(|length| length as f64)
    }
}

/// Adds the boxes that are all combinations of pieces.
pub(super) fn add_boxes(pieces: &[Pieces], code: &RowCode, sum: &mut Outer) {
    let Some((last, around)) = pieces.split_last() else { return };
    let block = code.block as f64;
    let blocks = |length: i64| (length as f64 + block - 1.0) / block;
    sum.calls += pieces.iter().map(Pieces::number).product::<f64>();
    let Some((first, middle)) = around.split_first() else {
        if let Some(&(_, v)) = code.variants.first() {
            sum.runs[v] += last.number();
            sum.blocks[v] += last.sum(blocks);
        }
        return;
    };
    let middle: f64 = middle.iter().map(|pieces| pieces.sum(|length| length as f64)).product();
    let short = |length: i64| length < code.block;
    let of_runs = last.sum(|length| if short(length) { 0.0 } else { blocks(length) });
    sum.points += first.sum(|length| length as f64)
        * middle
        * last.sum(|length| if short(length) { length as f64 } else { 0.0 });
    let mut runs = [0.0; MAX_VARIANTS];
    for &(length, times) in first.0.iter().filter(|(_, times)| *times > 0.0) {
        let mut rest = length;
        for &(at_once, v) in &code.variants {
            runs[v] += times * (rest / at_once) as f64;
            rest %= at_once;
        }
    }
    for (v, runs) in runs.iter().enumerate() {
        sum.runs[v] += runs * middle * last.number();
        sum.blocks[v] += runs * middle * of_runs;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_those_of_each_repetition() {
        for (first, last, distance) in [(0, 4, 5), (-3, -2, 7), (2, 2, 1), (1, 0, 4), (-9, -4, 6)] {
            for (low, high) in [(0, 0), (3, 19), (-8, 40), (5, 4)] {
                let pieces = Pieces::repeated((first, last), distance, (low, high));
                let lengths = (-60..60).map(|number| {
                    (last + number * distance).min(high) - (first + number * distance).max(low) + 1
                });
                let lengths: Vec<i64> =
                    lengths.filter(|&length| length > 0 && first <= last && low <= high).collect();
                let squares: i64 = lengths.iter().map(|length| length * length).sum();
                assert_eq!(pieces.number(), lengths.len() as f64, "{first} {last} {distance} {low} {high}");
                assert_eq!(pieces.points(), lengths.iter().sum::<i64>() as f64);
                assert_eq!(pieces.sum(|length| (length * length) as f64), squares as f64);
            }
        }
    }
}
