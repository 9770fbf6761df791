//! CUDA: generated text compiled by NVRTC, and run on a device through the driver.
//!
//! Nothing here needs CUDA when it is built; libraries are looked for at run time. [`nvrtc`] needs NVRTC but
//! no device; [`driver`] and [`run`] need a driver and a device, and say so in one message where there is
//! none.

pub mod driver;
pub mod micro;
pub mod nvrtc;
mod nvrtc_library;
pub mod occupancy;
pub mod resources;
pub mod run;

pub use driver::{Device, DeviceFacts, is_available};
pub use nvrtc::{CompiledCuda, CudaOptions, Nvrtc};
pub use occupancy::Multiprocessor;
pub use resources::KernelResources;
pub use run::{CudaProgramOnDevice, DeviceRun};
