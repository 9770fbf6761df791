//! Shipped stencils as generated CUDA text on the emulator: no violation in any order, and the bits of the
//! reference.

use execution::compare::compare;
use execution::device_program::DeviceProgram;
use execution::emulator::{Emulator, ThreadOrder};
use execution::grid::ProgramData;
use execution::layout::Layout;
use execution::reference::default_parameters;
use execution::{initial, reference};
use hhc_codegen::backend::cuda;
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{KernelPlan, TileSizes, pipeline};
use polyhedral::program::Program;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;
use toolchain::cache::Cache;
use toolchain::compiler::{Compiler, Language};

const STEPS: i64 = 7;
const ORDERS: [ThreadOrder; 3] =
    [ThreadOrder::Ascending, ThreadOrder::Descending, ThreadOrder::Shuffled(2026)];

/// Odd sizes that are no multiples of anything; larger than the reach of every shipped stencil.
fn size(program: &Program) -> Vec<i64> {
    match program.dimension() {
        1 => vec![1009],
        2 => vec![61, 77],
        _ => vec![37, 23, 41],
    }
}

fn plan(program: &Arc<Program>, strategy: &str, tile: &str) -> KernelPlan {
    let tile = if tile.is_empty() { TileSizes::default() } else { TileSizes::parse(tile).unwrap() };
    pipeline::plan(program, strategy::by_name(strategy).unwrap(), &tile, Target::Cuda).unwrap().plan
}

fn check(name: &str, strategy: &str, tile: &str, cache: &Arc<Cache>) {
    let program = Arc::new(polyhedral::shipped::load(name).unwrap());
    let plan = plan(&program, strategy, tile);
    let device = DeviceProgram::from(&cuda::generate(&plan, &cuda::CudaOptions::default()).unwrap());
    let start = std::time::Instant::now();
    let compiler = Compiler::find(Language::Cxx).unwrap();
    let emulator = Emulator::compile_with(&plan, &device, &compiler, cache).unwrap();
    let compiled = start.elapsed();
    let parameters = default_parameters(&program);
    let layout = Layout::padded(&program, &size(&program)).unwrap();
    let mut start_data = ProgramData::zeroed_with(&program, layout).unwrap();
    initial::fill_series(&program, &mut start_data, STEPS, 11).unwrap();
    initial::fill_random(&program, &mut start_data, 11).unwrap();
    let mut expected = start_data.try_clone().unwrap();
    reference::run_quietly(&program, &parameters, &mut expected, STEPS).unwrap();
    let start = std::time::Instant::now();
    for order in ORDERS {
        let mut data = start_data.try_clone().unwrap();
        let report = emulator.run(&parameters, &mut data, STEPS, order).unwrap();
        let list: Vec<String> = report.violations.iter().map(ToString::to_string).collect();
        assert!(
            report.is_clean(),
            "{name} {strategy} {order:?}: {} violation(s)\n{}",
            report.total_violations,
            list.join("\n")
        );
        let comparison = compare(&program, &expected, &data, STEPS);
        assert_eq!(comparison.mismatches, 0, "{name} {strategy} {order:?}: {:?}", comparison.first);
        assert!(report.launches > 0 && report.blocks > 0);
    }
    println!(
        "{name:12} {strategy:6} {:28} compile {compiled:.2?}, three runs {:.2?}",
        plan.tile,
        start.elapsed()
    );
}

/// Every eighth stencil, others for each strategy; all with `TILEWRIGHT_ALL=1`, as in `make test-long`.
fn check_all(strategy: &str, turn: usize) {
    let cache = Cache::at(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulator-cache")).unwrap();
    let for_gpus = |name: &&str| polyhedral::shipped::load(name).unwrap().sweeps_in_order().next().is_none();
    let step = if std::env::var_os("TILEWRIGHT_ALL").is_some() { 1 } else { 8 };
    let names = polyhedral::shipped::names().into_iter().filter(for_gpus);
    let names: Vec<&str> = names.skip(turn % step).step_by(step).collect();
    let failures: Vec<String> = names
        .into_par_iter()
        .filter_map(|name| {
            std::panic::catch_unwind(|| check(name, strategy, "", &cache)).err().map(|_| name.to_owned())
        })
        .collect();
    assert!(failures.is_empty(), "{strategy}: {failures:?}");
}

#[test]
fn shipped_stencils_naive() {
    check_all("naive", 0);
}

#[test]
fn shipped_stencils_hhc() {
    check_all("hhc", 1);
}

#[test]
fn small_tiles_make_many_blocks_and_bands() {
    let cache = Cache::at(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulator-cache")).unwrap();
    for (name, tile) in
        [("jacobi1d", "st=1,s0=2"), ("heat2d", "st=2,s0=3,s1=5"), ("heat3d", "st=1,s0=2,s1=3,s2=32")]
    {
        check(name, "hhc", tile, &cache);
    }
}
