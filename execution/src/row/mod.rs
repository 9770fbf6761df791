//! Evaluation of one statement over a piece of a row of the grid.
//!
//! The statement's expressions become a list of instructions on vector registers of [`LANES`] points. The
//! loop over points is inside each instruction, where the compiler vectorises it; its operations are those
//! of the tree, one for one, in the type of each node. Both sides of a select are evaluated and one is
//! chosen, which gives the same values because nothing has a side effect.

mod builder;
mod window;

use crate::element::Element;
use crate::grid::{ValuesMut, ValuesRef};
use builder::Builder;
use polyhedral::program::{
    Access, BinaryOp, CompareOp, Congruence, ElementType, Function, Program, SeriesId, Statement,
};
use window::Window;

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
