//! A device as something that can be measured.

use super::{FoldedRun, GpuBench};
use crate::cuda::{CudaProgramOnDevice, limits};
use crate::device_program::DeviceProgram;
use crate::error::{ExecutionError, Result};
use crate::reference::default_parameters;
use hhc_codegen::KernelPlan;
use hhc_codegen::backend::cuda::{self, CudaOptions};
use std::sync::Arc;
use toolchain::cache::Cache;
use toolchain::driver::Device;
use toolchain::energy::{EnergyMeter, NvmlMeter};
use toolchain::micro::Micro;

/// Copies of one measurement.
const COPIES: usize = 5;

/// A device, and the kernels that were loaded last, with what they are of.
#[derive(Debug)]
pub struct DeviceBench {
    device: Device,
    micro: Micro,
    cache: Arc<Cache>,
    loaded: Option<(String, CudaProgramOnDevice)>,
}

impl DeviceBench {
    /// Loads the micro-benchmarks.
    ///
    /// # Errors
    /// Those of NVRTC and of the driver.
    pub fn new(device: Device) -> Result<DeviceBench> {
        let cache = Cache::open()?;
        let micro = Micro::load(&device, &cache)?;
        Ok(DeviceBench { device, micro, cache, loaded: None })
    }

    fn load(&mut self, plan: &KernelPlan) -> Result<&CudaProgramOnDevice> {
        let element = plan.program.fields[0].element.name();
        let wanted = format!("{} {element} {} {}", plan.program.name, plan.strategy, plan.tile);
        if self.loaded.as_ref().is_none_or(|(known, _)| *known != wanted) {
            let loaded = load(&self.device, plan, &self.cache)?;
            self.loaded = Some((wanted, loaded));
        }
        match &self.loaded {
            Some((_, loaded)) => Ok(loaded),
            None => Err(ExecutionError::Plan("no kernels were loaded".to_owned())),
        }
    }
}

/// The kernels of a plan for a device, with its limits.
///
/// # Errors
/// [`ExecutionError::Plan`] for a tile that does not fit it; those of NVRTC and of the driver.
pub fn load(device: &Device, plan: &KernelPlan, cache: &Arc<Cache>) -> Result<CudaProgramOnDevice> {
    let text = cuda::generate(plan, &CudaOptions { limits: limits(device.facts()) })
        .map_err(|error| ExecutionError::Plan(error.to_string()))?;
    CudaProgramOnDevice::load(device, plan, &DeviceProgram::from(&text), false, cache)
}

impl GpuBench for DeviceBench {
    fn launch_s(&mut self) -> Result<f64> {
        Ok(self.micro.launch_s()?)
    }

    fn barrier_s(&mut self) -> Result<f64> {
        Ok(self.micro.barrier_s()?)
    }

    fn bandwidth(&mut self) -> Result<f64> {
        Ok(self.device.measure_copy(COPIES)?.bytes_per_second)
    }

    fn folded(&mut self, plan: &KernelPlan, size: &[i64], steps: i64) -> Result<FoldedRun> {
        let parameters = default_parameters(&plan.program);
        let loaded = self.load(plan)?;
        let run = loaded.run_folded(&parameters, size, steps)?;
        Ok(FoldedRun { seconds: run.seconds, resident: loaded.resident_blocks()? })
    }

    fn copy(&mut self) -> Result<f64> {
        let copied = self.device.measure_copy(COPIES)?;
        // One more run wakes the device up.
        Ok(2.0 * copied.array_bytes as f64 * (COPIES + 1) as f64)
    }

    fn barriers(&mut self) -> Result<f64> {
        Ok(self.micro.pass_barriers()?)
    }

    fn launches(&mut self) -> Result<f64> {
        Ok(self.micro.launch_many()?)
    }

    fn meter(&mut self) -> Option<Box<dyn EnergyMeter>> {
        Some(Box::new(NvmlMeter::open(&self.device.facts().name)?))
    }
}
