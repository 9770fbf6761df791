//! Grids that wrap around: the interpreter against loops written here, and every strategy against the interpreter, on grids
//! that may be smaller than a tile, than the ghost zones, and than what a point reads.

use execution::compare::compare;
use execution::device_program::DeviceProgram;
use execution::emulator::{Emulator, ThreadOrder};
use execution::grid::{ProgramData, ValuesMut};
use execution::layout::Layout;
use execution::native::NativeProgram;
use execution::reference::default_parameters;
use execution::{initial, reference};
use hhc_codegen::backend::{cuda, openmp};
use hhc_codegen::strategy::{self, Target};
use hhc_codegen::{KernelPlan, TileSizes, pipeline};
use polyhedral::ghost::Ghosts;
use polyhedral::program::{FieldId, Program};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use toolchain::cache::Cache;
use toolchain::compiler::{CompileOptions, Compiler, Language, SourceText};
use toolchain::library::Library;

static CACHE: LazyLock<Arc<Cache>> =
    LazyLock::new(|| Cache::at(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("periodic-cache")).unwrap());

const UPWIND: &str = "stencil upwind(t, i) { field u: f64; param c = 0.3; boundary periodic;
    u[t+1, i] = u[t, i] - c * (u[t, i] - u[t, i-1]) + 0.01 * (u[t, i+2] - u[t, i-3]); }";
const GRAY_SCOTT: &str =
    "stencil gray(t, i, j) { field u: f32; field v: f32; param f = 0.04; param k = 0.06; boundary periodic;
    let lu = u[t, i-1, j] + u[t, i+1, j] + u[t, i, j-1] + u[t, i, j+1] - 4 * u[t, i, j];
    let lv = v[t, i-1, j] + v[t, i+1, j] + v[t, i, j-1] + v[t, i, j+1] - 4 * v[t, i, j];
    let uvv = u[t, i, j] * v[t, i, j] * v[t, i, j];
    u[t+1, i, j] = u[t, i, j] + 0.2 * lu - uvv + f * (1 - u[t, i, j]);
    v[t+1, i, j] = v[t, i, j] + 0.1 * lv + uvv - (f + k) * v[t, i, j]; }";
/// Several levels, a coefficient, a series, values of the same step, an edge of its own, one dimension that has ends.
const CHANNEL: &str = "stencil channel(t, i, j) { field p: f64; field q: f32 slots 3; coefficient c: f32; series s: f32;
    boundary periodic(j);
    p[t+1, i, j] = 2 * p[t, i, j] - p[t-1, i, j] + 0.2 * (p[t, i-1, j+2] + p[t, i+1, j-1]) + c[i, j-1] * s[t-1];
    q[t+1, i, j] = 0.5 * q[t, i, j+1] + p[t+1, i, j-2] for i >= 1;
    q[t+1, i, j] = q[t, i, j-1] + s[t+1] for i == 0; }";
const SLOTS: &str = "stencil slots(t, i, j) { field u: f32 slots 2; boundary per_slot periodic(i);
    u[t+1, i, j] = 0.25 * (u[t, i-1, j] + u[t, i+1, j] + u[t, i, j-1] + u[t, i, j+1]); }";
/// What strategies of GPUs take: one statement, two slots.
const PLATE: &str = "stencil plate(t, i, j) { field u: f32; boundary periodic;
    u[t+1, i, j] = 0.2 * (u[t, i, j] + u[t, i-1, j] + u[t, i+1, j] + u[t, i, j-1] + u[t, i, j+1]); }";
const BRICK: &str = "stencil brick(t, i, j, k) { field u: f32; boundary periodic(i, k);
    u[t+1, i, j, k] = 0.3 * u[t, i, j, k] + 0.1 * (u[t, i-1, j, k] + u[t, i+1, j, k] + u[t, i, j-1, k]
        + u[t, i, j+1, k] + u[t, i, j, k-2] + u[t, i, j, k+1]); }";

fn parsed(text: &str) -> Arc<Program> {
    Arc::new(polyhedral::parse("periodic", text).unwrap_or_else(|error| panic!("{error:?}")))
}

/// Initial data, and what the interpreter makes of them.
fn runs(program: &Program, size: &[i64], steps: i64) -> (ProgramData, ProgramData) {
    let layout = Layout::padded(program, size).unwrap();
    let mut start = ProgramData::zeroed_with(program, layout).unwrap();
    initial::fill_series(program, &mut start, steps, 5).unwrap();
    initial::fill_random(program, &mut start, 5).unwrap();
    let mut expected = start.try_clone().unwrap();
    reference::run_quietly(program, &default_parameters(program), &mut expected, steps).unwrap();
    (start, expected)
}

/// The plans of all strategies that take a program, or of the two that take the most where compilers shall not be kept
/// busy with more.
fn plans(program: &Arc<Program>, target: Target, all: bool) -> Vec<KernelPlan> {
    let taken = |strategy: &&&dyn strategy::Strategy| all || ["naive", "hhc"].contains(&strategy.id());
    strategy::all().iter().filter(taken).filter_map(|strategy| plan(program, *strategy, target)).collect()
}

fn plan(
    program: &Arc<Program>,
    strategy: &'static dyn strategy::Strategy,
    target: Target,
) -> Option<KernelPlan> {
    pipeline::plan(program, strategy, &TileSizes::default(), target).ok().map(|planned| planned.plan)
}

/// The entry point of the text, changed by `edit`.
fn native(plan: &KernelPlan, edit: &dyn Fn(String) -> String) -> NativeProgram {
    let name = &plan.program.name;
    let sources: Vec<SourceText> = openmp::generate(plan)
        .unwrap()
        .into_iter()
        .filter(|file| [format!("{name}.c"), format!("{name}.h")].contains(&file.name))
        .map(|file| SourceText::new(file.name, edit(file.text)))
        .collect();
    let options =
        CompileOptions { optimization: 0, native: false, strict: true, ..CompileOptions::default() };
    let compiler = Compiler::find(Language::C).unwrap();
    let object = compiler.compile_shared(&sources, &options, &CACHE).unwrap();
    NativeProgram::of(&Library::load(&object.path()).unwrap(), &format!("{name}_invoke")).unwrap()
}

/// How many values of compiled C differ from the interpreter's.
fn wrong(native: &NativeProgram, program: &Program, size: &[i64], steps: i64) -> u64 {
    let (start, expected) = runs(program, size, steps);
    let mut data = start.try_clone().unwrap();
    native.run(program, &default_parameters(program), &mut data, steps).unwrap();
    compare(program, &expected, &data, steps).mismatches as u64
}

/// Sizes of grids: odd ones, and some that are less than what a point reads.
fn sizes(dimension: usize) -> Vec<Vec<i64>> {
    match dimension {
        1 => vec![vec![1], vec![2], vec![5], vec![301]],
        2 => vec![vec![1, 1], vec![3, 2], vec![2, 9], vec![37, 61]],
        _ => vec![vec![3, 1, 2], vec![1, 3, 1], vec![11, 13, 9]],
    }
}

#[test]
fn the_interpreter_wraps_around() {
    let program = parsed(UPWIND);
    for n in [1, 2, 3, 4, 7, 600] {
        let (start, found) = runs(&program, &[n], 9);
        let mut u: Vec<f64> = (0..n as usize).map(|i| start.slot(FieldId(0), 0).get(i).unwrap()).collect();
        for _ in 0..9 {
            let at = |i: i64| u[i.rem_euclid(n) as usize];
            u = (0..n).map(|i| at(i) - 0.3 * (at(i) - at(i - 1)) + 0.01 * (at(i + 2) - at(i - 3))).collect();
        }
        let newest = found.level(&program, FieldId(0), 9);
        assert!((0..n as usize).all(|i| newest.get(i).unwrap().to_bits() == u[i].to_bits()), "{n}");
    }
    // Two dimensions, the rows of which are cut for threads: a shift of the start is a shift of the result.
    let program = parsed(GRAY_SCOTT);
    let size = [7, 1100];
    let (start, found) = runs(&program, &size, 4);
    let mut moved = start.try_clone().unwrap();
    let strides: Vec<i64> = start.layout().strides().iter().map(|&stride| stride as i64).collect();
    let place = |i: i64, j: i64| (i.rem_euclid(7) * strides[0] + j.rem_euclid(1100)) as usize;
    for field in [FieldId(0), FieldId(1)] {
        let ValuesMut::F32(to) = moved.slot_mut(field, 0) else { panic!() };
        for (i, j) in (0..7).flat_map(|i| (0..1100).map(move |j| (i, j))) {
            to[place(i + 3, j + 517)] = start.slot(field, 0).get(place(i, j)).unwrap() as f32;
        }
    }
    reference::run_quietly(&program, &default_parameters(&program), &mut moved, 4).unwrap();
    for (i, j) in (0..7).flat_map(|i| (0..1100).map(move |j| (i, j))) {
        let [a, b] = [(&found, place(i, j)), (&moved, place(i + 3, j + 517))]
            .map(|(data, at)| data.level(&program, FieldId(1), 4).get(at).unwrap());
        assert_eq!(a.to_bits(), b.to_bits());
    }
}

/// What `ghost.rs` proves, seen on programs by chance: the unrolled program on a grid with ghost zones finds, after as many
/// steps as they are deep, the points of the periodic one; with a layer less it does not, as a rule.
#[test]
fn ghost_zones_hold_as_many_steps_as_they_are_deep() {
    let mut dice = 20180521_u64;
    let mut roll = |sides: u64| {
        dice = initial::mix(dice);
        (dice % sides) as i64
    };
    let mut thin_ones_fail = 0;
    for number in 0..60 {
        let mut read =
            |field: &str, time: &str| format!("{field}[{time}, i{:+}, j{:+}]", roll(5) - 2, roll(4) - 1);
        let (a, b, c, d) = (read("u", "t"), read("v", "t"), read("u", "t+1"), read("u", "t-1"));
        let (e, f) = (read("v", "t"), read("u", "t"));
        let text = format!(
            "stencil chance(t, i, j) {{ field u: f64; field v: f64; boundary periodic;
                u[t+1, i, j] = 0.3 * {a} + 0.4 * {b} + 0.2 * {d}; v[t+1, i, j] = 0.5 * {c} + 0.25 * {e} + 0.2 * {f}; }}"
        );
        let program = parsed(&text);
        let (size, steps) = ([1 + roll(9), 1 + roll(9)], 1 + roll(4));
        let (start, expected) = runs(&program, &size, steps);
        let zones = Ghosts::around(&program).unwrap();
        zones.prove_around(&program).unwrap();
        let unrolled = program.unrolled();
        for less in [0, 1] {
            let low = [0, 1].map(|d| zones.depth(d, steps)[0] - less);
            let wide = [0, 1]
                .map(|d| (size[d] + zones.depth(d, steps)[0] + zones.depth(d, steps)[1] - 2 * less).max(1));
            let mut data = ProgramData::zeroed(&unrolled, &wide).unwrap();
            let points = || (0..wide[0]).flat_map(|i| (0..wide[1]).map(move |j| (i, j)));
            let place = |i: i64, j: i64| (i * start.layout().strides()[0] as i64 + j) as usize;
            for (field, slot) in [(0, 0), (0, 1), (1, 0)] {
                let ValuesMut::F64(to) = data.slot_mut(FieldId(field), slot) else { panic!() };
                for (i, j) in points() {
                    let from = place((i - low[0]).rem_euclid(size[0]), (j - low[1]).rem_euclid(size[1]));
                    to[(i * wide[1] + j) as usize] = start.slot(FieldId(field), slot).get(from).unwrap();
                }
            }
            reference::run_quietly(&unrolled, &[], &mut data, steps).unwrap();
            let mut wrong = 0;
            for (i, j) in points()
                .filter(|(i, j)| (0..size[0]).contains(&(i - low[0])) && (0..size[1]).contains(&(j - low[1])))
            {
                for field in [FieldId(0), FieldId(1)] {
                    let found = data.level(&unrolled, field, steps).get((i * wide[1] + j) as usize).unwrap();
                    let right =
                        expected.level(&program, field, steps).get(place(i - low[0], j - low[1])).unwrap();
                    wrong += i64::from(found.to_bits() != right.to_bits());
                }
            }
            assert!(less == 1 || wrong == 0, "{number} {size:?} {steps}: {text}");
            thin_ones_fail += i64::from(less == 1 && wrong > 0);
        }
    }
    assert!(thin_ones_fail > 20, "{thin_ones_fail}");
}

#[test]
fn compiled_c_has_the_interpreters_bits_with_every_strategy() {
    for text in [UPWIND, GRAY_SCOTT, CHANNEL, SLOTS, BRICK] {
        let program = parsed(text);
        let plans = plans(&program, Target::OpenMp, text == SLOTS || text == UPWIND);
        assert!(plans.iter().any(|plan| plan.strategy == "hhc") && plans.len() > 1, "{}", program.name);
        for plan in &plans {
            let native = native(plan, &|text| text);
            for size in sizes(program.dimension()) {
                for steps in [1, 2, 19] {
                    let wrong = wrong(&native, &program, &size, steps);
                    assert_eq!(wrong, 0, "{} {} {size:?} {steps}", program.name, plan.strategy);
                }
            }
        }
    }
}

/// Every strategy with the first program that it takes, the preferred one with all; with `TILEWRIGHT_ALL=1`, as in
/// `make test-long`, every one with all.
#[test]
fn emulated_kernels_have_the_interpreters_bits_with_every_strategy() {
    let all = std::env::var_os("TILEWRIGHT_ALL").is_some();
    let mut seen = BTreeSet::new();
    for text in [CHANNEL, PLATE, BRICK] {
        let program = parsed(text);
        for strategy in strategy::all() {
            let known = seen.contains(strategy.id()) && strategy.id() != strategy::preferred().id();
            if (known && !all) || (text == CHANNEL && !["naive", "hhc"].contains(&strategy.id())) {
                continue;
            }
            let Some(plan) = plan(&program, *strategy, Target::Cuda) else { continue };
            seen.insert(plan.strategy);
            let Ok(generated) = cuda::generate(&plan, &cuda::CudaOptions::default()) else { continue };
            let device = DeviceProgram::from(&generated);
            let compiler = Compiler::find(Language::Cxx).unwrap();
            let emulator = Emulator::compile_with(&plan, &device, &compiler, &CACHE).unwrap();
            let sizes = [[3, 2, 1], [13, 21, 5]].map(|size| size[..program.dimension()].to_vec());
            for size in sizes {
                let (start, expected) = runs(&program, &size, 7);
                let mut data = start.try_clone().unwrap();
                let order = ThreadOrder::Shuffled(3);
                let report = emulator.run(&default_parameters(&program), &mut data, 7, order).unwrap();
                let place = format!("{} {} {size:?}", program.name, plan.strategy);
                assert!(
                    report.is_clean() && (report.launches > 0 || size[0] == 3),
                    "{place}: {:?}",
                    report.violations.first()
                );
                assert_eq!(compare(&program, &expected, &data, 7).mismatches, 0, "{place}");
            }
        }
    }
}

#[test]
fn ghost_zones_that_are_too_thin_or_stale_are_noticed() {
    let program = parsed(GRAY_SCOTT);
    let plan =
        plans(&program, Target::OpenMp, false).into_iter().find(|plan| plan.strategy == "hhc").unwrap();
    let faults: [(&str, &str); 4] = [
        ("{ 1, 1 }, { 1, 1 } };", "{ 1, 1 }, { 0, 1 } };"),
        ("if (own + x != line + at) {", "if (0) {"),
        ("tw_modulo(j - s.low[1], s.n[1]) * s.from[1]", "tw_modulo(j, s.n[1]) * s.from[1]"),
        ("(s.low[1] + tw_modulo(j - s.low[1], s.n[1]))", "(s.low[1] + tw_modulo(j - s.low[1] + 1, s.n[1]))"),
    ];
    for (right, seeded) in faults {
        let edit = |text: String| text.replace(right, seeded);
        let text = openmp::generate(&plan).unwrap();
        assert!(text.iter().any(|file| file.text.contains(right)), "{right}");
        assert!(wrong(&native(&plan, &edit), &program, &[37, 61], 19) > 0, "{seeded}");
    }
}
