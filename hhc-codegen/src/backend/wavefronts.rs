//! Rows whose points run in wavefronts ([`RowOrder::Skewed`](crate::plan::RowOrder::Skewed)), as loops over a box:
//!
//! ```text
//! for w in first ..= last:
//!     for the coordinates but one, e:       the innermost of these loops only as far as e stays in the box
//!         s_e = (w - sum of factors[d]*s_d over d != e) / factors[e]
//!         the point, if s_e is a whole number and lies in the box
//! ```

use super::bounds::expr;
use super::storages::{HIGH_NAMES, INDEX_NAMES, LOW_NAMES, name_of};
use crate::int_expr::{IntExpr, int, var};
use c_tree::{Expr, truth};

/// The number of the wavefront.
pub(super) const WAVE: &str = "tw_wave";

/// The loops.
pub(super) struct Wavefronts {
    /// The first wavefront.
    pub(super) first: Expr,
    /// The last one.
    pub(super) last: Expr,
    /// Loops over the points of one, outermost first.
    pub(super) loops: Vec<WaveLoop>,
    /// The coordinate that follows from the others.
    pub(super) solved: Option<Solved>,
}

/// A loop over a coordinate.
pub(super) struct WaveLoop {
    /// The dimension.
    pub(super) dimension: usize,
    pub(super) index: &'static str,
    pub(super) low: Expr,
    /// After the last one.
    pub(super) high: Expr,
}

/// A coordinate that follows from the others.
pub(super) struct Solved {
    /// The dimension.
    pub(super) dimension: usize,
    pub(super) index: &'static str,
    pub(super) value: Expr,
    /// Whether the point exists.
    pub(super) exists: Expr,
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
            WaveLoop { dimension: d, index: INDEX_NAMES[d], low: expr(&low), high: expr(&high) }
        };
        Wavefronts {
            first: expr(&first),
            last: expr(&last),
            loops: others.iter().map(around).collect(),
            solved: solved.map(|d| {
                let (sign, factor) = (factors[d].signum(), factors[d].abs());
                let rest: IntExpr = if sign < 0 { int(0) - without(&[d]) } else { without(&[d]) };
                let index = INDEX_NAMES[d];
                let whole = match factor {
                    1 => truth(true),
                    _ => expr(&rest.clone().modulo(factor)).is(0),
                };
                let point = name_of(index);
                let inside = point.clone().ge(name_of(LOW_NAMES[d])).and(point.lt(name_of(HIGH_NAMES[d])));
                let value = expr(&rest.floor_div(factor));
                Solved { dimension: d, index, value, exists: whole.and(inside) }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn text(expr: &Expr) -> String {
        c_tree::Dialect::C.one_line(expr)
    }

    #[test]
    fn a_diagonal_has_one_loop() {
        let waves = Wavefronts::new(&[1, 1]);
        assert_eq!(
            (text(&waves.first), text(&waves.last)),
            ("low0 + low1".into(), "high0 - 2 + high1".into())
        );
        let [inner] = &waves.loops[..] else { panic!() };
        assert_eq!(inner.index, "i1");
        assert_eq!(text(&waves.solved.unwrap().value), "tw_wave - i1");
    }

    #[test]
    fn no_factor_is_one_wavefront() {
        let waves = Wavefronts::new(&[0, 0]);
        assert_eq!((text(&waves.first), text(&waves.last), waves.loops.len()), ("0".into(), "0".into(), 2));
        assert!(waves.solved.is_none());
    }
}
