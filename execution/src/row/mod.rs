//! Evaluation of one statement over a piece of a row of the grid.
//!
//! The statement's expressions become a list of instructions on vector registers of [`LANES`] points. The
//! loop over points is inside each instruction, where the compiler vectorises it; its operations are those
//! of the tree, one for one, in the type of each node. Both sides of a select are evaluated and one is
//! chosen, which gives the same values because nothing has a side effect.

mod builder;
mod instruction;
mod registers;
mod window;

pub use builder::RowCode;
pub use registers::{LANES, Registers, RowElement, Sources};

use instruction::Instruction;
use polyhedral::program::{Congruence, ElementType};
use window::Window;

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

impl RowCode {
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
