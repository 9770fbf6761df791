//! The sums of the CPU's time model against enumeration of the plan: with one thread and inner dimensions that are not
//! cut, every call and every run is counted exactly.
#![allow(clippy::unwrap_used)]

use cost_models::cpu::{CpuTile, CpuTime};
use cost_models::machine::Machine;
use hhc_codegen::strategy::{HybridHexagonal, Strategy};
use proptest::prelude::*;
use std::sync::Arc;

const MACHINE: &str = r#"
name = "one core"
kind = "cpu"
description = "a CPU for tests"
[facts]
cores = 1
vector_bytes = 64
memory_bytes = 1e10
caches = [{ level = 1, kb = 32, shared_by = 1, line_bytes = 64 }]
[calibration]
provenance = "stated"
source = "round numbers"
l_s_per_word = 1e-10
tau_sync_s = 1e-8
t_sync_s = 3e-6
[calibration.cpu]
threads = 1
working_sets = [{ kb = 64000, line_s = 4e-9, dispersion = 0 }]
[calibration.cpu.bodies.jacobi2d.f32]
flops = 5
reads = 5
call_s = 2e-8
point_s = 1e-9
memory_line_s = 1.5e-9
relative_error = 0
dispersion = 0
measurements = 1
runs = [
    { rows = 8, run_s = 2e-8, block_s = 1.7e-8 },
    { rows = 4, run_s = 1e-8, block_s = 1e-8 },
    { rows = 2, run_s = 8e-9, block_s = 6e-9 },
    { rows = 1, run_s = 6e-9, block_s = 4e-9 },
]
"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn calls_and_runs_are_those_of_the_plan(
        stencil in prop::sample::select(vec!["jacobi2d", "fdtd2d", "asym2d", "heat3d", "star2d3r"]),
        height in 1i64..5, wide in 0i64..20, n0 in 20i64..70, n1 in 20i64..40, steps in 1i64..9,
    ) {
        let program = Arc::new(polyhedral::shipped::load(stencil).unwrap());
        let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
        let size: Vec<i64> = [n0, n1, 18].into_iter().take(program.dimension()).collect();
        let machine = Machine::parse("test.toml", MACHINE).unwrap();
        let model = CpuTime::new(&machine, &program, &cone, &size, steps).unwrap();
        let st = height * program.statements.len() as i64;
        let tile = CpuTile { st, s0: 8 + wide, classical: [0, 0] };
        let plan = HybridHexagonal.plan(&program, &cone, &tile.to_sizes(program.dimension())).unwrap();
        let (mut calls, mut points, mut runs) = (0.0, 0.0, 0.0);
        plan.for_each_row(&size, steps, |row| {
            let width = row.bounds[0].1 - row.bounds[0].0;
            let mut rest = width;
            for rows in hhc_codegen::backend::openmp::rows_at_once(&program, &program.statements[row.statement]) {
                runs += (rest / rows as i64) as f64;
                rest %= rows as i64;
            }
            calls += 1.0;
            points += width as f64;
        }).unwrap();
        let outer = model.outer(tile.st, tile.s0);
        prop_assert_eq!(outer.calls, calls);
        prop_assert_eq!(outer.points, points);
        prop_assert_eq!(outer.runs.iter().sum::<f64>(), runs);
        let prediction = model.predict(tile);
        prop_assert!((prediction.terms.sum() - prediction.seconds).abs() <= 1e-12 * prediction.seconds);
        prop_assert!(prediction.seconds >= prediction.ideal_s);
    }
}
