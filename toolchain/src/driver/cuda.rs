//! A device by its driver: memory on it, kernels, launches. What opens one asks first whether there is a driver: cudarc
//! panics where there is none.
#![allow(unsafe_code)]

use super::facts::{DeviceFacts, Failure, Rows, Shape};
use crate::error::{Error, Result};
use cudarc::driver::sys::{
    CUDA_MEMCPY3D, CUdevice_attribute, CUevent_flags, CUfunction_attribute, CUmemorytype, CUpointer_attribute,
};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError,
    LaunchArgs, LaunchConfig, PushKernelArg, ValidAsZeroBits, result, sys,
};
use cudarc::nvrtc::Ptx;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What arrays on a device hold, and what kernels are given by value.
pub trait Element: DeviceRepr + ValidAsZeroBits {}

impl Element for u8 {}
impl Element for i32 {}
impl Element for i64 {}
impl Element for f32 {}
impl Element for f64 {}

/// Values on a device.
#[derive(Debug)]
pub struct Array<T>(CudaSlice<T>);

impl<T> Array<T> {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their bytes.
    pub fn bytes(&self) -> usize {
        self.0.num_bytes()
    }

    /// Where they lie on the device.
    pub fn address(&self) -> u64 {
        self.0.device_ptr(self.0.stream()).0
    }
}

/// Memory of the host that kernels reach, too, at the same address.
#[derive(Debug)]
pub struct HostMemory {
    first: std::ptr::NonNull<u8>,
    context: Arc<CudaContext>,
}

impl HostMemory {
    /// Where it begins.
    pub fn address(&self) -> u64 {
        self.first.as_ptr() as u64
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: the driver gave this memory, and it is given back once.
            let _ = unsafe { result::free_host(self.first.as_ptr().cast()) };
        }
    }
}

/// Machine code, loaded on a device.
#[derive(Debug)]
pub struct Module(Arc<CudaModule>);

impl Module {
    /// The kernel of this name.
    ///
    /// # Errors
    /// [`Error::Device`] where there is none.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let found = self.0.load_function(name);
        found.map(Kernel).map_err(|error| failure(error).during(&format!("find the kernel {name}")))
    }
}

/// A kernel, loaded on a device.
#[derive(Debug)]
pub struct Kernel(CudaFunction);

impl Kernel {
    /// Most threads of a block that its registers allow.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn max_threads(&self) -> Result<u64> {
        let most =
            self.0.max_threads_per_block().map_err(|error| failure(error).during("describe a kernel"))?;
        Ok(u64::try_from(most).unwrap_or(0))
    }

    /// Allows launches with so many bytes of dynamic shared memory.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn reserve_shared(&self, bytes: u64) -> Result<()> {
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        self.0
            .set_attribute(attribute, bytes as i32)
            .map_err(|error| failure(error).during("reserve shared memory"))
    }

    /// Blocks of so many threads and bytes of dynamic shared memory that a multiprocessor holds at once.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn resident_blocks(&self, threads: u32, shared_bytes: usize) -> Result<u32> {
        self.0
            .occupancy_max_active_blocks_per_multiprocessor(threads, shared_bytes, None)
            .map_err(|error| failure(error).during("say how many blocks are resident"))
    }
}

/// A launch that is being put together: arguments in the order of the kernel's parameters.
pub struct Launch<'a>(LaunchArgs<'a>);

impl<'a> Launch<'a> {
    /// An array that the kernel reads.
    pub fn read<T>(&mut self, array: &'a Array<T>) -> &mut Self {
        self.0.arg(&array.0);
        self
    }

    /// An array that the kernel may change.
    pub fn write<T>(&mut self, array: &'a mut Array<T>) -> &mut Self {
        self.0.arg(&mut array.0);
        self
    }

    /// The address of an array, which the kernel may change.
    pub fn address(&mut self, address: &'a u64) -> &mut Self {
        self.0.arg(address);
        self
    }

    /// A value.
    pub fn value<T: Element>(&mut self, value: &'a T) -> &mut Self {
        self.0.arg(value);
        self
    }

    /// Values that the kernel takes as one argument, a structure of them: none where it has none.
    pub fn values<T: Element>(&mut self, values: &'a [T]) -> &mut Self {
        // The driver takes as many bytes from the first one on as the kernel says that its parameter has.
        if let Some(first) = values.first() {
            self.0.arg(first);
        }
        self
    }

    /// Gives the launch to the device, which runs it after those before it.
    ///
    /// # Safety
    /// The arguments are of the number and the types of the kernel's parameters, and with them and this shape the kernel
    /// stays within the arrays and changes only those that it may change.
    ///
    /// # Errors
    /// What the driver says.
    pub unsafe fn start(&mut self, shape: Shape) -> std::result::Result<(), Failure> {
        let config = LaunchConfig {
            grid_dim: shape.grid.into(),
            block_dim: shape.block.into(),
            shared_mem_bytes: shape.shared_bytes,
        };
        // SAFETY: the caller vouches for arguments and shape.
        unsafe { self.0.launch(config) }.map(drop).map_err(failure)
    }
}

/// A device with a context and a stream.
#[derive(Debug, Clone)]
pub struct Device {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    driver_major: i32,
    facts: DeviceFacts,
}

impl Device {
    /// Opens a device.
    ///
    /// # Errors
    /// [`Error::NoDevice`] with the reason in one line: no driver, no device of this number, or
    /// what the driver says.
    pub fn open(ordinal: usize) -> Result<Device> {
        with_driver(|| Device::open_with_driver(ordinal))
    }

    fn open_with_driver(ordinal: usize) -> Result<Device> {
        let failed = |error: DriverError| Error::NoDevice(failure(error).reason);
        cudarc::driver::result::init().map_err(failed)?;
        let count = CudaContext::device_count().map_err(failed)?;
        if usize::try_from(count).unwrap_or(0) <= ordinal {
            return Err(Error::NoDevice(format!(
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

    /// The number of the device on which an address lies; `None` where it is of no memory that the driver knows, or of
    /// the host's.
    ///
    /// # Errors
    /// [`Error::NoDevice`] as for [`Device::open`].
    pub fn owner(address: u64) -> Result<Option<usize>> {
        with_driver(|| {
            result::init().map_err(|error| Error::NoDevice(failure(error).reason))?;
            let kind = pointer_attribute(CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
            if kind != Some(CUmemorytype::CU_MEMORYTYPE_DEVICE as u32) {
                return Ok(None);
            }
            let ordinal =
                pointer_attribute(CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
            Ok(ordinal.and_then(|ordinal| usize::try_from(ordinal).ok()))
        })
    }

    /// What it is.
    pub fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    /// Major version of CUDA that the driver supports.
    pub fn driver_major(&self) -> i32 {
        self.driver_major
    }

    /// Bytes of memory that nobody uses.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn free_memory(&self) -> Result<u64> {
        let told = self.context.mem_get_info();
        let (free, _) = told.map_err(|error| failure(error).during("say how much memory is free"))?;
        Ok(free as u64)
    }

    /// Seconds that the device needs for what `work` gives it.
    ///
    /// # Errors
    /// [`Error::Device`], and what `work` returns.
    pub fn seconds<E: From<Error>>(
        &self,
        work: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<f64, E> {
        let event = || {
            self.stream
                .record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))
                .map_err(|error| failure(error).during("measure time"))
        };
        let start = event()?;
        work()?;
        let end = event()?;
        // Waits for the end; reports what went wrong in a kernel.
        let elapsed = start.elapsed_ms(&end);
        let milliseconds = elapsed.map_err(|error| failure(error).during("finish the kernels"))?;
        Ok(f64::from(milliseconds) / 1e3)
    }

    /// Loads machine code.
    ///
    /// # Errors
    /// What the driver says; so for all of these.
    pub fn load(&self, cubin: &[u8]) -> std::result::Result<Module, Failure> {
        self.context.load_module(Ptx::from_binary(cubin.to_vec())).map(Module).map_err(failure)
    }

    /// An array of zeros.
    ///
    /// # Errors
    /// As above.
    pub fn zeros<T: Element>(&self, length: usize) -> std::result::Result<Array<T>, Failure> {
        self.stream.alloc_zeros(length).map(Array).map_err(failure)
    }

    /// An array of these values.
    ///
    /// # Errors
    /// As above.
    pub fn upload<T: Element>(&self, values: &[T]) -> std::result::Result<Array<T>, Failure> {
        self.stream.clone_htod(values).map(Array).map_err(failure)
    }

    /// Copies values over the first ones of an array.
    ///
    /// # Errors
    /// As above.
    pub fn refill<T: Element>(&self, values: &[T], array: &mut Array<T>) -> std::result::Result<(), Failure> {
        self.stream.memcpy_htod(values, &mut array.0).map_err(failure)
    }

    /// Copies values over those of an array from one of them on.
    ///
    /// # Errors
    /// As above; nothing where the array has not as many.
    pub fn refill_from<T: Element>(
        &self,
        values: &[T],
        array: &mut Array<T>,
        first: usize,
    ) -> std::result::Result<(), Failure> {
        match array.0.try_slice_mut(first..first.saturating_add(values.len())) {
            Some(mut part) => self.stream.memcpy_htod(values, &mut part).map_err(failure),
            None => Err(beyond()),
        }
    }

    /// Copies a part of an array back. The values are there once [`Device::finish`] returns.
    ///
    /// # Errors
    /// As above.
    pub fn download_from<T: Element>(
        &self,
        array: &Array<T>,
        first: usize,
        values: &mut [T],
    ) -> std::result::Result<(), Failure> {
        match array.0.try_slice(first..first.saturating_add(values.len())) {
            Some(part) => self.stream.memcpy_dtoh(&part, values).map_err(failure),
            None => Err(beyond()),
        }
    }

    /// Memory of the host that kernels reach, too.
    ///
    /// # Errors
    /// As above.
    pub fn host_memory(&self, bytes: usize) -> std::result::Result<HostMemory, Failure> {
        self.context.bind_to_thread().map_err(failure)?;
        // SAFETY: it is given back once, when the value is dropped.
        let first = unsafe { result::malloc_host(bytes.max(1), 0) }.map_err(failure)?;
        let first = std::ptr::NonNull::new(first.cast()).ok_or_else(beyond)?;
        Ok(HostMemory { first, context: self.context.clone() })
    }

    /// Copies an array back. The values are there once [`Device::finish`] returns.
    ///
    /// # Errors
    /// As above.
    pub fn download<T: Element>(
        &self,
        array: &Array<T>,
        values: &mut [T],
    ) -> std::result::Result<(), Failure> {
        self.stream.memcpy_dtoh(&array.0, values).map_err(failure)
    }

    /// Copies one array over the first values of another.
    ///
    /// # Errors
    /// As above.
    pub fn copy<T: Element>(&self, from: &Array<T>, to: &mut Array<T>) -> std::result::Result<(), Failure> {
        self.stream.memcpy_dtod(&from.0, &mut to.0).map_err(failure)
    }

    /// A second array of the same values.
    ///
    /// # Errors
    /// As above.
    pub fn duplicate<T: Element>(&self, array: &Array<T>) -> std::result::Result<Array<T>, Failure> {
        self.stream.clone_dtod(&array.0).map(Array).map_err(failure)
    }

    /// Copies a box between places on the device: so many planes of so many rows of so many bytes.
    ///
    /// # Safety
    /// Both places lie on this device and have all these bytes, which do not overlap, and which nobody else writes until
    /// [`Device::finish`] returns.
    ///
    /// # Errors
    /// As above.
    pub unsafe fn copy_box(
        &self,
        from: Rows,
        to: Rows,
        [planes, rows, bytes]: [usize; 3],
    ) -> std::result::Result<(), Failure> {
        self.context.bind_to_thread().map_err(failure)?;
        let stream = self.stream.cu_stream();
        if planes * rows == 1 {
            // SAFETY: the caller vouches for both places.
            let copied = unsafe { sys::cuMemcpyDtoDAsync_v2(to.first, from.first, bytes, stream) };
            return copied.result().map_err(failure);
        }
        // A plane of the driver's is a whole number of rows; others are copied one by one.
        let whole = |rows: &Rows| planes == 1 || (rows.row > 0 && rows.plane.is_multiple_of(rows.row));
        let at_once = if whole(&from) && whole(&to) { planes } else { 1 };
        for plane in 0..planes / at_once {
            let first = |rows: &Rows| rows.first + (plane * rows.plane) as u64;
            let height = |place: &Rows| if planes == 1 { rows } else { place.plane / place.row.max(1) };
            let copy = CUDA_MEMCPY3D {
                srcXInBytes: 0,
                srcY: 0,
                srcZ: 0,
                srcLOD: 0,
                srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
                srcHost: std::ptr::null(),
                srcDevice: first(&from),
                srcArray: std::ptr::null_mut(),
                reserved0: std::ptr::null_mut(),
                srcPitch: from.row,
                srcHeight: height(&from),
                dstXInBytes: 0,
                dstY: 0,
                dstZ: 0,
                dstLOD: 0,
                dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
                dstHost: std::ptr::null_mut(),
                dstDevice: first(&to),
                dstArray: std::ptr::null_mut(),
                reserved1: std::ptr::null_mut(),
                dstPitch: to.row,
                dstHeight: height(&to),
                WidthInBytes: bytes,
                Height: rows,
                Depth: at_once,
            };
            // SAFETY: the caller vouches for both places, and the description outlives the call.
            unsafe { sys::cuMemcpy3DAsync_v2(&copy, stream) }.result().map_err(failure)?;
        }
        Ok(())
    }

    /// Waits for what a stream of somebody else was given: 1 is the legacy default stream, 2 that of the calling thread,
    /// others are handles. The thread's current context is as before.
    ///
    /// # Safety
    /// The handle is that of a stream which exists until this returns.
    ///
    /// # Errors
    /// As above.
    pub unsafe fn wait_for(&self, stream: u64) -> std::result::Result<(), Failure> {
        let before = result::ctx::get_current().map_err(failure)?;
        self.context.bind_to_thread().map_err(failure)?;
        // SAFETY: the caller vouches for the handle.
        let done = unsafe { sys::cuStreamSynchronize(stream as sys::CUstream) }.result();
        // SAFETY: it was the current one, or none was.
        let back = unsafe { result::ctx::set_current(before.unwrap_or(std::ptr::null_mut())) };
        done.and(back).map_err(failure)
    }

    /// Waits until everything that the device was given is done.
    ///
    /// # Errors
    /// As above.
    pub fn finish(&self) -> std::result::Result<(), Failure> {
        self.stream.synchronize().map_err(failure)
    }

    /// A launch of a kernel.
    pub fn launch<'a>(&'a self, kernel: &'a Kernel) -> Launch<'a> {
        Launch(self.stream.launch_builder(&kernel.0))
    }
}

/// What `ask` finds, where there is a driver that has all functions.
fn with_driver<T>(ask: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: opens and closes the driver's library, whose initialisers have no preconditions.
    if !unsafe { sys::is_culib_present() } {
        let reason = "there is no NVIDIA driver (libcuda was not found)";
        return Err(Error::NoDevice(reason.to_owned()));
    }
    // cudarc panics where the driver lacks a function.
    catch_unwind(AssertUnwindSafe(ask))
        .unwrap_or_else(|_| Err(Error::NoDevice("the NVIDIA driver is too old".to_owned())))
}

/// A fact of four bytes about an address; `None` where the driver does not know it.
fn pointer_attribute(attribute: CUpointer_attribute, address: u64) -> Option<u32> {
    let mut value = 0_u32;
    // SAFETY: both attributes that are asked for have four bytes, and the pointer is to as many; the driver looks the
    // address up without following it.
    let told = unsafe { sys::cuPointerGetAttribute((&raw mut value).cast(), attribute, address) };
    told.result().ok().map(|()| value)
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
        memory_clock_hz: memory_kilohertz * 1e3,
        memory_bus_bits: bus_bits,
        copy_engines: attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT).unwrap_or(0),
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

/// A place that is none.
fn beyond() -> Failure {
    Failure { reason: "there is no such memory".to_owned() }
}

/// What the driver says of an error.
fn failure(error: DriverError) -> Failure {
    let text = |text: std::result::Result<&std::ffi::CStr, DriverError>| {
        text.ok().map(|text| text.to_string_lossy().into_owned())
    };
    let reason = match (text(error.error_name()), text(error.error_string())) {
        (Some(name), Some(words)) => format!("{words} ({name})"),
        _ => format!("{:?}", error.0),
    };
    Failure { reason }
}
