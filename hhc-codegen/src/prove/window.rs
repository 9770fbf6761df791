//! The sweeps of a plan whose kernels keep windows of the arrays: its rows, and its windows, with the same [`IntExpr`]s and
//! boxes that the CUDA back end prints.

use super::constraints::{at_least, at_most, interval, launched};
use crate::geometry::{self, MOST_WINDOW_BYTES};
use crate::int_expr::IntExpr;
use crate::plan::{Instance, KernelPlan, Launch, Loop, SIZE_NAMES};
use crate::storage::Memory;
use crate::window::{Window, WindowRow};
use polyhedral::program::FieldId;
use polyhedral::sweep::{self, LeftOut, Plane, Positions, Row, Sweep};

/// The sweeps of all kernels that keep windows.
pub(super) fn sweeps(plan: &KernelPlan) -> Result<Vec<Sweep>, String> {
    let mut sweeps = Vec::new();
    for (index, kernel) in plan.kernels.iter().enumerate() {
        if kernel.memory != Memory::Window || kernel.in_parts() {
            continue;
        }
        let Ok(window) = geometry::window(plan, index, MOST_WINDOW_BYTES) else { continue };
        if window.rows.len() != kernel.instances.len() {
            return Err(format!("the window of kernel {} does not have the kernel's rows", kernel.name));
        }
        sweeps.push(sweep(plan, index, window));
    }
    Ok(sweeps)
}

fn sweep(plan: &KernelPlan, index: usize, window: &Window) -> Sweep {
    let kernel = &plan.kernels[index];
    let (own, outer) = match kernel.sub_tiles.split_last() {
        Some((last, outer)) if window.slide.is_some() => (Some(last), outer),
        _ => (None, &kernel.sub_tiles[..]),
    };
    let fixed = [plan.outer.variable].into_iter().chain(kernel.blocks.iter().map(|block| block.variable));
    let fixed = fixed.chain(kernel.bindings.iter().map(|binding| binding.name));
    let fixed = fixed.chain(outer.iter().map(|sub_tile| sub_tile.variable)).map(str::to_owned);
    let bounds = |l: &Loop| interval(l.variable, &l.low, &l.high);
    let launches: Vec<&Launch> = plan.launches.iter().filter(|launch| launch.kernel == index).collect();
    let when = if let [launch] = launches[..] { launched(launch) } else { Vec::new() };
    let bindings =
        kernel.bindings.iter().map(|binding| format!("{} = {}", binding.name, binding.value.to_isl()));
    let (rounded, exact): (Vec<String>, Vec<String>) =
        bindings.partition(|text| text.contains("mod") || text.contains("floor"));
    let facts = bounds(&plan.outer).into_iter().chain(when).chain(exact);
    let corner = |d: usize| window.corner[d].to_isl();
    Sweep {
        kernel: kernel.name.clone(),
        fixed: fixed.collect(),
        facts: facts.chain(outer.iter().flat_map(bounds)).collect(),
        definitions: kernel.blocks.iter().flat_map(bounds).chain(rounded).collect(),
        positions: own.map(|l| Positions {
            variable: l.variable.to_owned(),
            from: at_least(l.variable, &l.low),
            until: at_most(l.variable, &l.high),
        }),
        group: kernel.rows.variable.to_owned(),
        groups: (
            kernel.rows.low.constant().unwrap_or_default(),
            kernel.rows.high.constant().unwrap_or_default(),
        ),
        first_step: window.first_step.to_isl(),
        full: kernel.full_when.iter().map(|condition| format!("{} >= 0", condition.to_isl())).collect(),
        exact: (window.exact_within.iter())
            .map(|within| {
                let d = within.dimension;
                let (corner, extent) = (corner(d), SIZE_NAMES[d]);
                format!("{} <= {corner} and {corner} <= {extent} - ({})", within.least, within.margin)
            })
            .collect(),
        window: sweep::Window {
            first: (0..window.corner.len()).map(|d| window.first(d).to_isl()).collect(),
            extent: window.extent.clone(),
            strides: (0..window.extent.len()).map(|d| window.stride(d)).collect(),
            slide: window.slide,
            kept: window.kept,
        },
        planes: (window.planes.iter())
            .map(|plane| Plane {
                field: FieldId(plane.field),
                number: plane.number,
                live_in: plane.live_in.clone(),
                read: plane.read.clone(),
                clipped: plane.clipped.clone(),
            })
            .collect(),
        rows: (kernel.instances.iter())
            .zip(&window.rows)
            .map(|(instance, moves)| row(instance, window, moves))
            .collect(),
    }
}

fn row(instance: &Instance, window: &Window, moves: &WindowRow) -> Row {
    let point = |d: usize| format!("p{d}");
    let left_out = moves.left_out.ranges.iter().enumerate().filter_map(|(d, range)| {
        let (low, high) = range.as_ref()?;
        let moved = |bound: &IntExpr| window.corner[d].clone() + bound.clone();
        Some(interval(&point(d), &moved(low), &moved(high)))
    });
    Row {
        statement: instance.statement,
        step: instance.step.to_isl(),
        lows: instance.ranges.iter().enumerate().map(|(d, range)| at_least(&point(d), &range.low)).collect(),
        highs: instance.ranges.iter().enumerate().map(|(d, range)| at_most(&point(d), &range.high)).collect(),
        reads: moves.reads.clone(),
        writes: moves.writes,
        left_out: LeftOut { groups: moves.left_out.groups, constraints: left_out.flatten().collect() },
    }
}
