//! Features that tell machines apart for models of variants that serve several (Table 3.1 of S. Muralidharan, "Abstractions and
//! strategies for adaptive programming", University of Utah, 2016, and its like for processors): asked of the system, and measured by
//! micro-benchmarks.

use super::facts::cpu_facts;
use crate::bandwidth::measure_copy;
use crate::error::Result;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;
use toolchain::cache::Cache;
use toolchain::driver::Device;
use toolchain::interrupt;
use toolchain::machine::MachineFacts;
use toolchain::micro::{Counters, Micro};

/// Names and values.
pub type Features = BTreeMap<String, f64>;

/// Atomic additions whose milliseconds are the features.
const ADDITIONS: f64 = (1 << 20) as f64;
/// Counters that are added to, 16 to a line.
const COUNTERS: usize = 256;
/// Steps of a chain of which each takes two cycles.
const CHAIN: u32 = 1 << 22;

/// The least of some measurements.
fn least(rounds: usize, mut measure: impl FnMut() -> Result<f64>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..rounds.max(1) {
        interrupt::check()?;
        best = best.min(measure()?);
    }
    Ok(best)
}

fn named<const N: usize>(features: [(&str, f64); N]) -> Features {
    features.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Those of this processor, with all threads of the current rayon pool at work.
///
/// # Errors
/// Too little memory; an interruption.
pub fn cpu_features(rounds: usize) -> Result<Features> {
    let system = MachineFacts::collect(None);
    let threads = rayon::current_num_threads();
    let facts = cpu_facts(&system, threads);
    let kilobytes =
        |level: i64| facts.caches.iter().filter(|cache| cache.level == level).map(|cache| cache.kb).sum();
    let last = facts.caches.iter().map(|cache| cache.kb).fold(0.0, f64::max);
    let shared = vec_of_counters();
    let own: Vec<Vec<AtomicU32>> = (0..threads).map(|_| vec_of_counters()).collect();
    let milliseconds = |seconds: f64| 1e3 * seconds * ADDITIONS;
    Ok(named([
        ("cores", facts.cores as f64),
        ("vector_bits", 8.0 * facts.vector_bytes as f64),
        ("memory_gb", facts.memory_bytes / 1e9),
        ("l1_kb", kilobytes(1)),
        ("l2_kb", kilobytes(2)),
        ("last_cache_kb", last),
        ("clock_rate", least(rounds, || Ok(chain_s()))?.recip() / 1e6),
        ("copy_gbps", measure_copy(rounds.max(1))?.bytes_per_second / 1e9),
        ("global_atomic", milliseconds(least(rounds, || Ok(atomic_s(threads, |_| &shared)))?)),
        ("local_atomic", milliseconds(least(rounds, || Ok(atomic_s(threads, |thread| &own[thread])))?)),
    ]))
}

fn vec_of_counters() -> Vec<AtomicU32> {
    (0..COUNTERS).map(|_| AtomicU32::new(0)).collect()
}

/// Seconds of a cycle: a chain of rotations and exclusive ors, of which processors do one a cycle where each needs the one before.
fn chain_s() -> f64 {
    let (mut value, key) = (black_box(1_u64), black_box(0x9e37_79b9_7f4a_7c15_u64));
    let start = Instant::now();
    for _ in 0..CHAIN {
        value = value.rotate_left(5) ^ key;
    }
    black_box(value);
    start.elapsed().as_secs_f64() / (2.0 * f64::from(CHAIN))
}

/// Seconds of an atomic addition to one of 256 counters, by chance, where all threads add at the same time.
fn atomic_s<'a>(threads: usize, counters: impl Fn(usize) -> &'a [AtomicU32] + Sync) -> f64 {
    let each = ADDITIONS as u32 / 4 / threads.max(1) as u32 + 1;
    let start = Instant::now();
    (0..threads).into_par_iter().with_max_len(1).for_each(|thread| {
        let counters = counters(thread);
        let mut at = thread as u32;
        for _ in 0..each {
            at = at.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            counters[(at >> 24) as usize].fetch_add(1, Ordering::Relaxed);
        }
    });
    start.elapsed().as_secs_f64() / (f64::from(each) * threads as f64)
}

/// Those of a device, `lanes` for each of its multiprocessors.
///
/// # Errors
/// Those of NVRTC and of the driver; an interruption.
pub fn gpu_features(device: &Device, lanes: i64, rounds: usize) -> Result<Features> {
    let facts = device.facts();
    let micro = Micro::load(device, &Cache::open()?)?;
    let cores = f64::from(facts.multiprocessors) * lanes as f64;
    let atomic = |counters| least(rounds, || Ok(1e3 * ADDITIONS * micro.atomic_s(counters)?));
    Ok(named([
        ("global_mem", facts.memory_bytes as f64 / 1e9),
        ("cuda_cores", cores),
        ("clock_rate", facts.clock_hz / 1e6),
        ("mem_clock_rate", facts.memory_clock_hz / 1e6),
        ("mem_bus_width", f64::from(facts.memory_bus_bits)),
        ("l2_cache_size", facts.l2_bytes as f64 / 1024.0),
        ("shared_mem_per_block", facts.shared_bytes_per_block as f64 / 1024.0),
        ("copy_engines", f64::from(facts.copy_engines)),
        ("peak_gbps", facts.theoretical_bandwidth / 1e9),
        // A product and a sum in each cycle.
        ("peak_gflops_sp", 2.0 * cores * facts.clock_hz / 1e9),
        ("shared_atomic", atomic(Counters::Shared)?),
        ("global_atomic", atomic(Counters::Global)?),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_is_positive() {
        let counters = vec_of_counters();
        let seconds = atomic_s(3, |_| &counters);
        assert!(seconds > 0.0 && seconds < 1e-3 && chain_s() > 0.0);
        // Nothing was left out: three threads have added.
        let sum: u32 = counters.iter().map(|counter| counter.load(Ordering::Relaxed)).sum();
        assert_eq!(sum, 3 * (ADDITIONS as u32 / 12 + 1));
    }
}
