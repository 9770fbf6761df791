//! The best tile of a model whose kernels keep everything in registers.
//!
//! Before the compiler has spoken, registers are an estimate. Where NVRTC is at hand the best tile is compiled; one that
//! spills is passed over, with all whose code differs from its code in the bounds of loops alone, and the next one is tried.
//! Where it is not, tiles are passed over that may need more registers than they are given.

use crate::error::{Error, Result};
use crate::gpu_model::GpuModel;
use cost_models::machine::Machine;
use hhc_codegen::TileSizes;
use hhc_codegen::backend::cuda::{CudaOptions, DeviceLimits, generate};
use hhc_codegen::counts::Problem;
use hhc_codegen::plan_counts::steps_of_tile;
use hhc_codegen::strategy::{self, Strategy, Target};
use optimizer::{Family, Method, Objective, Request, Tuned, tune};
use toolchain::cache::Cache;
use toolchain::nvrtc::Nvrtc;

/// Compute capabilities that code for any GPU is compiled for, and that its manifest has figures for.
pub(crate) const ARCHITECTURES: [u32; 3] = [70, 80, 90];

/// Tiles of a strategy that are compiled before the others are judged by the estimate, too.
const MOST_GUESSED: usize = 2;
/// Tiles of a strategy that are compiled where it is one of several: if all of them spill it is left out. Of the last one twice as
/// many are.
const MOST_COMPILED: usize = 8;

/// The tile, and how it was found.
pub struct Finalist<'a> {
    /// The best tile of those that were not passed over.
    pub tuned: Tuned,
    /// What was searched.
    pub request: Request<'a>,
    /// Tiles that were passed over, and why.
    pub notes: Vec<String>,
    /// Whether all that were compiled keep values of threads in memory, this one the fewest.
    pub spills: bool,
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
    among(model, request, method, architecture(&model.machine).as_slice())
}

/// The compute capability of a GPU.
pub(crate) fn architecture(machine: &Machine) -> Option<u32> {
    machine.gpu().and_then(|facts| u32::try_from(facts.compute_capability).ok())
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
    // The tile that keeps the fewest bytes in memory, and the request whose best one it is.
    let mut least: Option<(u64, u32, Tuned, Request<'a>)> = None;
    // The best of the smaller tiles of strategies that were left out.
    let mut smaller: Option<(Tuned, Request<'a>)> = None;
    let keep = |smaller: &mut Option<(Tuned, Request<'a>)>, found: Option<(Tuned, Request<'a>)>| {
        let value = |one: &(Tuned, Request<'a>)| one.0.certificate.value;
        if let Some(found) = found
            && smaller.as_ref().is_none_or(|own| value(&found) < value(own))
        {
            *smaller = Some(found);
        }
    };
    loop {
        request.sure_of_registers = compiled >= MOST_GUESSED;
        let found = tune(&request, method).or_else(|infeasible| {
            // Of no other tile it is known that its registers suffice: they are compiled all the same.
            let sure = std::mem::take(&mut request.sure_of_registers);
            if sure { tune(&request, method) } else { Err(infeasible) }
        });
        let tuned = match found {
            Ok(tuned) => tuned,
            Err(infeasible) if least.is_none() && smaller.is_none() => return Err(infeasible.into()),
            Err(_) => break,
        };
        let (strategy, tile) = (strategy::by_name(tuned.choice.strategy)?, tuned.choice.tile.clone());
        match verdict(&model.problem, &model.limits(), strategy, &tile, architectures) {
            Verdict::Clean => {
                keep(&mut smaller, Some((tuned, request)));
                break;
            }
            Verdict::Unknown => return by_estimate(request, method, notes),
            ref spills @ Verdict::Spills { bytes, architecture } => {
                notes.extend(spills.note(strategy, &tile));
                let of_tile = Family::of_tile(&model.problem, &request.model.hardware, strategy, &tile);
                let (family, sizes) = of_tile.map_err(Error::infeasible)?;
                if least.as_ref().is_none_or(|(fewest, ..)| bytes < *fewest) {
                    least = Some((bytes, architecture, tuned, request.clone()));
                }
                request.passed_over.push(family.text(sizes));
                compiled += 1;
                let several = request.strategies.len() > 1;
                let most = if several { MOST_COMPILED } else { 2 * MOST_COMPILED };
                if compiled < most {
                    continue;
                }
                keep(&mut smaller, smaller_tile(model, &request, (strategy, &tile), method, architectures));
                if !several {
                    break;
                }
                // What spilled says nothing of the others.
                request.strategies.retain(|own| own.id() != strategy.id());
                compiled = 0;
            }
        }
    }
    if let Some((tuned, request)) = smaller {
        return Ok(Finalist { tuned, request, notes, spills: false });
    }
    let Some((bytes, architecture, tuned, request)) = least else {
        return Err(Error::internal("no tile was compiled"));
    };
    let tile = &tuned.choice.tile;
    notes.push(format!(
        "{tile} (strategy {}) is taken all the same, which keeps the fewest bytes in memory, {bytes} of a thread on sm_{architecture}: \
         no tile was found that keeps none",
        tuned.choice.strategy
    ));
    Ok(Finalist { tuned, request, notes, spills: true })
}

/// A tile that keeps everything in registers, where the best ones do not: the strategy's own sizes, or the best of those that are half as
/// tall as one that spilled, a quarter or an eighth. The best tiles are alike, and smaller ones have less code that is unrolled.
fn smaller_tile<'a>(
    model: &GpuModel,
    request: &Request<'a>,
    (strategy, tile): (&'static dyn Strategy, &TileSizes),
    method: Method,
    architectures: &[u32],
) -> Option<(Tuned, Request<'a>)> {
    let Problem { program, cone, .. } = &model.problem;
    let is_clean = |tuned: &Tuned| {
        let said = verdict(&model.problem, &model.limits(), strategy, &tuned.choice.tile, architectures);
        matches!(said, Verdict::Clean)
    };
    let request = Request { sure_of_registers: false, ..request.only(strategy) };
    let own = optimizer::judged(&request, strategy, &strategy.default_tile(program, cone, Target::Cuda));
    let own = own.filter(is_clean).map(|tuned| (tuned, request.clone()));
    let height = steps_of_tile(&strategy::plan(strategy, program, cone, tile).ok()?);
    let of_height = |part: i64| {
        let lower = Request { most_height: Some(height / part), ..request.clone() };
        let tuned = tune(&lower, method).ok().filter(is_clean)?;
        Some((tuned, lower))
    };
    let lower = [2, 4, 8].into_iter().filter(|part| height >= *part).find_map(of_height);
    let value = |one: &(Tuned, Request<'a>)| one.0.certificate.value;
    own.into_iter().chain(lower).min_by(|a, b| value(a).total_cmp(&value(b)))
}

/// The best tile by the estimate of registers, where the compiler cannot be asked.
fn by_estimate<'a>(mut request: Request<'a>, method: Method, notes: Vec<String>) -> Result<Finalist<'a>> {
    request.sure_of_registers = true;
    let tuned = tune(&request, method).or_else(|_| {
        // Of no tile it is known that its registers suffice.
        request.sure_of_registers = false;
        tune(&request, method)
    })?;
    Ok(Finalist { tuned, request, notes, spills: false })
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
