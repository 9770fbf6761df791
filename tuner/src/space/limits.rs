//! Which spaces are small enough to be enumerated.

/// A constrained space is enumerated only where it has at most this many points without its constraints.
pub const ENUMERABLE: f64 = 1_000_000.0;

/// Most levels of all points of a list together.
const MOST_LISTED: f64 = 5e7;

/// Whether so many points of so many parameters may be listed.
pub(super) fn enumerable(points: f64, parameters: usize) -> bool {
    points <= ENUMERABLE && points * parameters as f64 <= MOST_LISTED
}
