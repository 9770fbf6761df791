//! Arrays on a device, which are Python's by an address alone: what their owners say of them is compared with what the
//! driver knows.
#![allow(unsafe_code)]

use crate::errors::raised;
use crate::interpreter::detached;
use crate::watched::watched_to_the_end;
use execution::cuda::{FieldOnDevice, LevelOnDevice, LevelsOnDevice};
use execution::levels::span;
use polyhedral::program::Program;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{CStr, c_void};
use toolchain::driver::{Array, Device, Failure};

/// A level: its address, and its strides but the innermost, in elements.
type Level = (u64, Vec<i64>);

/// The arrays of a run.
#[derive(FromPyObject)]
pub struct Arrays {
    /// For each field: initial levels, addresses of the slots, results.
    fields: Vec<(Vec<Level>, Vec<u64>, Vec<Level>)>,
    /// Address and length of each series.
    series: Vec<(u64, i64)>,
}

/// The number of the device on which an address lies, if it lies on one.
#[pyfunction]
pub fn device_of(py: Python<'_>, address: u64) -> PyResult<Option<usize>> {
    raised(py, detached(py, || Device::owner(address)).map_err(tilewright::Error::from))
}

/// The arrays as levels of a program; they lie on this device, with all that they are said to have.
pub fn levels(program: &Program, arrays: &Arrays, size: &[i64], device: usize) -> PyResult<LevelsOnDevice> {
    let wrong = |message: &str| PyValueError::new_err(message.to_owned());
    if arrays.fields.len() != program.fields.len() || arrays.series.len() != program.series.len() {
        return Err(wrong("there are more or fewer arrays than fields and series"));
    }
    let lies_here = |address: u64, bytes: u64| {
        let ends = [Some(address), address.checked_add(bytes.saturating_sub(1))];
        ends.into_iter().all(|end| end.is_some_and(|end| Device::owner(end).ok().flatten() == Some(device)))
    };
    let level = |(address, strides): &Level, element: usize| {
        let span = span(size, strides).filter(|_| strides.len() + 1 == size.len());
        let bytes = span.and_then(|span| span.checked_mul(element));
        let bytes = bytes.ok_or_else(|| wrong("a level has strides that make no sense"))?;
        if address % element as u64 != 0 || !lies_here(*address, bytes as u64) {
            return Err(wrong("a level is not in the memory of its device"));
        }
        Ok(LevelOnDevice { address: *address, outer_strides: strides.clone() })
    };
    let dense: Vec<i64> = (1..size.len()).map(|d| size[d..].iter().product()).collect();
    let mut fields = Vec::new();
    for ((starts, slots, results), field) in arrays.fields.iter().zip(&program.fields) {
        let element = field.element.bytes();
        let all = |list: &[Level]| list.iter().map(|one| level(one, element)).collect::<PyResult<_>>();
        for slot in slots {
            level(&(*slot, dense.clone()), element)?;
        }
        fields.push(FieldOnDevice { starts: all(starts)?, slots: slots.clone(), results: all(results)? });
    }
    for ((address, length), series) in arrays.series.iter().zip(&program.series) {
        let bytes = length.max(&0).unsigned_abs() * series.element.bytes() as u64;
        if *length > 0 && !lies_here(*address, bytes) {
            return Err(wrong("a series is not in the memory of its device"));
        }
    }
    // SAFETY: the arrays begin and end in the memory of the device; Python keeps their owners, says which of them overlap,
    // and that nobody writes to them meanwhile is documented at `Stencil.run`.
    Ok(unsafe { LevelsOnDevice::new(size, fields, arrays.series.clone()) })
}

/// Waits on the calling thread for what streams were given.
pub fn wait_for(device: &Device, streams: &[u64]) -> Result<(), Failure> {
    // SAFETY: the streams are those that the owners of arrays name, which are kept.
    streams.iter().try_for_each(|&stream| unsafe { device.wait_for(stream) })
}

/// Bytes on a device, for arrays whose owners make no new ones.
#[pyclass(frozen, module = "tilewright._tilewright")]
pub struct DeviceMemory {
    array: Array<u8>,
}

#[pymethods]
impl DeviceMemory {
    /// So many zeros.
    #[new]
    fn new(py: Python<'_>, device: usize, bytes: usize) -> PyResult<DeviceMemory> {
        DeviceMemory::made(py, device, |device| device.zeros(bytes))
    }

    /// A copy of these bytes.
    #[staticmethod]
    fn holding(py: Python<'_>, device: usize, values: Vec<u8>) -> PyResult<DeviceMemory> {
        DeviceMemory::made(py, device, |device| device.upload(&values))
    }

    #[getter]
    fn address(&self) -> u64 {
        self.array.address()
    }
}

impl DeviceMemory {
    fn made(
        py: Python<'_>,
        device: usize,
        make: impl FnOnce(&Device) -> Result<Array<u8>, Failure> + Send,
    ) -> PyResult<DeviceMemory> {
        let made = watched_to_the_end(py, || {
            let device = Device::open(device)?;
            let failed = |failure: Failure| failure.during("allocate memory");
            let array = make(&device).map_err(failed)?;
            device.finish().map_err(failed)?;
            Ok::<_, toolchain::Error>(array)
        });
        raised(py, made?.map_err(tilewright::Error::from)).map(|array| DeviceMemory { array })
    }
}

/// `DLDevice`, `DLDataType`, `DLTensor` and what manages one, of the header of DLPack 1.0 and of those before it
/// (<https://dmlc.github.io/dlpack/latest/c_api.html>).
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device: i32,
    dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: *mut c_void,
    flags: u64,
    tensor: Tensor,
}

const NAME: &CStr = c"dltensor";
const NAME_VERSIONED: &CStr = c"dltensor_versioned";
/// The flag of tensors that are not to be written.
const READ_ONLY: u64 = 1;

/// What a capsule of DLPack says, which stays its producer's: address, device type, device, type code, bits, shape,
/// strides in elements if there are any, whether it is read-only.
type Told = (u64, i32, i32, u8, u8, Vec<i64>, Option<Vec<i64>>, bool);

/// Reads a capsule of DLPack, without taking what it holds.
#[pyfunction]
pub fn dlpack(capsule: &Bound<'_, PyCapsule>) -> PyResult<Told> {
    let (tensor, read_only) = if capsule.is_valid_checked(Some(NAME_VERSIONED)) {
        let versioned = capsule.pointer_checked(Some(NAME_VERSIONED))?.cast::<Versioned>().as_ptr();
        // SAFETY: a capsule of this name holds this structure, as the protocol demands; the version comes first in all
        // versions.
        let (major, flags) = unsafe { ((*versioned).major, (*versioned).flags) };
        if major != 1 {
            return Err(PyValueError::new_err(format!("a tensor of version {major} of DLPack")));
        }
        // SAFETY: as above; the structure lives as long as the capsule.
        (unsafe { &raw const (*versioned).tensor }, flags & READ_ONLY != 0)
    } else {
        (capsule.pointer_checked(Some(NAME))?.cast::<Tensor>().as_ptr().cast_const(), false)
    };
    // SAFETY: as above; shape and strides have as many entries as there are dimensions.
    unsafe {
        let tensor = &*tensor;
        let count = usize::try_from(tensor.dimensions).unwrap_or(0);
        let entries = |first: *const i64| {
            let given = !first.is_null();
            given.then(|| std::slice::from_raw_parts(first, count).to_vec())
        };
        // Vectors as elements are nobody's numbers: no bits.
        let bits = if tensor.lanes == 1 { tensor.bits } else { 0 };
        let address = (tensor.data as u64).wrapping_add(tensor.byte_offset);
        let shape = entries(tensor.shape).unwrap_or_default();
        let (kind, device) = (tensor.device_type, tensor.device);
        Ok((address, kind, device, tensor.code, bits, shape, entries(tensor.strides), read_only))
    }
}
