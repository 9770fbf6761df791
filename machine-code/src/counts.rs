//! What was issued.

use crate::instruction::{Instruction, Kind, Op, Precision, Space};
use crate::listing::Code;
use std::collections::BTreeMap;

/// What happened at one instruction, in warps and in lanes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Issued {
    /// How often a warp issued it, predicated off or not.
    pub warps: u64,
    /// Lanes that executed it.
    pub lanes: u64,
    /// For shared memory: cycles that the banks need.
    pub wavefronts: u64,
    /// For shared memory: cycles that they would need without conflicts.
    pub least_wavefronts: u64,
    /// For global memory: sectors of 32 bytes that the warps asked for.
    pub sectors: u64,
}

impl Issued {
    fn add(&mut self, other: &Issued) {
        self.warps += other.warps;
        self.lanes += other.lanes;
        self.wavefronts += other.wavefronts;
        self.least_wavefronts += other.least_wavefronts;
        self.sectors += other.sectors;
    }
}

/// What some warps issued.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// By instruction of the code.
    pub issued: Vec<Issued>,
    /// Warps that ran.
    pub warps: u64,
    /// Branches whose way depends on floating-point values: the way of ordinary numbers was taken.
    pub branches_on_values: u64,
    /// Sectors of 32 bytes that were read, ascending, each once.
    pub sectors_read: Vec<u64>,
    /// Sectors of 32 bytes that were written, ascending, each once.
    pub sectors_written: Vec<u64>,
}

/// Sums over kinds of instructions. All numbers are of warps except where something else is said.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    /// Instructions issued, by [`Kind`] in the order of [`Kind::ALL`].
    pub kinds: [f64; Kind::ALL.len()],
    /// Instructions that lanes executed, those predicated off not counted.
    pub lanes: f64,
    /// Operations on floating-point numbers that lanes executed; a fused product and sum is two.
    pub operations: f64,
    /// Bytes that lanes moved from and to shared memory.
    pub shared_bytes: f64,
    /// Cycles of the banks.
    pub wavefronts: f64,
    /// Cycles of the banks without conflicts.
    pub least_wavefronts: f64,
    /// Bytes that lanes read from global memory.
    pub read_bytes: f64,
    /// Bytes that lanes wrote to global memory.
    pub written_bytes: f64,
    /// Sectors that warps asked for.
    pub sectors: f64,
    /// Bytes of spilled registers and local arrays that lanes moved.
    pub local_bytes: f64,
    /// Branches whose way depends on values.
    pub branches_on_values: f64,
    /// Divisions and remainders of integers in loops: instructions that only they are made of ([`Instruction::divides`]) and that
    /// warps issued more than once each.
    pub divisions: f64,
}

impl Counts {
    /// Nothing yet.
    pub fn new(code: &Code) -> Counts {
        Counts { issued: vec![Issued::default(); code.instructions.len()], ..Counts::default() }
    }

    /// Adds what others issued.
    pub fn add(&mut self, other: &Counts) {
        for (own, other) in self.issued.iter_mut().zip(&other.issued) {
            own.add(other);
        }
        self.warps += other.warps;
        self.branches_on_values += other.branches_on_values;
        self.sectors_read.extend(&other.sectors_read);
        self.sectors_written.extend(&other.sectors_written);
        self.tidy();
    }

    /// Every sector once.
    pub(crate) fn tidy(&mut self) {
        for sectors in [&mut self.sectors_read, &mut self.sectors_written] {
            sectors.sort_unstable();
            sectors.dedup();
        }
    }

    /// The sums.
    pub fn totals(&self, code: &Code) -> Totals {
        let mut totals = Totals { branches_on_values: self.branches_on_values as f64, ..Totals::default() };
        for (instruction, issued) in code.instructions.iter().zip(&self.issued) {
            let kind = instruction.kind;
            totals.kinds[kind as usize] += issued.warps as f64;
            if instruction.divides() && issued.warps > self.warps {
                totals.divisions += issued.warps as f64;
            }
            let lanes = issued.lanes as f64;
            totals.lanes += lanes;
            totals.operations += lanes * f64::from(operations(instruction));
            totals.wavefronts += issued.wavefronts as f64;
            totals.least_wavefronts += issued.least_wavefronts as f64;
            totals.sectors += issued.sectors as f64;
            let bytes = lanes * f64::from(bytes(instruction));
            match kind {
                Kind::SharedLoad | Kind::SharedStore => totals.shared_bytes += bytes,
                Kind::GlobalLoad => totals.read_bytes += bytes,
                Kind::GlobalStore => totals.written_bytes += bytes,
                Kind::Copy => {
                    totals.read_bytes += bytes;
                    totals.shared_bytes += bytes;
                }
                Kind::Atomic if matches!(instruction.op, Op::Atomic { space: Space::Shared, .. }) => {
                    totals.shared_bytes += bytes;
                }
                Kind::Atomic => {
                    totals.read_bytes += bytes;
                    totals.written_bytes += bytes;
                }
                Kind::Local => totals.local_bytes += bytes,
                _ => {}
            }
        }
        totals
    }

    /// Instructions of warps by opcode, with its modifiers.
    pub fn by_opcode<'a>(&self, code: &'a Code) -> BTreeMap<&'a str, u64> {
        let mut opcodes = BTreeMap::new();
        for (instruction, issued) in code.instructions.iter().zip(&self.issued) {
            let opcode = instruction.text.split_whitespace().next().unwrap_or_default();
            *opcodes.entry(opcode).or_default() += issued.warps;
        }
        opcodes
    }
}

impl Totals {
    /// All instructions.
    pub fn instructions(&self) -> f64 {
        self.kinds.iter().sum()
    }

    /// Instructions of one kind.
    pub fn of(&self, kind: Kind) -> f64 {
        self.kinds[kind as usize]
    }

    /// Adds another one, so many times.
    pub fn add(&mut self, other: &Totals, times: f64) {
        for (own, other) in self.kinds.iter_mut().zip(&other.kinds) {
            *own += other * times;
        }
        let pairs = [
            (&mut self.lanes, other.lanes),
            (&mut self.operations, other.operations),
            (&mut self.shared_bytes, other.shared_bytes),
            (&mut self.wavefronts, other.wavefronts),
            (&mut self.least_wavefronts, other.least_wavefronts),
            (&mut self.read_bytes, other.read_bytes),
            (&mut self.written_bytes, other.written_bytes),
            (&mut self.sectors, other.sectors),
            (&mut self.local_bytes, other.local_bytes),
            (&mut self.branches_on_values, other.branches_on_values),
            (&mut self.divisions, other.divisions),
        ];
        for (own, other) in pairs {
            *own += other * times;
        }
    }
}

/// Floating-point operations of a lane.
fn operations(instruction: &Instruction) -> u8 {
    match instruction.op {
        Op::Arithmetic { operations, precision: Precision::Single | Precision::Double } => operations,
        _ => 0,
    }
}

/// Bytes that a lane moves.
fn bytes(instruction: &Instruction) -> u8 {
    match instruction.op {
        Op::Load { bytes, .. }
        | Op::Store { bytes, .. }
        | Op::CopyAsync { bytes }
        | Op::Atomic { bytes, .. } => bytes,
        _ => 0,
    }
}
