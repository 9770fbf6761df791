//! Plans whose blocks have storage of their own.

use crate::harness::{
    Problem, analysed, compiled, emulator, everything, library_text, parsed, plan_with_sizes, shipped,
    small_plan, small_plan_in_openmp, strict, turn_of, with_storages,
};
use crate::storage_faults::{band_faults, faults, slots_of_levels};
use crate::storage_replay::replay;
use execution::emulator::ThreadOrder;
use hhc_codegen::backend::cuda::{self, CudaOptions};
use hhc_codegen::counts::{self, Multiprocessor};
use hhc_codegen::int_expr::int;
use hhc_codegen::plan::RowOrder;
use hhc_codegen::storage::{Axis, Storage};
use hhc_codegen::{KernelPlan, PlanError, backend, geometry, prove};
use std::collections::BTreeSet;

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
            let Some(plan) = small_plan_in_openmp(&program, strategy, seed) else { continue };
            let native = compiled(&program, &library_text(&plan), &strict(0));
            for size in SIZES[program.dimension() - 1] {
                for steps in [0, 1, 2, 3, 5, 8] {
                    let problem = Problem::new(&program, size, steps);
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
                let runs = [
                    (1, ThreadOrder::Ascending),
                    (2, ThreadOrder::Descending),
                    (3, ThreadOrder::Shuffled(1)),
                    (5, ThreadOrder::Shuffled(2)),
                    (8, ThreadOrder::Ascending),
                ];
                for (turn, (steps, order)) in runs.into_iter().enumerate() {
                    // Most threads are those of the largest grid: there, the orders run in turn.
                    let large = size.iter().product::<i64>() > 100;
                    if large && !everything() && !(turn + seed + plan.strategy.len()).is_multiple_of(2) {
                        continue;
                    }
                    let problem = Problem::new(&program, size, steps);
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
    emulated("heat2d", if everything() { &[0, 1, 4] } else { &[0] });
    emulated("box2d2r", &[4]);
    emulated("fdtd2d", &[0]);
    emulated("varcoef2d", &[0]);
}

#[test]
fn emulated_3d() {
    emulated("heat3d", &[0]);
}

/// The replay takes the plans of all strategies, with two of four tiles each, in turn, or with all.
#[test]
fn plans_replay() {
    for name in ["heat1d", "heat2d", "box2d2r", "fdtd2d", "varcoef2d", "wave2d", "heat3d"] {
        let program = shipped(name);
        for (number, strategy) in hhc_codegen::strategy::all().iter().enumerate() {
            let in_turn = |seed: &usize| everything() || (turn_of(name) + number + seed).is_multiple_of(2);
            for seed in (0..4).filter(in_turn) {
                let Some(plan) = small_plan(&program, *strategy, seed) else { continue };
                let sizes: [&[&[i64]]; 3] = [&[&[1], &[61]], &[&[5, 9], &[17, 23]], &[&[5, 6, 7]]];
                let sizes = sizes[program.dimension() - 1];
                for size in sizes {
                    for steps in [0, 1, 2, 3, 5] {
                        let result = replay(&plan, size, steps, 1);
                        result.unwrap_or_else(|error| {
                            panic!("{name} {} {}: {error}", plan.strategy, plan.tile)
                        });
                    }
                }
            }
        }
    }
}

/// Steps for which all kinds of bands occur.
const STEPS: [i64; 3] = [4, 5, 8];

/// A grid with several blocks. Where it is narrower than a strip of lanes with several points, there is one alone.
fn grid(plan: &KernelPlan) -> [i64; 2] {
    if plan.kernels.iter().any(|kernel| kernel.team) { [17, 79] } else { [17, 23] }
}

fn found_by_replay(plan: &KernelPlan) -> bool {
    // So many steps that a band has all that the warps of a team have.
    let team = plan.kernels.iter().any(|kernel| kernel.team);
    let long = plan.bands.iter().map(|bands| bands.most + 3).filter(|_| team);
    STEPS.into_iter().chain(long).any(|steps| replay(plan, &grid(plan), steps, 1).is_err())
}

fn found_by_emulator(plan: &KernelPlan) -> bool {
    // What cannot be printed does not run.
    let Ok(cuda) = cuda::generate(plan, &CudaOptions::default()) else { return true };
    let emulator = emulator(plan, &cuda);
    STEPS.into_iter().any(|steps| {
        let problem = Problem::new(&plan.program, &grid(plan), steps);
        let expected = problem.expected(&plan.program);
        problem.check_emulated(&plan.program, &emulator, ThreadOrder::Shuffled(7), &expected).is_err()
    })
}

/// Mistakes that show in what a program does; the others only in what a plan says, and in speed.
const SHOWN: [&str; 11] = [
    "the ghost zone loaded one point short",
    "a ring one slot short",
    "storage with a plane less",
    "the last refill missing",
    "the wrong band's buffer read",
    "a stage without its barrier",
    "a stage that does not wait for the one before",
    "a stage that does not wait for the next one",
    "a stage that runs one row too far ahead",
    "registers that begin one lane late",
    "junk that reaches the arrays",
];

fn found_by_proof(plan: &KernelPlan) -> bool {
    match prove::prove(plan, &[]) {
        Ok(_) => false,
        Err(PlanError::Illegal { reason, .. }) => {
            println!("{reason}");
            !reason.contains("isl")
        }
        Err(error) => panic!("{error}"),
    }
}

/// Every mistake is found by the proof and by the replay, and those that show, by the emulator: each in the first strategy that
/// has it, or in all. The proof of a team takes seconds: of the mistakes that another strategy has as well, it has every sixth.
#[test]
fn faults_are_found() {
    faults_of("heat2d");
}

/// The same where steps read two levels, with spare slots.
#[test]
fn faults_with_spare_slots_are_found() {
    faults_of("wave2d");
}

fn faults_of(name: &str) {
    let program = shipped(name);
    let mut missed = Vec::new();
    let (mut proved, mut emulated) = (BTreeSet::new(), BTreeSet::new());
    for strategy in with_storages() {
        let Some(plan) = small_plan(&program, strategy, 0) else { continue };
        assert!(!found_by_proof(&plan) && !found_by_replay(&plan));
        let mut made: usize = 0;
        for (what, wrong) in faults(&plan) {
            made += 1;
            // One strategy alone has spare slots: those of its mistakes that another one has not.
            let first =
                proved.insert(what) && (name == "heat2d" || what.contains("buffer") || what.contains("ring"));
            let of_team = plan.kernels.iter().any(|kernel| kernel.team);
            if of_team && !first && !everything() && !made.is_multiple_of(6) {
                continue;
            }
            // Lanes that touch their own points alone need no barrier between boundary and rows.
            let team = wrong.kernels.iter().any(|kernel| kernel.team);
            let legal = team && what.contains("refills without their barriers");
            if !legal && !found_by_proof(&wrong) {
                missed.push(format!("{}, {what}: by the proof", plan.strategy));
            }
            // The replay runs the parts of all warps one after the other.
            let warps = wrong.kernels.iter().any(|kernel| !kernel.warps.is_empty());
            let order = ["barrier", "wait", "ahead", "too close"].iter().any(|word| what.contains(word));
            let shared_out = what.contains("another warp") || what.contains("one point after");
            let unseen = ((warps || team) && order) || what.contains("junk") || shared_out;
            if !unseen && !found_by_replay(&wrong) {
                missed.push(format!("{}, {what}: by the replay", plan.strategy));
            }
            // The registers of a lane are its own, without a barrier, too.
            let in_lanes = wrong.kernels[0].storages.iter().any(|storage| storage.first_lane().is_some());
            let hidden = in_lanes && what.contains("without its barrier");
            let shown = SHOWN.contains(&what) && !hidden && (emulated.insert(what) || everything());
            if shown && !found_by_emulator(&wrong) {
                missed.push(format!("{}, {what}: by the emulator", plan.strategy));
            }
        }
        assert!(made > 10, "{} mistakes in {}", made, plan.strategy);
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Where nobody supplies a value, the error says why each of those does not that the read names.
#[test]
fn suppliers_are_listed() {
    let program = shipped("heat2d");
    for strategy in with_storages() {
        let Some(plan) = small_plan(&program, strategy, 0) else { continue };
        let faults = faults(&plan);
        let (_, wrong) = faults.iter().find(|(what, _)| what.contains("one point short")).unwrap();
        let error = prove::prove(wrong, &[]).unwrap_err().to_string();
        let suppliers: Vec<&str> = error.lines().skip(1).collect();
        assert!(suppliers.iter().any(|line| line.ends_with("does not execute there")), "{error}");
        let others = suppliers.iter().any(|line| line.contains("has no values of"));
        // Of a row that a team passes on, those before it miss the same point.
        let team = wrong.kernels.iter().any(|kernel| kernel.team);
        assert!(others || team || suppliers.len() == 1, "{error}");
    }
}

/// The proof takes bands as they come: what it takes for granted of them is proved.
#[test]
fn bands_have_every_step_once() {
    for (name, strategy) in
        ["heat2d", "wave2d"].into_iter().flat_map(|name| with_storages().map(move |own| (name, own)))
    {
        let program = shipped(name);
        let Some(plan) = small_plan(&program, strategy, 0) else { continue };
        for (what, wrong) in band_faults(&plan) {
            assert!(found_by_proof(&wrong), "{}, {what}: by the proof", plan.strategy);
            // The others are in what a plan says of its bands, and may do no harm.
            let shown = ["no first band", "no last band", "a step between two bands"].contains(&what);
            assert!(!shown || found_by_replay(&wrong), "{}, {what}: by the replay", plan.strategy);
        }
    }
}

/// With an even number of steps in a band, its input and its output are one slot if slots follow levels.
#[test]
fn bands_need_their_own_buffers() {
    let program = shipped("heat2d");
    for strategy in with_storages() {
        let Some(plan) = small_plan(&program, strategy, 2) else { continue };
        // A pipeline of three stages has odd bands alone.
        if plan.tile.get("depth") == Some(2) {
            let wrong = slots_of_levels(&plan);
            assert!(found_by_proof(&wrong), "{}", plan.strategy);
            assert!(found_by_replay(&wrong) && found_by_emulator(&wrong), "{}", plan.strategy);
        }
    }
}

/// Rows whose points follow each other, and rings along the innermost dimension: the same values.
#[test]
fn rows_in_order_and_rings() {
    let skewed = |factors: &[i64]| RowOrder::Skewed { factors: factors.to_vec() };
    for (name, order) in [
        ("heat1d", RowOrder::Sequential),
        ("fdtd2d", RowOrder::Sequential),
        ("heat2d", skewed(&[-2, 3])),
        ("heat3d", skewed(&[0, 1, -1])),
    ] {
        let program = shipped(name);
        for strategy in hhc_codegen::strategy::all() {
            let Some(mut plan) = small_plan_in_openmp(&program, *strategy, 0) else { continue };
            for kernel in &mut plan.kernels {
                kernel.instances.iter_mut().for_each(|row| row.order = order.clone());
                for storage in &mut kernel.storages {
                    if let Some(axis) = storage.axes.last_mut() {
                        *axis = Axis::Ring { first: int(0), extent: axis.extent() };
                    }
                }
            }
            let size: &[i64] = [&[61][..], &[17, 23], &[9, 13, 11]][program.dimension() - 1];
            let problem = Problem::new(&program, size, 5);
            let expected = problem.expected(&program);
            let native = compiled(&program, &library_text(&plan), &strict(0));
            for layout in problem.layouts(&program) {
                problem.check(&program, &native, layout, &expected).unwrap();
            }
            // What were registers of many warps is more than a block has in shared memory.
            let cuda = match cuda::generate(&plan, &CudaOptions::default()) {
                Err(PlanError::Limit { .. }) => continue,
                other => other.unwrap(),
            };
            let emulator = emulator(&plan, &cuda);
            problem.check_emulated(&program, &emulator, ThreadOrder::Descending, &expected).unwrap();
        }
    }
}

/// A program whose values decide, of two types.
const DECIDING: &str = "stencil deciding(t, i, j) {
    field u: f64;
    coefficient c: f32;
    let most = max(u[t, i-1, j], u[t, i, j+1]) + exp(-abs(u[t, i, j-1]));
    u[t+1, i, j] = u[t, i, j] > 0.5 ? 0.25 * most + 0.125 * u[t, i, j] : min(u[t, i+1, j-1], c[i, j]);
}";

/// Rows that just fit the lanes of a warp, and rows that do not: the same values, and registers where there are lanes.
#[test]
fn rows_of_a_warp_are_in_registers() {
    let programs = [(shipped("heat2d"), &[26, 27][..]), (parsed("deciding", DECIDING), &[20])];
    let mut seen = [0; 2];
    for (program, columns) in programs {
        for (strategy, &columns) in
            with_storages().flat_map(|own| columns.iter().map(move |size| (own, size)))
        {
            let Some(plan) = plan_with_sizes(&program, &analysed(&program), strategy, &[7, columns, 7, 7])
            else {
                continue;
            };
            if plan.kernels.iter().all(|kernel| kernel.warps.is_empty()) {
                continue;
            }
            assert!(!found_by_proof(&plan), "{}", plan.tile);
            let cuda = cuda::generate(&plan, &CudaOptions::default()).unwrap();
            // The same with all of it in shared memory.
            let mut shared_alone = plan.clone();
            for storage in shared_alone.kernels.iter_mut().flat_map(|kernel| &mut kernel.storages) {
                if let Axis::Lanes { first, extent, .. } = storage.axes[1].clone() {
                    storage.axes[1] = Axis::Window { first, extent };
                }
            }
            let problem = counts::Problem::new(&program, &[90, 90], 9).unwrap();
            let counted =
                |plan| counts::enumerated::tile_counts(plan, &problem, &Multiprocessor::ANY).unwrap();
            for (with, without) in counted(&plan).into_iter().zip(counted(&shared_alone)) {
                assert!(with.registers > without.registers && with.tile_bytes < without.tile_bytes);
                assert!(with.fast_words < without.fast_words);
                assert_eq!((with.iterations, with.words_in), (without.iterations, without.words_in));
                let bytes = cuda.kernels.iter().map(|kernel| i64::from(kernel.shared_bytes));
                assert!(bytes.into_iter().any(|bytes| bytes == with.tile_bytes));
            }
            for (kernel, text) in plan.kernels.iter().zip(&cuda.kernels) {
                let (registers, shared): (Vec<&Storage>, Vec<&Storage>) =
                    kernel.storages.iter().partition(|storage| storage.first_lane().is_some());
                seen[0] += registers.len();
                seen[1] += shared.len();
                let bytes = |storage: &&Storage| (storage.bytes(&program) + 15) / 16 * 16;
                let shared: i64 = shared.iter().map(bytes).sum();
                assert_eq!(i64::from(text.shared_bytes), shared + 4 * kernel.warps.len() as i64);
                let words = |storage: &&Storage| storage.bytes(&program) / storage.axes[1].extent() / 4;
                let words: i64 = registers.iter().map(words).sum();
                assert_eq!(geometry::registers_of_storages(&program, kernel), words);
            }
            let emulator = emulator(&plan, &cuda);
            for (size, steps, order) in
                [(&[33, 77][..], 8, ThreadOrder::Shuffled(3)), (&[5, 5], 5, ThreadOrder::Ascending)]
            {
                let problem = Problem::new(&program, size, steps);
                let expected = problem.expected(&program);
                let result = problem.check_emulated(&program, &emulator, order, &expected);
                result.unwrap_or_else(|error| panic!("{} {}: {error}", program.name, plan.tile));
            }
        }
    }
    assert!(seen[0] > 8 && seen[1] > 5, "{seen:?}");
}

/// Storage that no thread, or no multiprocessor, has.
#[test]
fn too_much_storage_is_refused() {
    let program = shipped("heat2d");
    for strategy in with_storages() {
        let sizes = [100_000, 100_000, 100_000, 1];
        let Some(plan) = plan_with_sizes(&program, &analysed(&program), strategy, &sizes) else { continue };
        // Its sizes are bounded before.
        if plan.kernels.iter().any(|kernel| kernel.team) {
            continue;
        }
        for error in [
            backend::openmp::generate(&plan).unwrap_err(),
            cuda::generate(&plan, &CudaOptions::default()).unwrap_err(),
        ] {
            assert!(matches!(error, PlanError::Limit { .. }), "{error}");
            let size = plan.tile.iter().next().unwrap().0.to_owned();
            assert!(error.to_string().contains(&format!("make {size}")), "{error}");
        }
    }
}
