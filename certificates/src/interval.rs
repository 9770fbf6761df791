//! Real numbers that are not negative, between two floating-point numbers: every operation rounds the lower end down and
//! the upper end up.

use std::ops::{Add, Div, Mul};

/// All numbers from `low` to `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Not more than the number.
    pub low: f64,
    /// Not less than it.
    pub high: f64,
}

/// Integers up to here are floating-point numbers.
const EXACT: u64 = 1 << 53;

fn down(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.next_down() }
}

impl Interval {
    /// 0
    pub const ZERO: Interval = Interval { low: 0.0, high: 0.0 };
    /// 1
    pub const ONE: Interval = Interval { low: 1.0, high: 1.0 };

    /// The number itself.
    pub fn exact(value: f64) -> Interval {
        Interval { low: value, high: value }
    }

    /// An integer.
    pub fn of(value: i64) -> Interval {
        Interval::between(value, value)
    }

    /// The integers between two.
    pub fn between(low: i64, high: i64) -> Interval {
        let ends = (low as f64, high as f64);
        Interval {
            low: if low.unsigned_abs() <= EXACT { ends.0 } else { ends.0.next_down() },
            high: if high.unsigned_abs() <= EXACT { ends.1 } else { ends.1.next_up() },
        }
    }

    /// The greater one.
    pub fn max(self, other: Interval) -> Interval {
        Interval { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    /// The lesser one.
    pub fn min(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    /// `max(self - other, 0)`
    pub fn above(self, other: Interval) -> Interval {
        let (low, high) = (self.low - other.high, self.high - other.low);
        Interval {
            low: if low > 0.0 { down(low) } else { 0.0 },
            high: if high > 0.0 { high.next_up() } else { 0.0 },
        }
    }
}

impl Add for Interval {
    type Output = Interval;

    #[inline]
    fn add(self, other: Interval) -> Interval {
        // A sum with 0 is exact.
        if other == Interval::ZERO {
            return self;
        }
        if self == Interval::ZERO {
            return other;
        }
        Interval { low: down(self.low + other.low), high: (self.high + other.high).next_up() }
    }
}

impl Mul for Interval {
    type Output = Interval;

    #[inline]
    fn mul(self, other: Interval) -> Interval {
        let none = self.high == 0.0 || other.high == 0.0;
        let high = if none { 0.0 } else { (self.high * other.high).next_up() };
        Interval { low: down(self.low * other.low), high }
    }
}

impl Div for Interval {
    type Output = Interval;

    /// By a positive number.
    #[inline]
    fn div(self, other: Interval) -> Interval {
        let high = if self.high == 0.0 { 0.0 } else { (self.high / other.low).next_up() };
        Interval { low: down(self.low / other.high), high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A fraction of integers, of which everything is known.
    fn holds(interval: Interval, numerator: i128, denominator: i128) -> bool {
        // low <= n/d  <=>  low * d <= n, in integers of 2^-60.
        let scaled = |value: f64| (value * 2f64.powi(60)) as i128;
        scaled(interval.low) / 1024 * denominator <= numerator * (1 << 50) + denominator
            && scaled(interval.high) / 1024 * denominator + denominator >= numerator * (1 << 50)
    }

    proptest! {
        #[test]
        fn results_lie_between_the_ends(a in 0i64..100_000, b in 1i64..1000, c in 1i64..1000, d in 1i64..1000) {
            let fraction = |n: i64, d: i64| Interval::of(n) / Interval::of(d);
            let (n, m) = (i128::from(a), i128::from(c));
            let (p, q) = (i128::from(b), i128::from(d));
            prop_assert!(holds(fraction(a, b), n, p));
            prop_assert!(holds(fraction(a, b) + fraction(c, d), n * q + m * p, p * q));
            prop_assert!(holds(fraction(a, b) * fraction(c, d), n * m, p * q));
            prop_assert!(holds(fraction(a, b).above(fraction(c, d)), (n * q - m * p).max(0), p * q));
            prop_assert!(fraction(1, 3).low < fraction(1, 3).high);
        }
    }
}
