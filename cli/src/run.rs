//! `tilewright run`: runs a stencil, checks the result and measures it.

use crate::arguments::{BackendName, LayoutName, RunArguments};
use crate::error::{Error, Result};
use crate::initial_data::{self, FieldFile};
use crate::list::Backend;
use crate::progress::{Progress, Session};
use crate::report::{self, Report};
use crate::{load, pace, plan, plan_facts};
use execution::c_compiler::{CompileOptions, Compiler, Language, SharedObject, SourceText, compile_shared};
use execution::compare::{checksum, compare};
use execution::device_program::{DeviceKernel, DeviceProgram};
use execution::emulator::{Emulator, EmulatorReport, ThreadOrder};
use execution::grid::ProgramData;
use execution::native::{NativeLibrary, NativeProgram};
use execution::timing::{Repetition, Timing, measure};
use execution::{ExecutionError, npy, reference};
use hhc_codegen::backend::cuda::CudaOptions;
use hhc_codegen::pipeline::Planned;
use hhc_codegen::strategy::Target;
use hhc_codegen::{KernelPlan, TileSizes, backend};
use polyhedral::legality::Proof;
use polyhedral::program::Program;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// The report of `run`.
#[derive(Debug, Serialize)]
pub struct RunReport {
    /// Name of the stencil.
    pub stencil: String,
    /// Tiling strategy; null for the reference interpreter.
    pub strategy: Option<&'static str>,
    /// What ran it.
    pub backend: &'static str,
    /// Grid extents, slowest dimension first.
    pub size: Vec<i64>,
    /// Number of time steps.
    pub steps: i64,
    /// Tile sizes by name; null for the reference interpreter.
    pub tile: Option<TileSizes>,
    /// Tile sizes as `--tile` takes them.
    pub tile_text: Option<String>,
    /// Median of the run times, in seconds.
    pub seconds: f64,
    /// All run times that count, in seconds.
    pub seconds_all: Vec<f64>,
    /// Points computed per step, times steps, per second of the median run, in units of 10^9. A point counts
    /// once per step, whatever the number of statements.
    pub gstencil_per_s: f64,
    /// Checksum of the newest level of all state fields: 16 hexadecimal digits, the same for equal results on
    /// every back end.
    pub checksum: String,
    /// Whether all values have the bits of the reference; null where that was not asked for.
    pub verified: Option<bool>,
    /// Largest absolute difference from the reference; null where that was not asked for, or infinite.
    pub max_abs_error: Option<f64>,
    /// Number of values that differ from the reference; null where that was not asked for.
    pub mismatches: Option<u64>,
    /// The first value that differs.
    pub first_mismatch: Option<String>,
    /// Points computed per step.
    pub points_per_step: u64,
    /// Element type of the fields, if they all have the same; else null.
    pub dtype: Option<&'static str>,
    /// How the grid lay in memory.
    pub layout: &'static str,
    /// Bytes of the grid.
    pub bytes: u64,
    /// Number of threads.
    pub threads: usize,
    /// Seed of the pseudo-random initial values; null where all values came from files.
    pub seed: Option<u64>,
    /// Parameters and their values.
    pub parameters: BTreeMap<String, f64>,
    /// isl's proof that the tiling is legal; null for the reference interpreter.
    pub proof: Option<Proof>,
    /// The compiler's command line.
    pub compiler: Option<String>,
    /// What the emulator's checks found; null on other back ends.
    pub emulator: Option<EmulatorReport>,
    /// Output files by field.
    pub outputs: BTreeMap<String, PathBuf>,
    /// Facts worth knowing.
    pub notes: Vec<String>,
    /// The stage that `--dump` asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dump: Option<String>,
}

/// The back ends, and whether they are available on this machine.
pub fn backends() -> Vec<Backend> {
    let compiled = |language, what: &str| match Compiler::find(language) {
        Ok(compiler) => (true, format!("{what}, with {}", compiler.version())),
        Err(error) => (false, error.to_string()),
    };
    let openmp = compiled(Language::C, "compiled C on all cores");
    let emulator = compiled(Language::Cxx, "the CUDA code on the CPU, every access checked");
    let backend = |name: BackendName, available, description: &str| Backend {
        name: name.name(),
        available,
        description: description.to_owned(),
    };
    vec![
        backend(BackendName::OpenMp, openmp.0, &openmp.1),
        backend(BackendName::Cuda, false, "a GPU; not in this version"),
        backend(BackendName::Emulator, emulator.0, &emulator.1),
        backend(BackendName::Reference, true, "the plain interpreter that defines the right result"),
    ]
}

/// What runs the program.
enum Runner {
    Reference,
    Native(NativeProgram),
    Emulator(Box<Emulator>, ThreadOrder),
}

/// A runner and what was found out on the way to it.
struct Prepared {
    runner: Runner,
    planned: Option<Planned>,
    object: Option<SharedObject>,
}

/// Everything that a run needs beside the data.
struct Job<'a> {
    program: &'a Program,
    parameters: &'a [f64],
    steps: i64,
    repeat: usize,
}

/// Runs the stencil.
///
/// # Errors
/// Wrong input, an infeasible tiling, and failures of compiler, memory or disk. A result that differs from the
/// reference is no error but a report that has not passed.
pub fn run(arguments: &RunArguments, session: &Session) -> Result<RunReport> {
    let program = session.stage("read", || load::program(&arguments.plan.spec, arguments.plan.dtype))?;
    let parameters = initial_data::parameters(&program, &arguments.param)?;
    let inputs = initial_data::field_files(&program, "--input", &arguments.input)?;
    let outputs = initial_data::field_files(&program, "--output", &arguments.output)?;
    initial_data::check_outputs(&outputs)?;
    let size = initial_data::grid_size(&program, arguments, &inputs)?;
    set_threads(arguments)?;
    let mut data = session.stage("initial data", || {
        initial_data::initial_data(&program, &size, arguments.layout, &inputs, arguments.seed)
    })?;
    let Prepared { runner, planned, object } = prepare(&program, arguments, session)?;

    let repeat = arguments.repeat as usize;
    let job = Job { program: &program, parameters: &parameters, steps: arguments.steps, repeat };
    let keep_initial = repeat > 1 || arguments.verify;
    let mut initial = keep_initial.then(|| data.try_clone()).transpose()?;
    let (timing, emulator) = job.measure(&runner, &mut data, initial.as_ref(), session)?;
    let comparison = match (&mut initial, arguments.verify) {
        (Some(expected), true) => {
            session.stage_of("reference", arguments.steps as u64, |progress| {
                run_reference(&job, expected, progress)
            })?;
            Some(session.stage("compare", || compare(&program, &data, expected, arguments.steps)))
        }
        _ => None,
    };
    drop(initial);
    let checksum = session.stage("checksum", || checksum(&program, &data, arguments.steps));
    session.stage("write", || write_outputs(&job, &data, &outputs))?;

    let points_per_step = plan_facts::points_per_step(&program, &size);
    let updates = points_per_step as f64 * arguments.steps as f64;
    let plan = planned.as_ref().map(|planned| &planned.plan);
    let mut notes = notes(&job, &size);
    if planned.is_none() && (arguments.plan.tile.is_some() || arguments.plan.dump.is_some()) {
        notes.push("the reference interpreter has no tiling: --tile and --dump have no effect".to_owned());
    }
    notes.extend(object.iter().flat_map(|object| object.notes.clone()));
    let element = program.fields[0].element;
    Ok(RunReport {
        stencil: program.name.clone(),
        strategy: plan.map(|plan| plan.strategy),
        backend: arguments.backend.name(),
        steps: arguments.steps,
        tile: plan.map(|plan| plan.tile.clone()),
        tile_text: plan.map(|plan| plan.tile.to_string()),
        seconds: timing.median,
        gstencil_per_s: if timing.median > 0.0 { updates / timing.median * 1e-9 } else { 0.0 },
        seconds_all: timing.seconds_all,
        checksum: format!("{checksum:016x}"),
        verified: comparison.as_ref().map(|comparison| comparison.mismatches == 0),
        max_abs_error: comparison.as_ref().map(|comparison| comparison.max_abs_error),
        mismatches: comparison.as_ref().map(|comparison| comparison.mismatches),
        first_mismatch: comparison.and_then(|comparison| comparison.first.map(|first| first.to_string())),
        points_per_step,
        dtype: program.fields.iter().all(|field| field.element == element).then(|| element.name()),
        layout: match arguments.layout {
            _ if data.layout().is_dense() => LayoutName::Dense.name(),
            layout => layout.name(),
        },
        bytes: data.bytes(),
        threads: match &runner {
            Runner::Native(native) => native.library().threads().unwrap_or(1),
            Runner::Reference => rayon::current_num_threads(),
            Runner::Emulator(..) => 1,
        },
        seed: (inputs.len() < program.fields.len()).then_some(arguments.seed),
        parameters: names(&program).zip(parameters.iter().copied()).collect(),
        proof: planned.as_ref().map(|planned| planned.proof.clone()),
        compiler: object.map(|object| object.command),
        emulator,
        outputs: outputs
            .iter()
            .map(|file| (program.field(file.field).name.clone(), file.path.clone()))
            .collect(),
        notes,
        dump: arguments.plan.dump.zip(planned.as_ref()).map(|(stage, planned)| plan::dump(stage, planned)),
        size,
    })
}

fn names(program: &Program) -> impl Iterator<Item = String> + '_ {
    program.parameters.iter().map(|parameter| parameter.name.clone())
}

/// Threads of the interpreter, of initialisation and of comparison.
fn set_threads(arguments: &RunArguments) -> Result<()> {
    let Some(threads) = arguments.threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads as usize)
        .build_global()
        .map_err(|error| Error::infeasible(format!("cannot start {threads} threads: {error}")))
}

/// Plans, generates, compiles and loads what the back end runs.
fn prepare(
    program: &std::sync::Arc<Program>,
    arguments: &RunArguments,
    session: &Session,
) -> Result<Prepared> {
    match arguments.backend {
        BackendName::Reference => {
            plan::strategy_named(&arguments.plan.strategy)?;
            Ok(Prepared { runner: Runner::Reference, planned: None, object: None })
        }
        BackendName::OpenMp => {
            let planned = plan::planned(program, &arguments.plan, Target::OpenMp, session)?;
            let object = session.stage("compile", || compile_openmp(&planned.plan))?;
            let library = NativeLibrary::load(&object.path())?;
            if let Some(threads) = arguments.threads {
                library.set_threads(threads as usize);
            }
            let native = library.program(&format!("{}_invoke", program.name))?;
            Ok(Prepared { runner: Runner::Native(native), planned: Some(planned), object: Some(object) })
        }
        BackendName::Emulator => {
            let planned = plan::planned(program, &arguments.plan, Target::Cuda, session)?;
            let emulator = session.stage("compile", || {
                let device = device_program(&planned.plan)?;
                Ok::<Emulator, Error>(Emulator::compile(&planned.plan, &device)?)
            })?;
            let runner = Runner::Emulator(Box::new(emulator), ThreadOrder::Shuffled(arguments.seed));
            Ok(Prepared { runner, planned: Some(planned), object: None })
        }
        BackendName::Cuda => Err(Error::infeasible("the back end `cuda` is not in this version")
            .hint("`--backend emulator` runs the same kernels on the CPU, and checks every access")),
    }
}

/// The generated kernels.
fn device_program(plan: &KernelPlan) -> Result<DeviceProgram> {
    let cuda = backend::cuda::generate(plan, &CudaOptions::default())?;
    let kernels = cuda.kernels.into_iter().map(|kernel| DeviceKernel {
        symbol: kernel.symbol,
        threads: kernel.threads,
        shared_bytes: kernel.shared_bytes.into(),
    });
    Ok(DeviceProgram { kernels: kernels.collect(), source: cuda.device_source })
}

/// The generated C code as a shared object.
fn compile_openmp(plan: &KernelPlan) -> Result<SharedObject> {
    let name = &plan.program.name;
    let library = [format!("{name}.c"), format!("{name}.h")];
    let files = backend::openmp::generate(plan)?;
    let sources: Vec<SourceText> = files
        .into_iter()
        .filter(|file| library.contains(&file.name))
        .map(|file| SourceText::new(file.name, file.text))
        .collect();
    Ok(compile_shared(&sources, &CompileOptions::default())?)
}

impl Job<'_> {
    /// Runs as often as asked for; `data` start as the initial values and end as the result.
    fn measure(
        &self,
        runner: &Runner,
        data: &mut ProgramData,
        initial: Option<&ProgramData>,
        session: &Session,
    ) -> Result<(Timing, Option<EmulatorReport>)> {
        let warm_up = usize::from(self.repeat > 1);
        let repetition = Repetition { warm_up, runs: self.repeat };
        let total = (self.repeat + warm_up) as i64 * self.steps;
        session.stage_of("run", total as u64, |progress| {
            let mut number = 0;
            let mut found = None;
            let mut state = (data, 0);
            let timing = measure(
                repetition,
                &mut state,
                |(data, before)| {
                    if let (Some(initial), 1..) = (initial, number) {
                        data.copy_from(initial);
                    }
                    *before = number * self.steps;
                    number += 1;
                    Ok(())
                },
                |(data, before)| {
                    found = self.run_once(runner, data, &|done| progress.done(*before + done))?;
                    Ok(())
                },
            )?;
            Ok((timing, found))
        })
    }

    fn run_once(
        &self,
        runner: &Runner,
        data: &mut ProgramData,
        progress: &dyn Fn(i64),
    ) -> std::result::Result<Option<EmulatorReport>, ExecutionError> {
        match runner {
            Runner::Native(native) => {
                pace::run(native, self.program, self.parameters, data, self.steps, progress)?;
            }
            Runner::Emulator(emulator, order) => {
                return emulator.run(self.parameters, data, self.steps, *order).map(Some);
            }
            Runner::Reference => {
                reference::run(self.program, self.parameters, data, self.steps, &mut |done| {
                    progress(done);
                    ControlFlow::Continue(())
                })?;
            }
        }
        Ok(None)
    }
}

fn run_reference(job: &Job<'_>, data: &mut ProgramData, progress: &Progress) -> Result<()> {
    job.run_once(&Runner::Reference, data, &|done| progress.done(done))?;
    Ok(())
}

/// Writes the newest levels, each file complete or not at all.
fn write_outputs(job: &Job<'_>, data: &ProgramData, outputs: &[FieldFile]) -> Result<()> {
    for FieldFile { field, path } in outputs {
        execution::interrupt::check()?;
        npy::write_level(path, data.layout(), data.level(job.program, *field, job.steps))?;
    }
    Ok(())
}

/// Facts worth knowing about the problem.
fn notes(job: &Job<'_>, size: &[i64]) -> Vec<String> {
    let program = job.program;
    let empty = |statement: &usize| program.domain(*statement, size).iter().any(|(low, end)| low >= end);
    (0..program.statements.len())
        .filter(empty)
        .map(|statement| {
            let statement = &program.statements[statement];
            let least: Vec<i64> = statement
                .margin_low
                .iter()
                .zip(&statement.margin_high)
                .map(|(low, high)| low + high + 1)
                .collect();
            format!(
                "the grid is smaller than the stencil: `{}` is computed nowhere (it needs at least {})",
                program.field(statement.target).name,
                report::size(&least)
            )
        })
        .collect()
}

impl Report for RunReport {
    fn passed(&self) -> bool {
        self.verified != Some(false)
            && self.emulator.as_ref().is_none_or(|report| report.total_violations == 0)
    }

    fn text(&self) -> String {
        let mut lines = vec![
            (
                "stencil",
                format!(
                    "{}, {}, {}",
                    self.stencil,
                    report::size(&self.size),
                    report::count(self.steps as u64, "step", "steps")
                ),
            ),
            (
                "backend",
                format!("{}, {}", self.backend, report::count(self.threads as u64, "thread", "threads")),
            ),
        ];
        if let (Some(strategy), Some(tile), Some(proof)) = (self.strategy, &self.tile_text, &self.proof) {
            lines.push(("strategy", strategy.to_owned()));
            lines.push(("tile", tile.clone()));
            lines.push(("proof", plan::proof_text(proof)));
        }
        lines.push(("grid", format!("{}, {} layout", report::bytes(self.bytes as f64), self.layout)));
        let runs = match self.seconds_all.len() {
            1 => String::new(),
            many => format!(" (median of {many} runs)"),
        };
        lines.push(("time", report::seconds(self.seconds) + &runs));
        lines.push(("speed", format!("{:.3} GStencil/s", self.gstencil_per_s)));
        lines.push(("checksum", self.checksum.clone()));
        lines.push((
            "verified",
            match (self.verified, self.mismatches, self.max_abs_error) {
                (Some(true), ..) => "yes: every bit is that of the reference".to_owned(),
                (Some(false), Some(mismatches), Some(error)) => format!(
                    "NO: {mismatches} values differ from the reference by up to {error:e}, first {}",
                    self.first_mismatch.as_deref().unwrap_or("unknown")
                ),
                _ => "not asked for (--verify)".to_owned(),
            },
        ));
        if let Some(report) = &self.emulator {
            let found = match report.total_violations {
                0 => "no violation".to_owned(),
                many => format!("{} VIOLATIONS", many),
            };
            let mut text = format!(
                "{found} in {} ({}, {})",
                report::count(report.launches, "launch", "launches"),
                report::count(report.blocks, "block", "blocks"),
                report::count(report.barriers, "barrier", "barriers"),
            );
            report.violations.iter().for_each(|violation| text.push_str(&format!("\n{violation}")));
            lines.push(("emulator", text));
        }
        let outputs: Vec<String> =
            self.outputs.iter().map(|(field, path)| format!("{field} in {}", path.display())).collect();
        if !outputs.is_empty() {
            lines.push(("written", outputs.join("\n")));
        }
        if !self.notes.is_empty() {
            lines.push(("note", self.notes.join("\n")));
        }
        let dump = self.dump.as_ref().map(|dump| dump.clone() + "\n").unwrap_or_default();
        dump + &report::pairs(&lines)
    }
}
