//! Which instruction does what.

use super::state::{Mask, Warp, fail};
use crate::error::Result;
use crate::instruction::{Instruction, LANES, Op, Precision};
use crate::integer::Funnel;

impl Warp<'_> {
    /// Executes an instruction that goes on to the next one, in the lanes of the mask; and what memory it accesses.
    pub fn execute(&mut self, instruction: &Instruction, mask: Mask) -> Result<Option<[u64; LANES]>> {
        self.active = mask;
        match instruction.op {
            Op::Add3 { carried } => self.add3(instruction, carried, mask)?,
            Op::MultiplyAdd { product, signed, carried } => {
                self.multiply_add(instruction, product, signed, carried, mask)?;
            }
            Op::ShiftAdd { high, extended, carried } => {
                self.shift_add(instruction, high, extended, carried, mask)?;
            }
            Op::Logic { all } => self.logic(instruction, all, mask)?,
            Op::PredicateLogic => self.predicate_logic(instruction, mask)?,
            Op::Shift { right, wide, signed, high, wraps } => {
                self.shift(instruction, Funnel { right, wide, signed, high, wraps }, mask)?;
            }
            Op::Compare { comparison, signed, join, extended } => {
                self.compare_integers(instruction, (comparison, signed, extended), join, mask)?;
            }
            Op::Select | Op::Extreme { .. } => self.select(instruction, mask)?,
            Op::Extreme3 { signed } => self.extreme3(instruction, signed, mask)?,
            Op::AddExtreme { signed } => self.add_extreme(instruction, signed, mask)?,
            Op::Add => self.add(instruction, mask)?,
            Op::Move => self.map(instruction, mask, |value| value)?,
            Op::Permute => self.permute(instruction, mask)?,
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
            Op::SignExtend { signed } => self.sign_extend(instruction, signed, mask)?,
            Op::PredicatesToRegister => self.predicates_to_register(instruction, mask)?,
            Op::RegisterToPredicates => self.register_to_predicates(instruction, mask)?,
            Op::Special { words } => self.special(instruction, words, mask)?,
            Op::LoadConstant { words } => self.load_constant(instruction, words, mask)?,
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
            Op::Function { double: false, reciprocal } => self.function(instruction, reciprocal, mask)?,
            Op::FloatToFloat { words } => {
                let precision = if words == 2 { Precision::Double } else { Precision::Single };
                self.put_number(instruction, precision, mask);
            }
            Op::IntegerToFloat { signed, source_words, words, up } => {
                self.integer_to_float(instruction, (signed, source_words, words, up), mask)?;
            }
            Op::FloatToInteger { signed, words } => {
                self.float_to_integer(instruction, (signed, words), mask)?
            }
            Op::HalfPair => self.half_pair(instruction, mask),
            Op::Load { .. } | Op::Store { .. } | Op::CopyAsync { .. } | Op::Atomic { .. } => {
                return self.access(instruction, mask);
            }
            Op::Shuffle(exchange) => self.shuffle(instruction, exchange, mask)?,
            Op::Vote { all } => self.vote(instruction, all, mask),
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
}
