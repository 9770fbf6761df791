//! What a caller has to know of a kernel to launch it.

use crate::geometry::TileTraffic;
use crate::plan::Loop;

/// One kernel.
#[derive(Debug, Clone)]
pub struct CudaKernel {
    /// Its name in the plan.
    pub name: String,
    /// Its name in the text.
    pub symbol: String,
    /// Threads of a block: `x`, `y`, `z`.
    pub threads: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub shared_bytes: u32,
    /// The loops over blocks. The last one is `blockIdx.x`, the one before it `blockIdx.y`, then `blockIdx.z`; where
    /// a loop is longer than the device's grid (65,535 in `y` and `z`), launch parts of it: the lowest coordinate of
    /// each loop is an argument.
    pub blocks: Vec<Loop>,
    /// What a full sub-tile moves; `None` for a kernel that works in memory directly.
    pub traffic: Option<TileTraffic>,
    /// Whether its last argument is the distances of [`CudaProgram`](super::CudaProgram)`::ways`.
    pub takes_ways: bool,
}
