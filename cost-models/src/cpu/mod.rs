//! What tiles cost on a CPU.

mod body;
mod cost;
mod energy;
mod explain;
mod order;
mod time;
mod variation;

pub use body::{CpuModelError, body_costs, is_like_a_known, work};
pub use cost::{CoreRange, CpuCost};
pub use time::{CpuTime, LINE_BYTES};
