//! The best tile of a model whose kernels keep everything in registers.
//!
//! Before the compiler has spoken, registers are an estimate. Where NVRTC is at hand the best tile is compiled; one that
//! spills is passed over, with all whose code differs from its code in the bounds of loops alone, and the next one is tried.
//! Where it is not, tiles are passed over that may need more registers than they are given.

use crate::error::{Error, Result};
use crate::gpu_model::GpuModel;
use hhc_codegen::TileSizes;
use hhc_codegen::backend::cuda::{CudaOptions, DeviceLimits, generate};
use hhc_codegen::counts::Problem;
use hhc_codegen::strategy::{self, Strategy};
use optimizer::{Family, Method, Objective, Request, Tuned, tune};
use toolchain::cache::Cache;
use toolchain::nvrtc::Nvrtc;

/// Compute capabilities that code for any GPU is compiled for, and that its manifest has figures for.
pub(crate) const ARCHITECTURES: [u32; 3] = [70, 80, 90];

/// Tiles that are compiled before the others are judged by the estimate, too; after as many more, a strategy all of whose tiles
/// spill is left out where there is another one.
const MOST_COMPILED: usize = 2;

/// The tile, and how it was found.
pub struct Finalist<'a> {
    /// The best tile of those that were not passed over.
    pub tuned: Tuned,
    /// What was searched.
    pub request: Request<'a>,
    /// Tiles that were passed over, and why.
    pub notes: Vec<String>,
}

/// What the compiler says of a tile.
pub(crate) enum Verdict {
    /// Nothing is kept in memory that belongs into registers.
    Clean,
    /// So many bytes of a thread are.
    Spills { bytes: u64, architecture: u32 },
    /// It could not be asked.
    Unknown,
}

/// The best tile of a strategy, or of all that a choice considers for `auto`, for the model's machine.
///
/// # Errors
/// No tile fits, or the objective needs energies that the machine has not.
pub fn finalist<'a>(
    model: &'a GpuModel,
    objective: Objective,
    strategy: &str,
    method: Method,
) -> Result<Finalist<'a>> {
    on_machine(model, model.request(objective, strategy)?, method)
}

/// The same for a request.
pub(crate) fn on_machine<'a>(
    model: &'a GpuModel,
    request: Request<'a>,
    method: Method,
) -> Result<Finalist<'a>> {
    let own = model.machine.gpu().and_then(|facts| u32::try_from(facts.compute_capability).ok());
    among(model, request, method, own.as_slice())
}

/// The same for devices of several architectures.
pub(crate) fn among<'a>(
    model: &'a GpuModel,
    mut request: Request<'a>,
    method: Method,
    architectures: &[u32],
) -> Result<Finalist<'a>> {
    let mut notes = Vec::new();
    let mut compiled = 0;
    while compiled < 3 * MOST_COMPILED {
        request.sure_of_registers = compiled >= MOST_COMPILED;
        let Ok(tuned) = tune(&request, method) else { break };
        let (strategy, tile) = (strategy::by_name(tuned.choice.strategy)?, &tuned.choice.tile);
        match verdict(&model.problem, &model.limits(), strategy, tile, architectures) {
            Verdict::Clean => return Ok(Finalist { tuned, request, notes }),
            Verdict::Unknown => break,
            spills @ Verdict::Spills { .. } => {
                notes.extend(spills.note(strategy, tile));
                let of_tile = Family::of_tile(&model.problem, &request.model.hardware, strategy, tile);
                let (family, sizes) = of_tile.map_err(Error::infeasible)?;
                request.passed_over.push(family.text(sizes));
                compiled += 1;
                if compiled >= 2 * MOST_COMPILED && request.strategies.len() > 1 {
                    // What spilled says nothing of the others.
                    request.strategies.retain(|own| own.id() != strategy.id());
                    compiled = 0;
                }
            }
        }
    }
    request.sure_of_registers = true;
    let tuned = tune(&request, method).or_else(|_| {
        // Of no tile it is known that its registers suffice.
        request.sure_of_registers = false;
        tune(&request, method)
    })?;
    Ok(Finalist { tuned, request, notes })
}

/// What NVRTC says of a tile for some architectures, the first that spills first.
pub(crate) fn verdict(
    problem: &Problem,
    limits: &DeviceLimits,
    strategy: &dyn Strategy,
    tile: &TileSizes,
    architectures: &[u32],
) -> Verdict {
    let text = || {
        let plan = strategy::plan(strategy, &problem.program, &problem.cone, tile).ok()?;
        Some(generate(&plan, &CudaOptions { limits: limits.clone() }).ok()?.device_source)
    };
    let compiled = || {
        let name = format!("{}.cu", problem.program.name);
        Nvrtc::compile_for_each(architectures, &text()?, &name, &Cache::open().ok()?).ok()
    };
    let Some(compiled) = compiled().filter(|compiled| !compiled.is_empty()) else { return Verdict::Unknown };
    for (architecture, _, compiled) in &compiled {
        let bytes = compiled.kernels.iter().map(|own| own.spill_bytes + own.local_bytes).max().unwrap_or(0);
        if bytes > 0 {
            return Verdict::Spills { bytes, architecture: *architecture };
        }
    }
    Verdict::Clean
}

impl Verdict {
    /// Why a tile is passed over.
    pub(crate) fn note(&self, strategy: &dyn Strategy, tile: &TileSizes) -> Option<String> {
        let Verdict::Spills { bytes, architecture } = self else { return None };
        Some(format!(
            "{tile} (strategy {}) was passed over: {bytes} bytes of a thread do not fit its registers on \
             sm_{architecture}",
            strategy.id()
        ))
    }
}
