//! What a kernel needs of a multiprocessor, as the assembler reports it.

use serde::{Deserialize, Serialize};

/// Registers of a multiprocessor, on every device since compute capability 5.0.
pub const REGISTERS: u32 = 65_536;
/// Registers are given to warps in portions of this many per thread.
pub const REGISTER_PORTION: u32 = 8;
/// Threads of a warp.
pub const WARP: u32 = 32;
/// Threads of a block at most.
const LARGEST_BLOCK: u32 = 1024;

/// The compiler's own figures for one kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelResources {
    /// The kernel's name in the text.
    pub kernel: String,
    /// Registers per thread.
    pub registers: u32,
    /// Bytes per thread that were stored to local memory because registers ran out, plus those loaded back.
    pub spill_bytes: u64,
    /// Bytes of local memory per thread: spilled registers, and arrays that registers cannot hold.
    pub local_bytes: u64,
    /// Bytes of static shared memory per block. Dynamic shared memory is chosen at the launch.
    pub static_shared_bytes: u64,
    /// Threads of a block that the registers allow.
    pub max_threads: u32,
}

/// Reads the messages of `ptxas -v`:
///
/// ```text
/// ptxas info    : Compiling entry function 'heat2d_phase0' for 'sm_80'
/// ptxas info    : Function properties for heat2d_phase0
/// ptxas         .     8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
/// ptxas info    : Used 32 registers, used 1 barriers, 144 bytes smem, 376 bytes cmem[0]
/// ```
pub fn from_log(log: &str) -> Vec<KernelResources> {
    let mut kernels: Vec<KernelResources> = Vec::new();
    for line in log.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            let kernel = rest.split('\'').next().unwrap_or_default().to_owned();
            kernels.push(KernelResources {
                kernel,
                registers: 0,
                spill_bytes: 0,
                local_bytes: 0,
                static_shared_bytes: 0,
                max_threads: LARGEST_BLOCK,
            });
        }
        let Some(kernel) = kernels.last_mut() else { continue };
        if line.contains("bytes stack frame") {
            kernel.local_bytes = number_before(line, " bytes stack frame");
            kernel.spill_bytes =
                number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
        } else if line.contains(" registers") {
            kernel.registers = number_before(line, " registers") as u32;
            kernel.static_shared_bytes = number_before(line, " bytes smem");
            kernel.max_threads = threads_of(kernel.registers);
        }
    }
    kernels
}

/// The number in front of the first occurrence of `unit`; 0 where there is none.
fn number_before(line: &str, unit: &str) -> u64 {
    let Some((before, _)) = line.split_once(unit) else { return 0 };
    let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    before[before.len() - digits..].parse().unwrap_or(0)
}

/// Threads of one block that these registers per thread allow, in whole warps.
fn threads_of(registers: u32) -> u32 {
    let per_warp = registers.max(1).next_multiple_of(REGISTER_PORTION) * WARP;
    (REGISTERS / per_warp * WARP).min(LARGEST_BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_two_kernels() {
        let log = "nvrtc: warning: Architectures prior to '<compute/sm>_75' are deprecated\n\
            ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'a' for 'sm_70'\n\
            ptxas info    : Function properties for a\n\
            ptxas         .     160 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n\
            ptxas info    : Used 255 registers, used 1 barriers, 144 bytes smem, 376 bytes cmem[0]\n\
            ptxas info    : Compile time = 19.621 ms\n\
            ptxas info    : Compiling entry function 'b' for 'sm_70'\n\
            ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 32 registers\n";
        let kernels = from_log(log);
        assert_eq!(kernels.len(), 2);
        assert_eq!(
            kernels[0],
            KernelResources {
                kernel: "a".to_owned(),
                registers: 255,
                spill_bytes: 20,
                local_bytes: 160,
                static_shared_bytes: 144,
                max_threads: 256,
            }
        );
        assert_eq!((kernels[1].registers, kernels[1].max_threads), (32, 1024));
        assert!(from_log("nothing").is_empty());
    }
}
