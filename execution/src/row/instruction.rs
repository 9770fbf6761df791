//! What a statement is compiled to: operations on vector registers.

use polyhedral::program::{BinaryOp, CompareOp, Function};

/// Where an instruction finds a value of its own type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operand {
    /// A register that holds a constant or a local, never written again.
    Kept(usize),
    /// A register that is free after its one use.
    Temporary(usize),
    /// Entry of [`RowCode::reads`].
    Read(usize),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Operation {
    Negate { a: Operand, to: usize },
    Binary { op: BinaryOp, a: Operand, b: Operand, to: usize },
    Call { function: Function, a: Operand, to: usize },
    Select { mask: usize, a: Operand, b: Operand, to: usize },
    Compare { op: CompareOp, a: Operand, b: Operand, to_mask: usize },
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Instruction {
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
