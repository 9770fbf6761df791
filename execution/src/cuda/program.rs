//! The kernels of a plan, compiled by NVRTC and loaded.

use crate::device_program::DeviceProgram;
use crate::error::{ExecutionError, Result};
use hhc_codegen::KernelPlan;
use hhc_codegen::backend::cuda::DeviceLimits;
use std::sync::Arc;
use toolchain::cache::Cache;
use toolchain::driver::{Device, DeviceFacts, Kernel};
use toolchain::nvrtc::{CompiledCuda, CudaOptions, Nvrtc};

/// What generated code may use on a device.
pub fn limits(device: &DeviceFacts) -> DeviceLimits {
    DeviceLimits {
        device: device.name.clone(),
        shared_bytes_per_block: i64::try_from(device.shared_bytes_per_block).unwrap_or(i64::MAX),
        threads_per_block: device.threads_per_block.into(),
    }
}

/// The kernels of a plan, loaded on a device.
#[derive(Debug)]
pub struct CudaProgramOnDevice {
    pub(super) device: Device,
    pub(super) plan: KernelPlan,
    pub(super) program: DeviceProgram,
    pub(super) functions: Vec<Kernel>,
    pub(super) compiled: CompiledCuda,
}

/// What a run on a device tells.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceRun {
    /// Seconds from the first launch to the end of the last, measured by the device.
    pub seconds: f64,
    /// Kernel launches.
    pub launches: u64,
}

impl CudaProgramOnDevice {
    /// Compiles the kernels of `plan` for the device with the newest NVRTC that its driver supports, and
    /// loads them.
    ///
    /// # Errors
    /// Those of NVRTC and of the driver, and [`ExecutionError::Plan`] where a kernel needs more threads, registers or shared memory than there are.
    pub fn load(
        device: &Device,
        plan: &KernelPlan,
        program: &DeviceProgram,
        contraction: bool,
        cache: &Arc<Cache>,
    ) -> Result<CudaProgramOnDevice> {
        program.check(plan)?;
        let facts = device.facts();
        let nvrtc = Nvrtc::for_driver(facts.architecture, device.driver_major())?;
        let options = CudaOptions { contraction, ..CudaOptions::new(facts.architecture) };
        let name = format!("{}.cu", plan.program.name);
        let compiled = nvrtc.compile(&program.source, &name, &options, cache)?;
        let module = device.load(&compiled.cubin).map_err(|failure| failure.during("load the kernels"))?;
        let mut functions = Vec::with_capacity(program.kernels.len());
        for kernel in &program.kernels {
            let function = module.kernel(&kernel.symbol)?;
            let threads = kernel.threads_per_block();
            let allowed = function.max_threads()?;
            if threads > allowed {
                return Err(ExecutionError::Plan(format!(
                    "`{}` has blocks of {threads} threads, and its registers allow {allowed} on {}",
                    kernel.symbol, facts.name
                )));
            }
            if kernel.shared_bytes > facts.shared_bytes_per_block {
                return Err(ExecutionError::Plan(format!(
                    "`{}` needs {} bytes of shared memory per block, and {} has {}; use smaller tiles",
                    kernel.symbol, kernel.shared_bytes, facts.name, facts.shared_bytes_per_block
                )));
            }
            function.reserve_shared(kernel.shared_bytes)?;
            functions.push(function);
        }
        Ok(CudaProgramOnDevice {
            device: device.clone(),
            plan: plan.clone(),
            program: program.clone(),
            functions,
            compiled,
        })
    }

    /// The compiler's results.
    pub fn compiled(&self) -> &CompiledCuda {
        &self.compiled
    }

    pub(super) fn wrong_data(&self, problem: &str) -> ExecutionError {
        ExecutionError::WrongData { program: self.plan.program.name.clone(), problem: problem.to_owned() }
    }

    /// Blocks that a multiprocessor holds at once: the least over the kernels, at least 1.
    ///
    /// # Errors
    /// [`toolchain::Error::Device`].
    pub fn resident_blocks(&self) -> Result<i64> {
        let mut least = i64::MAX;
        for (function, kernel) in self.functions.iter().zip(&self.program.kernels) {
            let threads = u32::try_from(kernel.threads_per_block()).unwrap_or(u32::MAX);
            least = least.min(i64::from(function.resident_blocks(threads, kernel.shared_bytes as usize)?));
        }
        Ok(if least == i64::MAX { 1 } else { least.max(1) })
    }
}
