//! Devices in a build without the feature `cuda`: there are none.
#![cfg_attr(feature = "cuda", allow(dead_code))]

use super::facts::{DeviceFacts, Failure, Rows, Shape};
use crate::error::{Error, Result};
use std::marker::PhantomData;

/// What no value can have: so all that a device would do is written down without being there.
#[derive(Debug, Clone, Copy)]
enum Never {}

/// What arrays on a device hold, and what kernels are given by value.
pub trait Element {}

impl Element for u8 {}
impl Element for i32 {}
impl Element for i64 {}
impl Element for f32 {}
impl Element for f64 {}

/// Values on a device.
#[derive(Debug)]
pub struct Array<T> {
    never: Never,
    values: PhantomData<T>,
}

impl<T> Array<T> {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self.never {}
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        match self.never {}
    }

    /// Their bytes.
    pub fn bytes(&self) -> usize {
        match self.never {}
    }

    /// Where they lie on the device.
    pub fn address(&self) -> u64 {
        match self.never {}
    }
}

/// Memory of the host that kernels reach, too, at the same address.
#[derive(Debug)]
pub struct HostMemory(Never);

impl HostMemory {
    /// Where it begins.
    pub fn address(&self) -> u64 {
        match self.0 {}
    }
}

/// Machine code, loaded on a device.
#[derive(Debug)]
pub struct Module(Never);

impl Module {
    /// The kernel of this name.
    ///
    /// # Errors
    /// [`Error::Device`] where there is none.
    pub fn kernel(&self, _name: &str) -> Result<Kernel> {
        match self.0 {}
    }
}

/// A kernel, loaded on a device.
#[derive(Debug)]
pub struct Kernel(Never);

impl Kernel {
    /// Most threads of a block that its registers allow.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn max_threads(&self) -> Result<u64> {
        match self.0 {}
    }

    /// Allows launches with so many bytes of dynamic shared memory.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn reserve_shared(&self, _bytes: u64) -> Result<()> {
        match self.0 {}
    }

    /// Blocks of so many threads and bytes of dynamic shared memory that a multiprocessor holds at once.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn resident_blocks(&self, _threads: u32, _shared_bytes: usize) -> Result<u32> {
        match self.0 {}
    }
}

/// A launch that is being put together: arguments in the order of the kernel's parameters.
pub struct Launch<'a> {
    never: Never,
    arguments: PhantomData<&'a ()>,
}

impl<'a> Launch<'a> {
    /// An array that the kernel reads.
    pub fn read<T>(&mut self, _array: &'a Array<T>) -> &mut Self {
        match self.never {}
    }

    /// An array that the kernel may change.
    pub fn write<T>(&mut self, _array: &'a mut Array<T>) -> &mut Self {
        match self.never {}
    }

    /// The address of an array, which the kernel may change.
    pub fn address(&mut self, _address: &'a u64) -> &mut Self {
        match self.never {}
    }

    /// A value.
    pub fn value<T: Element>(&mut self, _value: &'a T) -> &mut Self {
        match self.never {}
    }

    /// Values that the kernel takes as one argument, a structure of them: none where it has none.
    pub fn values<T: Element>(&mut self, _values: &'a [T]) -> &mut Self {
        match self.never {}
    }

    /// Gives the launch to the device, which runs it after those before it.
    ///
    /// # Safety
    /// The arguments are of the number and the types of the kernel's parameters, and with them and this shape the kernel
    /// stays within the arrays and changes only those that it may change.
    ///
    /// # Errors
    /// What the driver says.
    #[allow(unsafe_code)]
    pub unsafe fn start(&mut self, _shape: Shape) -> std::result::Result<(), Failure> {
        match self.never {}
    }
}

/// A device with a context and a stream.
#[derive(Debug, Clone)]
pub struct Device(Never);

impl Device {
    /// There is none.
    ///
    /// # Errors
    /// [`Error::NoDevice`] that says how to get a build with CUDA.
    pub fn open(_ordinal: usize) -> Result<Device> {
        Err(none())
    }

    /// There is none.
    ///
    /// # Errors
    /// As for [`Device::open`].
    pub fn owner(_address: u64) -> Result<Option<usize>> {
        Err(none())
    }

    /// What it is.
    pub fn facts(&self) -> &DeviceFacts {
        match self.0 {}
    }

    /// Major version of CUDA that the driver supports.
    pub fn driver_major(&self) -> i32 {
        match self.0 {}
    }

    /// Bytes of memory that nobody uses.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn free_memory(&self) -> Result<u64> {
        match self.0 {}
    }

    /// Seconds that the device needs for what `work` gives it.
    ///
    /// # Errors
    /// [`Error::Device`], and what `work` returns.
    pub fn seconds<E: From<Error>>(
        &self,
        _work: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<f64, E> {
        match self.0 {}
    }

    /// Loads machine code.
    ///
    /// # Errors
    /// What the driver says; so for all of these.
    pub fn load(&self, _cubin: &[u8]) -> std::result::Result<Module, Failure> {
        match self.0 {}
    }

    /// An array of zeros.
    ///
    /// # Errors
    /// As above.
    pub fn zeros<T: Element>(&self, _length: usize) -> std::result::Result<Array<T>, Failure> {
        match self.0 {}
    }

    /// An array of these values.
    ///
    /// # Errors
    /// As above.
    pub fn upload<T: Element>(&self, _values: &[T]) -> std::result::Result<Array<T>, Failure> {
        match self.0 {}
    }

    /// Copies values over the first ones of an array.
    ///
    /// # Errors
    /// As above.
    pub fn refill<T: Element>(
        &self,
        _values: &[T],
        _array: &mut Array<T>,
    ) -> std::result::Result<(), Failure> {
        match self.0 {}
    }

    /// Copies values over those of an array from one of them on.
    ///
    /// # Errors
    /// As above; nothing where the array has not as many.
    pub fn refill_from<T: Element>(
        &self,
        _values: &[T],
        _array: &mut Array<T>,
        _first: usize,
    ) -> std::result::Result<(), Failure> {
        match self.0 {}
    }

    /// Copies a part of an array back. The values are there once [`Device::finish`] returns.
    ///
    /// # Errors
    /// As above.
    pub fn download_from<T: Element>(
        &self,
        _array: &Array<T>,
        _first: usize,
        _values: &mut [T],
    ) -> std::result::Result<(), Failure> {
        match self.0 {}
    }

    /// Memory of the host that kernels reach, too.
    ///
    /// # Errors
    /// As above.
    pub fn host_memory(&self, _bytes: usize) -> std::result::Result<HostMemory, Failure> {
        match self.0 {}
    }

    /// Copies an array back. The values are there once [`Device::finish`] returns.
    ///
    /// # Errors
    /// As above.
    pub fn download<T: Element>(
        &self,
        _array: &Array<T>,
        _values: &mut [T],
    ) -> std::result::Result<(), Failure> {
        match self.0 {}
    }

    /// Copies one array over the first values of another.
    ///
    /// # Errors
    /// As above.
    pub fn copy<T: Element>(&self, _from: &Array<T>, _to: &mut Array<T>) -> std::result::Result<(), Failure> {
        match self.0 {}
    }

    /// A second array of the same values.
    ///
    /// # Errors
    /// As above.
    pub fn duplicate<T: Element>(&self, _array: &Array<T>) -> std::result::Result<Array<T>, Failure> {
        match self.0 {}
    }

    /// Copies a box between places on the device: so many planes of so many rows of so many bytes.
    ///
    /// # Safety
    /// Both places lie on this device and have all these bytes, which do not overlap, and which nobody else writes until
    /// [`Device::finish`] returns.
    ///
    /// # Errors
    /// As above.
    #[allow(unsafe_code)]
    pub unsafe fn copy_box(
        &self,
        _from: Rows,
        _to: Rows,
        [_planes, _rows, _bytes]: [usize; 3],
    ) -> std::result::Result<(), Failure> {
        match self.0 {}
    }

    /// Waits for what a stream of somebody else was given.
    ///
    /// # Safety
    /// The handle is that of a stream which exists until this returns.
    ///
    /// # Errors
    /// As above.
    #[allow(unsafe_code)]
    pub unsafe fn wait_for(&self, _stream: u64) -> std::result::Result<(), Failure> {
        match self.0 {}
    }

    /// Waits until everything that the device was given is done.
    ///
    /// # Errors
    /// As above.
    pub fn finish(&self) -> std::result::Result<(), Failure> {
        match self.0 {}
    }

    /// A launch of a kernel.
    pub fn launch<'a>(&'a self, _kernel: &'a Kernel) -> Launch<'a> {
        match self.0 {}
    }
}

fn none() -> Error {
    let reason = "this build of Tilewright has no CUDA support; build it with the feature `cuda`, which is on unless \
                  --no-default-features turns it off";
    Error::NoDevice(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_cuda_says_how_to_get_one_with_it() {
        let error = Device::open(0).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.starts_with("no CUDA device can be used: this build"), "{error}");
        assert!(error.contains("feature `cuda`"), "{error}");
    }
}
