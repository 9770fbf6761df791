//! Everything that is decided about tiles in shared memory before their text is printed.

use super::limits::DeviceLimits;
use crate::PlanError;
use crate::geometry::{ADDRESS_REGISTERS, blocks_at_once, operand_registers, register_bound, window};
use crate::geometry::{LocalKernel, LocalRow, NoWindow, Threads, TileTraffic, first_planes};
use crate::plan::{Kernel, KernelPlan};
use crate::window::Window;
use polyhedral::program::{BinaryOp, ExprKind, Statement};
use std::collections::BTreeSet;

/// Everything that was decided about the tiles of a kernel.
pub(super) struct Staging<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) local: LocalKernel,
    pub(super) window: &'a Window,
    pub(super) threads: Threads,
    pub(super) shared_bytes: i64,
    /// Per field: position of its planes in shared memory, in bytes.
    pub(super) offsets: Vec<i64>,
    /// Variables of the kernel that the tile functions need.
    pub(super) placed_by: Vec<&'static str>,
    /// Whether each row of a full tile has code of its own, one for each part.
    pub(super) explicit_rows: bool,
    /// Whether that code does for all sub-tiles.
    pub(super) rows_of_all: bool,
    /// Whether there it is twice, once for full sub-tiles and once for the others.
    pub(super) rows_twice: bool,
    /// Whether the loop over rows of a full tile is unrolled, where they have not.
    pub(super) unrolled: bool,
    /// Neighbours that a thread computes at once, per row of a group.
    pub(super) points: Vec<i64>,
    /// Registers of a thread for what is loaded ahead, beside those that computing needs.
    pub(super) free_registers: i64,
    /// Blocks that shall fit in the registers of a multiprocessor.
    pub(super) blocks_at_once: i64,
}

/// Registers of a multiprocessor, and of a thread at most, on every device since sm_70.
const REGISTERS: i64 = 65536;
const MOST_REGISTERS: i64 = 255;

/// Operand registers that rows with code of their own may have: the compiler moves loads from row to row, and with more it
/// has to spill.
const MOST_OPERANDS_OF_EXPLICIT_ROWS: usize = 96;

/// Registers for the bounds of rows that are no constants.
const BOUND_REGISTERS: i64 = 8;

/// Instructions of all rows of a full tile, with code of their own for each part, that fit in the instruction cache of a
/// multiprocessor (128 KiB since sm_70, 16 bytes each) beside loads and the rows of other tiles.
const MOST_INSTRUCTIONS: i64 = 6000;

/// Instructions of a thread up to which the loop over rows is unrolled: much of what the compiler unrolls goes away only
/// later, and it gives up where that is too much.
const MOST_UNROLLED: i64 = 1500;

/// Instructions of one point of a column, about: arithmetic, one load for each column that is read, a store, and some of
/// a store to memory.
fn instructions_of_a_point(statement: &Statement) -> i64 {
    let mut arithmetic = 0;
    let locals = statement.locals.iter().map(|local| &local.value);
    for value in locals.chain([&statement.value]) {
        value.walk(|expr| {
            arithmetic += match expr.kind {
                ExprKind::Literal(_) | ExprKind::Parameter(_) | ExprKind::Local(_) => 0,
                ExprKind::Read(_) | ExprKind::Series(..) => 0,
                ExprKind::Binary(BinaryOp::Div, ..) => 10,
                ExprKind::Call(..) => 20,
                _ => 1,
            }
        });
    }
    let columns: BTreeSet<_> =
        statement.reads.iter().map(|read| (read.field, read.time, &read.offset[1..])).collect();
    arithmetic + columns.len() as i64 + 2
}

impl<'a> Staging<'a> {
    pub(super) fn new(plan: &'a KernelPlan, index: usize, limits: &DeviceLimits) -> Result<Self, PlanError> {
        let (program, kernel) = (&plan.program, &plan.kernels[index]);
        let window = window(plan, index, limits.shared_bytes_per_block).map_err(|none| match none {
            NoWindow::Plan(error) => error,
            NoWindow::TooLarge { bytes, extent } => PlanError::Limit {
                what: format!("a tile of `{}` with {}", program.name, plan.tile),
                needed: bytes,
                limit: limits.shared_bytes_per_block,
                unit: format!("bytes of shared memory per thread block on {}", limits.device),
                hint: format!(
                    "reduce {}; the window has {} cells for each of {} stored levels and coefficients",
                    plan.tile.iter().map(|(name, _)| name).collect::<Vec<_>>().join(", "),
                    extent.iter().map(i64::to_string).collect::<Vec<_>>().join(" x "),
                    first_planes(program)[program.fields.len()],
                ),
            },
        })?;
        let local = LocalKernel::new(plan, kernel)?;
        let (offsets, shared_bytes) = window.layout(program);

        let dimension = program.dimension();
        let threads = local.threads(limits.threads_per_block);
        let points = local.points_at_once(program, &threads);
        let operands = (local.rows.iter().zip(&points))
            .map(|(row, &points)| operand_registers(program, row.statement, points))
            .max();
        let blocks_at_once =
            blocks_at_once(dimension, threads.count(), local.rows.len(), operands.unwrap_or(0));
        let instructions = |points: &dyn Fn(&LocalRow) -> i64| -> i64 {
            let full = local.rows.iter().filter(|row| row.in_full_tiles);
            full.map(|row| points(row) * instructions_of_a_point(&program.statements[row.statement])).sum()
        };
        // The compiler has so many registers for a thread.
        let most = register_bound(threads.count() * blocks_at_once, REGISTERS, MOST_REGISTERS);
        let columns = instructions(&|row| row.boxes.iter().map(|bounds| bounds[0].1 - bounds[0].0 + 1).sum());
        let shares = instructions(&|row| {
            let widths = row.boxes.iter().map(|bounds| bounds[0].1 - bounds[0].0);
            widths.map(|width| width / threads.per_dimension[0] + 1).sum()
        });
        let explicit_rows = columns <= MOST_INSTRUCTIONS
            && dimension > 1
            && operands.unwrap_or(0) <= MOST_OPERANDS_OF_EXPLICIT_ROWS;
        let rows_of_all = explicit_rows && local.rows.iter().all(|row| row.in_full_tiles);
        // In three dimensions rows are short, and what they ask costs more.
        let rows_twice = rows_of_all && dimension == 3 && 2 * columns <= MOST_INSTRUCTIONS;
        let bounds = if explicit_rows { 0 } else { BOUND_REGISTERS };
        let free_registers = most - ADDRESS_REGISTERS - bounds - operands.unwrap_or(0) as i64;
        let moving = kernel.blocks.iter().map(|block| block.variable);
        let moving: Vec<&'static str> =
            moving.chain(kernel.bindings.iter().map(|binding| binding.name)).collect();
        let uses = |name: &str| {
            let loops = kernel.sub_tiles.iter().flat_map(|l| [&l.low, &l.high]);
            let mut all =
                local.corner.iter().chain([&local.first_step]).chain(&kernel.full_when).chain(loops);
            all.any(|expr| expr.mentions(name))
        };
        Ok(Staging {
            placed_by: moving.into_iter().filter(|name| uses(name)).collect(),
            explicit_rows,
            rows_of_all,
            rows_twice,
            unrolled: shares <= MOST_UNROLLED && dimension > 1,
            blocks_at_once,
            free_registers,
            kernel,
            local,
            window,
            threads,
            shared_bytes,
            offsets,
            points,
        })
    }

    /// What a full sub-tile moves.
    pub(super) fn traffic(&self, plan: &KernelPlan) -> TileTraffic {
        TileTraffic::new(&plan.program, self.kernel, &self.local, self.window)
    }
}
