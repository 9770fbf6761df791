//! Kernels are launched, many without a pause, and timed.
#![allow(unsafe_code)]

use super::program::CudaProgramOnDevice;
use super::program::DeviceRun;
use crate::device_program::distances;
use crate::error::{ExecutionError, Result};
use crate::launches::{PlannedLaunch, for_each_launch};
use crate::layout::Layout;
use hhc_codegen::KernelPlan;
use toolchain::driver::Shape;
use toolchain::interrupt;

/// Launches that are evaluated before time is measured, and then queued without a pause. A run is one batch after
/// another, the device idle between them, so that a run of any length fits in memory and stops soon when asked to; one
/// kernel cannot be stopped.
struct Batch {
    launches: Vec<PlannedLaunch>,
    size: usize,
}

/// Launches of the first batch.
const FIRST_BATCH: usize = 32;

/// Most launches of a batch.
const LARGEST_BATCH: usize = 1 << 16;

/// Wanted length of a batch in seconds.
const BATCH_SECONDS: f64 = 0.3;

impl Batch {
    /// Begins the next one, which is to take as long as wanted at the pace of this one.
    fn next(&mut self, seconds: f64) {
        let fitting = self.launches.len() as f64 * BATCH_SECONDS / seconds.max(1e-6);
        self.size = (fitting as usize).clamp(1, (self.size * 8).min(LARGEST_BATCH));
        self.launches.clear();
    }
}

/// Which integer of a launch is the level stride: after extents and outer strides.
pub(super) fn level_stride_of(dimension: usize) -> usize {
    2 * dimension - 1
}

impl CudaProgramOnDevice {
    /// Launches all kernels of a run. Each slot of a field lies `level_stride` elements, of its own type, after the one
    /// before it.
    pub(super) fn launch_all(
        &self,
        (plan, layout, level_stride): (&KernelPlan, &Layout, i64),
        addresses: &[u64],
        parameters: &[f64],
        steps: i64,
        run: &mut DeviceRun,
    ) -> Result<()> {
        let mut batch = Batch { launches: Vec::new(), size: FIRST_BATCH };
        let mut launched = |batch: &mut Batch| {
            let seconds = self.device.seconds(|| {
                batch.launches.iter().try_for_each(|launch| {
                    interrupt::check()?;
                    self.launch(launch, addresses, parameters)
                })
            })?;
            run.seconds += seconds;
            run.launches += batch.launches.len() as u64;
            batch.next(seconds);
            Ok::<(), ExecutionError>(interrupt::check()?)
        };
        for_each_launch(plan, layout, steps, |launch| {
            let mut launch = launch.clone();
            launch.integers[level_stride_of(layout.size().len())] = level_stride;
            batch.launches.push(launch);
            if batch.launches.len() >= batch.size { launched(&mut batch) } else { Ok(()) }
        })?;
        launched(&mut batch)
    }

    /// Launches a kernel on the arrays of all fields and series, by their addresses.
    pub(super) fn launch(&self, launch: &PlannedLaunch, addresses: &[u64], parameters: &[f64]) -> Result<()> {
        let kernel = &self.program.kernels[launch.kernel];
        let (before, after) = launch
            .integers
            .split_at(PlannedLaunch::integers_before_parameters(self.plan.program.dimension()));
        let strides = launch.strides(self.plan.program.dimension());
        let ways = distances(kernel.takes_ways, &self.program.ways, strides);
        let mut builder = self.device.launch(&self.functions[launch.kernel]);
        for address in addresses {
            builder.address(address);
        }
        for integer in before {
            builder.value(integer);
        }
        for parameter in parameters {
            builder.value(parameter);
        }
        for integer in after {
            builder.value(integer);
        }
        builder.values(&ways);
        let shape =
            Shape { grid: launch.grid, block: kernel.threads, shared_bytes: kernel.shared_bytes as u32 };
        // SAFETY: the arguments are those of `docs/cuda-contract.md`, which the text was generated for; the
        // arrays have the layout that the integers describe, and the plan was proved to stay within it.
        let started = unsafe { builder.start(shape) };
        Ok(started.map_err(|failure| failure.during(&format!("launch {}", kernel.symbol)))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_keep_pace() {
        let launch = PlannedLaunch { kernel: 0, grid: [1; 3], integers: vec![] };
        let mut batch = Batch { launches: vec![launch.clone(); FIRST_BATCH], size: FIRST_BATCH };
        batch.next(1e-3);
        assert_eq!((batch.launches.len(), batch.size), (0, 8 * FIRST_BATCH));
        batch.launches = vec![launch; 100];
        batch.next(30.0);
        assert_eq!(batch.size, 1);
        batch.next(0.0);
        assert_eq!(batch.size, 1);
    }
}
