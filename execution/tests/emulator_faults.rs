//! Mistakes planted in generated CUDA text: the emulator finds each of them in every order of threads.

use execution::compare::compare;
use execution::device_program::DeviceProgram;
use execution::emulator::{Emulator, EmulatorReport, ThreadOrder, ViolationKind};
use execution::grid::ProgramData;
use execution::layout::Layout;
use execution::reference::default_parameters;
use execution::{initial, reference};
use hhc_codegen::backend::cuda;
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{KernelPlan, TileSizes, pipeline};
use std::path::Path;
use std::sync::Arc;
use toolchain::cache::Cache;
use toolchain::compiler::{Compiler, Language};

const ORDERS: [ThreadOrder; 3] = [ThreadOrder::Ascending, ThreadOrder::Descending, ThreadOrder::Shuffled(5)];
const STEPS: i64 = 6;

/// Small tiles: many blocks, bands and sub-tiles, full ones and partial ones.
fn plan() -> KernelPlan {
    let program = Arc::new(polyhedral::shipped::load("heat2d").unwrap());
    let tile = TileSizes::parse("st=2,s0=3,s1=8").unwrap();
    pipeline::plan(&program, strategy::by_name("hhc").unwrap(), &tile, Target::Cuda).unwrap().plan
}

/// Reports of runs of the text in all orders, and whether the results were those of the reference.
fn run(plan: &KernelPlan, device: &DeviceProgram) -> Vec<(EmulatorReport, bool)> {
    let cache = Cache::at(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulator-cache")).unwrap();
    let compiler = Compiler::find(Language::Cxx).unwrap();
    let emulator = Emulator::compile_with(plan, device, &compiler, &cache).unwrap();
    let program = &plan.program;
    let parameters = default_parameters(program);
    let layout = Layout::padded(program, &[31, 43]).unwrap();
    let mut start = ProgramData::zeroed_with(program, layout).unwrap();
    initial::fill_random(program, &mut start, 3).unwrap();
    let mut expected = start.try_clone().unwrap();
    reference::run_quietly(program, &parameters, &mut expected, STEPS).unwrap();
    let run = |order| {
        let mut data = start.try_clone().unwrap();
        let report = emulator.run(&parameters, &mut data, STEPS, order).unwrap();
        (report, compare(program, &expected, &data, STEPS).mismatches == 0)
    };
    ORDERS.into_iter().map(run).collect()
}

/// Replaces the first `from` behind the first `after` and runs the text: `kind` is found in all orders.
fn finds(after: &str, from: &str, to: &str, kind: ViolationKind) {
    for ((report, _), order) in faulty(after, from, to).iter().zip(ORDERS) {
        assert!(report.kinds().contains(&kind), "{order:?}: {:#?}", report.violations);
    }
}

fn faulty(after: &str, from: &str, to: &str) -> Vec<(EmulatorReport, bool)> {
    let plan = plan();
    let mut device = DeviceProgram::from(&cuda::generate(&plan, &cuda::CudaOptions::default()).unwrap());
    let place = device.source.find(after).unwrap_or_else(|| panic!("no `{after}`"));
    let offset = device.source[place..].find(from).unwrap_or_else(|| panic!("no `{from}`"));
    device.source.replace_range(place + offset..place + offset + from.len(), to);
    run(&plan, &device)
}

#[test]
fn the_text_as_generated_is_clean() {
    let plan = plan();
    let device = DeviceProgram::from(&cuda::generate(&plan, &cuda::CudaOptions::default()).unwrap());
    for (report, same) in run(&plan, &device) {
        assert!(report.is_clean() && same, "{:#?}", report.violations);
    }
}

#[test]
fn a_barrier_removed_after_a_row() {
    finds("tw_full_rows(", "    __syncthreads();\n", "", ViolationKind::SharedRace);
}

/// Judged by what is ordered, a text whose threads meet at barriers only has the same faults; and none of its values is
/// without meaning where it is stored.
#[test]
fn clocks_find_what_barriers_find() {
    let plan = plan();
    let mut device = DeviceProgram::from(&cuda::generate(&plan, &cuda::CudaOptions::default()).unwrap());
    device.source.insert_str(0, "#define TW_POISON_TRAVELS 1\n");
    for (report, same) in run(&plan, &device) {
        assert!(report.is_clean() && same, "{:#?}", report.violations);
    }
    let barrier = "    __syncthreads();\n";
    let rows = device.source.find("tw_full_rows(").unwrap();
    let place = rows + device.source[rows..].find(barrier).unwrap();
    device.source.replace_range(place..place + barrier.len(), "");
    for (report, _) in run(&plan, &device) {
        assert!(report.kinds().contains(&ViolationKind::SharedRace), "{:#?}", report.violations);
    }
}

#[test]
fn a_barrier_removed_after_the_loads() {
    finds(
        "void tw_tile(",
        "        __syncthreads();\n        if (full)",
        "        if (full)",
        ViolationKind::SharedRace,
    );
}

#[test]
fn a_barrier_removed_after_the_move() {
    finds("TW_MOVE(tw_u", "__syncthreads();", "", ViolationKind::SharedRace);
}

#[test]
fn a_bound_widened_along_dimension_0() {
    finds("/* row 2 of", "tw_here(end0) - 1", "tw_here(end0)", ViolationKind::GlobalFixed);
}

#[test]
fn a_bound_widened_along_dimension_1() {
    finds("tw_full_rows(", "tw_here(end1) - 1", "tw_here(end1)", ViolationKind::GlobalFixed);
}

#[test]
fn a_clipped_row_called_whole() {
    finds("unclipped0 |= 2", "end0 - 1 > ", "end0 + 3 > ", ViolationKind::GlobalFixed);
    finds("unclipped0 |= 2", "start1 + 1", "start1", ViolationKind::GlobalFixed);
}

/// Steps after the last one, and values that no row computes again because there is no such step.
#[test]
fn a_row_beyond_the_last_step() {
    for (after, from, to) in [
        ("unclipped0 |= 1", "end_step > 3", "end_step > 1"),
        ("/* row 1 of", "tw_here(end_step) > 3", "tw_here(end_step) > 1"),
    ] {
        for (_, same) in faulty(after, from, to) {
            assert!(!same, "{from}");
        }
    }
}

#[test]
fn a_partial_tile_called_full() {
    finds("const bool may_be_full =", "x0 >= 1", "x0 >= -2", ViolationKind::GlobalFixed);
}

#[test]
fn a_staging_row_dropped_in_full_tiles() {
    // The cells hold values of the sub-tile before: no access is wrong, but the results are.
    let reports = faulty("if (ahead) {", "tw_u_planes[w0", "if (k0 > 0) tw_u_planes[w0");
    assert!(reports.iter().all(|(report, same)| report.is_clean() && !same));
}

#[test]
fn a_staging_row_dropped_in_partial_tiles() {
    finds("/* cells on the grid", "w0 >= start0", "w0 > 0 && w0 >= start0", ViolationKind::SharedUnwritten);
}
