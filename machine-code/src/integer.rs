//! The arithmetic of integer instructions, lane by lane.

use crate::instruction::{Join, Product};

/// `a + b + c` with carries that came in; and how often it went over. A negated operand is its complement and one more:
/// so nothing subtracted carries, too.
#[inline]
pub fn add3(operands: [(u32, bool); 3], carries: u32) -> (u32, u32) {
    let sum: u64 = operands.iter().map(|&(value, more)| u64::from(value) + u64::from(more)).sum();
    let sum = sum + u64::from(carries);
    (sum as u32, (sum >> 32) as u32)
}

/// `a * b + c` with a carry; a second result is whether it went over.
#[inline]
pub fn multiply_add(product: Product, signed: bool, a: u32, b: u32, c: u64, carry: u32) -> (u64, bool) {
    let wide = match signed {
        true => (i64::from(a as i32) * i64::from(b as i32)) as u64,
        false => u64::from(a) * u64::from(b),
    };
    match product {
        Product::Low => {
            let sum = u64::from(wide as u32) + u64::from(c as u32) + u64::from(carry);
            (u64::from(sum as u32), sum >> 32 != 0)
        }
        Product::High | Product::Wide => {
            let (sum, over) = wide.overflowing_add(c);
            let (sum, again) = sum.overflowing_add(u64::from(carry));
            (if product == Product::High { sum >> 32 } else { sum }, over || again)
        }
    }
}

/// A shifted value and another one: `(upper:a << shift) + b`, its lower or upper word.
#[inline]
pub fn shift_add(high: bool, a: u32, b: (u32, bool), upper: u32, shift: u32, carry: u32) -> (u32, bool) {
    let shifted = (u64::from(upper) << 32 | u64::from(a)) << (shift & 31);
    let part = if high { (shifted >> 32) as u32 } else { shifted as u32 };
    let sum = u64::from(part) + u64::from(b.0) + u64::from(b.1) + u64::from(carry);
    (sum as u32, sum >> 32 != 0)
}

/// Bits by a table of eight.
#[inline]
pub fn logic(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let term = |index: u32| {
        let pick = |value: u32, bit: u32| if index >> bit & 1 == 1 { value } else { !value };
        // All ones where the table has this row.
        pick(a, 2) & pick(b, 1) & pick(c, 0) & (table >> index & 1).wrapping_neg()
    };
    term(0) | term(1) | term(2) | term(3) | term(4) | term(5) | term(6) | term(7)
}

/// How `SHF` shifts.
#[derive(Debug, Clone, Copy)]
pub struct Funnel {
    /// To the right.
    pub right: bool,
    /// By up to 63 bits instead of 32.
    pub wide: bool,
    /// Whether the sign moves in from above.
    pub signed: bool,
    /// Whether the result is the upper word.
    pub high: bool,
    /// Whether the distance wraps around instead of being cut.
    pub wraps: bool,
}

impl Funnel {
    /// Shifts `upper:lower`.
    #[inline]
    pub fn shift(self, lower: u32, upper: u32, distance: u32) -> u32 {
        let value = u64::from(upper) << 32 | u64::from(lower);
        let most = if self.wide { 63 } else { 32 };
        let distance = match (self.wraps, self.wide) {
            (true, true) => distance & 63,
            (true, false) => distance & 31,
            (false, _) => distance.min(most),
        };
        let shifted = match (self.right, self.signed) {
            (true, true) => (value as i64 >> distance) as u64,
            (true, false) => value >> distance,
            (false, _) => value << distance,
        };
        if self.high { (shifted >> 32) as u32 } else { shifted as u32 }
    }
}

/// Joins truth values of lanes.
#[inline]
pub fn join(how: Join, a: u32, b: u32) -> u32 {
    match how {
        Join::And => a & b,
        Join::Or => a | b,
        Join::Xor => a ^ b,
    }
}

/// The bytes of `b:a` that the digits of `selector` name; a digit of 8 and more repeats the sign of its byte.
#[inline]
pub fn permute(a: u32, selector: u32, b: u32) -> u32 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    let pick = |digit: u32| {
        let byte = bytes[(digit & 7) as usize];
        if digit & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 }
    };
    u32::from_le_bytes(std::array::from_fn(|at| pick(selector >> (4 * at) & 15)))
}

/// A half-precision number whose value is exact, as bits; other numbers are rounded towards zero.
#[inline]
pub fn half(value: f64) -> u32 {
    let bits = value.to_bits();
    let sign = ((bits >> 63) as u32) << 15;
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | 0x7fff;
    }
    if magnitude >= 65_536.0 {
        return sign | 0x7c00;
    }
    if magnitude < 6.103_515_625e-5 {
        return sign | (magnitude * 16_777_216.0) as u32;
    }
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    sign | (((exponent + 15) as u32) << 10) | (bits >> 42 & 0x3ff) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Differences of 64 bits by words.
    #[test]
    fn nothing_subtracted_borrows_nothing() {
        for (a, b) in [(5u64, 0u64), (5, 7), (1 << 32, 1), (0, 0), (u64::MAX, 1 << 32)] {
            let (low, carry) = add3([(a as u32, false), (!b as u32, true), (0, false)], 0);
            let (high, _) = add3([((a >> 32) as u32, false), (!(b >> 32) as u32, false), (0, false)], carry);
            assert_eq!(u64::from(high) << 32 | u64::from(low), a.wrapping_sub(b), "{a} {b}");
        }
    }

    #[test]
    fn products_and_shifts() {
        // Division of 100 by 7 as compilers write it: the dividend in the upper word of the summand.
        let (quotient, _) = multiply_add(Product::High, true, 100, -0x6db6_db6d_i32 as u32, 100 << 32, 0);
        assert_eq!((quotient as i32) >> 2, 14);
        assert_eq!(multiply_add(Product::Wide, true, -3i32 as u32, 5, 20, 0).0, 5);
        assert_eq!(multiply_add(Product::Low, false, 7, 6, u64::from(u32::MAX), 1), (42, true));
        // A pointer and an index of 64 bits.
        let (low, carry) = shift_add(false, 0x4000_0001, (8, false), 0, 2, 0);
        let (high, _) = shift_add(true, 0x4000_0001, (3, false), 1, 2, u32::from(carry));
        assert_eq!((high, low), (3 + 5, 12));
        let right = |wide, signed, high| Funnel { right: true, wide, signed, high, wraps: false };
        assert_eq!(right(true, false, false).shift(0x80, 0xff, 4), 0xf000_0008);
        assert_eq!(right(false, true, true).shift(0, 0x8000_0000, 31), u32::MAX);
        assert_eq!(right(false, false, true).shift(0, 0x8000_0000, 32), 0);
        let left = Funnel { right: false, wide: true, signed: false, high: true, wraps: false };
        assert_eq!(left.shift(0xc000_0000, 1, 2), 7);
    }

    #[test]
    fn tables_and_bytes() {
        assert_eq!(logic(0b1100, 0b1010, 0, 0xc0), 0b1000);
        assert_eq!(logic(0xf0, 0, 0, 0x33) & 0xff, 0xff);
        assert_eq!(logic(1, 2, 4, 0xfe), 7);
        assert_eq!(permute(0x4433_2211, 0x7610, 0x8877_6655), 0x8877_2211);
        assert_eq!(permute(0x0000_8000, 0x9910, 0) >> 16, 0xffff);
        assert_eq!((half(1.5), half(0.0), half(4.768_371_582_031_25e-7)), (0x3e00, 0, 8));
    }
}
