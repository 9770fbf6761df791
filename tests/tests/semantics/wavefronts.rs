//! Rows whose points run in wavefronts: a sweep in place, in a storage with one plane, has the values of two planes where the
//! order allows it, and is refused where it does not.

use crate::harness::{Problem, compiled, emulator, library_text, parsed, small_plan, strict, with_storages};
use crate::replay::Generator;
use crate::storage_replay::replay;
use execution::emulator::ThreadOrder;
use hhc_codegen::backend::cuda::{self, CudaOptions};
use hhc_codegen::plan::RowOrder;
use hhc_codegen::storage::Sync;
use hhc_codegen::{KernelPlan, PlanError, prove};
use polyhedral::program::Program;
use std::sync::Arc;

/// A program that reads its own point, and those at these offsets.
fn sweep(offsets: &[Vec<i64>]) -> Arc<Program> {
    let names = &["i", "j", "k"][..offsets[0].len()];
    let at = |offset: &[i64]| {
        let index = |(name, offset): (&&str, &i64)| match offset {
            0 => (*name).to_owned(),
            _ => format!("{name}{offset:+}"),
        };
        names.iter().zip(offset).map(index).collect::<Vec<_>>().join(", ")
    };
    let terms: Vec<String> = offsets.iter().map(|offset| format!(" + 0.25 * u[t, {}]", at(offset))).collect();
    let here = names.join(", ");
    let text = format!(
        "stencil sweep(t, {here}) {{ field u: f32; u[t+1, {here}] = 0.375 * u[t, {here}]{}; }}",
        terms.concat()
    );
    parsed("sweep", &text)
}

/// The plans of strategies whose rows have storage with two planes, with one plane and another order of points.
fn in_place(program: &Arc<Program>, order: &RowOrder) -> Vec<KernelPlan> {
    let plans = with_storages().filter_map(|strategy| small_plan(program, strategy, 0));
    let mut plans: Vec<KernelPlan> =
        plans.filter(|plan| plan.kernels[0].storages.iter().all(|storage| storage.planes == 2)).collect();
    for kernel in plans.iter_mut().flat_map(|plan| &mut plan.kernels) {
        kernel.storages.iter_mut().for_each(|storage| storage.planes = 1);
        kernel.instances.iter_mut().for_each(|row| row.order = order.clone());
    }
    assert!(!plans.is_empty());
    plans
}

/// Why the proof refuses a plan.
fn refused(plan: &KernelPlan) -> Option<String> {
    match prove::prove(plan, &[]) {
        Ok(_) => None,
        Err(PlanError::Illegal { reason, .. }) => Some(reason),
        Err(error) => panic!("{error}"),
    }
}

fn skewed(factors: &[i64]) -> RowOrder {
    RowOrder::Skewed { factors: factors.to_vec() }
}

/// Proved, replayed, and run on both targets.
fn agrees(program: &Arc<Program>, order: &RowOrder, sizes: &[&[i64]]) {
    for plan in in_place(program, order) {
        assert_eq!(refused(&plan), None, "{order:?}");
        let native = compiled(program, &library_text(&plan), &strict(2));
        let cuda = cuda::generate(&plan, &CudaOptions::default()).unwrap();
        let emulator = emulator(&plan, &cuda);
        for &size in sizes {
            for (steps, threads) in [(1, ThreadOrder::Descending), (5, ThreadOrder::Shuffled(1))] {
                replay(&plan, size, steps, 3).unwrap_or_else(|error| panic!("{order:?}: {error}"));
                let problem = Problem::new(program, size, steps);
                let expected = problem.expected(program);
                for layout in problem.layouts(program) {
                    problem.check(program, &native, layout, &expected).unwrap();
                }
                problem.check_emulated(program, &emulator, threads, &expected).unwrap();
            }
        }
    }
}

#[test]
fn sweeps_in_place_have_the_values_of_two_planes() {
    let upwind = sweep(&[vec![1, 0], vec![0, 1]]);
    let sizes: &[&[i64]] = &[&[17, 23], &[3, 40], &[5, 5]];
    for order in [skewed(&[1, 1]), skewed(&[3, 2]), RowOrder::Sequential] {
        agrees(&upwind, &order, sizes);
    }
    agrees(&sweep(&[vec![-1, 0], vec![1, 1]]), &skewed(&[-1, 2]), sizes);
    agrees(&sweep(&[vec![0, -1]]), &skewed(&[0, -1]), &sizes[..1]);
    agrees(&sweep(&[vec![2]]), &skewed(&[1]), &[&[61]]);
    agrees(&sweep(&[vec![1, 0, 0], vec![0, 1, 0], vec![0, -1, 1]]), &skewed(&[1, 1, 2]), &[&[9, 13, 11]]);
}

#[test]
fn other_orders_are_refused() {
    let upwind = sweep(&[vec![1, 0], vec![0, 1]]);
    let sequential = [skewed(&[1, 0]), skewed(&[0, 1]), skewed(&[-1, -1]), skewed(&[-1, 1]), skewed(&[0, 0])];
    let at_once = [true, false].map(|repeats| RowOrder::Parallel { repeats });
    for order in sequential.into_iter().chain(at_once) {
        for plan in in_place(&upwind, &order) {
            let reason = refused(&plan).unwrap_or_else(|| panic!("{order:?} is taken"));
            assert!(reason.contains("overwr"), "{reason}");
            assert!(replay(&plan, &[17, 23], 5, 1).is_err(), "{order:?}");
            if !matches!(order, RowOrder::Parallel { repeats: false }) && order != skewed(&[1, 0]) {
                continue;
            }
            // A race.
            let emulator = emulator(&plan, &cuda::generate(&plan, &CudaOptions::default()).unwrap());
            let problem = Problem::new(&upwind, &[17, 23], 5);
            let expected = problem.expected(&upwind);
            let run = problem.check_emulated(&upwind, &emulator, ThreadOrder::Shuffled(7), &expected);
            assert!(run.is_err(), "{order:?}");
        }
    }
    // Points that are read where they have been overwritten.
    let downwind = sweep(&[vec![-1, 0]]);
    for order in [RowOrder::Sequential, skewed(&[1, 1])] {
        assert!(in_place(&downwind, &order).iter().all(|plan| refused(plan).is_some()), "{order:?}");
    }
}

#[test]
fn orders_that_are_none_are_refused() {
    let upwind = sweep(&[vec![1, 0], vec![0, 1]]);
    for (order, why) in [(skewed(&[1]), "1 factors"), (skewed(&[1, 1 << 40]), "larger than")] {
        for plan in in_place(&upwind, &order) {
            let reason = refused(&plan).unwrap();
            assert!(reason.contains(why), "{reason}");
        }
    }
    for mut plan in in_place(&upwind, &skewed(&[1, 1])) {
        plan.kernels[0].instances[0].sync = Sync::Nothing;
        let reason = refused(&plan).unwrap();
        assert!(reason.contains("nothing waits for its wavefronts"), "{reason}");
    }
}

/// The proof takes an order if and only if on a small grid no two points get into each other's way.
#[test]
fn random_orders_are_taken_where_nothing_conflicts() {
    let mut generator = Generator(14);
    let mut number = |most: usize| generator.below(2 * most + 1) as i64 - most as i64;
    let mut taken = [0; 2];
    for case in 0..28 {
        let dimension = 1 + usize::from(case % 4 != 0);
        let mut vector = |most: usize| (0..dimension).map(|_| number(most)).collect::<Vec<i64>>();
        let mut factors = vector(2);
        let mut offsets = vec![vector(2), vector(1)];
        // Half of them in the direction of the wavefronts, so that many are taken.
        if case % 2 == 0 {
            if factors.iter().all(|&factor| factor == 0) {
                factors[0] = 1;
            }
            for offset in &mut offsets {
                let along: i64 = offset.iter().zip(&factors).map(|(o, f)| o * f).sum();
                if along < 0 {
                    offset.iter_mut().for_each(|o| *o = -*o);
                }
            }
        }
        let order = skewed(&factors);
        let program = sweep(&offsets);
        let free = offsets.iter().filter(|offset| offset.iter().any(|&o| o != 0)).all(|offset| {
            let along: i64 = offset.iter().zip(&factors).map(|(o, f)| o * f).sum();
            along > 0
        });
        for plan in in_place(&program, &order) {
            let size: &[i64] = if dimension == 1 { &[14] } else { &[9, 10] };
            let what = || format!("{order:?} for reads at {offsets:?}");
            let found = replay(&plan, size, 4, case as u64);
            assert_eq!(found.is_ok(), free, "{}: {found:?}", what());
            let reason = refused(&plan);
            assert_eq!(reason.is_none(), free, "{}: {reason:?}", what());
            taken[usize::from(free)] += 1;
        }
    }
    assert!(taken.iter().all(|&count| count >= 5), "{taken:?}");
}
