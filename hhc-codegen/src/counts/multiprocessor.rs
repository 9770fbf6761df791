//! What counts depend on of a multiprocessor.

/// What counts depend on of a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multiprocessor {
    /// `n_V`: lanes.
    pub lanes: i64,
    /// Threads of a warp.
    pub warp: i64,
    /// Bytes of shared memory that a block may have.
    pub shared_per_block_bytes: i64,
    /// Threads that a block may have.
    pub threads_per_block: i64,
    /// Registers of a multiprocessor.
    pub registers_per_sm: i64,
    /// Registers that a thread may have.
    pub registers_per_thread: i64,
}

impl Multiprocessor {
    /// No multiprocessor in particular, for counts that do not depend on it.
    pub const ANY: Multiprocessor = Multiprocessor {
        lanes: 1,
        warp: 32,
        shared_per_block_bytes: i64::MAX,
        threads_per_block: 1024,
        registers_per_sm: 65_536,
        registers_per_thread: 255,
    };

    /// The same with so many lanes.
    #[must_use]
    pub fn with_lanes(&self, lanes: i64) -> Multiprocessor {
        Multiprocessor { lanes, ..*self }
    }
}
