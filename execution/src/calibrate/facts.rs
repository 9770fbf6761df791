//! What the system tells about the processor, as facts of a machine file.

use cost_models::machine::{CacheLevel, CpuFacts};
use toolchain::machine::MachineFacts;

/// The facts of this machine; `threads` are the cores in use.
pub fn cpu_facts(facts: &MachineFacts, threads: usize) -> CpuFacts {
    let has = |name: &str| facts.vector_extensions.iter().any(|extension| extension == name);
    let vector_bytes = match () {
        () if has("avx512f") => 64,
        () if has("avx") => 32,
        () => 16,
    };
    let data = facts.caches.iter().filter(|cache| cache.kind != "Instruction");
    let mut caches: Vec<CacheLevel> = data
        .map(|cache| CacheLevel {
            level: i64::from(cache.level),
            kb: cache.bytes as f64 / 1024.0,
            shared_by: cache.shared_by.unwrap_or(1).max(1) as i64,
            line_bytes: cache.line_bytes.unwrap_or(64) as i64,
        })
        .collect();
    if caches.is_empty() {
        // Systems that tell nothing of caches: the usual least.
        caches.push(CacheLevel { level: 1, kb: 32.0, shared_by: 1, line_bytes: 64 });
    }
    CpuFacts {
        cores: threads as i64,
        vector_bytes,
        memory_bytes: facts.memory_bytes.unwrap_or(1 << 30) as f64,
        clock_hz: None,
        caches,
    }
}
