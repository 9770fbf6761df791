//! Closed forms of blocks that work on bands of time, streams and overlapped tiles, against the enumeration of their plans.

use cost_models::cpu::CpuTime;
use cost_models::machine::Machine;
use hhc_codegen::TileSizes;
use hhc_codegen::counts::cores::{CoreCounts, Outer};
use hhc_codegen::counts::enumerated::Enumerated;
use hhc_codegen::counts::{Forms, Multiprocessor, Problem, TileCounts, forms};
use hhc_codegen::strategy;
use polyhedral::program::{ElementType, Program};
use proptest::prelude::*;
use std::sync::Arc;

const MACHINE: &str = include_str!("core.toml");

/// Two fields, one of them computed from the other's new values, and a coefficient.
const TWO_FIELDS: &str = "stencil two(t, i, j) {
    field u: f32;
    field v: f32;
    coefficient c: f32;
    v[t+1, i, j] = v[t, i, j-1] + v[t, i, j+1] + c[i, j+1] * (u[t, i+1, j] - u[t, i, j-2]) for 1 <= i < n0 - 1, 2 <= j < n1 - 1;
    u[t+1, i, j] = u[t, i-1, j] + u[t, i+1, j] + 0.5 * (v[t+1, i-1, j] + v[t, i, j+1]) for 2 <= i < n0 - 2, 1 <= j < n1 - 3;
}";

/// Two coefficients, one of which is read farther than the field.
const WEIGHTED: &str = "stencil weighted(t, i, j) {
    field u: f32;
    coefficient a: f32;
    coefficient b: f32;
    u[t+1, i, j] = a[i-1, j+2] * u[t, i, j-1] + b[i+1, j] * u[t, i-1, j] + b[i-2, j] * u[t, i+1, j];
}";

fn program(stencil: &str, double: bool) -> Arc<Program> {
    let program = match stencil {
        "two" => polyhedral::parse("two", TWO_FIELDS).unwrap(),
        "weighted" => polyhedral::parse("weighted", WEIGHTED).unwrap(),
        shipped => Program::clone(&polyhedral::shipped::load(shipped).unwrap()),
    };
    Arc::new(if double { program.with_element_type(ElementType::F64) } else { program })
}

/// The counts of the plan, as far as a tile of these sizes is possible.
fn check(name: &str, stencil: &str, sizes: &[i64], size: &[i64], steps: i64, double: bool) {
    let program = program(stencil, double);
    let problem = Problem::new(&program, size, steps).unwrap();
    let own = strategy::by_name(name).unwrap();
    let tile = TileSizes::new(own.size_names().iter().copied().zip(sizes.iter().copied()));
    if strategy::plan(own, &program, &problem.cone, &tile).is_err() {
        return;
    }
    let on = Multiprocessor { lanes: 96, ..Multiprocessor::ANY };
    let of = |forms: &dyn Forms| -> Vec<TileCounts> {
        let (family, sizes) = forms.of_tile(&problem, &on, &tile).unwrap();
        // What threads are given of registers is an estimate of the text, not of the plan.
        let without = |class| TileCounts { registers: 0, ..family.forms.counts(class, sizes) };
        (0..family.forms.classes()).map(without).collect()
    };
    let what = format!("{stencil} {tile} {size:?} {steps}");
    assert_eq!(of(&*forms(own)), of(&Enumerated { strategy: own }), "{what}");
}

/// The same on cores; the mean window is a quotient of sums.
fn check_on_cores(name: &str, stencil: &str, sizes: &[i64], size: &[i64], steps: i64, threads: i64) {
    let program = program(stencil, false);
    let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
    let own = strategy::by_name(name).unwrap();
    let tile = TileSizes::new(own.size_names().iter().copied().zip(sizes.iter().copied()));
    let machine = Machine::parse("test.toml", MACHINE).unwrap();
    let model = CpuTime::new(&machine, &program, &cone, size, steps).unwrap().with_threads(threads);
    let of = |forms: &dyn Forms| match forms.on_cores(model.cores(), &tile).unwrap() {
        CoreCounts::Tiles(outer, inner) => (Outer { extent: outer.extent.round(), ..outer }, inner),
        other => panic!("{other:?}"),
    };
    assert_eq!(of(&*forms(own)), of(&Enumerated { strategy: own }), "{stencil} {tile} {size:?} {steps}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn teams_are_those_of_the_plan(
        stencil in prop::sample::select(vec!["heat2d", "asym2d", "box2d2r", "varcoef2d", "star2d3r", "weighted", "wave2d"]),
        rpl in 1i64..5, each in 1i64..4, warps in 1i64..4, rows in 1i64..30,
        n0 in 9i64..60, n1 in 20i64..300, steps in 1i64..9, double: bool,
    ) {
        check("warp-pipeline", stencil, &[rpl, each, warps, rows], &[n0, n1], steps, double);
    }

    #[test]
    fn overlapped_tiles_are_those_of_the_plan(
        stencil in prop::sample::select(vec!["heat1d", "heat2d", "asym2d", "box2d2r", "varcoef2d", "two", "heat3d", "varcoef3d"]),
        depth in 1i64..7, widths in [1i64..20, 1i64..20, 1i64..40],
        grid in [9i64..60, 9i64..40, 9i64..50], steps in 1i64..20, double: bool, threads in 1i64..5,
    ) {
        let dimension = program(stencil, false).dimension();
        let sizes: Vec<i64> = std::iter::once(depth).chain(widths).take(dimension + 1).collect();
        check("overlapped", stencil, &sizes, &grid[..dimension], steps, double);
        check_on_cores("overlapped", stencil, &sizes, &grid[..dimension], steps, threads);
    }

    #[test]
    fn streams_are_those_of_the_plan(
        stencil in prop::sample::select(vec!["heat3d", "box3d1r", "star3d2r", "varcoef3d"]),
        rpl in 1i64..4, rows in 1i64..6, each in 1i64..4, warps in 1i64..6, planes in 1i64..20,
        n0 in 9i64..30, n1 in 9i64..40, n2 in 20i64..150, steps in 1i64..6, double: bool,
    ) {
        check("streaming", stencil, &[rpl, rows, each, warps, planes], &[n0, n1, n2], steps, double);
    }
}
