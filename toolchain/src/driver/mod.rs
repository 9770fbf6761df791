//! Devices: what they are, memory on them, kernels, launches.
//!
//! NVIDIA's driver is looked for at run time, so that nothing here needs CUDA when it is built. Without the feature
//! `cuda` no device can be opened, and [`Device::open`] says so; everything above compiles all the same, because the
//! types have no values then.

mod copy;
#[cfg(feature = "cuda")]
mod cuda;
mod facts;
#[cfg(any(not(feature = "cuda"), test))]
mod without;

pub use copy::DeviceBandwidth;
#[cfg(feature = "cuda")]
pub use cuda::{Array, Device, Element, Kernel, Launch, Module};
pub use facts::{DeviceFacts, Failure, Shape};
#[cfg(not(feature = "cuda"))]
pub use without::{Array, Device, Element, Kernel, Launch, Module};

/// Whether device number 0 can be used, and what it is.
///
/// # Errors
/// [`crate::Error::NoDevice`] with the reason in one line.
pub fn is_available() -> crate::Result<DeviceFacts> {
    Device::open(0).map(|device| device.facts().clone())
}
