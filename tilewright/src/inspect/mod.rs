//! What a tiling's machine code issues on a GPU, counted without one: text, NVRTC, NVIDIA's disassembler, and
//! [`machine_code`], which runs blocks of the launches that a run makes.

mod block;
mod bound;
mod run;

pub use bound::{Bound, Limits};

use crate::error::{Error, Result};
use crate::observer::{Observer, stage};
use block::{Blocks, Share};
use cost_models::machine::Machine;
use execution::launches::{PlannedLaunch, for_each_launch};
use execution::layout::Layout;
use execution::reference::default_parameters;
use hhc_codegen::backend::cuda::{self, CudaOptions, DeviceLimits};
use hhc_codegen::{KernelPlan, plan_counts};
use machine_code::{Kind, Listing, SECTOR};
use run::Class;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use toolchain::cache::Cache;
use toolchain::disassembler::Disassembler;
use toolchain::nvrtc::{self, Nvrtc};

/// What is to be counted.
pub struct InspectRequest<'a> {
    /// Compute capability without the point, as in 90.
    pub architecture: u32,
    /// Grid extents.
    pub size: &'a [i64],
    /// Time steps.
    pub steps: i64,
    /// What the code may use.
    pub limits: &'a DeviceLimits,
    /// The GPU whose limits are asked about.
    pub machine: &'a Machine,
}

/// What was counted.
#[derive(Debug, Clone, Serialize)]
pub struct Inspection {
    /// Compute capability, as in `sm_90`.
    pub architecture: String,
    /// The compiler.
    pub compiler: String,
    /// The disassembler.
    pub disassembler: String,
    /// Grid extents.
    pub size: Vec<i64>,
    /// Time steps.
    pub steps: i64,
    /// Per grid point and time step, over the whole run.
    pub per_point: PerPoint,
    /// The same of the launches and blocks in the middle of the run.
    pub steady: PerPoint,
    /// Registers of a thread, the most of all kernels.
    pub registers: u32,
    /// Bytes per thread that are stored and loaded for want of registers, the most of all kernels.
    pub spill_bytes: u64,
    /// Threads of a block, the most of all kernels.
    pub threads: u64,
    /// Blocks of a launch, the most of all.
    pub blocks: u64,
    /// Bytes of all arrays on the device, spare slots included.
    pub device_bytes: f64,
    /// Rounds of blocks that the multiprocessors of the machine go through in that launch.
    pub waves: f64,
    /// What the block of a launch issues that issues the most, over the mean of its blocks; of all launches together.
    pub imbalance: f64,
    /// Launches of the run.
    pub launches: u64,
    /// The share of the run's points that the counted blocks compute: 1 but for rounding.
    pub covered: f64,
    /// What limits the run on the machine.
    pub bound: Bound,
    /// The same of launches and blocks in the middle of the run.
    pub steady_bound: Bound,
    /// Each kernel.
    pub kernels: Vec<KernelInspection>,
}

/// One kernel.
#[derive(Debug, Clone, Serialize)]
pub struct KernelInspection {
    /// Its name in the text.
    pub kernel: String,
    /// Launches of it.
    pub launches: u64,
    /// Blocks of one in the middle of the run.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u64,
    /// Bytes of shared memory of a block.
    pub shared_bytes_per_block: u64,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes per thread that are stored and loaded for want of registers.
    pub spill_bytes: u64,
    /// Bytes of its code.
    pub code_bytes: u64,
    /// Blocks that a multiprocessor holds at once.
    pub resident: u64,
    /// The share of a multiprocessor's threads that these are.
    pub occupancy: f64,
    /// Rounds of blocks that the multiprocessors go through.
    pub waves: f64,
    /// Per grid point and time step, in the middle of the run.
    pub steady: PerPoint,
    /// Its launches, by what they do, in the order of the run.
    pub classes: Vec<LaunchClass>,
}

/// Launches that do the same, and what one of them issues, as counters of a GPU count it.
#[derive(Debug, Clone, Serialize)]
pub struct LaunchClass {
    /// How many there are.
    pub launches: u64,
    /// Blocks of each.
    pub blocks: u64,
    /// What the block issues that issues the most, over the mean of all.
    pub imbalance: f64,
    /// Grid points times time steps that one computes.
    pub points: f64,
    /// Instructions that its warps issue.
    pub warp_instructions: f64,
    /// Instructions that its lanes execute, those predicated off not counted.
    pub lane_instructions: f64,
    /// Cycles that the banks of shared memory need.
    pub shared_wavefronts: f64,
    /// Sectors of global memory that its warps ask for.
    pub sectors: f64,
    /// Bytes of the sectors that it touches, each one read once and written once.
    pub memory_bytes: f64,
}

/// Counts per grid point and time step. Instructions are those of lanes: what a warp issues counts 32 times, whoever of its
/// lanes takes part.
#[derive(Debug, Clone, Serialize)]
pub struct PerPoint {
    /// All instructions.
    pub instructions: f64,
    /// Sums, products, comparisons and functions of floating-point numbers.
    pub fp: f64,
    /// Integer arithmetic, 64-bit products included, of lanes and of whole warps.
    pub integer: f64,
    /// Bytes that lanes move from and to shared memory.
    pub shared_bytes: f64,
    /// Bytes that lanes move from and to global memory.
    pub global_bytes: f64,
    /// Barriers of a block.
    pub barriers: f64,
    /// Shuffles and votes.
    pub shuffles: f64,
    /// Integer products of 64 bits.
    pub wide_multiplies: f64,
    /// Divisions and remainders of integers in loops, by variables and by constants.
    pub divisions: f64,
    /// Floating-point operations that lanes execute; a fused product and sum is two.
    pub operations: f64,
    /// Bytes of the sectors of global memory that warps ask for.
    pub sector_bytes: f64,
    /// Bytes of the sectors of global memory that a launch touches, each one read once and written once.
    pub memory_bytes: f64,
    /// Cycles of the banks of shared memory over what they would be without conflicts; 1 where there is nothing.
    pub bank_conflict_factor: f64,
    /// Bytes of spilled registers and local arrays.
    pub local_bytes: f64,
    /// Branches whose way depends on values: that of ordinary numbers was taken.
    pub branches_on_values: f64,
    /// Instructions by kind.
    pub kinds: BTreeMap<&'static str, f64>,
}

impl LaunchClass {
    fn of(class: &Class) -> LaunchClass {
        let own = &class.launched.all;
        LaunchClass {
            launches: class.times as u64,
            blocks: own.blocks as u64,
            imbalance: class.launched.imbalance(),
            points: own.points,
            warp_instructions: own.totals.instructions(),
            lane_instructions: own.totals.lanes,
            shared_wavefronts: own.totals.wavefronts,
            sectors: own.totals.sectors,
            memory_bytes: (own.sectors_read + own.sectors_written) * SECTOR as f64,
        }
    }
}

const LANES: f64 = nvrtc::WARP as f64;

impl PerPoint {
    fn of(share: &Share) -> PerPoint {
        let totals = &share.totals;
        let points = share.points.max(f64::MIN_POSITIVE);
        let of = |kinds: &[Kind]| kinds.iter().map(|&kind| totals.of(kind)).sum::<f64>() * LANES / points;
        let per = |value: f64| value / points;
        PerPoint {
            instructions: totals.instructions() * LANES / points,
            fp: of(&[Kind::Single, Kind::Double, Kind::OtherFloat, Kind::Function]),
            integer: of(&[Kind::Integer, Kind::WideMultiply, Kind::Uniform]),
            shared_bytes: per(totals.shared_bytes),
            global_bytes: per(totals.read_bytes + totals.written_bytes),
            barriers: of(&[Kind::Barrier]),
            shuffles: of(&[Kind::Shuffle]),
            wide_multiplies: of(&[Kind::WideMultiply]),
            divisions: totals.divisions * LANES / points,
            operations: per(totals.operations),
            sector_bytes: per(totals.sectors * SECTOR as f64),
            memory_bytes: per((share.sectors_read + share.sectors_written) * SECTOR as f64),
            bank_conflict_factor: match totals.least_wavefronts > 0.0 {
                true => totals.wavefronts / totals.least_wavefronts,
                false => 1.0,
            },
            local_bytes: per(totals.local_bytes),
            branches_on_values: per(totals.branches_on_values),
            kinds: Kind::ALL.iter().map(|&kind| (kind.name(), of(&[kind]))).collect(),
        }
    }
}

/// Counts what the code of a plan issues.
///
/// # Errors
/// A grid of the wrong dimension; no NVRTC, no disassembler; machine code that cannot be counted.
pub fn inspect(
    plan: &KernelPlan,
    request: &InspectRequest<'_>,
    observer: &dyn Observer,
) -> Result<Inspection> {
    let program = &plan.program;
    let layout = Layout::dense(program, request.size)?;
    let gpu = request.machine.gpu().ok_or_else(|| {
        Error::infeasible(format!(
            "machine `{}` is no GPU, and only code of GPUs is counted",
            request.machine.name
        ))
    })?;
    // Before the long work: whether it can be done.
    let disassembler = Disassembler::find()?;
    let nvrtc = Nvrtc::for_architecture(request.architecture)?;
    let cache = Cache::open()?;
    let cuda = cuda::generate(plan, &CudaOptions { limits: request.limits.clone() })?;
    let compiled = stage(observer, "compile", || {
        let options = nvrtc::CudaOptions::new(request.architecture);
        nvrtc.compile(&cuda.device_source, &format!("{}.cu", program.name), &options, &cache)
    })?;
    let text = stage(observer, "disassemble", || disassembler.listing(&compiled.cubin, &cache))?;
    let listing = Listing::parse(&text)?;
    let mut launches: Vec<Vec<PlannedLaunch>> = vec![Vec::new(); plan.kernels.len()];
    for_each_launch(plan, &layout, request.steps, |launch| {
        launches[launch.kernel].push(launch.clone());
        Ok(())
    })?;
    let parameters = default_parameters(program);
    let blocks = Blocks {
        plan,
        cuda: &cuda,
        listing: &listing,
        layout: &layout,
        steps: request.steps,
        parameters: &parameters,
        known: Mutex::default(),
        irregular: AtomicBool::default(),
    };
    let classes = stage(observer, "count", || {
        launches.iter().map(|launches| run::classes(&blocks, launches)).collect::<Result<Vec<_>>>()
    })?;
    let all = run::sum(classes.iter().flatten());
    let steady = || classes.iter().flatten().filter(|class| class.steady);
    let mut middle = Share::default();
    for class in steady() {
        middle.add(&class.launched.middle, class.launched.all.blocks);
    }
    let mut kernels = Vec::new();
    for ((kernel, classes), own) in cuda.kernels.iter().zip(&classes).zip(&launches) {
        let needs = compiled.kernels.iter().find(|needs| needs.kernel == kernel.symbol);
        let registers = needs.map_or(0, |needs| needs.registers);
        let threads: u64 = kernel.threads.iter().map(|&count| u64::from(count)).product();
        let resident = bound::resident(gpu, threads, registers, kernel.shared_bytes.into());
        let class = classes.iter().find(|class| class.steady);
        let blocks = class.map_or(0.0, |class| class.launched.all.blocks);
        kernels.push(KernelInspection {
            kernel: kernel.symbol.clone(),
            launches: own.len() as u64,
            blocks: blocks as u64,
            threads,
            shared_bytes_per_block: kernel.shared_bytes.into(),
            registers,
            spill_bytes: needs.map_or(0, |needs| needs.spill_bytes),
            code_bytes: listing.kernel(&kernel.symbol)?.bytes(),
            resident,
            occupancy: (resident * threads) as f64 / gpu.threads_per_sm as f64,
            waves: bound::waves(gpu, blocks, resident),
            steady: PerPoint::of(&class.map_or_else(Share::default, |class| class.launched.middle)),
            classes: classes.iter().map(LaunchClass::of).collect(),
        });
    }
    let largest = kernels.iter().max_by_key(|kernel| kernel.blocks);
    let expected = plan_counts::points_per_step(program, request.size) as f64 * request.steps as f64;
    Ok(Inspection {
        architecture: format!("sm_{}", request.architecture),
        compiler: format!("NVRTC {}", nvrtc.version()),
        disassembler: format!("nvdisasm {}", disassembler.version()),
        size: request.size.to_vec(),
        steps: request.steps,
        per_point: PerPoint::of(&all),
        steady: PerPoint::of(&middle),
        registers: kernels.iter().map(|kernel| kernel.registers).max().unwrap_or(0),
        spill_bytes: kernels.iter().map(|kernel| kernel.spill_bytes).max().unwrap_or(0),
        threads: kernels.iter().map(|kernel| kernel.threads).max().unwrap_or(0),
        blocks: largest.map_or(0, |kernel| kernel.blocks),
        device_bytes: request.size.iter().map(|&extent| extent as f64).product::<f64>()
            * plan.bytes_of_a_point() as f64,
        waves: largest.map_or(0.0, |kernel| kernel.waves),
        imbalance: run::imbalance(classes.iter().flatten()),
        launches: launches.iter().map(|own| own.len() as u64).sum(),
        covered: if expected > 0.0 { all.points / expected } else { 1.0 },
        bound: bound::of(request.machine, gpu, classes.iter().flatten()),
        steady_bound: bound::of(request.machine, gpu, steady()),
        kernels,
    })
}
