//! The exact search: branch and bound over candidates of any kind, with the numbers that certify its result.
//!
//! A [`Space`] hands its candidates out in *parts*: a box of tile sizes, all tiles of a depth, all `k` of a tile. A part
//! whose bound is not below the best value so far is left out; every other one is cut into smaller parts and, in the
//! end, into candidates, which are evaluated. When no part is left, no candidate has a smaller value than the best one:
//! bound and value are equal.
//!
//! Spaces differ in how good their bounds are, and in what they know about the order of parts:
//!
//! - boxes with a sharp bound: the part with the least bound goes first ([`Space::BEST_FIRST`]), and the search ends at
//!   the first one that is left out;
//! - lists in the order of a coarse bound: parts are cut where they are met, and the first one whose [`Bound::of_rest`]
//!   is too large ends the list;
//! - lists in any other order: each part is looked at, cheap bounds first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

/// Bounds of a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// No candidate of the part has a smaller value; infinite where none is feasible.
    pub of_part: f64,
    /// No candidate of the part, nor of those that follow it in its list, has a smaller value.
    pub of_rest: f64,
}

impl Bound {
    /// Of a part in a list in no particular order.
    pub fn of_part(bound: f64) -> Bound {
        Bound { of_part: bound, of_rest: f64::NEG_INFINITY }
    }
}

/// Candidates, and how they are cut into parts.
pub trait Space: Sized {
    /// A part of the candidates.
    type Part;
    /// Where a part stands among those with an equal bound, the least first.
    type Place: Ord;
    /// A candidate. Of equal values that were looked at the least one is taken.
    type Candidate: PartialOrd;

    /// Whether parts wait until theirs is the least bound; if not, they are cut in the order in which they are given.
    const BEST_FIRST: bool;

    /// Gives the first parts and candidates, until told to stop.
    fn begin(&self, search: &mut Search<'_, Self>) -> ControlFlow<()>;

    /// Bounds of a part. Values from `enough` on are of no use: a bound that reaches it need not be made sharper.
    fn bound(&self, part: &mut Self::Part, enough: f64) -> Bound;

    /// See [`Space::Place`].
    fn place(&self, part: &Self::Part) -> Self::Place;

    /// Hears of a part that is left out, and of its bound: infinite where none of its candidates is feasible.
    fn left_out(&self, _part: &Self::Part, _bound: f64) {}

    /// Gives the parts and candidates of a part, until told to stop.
    fn cut(&self, part: &mut Self::Part, search: &mut Search<'_, Self>) -> ControlFlow<()>;
}

/// What a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found<C> {
    /// The least value, which no candidate goes below, and its candidate; `None` where none is feasible.
    pub best: Option<(f64, C)>,
    /// The least of the values of candidates and of the bounds of parts that were left out; infinite where nothing is
    /// feasible. No candidate goes below it.
    pub bound: f64,
    /// Candidates that were evaluated.
    pub evaluated: u64,
    /// Parts for which bounds were computed.
    pub nodes: u64,
}

/// Searches a whole space.
pub fn search<S: Space>(space: &S) -> Found<S::Candidate> {
    let (open, least) = (BinaryHeap::new(), f64::INFINITY);
    let mut search = Search { space, best: None, open, least, evaluated: 0, nodes: 0 };
    let _ = space.begin(&mut search);
    while let Some(Open { bound, mut part, .. }) = search.open.pop() {
        if search.excludes(bound) {
            search.leave_out(&part, bound);
            // So are those with a greater bound.
            let others = std::mem::take(&mut search.open);
            others.iter().for_each(|other| search.leave_out(&other.part, other.bound));
            break;
        }
        let _ = space.cut(&mut part, &mut search);
    }
    let Search { best, least, evaluated, nodes, .. } = search;
    Found { best, bound: least, evaluated, nodes }
}

/// A search under way: what a space gives its parts and candidates to.
pub struct Search<'s, S: Space> {
    space: &'s S,
    best: Option<(f64, S::Candidate)>,
    open: BinaryHeap<Open<S>>,
    /// Of all values and of the bounds of what was left out.
    least: f64,
    evaluated: u64,
    nodes: u64,
}

impl<S: Space> Search<'_, S> {
    /// Whether values from `bound` on are of no use.
    #[inline]
    fn excludes(&self, bound: f64) -> bool {
        self.best.as_ref().is_some_and(|(value, _)| bound >= *value)
    }

    fn leave_out(&mut self, part: &S::Part, bound: f64) {
        self.least = self.least.min(bound);
        self.space.left_out(part, bound);
    }

    /// Values from here on are of no use.
    #[inline]
    pub fn enough(&self) -> f64 {
        self.best.as_ref().map_or(f64::INFINITY, |(value, _)| *value)
    }

    /// Looks at a part. `Break`: those that follow it in its list need not be given.
    #[inline]
    pub fn part(&mut self, mut part: S::Part) -> ControlFlow<()> {
        self.nodes += 1;
        let bound = self.space.bound(&mut part, self.enough());
        if self.excludes(bound.of_rest) {
            self.leave_out(&part, bound.of_rest);
            return ControlFlow::Break(());
        }
        if bound.of_part == f64::INFINITY || self.excludes(bound.of_part) {
            self.leave_out(&part, bound.of_part);
            return ControlFlow::Continue(());
        }
        if S::BEST_FIRST {
            self.open.push(Open { bound: bound.of_part, place: self.space.place(&part), part });
        } else {
            let _ = self.space.cut(&mut part, self);
        }
        ControlFlow::Continue(())
    }

    /// Looks at a candidate that was evaluated; without a value, it is not feasible.
    #[inline]
    pub fn candidate(&mut self, value: Option<f64>, candidate: S::Candidate) {
        self.evaluated += 1;
        let Some(value) = value else { return };
        self.least = self.least.min(value);
        let better = match &self.best {
            None => true,
            Some((best, known)) => value < *best || (value == *best && candidate < *known),
        };
        if better {
            self.best = Some((value, candidate));
        }
    }
}

/// A part that waits.
struct Open<S: Space> {
    bound: f64,
    place: S::Place,
    part: S::Part,
}

impl<S: Space> PartialEq for Open<S> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<S: Space> Eq for Open<S> {}

impl<S: Space> PartialOrd for Open<S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<S: Space> Ord for Open<S> {
    /// The least bound is the greatest: the heap gives it first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.bound.total_cmp(&self.bound).then_with(|| other.place.cmp(&self.place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values in a row; a part is an interval, its bound the least value less some slack.
    struct Row<const BEST_FIRST: bool> {
        values: Vec<Option<f64>>,
        slack: f64,
        /// Whether values ascend, so that what follows an interval is no smaller.
        sorted: bool,
    }

    impl<const BEST_FIRST: bool> Space for Row<BEST_FIRST> {
        type Part = (usize, usize);
        type Place = (usize, usize);
        type Candidate = usize;
        const BEST_FIRST: bool = BEST_FIRST;

        fn begin(&self, search: &mut Search<'_, Self>) -> ControlFlow<()> {
            search.part((0, self.values.len()))
        }

        fn bound(&self, &mut (low, high): &mut (usize, usize), _enough: f64) -> Bound {
            let values = self.values[low..high].iter().flatten();
            let least = values.fold(f64::INFINITY, |a, &b| a.min(b)) - self.slack;
            Bound { of_part: least, of_rest: if self.sorted { least } else { f64::NEG_INFINITY } }
        }

        fn place(&self, part: &(usize, usize)) -> (usize, usize) {
            *part
        }

        fn cut(
            &self,
            &mut (low, high): &mut (usize, usize),
            search: &mut Search<'_, Self>,
        ) -> ControlFlow<()> {
            if high - low <= 2 {
                (low..high).for_each(|index| search.candidate(self.values[index], index));
                return ControlFlow::Continue(());
            }
            let middle = low + (high - low) / 2;
            search.part((low, middle))?;
            search.part((middle, high))
        }
    }

    fn check<const BEST_FIRST: bool>(values: &[Option<f64>], slack: f64, sorted: bool) {
        let row = Row::<BEST_FIRST> { values: values.to_vec(), slack, sorted };
        let Found { best, bound, evaluated, nodes } = search(&row);
        let least = values.iter().flatten().copied().min_by(f64::total_cmp);
        assert_eq!(best.map(|(value, _)| value), least);
        assert_eq!(bound, least.unwrap_or(f64::INFINITY));
        assert!(best.is_none_or(|(value, index)| values[index] == Some(value)));
        assert!(evaluated <= values.len() as u64 && nodes < 2 * values.len().max(1) as u64);
        if slack > 0.0 {
            // Nothing with an equal value is excluded: the first one is found.
            assert_eq!(
                best.map(|(_, index)| index),
                values.iter().position(|own| *own == least && least.is_some())
            );
        }
        if sorted && values.iter().flatten().count() == values.len() && slack == 0.0 && !BEST_FIRST {
            assert!(evaluated <= 2 + values.iter().filter(|own| **own == least).count() as u64);
        }
    }

    proptest! {
        #[test]
        fn the_least_value_is_found_in_every_order(
            values in prop::collection::vec(prop::option::weighted(0.9, 0u8..20), 0..40), slack in 0u8..3,
        ) {
            let mut values: Vec<Option<f64>> = values.into_iter().map(|own| own.map(f64::from)).collect();
            let slack = f64::from(slack);
            check::<true>(&values, slack, false);
            check::<false>(&values, slack, false);
            values.retain(Option::is_some);
            values.sort_by(|a, b| a.partial_cmp(b).unwrap());
            check::<true>(&values, slack, true);
            check::<false>(&values, slack, true);
        }
    }
}
