//! A machine as plain numbers, so that a search over hardware can vary them.

use crate::machine::GpuFacts;
use hhc_codegen::counts::Multiprocessor;
use serde::Serialize;

/// The numbers of a GPU that the models use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hardware {
    /// Name, for messages.
    pub name: String,
    /// `n_SM`: multiprocessors.
    pub n_sm: i64,
    /// `n_V`: lanes of a multiprocessor.
    pub n_v: i64,
    /// `M_SM`: bytes of shared memory of a multiprocessor.
    pub m_sm_bytes: i64,
    /// Bytes of shared memory that one block may have.
    pub shared_per_block_bytes: i64,
    /// Bytes that the system keeps for itself, per block.
    pub shared_reserved_bytes: i64,
    /// Registers of a multiprocessor.
    pub registers_per_sm: i64,
    /// Registers that a thread may have.
    pub registers_per_thread: i64,
    /// Threads of a block.
    pub threads_per_block: i64,
    /// Threads of a multiprocessor.
    pub threads_per_sm: i64,
    /// Blocks of a multiprocessor.
    pub blocks_per_sm: i64,
    /// Threads of a warp.
    pub warp: i64,
}

impl Hardware {
    /// The numbers of a described GPU.
    pub fn of(name: &str, facts: &GpuFacts) -> Self {
        let bytes = |kb: f64| (kb * 1024.0).round() as i64;
        Hardware {
            name: name.to_string(),
            n_sm: facts.n_sm,
            n_v: facts.n_v,
            m_sm_bytes: bytes(facts.m_sm_kb),
            shared_per_block_bytes: bytes(facts.shared_per_block_kb),
            shared_reserved_bytes: bytes(facts.shared_reserved_kb),
            registers_per_sm: facts.registers_per_sm(),
            registers_per_thread: facts.registers_per_thread,
            threads_per_block: facts.threads_per_block,
            threads_per_sm: facts.threads_per_sm,
            blocks_per_sm: facts.blocks_per_sm,
            warp: facts.warp,
        }
    }

    /// What counts depend on.
    pub fn multiprocessor(&self) -> Multiprocessor {
        Multiprocessor {
            lanes: self.n_v,
            warp: self.warp,
            shared_per_block_bytes: self.shared_per_block_bytes,
            threads_per_block: self.threads_per_block,
            registers_per_sm: self.registers_per_sm,
            registers_per_thread: self.registers_per_thread,
        }
    }
}
