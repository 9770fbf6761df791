//! Domains: the points that a statement computes, as boxes whose sides are fixed to the ends of the grid.
//!
//! A bound is `c` (counted from the start of the grid) or `n + c` (from its end), so that one text describes
//! the interior `[1, n - 1)`, the first row `[0, 1)` and the last one `[n - 1, n)` of grids of all sizes. With
//! two kinds of bounds, comparisons for all large sizes, and the least size from which they hold, are exact:
//!
//! ```text
//! c1 >= c2          for all n, or for none
//! n + c1 >= n + c2  likewise
//! n + c1 >= c2      for n >= c2 - c1
//! c1 >= n + c2      not for large n
//! ```

/// An end of the grid in one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GridEnd {
    /// The first point, 0.
    Start,
    /// One past the last point, `n`.
    End,
}

/// A place in one dimension, in points from an end of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bound {
    /// The end.
    pub from: GridEnd,
    /// What is added to it; negative inside the grid where counted from the end.
    pub offset: i64,
}

impl Bound {
    /// `offset`
    pub const fn start(offset: i64) -> Bound {
        Bound { from: GridEnd::Start, offset }
    }

    /// `n + offset`
    pub const fn end(offset: i64) -> Bound {
        Bound { from: GridEnd::End, offset }
    }

    /// The value on a grid of this extent.
    pub fn at(self, extent: i64) -> i64 {
        match self.from {
            GridEnd::Start => self.offset,
            GridEnd::End => extent + self.offset,
        }
    }

    /// The bound moved by some points.
    pub fn shifted(self, distance: i64) -> Bound {
        Bound { offset: self.offset + distance, ..self }
    }

    /// The least extent from which on this bound is at least the other one; `None` where it is less for all
    /// large extents.
    pub fn reaches(self, other: Bound) -> Option<i64> {
        match (self.from, other.from) {
            (GridEnd::End, GridEnd::Start) => Some((other.offset - self.offset).max(0)),
            (GridEnd::Start, GridEnd::End) => None,
            _ => (self.offset >= other.offset).then_some(0),
        }
    }

    /// The text of the bound, with the extent's name.
    pub fn text(self, extent: &str) -> String {
        match (self.from, self.offset) {
            (GridEnd::Start, offset) => offset.to_string(),
            (GridEnd::End, 0) => extent.to_owned(),
            (GridEnd::End, offset) if offset < 0 => format!("{extent} - {}", -offset),
            (GridEnd::End, offset) => format!("{extent} + {offset}"),
        }
    }
}

/// The points `low <= i < high` of one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Interval {
    /// First point.
    pub low: Bound,
    /// One past the last point.
    pub high: Bound,
}

impl Interval {
    /// All points but `low` at the start and `high` at the end of the grid.
    pub const fn margin(low: i64, high: i64) -> Interval {
        Interval { low: Bound::start(low), high: Bound::end(-high) }
    }

    /// Whether it grows with the grid.
    pub fn is_wide(self) -> bool {
        self.low.from == GridEnd::Start && self.high.from == GridEnd::End
    }

    /// Its points where their number is the same on all grids; at least 0.
    pub fn points(self) -> Option<i64> {
        (self.low.from == self.high.from).then(|| (self.high.offset - self.low.offset).max(0))
    }

    /// First point and one past the last on a grid of this extent; the second is not less than the first.
    pub fn at(self, extent: i64) -> (i64, i64) {
        let low = self.low.at(extent);
        (low, self.high.at(extent).max(low))
    }

    /// The interval moved by some points.
    pub fn shifted(self, distance: i64) -> Interval {
        Interval { low: self.low.shifted(distance), high: self.high.shifted(distance) }
    }

    /// The least extent from which on two intervals have no common point; `None` where they have one for all
    /// large extents.
    pub fn apart_from(self, other: Interval) -> Option<i64> {
        let lows = [self.low, other.low];
        lows.into_iter().flat_map(|low| [self.high, other.high].map(|high| low.reaches(high))).flatten().min()
    }
}

/// The sides of a domain in one dimension, as far as they are given. The others are as far out as the reads of
/// the statement allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sides {
    /// First point.
    pub low: Option<Bound>,
    /// One past the last point.
    pub high: Option<Bound>,
}

impl From<Interval> for Sides {
    fn from(interval: Interval) -> Sides {
        Sides { low: Some(interval.low), high: Some(interval.high) }
    }
}

/// The dimension in which two boxes are apart from the least extent on, and that extent; `None` where they
/// overlap on all large grids.
pub fn apart(first: &[Interval], second: &[Interval]) -> Option<(usize, i64)> {
    let apart = first.iter().zip(second).enumerate();
    apart.filter_map(|(d, (a, b))| Some((d, a.apart_from(*b)?))).min_by_key(|&(d, least)| (least, d))
}

/// The box moved by an offset per dimension.
pub fn shifted(domain: &[Interval], offset: &[i64]) -> Vec<Interval> {
    domain.iter().zip(offset).map(|(interval, &distance)| interval.shifted(distance)).collect()
}

/// The common points of two boxes that overlap on all large grids.
pub fn intersection(first: &[Interval], second: &[Interval]) -> Vec<Interval> {
    let larger = |a: Bound, b: Bound| if a.reaches(b).is_some() { a } else { b };
    let smaller = |a: Bound, b: Bound| if a.reaches(b).is_some() { b } else { a };
    first
        .iter()
        .zip(second)
        .map(|(a, b)| Interval { low: larger(a.low, b.low), high: smaller(a.high, b.high) })
        .collect()
}

/// Names of the grid's extents.
pub const EXTENTS: [&str; 3] = ["n0", "n1", "n2"];

/// The box as conditions of the stencil language, such as `1 <= i < n0 - 1, j == 0`.
pub fn text(domain: &[Interval], indices: &[String]) -> String {
    let conditions = domain.iter().zip(indices).zip(EXTENTS);
    conditions
        .map(|((interval, index), extent)| condition(*interval, index, extent))
        .collect::<Vec<_>>()
        .join(", ")
}

/// `1 <= i < n0 - 1` or `i == 0`
pub fn condition(interval: Interval, index: &str, extent: &str) -> String {
    let Interval { low, high } = interval;
    if low.shifted(1) == high {
        format!("{index} == {}", low.text(extent))
    } else {
        format!("{} <= {index} < {}", low.text(extent), high.text(extent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: [i64; 5] = [-2, -1, 0, 1, 3];

    fn bounds() -> Vec<Bound> {
        EDGES.into_iter().flat_map(|offset| [Bound::start(offset), Bound::end(offset)]).collect()
    }

    #[test]
    fn comparisons_hold_from_the_least_extent_on() {
        for a in bounds() {
            for b in bounds() {
                let holds = |n: i64| a.at(n) >= b.at(n);
                match a.reaches(b) {
                    Some(least) => {
                        assert!((least..40).all(holds), "{a:?} {b:?}");
                        assert!(least == 0 || !holds(least - 1), "{a:?} {b:?}: {least} is not the least");
                    }
                    None => assert!(!holds(39), "{a:?} {b:?}"),
                }
            }
        }
    }

    #[test]
    fn intervals_are_apart_and_intersected_as_by_enumeration() {
        let intervals: Vec<Interval> = bounds()
            .iter()
            .flat_map(|&low| bounds().into_iter().map(move |high| Interval { low, high }))
            .collect();
        for a in &intervals {
            for b in &intervals {
                let common = |n: i64| -> Vec<i64> {
                    let inside = |i: &i64, x: &Interval| (x.at(n).0..x.at(n).1).contains(i);
                    (-5..60).filter(|i| inside(i, a) && inside(i, b)).collect()
                };
                match a.apart_from(*b) {
                    Some(least) => assert!((least..30).all(|n| common(n).is_empty()), "{a:?} {b:?}"),
                    None => {
                        let both = intersection(&[*a], &[*b])[0].at(30);
                        assert_eq!(common(30), (both.0..both.1).collect::<Vec<_>>(), "{a:?} {b:?}");
                        assert!(!common(30).is_empty());
                    }
                }
            }
        }
    }
}
