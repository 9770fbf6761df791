//! The emulator on hand-written kernels in the form of `docs/cuda-contract.md`: a correct one agrees with
//! the reference, and each of several mistakes is found and called by its name.

use execution::compare::compare;
use execution::device_program::{DeviceKernel, DeviceProgram};
use execution::emulator::{Emulator, EmulatorReport, ThreadOrder, ViolationKind};
use execution::grid::ProgramData;
use execution::layout::Layout;
use execution::{initial, reference};
use hhc_codegen::strategy::{Target, by_name};
use hhc_codegen::{KernelPlan, TileSizes, pipeline};
use polyhedral::program::Program;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use toolchain::cache::Cache;
use toolchain::compiler::{Compiler, Language};

pub static CACHE: LazyLock<Arc<Cache>> =
    LazyLock::new(|| Cache::at(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulator-cache")).unwrap());

const ORDERS: [ThreadOrder; 3] = [ThreadOrder::Ascending, ThreadOrder::Descending, ThreadOrder::Shuffled(7)];

const CROSS: &str = "stencil cross(t, i, j) {
    field u: f32;
    coefficient c: f32;
    param w = 0.2;
    u[t+1, i, j] = w * (c[i, j] * u[t, i, j] + u[t, i-1, j] + u[t, i+1, j] + u[t, i, j-1] + u[t, i, j+1]);
}";

/// One time step: blocks of 8 x 32 points, whose neighbourhood is staged in shared memory.
const KERNEL: &str = r#"
#ifdef TW_EMULATOR
#include "tw_emulator.h"
#else
#define TW_GLOBAL(T) T *__restrict__
extern __shared__ __align__(16) unsigned char tw_shared_bytes[];
#define TW_SHARED(T, name, count, byte_offset) T *const name = reinterpret_cast<T *>(tw_shared_bytes + (byte_offset))
#endif

static __device__ __forceinline__ float cross_update(float w, float c, float here, float up, float down, float left,
                                                     float right) {
    return w * ((((c * here + up) + down) + left) + right);
}

extern "C" __global__ void __launch_bounds__(256)
cross_step_u(TW_GLOBAL(float) u, TW_GLOBAL(const float) c, long long n0, long long n1, long long stride0,
             long long level_stride, long long steps, double w, long long step, long long b0_first,
             long long b1_first) {
    TW_SHARED(float, tile, 10 * 34, 0);
    const int row = threadIdx.x / 32, column = threadIdx.x % 32;
    const long long first0 = (b0_first + blockIdx.y) * 8 - 1, first1 = (b1_first + blockIdx.x) * 32 - 1;
    const long long i = first0 + 1 + row, j = first1 + 1 + column;
    auto from = u + step % 2 * level_stride;
    auto to = u + (step + 1) % 2 * level_stride;
    (void)steps;
    for (int cell = threadIdx.x; cell < 340; cell += blockDim.x) {
        const long long i0 = first0 + cell / 34, i1 = first1 + cell % 34;
        if (i0 >= 0 && i0 < n0 && i1 >= 0 && i1 < n1)
            tile[cell] = (from + i0 * stride0)[i1];
    }
    __syncthreads();
    const int at = (row + 1) * 34 + column + 1;
    if (i >= 1 && i < n0 - 1 && j >= 1 && j < n1 - 1)
        to[i * stride0 + j] = cross_update((float)w, c[i * stride0 + j], tile[at], tile[at - 34], tile[at + 34],
                                           tile[at - 1], tile[at + 1]);
}

#ifndef TW_DEVICE_ONLY
#error "host code is not for the emulator"
#endif
"#;

fn cross() -> Arc<Program> {
    Arc::new(polyhedral::parse("cross.stencil", CROSS).unwrap())
}

fn plan() -> KernelPlan {
    let tile = TileSizes::new([("s0", 8), ("s1", 32)]);
    pipeline::plan(&cross(), by_name("naive").unwrap(), &tile, Target::Cuda).unwrap().plan
}

/// A program of one kernel without text.
fn one_kernel(symbol: &str, threads: u32, shared_bytes: u64) -> DeviceProgram {
    let kernel =
        DeviceKernel { symbol: symbol.to_owned(), threads: [threads, 1, 1], shared_bytes, takes_ways: false };
    DeviceProgram { source: String::new(), kernels: vec![kernel], ways: Vec::new() }
}

fn emulator(source: &str) -> Emulator {
    let device = DeviceProgram { source: source.to_owned(), ..one_kernel("cross_step_u", 256, 1360) };
    Emulator::compile_with(&plan(), &device, &Compiler::find(Language::Cxx).unwrap(), &CACHE).unwrap()
}

/// The kernel with one piece of text replaced.
fn mutated(from: &str, to: &str) -> Emulator {
    assert_eq!(KERNEL.matches(from).count(), 1, "{from}");
    emulator(&KERNEL.replace(from, to))
}

fn data(layout: Layout) -> ProgramData {
    let program = cross();
    let mut data = ProgramData::zeroed_with(&program, layout).unwrap();
    initial::fill_random(&program, &mut data, 1).unwrap();
    data
}

/// One step on 37 x 70 points, padded; later steps would also find what the first one did wrong.
fn run(emulator: &Emulator, order: ThreadOrder) -> EmulatorReport {
    let mut data = data(Layout::padded(&cross(), &[37, 70]).unwrap());
    emulator.run(&[0.2], &mut data, 1, order).unwrap()
}

/// Runs a faulty kernel in all orders; each run must find this kind and no other.
fn finds(emulator: &Emulator, kind: ViolationKind) -> EmulatorReport {
    let mut reports = ORDERS.map(|order| run(emulator, order)).to_vec();
    for report in &reports {
        assert_eq!(report.kinds(), [kind], "{:#?}", report.violations);
        assert!(report.total_violations >= report.violations.len() as u64);
    }
    reports.swap_remove(0)
}

#[test]
fn a_correct_kernel_is_clean_and_agrees_with_the_reference() {
    let program = cross();
    let emulator = emulator(KERNEL);
    for layout in [Layout::dense(&program, &[37, 70]).unwrap(), Layout::padded(&program, &[37, 70]).unwrap()]
    {
        let mut expected = data(layout.clone());
        reference::run_quietly(&program, &[0.2], &mut expected, 3).unwrap();
        for order in ORDERS {
            let mut found = data(layout.clone());
            let report = emulator.run(&[0.2], &mut found, 3, order).unwrap();
            assert!(report.is_clean(), "{:#?}", report.violations);
            assert_eq!((report.launches, report.blocks, report.barriers), (3, 3 * 5 * 3, 3 * 5 * 3));
            assert_eq!(compare(&program, &expected, &found, 3).mismatches, 0);
        }
    }
}

#[test]
fn no_steps_launch_nothing() {
    let mut found = data(Layout::dense(&cross(), &[9, 9]).unwrap());
    let report = emulator(KERNEL).run(&[0.2], &mut found, 0, ThreadOrder::Ascending).unwrap();
    assert!(report.is_clean() && report.launches == 0);
}

#[test]
fn a_missing_barrier_is_a_race() {
    // In ascending order a thread reads what later ones write: unwritten, and then a race.
    let emulator = mutated("__syncthreads();", "");
    for order in ORDERS {
        let report = run(&emulator, order);
        assert!(report.kinds().contains(&ViolationKind::SharedRace), "{:#?}", report.violations);
        let race = report.violations.iter().find(|found| found.kind == ViolationKind::SharedRace).unwrap();
        assert_eq!((race.array.as_str(), race.kernel.as_str(), race.interval), ("tile", "step_u", 0));
        assert!(race.other.is_some(), "{race}");
        assert_ne!(race.thread, race.other.as_ref().unwrap().thread);
        assert!(race.writes || race.other.as_ref().unwrap().writes);
    }
}

#[test]
fn writing_the_same_value_twice_is_a_race() {
    let report =
        finds(&mutated("tile[cell] = (", "tile[0] = 1.0f, tile[cell] = ("), ViolationKind::SharedRace);
    assert!(report.violations[0].writes && report.violations[0].other.as_ref().unwrap().writes);
}

#[test]
fn one_row_too_many_is_out_of_bounds() {
    // The last level ends with the grid, so that the row after it is outside the array.
    let emulator = mutated("i0 >= 0 && i0 < n0", "i0 >= 0 && i0 < n0 + 1");
    let mut data = data(Layout::dense(&cross(), &[37, 70]).unwrap());
    let report = emulator.run(&[0.2], &mut data, 2, ThreadOrder::Ascending).unwrap();
    assert_eq!(report.kinds(), [ViolationKind::GlobalBounds], "{:#?}", report.violations);
    let text = report.violations[0].to_string();
    assert!(text.contains("kernel step_u, block (0, 4, 0)") && text.contains("reads u[5180]"), "{text}");
}

#[test]
fn one_column_too_many_is_padding() {
    let report =
        finds(&mutated("i1 >= 0 && i1 < n1)", "i1 >= 0 && i1 < n1 + 1)"), ViolationKind::GlobalPadding);
    assert!(!report.violations[0].writes);
}

#[test]
fn a_widened_domain_writes_the_boundary() {
    let emulator = mutated("j >= 1 && j < n1 - 1)", "j >= 1 && j < n1)");
    let report = run(&emulator, ThreadOrder::Ascending);
    assert!(report.kinds().contains(&ViolationKind::GlobalFixed), "{:#?}", report.violations);
}

#[test]
fn a_dropped_staging_row_is_unwritten_shared_memory() {
    let report = finds(&mutated("cell < 340;", "cell < 306;"), ViolationKind::SharedUnwritten);
    assert!((306..340).contains(&report.violations[0].index));
    assert_eq!(report.violations[0].interval, 1);
}

#[test]
fn a_wrong_time_level_was_never_computed() {
    // What is read is also what other blocks write.
    let emulator = mutated("auto from = u + step % 2", "auto from = u + (step + 1) % 2");
    for order in ORDERS {
        let report = run(&emulator, order);
        assert_eq!(report.violations[0].kind, ViolationKind::GlobalUnwritten);
        assert!(report.violations[0].to_string().contains("of slot 1, which nobody has computed"));
    }
}

#[test]
fn an_update_in_place_is_a_race_between_blocks() {
    let emulator = mutated("auto to = u + (step + 1) % 2", "auto to = u + step % 2");
    let report = finds(&emulator, ViolationKind::BlockRace);
    let race = &report.violations[0];
    assert_ne!(race.block, race.other.as_ref().unwrap().block);
    let (slot, point) = race.point.clone().unwrap();
    assert_eq!((slot, point.len()), (0, 2));
}

#[test]
fn overlapping_blocks_race_even_where_they_agree() {
    let emulator = mutated(
        "const int row = threadIdx.x / 32,",
        "const int row = threadIdx.x / 32 - (threadIdx.x < 32),",
    );
    let report = run(&emulator, ThreadOrder::Ascending);
    assert!(report.kinds().contains(&ViolationKind::BlockRace), "{:#?}", report.violations);
}

#[test]
fn a_race_on_a_field_within_a_block() {
    let emulator = mutated("const int row = threadIdx.x / 32,", "const int row = threadIdx.x / 64 * 2,");
    let report = finds(&emulator, ViolationKind::GlobalRace);
    assert!(report.violations[0].to_string().contains("race: writes u["));
}

#[test]
fn too_small_a_shared_array_is_out_of_bounds() {
    let report = finds(&mutated("tile, 10 * 34, 0", "tile, 10 * 34 - 1, 0"), ViolationKind::SharedBounds);
    assert_eq!((report.violations[0].array.as_str(), report.violations[0].index), ("tile", 339));
}

#[test]
fn a_shared_array_beyond_the_shared_memory() {
    let report = run(&mutated("tile, 10 * 34, 0", "tile, 10 * 34, 4"), ThreadOrder::Ascending);
    assert_eq!(report.violations[0].kind, ViolationKind::SharedPlace);
    let report = run(&mutated("tile, 10 * 34, 0", "tile, 10 * 33, 6"), ThreadOrder::Ascending);
    assert_eq!(report.violations[0].kind, ViolationKind::SharedPlace);
}

#[test]
fn a_barrier_that_some_threads_miss() {
    let report = finds(
        &mutated("    __syncthreads();", "    if (threadIdx.x >= 200) return;\n    __syncthreads();"),
        ViolationKind::DivergentBarrier,
    );
    assert!(report.violations[0].to_string().contains("thread 200 has ended"));
    let report = finds(
        &mutated(
            "    __syncthreads();",
            "    if (row < 3)\n        __syncthreads();\n    else\n        __syncthreads();",
        ),
        ViolationKind::DivergentBarrier,
    );
    let violation = &report.violations[0];
    assert_eq!(violation.other.as_ref().unwrap().line, Some(violation.index + 2));
}

#[test]
fn text_that_is_no_program_is_an_error() {
    let device = DeviceProgram { kernels: vec![], ..one_kernel("none", 32, 0) };
    assert!(Emulator::compile(&plan(), &device).unwrap_err().to_string().contains("0 kernel(s), the plan 1"));
    let device = DeviceProgram { source: "int x = ;".to_owned(), ..one_kernel("none", 32, 0) };
    let failed = Emulator::compile_with(&plan(), &device, &Compiler::find(Language::Cxx).unwrap(), &CACHE);
    assert!(failed.unwrap_err().to_string().contains("error"));
}
