//! What runs a program: the reference interpreter, compiled C, the CUDA emulator or a GPU, made ready and called
//! in one way.

use crate::arguments::{BackendName, RunArguments};
use crate::error::{Error, Result};
use crate::list::Backend;
use crate::progress::Session;
use crate::tile_choice::{self, Chosen, Wish};
use crate::{machine, pace, plan, strategies};
use cost_models::machine::Machine;
use execution::c_compiler::{CompileOptions, Compiler, Language, SourceText, compile_shared};
use execution::cache::Cache;
use execution::cuda::{CudaProgramOnDevice, Device};
use execution::device_program::DeviceProgram;
use execution::emulator::{Emulator, EmulatorReport, ThreadOrder};
use execution::grid::ProgramData;
use execution::native::{NativeLibrary, NativeProgram};
use execution::{ExecutionError, reference};
use hhc_codegen::backend::cuda::CudaOptions;
use hhc_codegen::pipeline::Planned;
use hhc_codegen::plan_counts::steps_of_tile;
use hhc_codegen::strategy::Target;
use hhc_codegen::{KernelPlan, backend};
use polyhedral::program::Program;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

/// What to run.
pub struct Job<'a> {
    /// The program.
    pub program: &'a Program,
    /// One value for each of its parameters.
    pub parameters: &'a [f64],
    /// Number of time steps.
    pub steps: i64,
}

/// One run.
pub struct Run {
    /// Its time, without copies to and from a device.
    pub seconds: f64,
    /// Kernel launches, where they are counted.
    pub launches: Option<u64>,
    /// What the emulator's checks found.
    pub emulator: Option<EmulatorReport>,
}

/// What runs the program.
pub enum Runner {
    /// The interpreter.
    Reference,
    /// Compiled C, with the number of time steps of a band of its tiles.
    OpenMp(NativeProgram, i64),
    /// The CUDA kernels on the CPU, threads in this order.
    Emulator(Box<Emulator>, ThreadOrder),
    /// The CUDA kernels on a device.
    Cuda(Box<CudaProgramOnDevice>, Device),
}

/// A runner and what was found out on the way to it.
pub struct Prepared {
    /// The runner.
    pub runner: Runner,
    /// The plan; none for the interpreter.
    pub planned: Option<Planned>,
    /// The compiler's command line.
    pub compiler: Option<String>,
    /// Facts worth knowing.
    pub notes: Vec<String>,
}

/// The back ends, and whether they are available on this machine.
pub fn backends() -> Vec<Backend> {
    let compiled = |name: BackendName, language, what: &str| match Compiler::find(language) {
        Ok(compiler) => (name, true, format!("{what}, with {}", compiler.version())),
        Err(error) => (name, false, error.to_string()),
    };
    let cuda = match execution::cuda::is_available() {
        Ok(device) => (BackendName::Cuda, true, format!("the CUDA code on {}", device.name)),
        Err(error) => (BackendName::Cuda, false, error.to_string()),
    };
    [
        compiled(BackendName::OpenMp, Language::C, "compiled C on all cores"),
        cuda,
        compiled(BackendName::Emulator, Language::Cxx, "the CUDA code on the CPU, every access checked"),
        (BackendName::Reference, true, "the plain interpreter that defines the right result".to_owned()),
    ]
    .map(|(name, available, description)| Backend { name: name.name(), available, description })
    .into()
}

impl Prepared {
    /// Plans, generates, compiles and loads what the back end runs.
    ///
    /// # Errors
    /// An infeasible tiling, a compiler that is missing or fails, a device that is missing.
    pub fn new(
        program: &Arc<Program>,
        arguments: &RunArguments,
        size: &[i64],
        session: &Session,
    ) -> Result<Prepared> {
        match arguments.backend {
            BackendName::Reference => {
                strategies::named(&arguments.plan.strategy)?;
                Ok(Prepared { runner: Runner::Reference, planned: None, compiler: None, notes: Vec::new() })
            }
            BackendName::OpenMp => openmp(program, arguments, size, session),
            BackendName::Emulator => emulator(program, arguments, size, session),
            BackendName::Cuda => cuda(program, arguments, size, session),
        }
    }
}

fn openmp(
    program: &Arc<Program>,
    arguments: &RunArguments,
    size: &[i64],
    session: &Session,
) -> Result<Prepared> {
    let chosen = chosen(program, arguments, size, Target::OpenMp, None, session)?;
    let planned = plan::planned(program, &chosen.plan, Target::OpenMp, session)?;
    let object = session.stage("compile", || {
        let library = [format!("{}.c", program.name), format!("{}.h", program.name)];
        let files = backend::openmp::generate(&planned.plan)?;
        let files = files.into_iter().filter(|file| library.contains(&file.name));
        let sources: Vec<SourceText> = files.map(|file| SourceText::new(file.name, file.text)).collect();
        Ok::<_, Error>(compile_shared(&sources, &CompileOptions::default())?)
    })?;
    let library = NativeLibrary::load(&object.path())?;
    if let Some(threads) = arguments.threads {
        library.set_threads(threads as usize);
    }
    let native = library.program(&format!("{}_invoke", program.name))?;
    Ok(Prepared {
        runner: Runner::OpenMp(native, steps_of_tile(&planned.plan)),
        planned: Some(planned),
        compiler: Some(object.command),
        notes: object.notes.into_iter().chain(chosen.note()).collect(),
    })
}

fn emulator(
    program: &Arc<Program>,
    arguments: &RunArguments,
    size: &[i64],
    session: &Session,
) -> Result<Prepared> {
    let chosen = chosen(program, arguments, size, Target::Cuda, None, session)?;
    let planned = plan::planned(program, &chosen.plan, Target::Cuda, session)?;
    let emulator = session.stage("compile", || {
        let device = device_program(&planned.plan, &CudaOptions::default())?;
        Ok::<_, Error>(Emulator::compile(&planned.plan, &device)?)
    })?;
    // An order that depends on the seed finds more than the usual one.
    let runner = Runner::Emulator(Box::new(emulator), ThreadOrder::Shuffled(arguments.seed));
    Ok(Prepared {
        runner,
        planned: Some(planned),
        compiler: None,
        notes: chosen.note().into_iter().collect(),
    })
}

/// Tile sizes, the user's or the model's.
fn chosen(
    program: &Arc<Program>,
    arguments: &RunArguments,
    size: &[i64],
    target: Target,
    device: Option<Machine>,
    session: &Session,
) -> Result<Chosen> {
    let named = arguments.machine.as_deref().map(machine::machine).transpose()?;
    let machine = named.or(device);
    let threads = arguments
        .threads
        .and_then(|threads| i64::try_from(threads).ok())
        .filter(|_| target == Target::OpenMp);
    let wish = Wish {
        size: Some(size),
        steps: Some(arguments.steps),
        machine: machine.as_ref(),
        threads,
        search: true,
    };
    tile_choice::choose(program, &arguments.plan, target, &wish, session)
}

fn cuda(
    program: &Arc<Program>,
    arguments: &RunArguments,
    size: &[i64],
    session: &Session,
) -> Result<Prepared> {
    let device = session.stage("device", || Device::open(0))?;
    let known = tile_choice::machine_of_device(&device.facts().name);
    let chosen = chosen(program, arguments, size, Target::Cuda, known, session)?;
    let planned = plan::planned(program, &chosen.plan, Target::Cuda, session)?;
    let (loaded, notes) = session.stage("compile", || {
        let limits = device.facts().limits();
        let text = device_program(&planned.plan, &CudaOptions { limits })?;
        let loaded = CudaProgramOnDevice::load(&device, &planned.plan, &text, false, &Cache::open()?)?;
        let notes = loaded.compiled().warnings.iter().cloned().chain(chosen.note()).collect();
        Ok::<_, Error>((loaded, notes))
    })?;
    let runner = Runner::Cuda(Box::new(loaded), device);
    Ok(Prepared { runner, planned: Some(planned), compiler: None, notes })
}

/// The generated kernels.
fn device_program(plan: &KernelPlan, options: &CudaOptions) -> Result<DeviceProgram> {
    Ok(DeviceProgram::from(&backend::cuda::generate(plan, options)?))
}

impl Runner {
    /// Runs all steps from the initial levels in `data` and leaves the newest levels there; `progress` gets the
    /// number of steps done, where that is known before the end.
    ///
    /// # Errors
    /// As for the back ends.
    pub fn run(
        &self,
        job: &Job<'_>,
        data: &mut ProgramData,
        progress: &dyn Fn(i64),
    ) -> std::result::Result<Run, ExecutionError> {
        let Job { program, parameters, steps } = *job;
        let start = Instant::now();
        let mut run = Run { seconds: 0.0, launches: None, emulator: None };
        match self {
            Runner::Reference => {
                reference::run(program, parameters, data, steps, &mut |done| {
                    progress(done);
                    ControlFlow::Continue(())
                })?;
            }
            Runner::OpenMp(native, band) => {
                pace::run((native, *band), program, parameters, data, steps, progress)?;
            }
            Runner::Emulator(emulator, order) => {
                let report = emulator.run(parameters, data, steps, *order)?;
                run.launches = Some(report.launches);
                run.emulator = Some(report);
            }
            Runner::Cuda(loaded, _) => {
                let mut on_device = loaded.upload(data)?;
                let measured = loaded.run(parameters, &mut on_device, steps)?;
                loaded.download(&on_device, data)?;
                return Ok(Run {
                    seconds: measured.seconds,
                    launches: Some(measured.launches),
                    emulator: None,
                });
            }
        }
        run.seconds = start.elapsed().as_secs_f64();
        Ok(run)
    }

    /// Threads of the CPU that compute; none where a device does.
    pub fn threads(&self) -> Option<usize> {
        match self {
            Runner::Reference => Some(rayon::current_num_threads()),
            Runner::OpenMp(native, _) => Some(native.library().threads().unwrap_or(1)),
            Runner::Emulator(..) => Some(1),
            Runner::Cuda(..) => None,
        }
    }

    /// Name of the device, where one computes.
    pub fn device(&self) -> Option<String> {
        match self {
            Runner::Cuda(_, device) => Some(device.facts().name.clone()),
            _ => None,
        }
    }
}
