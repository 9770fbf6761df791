//! Counters of joules: of the processor's packages, and of a GPU.

mod nvml;
mod rapl;
mod simulated;

pub use nvml::NvmlMeter;
pub use rapl::Rapl;
pub use simulated::{Simulated, SimulatedMeter};

/// A counter of joules.
pub trait EnergyMeter {
    /// Joules since some moment in the past; `None` where the counter cannot be read any more.
    fn joules(&mut self) -> Option<f64>;
    /// What is read, for reports.
    fn name(&self) -> String;
    /// Seconds between two values of the counter: RAPL's millisecond, unless it says otherwise.
    fn tick_s(&self) -> f64 {
        1e-3
    }
}
