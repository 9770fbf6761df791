//! Every shipped stencil.

use crate::harness::{Problem, agrees_with_reference, compiled, library_text, planned, shipped};
use hhc_codegen::TileSizes;
use std::collections::BTreeSet;
use toolchain::compiler::CompileOptions;

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
    fdtd2d_driven,
    star2d4r,
    box2d2r,
    star2d3r,
    varcoef2d,
    asym2d,
    gradient2d,
    wave2d,
    seidel2d,
    redblack2d,
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

/// The options that users get, on a grid on which some default tiles are full.
fn production(name: &str) {
    let program = shipped(name);
    let plans = ["hhc", "naive"].map(|strategy| planned(&program, strategy, &TileSizes::default()).plan);
    let height = plans[0].tile.get("st").unwrap();
    let steps = 3 * height + 5;
    let mut size = vec![4 * (plans[0].tile.get("s0").unwrap() + height) + 9];
    for name in ["s1", "s2"].into_iter().take(program.dimension() - 1) {
        // Past the tiles that the skew cuts at the lower edge; all slopes here are 1.
        let extent = plans[0].tile.get(name).unwrap().max(32);
        size.push((2 * height / extent + 2) * extent + 9);
    }
    let problem = Problem::new(&program, &size, steps);
    let expected = problem.expected(&program);
    for plan in plans {
        let mut full = false;
        plan.for_each_row(&size, steps, |row| full |= row.full).unwrap();
        assert!(full, "{name}: no full tile of {} at {size:?}", plan.tile);
        let options = CompileOptions { strict: true, ..CompileOptions::default() };
        let native = compiled(&program, &library_text(&plan), &options);
        for layout in problem.layouts(&program) {
            let checked = problem.check(&program, &native, layout, &expected);
            checked.unwrap_or_else(|error| panic!("{}: {error}", plan.strategy));
        }
    }
}

#[test]
fn production_1d() {
    production("heat1d");
}

#[test]
fn production_2d() {
    production("heat2d");
}

#[test]
fn production_3d() {
    production("heat3d");
}
