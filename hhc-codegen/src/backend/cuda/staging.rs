//! Everything that is decided about tiles in shared memory before their text is printed.

use super::limits::DeviceLimits;
use crate::PlanError;
use crate::geometry::{LocalKernel, NoWindow, Threads, TileTraffic, first_planes};
use crate::geometry::{blocks_at_once, operand_registers, window};
use crate::plan::{Kernel, KernelPlan};
use crate::window::Window;
use polyhedral::program::ExprKind;

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
    /// Whether the loop over rows of a full tile is unrolled.
    pub(super) unrolled: bool,
    /// Neighbours that a thread computes at once, per row of a group.
    pub(super) points: Vec<i64>,
    /// Blocks that shall fit in the registers of a multiprocessor.
    pub(super) blocks_at_once: i64,
}

/// Operations per thread up to which all rows of a full tile are unrolled: their bounds become constants, and the
/// code still fits in the instruction cache.
const MOST_UNROLLED_OPERATIONS: i64 = 2000;

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
        let operations: i64 = (local.rows.iter())
            .map(|row| {
                let statement = &program.statements[row.statement];
                let locals = statement.locals.iter().map(|local| &local.value);
                let mut size = 0;
                for value in locals.chain([&statement.value]) {
                    value.walk(|expr| size += i64::from(!matches!(expr.kind, ExprKind::Literal(_))));
                }
                let points: i64 = (row.boxes.iter())
                    .map(|bounds| (bounds[0].1 - bounds[0].0) / threads.per_dimension[0] + 1)
                    .sum();
                points * size
            })
            .sum();
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
            unrolled: operations <= MOST_UNROLLED_OPERATIONS && dimension > 1,
            blocks_at_once,
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
