//! Micro-benchmarks of a device: launches and barriers that do nothing else.
#![allow(unsafe_code)]

use crate::cache::Cache;
use crate::driver::{Device, Kernel, Shape};
use crate::error::{Error, Result};
use crate::nvrtc::{CudaOptions, Nvrtc};
use std::sync::Arc;

/// The kernels' text.
pub const TEXT: &str = r#"
extern "C" __global__ void tw_nothing() {}

extern "C" __global__ void __launch_bounds__(256) tw_barriers(int rounds)
{
    for (int round = 0; round < rounds; ++round) __syncthreads();
}
"#;

/// Threads of a block that waits at barriers: those of a common tile.
const THREADS: u32 = 256;
/// Launches of one measurement.
const LAUNCHES: u32 = 1000;
/// Barriers of the shorter of the two runs whose difference counts.
const BARRIERS: i32 = 20_000;

/// The kernels, loaded.
#[derive(Debug)]
pub struct Micro {
    device: Device,
    nothing: Kernel,
    barriers: Kernel,
}

impl Micro {
    /// Compiles and loads them.
    ///
    /// # Errors
    /// Those of NVRTC and of the driver.
    pub fn load(device: &Device, cache: &Arc<Cache>) -> Result<Micro> {
        let architecture = device.facts().architecture;
        let nvrtc = Nvrtc::for_driver(architecture, device.driver_major())?;
        let compiled = nvrtc.compile(TEXT, "micro.cu", &CudaOptions::new(architecture), cache)?;
        let loaded = device.load(&compiled.cubin);
        let module = loaded.map_err(|failure| failure.during("load the micro-benchmarks"))?;
        let (nothing, barriers) = (module.kernel("tw_nothing")?, module.kernel("tw_barriers")?);
        Ok(Micro { device: device.clone(), nothing, barriers })
    }

    /// Seconds of one launch among many, one after the other in a stream, a block on every multiprocessor.
    ///
    /// # Errors
    /// [`crate::Error::Device`].
    pub fn launch_s(&self) -> Result<f64> {
        let seconds = self.device.seconds(|| {
            for _ in 0..LAUNCHES {
                // SAFETY: the kernel has no parameters and touches no memory.
                unsafe { self.device.launch(&self.nothing).start(self.shape()) }
                    .map_err(|failure| failure.during("launch tw_nothing"))?;
            }
            Ok::<(), Error>(())
        })?;
        Ok(seconds / f64::from(LAUNCHES))
    }

    /// Seconds of one barrier of a block that has a multiprocessor to itself.
    ///
    /// # Errors
    /// [`crate::Error::Device`].
    pub fn barrier_s(&self) -> Result<f64> {
        let difference = self.barriers(2 * BARRIERS)? - self.barriers(BARRIERS)?;
        Ok((difference / f64::from(BARRIERS)).max(0.0))
    }

    /// Seconds of one launch with so many barriers.
    fn barriers(&self, rounds: i32) -> Result<f64> {
        self.device.seconds(|| {
            // SAFETY: the kernel has one integer parameter and touches no memory.
            unsafe { self.device.launch(&self.barriers).value(&rounds).start(self.shape()) }
                .map_err(|failure| failure.during("launch tw_barriers"))
        })
    }

    /// One launch with barriers, for a meter of energy: how many barriers all blocks together pass.
    ///
    /// # Errors
    /// [`crate::Error::Device`].
    pub fn pass_barriers(&self) -> Result<f64> {
        self.barriers(BARRIERS)?;
        Ok(f64::from(BARRIERS) * f64::from(self.device.facts().multiprocessors))
    }

    /// Many launches, for a meter of energy.
    ///
    /// # Errors
    /// [`crate::Error::Device`].
    pub fn launch_many(&self) -> Result<f64> {
        self.launch_s()?;
        Ok(f64::from(LAUNCHES))
    }

    fn shape(&self) -> Shape {
        let blocks = self.device.facts().multiprocessors.max(1);
        Shape { grid: [blocks, 1, 1], block: [THREADS, 1, 1], shared_bytes: 0 }
    }
}
