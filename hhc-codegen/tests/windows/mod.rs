//! Windows with one mistake each: isl finds it, and says where.

use hhc_codegen::geometry::{MOST_WINDOW_BYTES, window};
use hhc_codegen::int_expr::IntExpr;
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::window::{Window, Windows};
use hhc_codegen::{KernelPlan, PlanError, TileSizes, pipeline, prove};
use polyhedral::sweep::CellBox;
use std::sync::Arc;

/// A change of a window; whether it changed anything.
type Change = fn(&mut Window) -> bool;

const FAULTS: [(&str, &str, Change); 20] = [
    ("an exact load one cell short at its beginning", "was neither loaded", |window| {
        change_boxes(window, |planes, plane| {
            planes.planes[plane].live_in.iter_mut().for_each(|cells| cells[0].0 += 1)
        })
    }),
    ("an exact load one cell short at its end", "was neither loaded", |window| {
        change_boxes(window, |planes, plane| {
            planes.planes[plane].live_in.iter_mut().for_each(|cells| cells[0].1 -= 1)
        })
    }),
    ("an exact load one cell short along the middle dimension", "was neither loaded", |window| {
        let deep = window.planes.iter().any(|plane| plane.live_in.iter().any(|cells| cells.len() > 1));
        deep && change_boxes(window, |planes, plane| {
            planes.planes[plane].live_in.iter_mut().for_each(|cells| cells[1].0 += 1);
        })
    }),
    ("a clipped load one cell short", "was neither loaded", |window| {
        change_boxes(window, |planes, plane| {
            planes.planes[plane].read.iter_mut().for_each(|cells| cells[0].0 += 1)
        })
    }),
    ("a clipped load that leaves out a live line", "was neither loaded", |window| {
        change_boxes(window, |planes, plane| {
            let live = planes.planes[plane].clipped.iter_mut();
            live.for_each(|live| live.usual.iter_mut().for_each(|cells| cells[0].1 -= 1));
        })
    }),
    ("a plane that is not loaded", "was neither loaded", |window| {
        change_boxes(window, |window, plane| window.planes[plane].live_in.clear())
    }),
    ("a plane that is missing", "was neither loaded", |window| {
        let loaded = window.planes.iter().position(|plane| !plane.live_in.is_empty());
        loaded.map(|plane| window.planes.remove(plane)).is_some()
    }),
    ("clipped tiles without their early loads", "was neither loaded", |window| {
        let clipped = window.planes.iter_mut().flat_map(|plane| &mut plane.clipped);
        clipped.filter(|live| !live.early.is_empty()).map(|live| live.early.clear()).count() > 0
    }),
    ("early tiles with the usual loads", "was neither loaded", |window| {
        let clipped = window.planes.iter_mut().flat_map(|plane| &mut plane.clipped);
        let more = clipped.filter(|live| !live.early.iter().all(|cells| within(cells, &live.usual)));
        more.map(|live| live.early = live.usual.clone()).count() > 0
    }),
    ("a window one cell short at its end", "outside of the window", |window| {
        window.extent[0] -= 1;
        true
    }),
    ("a window one cell short at its beginning", "outside of the window", |window| {
        window.low[0] += 1;
        true
    }),
    ("a window one column short", "", |window| {
        let last = window.extent.len() - 1;
        window.extent[last] -= 1;
        true
    }),
    ("a slide that is one too long", "does not stay", |window| {
        window.slide = window.slide.map(|slide| slide + 1);
        window.slide.is_some()
    }),
    ("a slide that is one too short", "does not stay", |window| {
        window.slide = window.slide.map(|slide| slide - 1);
        window.slide.is_some()
    }),
    ("one column more that is said to stay", "does not stay", |window| {
        window.kept += 1;
        window.slide.is_some()
    }),
    ("one column that stays and is loaded again", "", |window| {
        window.kept -= 1;
        window.kept > 0
    }),
    ("stores left out that nothing covers", "is left out", |window| {
        for (low, high) in window.rows.iter_mut().flat_map(|row| &mut row.left_out.ranges[0]) {
            (*low, *high) = (low.clone() - 1, high.clone() + 1);
        }
        true
    }),
    ("stores left out where another slot is written later", "is left out", |window| {
        let later = window.rows.iter_mut().filter(|row| row.left_out.groups > 1);
        later.map(|row| row.left_out.groups -= 1).count() > 0
    }),
    ("stores left out along the middle dimension", "is left out", |window| {
        let deep = window.rows.iter_mut().filter(|row| row.left_out.ranges.len() > 2);
        let whole = |low: &IntExpr| (low.clone() - 100, low.clone() + 100);
        let ranges = deep.flat_map(|row| &mut row.left_out.ranges[1]);
        ranges.map(|range| *range = whole(&range.0)).count() > 0
    }),
    ("a read of another plane", "is not the slot of its level", |window| {
        let several = window.planes.iter().any(|plane| plane.number > 0);
        window.rows[0].reads.iter_mut().for_each(|shift| *shift += 1);
        several
    }),
];

/// Whether each line of a box along the slowest dimension is in one of these.
fn within(cells: &CellBox, boxes: &[CellBox]) -> bool {
    (cells[0].0..=cells[0].1).all(|line| boxes.iter().any(|other| other[0].0 <= line && line <= other[0].1))
}

/// Changes all planes that are loaded.
fn change_boxes(window: &mut Window, change: fn(&mut Window, usize)) -> bool {
    let loaded: Vec<usize> =
        (0..window.planes.len()).filter(|&plane| !window.planes[plane].live_in.is_empty()).collect();
    loaded.iter().for_each(|&plane| change(window, plane));
    !loaded.is_empty()
}

fn planned(name: &str, tile: &str) -> KernelPlan {
    let program = Arc::new(polyhedral::shipped::load(name).unwrap());
    let strategy = strategy::by_name("hhc").unwrap();
    let tile = TileSizes::parse(tile).unwrap();
    pipeline::plan(&program, strategy, &tile, Target::Cuda).unwrap().plan
}

/// The plan with its first kernel's window changed.
fn changed(plan: &KernelPlan, change: Change) -> Option<KernelPlan> {
    let mut own = window(plan, 0, MOST_WINDOW_BYTES).unwrap().clone();
    change(&mut own).then(|| {
        let mut windows = plan.windows.get().unwrap().to_vec();
        windows[0] = Some(Arc::new(own));
        KernelPlan { windows: Windows::new(windows), ..plan.clone() }
    })
}

/// A row at the end of the grid reads columns that full tiles do not: they are loaded with the boundary.
#[test]
fn columns_that_thin_rows_read_are_loaded() {
    for reach in [1, 3] {
        let text = format!(
            "stencil thin(t, i, j) {{
                field u: f32;
                coefficient a: f32;
                u[t+1, i, j] = 0.25 * (u[t, i-1, j] + u[t, i+1, j] + u[t, i, j-1] + u[t, i, j+1])
                    for 1 <= i < n0 - 1, 1 <= j < n1 - 1;
                u[t+1, i, j] = a[i, j-{reach}] * u[t, i, j] for 1 <= i < n0 - 1, j == n1 - 1;
            }}"
        );
        let program = Arc::new(polyhedral::parse("thin.stencil", &text).unwrap());
        let strategy = strategy::by_name("hhc").unwrap();
        let tile = TileSizes::parse("st=2,s0=4,s1=4").unwrap();
        let plan = pipeline::plan(&program, strategy, &tile, Target::Cuda).unwrap().plan;
        let wrong = changed(&plan, |window| {
            window.exact_within.iter_mut().for_each(|within| within.margin -= 1);
            true
        });
        let refused = prove::prove_windows(&wrong.unwrap()).unwrap_err().to_string();
        assert!(refused.contains("u_2 in kernel phase0: a[i, j-"), "{refused}");
    }
}

#[test]
fn mistakes_in_windows_are_refused() {
    let programs = [("heat1d", "st=3,s0=5"), ("heat3d", "st=2,s0=4,s1=4,s2=8")];
    let plans: Vec<KernelPlan> = programs.iter().map(|(name, tile)| planned(name, tile)).collect();
    for (what, said, change) in FAULTS {
        let mut refused = 0;
        for ((name, _), plan) in programs.iter().zip(&plans) {
            let Some(wrong) = changed(plan, change) else { continue };
            let reason = match prove::prove_windows(&wrong) {
                Err(PlanError::Illegal { reason, .. }) => reason,
                other => panic!("{what} in {name}: {other:?}"),
            };
            assert!(reason.contains("kernel phase0") && reason.contains(said), "{what} in {name}: {reason}");
            refused += 1;
        }
        assert!(refused > 0, "{what} is in no plan");
    }
}
