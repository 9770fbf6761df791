//! Kernels that copy the fixed boundary of a field to all of its stored levels.

use super::kernel::CudaKernel;
use crate::int_expr::{int, var};
use crate::plan::{Loop, SIZE_NAMES};
use polyhedral::program::{Boundary, FieldRole, Program};

/// Threads of a block that copies boundaries: one block per line of the grid.
pub(super) const BOUNDARY_THREADS: u32 = 128;

const BOUNDARY_BLOCKS: [&str; 2] = ["b0", "b1"];

pub(super) fn boundary_kernels(program: &Program) -> Vec<CudaKernel> {
    let stored_more_than_once =
        program.fields.iter().filter(|field| matches!(field.role, FieldRole::State { slots: 2.., .. }));
    stored_more_than_once
        .filter(|_| program.boundary == Boundary::Fixed)
        .map(|field| CudaKernel {
            name: format!("boundary_{}", field.name),
            symbol: format!("{}_boundary_{}", program.name, field.name),
            threads: [BOUNDARY_THREADS, 1, 1],
            shared_bytes: 0,
            blocks: (0..program.dimension() - 1)
                .map(|d| Loop { variable: BOUNDARY_BLOCKS[d], low: int(0), high: var(SIZE_NAMES[d]) - 1 })
                .collect(),
            traffic: None,
        })
        .collect()
}
