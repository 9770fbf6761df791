//! Cells, and registers of lanes as cells: what a plan must say so that they can be that. That points have lanes, and that values
//! are in them, isl proves ([`polyhedral::dataflow::Storage::lanes`]).

use super::order::warp_of;
use crate::geometry::WARP;
use crate::int_expr::{IntExpr, var};
use crate::plan::{Instance, Kernel, RowOrder};
use crate::storage::{Axis, Part, Place, Storage};

/// Cells stay where they are while a block runs: windows, and lanes, begin at one point.
pub(super) fn cells_stay(kernel: &Kernel) -> Result<(), String> {
    let mut loops = kernel.sub_tiles.iter().chain([&kernel.rows]).map(|source| source.variable);
    let moved = |storage: usize, name: &str| {
        let own = kernel.team().is_some_and(|team| team.variable == name) && of_members(kernel, storage);
        kernel.storages[storage].axes.iter().any(|axis| match axis {
            Axis::Lanes { first, .. } => first.mentions(name),
            Axis::Window { first, .. } | Axis::Ring { first, .. } => first.mentions(name) && !own,
        })
    };
    let found = loops.find_map(|name| {
        let storage = (0..kernel.storages.len()).find(|&storage| moved(storage, name));
        storage.map(|storage| (&kernel.storages[storage], name))
    });
    found.map_or(Ok(()), |(storage, name)| {
        Err(format!("kernel {}: {} begins elsewhere for each {name}", kernel.name, storage.name))
    })
}

/// Whether the first number of the copies of a storage is always the warp of the team that touches it.
fn of_members(kernel: &Kernel, storage: usize) -> bool {
    let Some(team) = kernel.team() else { return false };
    let places = parts(kernel).flat_map(|part| places(kernel, part));
    let mut own = places.filter(|place| place.storage() == Some(storage));
    own.all(|place| place.copy().first() == Some(&var(team.variable)))
}

/// Points that a warp has lanes for, where an axis is one of lanes.
pub(super) fn of_warp(axis: &Axis) -> Option<i64> {
    if let Axis::Lanes { points, .. } = axis { Some(WARP.saturating_mul(*points)) } else { None }
}

/// Each storage in registers is along the innermost dimension, fits a warp, and is touched by one warp; each part has one
/// lane for each point, whichever storages in registers it touches.
pub(super) fn of_one_warp(kernel: &Kernel) -> Result<(), String> {
    let wrong = |storage: &Storage, what: String| {
        Err(format!("kernel {}: {} is in registers, {what}", kernel.name, storage.name))
    };
    for (index, storage) in kernel.storages.iter().enumerate() {
        let Some(along) = storage.axes.iter().position(|axis| matches!(axis, Axis::Lanes { .. })) else {
            continue;
        };
        if storage.axes[along + 1..].iter().any(|axis| matches!(axis, Axis::Lanes { .. }))
            || along + 1 != storage.axes.len()
        {
            return wrong(storage, "and lanes lie along the innermost dimension alone".to_owned());
        }
        let (extent, most) = (storage.axes[along].extent(), of_warp(&storage.axes[along]).unwrap_or(0));
        if !(1..=most).contains(&extent) {
            let lanes = extent.max(0) as u64;
            let lanes = lanes.div_ceil((most / WARP).max(1) as u64);
            return wrong(storage, format!("and a warp has {WARP} lanes, not {lanes}"));
        }
        if kernel.team {
            if !of_members(kernel, index) {
                return wrong(storage, "and a warp of the team touches another one's".to_owned());
            }
            continue;
        }
        let touching: Vec<Part> = parts(kernel).filter(|&part| touches(kernel, part, index)).collect();
        let mut warps = touching.iter().map(|&part| warp_of(kernel, part));
        let first = warps.next().flatten();
        if first.is_none() && !touching.is_empty() {
            return wrong(storage, "and the parts that touch it are not those of a warp".to_owned());
        }
        if warps.any(|warp| warp != first) {
            return wrong(storage, "and several warps touch it".to_owned());
        }
    }
    for part in parts(kernel) {
        let mut lanes: Vec<(&Storage, (&IntExpr, Option<i64>))> = Vec::new();
        for (index, storage) in kernel.storages.iter().enumerate() {
            let points = storage.axes.iter().find_map(of_warp);
            lanes.extend(
                storage
                    .first_lane()
                    .filter(|_| touches(kernel, part, index))
                    .map(|first| (storage, (first, points))),
            );
        }
        let Some((storage, first)) = lanes.first() else { continue };
        if let Some((other, _)) = lanes.iter().find(|(_, other)| other != first) {
            return wrong(storage, format!("and so is {}, whose points are in other lanes", other.name));
        }
        if let Part::Row(row) = part
            && !matches!(kernel.instances[row].order, RowOrder::Parallel { .. })
        {
            return wrong(storage, "and the lanes that have a row's points run them at once".to_owned());
        }
    }
    Ok(())
}

fn parts(kernel: &Kernel) -> impl Iterator<Item = Part> {
    let rows = (0..kernel.instances.len()).map(Part::Row);
    rows.chain((0..kernel.transfers.len()).map(Part::Transfer))
}

/// Whether a part reads a storage, or writes to it.
fn touches(kernel: &Kernel, part: Part, storage: usize) -> bool {
    places(kernel, part).iter().any(|place| place.storage() == Some(storage))
}

/// What a part reads and writes.
fn places(kernel: &Kernel, part: Part) -> Vec<&Place> {
    match part {
        Part::Row(row) => {
            let Instance { reads, writes, .. } = &kernel.instances[row];
            reads.iter().map(|read| &read.place).chain(writes).collect()
        }
        Part::Transfer(transfer) => {
            let transfer = &kernel.transfers[transfer];
            vec![&transfer.from.place, &transfer.to]
        }
    }
}
