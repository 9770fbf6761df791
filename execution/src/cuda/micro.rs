//! Micro-benchmarks of a device: launches and barriers that do nothing else.
#![allow(unsafe_code)]

use super::driver::{Device, failed};
use super::nvrtc::{CudaOptions, Nvrtc};
use crate::cache::Cache;
use crate::error::Result;
use cudarc::driver::{CudaFunction, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;
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
    nothing: CudaFunction,
    barriers: CudaFunction,
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
        let module = device
            .context
            .load_module(Ptx::from_binary(compiled.cubin.clone()))
            .map_err(|error| failed("load the micro-benchmarks", error))?;
        let function = |name: &str| {
            module.load_function(name).map_err(|error| failed(&format!("find the kernel {name}"), error))
        };
        Ok(Micro {
            device: device.clone(),
            nothing: function("tw_nothing")?,
            barriers: function("tw_barriers")?,
        })
    }

    /// Seconds of one launch among many, one after the other in a stream, a block on every multiprocessor.
    ///
    /// # Errors
    /// [`crate::ExecutionError::Device`].
    pub fn launch_s(&self) -> Result<f64> {
        let seconds = self.device.seconds(|| {
            for _ in 0..LAUNCHES {
                // SAFETY: the kernel has no parameters and touches no memory.
                unsafe { self.device.stream.launch_builder(&self.nothing).launch(self.config()) }
                    .map_err(|error| failed("launch tw_nothing", error))?;
            }
            Ok(())
        })?;
        Ok(seconds / f64::from(LAUNCHES))
    }

    /// Seconds of one barrier of a block that has a multiprocessor to itself.
    ///
    /// # Errors
    /// [`crate::ExecutionError::Device`].
    pub fn barrier_s(&self) -> Result<f64> {
        let difference = self.barriers(2 * BARRIERS)? - self.barriers(BARRIERS)?;
        Ok((difference / f64::from(BARRIERS)).max(0.0))
    }

    /// Seconds of one launch with so many barriers.
    fn barriers(&self, rounds: i32) -> Result<f64> {
        self.device.seconds(|| {
            // SAFETY: the kernel has one integer parameter and touches no memory.
            unsafe { self.device.stream.launch_builder(&self.barriers).arg(&rounds).launch(self.config()) }
                .map(drop)
                .map_err(|error| failed("launch tw_barriers", error))
        })
    }

    /// One launch with barriers, for a meter of energy: how many barriers all blocks together pass.
    ///
    /// # Errors
    /// [`crate::ExecutionError::Device`].
    pub fn pass_barriers(&self) -> Result<f64> {
        self.barriers(BARRIERS)?;
        Ok(f64::from(BARRIERS) * f64::from(self.device.facts().multiprocessors))
    }

    /// Many launches, for a meter of energy.
    ///
    /// # Errors
    /// [`crate::ExecutionError::Device`].
    pub fn launch_many(&self) -> Result<f64> {
        self.launch_s()?;
        Ok(f64::from(LAUNCHES))
    }

    fn config(&self) -> LaunchConfig {
        let blocks = self.device.facts().multiprocessors.max(1);
        LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 }
    }
}
