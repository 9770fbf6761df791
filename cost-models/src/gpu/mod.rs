//! What tiles cost on a GPU.

mod bound;
mod cost;
mod counted;
mod counts;
mod explain;
mod explain_counted;
mod time;

pub use crate::form::TimeModel;
pub use bound::Density;
pub use cost::{GpuCost, GpuModelError};
pub use counted::Counted;
pub use counts::{Kernels, Resident, ResidentRange};
pub use time::{GpuTime, Parts};
