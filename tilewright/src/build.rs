//! A stencil made ready to run: tile sizes chosen, planned, proved, generated, compiled and loaded.

use crate::backend::Backend;
use crate::choice::{self, Chosen, TileBy, Wish, machine_of_device};
use crate::contest::WholeRuns;
use crate::error::{Error, Result};
use crate::load::Stencil;
use crate::observer::{Observer, stage};
use crate::pace;
use crate::plan::{Tiling, plan};
use crate::runner::Runner;
use crate::strategies;
use cost_models::machine::Machine;
use execution::cuda::{CudaProgramOnDevice, limits};
use execution::device_program::DeviceProgram;
use execution::emulator::{Emulator, ThreadOrder};
use execution::tiled::{self, Tiled};
use hhc_codegen::backend::cuda::CudaOptions;
use hhc_codegen::pipeline::Planned;
use hhc_codegen::plan_counts::steps_of_tile;
use hhc_codegen::strategy::Target;
use hhc_codegen::{KernelPlan, backend};
use polyhedral::arithmetic::Arithmetic;
use toolchain::cache::Cache;
use toolchain::compiler::CompileOptions;
use toolchain::driver::Device;

/// What is to be built.
#[derive(Debug, Clone)]
pub struct BuildRequest<'a> {
    /// What shall run it.
    pub backend: Backend,
    /// The tiling; what it leaves open is chosen.
    pub tiling: Tiling,
    /// Grid extents that tile sizes are chosen for.
    pub size: &'a [i64],
    /// Time steps that they are chosen for.
    pub steps: i64,
    /// The machine that they are chosen for; this one, where there is none.
    pub machine: Option<&'a Machine>,
    /// Threads of the CPU; all where not given.
    pub threads: Option<usize>,
    /// Who chooses tile sizes for this computer's CPU.
    pub tile_by: TileBy,
    /// Whether this computer may be measured for some seconds, where it was not.
    pub calibrate: bool,
    /// What code may compute in place of the program's own operations; then see [`crate::contract::error_bound`]. Compiled C may
    /// contract, as its compiler likes.
    pub arithmetic: Arithmetic,
    /// Seed of the order in which the emulator runs threads.
    pub seed: u64,
    /// Number of the device that runs it, where one does.
    pub device: usize,
}

impl<'a> BuildRequest<'a> {
    /// A tiling of our own choice, for this machine and all of its threads.
    pub fn new(backend: Backend, size: &'a [i64], steps: i64) -> BuildRequest<'a> {
        BuildRequest {
            backend,
            tiling: Tiling::default(),
            size,
            steps,
            machine: None,
            threads: None,
            tile_by: TileBy::Guarded,
            calibrate: true,
            arithmetic: Arithmetic::default(),
            seed: 1,
            device: 0,
        }
    }
}

/// A runner and what was found out on the way to it.
pub struct Built {
    /// The runner.
    pub runner: Runner,
    /// The plan; none for the interpreter.
    pub planned: Option<Planned>,
    /// The compiler's command line.
    pub compiler: Option<String>,
    /// Facts worth knowing.
    pub notes: Vec<String>,
    /// How long calls are that can be stopped.
    pub(crate) speed: pace::Speed,
    /// Where it is kept how long runs take, for later choices of tile sizes.
    pub(crate) whole_runs: Option<WholeRuns>,
}

/// Plans, generates, compiles and loads what the back end runs.
///
/// # Errors
/// An infeasible tiling, a compiler that is missing or fails, a device that is missing.
pub fn build(stencil: &Stencil, request: &BuildRequest<'_>, observer: &dyn Observer) -> Result<Built> {
    refuse(request)?;
    let own;
    let stencil = match request.backend {
        Backend::Emulator | Backend::Cuda if !request.arithmetic.is_exact() => {
            own = stencil.with_arithmetic(request.arithmetic);
            &own
        }
        _ => stencil,
    };
    match request.backend {
        Backend::Reference => {
            strategies::named(&request.tiling.strategy)?;
            let speed = pace::Speed::of(&stencil.program);
            Ok(Built {
                runner: Runner::Reference,
                planned: None,
                compiler: None,
                notes: Vec::new(),
                speed,
                whole_runs: None,
            })
        }
        Backend::OpenMp => openmp(stencil, request, observer),
        Backend::Emulator => emulator(stencil, request, observer),
        Backend::Cuda => cuda(stencil, request, observer),
    }
}

/// Refuses arithmetic that the back end does not have.
fn refuse(request: &BuildRequest<'_>) -> Result<()> {
    let Arithmetic { contract, approximate } = request.arithmetic;
    let refused = match request.backend {
        Backend::Reference => contract || approximate,
        Backend::OpenMp => approximate,
        Backend::Emulator | Backend::Cuda => false,
    };
    match (refused, approximate) {
        (false, _) => Ok(()),
        (true, true) => Err(Error::wrong_input("only code of GPUs has approximate roots and divisions")
            .hint("use --backend cuda or emulator, or leave out --fast-math")),
        (true, false) => Err(Error::wrong_input("the reference contracts nothing")
            .hint("use another --backend, or leave out --contract")),
    }
}

fn openmp(stencil: &Stencil, request: &BuildRequest<'_>, observer: &dyn Observer) -> Result<Built> {
    let mut chosen = chosen(stencil, request, Target::OpenMp, None, observer)?;
    let planned = plan(stencil, &chosen.tiling, Target::OpenMp, observer)?;
    let options = CompileOptions { contraction: request.arithmetic.contract, ..CompileOptions::default() };
    // What was timed in order to choose does not contract.
    let Tiled { native, object } = match chosen.tiled.take().filter(|_| !request.arithmetic.contract) {
        Some(tiled) => tiled,
        None => stage(observer, "compile", || tiled::load_with(&planned.plan, &options))?,
    };
    if let Some(threads) = request.threads {
        native.library().set_threads(threads);
    }
    Ok(Built {
        runner: Runner::OpenMp(native, steps_of_tile(&planned.plan)),
        planned: Some(planned),
        compiler: Some(object.command),
        notes: object.notes.into_iter().chain(chosen.notes()).collect(),
        speed: pace::Speed::of(&stencil.program),
        // What contracts is other code.
        whole_runs: chosen.whole_runs.filter(|_| !request.arithmetic.contract),
    })
}

fn emulator(stencil: &Stencil, request: &BuildRequest<'_>, observer: &dyn Observer) -> Result<Built> {
    let chosen = chosen(stencil, request, Target::Cuda, None, observer)?;
    let planned = plan(stencil, &chosen.tiling, Target::Cuda, observer)?;
    let emulator = stage(observer, "compile", || {
        let device = device_program(&planned.plan, &CudaOptions::default())?;
        Ok::<_, Error>(Emulator::compile(&planned.plan, &device)?)
    })?;
    // An order that depends on the seed finds more than the usual one.
    let runner = Runner::Emulator(Box::new(emulator), ThreadOrder::Shuffled(request.seed));
    let notes = chosen.notes().collect();
    let speed = pace::Speed::of(&stencil.program);
    Ok(Built { runner, planned: Some(planned), compiler: None, notes, speed, whole_runs: None })
}

fn cuda(stencil: &Stencil, request: &BuildRequest<'_>, observer: &dyn Observer) -> Result<Built> {
    let device = stage(observer, "device", || Device::open(request.device))?;
    let known = machine_of_device(&device.facts().name);
    let chosen = chosen(stencil, request, Target::Cuda, known.as_ref(), observer)?;
    let planned = plan(stencil, &chosen.tiling, Target::Cuda, observer)?;
    let (loaded, notes) = stage(observer, "compile", || {
        let options = CudaOptions { limits: limits(device.facts()) };
        let text = device_program(&planned.plan, &options)?;
        let loaded = CudaProgramOnDevice::load(&device, &planned.plan, &text, false, &Cache::open()?)?;
        let notes = loaded.compiled().warnings.iter().cloned().chain(chosen.notes()).collect();
        Ok::<_, Error>((loaded, notes))
    })?;
    let runner = Runner::Cuda(Box::new(loaded), device);
    let speed = pace::Speed::of(&stencil.program);
    Ok(Built { runner, planned: Some(planned), compiler: None, notes, speed, whole_runs: None })
}

/// Tile sizes, the user's or the model's.
fn chosen(
    stencil: &Stencil,
    request: &BuildRequest<'_>,
    target: Target,
    device: Option<&Machine>,
    observer: &dyn Observer,
) -> Result<Chosen> {
    let threads = request.threads.and_then(|threads| i64::try_from(threads).ok());
    let wish = Wish {
        timed: None,
        size: Some(request.size),
        steps: Some(request.steps),
        calls: 1,
        machine: request.machine.or(device),
        threads: threads.filter(|_| target == Target::OpenMp),
        by: request.tile_by,
        calibrate: request.calibrate,
        runs: true,
        machine_code: request.backend == Backend::Cuda,
        company: None,
    };
    choice::choose(stencil, &request.tiling, target, &wish, observer)
}

/// The generated kernels.
fn device_program(plan: &KernelPlan, options: &CudaOptions) -> Result<DeviceProgram> {
    Ok(DeviceProgram::from(&backend::cuda::generate(plan, options)?))
}
