//! Where a loop is cut into segments.

use crate::polynomial::Polynomial;
use std::collections::BTreeSet;

/// Most cuts of one loop.
pub(super) const MOST_CUTS: usize = 24;

/// Where a loop is cut: in points from its first value, and from one past its last.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Cuts {
    /// Greater than 0.
    start: BTreeSet<i64>,
    /// Less than 0; empty where the number of rounds is a constant.
    end: BTreeSet<i64>,
}

impl Cuts {
    /// Number of cuts.
    pub fn count(&self) -> usize {
        self.start.len() + self.end.len()
    }

    /// The first value of each segment, and one past the last of all.
    fn borders(&self, low: &Polynomial, high: &Polynomial) -> Option<Vec<Polynomial>> {
        let moved = |bound: &Polynomial, by: &i64| bound.plus(&Polynomial::number(1), *by);
        let starts = self.start.iter().map(|by| moved(low, by));
        let ends = self.end.iter().map(|by| moved(high, by));
        std::iter::once(Some(low.clone())).chain(starts).chain(ends).chain([Some(high.clone())]).collect()
    }

    /// The segments of a loop: first value, and one past the last.
    pub fn segments(&self, low: &Polynomial, high: &Polynomial) -> Option<Vec<(Polynomial, Polynomial)>> {
        let borders = self.borders(low, high)?;
        Some(borders.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect())
    }

    /// What makes the segments follow one another: the first is not greater than the second.
    pub fn assumed(&self, low: &Polynomial, high: &Polynomial) -> Option<(Polynomial, Polynomial)> {
        if self.count() == 0 || high.distance(low).is_some() {
            return None;
        }
        let one = Polynomial::number(1);
        let last = low.plus(&one, self.start.last().copied().unwrap_or(0))?;
        let first = high.plus(&one, self.end.first().copied().unwrap_or(0))?;
        Some((last, first))
    }

    /// Whether `index >= value` within a segment; `None` if that is not known, after asking for a cut where one helps.
    pub fn at_least(
        &mut self,
        value: &Polynomial,
        at: &Segment,
        range: (&Polynomial, &Polynomial),
    ) -> Option<bool> {
        let (low, high) = range;
        let rounds = high.distance(low);
        if let Some(from_low) = value.distance(low) {
            if from_low <= 0 {
                return Some(true);
            }
            if rounds.is_some_and(|rounds| from_low >= rounds) {
                return Some(false);
            }
            if at.cuts.start.contains(&from_low) {
                return Some(at.number > at.cuts.start.range(..from_low).count());
            }
            if self.count() < MOST_CUTS {
                self.start.insert(from_low);
            }
            return None;
        }
        let from_high = value.distance(high)?;
        if from_high >= 0 {
            return Some(false);
        }
        if at.cuts.end.contains(&from_high) {
            return Some(at.number > at.cuts.start.len() + at.cuts.end.range(..from_high).count());
        }
        if self.count() < MOST_CUTS {
            self.end.insert(from_high);
        }
        None
    }
}

/// The segment of an open loop that is walked.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    /// The loop.
    pub of: usize,
    /// The loop's cuts when the walk began.
    pub cuts: Cuts,
    /// Which of the segments.
    pub number: usize,
}
