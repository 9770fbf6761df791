//! The device: what it is, memory on it, and how fast that is. Everything here asks first whether there is a
//! driver: cudarc panics where there is none.
#![allow(unsafe_code)]

use crate::error::{ExecutionError, Result};
use cudarc::driver::sys::{CUdevice_attribute, CUevent_flags};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DriverError, sys};
use hhc_codegen::backend::cuda::DeviceLimits;
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Largest array of a bandwidth measurement in bytes, and the part of the free memory that it may take.
const COPY_BYTES: usize = 1 << 30;
const COPY_PART: usize = 4;

/// What a device is, as its driver says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// Its number.
    pub ordinal: usize,
    /// As in `NVIDIA A100-SXM4-80GB`.
    pub name: String,
    /// Compute capability without the point, as in 80.
    pub architecture: u32,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Clock of the multiprocessors in hertz.
    pub clock_hz: f64,
    /// Bytes per second between memory and device by clock and width; 0 where the driver does not tell.
    pub theoretical_bandwidth: f64,
    /// Bytes of the second-level cache.
    pub l2_bytes: u64,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_bytes_per_multiprocessor: u64,
    /// Bytes of shared memory that a block may ask for.
    pub shared_bytes_per_block: u64,
    /// Registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Threads of a multiprocessor.
    pub threads_per_multiprocessor: u32,
    /// Threads of a block.
    pub threads_per_block: u32,
    /// Version of CUDA that the driver supports, as in `12.4`.
    pub driver_version: String,
}

impl DeviceFacts {
    /// What generated code may use on it.
    pub fn limits(&self) -> DeviceLimits {
        DeviceLimits {
            device: self.name.clone(),
            shared_bytes_per_block: i64::try_from(self.shared_bytes_per_block).unwrap_or(i64::MAX),
            threads_per_block: self.threads_per_block.into(),
        }
    }
}

/// Bandwidth of a device's memory, measured by copying within it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceBandwidth {
    /// Bytes read plus bytes written in a second, in the fastest run.
    pub bytes_per_second: f64,
    /// Bytes of each of the two arrays.
    pub array_bytes: u64,
    /// All runs.
    pub seconds_all: Vec<f64>,
}

/// A device with a context and a stream.
#[derive(Debug, Clone)]
pub struct Device {
    pub(super) context: Arc<CudaContext>,
    pub(super) stream: Arc<CudaStream>,
    driver_major: i32,
    facts: DeviceFacts,
}

/// Whether device number 0 can be used, and what it is.
///
/// # Errors
/// [`ExecutionError::NoDevice`] with the reason in one line.
pub fn is_available() -> Result<DeviceFacts> {
    Device::open(0).map(|device| device.facts)
}

impl Device {
    /// Opens a device.
    ///
    /// # Errors
    /// [`ExecutionError::NoDevice`] with the reason in one line: no driver, no device of this number, or
    /// what the driver says.
    pub fn open(ordinal: usize) -> Result<Device> {
        // SAFETY: opens and closes the driver's library, whose initialisers have no preconditions.
        if !unsafe { sys::is_culib_present() } {
            let reason = "there is no NVIDIA driver (libcuda was not found)";
            return Err(ExecutionError::NoDevice(reason.to_owned()));
        }
        // cudarc panics where the driver lacks a function.
        catch_unwind(AssertUnwindSafe(|| Device::open_with_driver(ordinal)))
            .unwrap_or_else(|_| Err(ExecutionError::NoDevice("the NVIDIA driver is too old".to_owned())))
    }

    fn open_with_driver(ordinal: usize) -> Result<Device> {
        let failed = |error: DriverError| ExecutionError::NoDevice(reason(error));
        cudarc::driver::result::init().map_err(failed)?;
        let count = CudaContext::device_count().map_err(failed)?;
        if usize::try_from(count).unwrap_or(0) <= ordinal {
            return Err(ExecutionError::NoDevice(format!(
                "there is a driver and {count} device(s), but no device {ordinal}"
            )));
        }
        let mut version = 0;
        // SAFETY: the pointer is to a writable integer.
        unsafe { sys::cuDriverGetVersion(&mut version) }.result().map_err(failed)?;
        let context = CudaContext::new(ordinal).map_err(failed)?;
        let facts = facts(&context, ordinal, version).map_err(failed)?;
        Ok(Device { stream: context.default_stream(), context, driver_major: version / 1000, facts })
    }

    /// What it is.
    pub fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    /// Major version of CUDA that the driver supports.
    pub(super) fn driver_major(&self) -> i32 {
        self.driver_major
    }

    /// Bytes of memory that nobody uses.
    ///
    /// # Errors
    /// [`ExecutionError::Device`].
    pub fn free_memory(&self) -> Result<u64> {
        let (free, _) =
            self.context.mem_get_info().map_err(|error| failed("say how much memory is free", error))?;
        Ok(free as u64)
    }

    /// Seconds that the device needs for what `work` gives it.
    ///
    /// # Errors
    /// [`ExecutionError::Device`], and what `work` returns.
    pub fn seconds(&self, work: impl FnOnce() -> Result<()>) -> Result<f64> {
        let event = || {
            self.stream
                .record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))
                .map_err(|error| failed("measure time", error))
        };
        let start = event()?;
        work()?;
        let end = event()?;
        // Waits for the end; reports what went wrong in a kernel.
        let milliseconds = start.elapsed_ms(&end).map_err(|error| failed("finish the kernels", error))?;
        Ok(f64::from(milliseconds) / 1e3)
    }

    /// Measures the bandwidth of the device's memory: the best of `runs` copies within it.
    ///
    /// # Errors
    /// [`ExecutionError::Device`], [`ExecutionError::Interrupted`].
    pub fn measure_copy(&self, runs: usize) -> Result<DeviceBandwidth> {
        let bytes = COPY_BYTES.min(self.free_memory()? as usize / COPY_PART).max(1);
        let array = || -> Result<CudaSlice<u8>> {
            self.stream.alloc_zeros(bytes).map_err(|error| failed("allocate memory", error))
        };
        let (from, mut to) = (array()?, array()?);
        let mut seconds_all = Vec::new();
        for number in 0..=runs.max(1) {
            crate::interrupt::check()?;
            let seconds = self.seconds(|| {
                self.stream.memcpy_dtod(&from, &mut to).map_err(|error| failed("copy memory", error))
            })?;
            // The first run wakes the device up.
            if number > 0 {
                seconds_all.push(seconds);
            }
        }
        let fastest = seconds_all.iter().copied().fold(f64::INFINITY, f64::min);
        Ok(DeviceBandwidth {
            bytes_per_second: 2.0 * bytes as f64 / fastest.max(1e-9),
            array_bytes: bytes as u64,
            seconds_all,
        })
    }
}

fn facts(
    context: &Arc<CudaContext>,
    ordinal: usize,
    version: i32,
) -> std::result::Result<DeviceFacts, DriverError> {
    let attribute = |attribute: CUdevice_attribute| {
        context.attribute(attribute).map(|value| u32::try_from(value).unwrap_or(0))
    };
    let (major, minor) = context.compute_capability()?;
    let kilohertz = f64::from(attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE).unwrap_or(0));
    let memory_kilohertz =
        f64::from(attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE).unwrap_or(0));
    let bus_bits = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH).unwrap_or(0);
    Ok(DeviceFacts {
        ordinal,
        name: context.name()?,
        architecture: (major * 10 + minor).unsigned_abs(),
        multiprocessors: attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        memory_bytes: context.total_mem()? as u64,
        clock_hz: kilohertz * 1e3,
        // Two transfers per clock.
        theoretical_bandwidth: 2.0 * memory_kilohertz * 1e3 * f64::from(bus_bits) / 8.0,
        l2_bytes: attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into(),
        shared_bytes_per_multiprocessor: attribute(
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
        )?
        .into(),
        shared_bytes_per_block: attribute(
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?
        .into(),
        registers_per_multiprocessor: attribute(
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
        )?,
        threads_per_multiprocessor: attribute(
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
        )?,
        threads_per_block: attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        driver_version: format!("{}.{}", version / 1000, version % 1000 / 10),
    })
}

/// What the driver says of an error.
fn reason(error: DriverError) -> String {
    let text = |text: std::result::Result<&std::ffi::CStr, DriverError>| {
        text.ok().map(|text| text.to_string_lossy().into_owned())
    };
    match (text(error.error_name()), text(error.error_string())) {
        (Some(name), Some(words)) => format!("{words} ({name})"),
        _ => format!("{:?}", error.0),
    }
}

/// An error of this crate for one of the driver.
pub(super) fn failed(action: &str, error: DriverError) -> ExecutionError {
    ExecutionError::Device { action: action.to_owned(), reason: reason(error) }
}
