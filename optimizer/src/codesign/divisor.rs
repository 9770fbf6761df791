//! Quotients without divisions, which bounds of millions of tiles ask for.

/// Divides by a number that stays the same, without a division: `x / n = x * ceil(2^64 / n) / 2^64` for `x` of 32 bits (Lemire,
/// Kaser and Kurz, "Faster remainder by direct computation", 2019).
#[derive(Debug, Clone, Copy)]
pub struct Divisor {
    less_one: u64,
    /// 0 for 1.
    reciprocal: u64,
}

impl Divisor {
    /// A divisor; 0 counts as 1.
    pub fn new(n: u32) -> Divisor {
        let n = u64::from(n.max(1));
        Divisor { less_one: n - 1, reciprocal: (u64::MAX / n).wrapping_add(1) }
    }

    /// `ceil(x / n)`; for numbers near the end of their range, no more than that.
    #[inline]
    pub fn ceil(self, x: u32) -> u32 {
        if self.reciprocal == 0 {
            return x;
        }
        let sum = (u64::from(x) + self.less_one).min(u64::from(u32::MAX));
        ((u128::from(sum) * u128::from(self.reciprocal)) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_divisor_divides_and_rounds_up() {
        for n in (1..200).chain([4095, 4096, 65_537, u32::MAX - 1, u32::MAX]) {
            let divisor = Divisor::new(n);
            for x in (0..500).chain([n / 2, n - 1, n, 7 * (n / 8), 1 << 20, (1 << 31) - 1, u32::MAX - n]) {
                assert_eq!(divisor.ceil(x), x.div_ceil(n), "{x} / {n}");
            }
            assert!(divisor.ceil(u32::MAX) <= u32::MAX.div_ceil(n));
        }
    }
}
