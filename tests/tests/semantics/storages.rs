//! Plans whose blocks have storage of their own.

use crate::harness::{Problem, compiled, emulator, library_text, shipped, small_plan, strict, with_storages};
use execution::emulator::ThreadOrder;
use hhc_codegen::backend::cuda::{self, CudaOptions};

/// Small, thin and tiny grids, per dimension.
const SIZES: [&[&[i64]]; 3] = [
    &[&[1], &[5], &[61], &[213]],
    &[&[1, 9], &[5, 5], &[33, 77], &[90, 41]],
    &[&[9, 1, 6], &[5, 5, 5], &[17, 23, 31]],
];

fn openmp(name: &str, seeds: &[usize]) {
    let program = shipped(name);
    let mut failures = Vec::new();
    for strategy in with_storages() {
        for &seed in seeds {
            let Some(plan) = small_plan(&program, strategy, seed) else { continue };
            let native = compiled(&program, &library_text(&plan), &strict(1));
            for size in SIZES[program.dimension() - 1] {
                for steps in [0, 1, 2, 3, 5, 8] {
                    let problem = Problem::new(&program, size, steps).newest();
                    let expected = problem.expected(&program);
                    for layout in problem.layouts(&program) {
                        if let Err(failure) = problem.check(&program, &native, layout, &expected) {
                            failures.push(format!("{} {}: {failure}", plan.strategy, plan.tile));
                        }
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn openmp_1d() {
    openmp("heat1d", &[0, 1, 2, 3, 4]);
}

#[test]
fn openmp_2d() {
    openmp("heat2d", &[0, 1, 2, 3, 4]);
    openmp("box2d2r", &[0, 4]);
    openmp("fdtd2d", &[0, 1]);
    openmp("varcoef2d", &[0, 2]);
}

#[test]
fn openmp_3d() {
    openmp("heat3d", &[0, 1, 2]);
}

/// In all orders of threads and blocks.
fn emulated(name: &str, seeds: &[usize]) {
    let program = shipped(name);
    let mut failures = Vec::new();
    for strategy in with_storages() {
        for &seed in seeds {
            let Some(plan) = small_plan(&program, strategy, seed) else { continue };
            let Ok(cuda) = cuda::generate(&plan, &CudaOptions::default()) else { continue };
            let emulator = emulator(&plan, &cuda);
            for size in &SIZES[program.dimension() - 1][..3] {
                for (steps, order) in [
                    (1, ThreadOrder::Ascending),
                    (2, ThreadOrder::Descending),
                    (3, ThreadOrder::Shuffled(1)),
                    (5, ThreadOrder::Shuffled(2)),
                    (8, ThreadOrder::Ascending),
                ] {
                    let problem = Problem::new(&program, size, steps).newest();
                    let expected = problem.expected(&program);
                    if let Err(failure) = problem.check_emulated(&program, &emulator, order, &expected) {
                        failures.push(format!("{} {}, {steps} steps: {failure}", plan.strategy, plan.tile));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn emulated_1d() {
    emulated("heat1d", &[0, 1, 2]);
}

#[test]
fn emulated_2d() {
    emulated("heat2d", &[0, 1, 4]);
    emulated("box2d2r", &[4]);
    emulated("fdtd2d", &[0]);
    emulated("varcoef2d", &[0]);
}

#[test]
fn emulated_3d() {
    emulated("heat3d", &[0]);
}
