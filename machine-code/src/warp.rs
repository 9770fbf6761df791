//! A warp: registers of its lanes, and what instructions do to them.
//!
//! Floating-point values are not followed: what arithmetic gives and what memory holds is one, and *data*. Data may decide
//! (the slow ways of division and roots are for other numbers); an address that depends on data is an error.

#![expect(clippy::needless_range_loop, reason = "a lane is a place in several arrays at once")]

use crate::error::{Error, Result};
use crate::instruction::{
    Address, Comparison, Destination, Exchange, Instruction, LANES, Op, Precision, Predicate, Product, Sign,
    Source, Space, Special, TRUE_PREDICATE, ZERO_REGISTER, ZERO_UNIFORM,
};
use crate::integer::{self, Funnel};
use crate::launch::Launch;
use crate::listing::Code;
use std::collections::HashMap;

/// A value of each lane.
pub type Lanes = [u32; LANES];
/// A truth value of each lane.
pub type Mask = u32;

/// The state of a warp.
pub struct Warp<'a> {
    code: &'a Code,
    launch: &'a Launch,
    block: [u32; 3],
    threads: [Lanes; 3],
    registers: Vec<Lanes>,
    /// Per byte of a register, the lanes in which it is data.
    data: Vec<Bytes>,
    uniform: Vec<u32>,
    uniform_data: Vec<bool>,
    predicates: [Mask; 8],
    predicates_data: [Mask; 8],
    uniform_predicates: [bool; 8],
    /// Per barrier register and lane: the lanes that it waits for.
    pub(crate) regions: [Lanes; 16],
    local: HashMap<u32, (Lanes, Mask)>,
    /// Lanes of the instruction that is being executed.
    active: Mask,
}

/// A value of each lane, and in which it is data.
type Value = (Lanes, Mask);
/// Per byte of a value, the lanes in which it is data.
type Bytes = [Mask; 4];

impl<'a> Warp<'a> {
    /// Warp `number` of a block; and its lanes that are threads.
    pub fn new(code: &'a Code, launch: &'a Launch, block: [u32; 3], number: u32) -> (Warp<'a>, Mask) {
        let [x, y, z] = launch.threads;
        let mut threads = [[0; LANES]; 3];
        let mut exist = 0;
        for lane in 0..LANES {
            let thread = number * LANES as u32 + lane as u32;
            if thread < x * y * z {
                exist |= 1 << lane;
            }
            threads[0][lane] = thread % x;
            threads[1][lane] = thread / x % y;
            threads[2][lane] = thread / x / y;
        }
        let mut warp = Warp {
            code,
            launch,
            block,
            threads,
            registers: vec![[0; LANES]; 256],
            data: vec![[0; 4]; 256],
            uniform: vec![0; 256],
            uniform_data: vec![false; 256],
            predicates: [0; 8],
            predicates_data: [0; 8],
            uniform_predicates: [false; 8],
            regions: [[0; LANES]; 16],
            local: HashMap::new(),
            active: 0,
        };
        warp.predicates[usize::from(TRUE_PREDICATE)] = Mask::MAX;
        warp.uniform_predicates[usize::from(TRUE_PREDICATE)] = true;
        (warp, exist)
    }

    /// The lanes in which a predicate holds, and those in which data decides that.
    pub fn holds(&self, predicate: Predicate) -> (Mask, Mask) {
        let index = usize::from(predicate.index);
        let (mask, data) = match predicate.uniform {
            true => (if self.uniform_predicates[index] { Mask::MAX } else { 0 }, 0),
            false => (self.predicates[index], self.predicates_data[index]),
        };
        (if predicate.negated { !mask } else { mask }, data)
    }

    /// The lanes in which all predicates among the operands hold, and those in which data decides that.
    pub fn conditions(&self, instruction: &Instruction) -> (Mask, Mask) {
        let predicates = instruction.sources.iter().filter_map(|source| match source {
            Source::Predicate(predicate) => Some(self.holds(*predicate)),
            _ => None,
        });
        predicates.fold((Mask::MAX, 0), |(all, data), (mask, own)| (all & mask, data | own))
    }

    /// The value of the operand of this number.
    #[inline(always)]
    pub fn source(&self, instruction: &Instruction, number: usize) -> Result<Value> {
        self.word(instruction, number, 0)
    }

    /// Word `word` of an operand that may have several.
    #[inline(always)]
    fn word(&self, instruction: &Instruction, number: usize, word: u8) -> Result<Value> {
        let mut lanes = [0; LANES];
        let (data, more) = self.fill(instruction, number, word, &mut lanes)?;
        if more {
            // Words of a negated number of several words are not negated on their own.
            if word > 0 {
                return Err(fail(instruction, "a negated operand of 64 bits is not followed"));
            }
            lanes.iter_mut().for_each(|value| *value = value.wrapping_add(1));
        }
        Ok((lanes, data))
    }

    /// An operand, complemented where it is negated; whether one is to be added.
    #[inline(always)]
    fn complemented(&self, instruction: &Instruction, number: usize) -> Result<(Value, bool)> {
        let mut lanes = [0; LANES];
        let (data, more) = self.fill(instruction, number, 0, &mut lanes)?;
        Ok(((lanes, data), more))
    }

    /// The same, in place.
    fn fill(
        &self,
        instruction: &Instruction,
        number: usize,
        word: u8,
        lanes: &mut Lanes,
    ) -> Result<(Mask, bool)> {
        let Some(source) = instruction.sources.get(number) else {
            return Err(fail(instruction, "an operand is missing"));
        };
        let (data, sign) = match source {
            Source::Register { index, uniform: false, sign, .. } => {
                let index = register(*index, word);
                *lanes = self.registers[index];
                (any(&self.data[index]), *sign)
            }
            Source::Register { index, uniform: true, sign, .. } => {
                let index = register(*index, word);
                *lanes = [self.uniform[index]; LANES];
                (if self.uniform_data[index] { Mask::MAX } else { 0 }, *sign)
            }
            Source::Constant { bank, address, sign, .. } => {
                let offset = u64::from(word) * 4;
                if address.terms.is_empty() {
                    let place = (address.offset as u64).wrapping_add(offset);
                    *lanes = [self.constant(instruction, *bank, place)?; LANES];
                } else {
                    let places = self.address(instruction, address, self.active)?;
                    for lane in (0..LANES).filter(|lane| self.active >> lane & 1 == 1) {
                        lanes[lane] = self.constant(instruction, *bank, places[lane].wrapping_add(offset))?;
                    }
                }
                (0, *sign)
            }
            Source::Integer(value) => {
                *lanes = [if word == 0 { *value } else { 0 }; LANES];
                (0, Sign::Plus)
            }
            Source::Float(value) => {
                *lanes = [(*value as f32).to_bits(); LANES];
                (0, Sign::Plus)
            }
            _ => return Err(fail(instruction, "an operand is no number")),
        };
        if sign != Sign::Plus {
            lanes.iter_mut().for_each(|value| *value = !*value);
        }
        Ok((data, sign == Sign::Minus))
    }

    /// A word of a constant bank.
    fn constant(&self, instruction: &Instruction, bank: u32, address: u64) -> Result<u32> {
        let word = || match bank {
            0 => self.launch.constant(address),
            _ => {
                let bytes = self.code.constants.get(&bank)?;
                let start = usize::try_from(address).ok()?;
                let word = bytes.get(start..start.checked_add(4)?)?;
                Some(u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            }
        };
        let unknown = || fail(instruction, &format!("nobody knows what c[0x{bank:x}][0x{address:x}] holds"));
        word().ok_or_else(unknown)
    }

    /// An address in each lane; those that matter must not depend on data.
    pub fn address(
        &self,
        instruction: &Instruction,
        address: &Address,
        active: Mask,
    ) -> Result<[u64; LANES]> {
        let mut sum = [address.offset as u64; LANES];
        let mut data = 0;
        for term in &address.terms {
            let index = usize::from(term.index);
            for (lane, sum) in sum.iter_mut().enumerate() {
                let word = |index: usize| {
                    u64::from(match term.uniform {
                        true => self.uniform[index],
                        false => self.registers[index][lane],
                    })
                };
                let value = match term.wide && term.index < ZERO_REGISTER {
                    true => word(index) | word(register(term.index, 1)) << 32,
                    false => word(index),
                };
                *sum = sum.wrapping_add(value.wrapping_mul(u64::from(term.factor)));
            }
            data |= match term.uniform {
                true => {
                    if self.uniform_data[index] {
                        Mask::MAX
                    } else {
                        0
                    }
                }
                false => any(&self.data[index]),
            };
        }
        if data & active != 0 {
            return Err(fail(instruction, "its address depends on values in memory"));
        }
        Ok(sum)
    }

    /// Puts words into the registers of the result, in lanes of the mask.
    fn put(&mut self, instruction: &Instruction, words: &[Lanes], data: Mask, mask: Mask) {
        for destination in &instruction.destinations {
            match *destination {
                Destination::Register(index) => {
                    for (word, lanes) in words.iter().enumerate() {
                        let index = register(index, word as u8);
                        if index == usize::from(ZERO_REGISTER) {
                            continue;
                        }
                        if mask == Mask::MAX {
                            self.registers[index] = *lanes;
                            self.data[index] = [data; 4];
                        } else {
                            for (lane, value) in self.registers[index].iter_mut().enumerate() {
                                if mask >> lane & 1 == 1 {
                                    *value = lanes[lane];
                                }
                            }
                            self.data[index] = self.data[index].map(|old| old & !mask | data & mask);
                        }
                    }
                    return;
                }
                Destination::Uniform(index) => {
                    if mask == 0 {
                        return;
                    }
                    let lane = mask.trailing_zeros() as usize;
                    for (word, lanes) in words.iter().enumerate() {
                        let index = register(index, word as u8);
                        if index != usize::from(ZERO_REGISTER) {
                            self.uniform[index] = lanes[lane];
                            self.uniform_data[index] = data >> lane & 1 == 1;
                        }
                    }
                    return;
                }
                _ => {}
            }
        }
    }

    /// Which bytes of an operand are data.
    fn bytes(&self, instruction: &Instruction, number: usize) -> Bytes {
        match instruction.sources.get(number) {
            Some(Source::Register { index, uniform: false, .. }) => self.data[usize::from(*index)],
            Some(Source::Register { index, uniform: true, .. }) if self.uniform_data[usize::from(*index)] => {
                [Mask::MAX; 4]
            }
            _ => [0; 4],
        }
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

    /// Says which bytes of the result are data.
    fn put_data(&mut self, instruction: &Instruction, bytes: Bytes, mask: Mask) {
        for destination in &instruction.destinations {
            match *destination {
                Destination::Register(ZERO_REGISTER) | Destination::Uniform(ZERO_UNIFORM) => {}
                Destination::Register(index) => {
                    for (own, new) in self.data[usize::from(index)].iter_mut().zip(bytes) {
                        *own = *own & !mask | new & mask;
                    }
                }
                Destination::Uniform(index) if mask != 0 => {
                    self.uniform_data[usize::from(index)] = any(&bytes) >> mask.trailing_zeros() & 1 == 1;
                }
                _ => {}
            }
        }
    }

    /// Puts truth values into the predicate of this number among the results.
    fn put_predicate(
        &mut self,
        instruction: &Instruction,
        number: usize,
        value: Mask,
        data: Mask,
        mask: Mask,
    ) {
        let mut predicates = instruction.destinations.iter().filter_map(|destination| match destination {
            Destination::Predicate(predicate) => Some(*predicate),
            _ => None,
        });
        let Some(predicate) = predicates.nth(number).filter(|predicate| predicate.index != TRUE_PREDICATE)
        else {
            return;
        };
        let index = usize::from(predicate.index);
        if predicate.uniform {
            if mask != 0 {
                self.uniform_predicates[index] = value >> mask.trailing_zeros() & 1 == 1;
            }
        } else {
            self.predicates[index] = self.predicates[index] & !mask | value & mask;
            self.predicates_data[index] = self.predicates_data[index] & !mask | data & mask;
        }
    }

    /// The predicate operand at this place, counted among predicate operands; where there is none, `missing`.
    fn flag(&self, instruction: &Instruction, number: usize, missing: bool) -> (Mask, Mask) {
        let mut predicates = instruction.sources.iter().filter_map(|source| match source {
            Source::Predicate(predicate) => Some(*predicate),
            _ => None,
        });
        match predicates.nth(number) {
            Some(predicate) => self.holds(predicate),
            None => (if missing { Mask::MAX } else { 0 }, 0),
        }
    }

    /// Executes an instruction that goes on to the next one, in the lanes of the mask; and what memory it accesses.
    pub fn execute(&mut self, instruction: &Instruction, mask: Mask) -> Result<Option<[u64; LANES]>> {
        self.active = mask;
        match instruction.op {
            Op::Add3 { carried } => {
                let [(a, x), (b, y), (c, z)] = self.operands(instruction, 0)?;
                let (first, second) = match carried {
                    true => (self.flag(instruction, 0, false), self.flag(instruction, 1, false)),
                    false => ((0, 0), (0, 0)),
                };
                if !carried && instruction.destinations.len() == 1 {
                    let more = u32::from(x) + u32::from(y) + u32::from(z);
                    let sum = |lane: usize| {
                        a.0[lane].wrapping_add(b.0[lane]).wrapping_add(c.0[lane]).wrapping_add(more)
                    };
                    self.put(instruction, &[std::array::from_fn(sum)], a.1 | b.1 | c.1, mask);
                    return Ok(None);
                }
                let (mut sum, mut over, mut again) = ([0; LANES], 0, 0);
                for lane in 0..LANES {
                    let carries = (first.0 >> lane & 1) + (second.0 >> lane & 1);
                    let (value, carry) =
                        integer::add3([(a.0[lane], x), (b.0[lane], y), (c.0[lane], z)], carries);
                    sum[lane] = value;
                    over |= Mask::from(carry >= 1) << lane;
                    again |= Mask::from(carry >= 2) << lane;
                }
                let data = a.1 | b.1 | c.1 | first.1 | second.1;
                self.put(instruction, &[sum], data, mask);
                self.put_predicate(instruction, 0, over, data, mask);
                self.put_predicate(instruction, 1, again, data, mask);
            }
            Op::MultiplyAdd { product, signed, carried } => {
                self.multiply_add(instruction, product, signed, carried, mask)?
            }
            Op::ShiftAdd { high, extended, carried } => {
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
            }
            Op::Logic { all } => {
                let (a, b, c) = (
                    self.source(instruction, 0)?,
                    self.source(instruction, 1)?,
                    self.source(instruction, 2)?,
                );
                let table = self.source(instruction, 3)?.0[0];
                let more = self.flag(instruction, 0, all);
                let lanes: Lanes =
                    std::array::from_fn(|lane| integer::logic(a.0[lane], b.0[lane], c.0[lane], table));
                let some = mask_of(|lane| lanes[lane] != 0);
                let bytes = self.logic_data(instruction, table);
                self.put(instruction, &[lanes], 0, mask);
                self.put_data(instruction, bytes, mask);
                let some = if all { some & more.0 } else { some | more.0 };
                self.put_predicate(instruction, 0, some, any(&bytes) | more.1, mask);
            }
            Op::PredicateLogic => {
                let flags = [0, 1, 2].map(|number| self.flag(instruction, number, true));
                let data = flags[0].1 | flags[1].1 | flags[2].1;
                for (number, table) in [(0, 3), (1, 4)] {
                    let table = self.source(instruction, table)?.0[0];
                    let value = integer::logic(flags[0].0, flags[1].0, flags[2].0, table);
                    self.put_predicate(instruction, number, value, data, mask);
                }
            }
            Op::Shift { right, wide, signed, high, wraps } => {
                let funnel = Funnel { right, wide, signed, high, wraps };
                let (lower, distance, upper) = (
                    self.source(instruction, 0)?,
                    self.source(instruction, 1)?,
                    self.source(instruction, 2)?,
                );
                let shift = |lane: usize| funnel.shift(lower.0[lane], upper.0[lane], distance.0[lane]);
                self.put(instruction, &[std::array::from_fn(shift)], lower.1 | distance.1 | upper.1, mask);
            }
            Op::Compare { comparison, signed, join, extended } => {
                let (a, b) = (self.source(instruction, 0)?, self.source(instruction, 1)?);
                let other = self.flag(instruction, 0, true);
                let lower = self.flag(instruction, 1, true);
                let result = compared(comparison, signed, (&a.0, &b.0), extended.then_some(lower.0));
                let data = a.1 | b.1 | other.1 | if extended { lower.1 } else { 0 };
                self.put_predicate(instruction, 0, integer::join(join, result, other.0), data, mask);
                self.put_predicate(instruction, 1, integer::join(join, !result, other.0), data, mask);
            }
            Op::Select | Op::Extreme { .. } => {
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
            }
            Op::AddExtreme { signed } => {
                let (a, b, c) = (
                    self.source(instruction, 0)?,
                    self.source(instruction, 1)?,
                    self.source(instruction, 2)?,
                );
                let flag = self.flag(instruction, 0, true);
                let lanes = std::array::from_fn(|lane| {
                    let sum = a.0[lane].wrapping_add(b.0[lane]);
                    extreme(signed, sum, c.0[lane], flag.0 >> lane & 1 == 1)
                });
                self.put(instruction, &[lanes], a.1 | b.1 | c.1 | flag.1, mask);
            }
            Op::Add => {
                let (a, b) = (self.source(instruction, 0)?, self.source(instruction, 1)?);
                let lanes = std::array::from_fn(|lane| a.0[lane].wrapping_add(b.0[lane]));
                self.put(instruction, &[lanes], a.1 | b.1, mask);
            }
            Op::Move => {
                let a = self.source(instruction, 0)?;
                self.put(instruction, &[a.0], a.1, mask);
            }
            Op::Permute => {
                let (a, selector, b) = (
                    self.source(instruction, 0)?,
                    self.source(instruction, 1)?,
                    self.source(instruction, 2)?,
                );
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
            }
            Op::Absolute => self.map(instruction, mask, |value| (value as i32).unsigned_abs())?,
            Op::LeadingOne { signed, shift } => self.map(instruction, mask, |value| {
                let value = if signed && (value as i32) < 0 { !value } else { value };
                match (value, shift) {
                    (0, _) => u32::MAX,
                    (_, true) => value.leading_zeros(),
                    (_, false) => 31 - value.leading_zeros(),
                }
            })?,
            Op::CountOnes => self.map(instruction, mask, u32::count_ones)?,
            Op::Reverse => self.map(instruction, mask, u32::reverse_bits)?,
            Op::SignExtend { signed } => {
                let (a, width) = (self.source(instruction, 0)?, self.source(instruction, 1)?);
                let lanes = std::array::from_fn(|lane| match 32u32.saturating_sub(width.0[lane]) {
                    0 => a.0[lane],
                    32 => 0,
                    away if signed => ((a.0[lane] << away) as i32 >> away) as u32,
                    away => a.0[lane] << away >> away,
                });
                self.put(instruction, &[lanes], a.1 | width.1, mask);
            }
            Op::PredicatesToRegister => {
                let (rest, wanted) = (self.source(instruction, 1)?, self.source(instruction, 2)?);
                let uniform = matches!(instruction.destinations.first(), Some(Destination::Uniform(_)));
                let own = |index: usize| match uniform {
                    true => (if self.uniform_predicates[index] { Mask::MAX } else { 0 }, 0),
                    false => (self.predicates[index], self.predicates_data[index]),
                };
                let lanes = std::array::from_fn(|lane| {
                    let bits = (0..7).fold(0, |bits, index| bits | (own(index).0 >> lane & 1) << index);
                    bits & wanted.0[lane] | rest.0[lane] & !wanted.0[lane]
                });
                let data = (0..7).filter(|index| wanted.0[0] >> index & 1 == 1);
                let data = data.fold(rest.1, |data, index| data | own(index).1);
                self.put(instruction, &[lanes], data, mask);
            }
            Op::RegisterToPredicates => {
                let (from, wanted) = (self.source(instruction, 0)?, self.source(instruction, 1)?);
                let first = match instruction.sources.get(2) {
                    Some(_) => self.source(instruction, 2)?.0[0],
                    None => 0,
                };
                for index in (0..7).filter(|index| wanted.0[0] >> index & 1 == 1) {
                    let value = mask_of(|lane| from.0[lane] >> first >> index & 1 == 1);
                    self.predicates[index] = self.predicates[index] & !mask | value & mask;
                    self.predicates_data[index] = self.predicates_data[index] & !mask | from.1 & mask;
                }
            }
            Op::Special { words } => {
                let Some(Source::Special(special)) = instruction.sources.first() else {
                    return Err(fail(instruction, "it names no special register"));
                };
                let lanes = match *special {
                    Special::Thread(axis) => self.threads[axis],
                    Special::Block(axis) => [self.block[axis]; LANES],
                    Special::Lane => std::array::from_fn(|lane| lane as u32),
                    Special::Zero => [0; LANES],
                    Special::ActiveMask => [mask; LANES],
                    Special::LanesBelow => std::array::from_fn(|lane| (1u32 << lane) - 1),
                };
                self.put(instruction, &[lanes, [0; LANES]][..usize::from(words)], 0, mask);
            }
            Op::LoadConstant { words } => {
                let mut loaded = [[0; LANES]; 4];
                for (word, lanes) in (0..words).zip(&mut loaded) {
                    self.fill(instruction, 0, word, lanes)?;
                }
                self.put(instruction, &loaded[..usize::from(words)], 0, mask);
            }
            Op::Arithmetic { precision, .. } | Op::Numeric { precision } => {
                self.put_number(instruction, precision, mask)
            }
            Op::CompareFloats { precision, comparison, unordered, join } => {
                self.compare_floats(instruction, (precision, comparison, unordered), join, mask)?;
            }
            Op::CheckDivision => self.put_predicate(instruction, 0, 0, Mask::MAX, mask),
            Op::Function { double: true, .. } => {
                self.put(instruction, &[[0x3ff0_0000; LANES]], Mask::MAX, mask)
            }
            Op::Function { double: false, reciprocal } => {
                let a = self.source(instruction, 0)?;
                if reciprocal && a.1 & mask == 0 {
                    // Divisions of integers go by reciprocals.
                    self.map(instruction, mask, |value| (1.0 / f32::from_bits(value)).to_bits())?;
                } else {
                    self.put_number(instruction, Precision::Single, mask);
                }
            }
            Op::FloatToFloat { words } => {
                let precision = if words == 2 { Precision::Double } else { Precision::Single };
                self.put_number(instruction, precision, mask);
            }
            Op::IntegerToFloat { signed, source_words, words, up } => {
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
            }
            Op::FloatToInteger { signed, words } => {
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
            }
            Op::HalfPair => match instruction.sources.as_slice() {
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
            },
            Op::Load { .. } | Op::Store { .. } | Op::CopyAsync { .. } => {
                return self.access(instruction, mask);
            }
            Op::Shuffle(exchange) => self.shuffle(instruction, exchange, mask)?,
            Op::Vote { all } => {
                let flag = self.flag(instruction, 0, true);
                let votes = flag.0 & mask;
                let passed = if all { votes == mask } else { votes != 0 };
                let data = if flag.1 & mask == 0 { 0 } else { Mask::MAX };
                self.put(instruction, &[[votes; LANES]], data, mask);
                self.put_predicate(instruction, 0, if passed { Mask::MAX } else { 0 }, data, mask);
            }
            Op::MoveBarrier { clear } => self.move_barrier(instruction, clear, mask)?,
            Op::CommitCopies | Op::WaitCopies | Op::Fence | Op::Barrier | Op::Nothing => {}
            Op::Branch
            | Op::BranchDivergent
            | Op::BranchIndirect
            | Op::Call
            | Op::Return
            | Op::Exit
            | Op::OpenRegion
            | Op::CloseRegion
            | Op::LeaveRegion
            | Op::WarpSync { .. } => return Err(fail(instruction, "it does not go on to the next one")),
        }
        Ok(None)
    }

    /// Three operands from the first one on, complemented where they are negated.
    #[inline(always)]
    fn operands(&self, instruction: &Instruction, first: usize) -> Result<[(Value, bool); 3]> {
        Ok([
            self.complemented(instruction, first)?,
            self.complemented(instruction, first + 1)?,
            self.complemented(instruction, first + 2)?,
        ])
    }

    fn multiply_add(
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

    fn map(&mut self, instruction: &Instruction, mask: Mask, function: impl Fn(u32) -> u32) -> Result<()> {
        let (lanes, data) = self.source(instruction, 0)?;
        self.put(instruction, &[lanes.map(function)], data, mask);
        Ok(())
    }

    /// The result is a number that nobody follows.
    fn put_number(&mut self, instruction: &Instruction, precision: Precision, mask: Mask) {
        let one = 1.0f64.to_bits();
        match precision {
            Precision::Double => {
                let words = [[one as u32; LANES], [(one >> 32) as u32; LANES]];
                self.put(instruction, &words, Mask::MAX, mask);
            }
            _ => self.put(instruction, &[[1.0f32.to_bits(); LANES]], Mask::MAX, mask),
        }
    }

    fn compare_floats(
        &mut self,
        instruction: &Instruction,
        (precision, comparison, unordered): (Precision, Comparison, bool),
        join: crate::instruction::Join,
        mask: Mask,
    ) -> Result<()> {
        let (a, b) = (self.numbers(instruction, 0, precision)?, self.numbers(instruction, 1, precision)?);
        let other = self.flag(instruction, 0, true);
        let is = |lane: usize| {
            let (a, b) = (a.0[lane], b.0[lane]);
            match comparison {
                Comparison::False => false,
                Comparison::True => true,
                _ if a.is_nan() || b.is_nan() => unordered,
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

    /// Reads and writes memory: values only of the thread's own.
    fn access(&mut self, instruction: &Instruction, mask: Mask) -> Result<Option<[u64; LANES]>> {
        let mut places = instruction.sources.iter().filter_map(|source| match source {
            Source::Memory(address) => Some(address),
            _ => None,
        });
        // A copy names where to first.
        let place = match instruction.op {
            Op::CopyAsync { .. } => places.nth(1),
            _ => places.next(),
        };
        let Some(place) = place else { return Err(fail(instruction, "it names no place in memory")) };
        let addresses = self.address(instruction, place, mask)?;
        match instruction.op {
            Op::Load { space: Space::Local, bytes, .. } => {
                for word in 0..u32::from(bytes).div_ceil(4) {
                    let (mut lanes, mut data) = ([0; LANES], 0);
                    for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                        let kept = self.local.get(&(addresses[lane] as u32 / 4 + word));
                        lanes[lane] = kept.map_or(0, |kept| kept.0[lane]);
                        data |= kept.map_or(0, |kept| kept.1 & 1 << lane);
                    }
                    self.put_word(instruction, word as u8, lanes, data, mask);
                }
            }
            Op::Store { space: Space::Local, bytes } => {
                for word in 0..u32::from(bytes).div_ceil(4) {
                    let value = self.stored(instruction, word as u8)?;
                    for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                        let place = addresses[lane] as u32 / 4 + word;
                        let kept = self.local.entry(place).or_insert(([0; LANES], 0));
                        kept.0[lane] = value.0[lane];
                        kept.1 = kept.1 & !(1 << lane) | value.1 & 1 << lane;
                    }
                }
            }
            Op::Load { bytes, .. } => {
                for word in 0..bytes.div_ceil(4) {
                    let value = self.launch.element[usize::from(word) % 2];
                    self.put_word(instruction, word, [value; LANES], Mask::MAX, mask);
                }
            }
            _ => {}
        }
        Ok(Some(addresses))
    }

    /// A word of what is stored.
    fn stored(&self, instruction: &Instruction, word: u8) -> Result<Value> {
        let number = instruction.sources.iter().position(|source| !matches!(source, Source::Memory(_)));
        self.word(instruction, number.unwrap_or(usize::MAX), word)
    }

    fn put_word(&mut self, instruction: &Instruction, word: u8, lanes: Lanes, data: Mask, mask: Mask) {
        let to = instruction.destinations.iter().find_map(|destination| match destination {
            Destination::Register(index) => Some(register(*index, word)),
            _ => None,
        });
        if let Some(index) = to.filter(|&index| index != usize::from(ZERO_REGISTER)) {
            for (lane, value) in self.registers[index].iter_mut().enumerate() {
                if mask >> lane & 1 == 1 {
                    *value = lanes[lane];
                }
            }
            self.data[index] = self.data[index].map(|old| old & !mask | data & mask);
        }
    }

    fn shuffle(&mut self, instruction: &Instruction, exchange: Exchange, mask: Mask) -> Result<()> {
        let (value, distance, clamp) =
            (self.source(instruction, 0)?, self.source(instruction, 1)?, self.source(instruction, 2)?);
        let (mut lanes, mut data, mut inside) = ([0; LANES], distance.1 | clamp.1, 0);
        for lane in 0..LANES {
            // Segments of a warp: the fixed bits of the number, and the last or first lane that can be named.
            let (fixed, bound) = ((clamp.0[lane] >> 8 & 31) as usize, (clamp.0[lane] & 31) as usize);
            let limit = lane & fixed | bound & !fixed;
            let by = (distance.0[lane] & 31) as usize;
            let (from, valid) = match exchange {
                Exchange::Index => {
                    let from = lane & fixed | by & !fixed;
                    (from, from <= limit)
                }
                Exchange::Up => (lane.wrapping_sub(by), lane as i64 - by as i64 >= limit as i64),
                Exchange::Down => (lane + by, lane + by <= limit),
                Exchange::Butterfly => (lane ^ by, lane ^ by <= limit),
            };
            let from = if valid { from } else { lane };
            lanes[lane] = value.0[from];
            data |= (value.1 >> from & 1) << lane;
            inside |= Mask::from(valid) << lane;
        }
        self.put(instruction, &[lanes], data, mask);
        self.put_predicate(instruction, 0, inside, 0, mask);
        Ok(())
    }

    fn move_barrier(&mut self, instruction: &Instruction, clear: bool, mask: Mask) -> Result<()> {
        match (instruction.destinations.first(), instruction.sources.first()) {
            (Some(Destination::Barrier(to)), _) => {
                let value = self.source(instruction, 0)?.0;
                for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                    self.regions[usize::from(*to)][lane] = value[lane];
                }
            }
            (_, Some(Source::Barrier(from))) => {
                let from = usize::from(*from);
                self.put(instruction, &[self.regions[from]], 0, mask);
                if clear {
                    for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                        self.regions[from][lane] = 0;
                    }
                }
            }
            _ => return Err(fail(instruction, "it names no barrier")),
        }
        Ok(())
    }
}

/// The lanes in which some byte is data.
#[inline]
fn any(bytes: &Bytes) -> Mask {
    bytes[0] | bytes[1] | bytes[2] | bytes[3]
}

/// An error at an instruction.
pub fn fail(instruction: &Instruction, reason: &str) -> Error {
    Error::Run { line: instruction.line, text: instruction.text.clone(), reason: reason.to_owned() }
}

/// The register `word` after this one; those after the zero register are zero, too.
#[inline]
fn register(index: u8, word: u8) -> usize {
    if index == ZERO_REGISTER { usize::from(index) } else { usize::from(index.saturating_add(word)) }
}

fn is_zero(source: &Source) -> bool {
    matches!(source, Source::Register { index: ZERO_REGISTER, .. })
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

/// The lanes of which something is true.
#[inline]
fn mask_of(is: impl Fn(usize) -> bool) -> Mask {
    (0..LANES).fold(0, |mask, lane| mask | Mask::from(is(lane)) << lane)
}
