//! Facts of a CPU.

use super::section::Section;
use serde::Serialize;

/// What the system tells about a CPU.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CpuFacts {
    /// Cores that a program may use (`n_SM`).
    pub cores: i64,
    /// Bytes of a vector register; its words are the lanes of a core (`n_V`).
    pub vector_bytes: i64,
    /// Bytes of main memory.
    pub memory_bytes: f64,
    /// Clock in Hz, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_hz: Option<f64>,
    /// Data caches, the one next to the core first.
    pub caches: Vec<CacheLevel>,
}

/// One cache.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CacheLevel {
    /// 1 for the one next to the core.
    pub level: i64,
    /// Size in KiB.
    pub kb: f64,
    /// Cores that share it, of those that may be used.
    pub shared_by: i64,
    /// Bytes of a line.
    pub line_bytes: i64,
}

impl CpuFacts {
    pub(super) fn read(section: &mut Section<'_, '_>) -> CpuFacts {
        let facts = CpuFacts {
            cores: section.integer("cores", "cores", 1..=65_536),
            vector_bytes: section.integer("vector_bytes", "bytes", 4..=4096),
            memory_bytes: section.number("memory_bytes", "bytes", 1e6..=1e18),
            clock_hz: section.optional_number("clock_hz", "Hz", 1e6..=1e11),
            caches: section.tables("caches", |cache| CacheLevel {
                level: cache.integer("level", "1 is next to the core", 1..=8),
                kb: cache.number("kb", "KiB", 1.0..=1e9),
                shared_by: cache.integer("shared_by", "cores", 1..=65_536),
                line_bytes: cache.integer("line_bytes", "bytes", 8..=4096),
            }),
        };
        if facts.caches.is_empty() {
            section.problem("caches", "at least one cache is needed");
        }
        if facts.caches.windows(2).any(|pair| pair[1].level <= pair[0].level || pair[1].kb < pair[0].kb) {
            section.problem("caches", "caches go from the smallest, next to the core, to the largest");
        }
        facts
    }

    /// `n_V`: words of this many bytes in a vector register.
    pub fn lanes(&self, word_bytes: i64) -> i64 {
        (self.vector_bytes / word_bytes.max(1)).max(1)
    }
}
