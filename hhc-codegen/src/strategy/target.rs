//! What tiles are made for.

use serde::Serialize;
use std::fmt;

/// What tiles are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Cores with caches.
    OpenMp,
    /// Thread blocks with shared memory.
    Cuda,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Target::OpenMp => "OpenMP",
            Target::Cuda => "CUDA",
        })
    }
}
