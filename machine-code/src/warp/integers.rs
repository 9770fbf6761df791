//! What instructions do with integers and bits.

#![expect(clippy::needless_range_loop, reason = "a lane is a place in several arrays at once")]

use super::state::{Bytes, Lanes, Mask, Warp, any, mask_of};
use crate::error::Result;
use crate::instruction::{Comparison, Instruction, Join, LANES, Op, Product, Sign, Source, ZERO_REGISTER};
use crate::integer::{self, Funnel};

impl Warp<'_> {
    /// The sum of three operands, with two carries in and out.
    pub(super) fn add3(&mut self, instruction: &Instruction, carried: bool, mask: Mask) -> Result<()> {
        let [(a, x), (b, y), (c, z)] = self.operands(instruction, 0)?;
        let (first, second) = match carried {
            true => (self.flag(instruction, 0, false), self.flag(instruction, 1, false)),
            false => ((0, 0), (0, 0)),
        };
        if !carried && instruction.destinations.len() == 1 {
            let more = u32::from(x) + u32::from(y) + u32::from(z);
            let sum =
                |lane: usize| a.0[lane].wrapping_add(b.0[lane]).wrapping_add(c.0[lane]).wrapping_add(more);
            self.put(instruction, &[std::array::from_fn(sum)], a.1 | b.1 | c.1, mask);
            return Ok(());
        }
        let (mut sum, mut over, mut again) = ([0; LANES], 0, 0);
        for lane in 0..LANES {
            let carries = (first.0 >> lane & 1) + (second.0 >> lane & 1);
            let (value, carry) = integer::add3([(a.0[lane], x), (b.0[lane], y), (c.0[lane], z)], carries);
            sum[lane] = value;
            over |= Mask::from(carry >= 1) << lane;
            again |= Mask::from(carry >= 2) << lane;
        }
        let data = a.1 | b.1 | c.1 | first.1 | second.1;
        self.put(instruction, &[sum], data, mask);
        self.put_predicate(instruction, 0, over, data, mask);
        self.put_predicate(instruction, 1, again, data, mask);
        Ok(())
    }

    pub(super) fn multiply_add(
        &mut self,
        instruction: &Instruction,
        product: Product,
        signed: bool,
        carried: bool,
        mask: Mask,
    ) -> Result<()> {
        let (a, b, c) =
            (self.source(instruction, 0)?, self.source(instruction, 1)?, self.source(instruction, 2)?);
        if product == Product::Low && !carried && instruction.destinations.len() == 1 {
            let value = |lane: usize| a.0[lane].wrapping_mul(b.0[lane]).wrapping_add(c.0[lane]);
            self.put(instruction, &[std::array::from_fn(value)], a.1 | b.1 | c.1, mask);
            return Ok(());
        }
        if product == Product::Wide && !signed && !carried && instruction.destinations.len() == 1 {
            let upper = self.word(instruction, 2, 1)?;
            let (mut low, mut high) = ([0; LANES], [0; LANES]);
            for lane in 0..LANES {
                let summand = u64::from(upper.0[lane]) << 32 | u64::from(c.0[lane]);
                let sum = (u64::from(a.0[lane]) * u64::from(b.0[lane])).wrapping_add(summand);
                (low[lane], high[lane]) = (sum as u32, (sum >> 32) as u32);
            }
            self.put(instruction, &[low, high], a.1 | b.1 | c.1 | upper.1, mask);
            return Ok(());
        }
        let upper = if product == Product::Low { ([0; LANES], 0) } else { self.word(instruction, 2, 1)? };
        let carry = if carried { self.flag(instruction, 0, false) } else { (0, 0) };
        let (mut low, mut high, mut over) = ([0; LANES], [0; LANES], 0);
        for lane in 0..LANES {
            let summand = u64::from(upper.0[lane]) << 32 | u64::from(c.0[lane]);
            let carry = carry.0 >> lane & 1;
            let (value, more) = integer::multiply_add(product, signed, a.0[lane], b.0[lane], summand, carry);
            low[lane] = value as u32;
            high[lane] = (value >> 32) as u32;
            over |= Mask::from(more) << lane;
        }
        let words = if product == Product::Wide { 2 } else { 1 };
        let data = a.1 | b.1 | c.1 | upper.1 | carry.1;
        self.put(instruction, &[low, high][..words], data, mask);
        self.put_predicate(instruction, 0, over, data, mask);
        Ok(())
    }

    /// A sum whose first operand is shifted.
    pub(super) fn shift_add(
        &mut self,
        instruction: &Instruction,
        high: bool,
        extended: bool,
        carried: bool,
        mask: Mask,
    ) -> Result<()> {
        let (a, b) = (self.complemented(instruction, 0)?, self.complemented(instruction, 1)?);
        let has_upper = high && !extended;
        let upper = if has_upper { self.source(instruction, 2)? } else { ([0; LANES], 0) };
        let shift = self.source(instruction, 2 + usize::from(has_upper))?;
        let carry = if carried { self.flag(instruction, 0, false) } else { (0, 0) };
        let (mut sum, mut over) = ([0; LANES], 0);
        for lane in 0..LANES {
            let lower = a.0.0[lane].wrapping_add(u32::from(a.1));
            let upper = if extended { (lower as i32 >> 31) as u32 } else { upper.0[lane] };
            let value = integer::shift_add(
                high,
                lower,
                (b.0.0[lane], b.1),
                upper,
                shift.0[lane],
                carry.0 >> lane & 1,
            );
            sum[lane] = value.0;
            over |= Mask::from(value.1) << lane;
        }
        let data = a.0.1 | b.0.1 | upper.1 | shift.1 | carry.1;
        self.put(instruction, &[sum], data, mask);
        self.put_predicate(instruction, 0, over, data, mask);
        Ok(())
    }

    /// A table of three operands, bit by bit.
    pub(super) fn logic(&mut self, instruction: &Instruction, all: bool, mask: Mask) -> Result<()> {
        let (a, b, c) =
            (self.source(instruction, 0)?, self.source(instruction, 1)?, self.source(instruction, 2)?);
        let table = self.source(instruction, 3)?.0[0];
        let more = self.flag(instruction, 0, all);
        let lanes: Lanes = std::array::from_fn(|lane| integer::logic(a.0[lane], b.0[lane], c.0[lane], table));
        let some = mask_of(|lane| lanes[lane] != 0);
        let bytes = self.logic_data(instruction, table);
        self.put(instruction, &[lanes], 0, mask);
        self.put_data(instruction, bytes, mask);
        let some = if all { some & more.0 } else { some | more.0 };
        self.put_predicate(instruction, 0, some, any(&bytes) | more.1, mask);
        Ok(())
    }

    /// Two words shifted through each other.
    pub(super) fn shift(&mut self, instruction: &Instruction, funnel: Funnel, mask: Mask) -> Result<()> {
        let (lower, distance, upper) =
            (self.source(instruction, 0)?, self.source(instruction, 1)?, self.source(instruction, 2)?);
        let shift = |lane: usize| funnel.shift(lower.0[lane], upper.0[lane], distance.0[lane]);
        self.put(instruction, &[std::array::from_fn(shift)], lower.1 | distance.1 | upper.1, mask);
        Ok(())
    }

    /// How two operands are ordered, joined with another truth value.
    pub(super) fn compare_integers(
        &mut self,
        instruction: &Instruction,
        (comparison, signed, extended): (Comparison, bool, bool),
        join: Join,
        mask: Mask,
    ) -> Result<()> {
        let (a, b) = (self.source(instruction, 0)?, self.source(instruction, 1)?);
        let other = self.flag(instruction, 0, true);
        let lower = self.flag(instruction, 1, true);
        let result = compared(comparison, signed, (&a.0, &b.0), extended.then_some(lower.0));
        let data = a.1 | b.1 | other.1 | if extended { lower.1 } else { 0 };
        self.put_predicate(instruction, 0, integer::join(join, result, other.0), data, mask);
        self.put_predicate(instruction, 1, integer::join(join, !result, other.0), data, mask);
        Ok(())
    }

    /// One of two operands, by a predicate.
    pub(super) fn select(&mut self, instruction: &Instruction, mask: Mask) -> Result<()> {
        let (a, b) = (self.source(instruction, 0)?, self.source(instruction, 1)?);
        let flag = self.flag(instruction, 0, true);
        let lanes = std::array::from_fn(|lane| {
            let flag = flag.0 >> lane & 1 == 1;
            match instruction.op {
                Op::Extreme { signed } => extreme(signed, a.0[lane], b.0[lane], flag),
                _ if flag => a.0[lane],
                _ => b.0[lane],
            }
        });
        self.put(instruction, &[lanes], a.1 | b.1 | flag.1, mask);
        Ok(())
    }

    /// The least or the greatest of three operands.
    pub(super) fn extreme3(&mut self, instruction: &Instruction, signed: bool, mask: Mask) -> Result<()> {
        let (a, b, c) =
            (self.source(instruction, 0)?, self.source(instruction, 1)?, self.source(instruction, 2)?);
        let flag = self.flag(instruction, 0, true);
        let lanes = std::array::from_fn(|lane| {
            let least = flag.0 >> lane & 1 == 1;
            extreme(signed, extreme(signed, a.0[lane], b.0[lane], least), c.0[lane], least)
        });
        self.put(instruction, &[lanes], a.1 | b.1 | c.1 | flag.1, mask);
        Ok(())
    }

    /// The lesser or greater of a sum and an operand.
    pub(super) fn add_extreme(&mut self, instruction: &Instruction, signed: bool, mask: Mask) -> Result<()> {
        let (a, b, c) =
            (self.source(instruction, 0)?, self.source(instruction, 1)?, self.source(instruction, 2)?);
        let flag = self.flag(instruction, 0, true);
        let lanes = std::array::from_fn(|lane| {
            let sum = a.0[lane].wrapping_add(b.0[lane]);
            extreme(signed, sum, c.0[lane], flag.0 >> lane & 1 == 1)
        });
        self.put(instruction, &[lanes], a.1 | b.1 | c.1 | flag.1, mask);
        Ok(())
    }

    /// A sum of two operands.
    pub(super) fn add(&mut self, instruction: &Instruction, mask: Mask) -> Result<()> {
        let (a, b) = (self.source(instruction, 0)?, self.source(instruction, 1)?);
        let lanes = std::array::from_fn(|lane| a.0[lane].wrapping_add(b.0[lane]));
        self.put(instruction, &[lanes], a.1 | b.1, mask);
        Ok(())
    }

    /// Four of the eight bytes of two operands.
    pub(super) fn permute(&mut self, instruction: &Instruction, mask: Mask) -> Result<()> {
        let (a, selector, b) =
            (self.source(instruction, 0)?, self.source(instruction, 1)?, self.source(instruction, 2)?);
        let permuted = |lane: usize| integer::permute(a.0[lane], selector.0[lane], b.0[lane]);
        let lanes: Lanes = std::array::from_fn(permuted);
        let bytes = match instruction.sources[1] {
            Source::Integer(digits) => {
                let (low, high) = (self.bytes(instruction, 0), self.bytes(instruction, 2));
                let from = [low, high].concat();
                std::array::from_fn(|at| from[(digits >> (4 * at) & 7) as usize])
            }
            _ => [a.1 | selector.1 | b.1; 4],
        };
        self.put(instruction, &[lanes], 0, mask);
        self.put_data(instruction, bytes, mask);
        Ok(())
    }

    /// The low bits of an operand, continued.
    pub(super) fn sign_extend(&mut self, instruction: &Instruction, signed: bool, mask: Mask) -> Result<()> {
        let (a, width) = (self.source(instruction, 0)?, self.source(instruction, 1)?);
        let lanes = std::array::from_fn(|lane| match 32u32.saturating_sub(width.0[lane]) {
            0 => a.0[lane],
            32 => 0,
            away if signed => ((a.0[lane] << away) as i32 >> away) as u32,
            away => a.0[lane] << away >> away,
        });
        self.put(instruction, &[lanes], a.1 | width.1, mask);
        Ok(())
    }

    /// Which bytes of a table's result are data: those where an operand that is data makes a difference.
    fn logic_data(&self, instruction: &Instruction, table: u32) -> Bytes {
        let operands = [0, 1, 2].map(|number| self.bytes(instruction, number));
        if operands.iter().all(|bytes| any(bytes) == 0) {
            return [0; 4];
        }
        std::array::from_fn(|byte| {
            // Bytes of numbers that are all zeros or all ones.
            let known = [0, 1, 2].map(|number| match &instruction.sources[number] {
                Source::Register { index: ZERO_REGISTER, sign: Sign::Plus, .. } => Some(0),
                Source::Integer(value) => match value >> (8 * byte) & 0xff {
                    0 => Some(0),
                    0xff => Some(1),
                    _ => None,
                },
                _ => None,
            });
            let matters = |number: usize| {
                let bit = 4 >> number;
                (0..8).any(|row: u32| {
                    let possible = [4, 2, 1].iter().zip(known);
                    let possible = possible.enumerate().all(|(at, (&own, known))| {
                        at == number || known.is_none_or(|known| (row & own != 0) == (known == 1))
                    });
                    possible && (table >> row & 1) != (table >> (row ^ bit) & 1)
                })
            };
            (0..3)
                .filter(|&number| operands[number][byte] != 0 && matters(number))
                .fold(0, |data, number| data | operands[number][byte])
        })
    }

    pub(super) fn map(
        &mut self,
        instruction: &Instruction,
        mask: Mask,
        function: impl Fn(u32) -> u32,
    ) -> Result<()> {
        let (lanes, data) = self.source(instruction, 0)?;
        self.put(instruction, &[lanes.map(function)], data, mask);
        Ok(())
    }
}

#[inline]
fn extreme(signed: bool, a: u32, b: u32, least: bool) -> u32 {
    let less = if signed { (a as i32) < (b as i32) } else { a < b };
    if less == least { a } else { b }
}

/// The lanes in which a comparison holds; `lower` is where it holds for the words below, where there are some.
fn compared(comparison: Comparison, signed: bool, (a, b): (&Lanes, &Lanes), lower: Option<Mask>) -> Mask {
    // Signed numbers are ordered as unsigned ones with the other sign bit.
    let flip = u32::from(signed) << 31;
    let less = mask_of(|lane| a[lane] ^ flip < b[lane] ^ flip);
    let equal = mask_of(|lane| a[lane] == b[lane]);
    let tie = |holds: bool| lower.unwrap_or(if holds { Mask::MAX } else { 0 });
    match comparison {
        Comparison::False => 0,
        Comparison::True => Mask::MAX,
        Comparison::Less => less | equal & tie(false),
        Comparison::LessEqual => less | equal & tie(true),
        Comparison::Greater => !(less | equal) | equal & tie(false),
        Comparison::GreaterEqual => !(less | equal) | equal & tie(true),
        Comparison::Equal => equal & tie(true),
        Comparison::NotEqual => !equal | equal & tie(false),
    }
}
