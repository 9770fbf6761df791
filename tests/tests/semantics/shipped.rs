//! Every shipped stencil.

use crate::harness::{Problem, agrees_with_reference, compiled, library_text, planned, shipped};
use execution::c_compiler::CompileOptions;
use hhc_codegen::TileSizes;
use std::collections::BTreeSet;

macro_rules! stencils {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            agrees_with_reference(&shipped(stringify!($name)));
        })*

        #[test]
        fn all_stencils_are_listed() {
            let listed = BTreeSet::from([$(stringify!($name)),*]);
            assert_eq!(listed, polyhedral::shipped::names().into_iter().collect());
        }
    };
}

stencils![
    // The slow ones first.
    box3d2r,
    box2d4r,
    box2d3r,
    star3d2r,
    box3d1r,
    varcoef3d,
    heat3d,
    laplacian3d,
    star3d1r,
    fdtd2d,
    star2d4r,
    box2d2r,
    star2d3r,
    varcoef2d,
    asym2d,
    gradient2d,
    wave2d,
    skewed2d,
    star2d2r,
    star2d1r,
    box2d1r,
    heat2d,
    laplacian2d,
    jacobi2d,
    leapfrog1d,
    heat1d,
    jacobi1d,
];

/// The options that users get, at sizes at which default tiles are full too.
fn production(name: &str, size: &[i64], steps: i64) {
    let program = shipped(name);
    let problem = Problem::new(&program, size, steps);
    let expected = problem.expected(&program);
    for strategy in ["hhc", "naive"] {
        let planned = planned(&program, strategy, &TileSizes::default());
        let mut full = false;
        planned.plan.for_each_row(size, steps, |row| full |= row.full).unwrap();
        assert!(full, "{name}: no full tile of {}", planned.plan.tile);
        let options = CompileOptions { strict: true, ..CompileOptions::default() };
        let native = compiled(&program, &library_text(&planned.plan), &options);
        for layout in problem.layouts(&program) {
            problem
                .check(&program, &native, layout, &expected)
                .unwrap_or_else(|error| panic!("{strategy}: {error}"));
        }
    }
}

#[test]
fn production_1d() {
    production("heat1d", &[40_001], 150);
}

#[test]
fn production_2d() {
    production("heat2d", &[211, 2203], 133);
}

#[test]
fn production_3d() {
    production("heat3d", &[61, 75, 41], 35);
}
