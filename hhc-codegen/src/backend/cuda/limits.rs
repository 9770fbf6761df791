//! What a device gives to one thread block.

/// What a device gives to one thread block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceLimits {
    /// Name of the device, for messages.
    pub device: String,
    /// Bytes of shared memory that a block may ask for.
    pub shared_bytes_per_block: i64,
    /// Threads of a block.
    pub threads_per_block: i64,
}

impl DeviceLimits {
    /// Compute capability 7.0 (V100): 96 KiB.
    pub fn sm_70() -> Self {
        DeviceLimits {
            device: "sm_70".to_string(),
            shared_bytes_per_block: 96 << 10,
            threads_per_block: 1024,
        }
    }

    /// Compute capability 8.0 (A100): 163 KiB.
    pub fn sm_80() -> Self {
        DeviceLimits {
            device: "sm_80".to_string(),
            shared_bytes_per_block: 163 << 10,
            threads_per_block: 1024,
        }
    }

    /// Compute capability 9.0 (H100, H200): 227 KiB.
    pub fn sm_90() -> Self {
        DeviceLimits {
            device: "sm_90".to_string(),
            shared_bytes_per_block: 227 << 10,
            threads_per_block: 1024,
        }
    }
}

impl Default for DeviceLimits {
    /// What every device from sm_70 on has, less the KiB that newer ones keep for themselves.
    fn default() -> Self {
        DeviceLimits {
            device: "any device".to_string(),
            shared_bytes_per_block: 95 << 10,
            threads_per_block: 1024,
        }
    }
}
