//! The host's side: the C entry point, and the standalone main.

use super::super::names::Names;
use super::super::plain_loops::{PlainLoops, plain_loops};
use super::boundary::BOUNDARY_THREADS;
use super::kernel::CudaKernel;
use crate::int_expr::IntExpr;
use crate::plan::KernelPlan;
use serde::Serialize;

/// Data of the host code.
#[derive(Serialize)]
pub(super) struct HostText {
    boundary: Vec<LaunchText>,
    boundary_threads: u32,
    opt_in: Vec<OptInText>,
    outer_variable: &'static str,
    outer_low: String,
    outer_high: String,
    launches: Vec<LaunchText>,
    reference: Vec<PlainLoops>,
    /// Grid of the standalone main's check: odd, and larger than a tile.
    check_sizes: &'static [i64],
    /// Grid that the standalone main times where none is given.
    default_sizes: &'static [i64],
}

/// A kernel that needs more shared memory than a block has without asking.
#[derive(Serialize)]
struct OptInText {
    symbol: String,
    bytes: u32,
}

#[derive(Serialize)]
struct LaunchText {
    comment: String,
    when: Option<String>,
    symbol: String,
    threads: String,
    shared_bytes: u32,
    /// Number of blocks, `x` first.
    grid: String,
    /// Slowest first.
    blocks: Vec<BlockLoopText>,
    /// Value of the host variable.
    host_value: &'static str,
}

#[derive(Serialize)]
struct BlockLoopText {
    variable: &'static str,
    low: String,
    high: String,
    axis: char,
    /// Number of blocks along this axis that one launch can have.
    most: i64,
}

/// Shared memory that a block has without asking.
const SHARED_BYTES_WITHOUT_ASKING: u32 = 48 << 10;

impl HostText {
    pub(super) fn new(
        plan: &KernelPlan,
        names: &Names,
        kernels: &[CudaKernel],
        boundary: &[CudaKernel],
    ) -> Self {
        let program = &plan.program;
        let launches = plan.launches.iter().map(|l| {
            let kernel = &kernels[l.kernel];
            let comment = plan.kernels[l.kernel].comment.clone();
            launch(kernel, comment, l.when.as_ref(), plan.outer.variable)
        });
        let copies = boundary
            .iter()
            .map(|kernel| launch(kernel, "the fixed boundary, at every stored level".to_string(), None, "0"));
        HostText {
            boundary: copies.collect(),
            boundary_threads: BOUNDARY_THREADS,
            opt_in: (kernels.iter().filter(|kernel| kernel.shared_bytes > SHARED_BYTES_WITHOUT_ASKING))
                .map(|kernel| OptInText { symbol: kernel.symbol.clone(), bytes: kernel.shared_bytes })
                .collect(),
            outer_variable: plan.outer.variable,
            outer_low: plan.outer.low.to_c(),
            outer_high: plan.outer.high.to_c(),
            launches: launches.collect(),
            reference: plain_loops(program, names),
            check_sizes: [&[10_013], &[261, 377][..], &[61, 47, 83]][program.dimension() - 1],
            default_sizes: [&[1 << 26], &[8192, 8192][..], &[512, 512, 512]][program.dimension() - 1],
        }
    }
}

fn launch(
    kernel: &CudaKernel,
    comment: String,
    when: Option<&IntExpr>,
    host_value: &'static str,
) -> LaunchText {
    LaunchText {
        comment,
        when: when.map(IntExpr::to_c),
        symbol: kernel.symbol.clone(),
        threads: kernel.threads.map(|count| count.to_string()).join(", "),
        shared_bytes: kernel.shared_bytes,
        grid: match kernel.blocks.len() {
            0 => "1",
            1 => "blocks_x",
            2 => "blocks_x, blocks_y",
            _ => "blocks_x, blocks_y, blocks_z",
        }
        .to_string(),
        blocks: (kernel
            .blocks
            .iter()
            .rev()
            .zip([('x', i64::from(i32::MAX)), ('y', 65_535), ('z', 65_535)])
            .rev())
        .map(|(block, (axis, most))| BlockLoopText {
            variable: block.variable,
            low: block.low.to_c(),
            high: block.high.to_c(),
            axis,
            most,
        })
        .collect(),
        host_value,
    }
}
