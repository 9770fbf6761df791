//! What a tile needs of a multiprocessor, and what there is: the feasible space (paper, section 3.3).
//!
//! ```text
//! M_tile <= shared memory of a block          k * (M_tile + reserved) <= M_SM
//! threads <= threads of a block               k * threads <= threads of an SM
//! k <= blocks of an SM                        k * threads * registers <= registers of an SM
//! ```

use crate::hardware::Hardware;
use hhc_codegen::counts::TileCounts;
use serde::Serialize;

/// One limit, and how much of it is used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Constraint {
    /// Name: `shared_per_block`, `shared_per_sm`, `threads_per_block`, `threads_per_sm`, `blocks_per_sm`, `registers_per_sm`;
    /// on a CPU `window_in_near_cache`, `window_in_last_cache`.
    pub name: &'static str,
    /// Unit of the numbers.
    pub unit: &'static str,
    /// What `k` tiles need.
    pub needed: i64,
    /// What there is.
    pub limit: i64,
    /// `limit - needed`; negative where the constraint is violated.
    pub slack: i64,
    /// Whether one more tile on the multiprocessor, or a tile with one unit more, would not fit: less than one
    /// tile's share is left.
    pub active: bool,
    /// Whether it holds.
    pub satisfied: bool,
    /// Whether a tile that violates it cannot be executed; where not, it only takes longer.
    pub hard: bool,
}

/// Whether `k` tiles fit a multiprocessor.
#[inline]
pub fn fits(counts: &TileCounts, k: i64, hardware: &Hardware) -> bool {
    counts.tile_bytes <= hardware.shared_per_block_bytes
        && (counts.tile_bytes == 0
            || k * (counts.tile_bytes + hardware.shared_reserved_bytes) <= hardware.m_sm_bytes)
        && counts.threads <= hardware.threads_per_block
        && k * counts.threads <= hardware.threads_per_sm
        && k <= hardware.blocks_per_sm
        && k * counts.threads * counts.registers <= hardware.registers_per_sm
}

/// All constraints of `k` tiles on a multiprocessor.
pub fn constraints(counts: &TileCounts, k: i64, hardware: &Hardware) -> Vec<Constraint> {
    let per_tile = counts.tile_bytes + if counts.tile_bytes > 0 { hardware.shared_reserved_bytes } else { 0 };
    let constraint = |name, unit, needed: i64, limit: i64, one_more: i64| Constraint {
        name,
        unit,
        needed,
        limit,
        slack: limit - needed,
        active: one_more > 0 && limit - needed < one_more,
        satisfied: needed <= limit,
        hard: true,
    };
    vec![
        constraint("shared_per_block", "bytes", counts.tile_bytes, hardware.shared_per_block_bytes, 0),
        constraint("shared_per_sm", "bytes", k * per_tile, hardware.m_sm_bytes, per_tile),
        constraint("threads_per_block", "threads", counts.threads, hardware.threads_per_block, 0),
        constraint("threads_per_sm", "threads", k * counts.threads, hardware.threads_per_sm, counts.threads),
        constraint("blocks_per_sm", "blocks", k, hardware.blocks_per_sm, 1),
        constraint(
            "registers_per_sm",
            "registers",
            k * counts.threads * counts.registers,
            hardware.registers_per_sm,
            counts.threads * counts.registers,
        ),
    ]
}
