//! What all multiprocessors have in common, as the counted form of the time takes it: published figures, where a machine file says
//! nothing.

/// Warp instructions that a multiprocessor issues per cycle: four schedulers, one each, since compute capability 5.0.
pub const SCHEDULERS: f64 = 4.0;
/// Threads of a warp.
pub const WARP: f64 = 32.0;
/// Cycles until a word of shared memory or of the first-level cache has come (Z. Jia et al., Dissecting the NVIDIA Volta GPU
/// architecture via microbenchmarking, 2018: 19 and 28 cycles; newer devices 30 and more).
pub const NEAR_CYCLES: f64 = 30.0;
/// Cycles until words of memory have come, with nobody else asking (W. Luo et al., Benchmarking and
/// dissecting the NVIDIA Hopper GPU architecture, 2024: 479 on an H100).
pub const FAR_CYCLES: f64 = 480.0;
/// What copies reach of a published bandwidth: measured 2.995 of 3.352 TB/s on an H100 with HBM3.
pub const REACHED: f64 = 0.9;

/// Bytes that a multiprocessor gets of the second-level cache in a cycle, all of them at work: 20 on a V100 (Jia et al. as above:
/// 2155 GB/s), 25 on an H100 (5.5 to 5.7 TB/s in published measurements).
pub const CACHED_BYTES: f64 = 24.0;
/// Cycles until a device starts the next block, whichever multiprocessor it is for: 4.2 million blocks of one warp each took
/// 1.2 on an H100.
pub const START_CYCLES: f64 = 1.2;

/// By how much longer than the mean the scheduler with the most of these warps takes: a warp stays with the scheduler that it
/// began with, so that of 18 warps two of the four schedulers have five, and take `5 / 4.5` of the mean.
pub fn fullest_scheduler(warps: i64) -> f64 {
    let each = warps.max(1) as f64 / SCHEDULERS;
    each.ceil() / each
}

/// Warps of a block of so many threads.
pub fn warps(threads: i64) -> i64 {
    (threads as f64 / WARP).ceil() as i64
}
