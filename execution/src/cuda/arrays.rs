//! The arrays of a program on a device.

use crate::around::Around;
use crate::grid::ProgramData;
use crate::layout::Layout;
use hhc_codegen::KernelPlan;
use polyhedral::program::FieldId;
use toolchain::driver::Array;

/// The arrays of a program on a device.
#[derive(Debug)]
pub struct DeviceData {
    pub(super) layout: Layout,
    pub(super) arrays: Vec<DeviceArray>,
    pub(super) series: Vec<DeviceArray>,
    /// As much again of each field that changes, where the plan has spare slots.
    pub(super) spare: Vec<DeviceArray>,
    /// Of a periodic program: where the arrays have ghost zones, and the values of series, which bands take parts of.
    pub(super) around: Option<Box<Bands>>,
}

/// A periodic program on a device.
#[derive(Debug)]
pub(super) struct Bands {
    pub(super) around: Around,
    /// A grid with ghost zones on the host.
    pub(super) wide: ProgramData,
    /// The grid as it was given, with all series.
    pub(super) given: ProgramData,
    /// Steps that were done since the initial levels.
    pub(super) steps: i64,
}

#[derive(Debug)]
pub(super) enum DeviceArray {
    F32(Array<f32>),
    F64(Array<f64>),
}

/// Where all arrays lie, in the order of the arguments of kernels. Kernels change them: nobody else may hold them.
pub(super) fn addresses(
    arrays: &mut [DeviceArray],
    series: &[DeviceArray],
    spare: &mut [DeviceArray],
) -> Vec<u64> {
    arrays.iter().chain(series).chain(spare.iter()).map(DeviceArray::address).collect()
}

/// The fields that have spare slots, by number.
pub(super) fn spare_fields(plan: &KernelPlan) -> Vec<usize> {
    let has = |field: &usize| plan.slots(FieldId(*field)) > plan.program.fields[*field].role.slots() as i64;
    (0..plan.program.fields.len()).filter(has).collect()
}

impl DeviceArray {
    pub(super) fn len(&self) -> usize {
        match self {
            DeviceArray::F32(array) => array.len(),
            DeviceArray::F64(array) => array.len(),
        }
    }

    pub(super) fn address(&self) -> u64 {
        match self {
            DeviceArray::F32(array) => array.address(),
            DeviceArray::F64(array) => array.address(),
        }
    }
}

impl DeviceData {
    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        let bytes = |array: &DeviceArray| match array {
            DeviceArray::F32(array) => array.bytes(),
            DeviceArray::F64(array) => array.bytes(),
        };
        self.arrays.iter().chain(&self.spare).map(bytes).sum::<usize>() as u64
    }
}
