//! How many blocks of a kernel a multiprocessor holds at once.
//!
//! Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".

use crate::nvrtc::{REGISTER_PORTION, REGISTERS, WARP};

/// What a multiprocessor has for all its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multiprocessor {
    /// Compute capability without the point, as in 80.
    pub architecture: u32,
    /// Bytes of shared memory.
    pub shared_bytes: u64,
    /// Bytes of shared memory that the system keeps of each block's share.
    pub reserved_bytes: u64,
    /// Threads.
    pub threads: u64,
    /// Blocks.
    pub blocks: u64,
}

impl Multiprocessor {
    /// The multiprocessors of V100, A100 and H100.
    pub const KNOWN: [Multiprocessor; 3] = [
        Multiprocessor {
            architecture: 70,
            shared_bytes: 96 << 10,
            reserved_bytes: 0,
            threads: 2048,
            blocks: 32,
        },
        Multiprocessor {
            architecture: 80,
            shared_bytes: 164 << 10,
            reserved_bytes: 1 << 10,
            threads: 2048,
            blocks: 32,
        },
        Multiprocessor {
            architecture: 90,
            shared_bytes: 228 << 10,
            reserved_bytes: 1 << 10,
            threads: 2048,
            blocks: 32,
        },
    ];

    /// Blocks of `threads` threads with so many registers per thread and bytes of shared memory that run at once.
    pub fn resident_blocks(&self, threads: u64, registers: u32, shared_bytes: u64) -> u64 {
        let warps = threads.max(1).div_ceil(u64::from(WARP));
        let per_warp = u64::from(registers.max(1).next_multiple_of(REGISTER_PORTION) * WARP);
        let by_registers = u64::from(REGISTERS) / per_warp / warps;
        let by_shared = match shared_bytes + self.reserved_bytes {
            0 => self.blocks,
            bytes => self.shared_bytes / bytes,
        };
        by_registers.min(by_shared).min(self.threads / (warps * u64::from(WARP))).min(self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked examples, each with another resource that runs out first.
    #[test]
    fn the_scarcest_resource_decides() {
        let [v100, a100, h100] = Multiprocessor::KNOWN;
        // 128 registers of 256 threads are half of the registers.
        assert_eq!(v100.resident_blocks(256, 128, 1000), 2);
        // 48 KiB of 96 KiB; with the reserved KiB, 49 KiB of 164 KiB and of 228 KiB.
        assert_eq!(v100.resident_blocks(256, 32, 48 << 10), 2);
        assert_eq!(a100.resident_blocks(256, 32, 48 << 10), 3);
        assert_eq!(h100.resident_blocks(256, 32, 48 << 10), 4);
        // Threads, in whole warps; blocks; and one that does not fit at all.
        assert_eq!(h100.resident_blocks(1000, 32, 0), 2);
        assert_eq!(h100.resident_blocks(32, 16, 0), 32);
        assert_eq!(h100.resident_blocks(1024, 80, 0), 0);
    }
}
