//! Where instructions find their values: registers of [`LANES`] points, and the arrays.

use crate::element::Element;
use crate::grid::{ValuesMut, ValuesRef};

/// Points that one instruction works on at a time; the registers of a statement stay in the L1 cache.
pub const LANES: usize = 512;

/// For each entry of [`RowCode::reads`](super::RowCode::reads): the array, and what to add to the element of a point.
pub type Sources<'a> = [(ValuesRef<'a>, isize)];

/// The registers of one thread.
#[derive(Debug)]
pub struct Registers {
    pub(super) f32: Vec<Vec<f32>>,
    pub(super) f64: Vec<Vec<f64>>,
    pub(super) masks: Vec<Vec<bool>>,
}

/// An element type with its registers and arrays.
pub trait RowElement: Element {
    /// This type's registers.
    fn registers(registers: &Registers) -> &[Vec<Self>];
    /// This type's registers, to be changed.
    fn registers_mut(registers: &mut Registers) -> &mut [Vec<Self>];
    /// The elements, if they are of this type; else none.
    fn elements(values: ValuesRef<'_>) -> &[Self];
    /// The elements to be changed, if they are of this type; else none.
    fn elements_mut(values: ValuesMut<'_>) -> &mut [Self];
}

impl RowElement for f32 {
    fn registers(registers: &Registers) -> &[Vec<f32>] {
        &registers.f32
    }
    fn registers_mut(registers: &mut Registers) -> &mut [Vec<f32>] {
        &mut registers.f32
    }
    fn elements(values: ValuesRef<'_>) -> &[f32] {
        if let ValuesRef::F32(values) = values { values } else { &[] }
    }
    fn elements_mut(values: ValuesMut<'_>) -> &mut [f32] {
        if let ValuesMut::F32(values) = values { values } else { &mut [] }
    }
}

impl RowElement for f64 {
    fn registers(registers: &Registers) -> &[Vec<f64>] {
        &registers.f64
    }
    fn registers_mut(registers: &mut Registers) -> &mut [Vec<f64>] {
        &mut registers.f64
    }
    fn elements(values: ValuesRef<'_>) -> &[f64] {
        if let ValuesRef::F64(values) = values { values } else { &[] }
    }
    fn elements_mut(values: ValuesMut<'_>) -> &mut [f64] {
        if let ValuesMut::F64(values) = values { values } else { &mut [] }
    }
}
