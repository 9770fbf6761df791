//! Where the storages of a block lie in its memory, or in the registers of lanes.

use crate::plan::{Kernel, KernelPlan};
use crate::storage::Storage;
use crate::window::aligned;
use polyhedral::program::Program;

/// Bytes of a counter: how far a warp has come.
const COUNTER: i64 = 4;
/// Bytes of a register.
const REGISTER: i64 = 4;

/// Bytes that a thread of a CPU may have of its own. Where the C library takes them from its threads' stacks, most of a
/// stack of the usual 8 MiB remains; and more would not stay in its caches.
pub const MOST_OWN_BYTES: i64 = 4 << 20;

/// Shared memory of a block: its storages but those in registers one after the other, and the counters of warps that wait for each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageLayout {
    /// Where each storage begins, in bytes; those in registers have none of them.
    pub offsets: Vec<i64>,
    /// Where the counters begin.
    pub links: i64,
    /// Bytes of all.
    pub bytes: i64,
}

impl StorageLayout {
    /// The layout of a kernel's storages.
    pub fn new(program: &Program, kernel: &Kernel) -> Self {
        let (offsets, end) = placed(program, &kernel.storages);
        let bytes = end.saturating_add(kernel.warps.len() as i64 * COUNTER);
        StorageLayout { offsets, links: end, bytes }
    }
}

/// Bytes of shared memory that these storages take.
pub fn storage_bytes(program: &Program, storages: &[Storage]) -> i64 {
    placed(program, storages).1
}

/// Where storages begin, and where the last one ends.
fn placed(program: &Program, storages: &[Storage]) -> (Vec<i64>, i64) {
    let (mut offsets, mut end) = (Vec::new(), 0_i64);
    for storage in storages {
        offsets.push(end);
        if storage.first_lane().is_none() {
            end = aligned(end.saturating_add(storage.bytes(program)));
        }
    }
    (offsets, end)
}

/// Registers of 32 bits that the storages of a kernel take of each thread: a thread has those of all warps.
pub fn registers_of_storages(program: &Program, kernel: &Kernel) -> i64 {
    let in_registers = kernel.storages.iter().filter(|storage| storage.first_lane().is_some());
    let words = |storage: &Storage| {
        let bytes = program.field(storage.field).element.bytes() as i64;
        storage.cells_of_a_lane().saturating_mul(bytes / REGISTER)
    };
    in_registers.map(words).fold(0, i64::saturating_add)
}

/// Bytes of a CPU thread's own memory: a thread runs one kernel after the other.
pub fn own_bytes(plan: &KernelPlan) -> i64 {
    let storages = plan.kernels.iter().flat_map(|kernel| &kernel.storages);
    storages.map(|storage| storage.bytes(&plan.program)).fold(0, i64::saturating_add)
}
