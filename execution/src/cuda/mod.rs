//! A plan on a device: kernels compiled by NVRTC and loaded, arrays copied there and back, launches timed.

mod arrays;
mod copies;
mod launch;
mod levels;
mod program;
mod run;

pub use arrays::DeviceData;
pub use levels::{FieldOnDevice, LevelOnDevice, LevelsOnDevice};
pub use program::{CudaProgramOnDevice, DeviceRun, limits};
