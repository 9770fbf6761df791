//! Runs instructions over up to [`LANES`](super::registers::LANES) points.

use super::instruction::{Instruction, Operand, Operation};
use super::registers::{Registers, RowElement, Sources};
use polyhedral::program::{BinaryOp, CompareOp, Function};

/// Up to [`LANES`] consecutive points of a row.
pub(super) struct Window<'a> {
    pub(super) sources: &'a Sources<'a>,
    pub(super) start: usize,
    pub(super) length: usize,
}

impl Window<'_> {
    pub(super) fn operand<'r, T: RowElement>(
        &'r self,
        registers: &'r Registers,
        operand: Operand,
    ) -> &'r [T] {
        match operand {
            Operand::Kept(register) | Operand::Temporary(register) => {
                &T::registers(registers)[register][..self.length]
            }
            Operand::Read(read) => {
                let (values, offset) = self.sources[read];
                let first = self.start.wrapping_add_signed(offset);
                &T::elements(values)[first..first + self.length]
            }
        }
    }

    pub(super) fn execute(&self, registers: &mut Registers, instruction: &Instruction) {
        match *instruction {
            Instruction::F32(operation) => self.operate::<f32>(registers, operation),
            Instruction::F64(operation) => self.operate::<f64>(registers, operation),
            Instruction::Narrow { from, to } => {
                self.unary(registers, from, to, |value: f64| value as f32);
            }
            Instruction::Widen { from, to } => {
                self.unary(registers, from, to, |value: f32| f64::from(value));
            }
            Instruction::And { a, b, to } => self.logic(registers, a, b, to, |a, b| a & b),
            Instruction::Or { a, b, to } => self.logic(registers, a, b, to, |a, b| a | b),
            Instruction::Not { a, to } => self.logic(registers, a, a, to, |a, _| !a),
            // It needs the place, and is done where that is known.
            Instruction::Congruent { .. } => {}
        }
    }

    fn operate<T: RowElement>(&self, registers: &mut Registers, operation: Operation) {
        match operation {
            Operation::Negate { a, to } => self.unary(registers, a, to, |a: T| -a),
            Operation::Call { function, a, to } => match function {
                Function::Sqrt => self.unary(registers, a, to, T::sqrt),
                Function::Exp => self.unary(registers, a, to, T::exp),
                Function::Abs => self.unary(registers, a, to, T::abs),
                Function::Square => self.unary(registers, a, to, |a: T| a * a),
                Function::Libm(function) => self.unary(registers, a, to, |a: T| a.libm(function)),
            },
            Operation::Binary { op, a, b, to } => match op {
                BinaryOp::Add => self.binary(registers, a, b, to, |a: T, b: T| a + b),
                BinaryOp::Sub => self.binary(registers, a, b, to, |a: T, b: T| a - b),
                BinaryOp::Mul => self.binary(registers, a, b, to, |a: T, b: T| a * b),
                BinaryOp::Div => self.binary(registers, a, b, to, |a: T, b: T| a / b),
                BinaryOp::Min => self.binary(registers, a, b, to, |a: T, b: T| if a < b { a } else { b }),
                BinaryOp::Max => self.binary(registers, a, b, to, |a: T, b: T| if a > b { a } else { b }),
                BinaryOp::Libm(function) => {
                    self.binary(registers, a, b, to, |a: T, b: T| a.libm2(b, function));
                }
            },
            Operation::Select { mask, a, b, to } => {
                let mut target = std::mem::take(&mut T::registers_mut(registers)[to]);
                let (a, b) = (self.operand::<T>(registers, a), self.operand::<T>(registers, b));
                let mask = &registers.masks[mask][..self.length];
                for (((to, &mask), &a), &b) in target.iter_mut().zip(mask).zip(a).zip(b) {
                    *to = if mask { a } else { b };
                }
                T::registers_mut(registers)[to] = target;
            }
            Operation::Compare { op, a, b, to_mask } => match op {
                CompareOp::Less => self.compare(registers, a, b, to_mask, |a: T, b: T| a < b),
                CompareOp::LessEqual => self.compare(registers, a, b, to_mask, |a: T, b: T| a <= b),
                CompareOp::Greater => self.compare(registers, a, b, to_mask, |a: T, b: T| a > b),
                CompareOp::GreaterEqual => self.compare(registers, a, b, to_mask, |a: T, b: T| a >= b),
                CompareOp::Equal => self.compare(registers, a, b, to_mask, |a: T, b: T| a == b),
                CompareOp::NotEqual => self.compare(registers, a, b, to_mask, |a: T, b: T| a != b),
            },
        }
    }

    #[inline(always)]
    fn unary<A: RowElement, T: RowElement>(
        &self,
        registers: &mut Registers,
        a: Operand,
        to: usize,
        function: impl Fn(A) -> T,
    ) {
        let mut target = std::mem::take(&mut T::registers_mut(registers)[to]);
        for (to, &a) in target.iter_mut().zip(self.operand::<A>(registers, a)) {
            *to = function(a);
        }
        T::registers_mut(registers)[to] = target;
    }

    #[inline(always)]
    fn binary<T: RowElement>(
        &self,
        registers: &mut Registers,
        a: Operand,
        b: Operand,
        to: usize,
        function: impl Fn(T, T) -> T,
    ) {
        let mut target = std::mem::take(&mut T::registers_mut(registers)[to]);
        let (a, b) = (self.operand::<T>(registers, a), self.operand::<T>(registers, b));
        for ((to, &a), &b) in target.iter_mut().zip(a).zip(b) {
            *to = function(a, b);
        }
        T::registers_mut(registers)[to] = target;
    }

    #[inline(always)]
    fn compare<T: RowElement>(
        &self,
        registers: &mut Registers,
        a: Operand,
        b: Operand,
        to: usize,
        function: impl Fn(T, T) -> bool,
    ) {
        let mut target = std::mem::take(&mut registers.masks[to]);
        let (a, b) = (self.operand::<T>(registers, a), self.operand::<T>(registers, b));
        for ((to, &a), &b) in target.iter_mut().zip(a).zip(b) {
            *to = function(a, b);
        }
        registers.masks[to] = target;
    }

    #[inline(always)]
    fn logic(
        &self,
        registers: &mut Registers,
        a: usize,
        b: usize,
        to: usize,
        function: impl Fn(bool, bool) -> bool,
    ) {
        let mut target = std::mem::take(&mut registers.masks[to]);
        let (a, b) = (&registers.masks[a][..self.length], &registers.masks[b][..self.length]);
        for ((to, &a), &b) in target.iter_mut().zip(a).zip(b) {
            *to = function(a, b);
        }
        registers.masks[to] = target;
    }
}
