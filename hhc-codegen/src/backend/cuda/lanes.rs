//! Storages in the registers of lanes: the lane of a point, what lanes hand over, and their own cells.
//!
//! All lanes of a warp hand over, whether they have a point or not, and those that have one go on: what the others
//! have is junk, which no point reads.

use super::super::bounds::expr;
use super::super::storages::{self, INDEX_NAMES, Work};
use crate::int_expr::{IntExpr, int, var};
use crate::plan::Kernel;
use crate::storage::{Axis, Storage};
use c_tree::{Expr, Stmt, call, name};
use polyhedral::program::{Access, ElementType, FieldId, Program};

/// The point of lane 0 in a part that touches storages in registers.
pub(super) fn first<'a>(kernel: &'a Kernel, work: Work<'_>, program: &Program) -> Option<&'a IntExpr> {
    let reads = work.reads(program);
    let places = reads.iter().map(|(_, place)| *place).chain(work.writes());
    let mut storages = places.filter_map(|place| Some(&kernel.storages[place.storage()?]));
    storages.find_map(Storage::first_lane)
}

/// The number of a value's cell among those of its lane.
fn cell(program: &Program, storage: &Storage, (field, level): (FieldId, IntExpr), offset: &[i64]) -> Expr {
    let plane = storages::plane_of_level(program, field, level, storage.planes);
    let others = storage.axes.iter().enumerate().filter(|(_, axis)| !matches!(axis, Axis::Lanes { .. }));
    let cells: i64 = others.clone().map(|(_, axis)| axis.extent()).product();
    let within = others
        .fold(int(0), |cell, (d, axis)| cell * axis.extent() + axis.cell(var(INDEX_NAMES[d]) + offset[d]));
    expr(&(plane * cells + within))
}

/// A value that is read: from the lane's own cell, or handed over, which is declared before.
pub(super) fn read(
    program: &Program,
    (storage, element): (&Storage, ElementType),
    access: &Access,
    level: IntExpr,
    handed_over: &mut Vec<Stmt>,
) -> Expr {
    let own =
        call("tw_cell", [name(&storage.name), cell(program, storage, (access.field, level), &access.offset)]);
    let distance = access.offset.last().copied().unwrap_or(0);
    if distance == 0 {
        return own;
    }
    let direction = if distance < 0 { "up" } else { "down" };
    let handed = format!("tw_handed{}", handed_over.len());
    let shift = call(format!("tw_shift_{direction}"), [own, c_tree::int(distance.abs())]);
    handed_over.push(Stmt::constant(element.c_name(), &handed, shift));
    name(handed)
}

/// The statement that sets the lane's own cell.
pub(super) fn write(program: &Program, storage: &Storage, field: FieldId, level: IntExpr) -> Stmt {
    let here = vec![0; storage.axes.len()];
    let cell = cell(program, storage, (field, level), &here);
    Stmt::call("tw_set_cell", [name(&storage.name), cell, name("tw_value")])
}
