//! What instructions do with floating-point numbers, which are data unless they come from integers alone.

#![expect(clippy::needless_range_loop, reason = "a lane is a place in several arrays at once")]

use super::state::{Mask, Value, Warp, mask_of};
use crate::error::{Error, Result};
use crate::instruction::{Comparison, Instruction, Join, LANES, Precision, Sign, Source, ZERO_REGISTER};
use crate::integer;

impl Warp<'_> {
    /// The result is a number that nobody follows.
    pub(super) fn put_number(&mut self, instruction: &Instruction, precision: Precision, mask: Mask) {
        let one = 1.0f64.to_bits();
        match precision {
            Precision::Double => {
                let words = [[one as u32; LANES], [(one >> 32) as u32; LANES]];
                self.put(instruction, &words, Mask::MAX, mask);
            }
            _ => self.put(instruction, &[[1.0f32.to_bits(); LANES]], Mask::MAX, mask),
        }
    }

    pub(super) fn compare_floats(
        &mut self,
        instruction: &Instruction,
        (precision, comparison, unordered): (Precision, Comparison, bool),
        join: Join,
        mask: Mask,
    ) -> Result<()> {
        let (a, b) = (self.numbers(instruction, 0, precision)?, self.numbers(instruction, 1, precision)?);
        let other = self.flag(instruction, 0, true);
        let is = |lane: usize| {
            let (a, b) = (a.0[lane], b.0[lane]);
            match comparison {
                _ if a.is_nan() || b.is_nan() => unordered,
                Comparison::False => false,
                Comparison::True => true,
                Comparison::Less => a < b,
                Comparison::Equal => a == b,
                Comparison::LessEqual => a <= b,
                Comparison::Greater => a > b,
                Comparison::NotEqual => a != b,
                Comparison::GreaterEqual => a >= b,
            }
        };
        let (result, data) = (mask_of(is), a.1 | b.1 | other.1);
        self.put_predicate(instruction, 0, integer::join(join, result, other.0), data, mask);
        self.put_predicate(instruction, 1, integer::join(join, !result, other.0), data, mask);
        Ok(())
    }

    /// An operand as floating-point numbers.
    fn numbers(
        &self,
        instruction: &Instruction,
        number: usize,
        precision: Precision,
    ) -> Result<([f64; LANES], Mask)> {
        let (sign, absolute) = match instruction.sources.get(number) {
            Some(Source::Float(value)) => return Ok(([*value; LANES], 0)),
            Some(Source::Register { sign, absolute, .. } | Source::Constant { sign, absolute, .. }) => {
                (*sign, *absolute)
            }
            _ => (Sign::Plus, false),
        };
        // The sign is that of the number, not of its bits.
        let bits = |word: u8| {
            let mut lanes = [0; LANES];
            let (data, _) = self.fill(instruction, number, word, &mut lanes)?;
            if sign != Sign::Plus {
                lanes.iter_mut().for_each(|value| *value = !*value);
            }
            Ok::<Value, Error>((lanes, data))
        };
        let low = bits(0)?;
        let high = if precision == Precision::Double { bits(1)? } else { ([0; LANES], 0) };
        let values = std::array::from_fn(|lane| {
            let value = match precision {
                Precision::Double => f64::from_bits(u64::from(high.0[lane]) << 32 | u64::from(low.0[lane])),
                _ => f64::from(f32::from_bits(low.0[lane])),
            };
            let value = if absolute { value.abs() } else { value };
            if sign == Sign::Minus { -value } else { value }
        });
        Ok((values, low.1 | high.1))
    }

    /// An approximation of the reciprocal, or of another function.
    pub(super) fn function(&mut self, instruction: &Instruction, reciprocal: bool, mask: Mask) -> Result<()> {
        let a = self.source(instruction, 0)?;
        if reciprocal && a.1 & mask == 0 {
            // Divisions of integers go by reciprocals.
            self.map(instruction, mask, |value| (1.0 / f32::from_bits(value)).to_bits())?;
        } else {
            self.put_number(instruction, Precision::Single, mask);
        }
        Ok(())
    }

    /// A number of an integer.
    pub(super) fn integer_to_float(
        &mut self,
        instruction: &Instruction,
        (signed, source_words, words, up): (bool, u8, u8, bool),
        mask: Mask,
    ) -> Result<()> {
        let low = self.source(instruction, 0)?;
        let high = if source_words == 2 { self.word(instruction, 0, 1)? } else { ([0; LANES], 0) };
        if (low.1 | high.1) & mask != 0 || words == 2 {
            let precision = if words == 2 { Precision::Double } else { Precision::Single };
            self.put_number(instruction, precision, mask);
        } else {
            let lanes = std::array::from_fn(|lane| {
                let bits = u64::from(high.0[lane]) << 32 | u64::from(low.0[lane]);
                let value = match (signed, source_words) {
                    (true, 1) => f64::from(low.0[lane] as i32),
                    (true, _) => bits as i64 as f64,
                    (false, _) => bits as f64,
                };
                let near = value as f32;
                let below = up && f64::from(near) < value;
                (if below { near.next_up() } else { near }).to_bits()
            });
            self.put(instruction, &[lanes], 0, mask);
        }
        Ok(())
    }

    /// The integer part of a number.
    pub(super) fn float_to_integer(
        &mut self,
        instruction: &Instruction,
        (signed, words): (bool, u8),
        mask: Mask,
    ) -> Result<()> {
        let a = self.source(instruction, 0)?;
        let mut whole = [[0; LANES]; 2];
        for lane in 0..LANES {
            let value = f32::from_bits(a.0[lane]);
            let bits = match (signed, words) {
                (true, 1) => value as i32 as u64,
                (false, 1) => u64::from(value as u32),
                (true, _) => value as i64 as u64,
                (false, _) => value as u64,
            };
            whole[0][lane] = bits as u32;
            whole[1][lane] = (bits >> 32) as u32;
        }
        self.put(instruction, &whole[..usize::from(words)], a.1, mask);
        Ok(())
    }

    /// Two numbers of half precision in a register.
    pub(super) fn half_pair(&mut self, instruction: &Instruction, mask: Mask) {
        match instruction.sources.as_slice() {
            [first, second, upper, lower] if is_zero(first) && is_zero(second) => {
                let half = |source: &Source| match source {
                    Source::Float(value) => Some(integer::half(*value)),
                    Source::Integer(0) => Some(0),
                    _ => None,
                };
                match (half(upper), half(lower)) {
                    (Some(upper), Some(lower)) => {
                        self.put(instruction, &[[upper << 16 | lower; LANES]], 0, mask);
                    }
                    _ => self.put_number(instruction, Precision::Single, mask),
                }
            }
            _ => self.put_number(instruction, Precision::Single, mask),
        }
    }
}

fn is_zero(source: &Source) -> bool {
    matches!(source, Source::Register { index: ZERO_REGISTER, .. })
}
