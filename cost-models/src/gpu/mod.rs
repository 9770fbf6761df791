//! What tiles cost on a GPU.

mod bound;
mod cost;
mod counts;
mod explain;
mod time;

pub use bound::Density;
pub use cost::{GpuCost, GpuModelError};
pub use counts::{Kernels, Resident, ResidentRange};
pub use time::{GpuTime, Parts};
