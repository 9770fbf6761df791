//! Where the tiles of a band of time begin and end along the last dimension that is cut, place by place.

use crate::strategy::pieces::Closed;

/// An interval without points, and the hull of none.
pub(super) const NOWHERE: Closed = (i64::MAX, i64::MIN);

/// The least interval that holds both.
pub(super) fn hull(a: Closed, b: Closed) -> Closed {
    (a.0.min(b.0), a.1.max(b.1))
}

/// Coordinates of a tile in the dimensions that are cut, but the last one; 0 where there are fewer.
pub(super) type Place = [i64; 2];

/// Intervals of tiles along the last dimension that is cut, by place.
pub(super) struct Ends {
    /// The place of the first one.
    first: Place,
    /// Places along the second dimension.
    width: i64,
    /// Place by place, the second dimension innermost; [`NOWHERE`] where nothing is known.
    of: Vec<Closed>,
}

impl Ends {
    /// Nothing, for all places between these.
    pub(super) fn within([(low0, high0), (low1, high1)]: [Closed; 2]) -> Ends {
        let number = |low: i64, high: i64| high.saturating_sub(low).saturating_add(1).max(0);
        let width = number(low1, high1);
        let number = usize::try_from(number(low0, high0) * width).unwrap_or(0);
        Ends { first: [low0, low1], width, of: vec![NOWHERE; number] }
    }

    /// Adds an interval.
    pub(super) fn add(&mut self, place: Place, interval: Closed) {
        let index = (place[0] - self.first[0]) * self.width + place[1] - self.first[1];
        if let Some(known) = usize::try_from(index).ok().and_then(|index| self.of.get_mut(index)) {
            *known = hull(*known, interval);
        }
    }

    /// What is known.
    pub(super) fn known(&self) -> impl Iterator<Item = (Place, Closed)> + '_ {
        let rows = (self.first[0]..).zip(self.of.chunks(self.width.max(1) as usize));
        rows.flat_map(|(row, ends)| (self.first[1]..).map(move |at| [row, at]).zip(ends.iter().copied()))
            .filter(|(_, (low, high))| low <= high)
    }
}
