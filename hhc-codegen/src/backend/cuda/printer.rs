//! Who prints the functions for tiles of one shape, and the names in them.

use super::super::names::Names;
use super::staging::Staging;
use crate::plan::Kernel;
use crate::window::Plane;
use polyhedral::program::Program;

/// Prints the functions of one shape.
pub(super) struct Printer<'a> {
    pub(super) staging: &'a Staging<'a>,
    pub(super) program: &'a Program,
    pub(super) names: &'a Names,
    pub(super) kernel: &'a Kernel,
    pub(super) index: usize,
}

impl Printer<'_> {
    /// Dimensions of space.
    pub(super) fn dimension(&self) -> usize {
        self.program.dimension()
    }

    /// Number of stored levels; 1 for a coefficient.
    pub(super) fn slots(&self, field: usize) -> i64 {
        self.program.fields[field].role.slots() as i64
    }

    /// Name of a field's planes in shared memory.
    pub(super) fn array(&self, field: usize) -> String {
        format!("tw_{}_planes", self.names.fields[field])
    }

    /// Name of the position of a plane's slot in memory.
    pub(super) fn slot_name(&self, plane: &Plane) -> String {
        format!("tw_{}_slot{}", self.names.fields[plane.field], plane.number)
    }
}
