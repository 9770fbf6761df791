//! Published facts of a GPU.

use super::section::Section;
use crate::multiprocessor::REACHED;
use serde::Serialize;
use std::ops::RangeInclusive;

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
    /// What copies reach of the bandwidth of memory, in bytes per second; `None` where nobody says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copied_bytes_per_s: Option<f64>,
    /// Bandwidth of the second-level cache in bytes per second, all multiprocessors together; `None` where nobody says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2_bandwidth_bytes_per_s: Option<f64>,
    /// Area of the die in mm2; `None` where it is not published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area_mm2: Option<f64>,
    /// Thermal design power in watts; `None` where it is not published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tdp_w: Option<f64>,
    /// Facts that nobody stated: they are what GPUs usually have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
}

/// Bytes of registers of a multiprocessor since Maxwell, in KiB.
const REGISTERS_KB: f64 = 256.0;

/// Facts that may be left out: what is not there is as usual, and noted.
struct Usual<'s, 'a, 'p> {
    section: &'s mut Section<'a, 'p>,
    assumed: Vec<String>,
}

impl Usual<'_, '_, '_> {
    fn whole(&mut self, key: &str, unit: &str, limits: RangeInclusive<i64>, usual: i64) -> i64 {
        self.note(key);
        self.section.optional_integer(key, unit, limits).unwrap_or(usual)
    }

    fn number(&mut self, key: &str, unit: &str, limits: RangeInclusive<f64>, usual: f64) -> f64 {
        self.note(key);
        self.section.optional_number(key, unit, limits).unwrap_or(usual)
    }

    fn note(&mut self, key: &str) {
        if !self.section.has(key) {
            self.assumed.push(key.to_owned());
        }
    }
}

impl GpuFacts {
    pub(super) fn read(section: &mut Section<'_, '_>) -> GpuFacts {
        let stated = section.texts("assumed").unwrap_or_default();
        // What no data sheet leaves out.
        let n_sm = section.integer("n_sm", "multiprocessors", 1..=4096);
        let n_v = section.integer("n_v", "lanes per multiprocessor", 1..=65_536);
        let clock_hz = section.number("clock_hz", "Hz", 1e6..=1e11);
        let bandwidth_bytes_per_s = section.number("bandwidth_bytes_per_s", "bytes per second", 1e8..=1e15);
        let m_sm_kb = section.number("m_sm_kb", "KiB per multiprocessor", 1.0..=65_536.0);
        let area_mm2 = section.optional_number("area_mm2", "mm2", 1.0..=1e5);
        let tdp_w = section.optional_number("tdp_w", "W", 1.0..=1e5);
        let l2_bandwidth_bytes_per_s =
            section.optional_number("l2_bandwidth_bytes_per_s", "bytes per second", 1e8..=1e16);
        let copied_bytes_per_s =
            section.optional_number("copied_bytes_per_s", "bytes per second", 1e8..=1e15);
        let mut usual = Usual { section, assumed: stated };
        let registers_kb = REGISTERS_KB / n_v.max(1) as f64;
        let shared_reserved_kb = usual.number("shared_reserved_kb", "KiB per block", 0.0..=1024.0, 0.0);
        let facts = GpuFacts {
            compute_capability: usual.whole("compute_capability", "ten times it, as in 52", 10..=999, 70),
            n_sm,
            n_v,
            n_v_f64: usual.whole(
                "n_v_f64",
                "double-precision lanes per multiprocessor",
                1..=65_536,
                (n_v / 2).max(1),
            ),
            n_special: usual.whole(
                "n_special",
                "special-function units per multiprocessor",
                1..=65_536,
                (n_v / 8).max(1),
            ),
            clock_hz,
            bandwidth_bytes_per_s,
            m_sm_kb,
            shared_per_block_kb: usual.number(
                "shared_per_block_kb",
                "KiB per block",
                1.0..=65_536.0,
                m_sm_kb - shared_reserved_kb,
            ),
            shared_reserved_kb,
            shared_words_per_cycle: usual.whole("shared_words_per_cycle", "words of 32 bits", 1..=65_536, 32),
            r_vu_kb: usual.number("r_vu_kb", "KiB per vector unit", 0.1..=1024.0, registers_kb.max(0.1)),
            registers_per_thread: usual.whole(
                "registers_per_thread",
                "registers of 32 bits",
                16..=65_536,
                255,
            ),
            threads_per_block: usual.whole("threads_per_block", "threads", 32..=65_536, 1024),
            threads_per_sm: usual.whole("threads_per_sm", "threads", 32..=1_048_576, 2048),
            blocks_per_sm: usual.whole("blocks_per_sm", "blocks", 1..=65_536, 32),
            warp: usual.whole("warp", "threads", 1..=1024, 32),
            l1_kb: usual.number("l1_kb", "KiB per multiprocessor", 0.0..=1e6, 0.0),
            l2_kb: usual.number("l2_kb", "KiB", 0.0..=1e9, 0.0),
            copied_bytes_per_s,
            l2_bandwidth_bytes_per_s,
            area_mm2,
            tdp_w,
            assumed: usual.assumed,
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

    /// `L`: seconds per word of 4 bytes that is in memory, for one multiprocessor when all of them move words.
    pub fn l_s_per_word(&self) -> f64 {
        4.0 * self.n_sm as f64 / self.bandwidth_bytes_per_s
    }

    /// The part of the published bandwidth that copies reach.
    pub fn reached(&self) -> f64 {
        self.copied_bytes_per_s.map_or(REACHED, |copied| copied / self.bandwidth_bytes_per_s)
    }

    /// The same for a word that is in the second-level cache. Where nobody states its bandwidth, it is 64 bytes per cycle
    /// and multiprocessor.
    pub fn l2_s_per_word(&self) -> f64 {
        let usual = 64.0 * self.clock_hz * self.n_sm as f64;
        4.0 * self.n_sm as f64 / self.l2_bandwidth_bytes_per_s.unwrap_or(usual)
    }

    /// Registers (32 bits) of a multiprocessor: `n_V * R_VU / 4 bytes`.
    pub fn registers_per_sm(&self) -> i64 {
        (self.n_v as f64 * self.r_vu_kb * 1024.0 / 4.0).round() as i64
    }
}
