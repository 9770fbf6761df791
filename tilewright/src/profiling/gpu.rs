//! Profiles of code for GPUs: instructions of warps, sectors of global memory and cycles of shared memory, all over the instructions
//! that are issued. The machine code is counted, as `inspect` does it.

use super::slots::{self, Slots};
use crate::error::{Error, Result};
use crate::inspect::{InspectRequest, KernelInspection, inspect};
use crate::load::Stencil;
use crate::observer::{Observer, Silent};
use crate::plan::{Tiling, plan};
use crate::text;
use ::adaptive::machines::profiles::{Profile, Profiles};
use cost_models::machine::Machine;
use hhc_codegen::backend::cuda::DeviceLimits;
use hhc_codegen::strategy::Target;
use machine_code::{Kind, Launch, Listing, Totals, run};
use toolchain::cache::Cache;
use toolchain::disassembler::Disassembler;
use toolchain::nvrtc::{CudaOptions, Nvrtc};

/// The metrics, in the order of [`metrics`].
const METRICS: [&str; 8] = [
    "inst_fp_32",
    "inst_fp_64",
    "inst_atomic",
    "inst_global",
    "inst_local",
    "global_sectors",
    "inst_shared",
    "shared_wavefronts",
];

/// Metrics from the share that each kind of instructions has, and from sectors and wavefronts per instruction.
fn metrics(share: impl Fn(Kind) -> f64, sectors: f64, wavefronts: f64) -> Vec<f64> {
    vec![
        share(Kind::Single),
        share(Kind::Double),
        share(Kind::Atomic),
        share(Kind::GlobalLoad) + share(Kind::GlobalStore) + share(Kind::Copy),
        share(Kind::Local),
        sectors,
        share(Kind::SharedLoad) + share(Kind::SharedStore),
        wavefronts,
    ]
}

/// Threads of a block of a proxy.
const THREADS: u32 = 64;
/// Rounds of its loop.
const ROUNDS: u64 = 8;

/// One instruction of machine code each; a load needs a store to go to.
fn statement(proxy: &str, at: usize) -> (String, usize) {
    let of = at % 4;
    match proxy {
        "sp-gflop" => (format!("f{of} = f{of} * alpha + beta;"), 1),
        "dp-gflop" => (format!("d{of} = d{of} * scale + shift;"), 1),
        "atomic" if at.is_multiple_of(2) => (format!("atomicAdd(own + {}, x{of});", 256 * at), 1),
        "atomic" => (format!("atomicAdd(near + {}, x{of});", THREADS as usize * (at % 32)), 1),
        "mem-bw" => (format!("far[{}] = far[{}];", 512 * at, 512 * at + 256), 2),
        _ => {
            let place = 2 * THREADS as usize * (at % 15);
            (format!("close[{place}] = close[{}];", place + THREADS as usize), 2)
        }
    }
}

/// The text of all proxies.
fn source() -> String {
    let slots = Slots { integer: |at| format!("x{0} = x{0} * m + c;", at % 4), own: statement };
    let mut text = String::new();
    for (proxy, intensity) in slots::all() {
        text += &format!(
            "extern \"C\" __global__ void {}(unsigned *a, long long rounds, long long multiplier, long long addend)
{{
    __shared__ unsigned s[{}];
    const unsigned t = threadIdx.x, m = (unsigned)multiplier, c = (unsigned)addend;
    unsigned *own = a + (blockIdx.x * blockDim.x + t), *near = s + t;
    volatile unsigned *far = own, *close = near;
    unsigned x0 = t, x1 = t + 1, x2 = t + 2, x3 = t + 3;
    const float alpha = (float)multiplier, beta = (float)addend;
    float f0 = t, f1 = t + 1, f2 = t + 2, f3 = t + 3;
    const double scale = (double)multiplier, shift = (double)addend;
    double d0 = t, d1 = t + 1, d2 = t + 2, d3 = t + 3;
#pragma unroll 1
    for (long long round = 0; round < rounds; ++round) {{
{}    }}
    *own = x0 + x1 + x2 + x3 + (unsigned)(f0 + f1 + f2 + f3) + (unsigned)(d0 + d1 + d2 + d3);
}}
",
            slots::symbol(proxy, intensity),
            32 * THREADS,
            slots.body(proxy, intensity)
        );
    }
    text
}

/// The proxies' profiles: one block of each is run, instruction by instruction.
pub fn proxies(architecture: u32) -> Result<Profiles> {
    let disassembler = Disassembler::find()?;
    let nvrtc = Nvrtc::for_architecture(architecture)?;
    let cache = Cache::open()?;
    let options = CudaOptions { contraction: true, ..CudaOptions::new(architecture) };
    let compiled = nvrtc.compile(&source(), "proxies.cu", &options, &cache)?;
    let listing = Listing::parse(&disassembler.listing(&compiled.cubin, &cache)?)?;
    let arguments = vec![1 << 40, ROUNDS, 5, 3];
    let launch = Launch::new(&listing, [THREADS, 1, 1], [1, 1, 1], arguments, false)?;
    let profile = |(proxy, intensity): (&str, u8)| {
        let kernel = slots::symbol(proxy, intensity);
        let code = listing.kernel(&kernel)?;
        let totals: Totals = run::block(code, &launch, [0, 0, 0], &|| false)?.totals(code);
        let per = |value: f64| value / totals.instructions();
        Ok(Profile {
            variant: proxy.to_owned(),
            kernel,
            input: intensity.to_string(),
            metrics: metrics(|kind| per(totals.of(kind)), per(totals.sectors), per(totals.wavefronts)),
        })
    };
    let rows: Result<Vec<Profile>> = slots::all().map(profile).collect();
    Ok(Profiles::of(&METRICS, rows?))
}

/// A tiling as a variant.
#[derive(Debug, Clone)]
pub struct Tile {
    /// Its name.
    pub variant: String,
    /// What it is.
    pub tiling: Tiling,
}

/// Profiles of tilings of a stencil on a GPU and for its compute capability, kernel by kernel, on each grid with its number of steps.
/// A kernel that a run does not launch has none.
///
/// # Errors
/// As [`inspect`]; tilings that are not possible.
pub fn tilings(
    stencil: &Stencil,
    tiles: &[Tile],
    (machine, architecture): (&Machine, u32),
    inputs: &[(Vec<i64>, i64)],
    observer: &dyn Observer,
) -> Result<Profiles> {
    let mut rows = Vec::new();
    for tile in tiles {
        let planned = plan(stencil, &tile.tiling, Target::Cuda, observer)?;
        for (size, steps) in inputs {
            let limits = DeviceLimits::default();
            let request = InspectRequest { architecture, size, steps: *steps, limits: &limits, machine };
            let counted = inspect(&planned.plan, &request, &Silent)?;
            let input = format!("{}x{steps}", text::size(size));
            for kernel in counted.kernels.iter().filter(|kernel| kernel.launches > 0) {
                rows.push(Profile {
                    variant: tile.variant.clone(),
                    kernel: kernel.kernel.clone(),
                    input: input.clone(),
                    metrics: of_kernel(kernel),
                });
            }
        }
    }
    if rows.is_empty() {
        return Err(Error::wrong_input("nothing is launched").hint("take more time steps"));
    }
    Ok(Profiles::of(&METRICS, rows))
}

/// Shares are those of blocks in the middle of a run, memory that of all its launches.
fn of_kernel(kernel: &KernelInspection) -> Vec<f64> {
    let all = kernel.steady.instructions.max(f64::MIN_POSITIVE);
    let share = |kind: Kind| kernel.steady.kinds.get(kind.name()).copied().unwrap_or(0.0) / all;
    let sum = |of: &dyn Fn(&crate::inspect::LaunchClass) -> f64| -> f64 {
        kernel.classes.iter().map(|class| class.launches as f64 * of(class)).sum()
    };
    let issued = sum(&|class| class.warp_instructions).max(f64::MIN_POSITIVE);
    let (sectors, wavefronts) = (sum(&|class| class.sectors), sum(&|class| class.shared_wavefronts));
    metrics(share, sectors / issued, wavefronts / issued)
}
