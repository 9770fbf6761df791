//! Who prints the functions for tiles of one shape, and the names in them.

use super::super::names::Names;
use super::staging::Staging;
use super::ways::{self, Ways};
use crate::plan::Kernel;
use crate::window::Plane;
use c_tree::Expr;
use polyhedral::program::Program;

/// Prints the functions of one shape.
pub(super) struct Printer<'a> {
    pub(super) staging: &'a Staging<'a>,
    pub(super) program: &'a Program,
    pub(super) names: &'a Names,
    pub(super) kernel: &'a Kernel,
    pub(super) index: usize,
    pub(super) ways: &'a Ways,
}

impl Printer<'_> {
    /// Dimensions of space.
    pub(super) fn dimension(&self) -> usize {
        self.program.dimension()
    }

    /// Whether there are lines beside each other, whose distances functions are given.
    pub(super) fn has_ways(&self) -> bool {
        self.dimension() > 1
    }

    /// The distances, as they are passed on.
    pub(super) fn ways_argument(&self) -> Option<Expr> {
        self.has_ways().then(ways::argument)
    }

    /// An element in memory that lies so many lines further along each dimension but the innermost, which may be 0 of each.
    pub(super) fn further(&self, pointer: Expr, field: usize, lines: &[i64]) -> Expr {
        self.ways.lines_further(pointer, lines, self.element_bytes(field), false)
    }

    /// Bytes of a field's elements.
    pub(super) fn element_bytes(&self, field: usize) -> i64 {
        self.program.fields[field].element.bytes() as i64
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
