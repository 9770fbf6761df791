//! The CUDA text of shipped and of odd programs, run by the emulator and compared bit for bit with the reference:
//! small grids, small tiles, several orders of threads.

use execution::compare::compare;
use execution::device_program::{DeviceKernel, DeviceProgram};
use execution::emulator::{Emulator, Schedule, ThreadOrder};
use execution::grid::ProgramData;
use execution::layout::Layout;
use execution::{initial, reference};
use hhc_codegen::backend::cuda::{self, CudaOptions, CudaProgram};
use hhc_codegen::int_expr::{int, var};
use hhc_codegen::plan::Kernel;
use hhc_codegen::storage::{Axis, Place, Transfer};
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{PlanError, TileSizes, pipeline, prove};
use polyhedral::program::Program;
use proptest::prelude::*;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use toolchain::cache::Cache;
use toolchain::compiler::{Compiler, Language};

static CACHE: LazyLock<Arc<Cache>> =
    LazyLock::new(|| Cache::at(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda-emulated")).unwrap());

fn device(cuda: &CudaProgram) -> DeviceProgram {
    DeviceProgram {
        source: cuda.device_source.clone(),
        kernels: (cuda.kernels.iter())
            .map(|kernel| DeviceKernel {
                symbol: kernel.symbol.clone(),
                threads: kernel.threads,
                shared_bytes: kernel.shared_bytes.into(),
                takes_ways: kernel.takes_ways,
            })
            .collect(),
        ways: cuda.ways.clone(),
    }
}

/// Runs the program on each size for each number of steps and compares with the reference.
fn check(program: Program, strategy: &str, tile: &str, sizes: &[&[i64]], steps: &[i64]) {
    check_text(program, strategy, tile, sizes, steps, &|text| text);
}

/// The same, of another text.
fn check_text(
    program: Program,
    strategy: &str,
    tile: &str,
    sizes: &[&[i64]],
    steps: &[i64],
    of: &dyn Fn(String) -> String,
) {
    let program = Arc::new(program);
    let tile = TileSizes::parse(tile).unwrap();
    let plan =
        pipeline::plan(&program, strategy::by_name(strategy).unwrap(), &tile, Target::Cuda).unwrap().plan;
    let cuda = cuda::generate(&plan, &CudaOptions::default()).unwrap();
    let compiler = Compiler::find(Language::Cxx).unwrap();
    let own = device(&cuda);
    let own = DeviceProgram { source: of(own.source.clone()), ..own };
    let emulator = Emulator::compile_with(&plan, &own, &compiler, &CACHE).unwrap();
    let parameters = reference::default_parameters(&program);
    for (number, &size) in sizes.iter().enumerate() {
        for &steps in steps {
            let layout = if number % 2 == 0 {
                Layout::dense(&program, size).unwrap()
            } else {
                Layout::padded(&program, size).unwrap()
            };
            let mut expected = ProgramData::zeroed_with(&program, layout).unwrap();
            initial::fill_series(&program, &mut expected, steps, 42).unwrap();
            initial::fill_random(&program, &mut expected, 42).unwrap();
            let mut found = expected.try_clone().unwrap();
            reference::run_quietly(&program, &parameters, &mut expected, steps).unwrap();
            let order =
                [ThreadOrder::Ascending, ThreadOrder::Descending, ThreadOrder::Shuffled(7)][number % 3];
            let report = emulator.run(&parameters, &mut found, steps, order).unwrap();
            let context =
                format!("{} {strategy} {} on {size:?}, {steps} steps, {order:?}", program.name, plan.tile);
            assert!(report.is_clean(), "{context}: {report:#?}");
            let stored = program.fields.iter().map(|field| field.role.slots()).max().unwrap() as i64;
            for back in 0..stored {
                let comparison = compare(&program, &expected, &found, steps - back);
                assert_eq!(comparison.mismatches, 0, "{context}, {back} levels back: {comparison:?}");
            }
        }
    }
}

/// Teams of warps on several problems, in every pacing. Such plans are proved elsewhere.
pub fn team(program: Program, strategy: &str, tile: &str, problems: &[(&[i64], i64)]) {
    let program = Arc::new(program);
    let tile = TileSizes::parse(tile).unwrap();
    let strategy = strategy::by_name(strategy).unwrap();
    let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
    let plan = strategy::plan(strategy, &program, &cone, &tile).unwrap();
    let cuda = cuda::generate(&plan, &CudaOptions::default()).unwrap();
    let compiler = Compiler::find(Language::Cxx).unwrap();
    let emulator = Emulator::compile_with(&plan, &device(&cuda), &compiler, &CACHE).unwrap();
    let parameters = reference::default_parameters(&program);
    let schedules = Schedule::adversarial(7).into_iter().cycle();
    for (number, (&(size, steps), schedule)) in problems.iter().zip(schedules).enumerate() {
        let layout = match number % 2 {
            0 => Layout::dense(&program, size).unwrap(),
            _ => Layout::padded(&program, size).unwrap(),
        };
        let mut expected = ProgramData::zeroed_with(&program, layout).unwrap();
        initial::fill_random(&program, &mut expected, 42).unwrap();
        let mut found = expected.try_clone().unwrap();
        reference::run_quietly(&program, &parameters, &mut expected, steps).unwrap();
        let report = emulator.run(&parameters, &mut found, steps, schedule).unwrap();
        let context = format!("{} {} on {size:?}, {steps} steps, {schedule:?}", program.name, plan.tile);
        assert!(report.is_clean(), "{context}: {report:#?}");
        for back in 0..2 {
            let comparison = compare(&program, &expected, &found, steps - back);
            assert_eq!(comparison.mismatches, 0, "{context}, {back} levels back: {comparison:?}");
        }
    }
}

/// Several strips and chunks, grids narrower than a strip, and bands of all lengths; every second team, or all.
#[test]
fn teams_of_warps() {
    let problems: [(&[i64], i64); 6] =
        [(&[17, 151], 9), (&[16, 152], 3), (&[11, 128], 1), (&[7, 65], 6), (&[9, 40], 5), (&[5, 6], 12)];
    for (number, (name, tile)) in [
        ("star2d1r", "rpl=2,steps=2,warps=2,rows=5"),
        ("star2d1r", "rpl=4,steps=1,warps=3,rows=6"),
        ("box2d1r", "rpl=3,steps=2,warps=2,rows=5"),
        ("star2d2r", "rpl=4,steps=1,warps=2,rows=4"),
        ("asym2d", "rpl=2,steps=2,warps=1,rows=5"),
        ("gradient2d", "rpl=2,steps=1,warps=2,rows=6"),
        ("varcoef2d", "rpl=2,steps=2,warps=2,rows=5"),
    ]
    .into_iter()
    .enumerate()
    {
        if number % 2 == 0 || everything() {
            team(polyhedral::shipped::load(name).unwrap(), "warp-pipeline", tile, &problems);
        }
    }
    // Of radius 2 two steps have rings with a row that nobody reads, so that rows lie in the same cells as those of links: on grids of several
    // turns of the text without tests.
    let high: [(&[i64], i64); 3] = [(&[47, 251], 5), (&[43, 130], 4), (&[31, 77], 6)];
    let star = polyhedral::shipped::load("star2d2r").unwrap();
    team(star, "warp-pipeline", "rpl=4,steps=2,warps=2,rows=25", &high);
}

/// Two coefficients of two types, one of which is read farther than the field, on both sides.
const WEIGHTED: &str = "stencil weighted(t, i, j) {
    field u: f32;
    coefficient a: f32;
    coefficient b: f64;
    let beside = a[i-1, j+2] * u[t, i, j-1] + a[i, j-1] * u[t, i, j+1];
    u[t+1, i, j] = 0.25 * beside + b[i+1, j] * u[t, i-1, j] + b[i-2, j+1] * (u[t, i+1, j] - a[i, j]);
}";

/// Every second tile, or all.
#[test]
fn teams_with_coefficients() {
    let problems: [(&[i64], i64); 6] =
        [(&[23, 171], 9), (&[16, 152], 3), (&[11, 131], 1), (&[9, 65], 6), (&[9, 40], 5), (&[5, 6], 12)];
    let weighted = || polyhedral::parse("weighted", WEIGHTED).unwrap();
    let decides = WEIGHTED.replace("0.25 * beside", "max(0.25 * beside, b[i, j])");
    let decides = || polyhedral::parse("decides", &decides).unwrap();
    let double = || weighted().with_element_type(polyhedral::program::ElementType::F64);
    let programs: [(&dyn Fn() -> Program, &str); 4] = [
        (&weighted, "rpl=2,steps=2,warps=3,rows=5"),
        (&double, "rpl=4,steps=1,warps=2,rows=6"),
        (&decides, "rpl=3,steps=1,warps=2,rows=5"),
        (&weighted, "rpl=4,steps=3,warps=1,rows=4"),
    ];
    for (number, (program, tile)) in programs.into_iter().enumerate() {
        if number % 2 == 0 || everything() {
            team(program(), "warp-pipeline", tile, &problems);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 0, ..ProptestConfig::with_cases(if everything() { 12 } else { 2 }) })]

    /// Of any sizes, on any grids; such plans are proved, too.
    #[test]
    fn coefficients_in_any_team(
        tile in (1i64..5, 1i64..4, 1i64..4, 3i64..12).prop_map(|(points, steps, warps, rows)| {
            format!("rpl={points},steps={},warps={warps},rows={rows}", if points == 1 { 1 } else { steps })
        }),
        problems in prop::collection::vec((5i64..45, 5i64..260, 1i64..11), 5),
    ) {
        let program = Arc::new(polyhedral::parse("weighted", WEIGHTED).unwrap());
        let sizes = TileSizes::parse(&tile).unwrap();
        let own = strategy::by_name("warp-pipeline").unwrap();
        pipeline::plan(&program, own, &sizes, Target::Cuda).unwrap();
        let sizes: Vec<[i64; 2]> = problems.iter().map(|&(n0, n1, _)| [n0, n1]).collect();
        let problems: Vec<(&[i64], i64)> =
            sizes.iter().zip(&problems).map(|(size, &(.., steps))| (&size[..], steps)).collect();
        team(Program::clone(&program), "warp-pipeline", &tile, &problems);
    }
}

/// Whatever runs a wrong plan or text on a grid of several strips and chunks finds it, in one of the pacings.
pub fn found_by_the_emulator(plan: &hhc_codegen::KernelPlan, of: &dyn Fn(String) -> String) -> bool {
    let program = &plan.program;
    let cuda = cuda::generate(plan, &CudaOptions::default()).unwrap();
    let own = device(&cuda);
    let own = DeviceProgram { source: of(own.source.clone()), ..own };
    let emulator =
        Emulator::compile_with(plan, &own, &Compiler::find(Language::Cxx).unwrap(), &CACHE).unwrap();
    let parameters = reference::default_parameters(program);
    Schedule::adversarial(7).into_iter().any(|schedule| {
        let layout = Layout::dense(program, &[29, 150]).unwrap();
        let mut expected = ProgramData::zeroed_with(program, layout).unwrap();
        initial::fill_random(program, &mut expected, 42).unwrap();
        let mut found = expected.try_clone().unwrap();
        reference::run_quietly(program, &parameters, &mut expected, 7).unwrap();
        let report = emulator.run(&parameters, &mut found, 7, schedule).unwrap();
        !report.is_clean() || (6..8).any(|level| compare(program, &expected, &found, level).mismatches > 0)
    })
}

/// Mistakes with rows of coefficients: the proof finds those of the plan, the emulator those that do harm (every second one, or all).
#[test]
fn coefficients_with_mistakes() {
    let program = Arc::new(polyhedral::parse("weighted", WEIGHTED).unwrap());
    let strategy = strategy::by_name("warp-pipeline").unwrap();
    let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
    let tile = TileSizes::parse("rpl=2,steps=2,warps=3,rows=9").unwrap();
    let plan = strategy::plan(strategy, &program, &cone, &tile).unwrap();
    type Change = fn(&mut Kernel);
    fn moves<'a>(kernel: &'a mut Kernel, what: &str) -> &'a mut Transfer {
        let found = kernel.transfers.iter_mut().find(|transfer| transfer.comment == what);
        found.unwrap_or_else(|| panic!("{what}"))
    }
    let changes: [(&str, bool, Change); 5] = [
        ("half as many rows", true, |kernel| {
            let Axis::Ring { extent, .. } = &mut kernel.storages[2].axes[0] else { panic!() };
            *extent /= 2;
        }),
        ("a row later", true, |kernel| {
            let rows = &mut moves(kernel, "a row of b").ranges[0];
            (rows.low, rows.high) = (rows.low.clone() - 1, rows.high.clone() - 1);
        }),
        ("a column less", true, |kernel| {
            let columns = &mut moves(kernel, "a row of a").ranges[1];
            columns.high = columns.high.clone() - 1;
        }),
        ("not the first row", false, |kernel| {
            let rows = &mut moves(kernel, "a row of a").ranges[0];
            rows.low = rows.low.clone().max(var("b0") * 9 + 1);
        }),
        ("by the last warp", false, |kernel| moves(kernel, "a row of b").when = vec![var("w") - 2]),
    ];
    for (number, (what, harmful, change)) in changes.into_iter().enumerate() {
        let mut wrong = plan.clone();
        change(&mut wrong.kernels[0]);
        let refused = prove::prove(&wrong, &[]);
        assert!(refused.is_err(), "{what}: by the proof");
        println!("{what}: {}", refused.unwrap_err());
        if harmful && (number % 2 == 0 || everything()) {
            assert!(found_by_the_emulator(&wrong, &|text| text), "{what}: by the emulator");
        }
    }
    // Copies that nobody waits for.
    let hasty = |text: String| {
        let wait = "tw_copy_wait<";
        assert!(text.contains(wait));
        text.replace(wait, "tw_copy_wait<100 + ")
    };
    assert!(!found_by_the_emulator(&plan, &|text| text), "the plan as it is");
    assert!(found_by_the_emulator(&plan, &hasty), "copies that nobody waits for");
}

/// The same in three dimensions: several blocks along each of them, with slices of one row and of more, and rows that are read in
/// the newest plane or in no other one; every third stream, or all.
#[test]
fn streams_of_planes() {
    let problems: [(&[i64], i64); 5] =
        [(&[11, 15, 71], 5), (&[9, 17, 65], 2), (&[6, 23, 64], 1), (&[7, 7, 40], 4), (&[5, 6, 7], 12)];
    for (number, (name, tile)) in [
        ("star3d1r", "rpl=1,rows=2,steps=2,warps=4,planes=5"),
        ("heat3d", "rpl=2,rows=1,steps=1,warps=5,planes=4"),
        ("star3d1r", "rpl=1,rows=7,steps=3,warps=1,planes=6"),
        ("star3d2r", "rpl=1,rows=3,steps=2,warps=4,planes=5"),
        ("box3d1r", "rpl=2,rows=2,steps=2,warps=4,planes=5"),
        ("varcoef3d", "rpl=1,rows=1,steps=2,warps=6,planes=4"),
    ]
    .into_iter()
    .enumerate()
    {
        if number % 3 == 1 || everything() {
            team(polyhedral::shipped::load(name).unwrap(), "streaming", tile, &problems);
        }
    }
    // Own columns that begin and end within pieces, and three blocks along each dimension.
    let problems: [(&[i64], i64); 3] = [(&[12, 15, 127], 4), (&[13, 16, 128], 3), (&[6, 9, 65], 7)];
    let star = || polyhedral::shipped::load("star3d1r").unwrap();
    team(star(), "streaming", "rpl=2,rows=4,steps=3,warps=3,planes=4", &problems);
    // Several turns of the text without tests, between those in which planes are not yet stored, or no longer loaded.
    let long: [(&[i64], i64); 2] = [(&[29, 11, 71], 3), (&[24, 17, 66], 5)];
    team(star(), "streaming", "rpl=2,rows=4,steps=3,warps=3,planes=13", &long);
    // The tile of more steps that some machines get.
    team(star(), "streaming", "rpl=2,rows=6,steps=4,warps=8,planes=9", &[(&[21, 47, 70], 5)]);
    let double = polyhedral::shipped::load("star3d1r").unwrap();
    let double = double.with_element_type(polyhedral::program::ElementType::F64);
    team(double, "streaming", "rpl=2,rows=3,steps=2,warps=3,planes=4", &problems[..2]);
    // One-sided reads: levels that are not behind each other along the stream, and nothing beside slices on one side.
    for (number, text) in [
        "u[t, i, j-1, k] + u[t, i-1, j, k+1] + u[t, i, j, k]",
        "u[t, i+1, j+2, k] + u[t, i, j, k-1] + sqrt(abs(u[t, i+1, j, k]))",
        "u[t, i+1, j, k+1] + u[t, i-2, j, k]",
    ]
    .into_iter()
    .enumerate()
    {
        if number < 2 && !everything() {
            continue;
        }
        let text =
            format!("stencil sided(t, i, j, k) {{ field u: f32; u[t+1, i, j, k] = 0.25 * ({text}); }}");
        let program = polyhedral::parse("sided", &text).unwrap();
        team(program, "streaming", "rpl=1,rows=2,steps=2,warps=4,planes=4", &problems);
    }
}

/// Mistakes in what warps hand over and keep: the proof finds all of them, and the emulator those that do harm (every second one, or
/// all).
#[test]
fn streams_with_mistakes() {
    let text = "stencil sided(t, i, j, k) {
        field u: f32;
        u[t+1, i, j, k] = 0.5 * u[t, i, j, k] + 0.25 * (u[t, i-1, j, k] + u[t, i, j-1, k]) + 0.125 * u[t, i, j, k-1];
    }";
    let program = Arc::new(polyhedral::parse("sided", text).unwrap());
    let strategy = strategy::by_name("streaming").unwrap();
    let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
    let tile = TileSizes::parse("rpl=1,rows=2,steps=2,warps=4,planes=5").unwrap();
    let plan = strategy::plan(strategy, &program, &cone, &tile).unwrap();
    prove::prove(&plan, &[]).unwrap();
    type Change = fn(&mut Kernel);
    fn moves<'a>(kernel: &'a mut Kernel, what: &str) -> &'a mut Transfer {
        let found = kernel.transfers.iter_mut().find(|transfer| transfer.comment.contains(what));
        found.unwrap_or_else(|| panic!("{what}"))
    }
    let changes: [(&str, bool, Change); 10] = [
        ("the ghost zone loaded one row short", true, |kernel| {
            let rows = &mut moves(kernel, "as the band before").ranges[1];
            rows.low = rows.low.clone().max(var("y0") + 1);
        }),
        ("a stale edge row", true, |kernel| {
            let Axis::Ring { extent, .. } = &mut kernel.storages[2].axes[0] else { panic!() };
            *extent = 1;
        }),
        ("an edge row before the barrier", true, |kernel| {
            let taken = moves(kernel, "the rows before the slice");
            for boxes in [Some(&mut taken.ranges), taken.junk.as_mut()].into_iter().flatten() {
                let plane = &mut boxes[0];
                (plane.low, plane.high) = (plane.low.clone() + 1, plane.high.clone() + 1);
            }
        }),
        ("the edge rows of another warp", true, |kernel| {
            moves(kernel, "the slice's last rows").to = Place::Copy(2, vec![var("w"), var("m")]);
        }),
        ("no boundary rows", true, |kernel| moves(kernel, "boundary rows").when = vec![int(-1)]),
        ("a slice without the row beside it", false, |kernel| {
            let Axis::Window { first, .. } = &mut kernel.storages[0].axes[1] else { panic!() };
            *first = first.clone() + 1;
        }),
        ("one copy of the slices for all warps", false, |kernel| {
            let Axis::Window { first, .. } = &mut kernel.storages[1].axes[1] else { panic!() };
            *first = var("y0");
        }),
        ("no boundary columns", true, |kernel| {
            moves(kernel, "boundary on the left").when.push(int(-1) - var("x0"));
        }),
        ("a column more than a block computes in all its steps", true, |kernel| {
            let columns = &mut moves(kernel, "own points").ranges[2];
            columns.low = columns.low.clone() - 1;
        }),
        ("the ghost zone computed one column short", false, |kernel| {
            let row = &mut kernel.instances[0].ranges[2];
            row.low = row.low.clone().max(var("x0") + 3);
        }),
    ];
    for (number, (what, harmful, change)) in changes.into_iter().enumerate() {
        let mut wrong = plan.clone();
        change(&mut wrong.kernels[0]);
        let refused = prove::prove(&wrong, &[]);
        assert!(refused.is_err(), "{what}: by the proof");
        println!("{what}: {}", refused.unwrap_err());
        if !harmful || !(number % 2 == 0 || everything()) {
            continue;
        }
        let cuda = cuda::generate(&wrong, &CudaOptions::default()).unwrap();
        let compiler = Compiler::find(Language::Cxx).unwrap();
        let emulator = Emulator::compile_with(&wrong, &device(&cuda), &compiler, &CACHE).unwrap();
        let parameters = reference::default_parameters(&program);
        let found = Schedule::adversarial(7).into_iter().any(|schedule| {
            let layout = Layout::dense(&program, &[9, 17, 40]).unwrap();
            let mut expected = ProgramData::zeroed_with(&program, layout).unwrap();
            initial::fill_random(&program, &mut expected, 42).unwrap();
            let mut found = expected.try_clone().unwrap();
            reference::run_quietly(&program, &parameters, &mut expected, 5).unwrap();
            let report = emulator.run(&parameters, &mut found, 5, schedule).unwrap();
            !report.is_clean() || compare(&program, &expected, &found, 5).mismatches > 0
        });
        assert!(found, "{what}: by the emulator");
    }
}

/// A text that cannot tell the warps of a team apart is none.
#[test]
fn teams_without_a_text_are_refused() {
    let program = Arc::new(polyhedral::shipped::load("star2d1r").unwrap());
    let strategy = strategy::by_name("warp-pipeline").unwrap();
    let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
    let tile = strategy.default_tile(&program, &cone, Target::Cuda);
    let mut plan = strategy::plan(strategy, &program, &cone, &tile).unwrap();
    // Registers by numbers that change.
    let row = &mut plan.kernels[0].storages[0].axes[0];
    *row = Axis::Window { first: int(0), extent: row.extent() };
    let error = cuda::generate(&plan, &CudaOptions::default()).unwrap_err();
    assert!(matches!(error, PlanError::Unsupported { .. }), "{error}");
}

/// Whether all is run, as in `make test-long`, of what else runs in turn: compilers take seconds for each.
pub fn everything() -> bool {
    std::env::var_os("TILEWRIGHT_ALL").is_some()
}

/// A number that differs between programs, for what runs in turn.
pub fn turn_of(name: &str) -> usize {
    name.bytes().map(usize::from).sum()
}

/// Of several tiles of a program one, in turn, or all.
fn in_turn<'a>(name: &str, tiles: &[&'a str]) -> Vec<&'a str> {
    let turn = turn_of(name) / 3 % tiles.len();
    let chosen = |&(number, _): &(usize, &&str)| everything() || number == turn;
    tiles.iter().enumerate().filter(chosen).map(|(_, &tile)| tile).collect()
}

/// Whether a program's turn is come: that of some of each kind, or of all.
fn its_turn(name: &str) -> bool {
    everything() || turn_of(name) % 3 == 1
}

fn shipped(name: &str, strategy: &str, tile: &str, sizes: &[&[i64]], steps: &[i64]) {
    check(polyhedral::shipped::load(name).unwrap(), strategy, tile, sizes, steps);
}

const STEPS: [i64; 5] = [0, 1, 2, 7, 12];
const SIZES_1D: [&[i64]; 4] = [&[101], &[64], &[7], &[2]];
const SIZES_2D: [&[i64]; 4] = [&[37, 53], &[29, 31], &[9, 40], &[4, 5]];
const SIZES_3D: [&[i64]; 3] = [&[19, 17, 23], &[7, 12, 29], &[5, 6, 7]];

#[test]
fn one_dimension() {
    for name in ["jacobi1d", "heat1d", "leapfrog1d"] {
        for tile in in_turn(name, &["st=3,s0=5", "st=1,s0=40"]) {
            shipped(name, "hhc", tile, &SIZES_1D, &STEPS);
        }
        if its_turn(name) {
            shipped(name, "naive", "s0=32", &SIZES_1D, &STEPS);
        }
    }
}

/// Grids whose places need more than 32 bits: as if all did.
#[test]
fn sweeps_with_long_indices() {
    let program = polyhedral::shipped::load("star2d2r").unwrap();
    let long = |text: String| {
        let all_short = "#define TW_SHORT (3LL << 29)";
        assert!(text.contains(all_short));
        text.replace(all_short, "#define TW_SHORT 0LL")
    };
    check_text(program, "naive", "s0=4,s1=16", &SIZES_2D[..2], &[5], &long);
}

fn two_dimensions(name: &str, tiles: &[&str]) {
    for tile in in_turn(name, tiles) {
        shipped(name, "hhc", tile, &SIZES_2D, &STEPS);
    }
    if its_turn(name) {
        shipped(name, "naive", "s0=4,s1=16", &SIZES_2D[..2], &[5]);
    }
}

/// One stencil of those that read the same points, or all.
#[test]
fn two_dimensions_one_statement() {
    let tiles = ["st=2,s0=3,s1=8", "st=3,s0=4,s1=5", "st=1,s0=1,s1=32"];
    for name in ["heat2d", "gradient2d", "box2d1r", "varcoef2d", "wave2d"] {
        two_dimensions(name, &tiles);
    }
    for name in ["jacobi2d", "laplacian2d", "star2d1r"].into_iter().filter(|_| everything()) {
        two_dimensions(name, &tiles);
    }
}

#[test]
fn two_dimensions_wide() {
    for name in ["star2d2r", "star2d4r", "box2d3r", "asym2d"] {
        two_dimensions(name, &["st=2,s0=6,s1=8", "st=1,s0=5,s1=32"]);
    }
}

#[test]
fn two_dimensions_several_statements() {
    two_dimensions("fdtd2d", &["st=3,s0=3,s1=8", "st=6,s0=4,s1=16"]);
    two_dimensions("skewed2d", &["st=2,s0=3,s1=8", "st=4,s0=4,s1=16"]);
}

#[test]
fn three_dimensions() {
    for name in ["heat3d", "star3d2r", "box3d1r", "varcoef3d"] {
        for tile in in_turn(name, &["st=2,s0=4,s1=5,s2=8", "st=1,s0=3,s1=4,s2=16"]) {
            shipped(name, "hhc", tile, &SIZES_3D, &[1, 6]);
        }
        if its_turn(name) {
            shipped(name, "naive", "s0=2,s1=4,s2=8", &SIZES_3D[..2], &[3]);
        }
    }
}

fn written(text: &str, strategy: &str, tile: &str, sizes: &[&[i64]], steps: &[i64]) {
    check(polyhedral::parse("test", text).unwrap(), strategy, tile, sizes, steps);
}

/// Three stored levels, mixed types, extrema, a condition, an exponential and a root, a coefficient of the other
/// type, and names that the generated code also uses.
const MIXED: &str = "stencil mixed(t, i, j) {
    field place: f64;
    field u: f32;
    coefficient points: f32;
    param value = 0.25;
    param w = 0.125;
    let cell = max(place[t, i-1, j], u[t, i, j+1]) + exp(-abs(place[t-1, i, j]));
    place[t+1, i, j] = value * cell + w * (points[i, j] * place[t, i, j-2] + place[t-1, i+1, j]);
    let full = place[t+1, i, j] > 0.5 ? sqrt(abs(u[t, i-1, j])) : min(u[t, i+1, j], 0.5);
    u[t+1, i, j] = value * full + w * points[i+1, j];
}";

#[test]
fn mixed_types_and_levels() {
    for tile in ["st=2,s0=4,s1=8", "st=4,s0=6,s1=16"] {
        written(MIXED, "hhc", tile, &SIZES_2D, &STEPS);
    }
    written(MIXED, "naive", "s0=2,s1=0", &SIZES_2D, &[4]);
}

/// The programs in `tests/programs` that have statements for edges, series, slots or functions of the C library.
fn special(name: &str) -> Program {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs");
    let text = std::fs::read_to_string(folder.join(format!("{name}.stencil"))).unwrap();
    polyhedral::parse(name, &text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn edges_in_one_dimension() {
    for tile in ["st=5,s0=15", "st=10,s0=40"] {
        check(special("ends1d"), "hhc", tile, &SIZES_1D, &STEPS);
    }
    check(special("ends1d"), "naive", "s0=32", &SIZES_1D, &[5]);
}

#[test]
fn edges_in_two_dimensions() {
    for (name, tiles) in [
        ("neumann2d", ["st=5,s0=4,s1=8", "st=10,s0=6,s1=16"]),
        ("driven2d", ["st=4,s0=4,s1=8", "st=8,s0=6,s1=16"]),
        ("buffers2d", ["st=3,s0=6,s1=8", "st=6,s0=9,s1=16"]),
        ("library2d", ["st=2,s0=3,s1=8", "st=4,s0=4,s1=16"]),
        ("fdtd2d_driven", ["st=4,s0=4,s1=8", "st=8,s0=4,s1=16"]),
    ] {
        let program = polyhedral::shipped::load(name).unwrap_or_else(|| special(name));
        for tile in in_turn(name, &tiles) {
            check(program.clone(), "hhc", tile, &SIZES_2D, &STEPS);
        }
        if its_turn(name) {
            check(program, "naive", "s0=4,s1=16", &SIZES_2D, &[5]);
        }
    }
}

#[test]
fn edges_in_three_dimensions() {
    check(special("faces3d"), "hhc", "st=4,s0=4,s1=5,s2=8", &SIZES_3D, &[1, 6]);
    check(special("faces3d"), "naive", "s0=2,s1=4,s2=8", &SIZES_3D, &[3]);
}

/// No neighbour is read: slopes are 0, the field is stored once, and no cell stays in the window.
#[test]
fn pointwise() {
    let text = "stencil decay(t, i, j) { field u: f64; u[t+1, i, j] = 0.5 * u[t, i, j] + 0.25; }";
    written(text, "hhc", "st=3,s0=2,s1=8", &SIZES_2D, &STEPS);
    let text = "stencil decay(t, i) { field u: f32; u[t+1, i] = 0.5 * u[t, i] + 0.25; }";
    written(text, "hhc", "st=4,s0=9", &SIZES_1D, &STEPS);
    let text = "stencil decay(t, i, j, k) { field u: f32; u[t+1, i, j, k] = 0.5 * u[t, i, j, k] + 0.25; }";
    written(text, "hhc", "st=2,s0=2,s1=3,s2=8", &SIZES_3D, &[3]);
}

/// Levels further back than one step, with steep and one-sided slopes.
#[test]
fn several_levels_back() {
    let text = "stencil back(t, i, j) {
        field u: f32;
        u[t+1, i, j] = 0.25 * u[t, i-1, j] + 0.25 * u[t-1, i+2, j-1] + 0.25 * u[t-2, i, j+3] + 0.125 * u[t-2, i-3, j];
    }";
    for tile in ["st=1,s0=3,s1=8", "st=3,s0=3,s1=5", "st=4,s0=5,s1=16"] {
        written(text, "hhc", tile, &SIZES_2D, &STEPS);
    }
    let text = "stencil upwind(t, i) { field u: f64; u[t+1, i] = 0.75 * u[t, i] + 0.25 * u[t, i-2]; }";
    written(text, "hhc", "st=3,s0=4", &SIZES_1D, &STEPS);
}

/// Strips of a three-dimensional tile hand over intermediate levels through memory.
#[test]
fn three_dimensions_several_statements() {
    let text = "stencil pair(t, i, j, k) {
        field p: f32;
        field q: f32;
        q[t+1, i, j, k] = 0.5 * q[t, i, j, k] + 0.125 * (p[t, i-1, j, k] + p[t, i, j+1, k] + p[t, i, j, k-1]);
        p[t+1, i, j, k] = 0.5 * (p[t, i, j, k] + q[t+1, i, j-1, k]);
    }";
    written(text, "hhc", "st=2,s0=3,s1=3,s2=8", &SIZES_3D, &[1, 5]);
    written(text, "hhc", "st=4,s0=3,s1=4,s2=8", &SIZES_3D[..2], &[7]);
}
