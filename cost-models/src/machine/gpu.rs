//! Published facts of a GPU.

use super::section::Section;
use serde::Serialize;

/// What is published about a GPU. One multiprocessor is an SM, one vector unit a lane of single precision.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GpuFacts {
    /// Compute capability, times ten: 52 for 5.2.
    pub compute_capability: i64,
    /// `n_SM`: streaming multiprocessors.
    pub n_sm: i64,
    /// `n_V`: vector units (single-precision lanes) of a multiprocessor.
    pub n_v: i64,
    /// Double-precision lanes of a multiprocessor.
    pub n_v_f64: i64,
    /// Special-function units of a multiprocessor.
    pub n_special: i64,
    /// Clock in Hz: the sustained (boost) clock that peak figures are given for.
    pub clock_hz: f64,
    /// Bandwidth of memory in bytes per second.
    pub bandwidth_bytes_per_s: f64,
    /// `M_SM`: shared memory of a multiprocessor in KiB, the most that can be configured.
    pub m_sm_kb: f64,
    /// Shared memory in KiB that one block may have.
    pub shared_per_block_kb: f64,
    /// Shared memory in KiB that the system keeps for itself, per block.
    pub shared_reserved_kb: f64,
    /// Words (32 bits) that shared memory delivers per cycle and multiprocessor.
    pub shared_words_per_cycle: i64,
    /// `R_VU`: registers per vector unit in KiB.
    pub r_vu_kb: f64,
    /// Registers (32 bits) that one thread may have.
    pub registers_per_thread: i64,
    /// Threads of a block.
    pub threads_per_block: i64,
    /// Threads of a multiprocessor.
    pub threads_per_sm: i64,
    /// Blocks of a multiprocessor.
    pub blocks_per_sm: i64,
    /// Threads of a warp.
    pub warp: i64,
    /// First-level cache in KiB, per multiprocessor; 0 where shared memory is counted in its place.
    pub l1_kb: f64,
    /// Second-level cache in KiB.
    pub l2_kb: f64,
    /// Area of the die in mm2.
    pub area_mm2: f64,
    /// Thermal design power in watts.
    pub tdp_w: f64,
}

impl GpuFacts {
    pub(super) fn read(section: &mut Section<'_, '_>) -> GpuFacts {
        let facts = GpuFacts {
            compute_capability: section.integer("compute_capability", "ten times it, as in 52", 10..=999),
            n_sm: section.integer("n_sm", "multiprocessors", 1..=4096),
            n_v: section.integer("n_v", "lanes per multiprocessor", 1..=65_536),
            n_v_f64: section.integer("n_v_f64", "double-precision lanes per multiprocessor", 1..=65_536),
            n_special: section.integer("n_special", "special-function units per multiprocessor", 1..=65_536),
            clock_hz: section.number("clock_hz", "Hz", 1e6..=1e11),
            bandwidth_bytes_per_s: section.number("bandwidth_bytes_per_s", "bytes per second", 1e8..=1e15),
            m_sm_kb: section.number("m_sm_kb", "KiB per multiprocessor", 1.0..=65_536.0),
            shared_per_block_kb: section.number("shared_per_block_kb", "KiB per block", 1.0..=65_536.0),
            shared_reserved_kb: section.number("shared_reserved_kb", "KiB per block", 0.0..=1024.0),
            shared_words_per_cycle: section.integer("shared_words_per_cycle", "words of 32 bits", 1..=65_536),
            r_vu_kb: section.number("r_vu_kb", "KiB per vector unit", 0.1..=1024.0),
            registers_per_thread: section.integer(
                "registers_per_thread",
                "registers of 32 bits",
                16..=65_536,
            ),
            threads_per_block: section.integer("threads_per_block", "threads", 32..=65_536),
            threads_per_sm: section.integer("threads_per_sm", "threads", 32..=1_048_576),
            blocks_per_sm: section.integer("blocks_per_sm", "blocks", 1..=65_536),
            warp: section.integer("warp", "threads", 1..=1024),
            l1_kb: section.number("l1_kb", "KiB per multiprocessor", 0.0..=1e6),
            l2_kb: section.number("l2_kb", "KiB", 0.0..=1e9),
            area_mm2: section.number("area_mm2", "mm2", 1.0..=1e5),
            tdp_w: section.number("tdp_w", "W", 1.0..=1e5),
        };
        if facts.shared_per_block_kb + facts.shared_reserved_kb > facts.m_sm_kb {
            section.problem(
                "shared_per_block_kb",
                format!(
                    "a block cannot have more than the {} KiB of m_sm_kb, less shared_reserved_kb",
                    facts.m_sm_kb
                ),
            );
        }
        if facts.threads_per_block > facts.threads_per_sm {
            section.problem("threads_per_block", "a block cannot have more threads than threads_per_sm");
        }
        facts
    }

    /// Registers (32 bits) of a multiprocessor: `n_V * R_VU / 4 bytes`.
    pub fn registers_per_sm(&self) -> i64 {
        (self.n_v as f64 * self.r_vu_kb * 1024.0 / 4.0).round() as i64
    }
}
