//! What a second-level cache saves.
//!
//! Tiles keep what they reuse in shared memory. What the cache can answer is what one wavefront leaves for the next, and between
//! two uses of a word every wavefront touches the whole grid. Of words that are used again and again in turn, a cache answers
//! about the share of them that it holds:
//!
//! ```text
//! hit rate = min(1, L2 / footprint)              footprint = all planes of all fields
//! L        = (1 - hit rate) * L_memory + hit rate * min(L_memory, L_cache)           likewise the energy of a word
//! ```
//!
//! First-level caches have no use here: blocks stage their words in shared memory, and plain sweeps are counted as if neighbours
//! in a block shared every word. Both kinds cost area, and static power with it.

use crate::constants::{EnergyConstants, TimeConstants};
use hhc_codegen::counts::Problem;

/// Joules of a word of 4 bytes from a second-level cache: M. Horowitz, Computing's energy problem, ISSCC 2014: 100 pJ for 64
/// bits of a cache of 1 MiB, halved.
pub const E_CACHE_J: f64 = 5.0e-11;

/// Bytes of all planes of all fields.
pub fn footprint_bytes(problem: &Problem) -> f64 {
    let points = problem.size.iter().map(|&n| n as f64).product::<f64>();
    points * problem.planes().map(|(planes, bytes)| (planes * bytes) as f64).sum::<f64>()
}

/// The share of words that a cache answers.
pub fn hit_rate(l2_kb: f64, footprint_bytes: f64) -> f64 {
    if footprint_bytes > 0.0 { (1024.0 * l2_kb / footprint_bytes).min(1.0) } else { 0.0 }
}

/// `L` where a share of the words comes from a cache that takes `cache_s` for a word.
pub fn with_hits(time: &TimeConstants, hit_rate: f64, cache_s: f64) -> TimeConstants {
    let memory_s = time.l_s_per_word;
    let l_s_per_word = (1.0 - hit_rate) * memory_s + hit_rate * memory_s.min(cache_s);
    TimeConstants { l_s_per_word, ..*time }
}

/// The energy of a word where a share of them comes from a cache; `words` of 4 bytes each.
pub fn energy_with_hits(energy: &EnergyConstants, hit_rate: f64, words: f64) -> EnergyConstants {
    let memory_j = energy.e_glob_j;
    let e_glob_j = (1.0 - hit_rate) * memory_j + hit_rate * memory_j.min(words * E_CACHE_J);
    EnergyConstants { e_glob_j, ..*energy }
}
