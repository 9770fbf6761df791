//! From the tree of an expression to instructions: values get registers, which are used again once they are read.

use super::instruction::{Instruction, Operand, Operation};
use polyhedral::program::{
    Access, Condition, Congruence, ElementType, Expr, ExprKind, Program, SeriesId, Statement,
};

/// A statement compiled for evaluation by rows.
#[derive(Debug)]
pub struct RowCode {
    pub(super) instructions: Vec<Instruction>,
    /// The distinct accesses, in the order in which [`Sources`](super::Sources) must give them.
    pub reads: Vec<(Access, ElementType)>,
    pub(super) constants: Vec<(ElementType, usize, f64)>,
    /// The distinct values of series, with the register of each; [`RowCode::registers`] gets their values.
    pub series: Vec<(SeriesId, i64)>,
    pub(super) series_registers: Vec<(ElementType, usize)>,
    pub(super) registers_f32: usize,
    pub(super) registers_f64: usize,
    pub(super) masks: usize,
    pub(super) congruences: Vec<Congruence>,
    pub(super) result: Operand,
}

impl RowCode {
    /// Compiles a statement; `parameters` holds one value for each parameter of the program.
    pub fn compile(program: &Program, statement: &Statement, parameters: &[f64]) -> RowCode {
        let mut builder = Builder {
            program,
            parameters,
            code: RowCode {
                instructions: Vec::new(),
                reads: Vec::new(),
                constants: Vec::new(),
                series: Vec::new(),
                series_registers: Vec::new(),
                registers_f32: 0,
                registers_f64: 0,
                masks: 0,
                congruences: Vec::new(),
                result: Operand::Kept(0),
            },
            locals: Vec::new(),
            free_f32: Vec::new(),
            free_f64: Vec::new(),
            free_masks: Vec::new(),
        };
        for local in &statement.locals {
            let value = match builder.value(&local.value) {
                Operand::Temporary(register) => Operand::Kept(register),
                kept => kept,
            };
            builder.locals.push(value);
        }
        builder.code.result = builder.value(&statement.value);
        builder.code
    }
}

struct Builder<'p> {
    program: &'p Program,
    parameters: &'p [f64],
    code: RowCode,
    locals: Vec<Operand>,
    free_f32: Vec<usize>,
    free_f64: Vec<usize>,
    free_masks: Vec<usize>,
}

impl Builder<'_> {
    fn value(&mut self, expr: &Expr) -> Operand {
        let element = expr.element;
        match &expr.kind {
            ExprKind::Literal(value) => self.constant(element, *value),
            ExprKind::Parameter(id) => self.constant(element, self.parameters[id.0]),
            ExprKind::Local(id) => self.locals[id.0],
            ExprKind::Read(access) => self.read(access),
            ExprKind::Series(series, offset) => self.series(element, (*series, *offset)),
            ExprKind::Negate(a) => {
                let a = self.value(a);
                self.operation(element, &[a], |to| Operation::Negate { a, to })
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                self.operation(element, &[a, b], |to| Operation::Binary { op: *op, a, b, to })
            }
            ExprKind::Call(function, a) => {
                let a = self.value(a);
                self.operation(element, &[a], |to| Operation::Call { function: *function, a, to })
            }
            ExprKind::Select(condition, then, otherwise) => {
                let mask = self.condition(condition);
                let (a, b) = (self.value(then), self.value(otherwise));
                self.free_masks.push(mask);
                self.operation(element, &[a, b], |to| Operation::Select { mask, a, b, to })
            }
            ExprKind::Cast(operand) if operand.element == element => self.value(operand),
            ExprKind::Cast(operand) => {
                let from = self.value(operand);
                let to = self.register(element);
                self.code.instructions.push(match element {
                    ElementType::F32 => Instruction::Narrow { from, to },
                    ElementType::F64 => Instruction::Widen { from, to },
                });
                self.release(operand.element, from);
                Operand::Temporary(to)
            }
        }
    }

    fn condition(&mut self, condition: &Condition) -> usize {
        match condition {
            Condition::Compare(op, a, b) => {
                let element = a.element;
                let (a, b) = (self.value(a), self.value(b));
                let to_mask = self.mask();
                self.push(element, Operation::Compare { op: *op, a, b, to_mask });
                self.release(element, a);
                self.release(element, b);
                to_mask
            }
            Condition::And(a, b) => self.combine(a, b, |a, b, to| Instruction::And { a, b, to }),
            Condition::Or(a, b) => self.combine(a, b, |a, b, to| Instruction::Or { a, b, to }),
            Condition::Not(a) => {
                let a = self.condition(a);
                let to = self.mask();
                self.code.instructions.push(Instruction::Not { a, to });
                self.free_masks.push(a);
                to
            }
            Condition::Congruent(own) => {
                self.code.congruences.push(own.clone());
                let to = self.mask();
                let own = self.code.congruences.len() - 1;
                self.code.instructions.push(Instruction::Congruent { own, to });
                to
            }
        }
    }

    fn combine(
        &mut self,
        a: &Condition,
        b: &Condition,
        instruction: impl Fn(usize, usize, usize) -> Instruction,
    ) -> usize {
        let (a, b) = (self.condition(a), self.condition(b));
        let to = self.mask();
        self.code.instructions.push(instruction(a, b, to));
        self.free_masks.extend([a, b]);
        to
    }

    /// The operands are released only after the result has its register, so that no instruction writes
    /// what it reads.
    fn operation(
        &mut self,
        element: ElementType,
        operands: &[Operand],
        operation: impl Fn(usize) -> Operation,
    ) -> Operand {
        let to = self.register(element);
        self.push(element, operation(to));
        operands.iter().for_each(|&operand| self.release(element, operand));
        Operand::Temporary(to)
    }

    fn push(&mut self, element: ElementType, operation: Operation) {
        self.code.instructions.push(match element {
            ElementType::F32 => Instruction::F32(operation),
            ElementType::F64 => Instruction::F64(operation),
        });
    }

    fn constant(&mut self, element: ElementType, value: f64) -> Operand {
        let known = self.code.constants.iter().find(|(known_element, _, known)| {
            *known_element == element && known.to_bits() == value.to_bits()
        });
        if let Some(&(_, register, _)) = known {
            return Operand::Kept(register);
        }
        let register = self.new_register(element);
        self.code.constants.push((element, register, value));
        Operand::Kept(register)
    }

    fn series(&mut self, element: ElementType, value: (SeriesId, i64)) -> Operand {
        let number = self.code.series.iter().position(|&known| known == value).unwrap_or_else(|| {
            let register = self.new_register(element);
            self.code.series.push(value);
            self.code.series_registers.push((element, register));
            self.code.series.len() - 1
        });
        Operand::Kept(self.code.series_registers[number].1)
    }

    fn read(&mut self, access: &Access) -> Operand {
        let known = self.code.reads.iter().position(|(known, _)| known == access);
        Operand::Read(known.unwrap_or_else(|| {
            let element = self.program.field(access.field).element;
            self.code.reads.push((access.clone(), element));
            self.code.reads.len() - 1
        }))
    }

    fn free_registers(&mut self, element: ElementType) -> &mut Vec<usize> {
        match element {
            ElementType::F32 => &mut self.free_f32,
            ElementType::F64 => &mut self.free_f64,
        }
    }

    fn register(&mut self, element: ElementType) -> usize {
        self.free_registers(element).pop().unwrap_or_else(|| self.new_register(element))
    }

    fn new_register(&mut self, element: ElementType) -> usize {
        let count = match element {
            ElementType::F32 => &mut self.code.registers_f32,
            ElementType::F64 => &mut self.code.registers_f64,
        };
        *count += 1;
        *count - 1
    }

    fn mask(&mut self) -> usize {
        self.free_masks.pop().unwrap_or_else(|| {
            self.code.masks += 1;
            self.code.masks - 1
        })
    }

    fn release(&mut self, element: ElementType, operand: Operand) {
        if let Operand::Temporary(register) = operand {
            self.free_registers(element).push(register);
        }
    }
}
