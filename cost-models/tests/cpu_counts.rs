//! The sums of the CPU's time model against enumeration of the plan: with one thread and inner dimensions that are not
//! cut, every call and every run is counted exactly.

use approx::relative_eq;
use cost_models::cpu::CpuTime;
use cost_models::machine::Machine;
use hhc_codegen::TileSizes;
use hhc_codegen::counts::cores::CoreCounts;
use hhc_codegen::counts::forms;
use hhc_codegen::strategy;
use proptest::prelude::*;
use std::sync::Arc;

const MACHINE: &str = include_str!("core.toml");

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn calls_and_runs_are_those_of_the_plan(
        stencil in prop::sample::select(vec!["jacobi2d", "fdtd2d", "asym2d", "heat3d", "star2d3r"]),
        height in 1i64..5, wide in 0i64..20, n0 in 20i64..70, n1 in 20i64..40, steps in 1i64..9,
        (fused, wave) in prop_oneof![Just((1i64, 0i64)), (1i64..5, 0i64..12)],
    ) {
        let program = Arc::new(polyhedral::shipped::load(stencil).unwrap());
        let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
        let size: Vec<i64> = [n0, n1, 18].into_iter().take(program.dimension()).collect();
        let machine = Machine::parse("test.toml", MACHINE).unwrap();
        let model = CpuTime::new(&machine, &program, &cone, &size, steps).unwrap();
        let st = height * program.statements.len() as i64;
        let sizes = [("st", st), ("s0", 8 + wide), ("s1", 0), ("s2", 0)];
        let tile = TileSizes::new(sizes.into_iter().take(1 + program.dimension()));
        let tile = tile.with("f", fused).with("r", wave);
        let hhc = strategy::by_name("hhc").unwrap();
        let plan = strategy::plan(hhc, &program, &cone, &tile).unwrap();
        let (mut calls, mut points, mut runs) = (0.0, 0.0, 0.0);
        plan.for_each_row(&size, steps, |row| {
            let width = row.bounds[0].1 - row.bounds[0].0;
            let mut rest = width;
            for rows in hhc_codegen::geometry::rows_at_once(&program, &program.statements[row.statement]) {
                runs += (rest / rows as i64) as f64;
                rest %= rows as i64;
            }
            calls += 1.0;
            points += width as f64;
        }).unwrap();
        let counts = forms(hhc).on_cores(model.cores(), &tile).unwrap();
        let CoreCounts::Tiles(outer, _) = counts else { panic!("{counts:?}") };
        prop_assert_eq!(outer.calls, calls);
        prop_assert_eq!(outer.points, points);
        prop_assert_eq!(outer.runs.iter().sum::<f64>(), runs);
        let prediction = model.predict(hhc, &tile).unwrap();
        prop_assert!(relative_eq!(prediction.terms.sum(), prediction.seconds, max_relative = 1e-12));
        prop_assert!(prediction.seconds >= prediction.ideal_s);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// With costs of one for calls, or for runs, and nothing for the rest, the time is their number.
    #[test]
    fn the_naive_strategy_has_the_boxes_and_runs_of_its_plan(
        stencil in prop::sample::select(vec!["jacobi2d", "fdtd2d", "heat3d", "star2d3r"]),
        s0 in 0i64..20, s1 in 0i64..30, n0 in 20i64..70, n1 in 20i64..40, steps in 1i64..5,
    ) {
        let program = Arc::new(polyhedral::shipped::load(stencil).unwrap());
        let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
        let size: Vec<i64> = [n0, n1, 18].into_iter().take(program.dimension()).collect();
        let sizes = [s0, s1, 0];
        let tile = TileSizes::new(
            ["s0", "s1", "s2"].into_iter().zip(sizes).take(program.dimension()));
        let naive = strategy::by_name("naive").unwrap();
        let plan = strategy::plan(naive, &program, &cone, &tile).unwrap();
        let (mut calls, mut runs) = (0.0, 0.0);
        plan.for_each_row(&size, steps, |row| {
            let extent = |d: usize| row.bounds[d].1 - row.bounds[d].0;
            calls += 1.0;
            if extent(program.dimension() - 1) < 16 {
                return;
            }
            let middle = if program.dimension() == 3 { extent(1) } else { 1 };
            let mut rest = extent(0);
            for rows in hhc_codegen::geometry::rows_at_once(&program, &program.statements[row.statement]) {
                runs += (rest / rows as i64 * middle) as f64;
                rest %= rows as i64;
            }
        }).unwrap();
        let costs = |call_s: &str, run_s: &str| {
            let text = MACHINE.replace("call_s = 2e-8", &format!("call_s = {call_s}"))
                .replace("point_s = 1e-9", "point_s = 0").replace("t_sync_s = 3e-6", "t_sync_s = 0");
            let text: Vec<String> = text.lines().map(|line| match line.contains("rows = ") {
                true => format!("{}, run_s = {run_s}, block_s = 0 }},", line.split_once(", run_s").unwrap().0),
                false => line.to_owned(),
            }).collect();
            let machine = Machine::parse("test.toml", &text.join("\n")).unwrap();
            CpuTime::new(&machine, &program, &cone, &size, steps).unwrap().predict(naive, &tile).unwrap().terms
        };
        prop_assert!(relative_eq!(costs("1", "0").barrier, calls, epsilon = 1e-9), "{} {calls}", costs("1", "0").barrier);
        // Pieces shorter than a block count by points.
        let short = [s1, 0][program.dimension() - 2];
        if short == 0 || short >= 32 {
            prop_assert!(relative_eq!(costs("0", "1").compute, runs, epsilon = 1e-9), "{} {runs}", costs("0", "1").compute);
        }
    }
}
