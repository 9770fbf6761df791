//! Micro-benchmarks of a device: launches and barriers that do nothing else, and atomic additions.
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

// Counters by the upper eight bits of a congruential generator: each is as likely as any other.
extern "C" __global__ void __launch_bounds__(256) tw_atomics_global(unsigned *counters, int rounds)
{
    unsigned at = blockIdx.x * 256u + threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        at = at * 1664525u + 1013904223u;
        atomicAdd(&counters[at >> 24], 1u);
    }
}

extern "C" __global__ void __launch_bounds__(256) tw_atomics_shared(unsigned *counters, int rounds)
{
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0u;
    __syncthreads();
    unsigned at = blockIdx.x * 256u + threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        at = at * 1664525u + 1013904223u;
        atomicAdd(&own[at >> 24], 1u);
    }
    __syncthreads();
    atomicAdd(&counters[threadIdx.x], own[threadIdx.x]);
}
"#;

/// Threads of a block that waits at barriers: those of a common tile.
const THREADS: u32 = 256;
/// Launches of one measurement.
const LAUNCHES: u32 = 1000;
/// Atomic additions of one thread, and blocks of each multiprocessor.
const ADDITIONS: i32 = 512;
const BLOCKS: u32 = 8;
/// Counters that are added to.
const COUNTERS: usize = 256;
/// Barriers of the shorter of the two runs whose difference counts.
const BARRIERS: i32 = 20_000;

/// The kernels, loaded.
#[derive(Debug)]
pub struct Micro {
    device: Device,
    nothing: Kernel,
    barriers: Kernel,
    atomics: [Kernel; 2],
}

/// Where counters lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counters {
    /// In the device's memory, the same for all blocks.
    Global,
    /// In shared memory, each block its own.
    Shared,
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
        let atomics = [module.kernel("tw_atomics_global")?, module.kernel("tw_atomics_shared")?];
        Ok(Micro { device: device.clone(), nothing, barriers, atomics })
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

    /// Seconds of one atomic addition to one of 256 counters, by chance, where all multiprocessors are at work.
    ///
    /// # Errors
    /// [`crate::Error::Device`]; counters that do not add up.
    pub fn atomic_s(&self, counters: Counters) -> Result<f64> {
        let kernel = &self.atomics[usize::from(counters == Counters::Shared)];
        let mut array =
            self.device.zeros::<i32>(COUNTERS).map_err(|failure| failure.during("have counters"))?;
        let shape = Shape { grid: [BLOCKS * self.shape().grid[0], 1, 1], ..self.shape() };
        let seconds = self.device.seconds(|| {
            // SAFETY: the kernel has these two parameters, and stays within 256 counters.
            unsafe { self.device.launch(kernel).write(&mut array).value(&ADDITIONS).start(shape) }
                .map_err(|failure| failure.during("launch atomic additions"))
        })?;
        let mut values = vec![0; COUNTERS];
        self.device.download(&array, &mut values).map_err(|failure| failure.during("read counters"))?;
        self.device.finish().map_err(|failure| failure.during("read counters"))?;
        let all = f64::from(shape.grid[0]) * f64::from(THREADS) * f64::from(ADDITIONS);
        if values.iter().map(|&value| f64::from(value)).sum::<f64>() != all {
            let reason = "atomic additions of the device do not add up".to_owned();
            return Err(Error::Device { action: "count atomic additions".to_owned(), reason });
        }
        Ok(seconds / all)
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
