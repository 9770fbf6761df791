//! Closed forms of tiles on diagonals, parallelograms and diamonds, against the enumeration of their plans, point by point.

use cost_models::cpu::CpuTime;
use cost_models::machine::Machine;
use hhc_codegen::counts::cores::{CoreCounts, MAX_VARIANTS, RowCode};
use hhc_codegen::counts::forms;
use hhc_codegen::int_expr::Environment;
use hhc_codegen::strategy;
use hhc_codegen::{KernelPlan, TileSizes};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const MACHINE: &str = include_str!("core.toml");

/// Lines that run at once: diagonal, block, sub-tile, group, statement.
type Group = (i64, Vec<i64>, Vec<i64>, i64, usize);

/// What a plan says.
#[derive(Debug, Default, PartialEq)]
struct Counted {
    calls: f64,
    runs: [f64; MAX_VARIANTS],
    blocks: [f64; MAX_VARIANTS],
    short: f64,
    positions: f64,
    tiles: f64,
    rounds: f64,
    diagonals: f64,
    /// Points that come into tiles, the mean over the statements.
    entered: f64,
    /// Points that come into pieces of tiles and have been in another piece of the tile, likewise.
    visited: f64,
}

impl Counted {
    /// Adds neighbouring rows of a box that are computed so many at once.
    fn add(&mut self, code: &RowCode, only_one: bool, bounds: &[(i64, i64)]) {
        let length = |d: usize| bounds[d].1 - bounds[d].0;
        let last = bounds.len() - 1;
        let short = last > 0 && length(last) < code.block;
        let blocks = (length(last) + code.block - 1) as f64 / code.block as f64;
        let middle: i64 = (1..last).map(length).product();
        let mut rest = if last > 0 { length(0) } else { 1 };
        for &(at_once, v) in code.variants.iter().filter(|(rows, _)| !only_one || *rows == 1) {
            let runs = (rest / at_once * middle) as f64;
            rest %= at_once;
            self.runs[v] += runs;
            self.blocks[v] += if short { 0.0 } else { runs * blocks };
        }
        if short {
            self.short += (0..=last).map(length).product::<i64>() as f64;
        }
    }
}

fn check(strategy: &str, stencil: &str, sizes: &[i64], size: &[i64], steps: i64, threads: i64) {
    let program = Arc::new(polyhedral::shipped::load(stencil).unwrap());
    let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
    let own = strategy::by_name(strategy).unwrap();
    let names = own.space(&program, &cone).sizes.iter().map(|size| size.name).collect::<Vec<_>>();
    let tile = TileSizes::new(names.into_iter().zip(sizes.iter().copied()));
    let machine = Machine::parse("test.toml", MACHINE).unwrap();
    let model = CpuTime::new(&machine, &program, &cone, size, steps).unwrap().with_threads(threads);
    let cores = model.cores();
    let what = format!("{strategy} {stencil} {tile} {size:?} {steps}");
    let CoreCounts::Diagonals(found) = forms(own).on_cores(cores, &tile).unwrap() else { panic!("{what}") };

    let plan = strategy::plan(own, &program, &cone, &tile).unwrap();
    let mut counted = Counted::default();
    let mut tiles: BTreeSet<(i64, Vec<i64>)> = BTreeSet::new();
    let mut points: BTreeSet<(i64, Vec<i64>, usize, Vec<i64>)> = BTreeSet::new();
    let mut in_pieces = BTreeSet::new();
    // Of a group of lines, the first position and the last one.
    let mut groups: BTreeMap<Group, (i64, i64)> = BTreeMap::new();
    let in_order = program.sweeps_in_order().next().is_some();
    let last = program.dimension() - 1;
    plan.for_each_row(size, steps, |row| {
        tiles.insert((row.outer, row.block.to_vec()));
        let mut all = vec![Vec::new()];
        for &(low, end) in row.bounds {
            let more = |own: &Vec<i64>| (low..end).map(|at| [&own[..], &[at]].concat()).collect::<Vec<_>>();
            all = all.iter().flat_map(more).collect();
        }
        for point in all {
            in_pieces.insert((
                row.outer,
                row.block.to_vec(),
                row.sub_tile.to_vec(),
                row.statement,
                point.clone(),
            ));
            points.insert((row.outer, row.block.to_vec(), row.statement, point));
        }
        let code = &cores.code[row.statement];
        if !in_order {
            counted.calls += 1.0;
            return counted.add(code, false, row.bounds);
        }
        let kernel = &plan.kernels[0];
        let factor = match &kernel.instances[row.instance].order {
            hhc_codegen::plan::RowOrder::Skewed { factors } if last > 0 => factors[last - 1],
            _ => 0,
        };
        // Of one line, or, where these are not cut, of all of them.
        let (first, after) = if last > 0 { row.bounds[last - 1] } else { (0, 1) };
        let (low, end) = (row.bounds[last].0 + factor * first, row.bounds[last].1 - 1 + factor * (after - 1));
        let key = (row.outer, row.block.to_vec(), row.sub_tile.to_vec(), row.group, row.statement);
        let known = groups.entry(key).or_insert((low, end));
        *known = (known.0.min(low), known.1.max(end));
        if !program.in_order(row.statement) {
            counted.add(code, true, &[(0, 1), row.bounds[last]]);
        }
    })
    .unwrap();
    counted.calls += groups.len() as f64;
    let ordered = groups.iter().filter(|((.., statement), _)| program.in_order(*statement));
    counted.positions = ordered.map(|(_, (low, high))| (high - low + 1) as f64).sum();
    counted.tiles = tiles.len() as f64;
    let mut of_diagonal: BTreeMap<i64, i64> = BTreeMap::new();
    tiles.iter().for_each(|(diagonal, _)| *of_diagonal.entry(*diagonal).or_default() += 1);
    counted.rounds = of_diagonal.values().map(|tiles| ((tiles + threads - 1) / threads) as f64).sum();
    counted.diagonals = hhc_codegen::plan_counts::launches(&plan, Some(size), steps).unwrap() as f64;
    counted.entered = points.len() as f64 / program.statements.len() as f64;
    counted.visited = (in_pieces.len() - points.len()) as f64 / program.statements.len() as f64;

    let wider = |d: usize, own: i64| (own + cores.halo[d].0 + cores.halo[d].1) as f64 / own as f64;
    let around: f64 = match strategy {
        "diamond" => wider(0, widest(&plan)),
        _ => (0..=last).filter(|&d| sizes[d + 1] > 0).map(|d| wider(d, sizes[d + 1])).product(),
    };
    // Lines in order go through their tile as a whole.
    let in_order_visits = if in_order { counted.visited } else { 0.0 };
    let all = &found.all;
    let closed = Counted {
        calls: all.calls,
        runs: all.runs,
        blocks: all.blocks,
        short: all.points,
        positions: found.positions.iter().sum(),
        tiles: found.tiles,
        rounds: found.rounds,
        diagonals: all.wavefronts,
        entered: all.touched / around / cores.touched_bytes,
        visited: all.visited / cores.touched_bytes + in_order_visits,
    };
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(1.0);
    let same = close(closed.calls, counted.calls)
        && closed.runs.iter().zip(counted.runs).all(|(a, b)| close(*a, b))
        && closed.blocks.iter().zip(counted.blocks).all(|(a, b)| close(*a, b))
        && close(closed.short, counted.short)
        && close(closed.positions, counted.positions)
        && close(closed.tiles, counted.tiles)
        && close(closed.rounds, counted.rounds)
        && close(closed.diagonals, counted.diagonals)
        && close(closed.entered, counted.entered)
        && close(closed.visited, counted.visited);
    assert!(same, "{what}: closed {closed:?}\ncounted {counted:?}");
    let prediction = model.predict(own, &tile).unwrap();
    assert!(prediction.seconds >= prediction.ideal_s, "{what}: {prediction:?}");
}

/// The columns of a diamond, from the first one of some row to the last one of another.
fn widest(plan: &KernelPlan) -> i64 {
    let kernel = &plan.kernels[0];
    let (first, last) = (kernel.rows.low.constant().unwrap(), kernel.rows.high.constant().unwrap());
    let mut ends = (i64::MAX, i64::MIN);
    for m in first..=last {
        let at = Environment::from([("x0", 0), ("m", m)]);
        for row in &kernel.instances {
            let (low, high) =
                (row.ranges[0].low.evaluate(&at).unwrap(), row.ranges[0].high.evaluate(&at).unwrap());
            if low <= high {
                ends = (ends.0.min(low), ends.1.max(high));
            }
        }
    }
    ends.1 - ends.0 + 1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn diamonds_are_those_of_the_plan(
        stencil in prop::sample::select(vec![
            "heat1d", "leapfrog1d", "jacobi2d", "fdtd2d", "fdtd2d_driven", "asym2d", "skewed2d", "star2d3r", "wave2d", "heat3d",
        ]),
        st in 1i64..6, s1 in prop_oneof![Just(0i64), 4i64..24], s2 in prop_oneof![Just(0i64), 4i64..20],
        n0 in 16i64..34, n1 in 16i64..30, steps in 1i64..14, threads in 1i64..4,
    ) {
        let program = polyhedral::shipped::load(stencil).unwrap();
        let size: Vec<i64> = [n0, n1, 17].into_iter().take(program.dimension()).collect();
        check("diamond", stencil, &[st * program.statements.len() as i64, s1, s2], &size, steps, threads);
    }
    #[test]
    fn boxes_are_those_of_the_plan(
        stencil in prop::sample::select(vec!["heat1d", "jacobi2d", "fdtd2d", "asym2d", "skewed2d", "star2d3r", "wave2d", "heat3d"]),
        st in 1i64..6, s0 in 3i64..20, s1 in prop_oneof![Just(0i64), 4i64..24], s2 in prop_oneof![Just(0i64), 4i64..20],
        n0 in 16i64..34, n1 in 16i64..30, steps in 1i64..11, threads in 1i64..4,
    ) {
        let program = polyhedral::shipped::load(stencil).unwrap();
        let size: Vec<i64> = [n0, n1, 17].into_iter().take(program.dimension()).collect();
        check("time-skewing", stencil, &[st * program.statements.len() as i64, s0, s1, s2], &size, steps, threads);
    }

    #[test]
    fn lines_are_those_of_the_plan(
        st in 1i64..6, s0 in 1i64..4, s1 in prop_oneof![Just(0i64), 4i64..40],
        n0 in 5i64..44, n1 in 7i64..40, steps in 1i64..9, threads in 1i64..4,
    ) {
        check("time-skewing", "seidel2d", &[st, 8 * s0, s1, 0], &[n0, n1], steps, threads);
    }
}
