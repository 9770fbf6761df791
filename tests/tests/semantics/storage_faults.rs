//! Plans with one mistake in how they use storage.
//!
//! The mistakes are made by changing what a plan says, whatever its strategy: each returns the wrong plan where the
//! plan has what the mistake is about.

use hhc_codegen::KernelPlan;
use hhc_codegen::int_expr::{IntExpr, int, var};
use hhc_codegen::plan::{Kernel, Range, Role, RowOrder};
use hhc_codegen::storage::{Axis, Link, Place, Read, Region, Slot, Sync, Transfer};

/// A change of a kernel; whether it changed anything.
type Change = fn(&mut Kernel) -> bool;
/// A change of a plan.
type PlanChange = fn(&mut KernelPlan);

/// All mistakes that a plan can have, each by itself.
pub fn faults(plan: &KernelPlan) -> Vec<(&'static str, KernelPlan)> {
    let changes: [(&'static str, Change); 30] = [
        ("the ghost zone loaded one point short", |kernel| change_loads(kernel, |load| shorten(load, true))),
        ("the ghost zone loaded one row short", |kernel| change_loads(kernel, |load| shorten(load, false))),
        ("copies one point short", copies_one_short),
        ("storage one cell short", |kernel| change_axes(kernel, shorten_window)),
        ("a ring one slot short", |kernel| change_axes(kernel, shorten_ring)),
        ("storage with a plane less", one_plane_less),
        ("a link one row short", |kernel| {
            let links = kernel.storages.iter_mut().filter(|storage| storage.first_lane().is_none());
            let axes = links.filter(|link| !link.copies.is_empty()).flat_map(|link| &mut link.axes);
            axes.map(shorten_ring).filter(|changed| *changed).count() > 0
        }),
        ("one link for two warps", |kernel| {
            let last = kernel.storages.last_mut().filter(|link| link.copies.first() > Some(&1));
            last.map(|link| link.copies[0] -= 1).is_some()
        }),
        ("rows that do not run not copied on", |kernel| {
            let team = kernel.team;
            let on = |transfer: &Transfer| {
                team && inside(transfer) && transfer.from.place.storage() == transfer.to.storage()
            };
            change_transfers(kernel, |transfer| on(transfer) && transfer.region == Region::Grid, empty)
        }),
        ("warps one position too close", warps_too_close),
        ("no refill", |kernel| change_refills(kernel, empty)),
        ("the last refill missing", last_refill_missing),
        ("the wrong band's buffer read", |kernel| {
            change_loads(kernel, |load| exchange(&mut load.from.place))
        }),
        ("the wrong band's buffer written", wrong_buffer_written),
        ("a stage without its barrier", |kernel| {
            kernel.instances[0].sync = Sync::Nothing;
            true
        }),
        ("a stage that does not wait for the one before", |kernel| {
            remove_links(kernel, |link| link.distance == 0)
        }),
        ("a stage that does not wait for the next one", |kernel| {
            remove_links(kernel, |link| link.distance > 0)
        }),
        ("a stage that runs one row too far ahead", |kernel| {
            let ahead = kernel.links.iter_mut().filter(|link| link.distance > 0);
            ahead.map(|link| link.distance += 1).count() > 0
        }),
        ("registers one lane short", |kernel| change_axes(kernel, shorten_lanes)),
        ("registers of more lanes than there are", |kernel| {
            change_axes(kernel, |axis| {
                let Axis::Lanes { extent, .. } = axis else { return false };
                *extent *= 33;
                true
            })
        }),
        ("registers that begin one lane late", |kernel| {
            change_axes(kernel, |axis| {
                let Axis::Lanes { first, .. } = axis else { return false };
                *first = first.clone() + 1;
                true
            })
        }),
        ("another warp's registers", |kernel| {
            let innermost = kernel.storages.iter_mut().filter_map(|storage| storage.axes.last_mut());
            innermost.map(into_lanes).filter(|changed| *changed).count() > 0
        }),
        ("registers without waiting for who set them", registers_without_waiting),
        ("registers whose rows run one point after the other", |kernel| {
            let lanes = kernel.storages.iter().any(|storage| storage.first_lane().is_some());
            if lanes {
                kernel.instances.iter_mut().for_each(|row| row.order = RowOrder::Sequential);
            }
            lanes
        }),
        ("junk that reaches the arrays", |kernel| {
            let some = kernel.instances.iter().any(|row| row.junk.is_some());
            let others = kernel.instances.iter_mut().filter(|row| some && row.junk.is_none());
            others.map(|row| row.junk = Some(row.ranges.clone())).count() > 0
        }),
        ("refills without their barriers", |kernel| {
            change_refills(kernel, |refill| refill.sync = Sync::Nothing)
        }),
        ("a transfer inside the block without its barrier", |kernel| {
            change_transfers(
                kernel,
                |transfer| inside(transfer) && transfer.region != Region::Boundary,
                |transfer| {
                    transfer.sync = Sync::Nothing;
                },
            )
        }),
        ("nothing stored or handed over", |kernel| {
            change_transfers(kernel, |transfer| transfer.from.place.storage().is_some(), empty)
        }),
        ("copies that call themselves owners", |kernel| {
            let copies = kernel.instances.iter_mut().filter(|row| matches!(row.role, Role::Copies { .. }));
            copies.map(|row| row.role = Role::Owner).count() > 0
        }),
        ("copies that write to the arrays", |kernel| {
            let copies = kernel.instances.iter_mut().filter(|row| matches!(row.role, Role::Copies { .. }));
            copies.map(|row| row.writes.push(Place::Arrays(Slot::OfLevel))).count() > 0
        }),
    ];
    let made = changes.iter().filter_map(|(what, change)| {
        let mut wrong = plan.clone();
        let mut changed = false;
        for kernel in &mut wrong.kernels {
            changed |= change(kernel);
        }
        changed.then_some((*what, wrong))
    });
    made.collect()
}

/// All mistakes that bands of time can have, each by itself, in plans that have bands.
pub fn band_faults(plan: &KernelPlan) -> Vec<(&'static str, KernelPlan)> {
    let changes: [(&'static str, PlanChange); 7] = [
        ("no first band", |plan| plan.outer.low = int(1)),
        ("no last band", |plan| plan.outer.high = plan.outer.high.clone() - 1),
        ("a band after the last step", |plan| plan.outer.high = plan.outer.high.clone() + 1),
        ("a step between two bands", |plan| {
            let first = plan.bands.as_ref().map(|bands| bands.first.name);
            later(plan, first, true);
        }),
        ("a step in two bands", |plan| {
            let end = plan.bands.as_ref().map(|bands| bands.end.name);
            later(plan, end, true);
        }),
        ("kernels with bounds of their own", |plan| {
            let first = plan.bands.as_ref().map(|bands| bands.first.name);
            later(plan, first, false);
        }),
        ("kernels in bands of other lengths", |plan| {
            plan.launches.iter_mut().for_each(|launch| launch.when = None);
        }),
    ];
    let made = changes.iter().map(|(what, change)| {
        let mut wrong = plan.clone();
        change(&mut wrong);
        (*what, wrong)
    });
    let conditional = plan.launches.iter().any(|launch| launch.when.is_some());
    made.filter(|(what, _)| plan.bands.is_some() && (conditional || !what.contains("lengths"))).collect()
}

/// A bound of all bands one step later, in the kernels, and in what the plan says of it, or not.
fn later(plan: &mut KernelPlan, name: Option<&str>, said: bool) {
    let of_plan = plan.bands.iter_mut().filter(|_| said).flat_map(|bands| [&mut bands.first, &mut bands.end]);
    let of_kernels = plan.kernels.iter_mut().flat_map(|kernel| &mut kernel.bindings);
    for bound in of_plan.chain(of_kernels).filter(|binding| Some(binding.name) == name) {
        bound.value = bound.value.clone() + 1;
    }
}

/// Bands that write to the slots of their levels, as if neighbours did not read their input at the same time: a
/// mistake where bands have an even number of steps.
pub fn slots_of_levels(plan: &KernelPlan) -> KernelPlan {
    let mut wrong = plan.clone();
    let forget = |place: &mut Place| {
        if let Place::Arrays(slot) = place {
            *slot = Slot::OfLevel;
        }
    };
    for kernel in &mut wrong.kernels {
        kernel.instances.iter_mut().flat_map(|row| &mut row.writes).for_each(forget);
        kernel.transfers.iter_mut().for_each(|transfer| {
            forget(&mut transfer.from.place);
            forget(&mut transfer.to);
        });
    }
    wrong
}

/// Whether a transfer stays within the block.
fn inside(transfer: &Transfer) -> bool {
    transfer.from.place.storage().is_some() && transfer.to.storage().is_some()
}

fn change_transfers(
    kernel: &mut Kernel,
    which: impl Fn(&Transfer) -> bool,
    mut change: impl FnMut(&mut Transfer),
) -> bool {
    let chosen = kernel.transfers.iter_mut().filter(|transfer| which(transfer));
    chosen.map(&mut change).count() > 0
}

/// Loads of what other blocks have left.
fn change_loads(kernel: &mut Kernel, change: impl FnMut(&mut Transfer)) -> bool {
    let loads = |transfer: &Transfer| matches!(transfer.from.place, Place::Arrays(Slot::At(_)));
    change_transfers(kernel, loads, change)
}

/// Refills of boundaries.
fn change_refills(kernel: &mut Kernel, change: impl FnMut(&mut Transfer)) -> bool {
    change_transfers(kernel, |transfer| transfer.region == Region::Boundary, change)
}

/// Of several: the first one may repeat what was loaded.
fn last_refill_missing(kernel: &mut Kernel) -> bool {
    let refills = || |transfer: &&mut Transfer| transfer.region == Region::Boundary;
    let several = kernel.transfers.iter_mut().filter(refills()).count() > 1;
    if several && let Some(last) = kernel.transfers.iter_mut().rfind(refills()) {
        empty(last);
    }
    several
}

fn remove_links(kernel: &mut Kernel, which: fn(&Link) -> bool) -> bool {
    let before = kernel.links.len();
    kernel.links.retain(|link| !which(link));
    kernel.links.len() < before
}

/// Along the innermost dimension, or the slowest one.
fn shorten(transfer: &mut Transfer, innermost: bool) {
    let d = if innermost { transfer.ranges.len() - 1 } else { 0 };
    let low = &mut transfer.ranges[d].low;
    *low = low.clone() + 1;
}

fn empty(transfer: &mut Transfer) {
    transfer.ranges[0].low = int(0);
    transfer.ranges[0].high = int(-1);
    transfer.junk = None;
}

/// Those of the first row: later ones may still have points enough.
fn copies_one_short(kernel: &mut Kernel) -> bool {
    let row = &mut kernel.instances[0];
    let copies = matches!(row.role, Role::Copies { .. });
    if copies && let Some(range) = row.ranges.last_mut() {
        range.high = range.high.clone() - 1;
    }
    copies
}

fn change_axes(kernel: &mut Kernel, change: fn(&mut Axis) -> bool) -> bool {
    let axes = kernel.storages.iter_mut().flat_map(|storage| &mut storage.axes);
    axes.filter_map(|axis| change(axis).then_some(())).count() > 0
}

fn shorten_window(axis: &mut Axis) -> bool {
    let Axis::Window { extent, .. } = axis else { return false };
    let long = *extent > 1;
    *extent -= i64::from(long);
    long
}

fn shorten_lanes(axis: &mut Axis) -> bool {
    let Axis::Lanes { extent, .. } = axis else { return false };
    *extent -= 1;
    true
}

/// Each warp of a team a position earlier behind the one before it; the plan says so everywhere.
fn warps_too_close(kernel: &mut Kernel) -> bool {
    let [position, member] = &kernel.sub_tiles[..] else { return false };
    if !kernel.team {
        return false;
    }
    let (position, member) = (position.variable, member.variable);
    let earlier = var(position) + var(member);
    let moved = |of: &mut IntExpr| *of = of.substitute(position, &earlier);
    let of_row = |ranges: &mut [Range]| {
        ranges.iter_mut().flat_map(|range| [&mut range.low, &mut range.high]).for_each(moved);
    };
    let supplied = |read: &mut Read| {
        for supplier in &mut read.suppliers {
            let at = |name: &str| supplier.at.iter().find(|(named, _)| *named == name);
            let warp = at(member).map_or_else(|| var(member), |(_, warp)| warp.clone());
            let positions = supplier.at.iter_mut().filter(|(named, _)| *named == position);
            positions.for_each(|(_, value)| *value = value.clone() - warp.clone());
        }
    };
    for row in &mut kernel.instances {
        of_row(&mut row.ranges);
        row.junk.iter_mut().for_each(|junk| of_row(junk));
        row.when.iter_mut().for_each(moved);
        row.reads.iter_mut().for_each(supplied);
    }
    for transfer in &mut kernel.transfers {
        of_row(&mut transfer.ranges);
        transfer.junk.iter_mut().for_each(|junk| of_row(junk));
        transfer.when.iter_mut().for_each(moved);
        supplied(&mut transfer.from);
    }
    true
}

/// What was in shared memory goes to registers, whoever touches it.
fn into_lanes(axis: &mut Axis) -> bool {
    let Axis::Window { first, extent } = axis else { return false };
    *axis = Axis::Lanes { first: first.clone(), extent: *extent, points: 1 };
    true
}

fn registers_without_waiting(kernel: &mut Kernel) -> bool {
    let in_lanes: Vec<bool> = kernel.storages.iter().map(|storage| storage.first_lane().is_some()).collect();
    let written = |place: &Place| place.storage().is_some_and(|index| in_lanes[index]);
    let rows = kernel.instances.iter_mut().filter(|row| row.writes.iter().any(written));
    let rows = rows.map(|row| row.sync = Sync::Nothing).count();
    rows + usize::from(change_transfers(
        kernel,
        |transfer| written(&transfer.to),
        |transfer| {
            transfer.sync = Sync::Nothing;
        },
    )) > 0
}

fn shorten_ring(axis: &mut Axis) -> bool {
    let Axis::Ring { extent, .. } = axis else { return false };
    let long = *extent > 1;
    *extent -= i64::from(long);
    long
}

fn one_plane_less(kernel: &mut Kernel) -> bool {
    let storages = kernel.storages.iter_mut().filter(|storage| storage.planes > 1);
    storages.map(|storage| storage.planes -= 1).count() > 0
}

/// The other one of two slots, or of two pairs of them.
fn exchange(place: &mut Place) {
    if let Place::Arrays(Slot::At(slot)) = place {
        // Remainders of two are one slot of two.
        let pairs = !matches!(slot, IntExpr::Modulo(_, 2));
        *slot = if pairs { (slot.clone() + 2).modulo(4) } else { (slot.clone() + 1).modulo(2) };
    }
}

fn wrong_buffer_written(kernel: &mut Kernel) -> bool {
    let chosen = |place: &&mut Place| matches!(place, Place::Arrays(Slot::At(_)));
    let rows = kernel.instances.iter_mut().flat_map(|row| &mut row.writes);
    let stores = kernel.transfers.iter_mut().map(|transfer| &mut transfer.to);
    rows.chain(stores).filter(chosen).map(exchange).count() > 0
}
