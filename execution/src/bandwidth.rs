//! Bandwidth of main memory, measured by copying arrays that no cache holds.

use crate::buffer::Buffer;
use crate::error::{ExecutionError, Result};
use crate::grid::check_memory;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use toolchain::clock::{Repetition, Timing, measure};
use toolchain::machine::{MachineFacts, largest_cache};

/// Largest array in bytes.
const MAX_BYTES: u64 = 512 << 20;
/// Least array in bytes, and what counts as the size of a last-level cache that the system does not tell.
const MIN_BYTES: u64 = 64 << 20;
/// Elements copied at once: so few that the library's copy uses ordinary stores, as compiled stencils do.
const PIECE: usize = 8 << 10;

/// The result of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// Bytes read plus bytes written in a second, in the fastest run. A cache that reads a line before it is
    /// overwritten moves half as much again, which is not counted.
    pub bytes_per_second: f64,
    /// Bytes of each of the two arrays.
    pub array_bytes: u64,
    /// Threads that copied.
    pub threads: usize,
    /// All runs.
    pub timing: Timing,
}

/// Measures the bandwidth with all threads of the current rayon pool: the best of `runs` copies of an array
/// of four times the last-level cache, at most 512 MiB.
///
/// # Errors
/// [`crate::ExecutionError::OutOfMemory`], [`crate::ExecutionError::Interrupted`].
pub fn measure_copy(runs: usize) -> Result<Bandwidth> {
    let caches = MachineFacts::collect(None).caches;
    measure_copy_of(array_bytes(largest_cache(&caches)), runs)
}

fn array_bytes(last_level_cache: Option<u64>) -> u64 {
    last_level_cache.unwrap_or(MIN_BYTES).saturating_mul(4).clamp(MIN_BYTES, MAX_BYTES)
}

fn measure_copy_of(array_bytes: u64, runs: usize) -> Result<Bandwidth> {
    check_memory(2 * u128::from(array_bytes))?;
    let length = array_bytes as usize / size_of::<f64>();
    let threads = rayon::current_num_threads();
    let part = length.div_ceil(threads).max(1);
    let mut arrays = (Buffer::<f64>::zeroed(length)?, Buffer::<f64>::zeroed(length)?);
    // Zero pages that were never written would all be the same memory.
    arrays.0.as_mut_slice().par_chunks_mut(part).for_each(|values| values.fill(1.0));
    let copy = |arrays: &mut (Buffer<f64>, Buffer<f64>)| {
        let (from, to) = (arrays.0.as_slice(), arrays.1.as_mut_slice());
        to.par_chunks_mut(part).zip(from.par_chunks(part)).for_each(|(to, from)| {
            to.chunks_mut(PIECE).zip(from.chunks(PIECE)).for_each(|(to, from)| to.copy_from_slice(from));
        });
        Ok::<(), ExecutionError>(())
    };
    let timing = measure(Repetition { warm_up: 1, runs }, &mut arrays, |_| Ok(()), copy)?;
    std::hint::black_box(arrays.1.as_slice());
    let moved = 2.0 * (length * size_of::<f64>()) as f64;
    Ok(Bandwidth { bytes_per_second: moved / timing.minimum.max(1e-9), array_bytes, threads, timing })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_exceed_the_cache_within_limits() {
        assert_eq!(array_bytes(Some(32 << 20)), 128 << 20);
        assert_eq!(array_bytes(Some(1 << 40)), MAX_BYTES);
        assert_eq!(array_bytes(Some(1 << 20)), MIN_BYTES);
        assert_eq!(array_bytes(None), 256 << 20);
    }

    #[test]
    fn a_measurement_has_all_its_runs() {
        let bandwidth = measure_copy_of(1 << 20, 3).unwrap();
        assert_eq!(bandwidth.timing.seconds_all.len(), 3);
        assert!(bandwidth.bytes_per_second > 0.0 && bandwidth.bytes_per_second.is_finite());
    }
}
