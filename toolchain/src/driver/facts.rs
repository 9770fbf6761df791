//! What is said of a device, and to it: facts, shapes of launches, failures.

use crate::error::Error;
use serde::{Deserialize, Serialize};

/// What a device is, as its driver says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// Its number.
    pub ordinal: usize,
    /// As in `NVIDIA A100-SXM4-80GB`.
    pub name: String,
    /// Compute capability without the point, as in 80.
    pub architecture: u32,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Clock of the multiprocessors in hertz.
    pub clock_hz: f64,
    /// Bytes per second between memory and device by clock and width; 0 where the driver does not tell.
    pub theoretical_bandwidth: f64,
    /// Clock of the memory in hertz; 0 where the driver does not tell.
    pub memory_clock_hz: f64,
    /// Width of the bus to memory in bits; 0 where the driver does not tell.
    pub memory_bus_bits: u32,
    /// Copies between host and device that run at a time beside kernels.
    pub copy_engines: u32,
    /// Bytes of the second-level cache.
    pub l2_bytes: u64,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_bytes_per_multiprocessor: u64,
    /// Bytes of shared memory that a block may ask for.
    pub shared_bytes_per_block: u64,
    /// Registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Threads of a multiprocessor.
    pub threads_per_multiprocessor: u32,
    /// Threads of a block.
    pub threads_per_block: u32,
    /// Version of CUDA that the driver supports, as in `12.4`.
    pub driver_version: String,
}

/// Blocks and threads of a launch, in `x`, `y` and `z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub shared_bytes: u32,
}

/// Rows of equal length somewhere in a device's memory, whosever it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// Address of the first byte.
    pub first: u64,
    /// Bytes from one row to the next one.
    pub row: usize,
    /// Bytes from one plane to the next one.
    pub plane: usize,
}

/// What the driver says of a call that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub(super) reason: String,
}

impl Failure {
    /// The error for the user: what was tried, as in `launch heat2d_phase0`, and the driver's reason.
    pub fn during(self, action: &str) -> Error {
        Error::Device { action: action.to_owned(), reason: self.reason }
    }
}
