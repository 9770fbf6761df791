//! What instructions do with predicates.

use super::state::{Mask, Warp, mask_of};
use crate::error::Result;
use crate::instruction::{Destination, Instruction, LANES};
use crate::integer;

impl Warp<'_> {
    /// Two tables of three predicates.
    pub(super) fn predicate_logic(&mut self, instruction: &Instruction, mask: Mask) -> Result<()> {
        let flags = [0, 1, 2].map(|number| self.flag(instruction, number, true));
        let data = flags[0].1 | flags[1].1 | flags[2].1;
        for (number, table) in [(0, 3), (1, 4)] {
            let table = self.source(instruction, table)?.0[0];
            let value = integer::logic(flags[0].0, flags[1].0, flags[2].0, table);
            self.put_predicate(instruction, number, value, data, mask);
        }
        Ok(())
    }

    /// Predicates as bits of a number.
    pub(super) fn predicates_to_register(&mut self, instruction: &Instruction, mask: Mask) -> Result<()> {
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
        Ok(())
    }

    /// Bits of a number as predicates.
    pub(super) fn register_to_predicates(&mut self, instruction: &Instruction, mask: Mask) -> Result<()> {
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
        Ok(())
    }

    /// What lanes say of a predicate, all or some.
    pub(super) fn vote(&mut self, instruction: &Instruction, all: bool, mask: Mask) {
        let flag = self.flag(instruction, 0, true);
        let votes = flag.0 & mask;
        let passed = if all { votes == mask } else { votes != 0 };
        let data = if flag.1 & mask == 0 { 0 } else { Mask::MAX };
        self.put(instruction, &[[votes; LANES]], data, mask);
        self.put_predicate(instruction, 0, if passed { Mask::MAX } else { 0 }, data, mask);
    }
}
