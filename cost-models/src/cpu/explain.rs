//! The formulas of the CPU's models with their numbers, and the losses against the ideal machine.

use super::time::{CpuTime, LINE_BYTES, Moved};
use crate::explain::{Loss, Part};
use crate::machine::{Energy, RunCosts};
use crate::time::{Prediction, Terms};
use hhc_codegen::counts::cores::{CoreCounts, Diagonals, Inner, Outer, Sweep};

/// A number of a formula whose symbol is made.
type Named = (String, f64, &'static str);

fn part(
    (name, kernel): (&'static str, usize),
    formula: impl Into<String>,
    numbers: &[Named],
    value: f64,
) -> Part {
    let numbers: Vec<_> =
        numbers.iter().map(|(symbol, value, unit)| (symbol.as_str(), *value, *unit)).collect();
    Part::new((name, kernel, "s"), formula, &numbers, value)
}

fn named(symbol: &str, value: f64, unit: &'static str) -> Named {
    (symbol.to_owned(), value, unit)
}

/// The terms of the time.
pub(super) fn time_parts(time: &CpuTime, counts: &CoreCounts) -> Vec<Part> {
    match counts {
        CoreCounts::Tiles(outer, inner) => of_tiles(time, outer, inner),
        CoreCounts::Diagonals(diagonals) => of_diagonals(time, diagonals),
        CoreCounts::Sweeps(sweeps) => {
            sweeps.iter().enumerate().flat_map(|(kernel, sweep)| of_sweep(time, kernel, sweep)).collect()
        }
    }
}

fn of_tiles(time: &CpuTime, outer: &Outer, inner: &Inner) -> Vec<Part> {
    let terms = time.combine(outer, inner).terms;
    let mut numbers =
        vec![named("pieces", inner.runs, "per row"), named("piece_blocks", inner.blocks, "per row")];
    let (mut runs, mut blocks) = (Vec::new(), Vec::new());
    for (v, costs) in time.body.runs.iter().enumerate() {
        let RunCosts { rows, run_s, block_s } = *costs;
        if outer.runs[v] == 0.0 && outer.blocks[v] == 0.0 {
            continue;
        }
        runs.push(format!("rows_{rows} * run_{rows}"));
        blocks.push(format!("groups_{rows} * block_{rows}"));
        numbers.extend([
            (format!("rows_{rows}"), outer.runs[v], "runs"),
            (format!("run_{rows}"), run_s, "s"),
            (format!("groups_{rows}"), outer.blocks[v], "groups of rows"),
            (format!("block_{rows}"), block_s, "s"),
        ]);
    }
    numbers.extend([
        named("short", outer.points * inner.points, "points"),
        named("point", time.body.point_s, "s"),
    ]);
    let sum = |terms: Vec<String>| if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
    let compute = format!("pieces * ({}) + piece_blocks * ({}) + short * point", sum(runs), sum(blocks));
    let Moved { again, line_s: sweep_line_s, visited } = time.moved(outer, inner);
    let (t_sync_s, line_s, call_s) = time.constants();
    vec![
        part(("compute", 0), compute, &numbers, terms.compute),
        part(
            ("transfer", 0),
            "((touched * L_line + again * S_line) * area + part * visited * V_line) / line",
            &[
                named("touched", outer.touched, "bytes per inner point"),
                named("again", again, "bytes per inner point"),
                named("part", time.body.line_part, ""),
                named("S_line", sweep_line_s, "s/line"),
                named("L_line", line_s, "s/line"),
                named("area", inner.area, "inner points"),
                named("visited", visited, "bytes"),
                named("V_line", time.cpu.visit_line_s, "s/line"),
                named("line", LINE_BYTES, "bytes"),
            ],
            terms.transfer,
        ),
        part(
            ("barrier", 0),
            "rows * sub_tiles * call",
            &[
                named("rows", outer.calls, "rows of tiles"),
                named("sub_tiles", inner.calls, ""),
                named("call", call_s, "s"),
            ],
            terms.barrier,
        ),
        launches(0, outer.wavefronts, t_sync_s, terms),
    ]
}

fn launches(kernel: usize, wavefronts: f64, t_sync_s: f64, terms: Terms) -> Part {
    let numbers = [named("N_w", wavefronts, "launches"), named("T_sync", t_sync_s, "s")];
    part(("launch", kernel), "N_w * T_sync", &numbers, terms.launch)
}

/// The terms of the busiest thread's tiles; positions of points in order, and tiles without points, beside them.
fn of_diagonals(time: &CpuTime, diagonals: &Diagonals) -> Vec<Part> {
    let busiest = diagonals.busiest();
    let mut parts = of_tiles(time, &busiest, &Inner::ONCE);
    let (_, _, call_s) = time.constants();
    let positions = time.positions_s(diagonals);
    let numbers: Vec<Named> = (positions.iter().enumerate().filter(|(_, (number, _))| *number > 0.0))
        .flat_map(|(k, &(number, seconds))| {
            [
                (format!("positions_{k}"), number, "of all lines at once"),
                (format!("position_{k}"), seconds, "s"),
            ]
        })
        .collect();
    if !numbers.is_empty() {
        let terms: Vec<String> =
            numbers.chunks(2).map(|own| format!("{} * {}", own[0].0, own[1].0)).collect();
        let seconds = positions.iter().map(|(number, seconds)| number * seconds).sum();
        parts.push(part(("compute", 1), terms.join(" + "), &numbers, seconds));
    }
    parts.push(part(
        ("barrier", 1),
        "empty / threads * call",
        &[
            named("empty", diagonals.empty, "tiles without points"),
            named("threads", time.threads() as f64, ""),
            named("call", call_s, "s"),
        ],
        time.empty_s(diagonals),
    ));
    parts
}

fn of_sweep(time: &CpuTime, kernel: usize, sweep: &Sweep) -> Vec<Part> {
    let terms = time.sweep(std::slice::from_ref(sweep)).terms;
    let steps = time.cores.steps as f64;
    let (t_sync_s, _, call_s) = time.constants();
    let share = [named("steps", steps, ""), named("share", sweep.share, "of the busiest thread")];
    let with = |own: Vec<Named>| share.iter().cloned().chain(own).collect::<Vec<Named>>();
    let mut numbers = with(vec![
        named("pieces", sweep.pieces, "per row"),
        named("piece_blocks", sweep.blocks, "per row"),
        named("short", sweep.short, "points"),
        named("point", time.body.point_s, "s"),
    ]);
    let mut compute = Vec::new();
    for (v, costs) in time.body.runs.iter().enumerate() {
        let runs: f64 = sweep.runs.iter().map(|runs| runs[v]).sum();
        if runs == 0.0 {
            continue;
        }
        let rows = costs.rows;
        compute.push(format!("rows_{rows} * (pieces * run_{rows} + piece_blocks * block_{rows})"));
        numbers.extend([
            (format!("rows_{rows}"), runs, "groups of rows"),
            (format!("run_{rows}"), costs.run_s, "s"),
            (format!("block_{rows}"), costs.block_s, "s"),
        ]);
    }
    compute.push("short * point".to_owned());
    let (boxes, points) = (named("boxes", sweep.boxes, ""), named("points", sweep.points, ""));
    vec![
        part(
            ("compute", kernel),
            format!("steps * share * ({})", compute.join(" + ")),
            &numbers,
            terms.compute,
        ),
        part(
            ("transfer", kernel),
            "steps * share * points * bytes / line * sweep_line",
            &with(vec![
                points,
                named("bytes", sweep.sweep_bytes, "per point"),
                named("line", LINE_BYTES, "bytes"),
                named("sweep_line", time.sweep_line_s(), "s/line"),
            ]),
            terms.transfer,
        ),
        part(
            ("barrier", kernel),
            "steps * share * boxes * call",
            &with(vec![boxes, named("call", call_s, "s")]),
            terms.barrier,
        ),
        launches(kernel, steps, t_sync_s, terms),
    ]
}

/// The terms of the energy.
pub(super) fn energy_parts(time: &CpuTime, prediction: &Prediction, constants: &Energy) -> Vec<Part> {
    let events = time.events(prediction);
    let terms = time.energy(prediction, constants);
    let of = |name, formula: &str, numbers: [(&str, f64, &'static str); 2], value| {
        Part::new((name, 0, "J"), formula, &numbers, value)
    };
    vec![
        of(
            "global",
            "e_glob * words",
            [("e_glob", constants.e_glob_j, "J/word"), ("words", events.words, "")],
            terms.global,
        ),
        of(
            "shared",
            "e_shared * accesses",
            [("e_shared", constants.e_shared_j, "J/word"), ("accesses", events.accesses, "words")],
            terms.shared,
        ),
        of(
            "iterations",
            "e_flop * operations",
            [("e_flop", constants.e_flop_j, "J"), ("operations", events.operations, "")],
            terms.iterations,
        ),
        of(
            "launches",
            "e_launch * N_w",
            [("e_launch", constants.e_launch_j, "J"), ("N_w", events.launches, "launches")],
            terms.launches,
        ),
        Part::fixed(constants.p_static_w, prediction.seconds),
    ]
}

/// What lies between the ideal time and the predicted one; adds up to their difference.
pub(super) fn losses(prediction: &Prediction) -> Vec<Loss> {
    let Prediction { terms, seconds: whole, ideal_s } = *prediction;
    let loss = |name, meaning, seconds: f64| Loss { name, meaning, seconds, share: seconds / whole };
    vec![
        loss(
            "rows",
            "narrow rows, partial blocks, the start of runs, and cores that idle at a wavefront's end",
            terms.compute - ideal_s,
        ),
        loss("transfer", "lines from memory, or from caches that are too small", terms.transfer),
        loss("barrier", "calls: one per row of a tile", terms.barrier),
        loss("launch", "parallel regions", terms.launch),
    ]
}
