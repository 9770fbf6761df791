//! The state of a warp: what its lanes hold, operands read from it, and results put into it.

#![expect(clippy::needless_range_loop, reason = "a lane is a place in several arrays at once")]

use crate::error::{Error, Result};
use crate::instruction::{
    Address, Destination, Instruction, LANES, Predicate, Sign, Source, TRUE_PREDICATE, ZERO_REGISTER,
    ZERO_UNIFORM,
};
use crate::launch::Launch;
use crate::listing::Code;
use std::collections::HashMap;

/// A value of each lane.
pub type Lanes = [u32; LANES];
/// A truth value of each lane.
pub type Mask = u32;

/// The state of a warp.
pub struct Warp<'a> {
    pub(super) code: &'a Code,
    pub(super) launch: &'a Launch,
    pub(super) block: [u32; 3],
    pub(super) threads: [Lanes; 3],
    pub(super) registers: Vec<Lanes>,
    /// Per byte of a register, the lanes in which it is data.
    pub(super) data: Vec<Bytes>,
    pub(super) uniform: Vec<u32>,
    pub(super) uniform_data: Vec<bool>,
    pub(super) predicates: [Mask; 8],
    pub(super) predicates_data: [Mask; 8],
    pub(super) uniform_predicates: [bool; 8],
    /// Per barrier register and lane: the lanes that it waits for.
    pub(crate) regions: [Lanes; 16],
    pub(super) local: HashMap<u32, (Lanes, Mask)>,
    /// Lanes of the instruction that is being executed.
    pub(super) active: Mask,
}

/// A value of each lane, and in which it is data.
pub(super) type Value = (Lanes, Mask);
/// Per byte of a value, the lanes in which it is data.
pub(super) type Bytes = [Mask; 4];

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
    pub(super) fn word(&self, instruction: &Instruction, number: usize, word: u8) -> Result<Value> {
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
    pub(super) fn complemented(&self, instruction: &Instruction, number: usize) -> Result<(Value, bool)> {
        let mut lanes = [0; LANES];
        let (data, more) = self.fill(instruction, number, 0, &mut lanes)?;
        Ok(((lanes, data), more))
    }

    /// Three operands from the first one on, complemented where they are negated.
    #[inline(always)]
    pub(super) fn operands(&self, instruction: &Instruction, first: usize) -> Result<[(Value, bool); 3]> {
        Ok([
            self.complemented(instruction, first)?,
            self.complemented(instruction, first + 1)?,
            self.complemented(instruction, first + 2)?,
        ])
    }

    /// The same, in place.
    pub(super) fn fill(
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
    pub(super) fn constant(&self, instruction: &Instruction, bank: u32, address: u64) -> Result<u32> {
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

    /// Which bytes of an operand are data.
    pub(super) fn bytes(&self, instruction: &Instruction, number: usize) -> Bytes {
        match instruction.sources.get(number) {
            Some(Source::Register { index, uniform: false, .. }) => self.data[usize::from(*index)],
            Some(Source::Register { index, uniform: true, .. }) if self.uniform_data[usize::from(*index)] => {
                [Mask::MAX; 4]
            }
            _ => [0; 4],
        }
    }

    /// The predicate operand at this place, counted among predicate operands; where there is none, `missing`.
    pub(super) fn flag(&self, instruction: &Instruction, number: usize, missing: bool) -> (Mask, Mask) {
        let mut predicates = instruction.sources.iter().filter_map(|source| match source {
            Source::Predicate(predicate) => Some(*predicate),
            _ => None,
        });
        match predicates.nth(number) {
            Some(predicate) => self.holds(predicate),
            None => (if missing { Mask::MAX } else { 0 }, 0),
        }
    }

    /// Puts words into the registers of the result, in lanes of the mask.
    pub(super) fn put(&mut self, instruction: &Instruction, words: &[Lanes], data: Mask, mask: Mask) {
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

    pub(super) fn put_word(
        &mut self,
        instruction: &Instruction,
        word: u8,
        lanes: Lanes,
        data: Mask,
        mask: Mask,
    ) {
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

    /// Says which bytes of the result are data.
    pub(super) fn put_data(&mut self, instruction: &Instruction, bytes: Bytes, mask: Mask) {
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
    pub(super) fn put_predicate(
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
}

/// The lanes in which some byte is data.
#[inline]
pub(super) fn any(bytes: &Bytes) -> Mask {
    bytes[0] | bytes[1] | bytes[2] | bytes[3]
}

/// An error at an instruction.
pub fn fail(instruction: &Instruction, reason: &str) -> Error {
    Error::Run { line: instruction.line, text: instruction.text.clone(), reason: reason.to_owned() }
}

/// The register `word` after this one; those after the zero register are zero, too.
#[inline]
pub(super) fn register(index: u8, word: u8) -> usize {
    if index == ZERO_REGISTER { usize::from(index) } else { usize::from(index.saturating_add(word)) }
}

/// The lanes of which something is true.
#[inline]
pub(super) fn mask_of(is: impl Fn(usize) -> bool) -> Mask {
    (0..LANES).fold(0, |mask, lane| mask | Mask::from(is(lane)) << lane)
}
