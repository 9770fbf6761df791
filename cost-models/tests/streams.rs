//! Closed forms of blocks that stream against the enumeration of their plans.

use hhc_codegen::TileSizes;
use hhc_codegen::counts::enumerated::Enumerated;
use hhc_codegen::counts::{Forms, Multiprocessor, Problem, TileCounts, forms};
use hhc_codegen::strategy;
use polyhedral::program::ElementType;
use proptest::prelude::*;
use std::sync::Arc;

/// The counts of the plan, as far as a tile of these sizes is possible.
fn check(name: &str, stencil: &str, sizes: &[i64], size: &[i64], steps: i64, double: bool) {
    let mut program = polyhedral::shipped::load(stencil).unwrap();
    if double {
        program = program.with_element_type(ElementType::F64);
    }
    let program = Arc::new(program);
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn teams_are_those_of_the_plan(
        stencil in prop::sample::select(vec!["heat2d", "asym2d", "box2d2r", "varcoef2d", "star2d3r"]),
        rpl in 1i64..5, each in 1i64..4, warps in 1i64..4, rows in 1i64..30,
        n0 in 9i64..60, n1 in 20i64..300, steps in 1i64..9, double: bool,
    ) {
        check("warp-pipeline", stencil, &[rpl, each, warps, rows], &[n0, n1], steps, double);
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
