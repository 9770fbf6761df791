//! Rows whose points run in wavefronts ([`RowOrder::Skewed`](crate::plan::RowOrder::Skewed)), as loops over a box:
//!
//! ```text
//! for w in first ..= last:
//!     for the coordinates but one, e:       the innermost of these loops only as far as e stays in the box
//!         s_e = (w - sum of factors[d]*s_d over d != e) / factors[e]
//!         the point, if s_e is a whole number and lies in the box
//! ```

use super::storages::{HIGH_NAMES, INDEX_NAMES, LOW_NAMES};
use crate::int_expr::{IntExpr, int, var};
use serde::Serialize;

/// The number of the wavefront.
const WAVE: &str = "tw_wave";

/// The loops.
#[derive(Serialize)]
pub(super) struct Wavefronts {
    /// The first wavefront.
    pub(super) first: String,
    /// The last one.
    pub(super) last: String,
    /// Loops over the points of one, outermost first.
    pub(super) loops: Vec<WaveLoop>,
    /// The coordinate that follows from the others.
    pub(super) solved: Option<Solved>,
}

/// A loop over a coordinate.
#[derive(Serialize)]
pub(super) struct WaveLoop {
    /// The dimension.
    pub(super) dimension: usize,
    pub(super) index: &'static str,
    pub(super) low: String,
    /// After the last one.
    pub(super) high: String,
}

/// A coordinate that follows from the others.
#[derive(Serialize)]
pub(super) struct Solved {
    /// The dimension.
    pub(super) dimension: usize,
    pub(super) index: &'static str,
    pub(super) value: String,
    /// Whether the point exists.
    pub(super) exists: String,
}

impl Wavefronts {
    /// The loops for these factors, over the box between [`LOW_NAMES`] and [`HIGH_NAMES`].
    pub(super) fn new(factors: &[i64]) -> Self {
        let first_and_last = |d: usize| {
            let (low, last) = (var(LOW_NAMES[d]), var(HIGH_NAMES[d]) - 1);
            let ends = if factors[d] < 0 { (last, low) } else { (low, last) };
            (ends.0 * factors[d], ends.1 * factors[d])
        };
        let (first, last) = (0..factors.len())
            .map(first_and_last)
            .fold((int(0), int(0)), |(first, last), (least, most)| (first + least, last + most));
        // The one that is most often a whole number; of several the slowest one, so that the innermost loop is one along
        // the innermost dimension.
        let solved =
            (0..factors.len()).filter(|&d| factors[d] != 0).min_by_key(|&d| factors[d].unsigned_abs());
        let others: Vec<usize> = (0..factors.len()).filter(|&d| Some(d) != solved).collect();
        let without = |left_out: &[usize]| {
            let rest = (0..factors.len()).filter(|d| !left_out.contains(d));
            rest.fold(var(WAVE), |rest, d| rest - var(INDEX_NAMES[d]) * factors[d])
        };
        let around = |&d: &usize| {
            let (mut low, mut high) = (var(LOW_NAMES[d]), var(HIGH_NAMES[d]));
            if let Some(solved) = solved.filter(|_| Some(&d) == others.last() && factors[d] != 0) {
                let (least, most) = first_and_last(solved);
                let rest = without(&[d, solved]);
                // least <= rest - f*s_d <= most
                let (from, to) = match factors[d] {
                    f if f > 0 => ((rest.clone() - most).ceil_div(f), (rest - least).floor_div(f)),
                    f => ((least - rest.clone()).ceil_div(-f), (most - rest).floor_div(-f)),
                };
                (low, high) = (low.max(from), high.min(to + 1));
            }
            WaveLoop { dimension: d, index: INDEX_NAMES[d], low: low.to_c(), high: high.to_c() }
        };
        Wavefronts {
            first: first.to_c(),
            last: last.to_c(),
            loops: others.iter().map(around).collect(),
            solved: solved.map(|d| {
                let (sign, factor) = (factors[d].signum(), factors[d].abs());
                let rest: IntExpr = if sign < 0 { int(0) - without(&[d]) } else { without(&[d]) };
                let index = INDEX_NAMES[d];
                let whole = match factor {
                    1 => String::new(),
                    _ => format!("{} == 0 && ", rest.clone().modulo(factor).to_c()),
                };
                let exists = format!("{whole}{index} >= {} && {index} < {}", LOW_NAMES[d], HIGH_NAMES[d]);
                Solved { dimension: d, index, value: rest.floor_div(factor).to_c(), exists }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_diagonal_has_one_loop() {
        let waves = Wavefronts::new(&[1, 1]);
        assert_eq!((waves.first.as_str(), waves.last.as_str()), ("low0 + low1", "high0 - 1 + high1 - 1"));
        let [inner] = &waves.loops[..] else { panic!() };
        assert_eq!(inner.index, "i1");
        assert_eq!(waves.solved.unwrap().value, "tw_wave - i1");
    }

    #[test]
    fn no_factor_is_one_wavefront() {
        let waves = Wavefronts::new(&[0, 0]);
        assert_eq!((waves.first.as_str(), waves.last.as_str(), waves.loops.len()), ("0", "0", 2));
        assert!(waves.solved.is_none());
    }
}
