//! From a program to compiled code, and from compiled code to a comparison with the reference.

use crate::performance;
use execution::compare::compare;
use execution::device_program::DeviceProgram;
use execution::emulator::{Emulator, ThreadOrder};
use execution::grid::{ProgramData, ValuesMut, ValuesRef};
use execution::layout::Layout;
use execution::native::NativeProgram;
use execution::{initial, reference};
use hhc_codegen::backend::GeneratedFile;
use hhc_codegen::backend::cuda::CudaProgram;
use hhc_codegen::pipeline::{self, Planned};
use hhc_codegen::plan::Kernel;
use hhc_codegen::prove::prove_within;
use hhc_codegen::storage::Memory;
use hhc_codegen::strategy::{self, Along, Strategy, Target};
use hhc_codegen::{KernelPlan, TileSizes, backend};
use polyhedral::analysis::{Analysis, analyze};
use polyhedral::program::{FieldId, Program};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use toolchain::cache::Cache;
use toolchain::compiler::{CompileOptions, Compiler, Language, SourceText};
use toolchain::library::Library;

/// One cache for these tests, apart from the user's.
static CACHE: LazyLock<Arc<Cache>> =
    LazyLock::new(|| Cache::at(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("semantics-cache")).unwrap());

/// What stands between the rows of a padded grid: code must neither read nor write it.
const PADDING: f32 = 12345.0;

/// Random values of the initial levels and coefficients.
const SEED: u64 = 20140215;

/// Warnings are errors; little optimisation, for speed.
pub fn strict(optimization: u8) -> CompileOptions {
    CompileOptions { optimization, native: false, strict: true, ..CompileOptions::default() }
}

/// A shipped stencil.
pub fn shipped(name: &str) -> Arc<Program> {
    Arc::new(polyhedral::shipped::load(name).unwrap_or_else(|| panic!("no stencil {name}")))
}

/// A program from its text.
pub fn parsed(name: &str, text: &str) -> Arc<Program> {
    Arc::new(polyhedral::parse(name, text).unwrap_or_else(|error| panic!("{error:?}\n{text}")))
}

/// The analysis of a program, made once however many tests look at it.
pub fn analysed(program: &Program) -> Arc<Analysis> {
    static KNOWN: Mutex<BTreeMap<String, Arc<Analysis>>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let text = format!("{program:?}");
    let found = known().get(&text).cloned();
    found.unwrap_or_else(|| {
        let analysis = Arc::new(analyze(program).unwrap());
        known().insert(text, Arc::clone(&analysis));
        analysis
    })
}

/// The plan, proved legal.
pub fn planned(program: &Arc<Program>, strategy: &str, tile: &TileSizes) -> Planned {
    let strategy = strategy::by_name(strategy).unwrap();
    pipeline::plan_analysed(program, &analysed(program), strategy, tile, Target::OpenMp, &mut |_, _| {})
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The plan of a strategy with its default tile for a CPU, proved legal once however many tests look at it, and within the
/// operations that [`performance::budget`] gives it.
///
/// # Errors
/// What the proof says.
pub fn planned_by_default(program: &Arc<Program>, strategy: &dyn Strategy) -> Result<KernelPlan, String> {
    type Known = Arc<OnceLock<Result<KernelPlan, String>>>;
    static KNOWN: Mutex<BTreeMap<(String, &str), Known>> = Mutex::new(BTreeMap::new());
    let key = (format!("{program:?}"), strategy.id());
    let plan = Arc::clone(KNOWN.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
    let prove = || {
        let analysis = analysed(program);
        let tile = strategy.default_tile(program, &analysis.cone, Target::OpenMp);
        let plan = strategy::plan(strategy, program, &analysis.cone, &tile).unwrap();
        let proved = prove_within(performance::budget(&plan), &plan, &analysis.dependences);
        proved.map(|_| plan).map_err(|error| format!("{}: {error}", program.name))
    };
    plan.get_or_init(prove).clone()
}

/// The plan of a strategy with sizes that are small and odd, each another one: `seed` says which. `None` where the
/// strategy does not take the program, or such a tile.
pub fn small_plan(program: &Arc<Program>, strategy: &dyn Strategy, seed: usize) -> Option<KernelPlan> {
    small_plan_of(program, &analysed(program), strategy, seed)
}

/// [`small_plan`] of a program whose analysis is known.
pub fn small_plan_of(
    program: &Arc<Program>,
    analysis: &Analysis,
    strategy: &dyn Strategy,
    seed: usize,
) -> Option<KernelPlan> {
    let sizes = [[3, 7, 10, 13, 5], [1, 1, 1, 1, 1], [2, 5, 64, 200, 8], [5, 90, 4, 1, 3], [1, 9, 30, 6, 2]];
    let mut sizes = sizes[seed % sizes.len()];
    loop {
        let plan = plan_with_sizes(program, analysis, strategy, &sizes)?;
        // A thread of a CPU has less memory for its own than a block of a GPU has registers.
        let storages = plan.kernels.iter().any(|kernel| kernel.memory == Memory::Storages);
        let printed = plan.has_spare_slots() || backend::openmp::generate(&plan).is_ok();
        if !storages || printed || sizes.iter().all(|&size| size <= 1) {
            return Some(plan);
        }
        halve(&mut sizes);
    }
}

/// The plan of a strategy with these sizes, in the order of its space.
pub fn plan_with_sizes(
    program: &Arc<Program>,
    analysis: &Analysis,
    strategy: &dyn Strategy,
    sizes: &[i64],
) -> Option<KernelPlan> {
    let cone = &analysis.cone;
    strategy.takes(program, cone).ok()?;
    let space = strategy.space(program, cone);
    let of = |sizes: &[i64]| TileSizes::new(space.names().zip(sizes.iter().copied()).collect::<Vec<_>>());
    let mut sizes = sizes.to_vec();
    // Sizes that do not go together do when they are small enough.
    while sizes.iter().any(|&size| size > 1) && strategy.fits(program, &of(&sizes)).is_err() {
        halve(&mut sizes);
    }
    strategy::plan(strategy, program, cone, &of(&sizes)).ok()
}

fn halve(sizes: &mut [i64]) {
    sizes.iter_mut().for_each(|size| *size = (*size + 1) / 2);
}

/// The strategies whose blocks have storage of their own, in two dimensions or in three.
pub fn with_storages() -> impl Iterator<Item = &'static dyn Strategy> {
    static FOUND: LazyLock<Vec<&dyn Strategy>> = LazyLock::new(|| {
        let programs = ["heat2d", "heat3d"].map(shipped);
        let has_storages = |strategy: &&dyn Strategy| {
            let plan = programs.iter().find_map(|program| small_plan(program, *strategy, 0));
            plan.is_some_and(|plan| plan.kernels.iter().any(|kernel| kernel.memory == Memory::Storages))
        };
        strategy::all().iter().copied().filter(has_storages).collect()
    });
    FOUND.iter().copied()
}

/// A small plan whose OpenMP text there is.
pub fn small_plan_in_openmp(
    program: &Arc<Program>,
    strategy: &dyn Strategy,
    seed: usize,
) -> Option<KernelPlan> {
    strategy.for_target(program, Target::OpenMp).ok().and_then(|()| small_plan(program, strategy, seed))
}

/// The smallest hexagon that is legal for a half height of `steps` time steps, some points wider.
pub fn hexagonal_tile(program: &Program, steps: i64, wider: i64, classical: &[i64]) -> TileSizes {
    hexagonal_tile_of(program, &analysed(program), steps, wider, classical)
}

/// [`hexagonal_tile`] of a program that is analysed already.
pub fn hexagonal_tile_of(
    program: &Program,
    analysis: &Analysis,
    steps: i64,
    wider: i64,
    classical: &[i64],
) -> TileSizes {
    tile_in_time(strategy::by_name("hhc").unwrap(), program, analysis, steps, wider, classical)
}

/// The smallest tile of a strategy that spans so many time steps (half its height, for hexagons), some points wider.
fn tile_in_time(
    strategy: &dyn Strategy,
    program: &Program,
    analysis: &Analysis,
    steps: i64,
    wider: i64,
    inner: &[i64],
) -> TileSizes {
    let space = strategy.space(program, &analysis.cone);
    let rows = steps * program.statements.len() as i64;
    let tile = space.fitted(rows, &[&[1], inner].concat());
    let Some(width) = space.along(0) else { return tile };
    let value = tile.get(width.name).unwrap() + wider * width.step;
    tile.with(width.name, value)
}

/// Small tiles of a strategy, none of whose sizes divides a common grid.
fn small_tile(strategy: &dyn Strategy, program: &Program, analysis: &Analysis) -> TileSizes {
    let dimension = program.dimension();
    let space = strategy.space(program, &analysis.cone);
    if !space.sizes.iter().any(|size| matches!(size.along, Along::Time { .. })) {
        return space.fitted(0, &[7, 10, 13][..dimension]);
    }
    // Two time steps at once, or one where that makes many rows already.
    let steps = if program.statements.len() > 4 { 1 } else { 2 };
    tile_in_time(strategy, program, analysis, steps, 1, [&[][..], &[9], &[5, 8]][dimension - 1])
}

/// The library of a plan: its C file and header.
pub fn library_text(plan: &KernelPlan) -> Vec<GeneratedFile> {
    let program = &plan.program.name;
    let files = backend::openmp::generate(plan).unwrap();
    let wanted = [format!("{program}.c"), format!("{program}.h")];
    files.into_iter().filter(|file| wanted.contains(&file.name)).collect()
}

/// Compiles and loads a library.
pub fn compiled(program: &Program, files: &[GeneratedFile], options: &CompileOptions) -> NativeProgram {
    let sources: Vec<SourceText> =
        files.iter().map(|file| SourceText::new(file.name.clone(), file.text.clone())).collect();
    let compiler = Compiler::find(Language::C).unwrap();
    let object = compiler
        .compile_shared(&sources, options, &CACHE)
        .unwrap_or_else(|error| panic!("{}: {error}", program.name));
    let library = Library::load(&object.path()).unwrap();
    NativeProgram::of(&library, &format!("{}_invoke", program.name)).unwrap()
}

/// A problem: grid, steps, and the values of the parameters.
#[derive(Debug, Clone)]
pub struct Problem {
    pub size: Vec<i64>,
    pub steps: i64,
    pub parameters: Vec<f64>,
}

impl Problem {
    /// With the program's own parameters.
    pub fn new(program: &Program, size: &[i64], steps: i64) -> Self {
        Problem { size: size.to_vec(), steps, parameters: reference::default_parameters(program) }
    }

    /// Initial data in a layout; what lies between the points is marked.
    fn data(&self, program: &Program, layout: Layout) -> ProgramData {
        let mut data = ProgramData::zeroed_with(program, layout).unwrap();
        for_each_padding(program, &mut data, |padding| match padding {
            ValuesMut::F32(values) => values.fill(PADDING),
            ValuesMut::F64(values) => values.fill(f64::from(PADDING)),
        });
        initial::fill_series(program, &mut data, self.steps, SEED).unwrap();
        initial::fill_random(program, &mut data, SEED).unwrap();
        data
    }

    /// What the program means.
    pub fn expected(&self, program: &Program) -> ProgramData {
        let mut data = self.data(program, Layout::dense(program, &self.size).unwrap());
        reference::run_quietly(program, &self.parameters, &mut data, self.steps).unwrap();
        data
    }

    /// Dense, padded, and the opposite: the slowest dimension in steps of a power of two, which generated code treats
    /// in its own way, the others and the time levels in odd ones.
    pub fn layouts(&self, program: &Program) -> [Layout; 3] {
        let dense = Layout::dense(program, &self.size).unwrap();
        let outer = dense.strides().len() - 1;
        let mut strides = dense.strides()[..outer].to_vec();
        let mut span = self.size[outer] as usize;
        for (d, stride) in strides.iter_mut().enumerate().rev() {
            // Each stride grows with the one inside it.
            *stride = if d == 0 { (span + 3).next_multiple_of(1024) } else { span + 3 };
            span = *stride * self.size[d] as usize;
        }
        let conflicting = Layout::with_strides(program, &self.size, &strides, span + 7).unwrap();
        [dense, Layout::padded(program, &self.size).unwrap(), conflicting]
    }

    /// Runs compiled code in this layout and compares every stored time level with what is expected.
    pub fn check(
        &self,
        program: &Program,
        native: &NativeProgram,
        layout: Layout,
        expected: &ProgramData,
    ) -> Result<(), String> {
        self.check_from(program, native, &self.data(program, layout), expected)
    }

    /// [`Problem::check`] with this initial data.
    fn check_from(
        &self,
        program: &Program,
        native: &NativeProgram,
        initial: &ProgramData,
        expected: &ProgramData,
    ) -> Result<(), String> {
        let mut data = initial.try_clone().unwrap();
        let strides = initial.layout().strides();
        let text = || format!("{}, {} steps, strides {strides:?}", program.name, self.steps);
        // More threads than cores, so that tiles run in changing orders.
        native.library().set_threads(3);
        native.run(program, &self.parameters, &mut data, self.steps).map_err(|error| error.to_string())?;
        self.compare(program, expected, &data).map_err(|error| format!("{}: {error}", text()))?;
        let mut touched = false;
        for_each_padding(program, &mut data, |padding| match padding {
            ValuesMut::F32(values) => touched |= values.iter().any(|&value| value != PADDING),
            ValuesMut::F64(values) => touched |= values.iter().any(|&value| value != f64::from(PADDING)),
        });
        if touched { Err(format!("{}: padding was overwritten", text())) } else { Ok(()) }
    }

    /// Runs the emulator and compares every stored time level with what is expected.
    pub fn check_emulated(
        &self,
        program: &Program,
        emulator: &Emulator,
        order: ThreadOrder,
        expected: &ProgramData,
    ) -> Result<(), String> {
        let mut data = self.data(program, Layout::padded(program, &self.size).unwrap());
        let report = emulator
            .run(&self.parameters, &mut data, self.steps, order)
            .map_err(|error| error.to_string())?;
        if !report.is_clean() {
            return Err(format!("size {:?}: {report:#?}", self.size));
        }
        self.compare(program, expected, &data)
    }

    /// Compares every stored time level.
    fn compare(&self, program: &Program, expected: &ProgramData, data: &ProgramData) -> Result<(), String> {
        let stored = program.fields.iter().map(|field| field.role.slots()).max().unwrap_or(1) as i64;
        for back in 0..stored {
            let comparison = compare(program, expected, data, self.steps - back);
            if let Some(first) = comparison.first {
                return Err(format!(
                    "{} of {} values differ {back} levels before the last, first {first} (size {:?})",
                    comparison.mismatches, comparison.points, self.size,
                ));
            }
        }
        Ok(())
    }
}

/// The kernels, compiled for the emulator.
pub fn emulator(plan: &KernelPlan, cuda: &CudaProgram) -> Emulator {
    let compiler = Compiler::find(Language::Cxx).unwrap();
    Emulator::compile_with(plan, &DeviceProgram::from(cuda), &compiler, &CACHE).unwrap()
}

/// Visits all elements that belong to no point.
fn for_each_padding(program: &Program, data: &mut ProgramData, mut visit: impl FnMut(ValuesMut<'_>)) {
    let layout = data.layout().clone();
    let mut gaps: Vec<Range<usize>> = Vec::new();
    let mut end = 0;
    for segment in layout.segments(0..layout.points()) {
        gaps.push(end..segment.offset);
        end = segment.offset + segment.length;
    }
    gaps.push(end..layout.level_stride());
    for (number, field) in program.fields.iter().enumerate() {
        for slot in 0..field.role.slots() {
            for gap in gaps.iter().filter(|gap| !gap.is_empty()) {
                match data.slot_mut(FieldId(number), slot) {
                    ValuesMut::F32(values) => visit(ValuesMut::F32(&mut values[gap.clone()])),
                    ValuesMut::F64(values) => visit(ValuesMut::F64(&mut values[gap.clone()])),
                }
            }
        }
    }
}

/// Fails where the result tells nothing: values that are not finite, or all the same.
pub fn assert_meaningful(program: &Program, data: &ProgramData, steps: i64) {
    for number in 0..program.fields.len() {
        let level = data.level(program, FieldId(number), steps);
        let values: Vec<f64> = match level {
            ValuesRef::F32(values) => values.iter().map(|&value| f64::from(value)).collect(),
            ValuesRef::F64(values) => values.to_vec(),
        };
        let name = &program.fields[number].name;
        assert!(values.iter().all(|value| value.is_finite()), "{name} of {} is not finite", program.name);
        let different = values.iter().map(|value| value.to_bits()).collect::<std::collections::BTreeSet<_>>();
        assert!(different.len() * 4 > values.len(), "{name} of {} has few different values", program.name);
    }
}

/// The strategies whose default tiles a program is run with: the preferred one and, of the others that users may get or
/// whose blocks have storage, one in turn, or all. Small tiles of a strategy that nobody gets unasked have all of its text.
fn with_default_tiles(program: &Program, analysis: &Analysis) -> Vec<&'static str> {
    let storages: Vec<&str> = with_storages().map(|strategy| strategy.id()).collect();
    let first = strategy::preferred_for(program).id();
    let usual = |own: &dyn Strategy| {
        let everywhere = [Target::OpenMp, Target::Cuda].into_iter().all(|target| own.in_auto(target));
        everywhere || own.id() == first || storages.contains(&own.id())
    };
    let taking = strategy::all().iter().filter(|own| on_cores(**own, program, analysis) && usual(**own));
    let (mut chosen, others): (Vec<&str>, Vec<&str>) =
        taking.map(|own| own.id()).partition(|&id| everything() || id == first);
    chosen.extend(others.get(turn_of(&program.name) % others.len().max(1)));
    chosen
}

/// Whether a strategy takes a program, and prints it for a CPU.
fn on_cores(own: &dyn Strategy, program: &Program, analysis: &Analysis) -> bool {
    own.takes(program, &analysis.cone).and_then(|()| own.for_target(program, Target::OpenMp)).is_ok()
}

/// A number that differs between programs, for what runs in turn.
pub fn turn_of(name: &str) -> usize {
    name.bytes().map(usize::from).sum()
}

/// Whether one of several runs for a program: every third one, in turn, or all.
fn in_turn(program: &Program, number: usize) -> bool {
    everything() || (turn_of(&program.name) + number).is_multiple_of(3)
}

/// Whether all is run, as in `make test-long`, of what else runs in turn.
pub fn everything() -> bool {
    std::env::var_os("TILEWRIGHT_ALL").is_some()
}

/// Everything that a program goes through: the preferred strategy and, of the others that take it, every third one, in turn, or
/// all; with small tiles and, in turn, with their default ones, at odd sizes, for few and many steps, in three layouts.
pub fn agrees_with_reference(program: &Arc<Program>) {
    let dimension = program.dimension();
    let analysis = analysed(program);
    let small = |strategy: &dyn Strategy| small_tile(strategy, program, &analysis);
    let preferred = strategy::preferred().id();
    let first = strategy::preferred_for(program).id();
    let chosen = |number: usize, id: &str| id == first || in_turn(program, number);
    let taking = strategy::all().iter().enumerate();
    let taking =
        taking.filter(|(number, own)| on_cores(**own, program, &analysis) && chosen(*number, own.id()));
    let by_default = with_default_tiles(program, &analysis);
    let variants: Vec<(KernelPlan, NativeProgram)> = taking
        .flat_map(|(_, &strategy)| {
            let small = small(strategy);
            let optional = strategy.space(program, &analysis.cone).optional;
            let with_all = (!optional.is_empty()).then(|| {
                let sizes = optional.iter().zip([2, 3]);
                sizes.fold(small.clone(), |tile, (optional, value)| tile.with(optional.size.name, value))
            });
            let turn = everything() || turn_of(&program.name).is_multiple_of(2);
            let with_all = with_all.filter(|_| turn).map(|tile| (strategy, Some(tile)));
            let default = by_default.contains(&strategy.id()).then_some((strategy, None));
            [(strategy, Some(small))].into_iter().chain(default).chain(with_all)
        })
        .map(|(strategy, tile)| {
            // Small tiles as they are written, default ones of every third program as compilers rewrite them: much of the time
            // goes to the compiler.
            let (plan, optimization) = match tile {
                None => (
                    planned_by_default(program, strategy).unwrap(),
                    match turn_of(&program.name).is_multiple_of(3) {
                        true if strategy.id() == preferred => 2,
                        rewritten => u8::from(rewritten || everything()),
                    },
                ),
                Some(tile) => {
                    // The proof of a team takes seconds: the one with its own sizes is enough.
                    let unproved = strategy::plan(strategy, program, &analysis.cone, &tile).unwrap();
                    let team = unproved.kernels.iter().any(|kernel| kernel.team);
                    (if team { unproved } else { planned(program, strategy.id(), &tile).plan }, 0)
                }
            };
            let native = compiled(program, &library_text(&plan), &strict(optimization));
            (plan, native)
        })
        .collect();

    let with_storages: Vec<(KernelPlan, NativeProgram)> = with_storages()
        .enumerate()
        .filter(|(number, _)| in_turn(program, *number))
        .filter_map(|(_, strategy)| small_plan(program, strategy, 0))
        .filter(|plan| !plan.has_spare_slots())
        .map(|plan| {
            let native = compiled(program, &library_text(&plan), &strict(0));
            (plan, native)
        })
        .collect();

    let sizes: &[&[i64]] = match dimension {
        1 => &[&[1], &[5], &[61], &[1013]],
        2 => &[&[1, 9], &[5, 5], &[61, 77], &[161, 93]],
        _ => &[&[9, 1, 6], &[5, 5, 5], &[37, 23, 41]],
    };
    let largest = sizes[sizes.len() - 1];
    let mut failures = Vec::new();
    for size in sizes {
        for steps in [0, 1, 2, 7, 23] {
            let mut problem = Problem::new(program, size, steps);
            if steps == 7 {
                problem.parameters.iter_mut().for_each(|value| *value *= 0.75);
            }
            let expected = problem.expected(program);
            for (turn, layout) in problem.layouts(program).into_iter().enumerate() {
                let initial = problem.data(program, layout);
                // The longest runs take most of the time: in them, each plan has one of the layouts, then another one.
                let long = steps >= 7 && *size == largest && !everything();
                let runs = variants.iter().chain(&with_storages).enumerate();
                let chosen = |number: usize| !long || (number + steps as usize) % 3 == turn;
                for (_, (plan, native)) in runs.filter(|(number, _)| chosen(*number)) {
                    if let Err(failure) = problem.check_from(program, native, &initial, &expected) {
                        failures.push(format!("{} {}: {failure}", plan.strategy, plan.tile));
                    }
                }
            }
            if steps == 23 && *size == largest {
                assert_meaningful(program, &expected, steps);
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    // Tiles that are printed row by row have one text for both.
    let plain = variants.iter().find(|(plan, _)| !plan.kernels.iter().any(Kernel::in_parts));
    if let Some((plan, _)) = plain {
        assert_full_and_partial(plan, largest, 23);
    }
}

/// Both code paths of the generated text must have run.
fn assert_full_and_partial(plan: &KernelPlan, size: &[i64], steps: i64) {
    let mut seen = [false; 2];
    plan.for_each_row(size, steps, |row| seen[usize::from(row.full)] = true).unwrap();
    assert_eq!(
        seen, [true; 2],
        "partial and full tiles of {} with {} at {size:?}",
        plan.program.name, plan.tile
    );
}

/// What a command that must succeed prints.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}
