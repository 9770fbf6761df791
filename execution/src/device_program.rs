//! Generated CUDA text with what a host needs to launch its kernels; the [`crate::emulator`] and
//! [`crate::cuda`] run the same.

use crate::error::{ExecutionError, Result};
use hhc_codegen::KernelPlan;
use hhc_codegen::backend::cuda::CudaProgram;

/// The CUDA text of a plan and its kernels, in the form of `docs/cuda-contract.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceProgram {
    /// The text; host code stands between `#ifndef TW_DEVICE_ONLY` and `#endif`.
    pub source: String,
    /// The kernels, in the order of the plan's kernels.
    pub kernels: Vec<DeviceKernel>,
    /// Distances in memory that some kernels are given, in bytes: each so much of each outer stride.
    pub ways: Vec<Vec<i64>>,
}

/// One `extern "C" __global__` function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceKernel {
    /// Its name in the text, as in `heat2d_phase0`.
    pub symbol: String,
    /// Threads of a block: `x`, `y`, `z`.
    pub threads: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub shared_bytes: u64,
    /// Whether its last argument is the distances.
    pub takes_ways: bool,
}

impl DeviceProgram {
    /// Whether there is one kernel for each of the plan's.
    ///
    /// # Errors
    /// [`ExecutionError::Plan`].
    pub fn check(&self, plan: &KernelPlan) -> Result<()> {
        if self.kernels.len() == plan.kernels.len() {
            return Ok(());
        }
        Err(ExecutionError::Plan(format!(
            "the CUDA text has {} kernel(s), the plan {}",
            self.kernels.len(),
            plan.kernels.len()
        )))
    }
}

/// The distances in memory that a kernel is given, each so many bytes of each outer stride, in a grid with these strides; none
/// if it takes none.
pub fn distances(takes_ways: bool, ways: &[Vec<i64>], strides: &[i64]) -> Vec<i64> {
    let distance = |way: &Vec<i64>| way.iter().zip(strides).map(|(bytes, stride)| bytes * stride).sum();
    ways.iter().filter(|_| takes_ways).map(distance).collect()
}

impl From<&CudaProgram> for DeviceProgram {
    fn from(cuda: &CudaProgram) -> Self {
        let kernels = cuda.kernels.iter().map(|kernel| DeviceKernel {
            symbol: kernel.symbol.clone(),
            threads: kernel.threads,
            shared_bytes: kernel.shared_bytes.into(),
            takes_ways: kernel.takes_ways,
        });
        let source = cuda.device_source.clone();
        DeviceProgram { source, kernels: kernels.collect(), ways: cuda.ways.clone() }
    }
}

impl DeviceKernel {
    /// Threads of a block, all together.
    pub fn threads_per_block(&self) -> u64 {
        self.threads.iter().map(|&threads| u64::from(threads)).product()
    }
}
