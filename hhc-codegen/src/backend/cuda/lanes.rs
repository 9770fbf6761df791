//! Storages in the registers of lanes: the lane of a point, what lanes hand over, and their own cells.
//!
//! All lanes of a warp hand over, whether they have a point or not, and those that have one go on: what the others
//! have is junk, which no point reads.

use super::super::storages::{self, HIGH_NAMES, INDEX_NAMES, LOW_NAMES, Work};
use crate::int_expr::{IntExpr, int, var};
use crate::plan::Kernel;
use crate::storage::{Axis, Place, Storage};
use polyhedral::program::{Access, ElementType, FieldId, Program};
use serde::Serialize;

/// A part each of whose points has its lane.
#[derive(Serialize)]
pub(super) struct LanesText {
    /// The innermost coordinate.
    index: &'static str,
    /// That of the lane.
    point: String,
    /// Whether there is a point.
    active: String,
    /// Declarations of what comes from other lanes.
    handed_over: Vec<String>,
}

impl LanesText {
    /// `left_out` are conditions on points that are left out.
    pub(super) fn new(
        first: &IntExpr,
        dimension: usize,
        left_out: Vec<String>,
        handed_over: Vec<String>,
    ) -> Self {
        let along = dimension - 1;
        let index = INDEX_NAMES[along];
        let inside = format!("{index} >= {} && {index} < {}", LOW_NAMES[along], HIGH_NAMES[along]);
        let others = left_out.into_iter().map(|condition| format!("!({condition})"));
        LanesText {
            index,
            point: format!("{} + thread{along}", first.to_c()),
            active: [inside].into_iter().chain(others).collect::<Vec<_>>().join(" && "),
            handed_over,
        }
    }
}

/// The point of lane 0 in a part that touches storages in registers.
pub(super) fn first<'a>(kernel: &'a Kernel, work: Work<'_>, program: &Program) -> Option<&'a IntExpr> {
    let reads = work.reads(program);
    let places = reads.iter().map(|(_, place)| *place).chain(work.writes());
    let storages = places.filter_map(|place| match place {
        Place::Storage(index) => Some(&kernel.storages[*index]),
        Place::Arrays(_) => None,
    });
    storages.into_iter().find_map(Storage::first_lane)
}

/// The number of a value's cell among those of its lane.
fn cell(program: &Program, storage: &Storage, (field, level): (FieldId, IntExpr), offset: &[i64]) -> String {
    let plane = storages::plane_of_level(program, field, level, storage.planes);
    let others = storage.axes.iter().enumerate().filter(|(_, axis)| !matches!(axis, Axis::Lanes { .. }));
    let cells: i64 = others.clone().map(|(_, axis)| axis.extent()).product();
    let within = others
        .fold(int(0), |cell, (d, axis)| cell * axis.extent() + axis.cell(var(INDEX_NAMES[d]) + offset[d]));
    (plane * cells + within).to_c()
}

/// A value that is read: from the lane's own cell, or handed over, which is declared before.
pub(super) fn read(
    program: &Program,
    (storage, element): (&Storage, ElementType),
    access: &Access,
    level: IntExpr,
    handed_over: &mut Vec<String>,
) -> String {
    let own = format!(
        "tw_cell({}, {})",
        storage.name,
        cell(program, storage, (access.field, level), &access.offset)
    );
    let distance = access.offset.last().copied().unwrap_or(0);
    if distance == 0 {
        return own;
    }
    let direction = if distance < 0 { "up" } else { "down" };
    let name = format!("tw_handed{}", handed_over.len());
    handed_over.push(format!(
        "const {} {name} = tw_shift_{direction}({own}, {});",
        element.c_name(),
        distance.unsigned_abs()
    ));
    name
}

/// The statement that sets the lane's own cell.
pub(super) fn write(program: &Program, storage: &Storage, field: FieldId, level: IntExpr) -> String {
    let here = vec![0; storage.axes.len()];
    format!("tw_set_cell({}, {}, tw_value);", storage.name, cell(program, storage, (field, level), &here))
}
