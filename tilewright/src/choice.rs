//! Which tile sizes are used where none are given.

use crate::cpu_model::{CpuModel, usable_threads, usual_machine};
use crate::error::{Error, Result};
use crate::gpu_model::GpuModel;
use crate::load::Stencil;
use crate::observer::{Observer, stage};
use crate::plan::Tiling;
use crate::text;
use cost_models::machine::{Machine, MachineKind, names as machine_names, shipped};
use hhc_codegen::backend::cuda::DeviceLimits;
use hhc_codegen::strategy::{self, Target};
use optimizer::{Method, Objective, tune};

/// What is known of the execution that the sizes are for.
pub struct Wish<'a> {
    /// Grid extents.
    pub size: Option<&'a [i64]>,
    /// Time steps.
    pub steps: Option<i64>,
    /// The machine.
    pub machine: Option<&'a Machine>,
    /// Threads of a CPU; where neither they nor a machine are given, all that this program may use.
    pub threads: Option<i64>,
    /// Whether a model may search for sizes where no machine is named.
    pub search: bool,
}

/// The choice.
pub struct Chosen {
    /// The strategy, with tile sizes filled in.
    pub tiling: Tiling,
    /// Who chose, for the report.
    pub by: String,
    /// Whether the cost model chose.
    pub tuned: bool,
    /// What CUDA code may use.
    pub limits: DeviceLimits,
}

impl Chosen {
    /// A note for the report, where the sizes were not given.
    pub fn note(&self) -> Option<String> {
        self.tuned.then(|| format!("tile sizes {}", self.by))
    }
}

/// The shipped machine that a device is, by its name: `NVIDIA H100 80GB HBM3` is `h100`.
pub fn machine_of_device(device: &str) -> Option<Machine> {
    let plain: String = device.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    let name = machine_names().into_iter().find(|name| plain.contains(name))?;
    shipped(name)?.ok().filter(|machine| machine.kind == MachineKind::Gpu)
}

/// Time steps that tiles are chosen for where none are given.
const USUAL_STEPS: i64 = 1000;

/// Chooses. Sizes that the user gave are kept; with some of them given, the others are the strategy's defaults. Code for
/// a CPU is for this computer where no machine is named; CUDA code then has the strategy's defaults, which suit every
/// device.
///
/// # Errors
/// A machine that is not of the target's kind, or on which no tile fits.
pub fn choose(
    stencil: &Stencil,
    wanted: &Tiling,
    target: Target,
    wish: &Wish<'_>,
    observer: &dyn Observer,
) -> Result<Chosen> {
    let kind = match target {
        Target::Cuda => MachineKind::Gpu,
        Target::OpenMp => MachineKind::Cpu,
    };
    if let Some(machine) = wish.machine.filter(|machine| machine.kind != kind) {
        let (is, code) = match machine.kind {
            MachineKind::Gpu => ("a GPU", "--target cuda"),
            MachineKind::Cpu => ("a CPU", "--target openmp"),
        };
        return Err(Error::infeasible(format!(
            "machine `{}` is {is}, which runs code for {code} only",
            machine.name
        )));
    }
    let mut limits = DeviceLimits::default();
    let given = |by: &str, limits| Chosen { tiling: wanted.clone(), by: by.to_owned(), tuned: false, limits };
    let size = match wish.size {
        Some(size) => size.to_vec(),
        None => [&[1 << 26][..], &[8192, 8192], &[512, 512, 512]][stencil.program.dimension() - 1].to_vec(),
    };
    let steps = wish.steps.unwrap_or(USUAL_STEPS).max(1);
    let machine = match (target, wish.machine) {
        (Target::OpenMp, _) if wanted.tile.is_some() => return Ok(given("as given", limits)),
        (Target::OpenMp, None) if !wish.search => return Ok(given("default sizes of the strategy", limits)),
        (Target::OpenMp, machine) => return on_cpu(stencil, wanted, &size, steps, machine, wish, observer),
        (Target::Cuda, Some(machine)) => machine.clone(),
        (Target::Cuda, None) => {
            let by = if wanted.tile.is_some() { "as given" } else { "default sizes of the strategy" };
            return Ok(given(by, limits));
        }
    };
    let modelled = GpuModel::new(stencil, &size, steps, machine)?;
    limits = modelled.limits();
    if wanted.tile.is_some() {
        return Ok(given("as given", limits));
    }
    let known = strategy::by_name(&wanted.strategy)?.id();
    let request = modelled.request(Objective::Time, known)?;
    let tuned = stage(observer, "tune", || tune(&request, Method::Exact))?;
    let tiling = Tiling { tile: Some(tuned.choice.tile), ..wanted.clone() };
    let by = format!("chosen by the cost model for {}", modelled.machine.name);
    Ok(Chosen { tiling, by, tuned: true, limits })
}

/// The choice for a CPU. A grid on which nothing is computed keeps the strategy's own sizes.
fn on_cpu(
    stencil: &Stencil,
    wanted: &Tiling,
    size: &[i64],
    steps: i64,
    machine: Option<&Machine>,
    wish: &Wish<'_>,
    observer: &dyn Observer,
) -> Result<Chosen> {
    let limits = DeviceLimits::default();
    let threads = wish.threads.or_else(|| machine.is_none().then(usable_threads));
    let named = machine.cloned().map_or_else(usual_machine, Ok)?;
    let by = format!(
        "chosen by the cost model for {}{}",
        named.name,
        threads
            .map(|threads| format!(" with {}", text::count(threads as u64, "thread", "threads")))
            .unwrap_or_default()
    );
    let known = strategy::by_name(&wanted.strategy)?.id();
    let tuned = stage(observer, "tune", || {
        CpuModel::new(stencil, size, steps, named, threads)?.tune(known, Method::Exact, Objective::Time)
    });
    match tuned {
        Ok(tuned) => {
            let tile = tuned.into_iter().next().map(|tuned| tuned.choice.tile);
            Ok(Chosen { tiling: Tiling { tile, ..wanted.clone() }, by, tuned: true, limits })
        }
        Err(error) if machine.is_some() => Err(error),
        Err(_) => {
            let by = "default sizes of the strategy".to_owned();
            Ok(Chosen { tiling: wanted.clone(), by, tuned: false, limits })
        }
    }
}
