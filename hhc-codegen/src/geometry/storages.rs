//! Where the storages of a block lie in its memory.

use crate::plan::{Kernel, KernelPlan};
use crate::window::aligned;
use polyhedral::program::Program;

/// Bytes of a counter: how far a warp has come.
const COUNTER: i64 = 4;

/// Bytes that a thread of a CPU may have of its own. Where the C library takes them from its threads' stacks, most of a
/// stack of the usual 8 MiB remains; and more would not stay in its caches.
pub const MOST_OWN_BYTES: i64 = 4 << 20;

/// Shared memory of a block: its storages one after the other, and the counters of warps that wait for each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageLayout {
    /// Where each storage begins, in bytes.
    pub offsets: Vec<i64>,
    /// Where the counters begin.
    pub links: i64,
    /// Bytes of all.
    pub bytes: i64,
}

impl StorageLayout {
    /// The layout of a kernel's storages.
    pub fn new(program: &Program, kernel: &Kernel) -> Self {
        let (mut offsets, mut end) = (Vec::new(), 0_i64);
        for storage in &kernel.storages {
            offsets.push(end);
            end = aligned(end.saturating_add(storage.bytes(program)));
        }
        let bytes = end.saturating_add(kernel.warps.len() as i64 * COUNTER);
        StorageLayout { offsets, links: end, bytes }
    }
}

/// Bytes of a CPU thread's own memory: a thread runs one kernel after the other.
pub fn own_bytes(plan: &KernelPlan) -> i64 {
    let storages = plan.kernels.iter().flat_map(|kernel| &kernel.storages);
    storages.map(|storage| storage.bytes(&plan.program)).fold(0, i64::saturating_add)
}
