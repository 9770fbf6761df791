//! Evaluation of one statement over a piece of a row of the grid.
//!
//! The statement's expressions become a list of instructions on vector registers of [`LANES`] points. The
//! loop over points is inside each instruction, where the compiler vectorises it; its operations are those
//! of the tree, one for one, in the type of each node. Both sides of a select are evaluated and one is
//! chosen, which gives the same values because nothing has a side effect.

use crate::element::Element;
use crate::grid::{ValuesMut, ValuesRef};
use polyhedral::program::{
    Access, BinaryOp, CompareOp, Condition, Congruence, ElementType, Expr, ExprKind, Function, Program,
    SeriesId, Statement,
};

/// Points that one instruction works on at a time; the registers of a statement stay in the L1 cache.
pub const LANES: usize = 512;

/// Where an instruction finds a value of its own type.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Operand {
    /// A register that holds a constant or a local, never written again.
    Kept(usize),
    /// A register that is free after its one use.
    Temporary(usize),
    /// Entry of [`RowCode::reads`].
    Read(usize),
}

#[derive(Debug, Clone, Copy)]
enum Operation {
    Negate { a: Operand, to: usize },
    Binary { op: BinaryOp, a: Operand, b: Operand, to: usize },
    Call { function: Function, a: Operand, to: usize },
    Select { mask: usize, a: Operand, b: Operand, to: usize },
    Compare { op: CompareOp, a: Operand, b: Operand, to_mask: usize },
}

#[derive(Debug, Clone, Copy)]
enum Instruction {
    F32(Operation),
    F64(Operation),
    Narrow {
        from: Operand,
        to: usize,
    },
    Widen {
        from: Operand,
        to: usize,
    },
    And {
        a: usize,
        b: usize,
        to: usize,
    },
    Or {
        a: usize,
        b: usize,
        to: usize,
    },
    Not {
        a: usize,
        to: usize,
    },
    /// Entry of [`RowCode::congruences`].
    Congruent {
        own: usize,
        to: usize,
    },
}

/// A statement compiled for evaluation by rows.
#[derive(Debug)]
pub struct RowCode {
    instructions: Vec<Instruction>,
    /// The distinct accesses, in the order in which [`Sources`] must give them.
    pub reads: Vec<(Access, ElementType)>,
    constants: Vec<(ElementType, usize, f64)>,
    /// The distinct values of series, with the register of each; [`RowCode::registers`] gets their values.
    pub series: Vec<(SeriesId, i64)>,
    series_registers: Vec<(ElementType, usize)>,
    registers_f32: usize,
    registers_f64: usize,
    masks: usize,
    congruences: Vec<Congruence>,
    result: Operand,
}

/// The first of some points in a row.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Its element in the arrays.
    pub element: usize,
    /// The time step.
    pub step: i64,
    /// The coordinates of the row, where [`RowCode::asks_for_places`]; else anything.
    pub row: &'a [i64],
    /// The coordinate along the row.
    pub column: i64,
}

/// For each entry of [`RowCode::reads`]: the array, and what to add to the element of a point.
pub type Sources<'a> = [(ValuesRef<'a>, isize)];

/// The registers of one thread.
#[derive(Debug)]
pub struct Registers {
    f32: Vec<Vec<f32>>,
    f64: Vec<Vec<f64>>,
    masks: Vec<Vec<bool>>,
}

/// An element type with its registers and arrays.
pub trait RowElement: Element {
    /// This type's registers.
    fn registers(registers: &Registers) -> &[Vec<Self>];
    /// This type's registers, to be changed.
    fn registers_mut(registers: &mut Registers) -> &mut [Vec<Self>];
    /// The elements, if they are of this type; else none.
    fn elements(values: ValuesRef<'_>) -> &[Self];
    /// The elements to be changed, if they are of this type; else none.
    fn elements_mut(values: ValuesMut<'_>) -> &mut [Self];
}

impl RowElement for f32 {
    fn registers(registers: &Registers) -> &[Vec<f32>] {
        &registers.f32
    }
    fn registers_mut(registers: &mut Registers) -> &mut [Vec<f32>] {
        &mut registers.f32
    }
    fn elements(values: ValuesRef<'_>) -> &[f32] {
        if let ValuesRef::F32(values) = values { values } else { &[] }
    }
    fn elements_mut(values: ValuesMut<'_>) -> &mut [f32] {
        if let ValuesMut::F32(values) = values { values } else { &mut [] }
    }
}

impl RowElement for f64 {
    fn registers(registers: &Registers) -> &[Vec<f64>] {
        &registers.f64
    }
    fn registers_mut(registers: &mut Registers) -> &mut [Vec<f64>] {
        &mut registers.f64
    }
    fn elements(values: ValuesRef<'_>) -> &[f64] {
        if let ValuesRef::F64(values) = values { values } else { &[] }
    }
    fn elements_mut(values: ValuesMut<'_>) -> &mut [f64] {
        if let ValuesMut::F64(values) = values { values } else { &mut [] }
    }
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

    /// Registers for one thread, with the constants and the values of [`RowCode::series`] in place.
    pub fn registers(&self, series: &[f64]) -> Registers {
        let mut registers = Registers {
            f32: vec![vec![0.0; LANES]; self.registers_f32],
            f64: vec![vec![0.0; LANES]; self.registers_f64],
            masks: vec![vec![false; LANES]; self.masks],
        };
        let series = self.series_registers.iter().zip(series);
        let series = series.map(|(&(element, register), &value)| (element, register, value));
        for (element, register, value) in self.constants.iter().copied().chain(series) {
            match element {
                ElementType::F32 => registers.f32[register].fill(value as f32),
                ElementType::F64 => registers.f64[register].fill(value),
            }
        }
        registers
    }

    /// Whether the values depend on the coordinates of points.
    pub fn asks_for_places(&self) -> bool {
        !self.congruences.is_empty()
    }

    /// Evaluates the statement at `to.len()` points of one row, from a place on, and stores the values in `to`.
    pub fn run<T: RowElement>(
        &self,
        registers: &mut Registers,
        sources: &Sources,
        first: Place<'_>,
        to: &mut [T],
    ) {
        for (piece, to) in to.chunks_mut(LANES).enumerate() {
            let before = piece * LANES;
            let window = Window { sources, start: first.element + before, length: to.len() };
            for instruction in &self.instructions {
                match *instruction {
                    Instruction::Congruent { own, to } => {
                        let column = first.column + before as i64;
                        let mask = &mut registers.masks[to][..window.length];
                        along(&self.congruences[own], Place { column, ..first }, mask);
                    }
                    _ => window.execute(registers, instruction),
                }
            }
            to.copy_from_slice(window.operand(registers, self.result));
        }
    }
}

/// Whether a congruence holds at points of a row, from the first one on.
fn along(own: &Congruence, first: Place<'_>, mask: &mut [bool]) {
    let point: Vec<i64> = first.row.iter().copied().chain([first.column]).collect();
    let mut remainder = own.remainder(first.step, &point);
    let factor = own.space.last().copied().unwrap_or(0);
    for mask in mask {
        *mask = remainder == own.residue;
        remainder = (remainder + factor) % own.modulus;
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

/// Up to [`LANES`] consecutive points of a row.
struct Window<'a> {
    sources: &'a Sources<'a>,
    start: usize,
    length: usize,
}

impl Window<'_> {
    fn operand<'r, T: RowElement>(&'r self, registers: &'r Registers, operand: Operand) -> &'r [T] {
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

    fn execute(&self, registers: &mut Registers, instruction: &Instruction) {
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
