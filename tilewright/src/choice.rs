//! Which tile sizes are used where none are given.

use crate::contest::{self, Company, Contest, Standing, WholeRuns};
use crate::cpu_model::{CpuModel, usable_threads};
use crate::error::{Error, Kind, Result};
use crate::finalists::{self, Finalist, Verdict};
use crate::gpu_model::GpuModel;
use crate::here::{self, Here, is_calm_since};
use crate::load::Stencil;
use crate::observer::{Observer, stage, stage_of};
use crate::plan::Tiling;
use crate::{strategies, text};
use cost_models::machine::{Machine, MachineKind, names as machine_names, shipped};
use execution::tiled::Tiled;
use hhc_codegen::TileSizes;
use hhc_codegen::backend::cuda::DeviceLimits;
use hhc_codegen::counts::Problem;
use hhc_codegen::strategy::{self, AUTO, Strategy, Target};
use optimizer::residence::best_k;
use optimizer::{Choice, Family, Method, Objective, Tuned};
use polyhedral::program::Program;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use toolchain::interference::Watch;

/// Who chooses tile sizes for a CPU where none are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TileBy {
    /// The model; on this computer, where the run is worth it, its choice is timed against others, once.
    #[default]
    Guarded,
    /// The model alone.
    Model,
    /// A longer contest on this computer, held anew.
    Measure,
    /// The strategy's own default sizes.
    Default,
}

/// What is known of the execution that the sizes are for.
#[derive(Clone, Copy)]
pub struct Wish<'a> {
    /// Grid extents.
    pub size: Option<&'a [i64]>,
    /// Time steps of a call.
    pub steps: Option<i64>,
    /// Calls of the execution, where one call follows another: ranks of MPI have one between two exchanges.
    pub calls: i64,
    /// The machine.
    pub machine: Option<&'a Machine>,
    /// Threads of a CPU; where neither they nor a machine are given, all that this program may use.
    pub threads: Option<i64>,
    /// Who chooses.
    pub by: TileBy,
    /// Whether this computer may be measured for some seconds, where it was not.
    pub calibrate: bool,
    /// Whether the execution follows, so that a part of its time may go into the choice.
    pub runs: bool,
    /// Where several choices are made of one program, whether something was timed for one of them: the others wait for its next uses.
    pub timed: Option<&'a AtomicBool>,
    /// Whether NVIDIA's compiler makes machine code of the text, so that registers matter.
    pub machine_code: bool,
    /// The ranks of this computer that compute at the same time, where this process is the first of several.
    pub company: Option<&'a dyn Company>,
}

impl<'a> Wish<'a> {
    /// What the model alone says of one call: nothing is measured or compiled, and nothing runs.
    pub fn of_model(size: Option<&'a [i64]>, steps: Option<i64>, machine: Option<&'a Machine>) -> Wish<'a> {
        Wish {
            size,
            steps,
            calls: 1,
            machine,
            threads: None,
            by: TileBy::Model,
            calibrate: false,
            runs: false,
            timed: None,
            machine_code: false,
            company: None,
        }
    }
}

/// The choice.
pub struct Chosen {
    /// The strategy, with tile sizes filled in.
    pub tiling: Tiling,
    /// Who chose, for the report.
    pub by: String,
    /// Whether the cost model or a contest chose.
    pub tuned: bool,
    /// What to know about the choice.
    pub caution: Option<String>,
    /// The code, where it was compiled in order to choose.
    pub tiled: Option<Tiled>,
    /// Where it is kept how long the run takes, for later choices.
    pub whole_runs: Option<WholeRuns>,
    /// What CUDA code may use.
    pub limits: DeviceLimits,
    /// Tiles that were passed over, and why.
    pub passed_over: Vec<String>,
}

impl Chosen {
    fn new(tiling: Tiling, by: impl Into<String>) -> Chosen {
        let limits = DeviceLimits::default();
        Chosen {
            tiling,
            by: by.into(),
            tuned: false,
            caution: None,
            tiled: None,
            whole_runs: None,
            limits,
            passed_over: Vec::new(),
        }
    }

    /// Notes for the report, where the sizes were not given.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let by = self.tuned.then(|| format!("tile sizes {}", self.by));
        by.into_iter().chain(self.caution.clone()).chain(self.passed_over.clone())
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
/// The oldest GPU that code is written for.
const OLDEST_GPU: &str = "v100";
/// Seconds, and a part of the run, that the first use of a computer, or of a stencil there, may add to a run: measuring what the model
/// must know, and the contest. Three seconds were promised.
const FIRST_USE_S: f64 = 2.6;
const FIRST_USE_PART: f64 = 0.1;
/// A search finds no tile that is so many times as fast as the strategy's default, where a run takes more than a moment.
const MOST_TIMES_FASTER: f64 = 5.0;
/// Who chose, where nobody did.
const BY_DEFAULT: &str = "default sizes of the strategy";

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
    // Where nobody named a strategy, the program may leave only one.
    let strategy = strategies::named_for(&wanted.strategy, &stencil.program)?;
    strategy::has_target(strategy, &stencil.program, target)?;
    let alone = wanted.strategy == AUTO && strategy != strategy::preferred();
    let wanted = match alone {
        true => &Tiling { strategy: strategy.id().to_owned(), ..wanted.clone() },
        false => wanted,
    };
    let measured = wish.by == TileBy::Measure;
    if target == Target::OpenMp
        && wanted.strategy == AUTO
        && wanted.tile.is_none()
        && !measured
        && let Some(sharing) = strategy::for_shared_values(&stencil.program)
    {
        let tiling = Tiling { strategy: sharing.id().to_owned(), tile: None };
        let by = "default sizes of the strategy in whose rows statements share values";
        return Ok(Chosen::new(tiling, by));
    }
    let mut limits = DeviceLimits::default();
    let given = |by: &str, limits| Chosen { limits, ..Chosen::new(wanted.clone(), by) };
    let size = match wish.size {
        Some(size) => size.to_vec(),
        None => [&[1 << 26][..], &[8192, 8192], &[512, 512, 512]][stencil.program.dimension() - 1].to_vec(),
    };
    let steps = wish.steps.unwrap_or(USUAL_STEPS).max(1);
    let machine = match (target, wish.machine) {
        (Target::OpenMp, _) if wanted.tile.is_some() => return Ok(given("as given", limits)),
        (Target::OpenMp, _) if wish.by == TileBy::Default => {
            return Ok(given(BY_DEFAULT, limits));
        }
        (Target::OpenMp, machine) => return on_cpu(stencil, wanted, &size, steps, machine, wish, observer),
        (Target::Cuda, Some(machine)) => machine.clone(),
        (Target::Cuda, None) if wanted.tile.is_some() => return Ok(given("as given", limits)),
        (Target::Cuda, None) if !wish.machine_code => return Ok(given(BY_DEFAULT, limits)),
        (Target::Cuda, None) => return on_any_gpu(stencil, wanted, &size, steps, observer),
    };
    let modelled = GpuModel::new(stencil, &size, steps, machine)?;
    limits = modelled.limits();
    if wanted.tile.is_some() {
        return Ok(given("as given", limits));
    }
    let strategy = strategy::by_name(&wanted.strategy)?;
    strategy::taken(strategy, &modelled.problem.program, &modelled.problem.cone)?;
    let mut passed_over = Vec::new();
    for tile in own_tiles(&modelled, strategy, &size) {
        let compiled = || {
            let architecture = finalists::architecture(&modelled.machine);
            finalists::verdict(&modelled.problem, &limits, strategy, &tile, architecture.as_slice())
        };
        match wish.machine_code.then(|| stage(observer, "registers", compiled)) {
            Some(spills @ Verdict::Spills { .. }) => passed_over.extend(spills.note(strategy, &tile)),
            _ => {
                let by = format!("the strategy's own for the grid and {}", modelled.machine.name);
                let tiling = Tiling { tile: Some(tile), ..wanted.clone() };
                return Ok(Chosen { limits, tuned: true, ..Chosen::new(tiling, by) });
            }
        }
    }
    let (tiling, notes) = on_gpu(&modelled, wanted, &size, observer)?;
    passed_over.extend(notes);
    let by = format!("chosen by the cost model for {}", modelled.machine.name);
    Ok(Chosen { tuned: true, limits, passed_over, ..Chosen::new(tiling, by) })
}

/// What is taken for a GPU where `auto` chooses, with notes on tiles that were passed over: the best tile of the strategies whose tiles
/// were tried on a device, or another strategy's that is clearly faster.
///
/// # Errors
/// No tile fits.
pub fn automatic_on_gpu(
    model: &GpuModel,
    size: &[i64],
    observer: &dyn Observer,
) -> Result<(Tiling, Vec<String>)> {
    on_gpu(model, &Tiling { strategy: AUTO.to_owned(), tile: None }, size, observer)
}

fn on_gpu(
    model: &GpuModel,
    wanted: &Tiling,
    size: &[i64],
    observer: &dyn Observer,
) -> Result<(Tiling, Vec<String>)> {
    let auto = wanted.strategy == AUTO;
    let mut request = model.request(Objective::Time, &wanted.strategy)?;
    if auto {
        request.strategies.retain(|strategy| is_tried(*strategy, &model.problem.program, size));
    }
    let Finalist { tuned, notes, .. } =
        stage(observer, "tune", || finalists::on_machine(model, request, Method::Exact))?;
    let faster =
        || stage(observer, "other strategies", || faster_other(model, size, tuned.certificate.value));
    let tiling = match auto.then(faster).flatten() {
        Some(other) => other,
        None => Tiling { strategy: tuned.choice.strategy.to_owned(), tile: Some(tuned.choice.tile) },
    };
    Ok((tiling, notes))
}

/// Whether tiles like those that a search over models finds were tried on a device: of strategies with tiles of their own, those were.
pub(crate) fn is_tried(strategy: &dyn Strategy, program: &Program, size: &[i64]) -> bool {
    strategy.own_tiles(program, size, 1).is_empty() && strategy.is_measured_on(Target::Cuda)
}

/// Of the time of a strategy's usual tile, the part that another one of its own may take to be tried before it. Predictions of tiles of
/// one strategy are off by much the same, but not to the last percent, and the usual tile is the one that was measured.
const FASTER_THAN_USUAL: f64 = 0.92;

/// A strategy's own tiles for a grid, in the order in which they are to be tried: the model says which is first.
fn own_tiles(model: &GpuModel, strategy: &'static dyn Strategy, size: &[i64]) -> Vec<TileSizes> {
    let multiprocessors = model.machine.gpu().map_or(1, |gpu| gpu.n_sm);
    let mut tiles = strategy.own_tiles(&model.problem.program, size, multiprocessors);
    let [usual, others @ ..] = &tiles[..] else { return tiles };
    let seconds = |tile| predicted_s(model, strategy, tile).unwrap_or(f64::INFINITY);
    let usual = FASTER_THAN_USUAL * seconds(usual);
    let faster = others.iter().map(seconds).enumerate().filter(|(_, other)| *other < usual);
    if let Some((other, _)) = faster.min_by(|a, b| a.1.total_cmp(&b.1)) {
        let other = tiles.remove(other + 1);
        tiles.insert(0, other);
    }
    tiles
}

/// What the model says of a tile.
fn predicted_s(model: &GpuModel, strategy: &'static dyn Strategy, tile: &TileSizes) -> Option<f64> {
    let request = model.request(Objective::Time, strategy.id()).ok()?;
    let (family, sizes) = Family::of_tile(&model.problem, &request.model.hardware, strategy, tile).ok()?;
    let k = best_k(&request, &family, sizes);
    Some(request.evaluate(&family, sizes, k).prediction.seconds)
}

/// Of the time of the best tile that a search has found, the part that another strategy's tile may take to be chosen in its
/// place: no prediction is closer.
const CLEARLY_FASTER: f64 = 0.8;

/// The tile of a strategy whose tiles were not tried, its own if it has one, if the model says that it is clearly faster than the best
/// one found, and the compiler that all it has fits in registers.
fn faster_other(model: &GpuModel, size: &[i64], seconds: f64) -> Option<Tiling> {
    let Problem { program, cone, .. } = &model.problem;
    let taken =
        strategy::in_auto(Target::Cuda).filter(|strategy| strategy::taken(*strategy, program, cone).is_ok());
    let others = taken.filter(|strategy| !is_tried(*strategy, program, size));
    let others = others.filter_map(|strategy| {
        let tile = match own_tiles(model, strategy, size).into_iter().next() {
            Some(own) => own,
            None => {
                let request = model.request(Objective::Time, strategy.id()).ok()?;
                optimizer::tune(&request, Method::Exact).ok()?.choice.tile
            }
        };
        Some((predicted_s(model, strategy, &tile)?, strategy, tile))
    });
    let (other_s, strategy, tile) = others.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let architecture = finalists::architecture(&model.machine);
    let clean = || {
        let verdict =
            finalists::verdict(&model.problem, &model.limits(), strategy, &tile, architecture.as_slice());
        matches!(verdict, Verdict::Clean)
    };
    (other_s < CLEARLY_FASTER * seconds && clean())
        .then(|| Tiling { strategy: strategy.id().to_owned(), tile: Some(tile.clone()) })
}

/// The choice for all GPUs: the strategy's own sizes, unless some of them have too few registers for them.
fn on_any_gpu(
    stencil: &Stencil,
    wanted: &Tiling,
    size: &[i64],
    steps: i64,
    observer: &dyn Observer,
) -> Result<Chosen> {
    let usual = || Chosen::new(wanted.clone(), BY_DEFAULT);
    let strategy = strategy::by_name(&wanted.strategy)?;
    let oldest = shipped(OLDEST_GPU).and_then(std::result::Result::ok);
    let Some(model) = oldest.and_then(|machine| GpuModel::new(stencil, size, steps, machine).ok()) else {
        return Ok(usual());
    };
    let Problem { program, cone, .. } = &model.problem;
    strategy::taken(strategy, program, cone)?;
    let tile = strategy.default_tile(program, cone, Target::Cuda);
    let limits = DeviceLimits::default();
    stage(observer, "registers", || {
        let verdict = finalists::verdict(&model.problem, &limits, strategy, &tile, &finalists::ARCHITECTURES);
        let Some(note) = verdict.note(strategy, &tile) else { return Ok(usual()) };
        let mut request = model.request(Objective::Time, strategy.id())?;
        let bytes = &mut request.model.hardware.shared_per_block_bytes;
        *bytes = limits.shared_bytes_per_block.min(*bytes);
        let found = finalists::among(&model, request, Method::Exact, &finalists::ARCHITECTURES).ok();
        let spills = found.as_ref().is_none_or(|found| found.spills);
        if let Some(other) = spills.then(|| other_instead(&model, wanted, &note, &limits)).flatten() {
            return Ok(other);
        }
        let Some(found) = found else {
            let caution =
                format!("{tile} keeps values of threads in memory on some GPUs, and no other tile was found");
            return Ok(Chosen { passed_over: vec![caution], ..usual() });
        };
        let tile = found.tuned.choice.tile;
        let by = "chosen by the cost model for the oldest of the GPUs that it suits";
        let chosen = Chosen::new(Tiling { tile: Some(tile), ..wanted.clone() }, by);
        let notes = [note].into_iter().chain(found.notes);
        Ok(Chosen { tuned: true, passed_over: notes.collect(), ..chosen })
    })
}

/// Where no tile of a strategy has registers enough: the own tile of another strategy that has, if the choice is ours.
fn other_instead(model: &GpuModel, wanted: &Tiling, note: &str, limits: &DeviceLimits) -> Option<Chosen> {
    let Problem { program, cone, .. } = &model.problem;
    let others = strategy::in_auto(Target::Cuda).filter(|_| wanted.strategy == AUTO);
    others.filter(|other| strategy::taken(*other, program, cone).is_ok()).find_map(|other| {
        let own = other.default_tile(program, cone, Target::Cuda);
        let verdict = finalists::verdict(&model.problem, limits, other, &own, &finalists::ARCHITECTURES);
        matches!(verdict, Verdict::Clean).then(|| {
            let tiling = Tiling { strategy: other.id().to_owned(), tile: Some(own) };
            let by = "the strategy's own, of the one whose threads have registers enough";
            Chosen { tuned: true, passed_over: vec![note.to_owned()], ..Chosen::new(tiling, by) }
        })
    })
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
    let strategy = strategy::by_name(&wanted.strategy)?;
    let threads = wish.threads.unwrap_or_else(usable_threads);
    if let Some(tile) = strategy.own_tile_on_cores(&stencil.program, (size, steps), threads) {
        let by = format!(
            "the strategy's own, by the grid, the steps and {}",
            text::count(threads as u64, "thread", "threads")
        );
        return Ok(Chosen { tuned: true, ..Chosen::new(Tiling { tile: Some(tile), ..wanted.clone() }, by) });
    }
    let auto = wanted.strategy == AUTO;
    if let Some(machine) = machine {
        return stage(observer, "tune", || {
            let model = CpuModel::new(stencil, size, steps, machine.clone(), wish.threads)?;
            let solved = model.tune(&wanted.strategy, Method::Exact, Objective::Time)?;
            let best = solved.first().ok_or_else(|| Error::internal("no tile was tuned"))?;
            let by = by_model(&machine.name, wish.threads) + &margin(&solved);
            Ok(Chosen { tuned: true, ..Chosen::new(tiling_of(&best.choice), by) })
        });
    }
    let tuned = |here: &Here| {
        stage(observer, "tune", || {
            let model = CpuModel::new(stencil, size, steps, here.machine.clone(), Some(threads))?;
            strategy::taken(strategy, &stencil.program, &model.analysis.cone)?;
            let good = optimizer::cpu::good_tile(&model.model, strategy, &model.counted);
            let tile = good.ok_or_else(|| Error::internal("no tile was tuned"))?;
            let seconds = model.model.time.predict(strategy, &tile).map_err(Error::internal)?.seconds;
            Ok::<_, Error>((model, tile, seconds))
        })
    };
    let (begin, watch) = (Instant::now(), Watch::start());
    let mut here = here::known()?;
    let program = &stencil.program;
    let is_known = here.is_measured_for(program) || !wish.runs && here.knows_alike(program);
    let may_time =
        wish.by == TileBy::Measure || !wish.timed.is_some_and(|timed| timed.load(Ordering::Relaxed));
    let may_measure = wish.calibrate && may_time && !is_known;
    // What is over in no time is not worth measuring anything.
    let is_long =
        |seconds: f64| seconds * wish.calls as f64 >= contest::SHORTEST_S || wish.by == TileBy::Measure;
    // No tile is so much faster than the default: nobody searches by costs that are about to be measured.
    let surely = may_measure
        && CpuModel::new(stencil, size, steps, here.machine.clone(), Some(threads)).is_ok_and(|model| {
            let default = strategy.default_tile(program, &model.analysis.cone, Target::OpenMp);
            let predicted = model.model.time.predict(strategy, &default);
            strategy::taken(strategy, program, &model.analysis.cone).is_ok()
                && predicted.is_ok_and(|found| is_long(found.seconds / MOST_TIMES_FASTER))
        });
    let first = (!surely).then(|| tuned(&here)).transpose();
    let Ok(first) = first else { return Ok(Chosen::new(wanted.clone(), BY_DEFAULT)) };
    let long = first.as_ref().is_none_or(|(_, _, seconds)| is_long(*seconds));
    let found = match first {
        Some(first) if !(long && may_measure) => Ok(first),
        _ => {
            here = here::measured(here, stencil, !wish.runs, observer)?;
            tuned(&here)
        }
    };
    let Ok((model, tile, seconds)) = found else { return Ok(Chosen::new(wanted.clone(), BY_DEFAULT)) };
    let part = if wish.runs { FIRST_USE_PART * seconds * wish.calls as f64 } else { 0.0 };
    let left = (FIRST_USE_S - begin.elapsed().as_secs_f64()).max(part);
    let asked = wish.by == TileBy::Measure;
    let contest = Contest {
        model: &model,
        stencil,
        strategy,
        all_strategies: auto,
        size,
        steps,
        calls: wish.calls,
        threads: usize::try_from(threads).unwrap_or(1),
        runs: wish.runs,
        patience_s: if asked { f64::INFINITY } else { left },
        wanted: asked,
        company: wish.company,
    };
    let model_only = match wish.by {
        TileBy::Guarded => !long || here.named || !wish.calibrate,
        by => by == TileBy::Model,
    };
    let standing = match (model_only, may_time) {
        (true, _) => None,
        (false, true) => contested(&contest, &tile, || is_calm_since(&watch), observer)?,
        (false, false) => contest.remembered(),
    };
    if let (Some(timed), Some(Standing { tiled: Some(_), .. })) = (wish.timed, &standing) {
        timed.store(true, Ordering::Relaxed);
    }
    let chosen = match standing {
        Some(standing) => {
            let (words, taken) = (standing.words(contest.ranks()), standing.taken());
            let tiling = Tiling { strategy: taken.strategy.to_owned(), tile: Some(taken.tile.clone()) };
            let whole_runs = contest.whole_runs(taken);
            Chosen { tiled: standing.tiled, whole_runs, ..Chosen::new(tiling, words) }
        }
        None if auto && wish.by == TileBy::Model => {
            let solved = stage(observer, "tune", || model.tune(AUTO, Method::Exact, Objective::Time))?;
            let best = solved.first().ok_or_else(|| Error::internal("no tile was tuned"))?;
            let by = by_model(here.words(), Some(threads)) + &margin(&solved);
            Chosen::new(tiling_of(&best.choice), by)
        }
        None => {
            let tiling = Tiling { tile: Some(tile), ..wanted.clone() };
            Chosen::new(tiling, by_model(here.words(), Some(threads)))
        }
    };
    Ok(Chosen { tuned: true, caution: here.caution, ..chosen })
}

/// The result of a contest that was held before, or is held now; `None` where it can not be held, and nobody asked for it.
/// Where no run follows, what is known is taken until the computer `is_calm`: a contest that others disturbed is then held anew, and one
/// that is unfinished goes on. Before a run, one that others disturbed is held anew.
fn contested(
    contest: &Contest<'_>,
    tile: &TileSizes,
    is_calm: impl FnOnce() -> bool,
    observer: &dyn Observer,
) -> Result<Option<Standing>> {
    let mut unfinished = None;
    if let Some(known) = (!contest.wanted).then(|| contest.remembered()).flatten() {
        if is_enough(&known, contest, is_calm) {
            return Ok(Some(known));
        }
        unfinished = known.is_calm.then(|| contest.unfinished()).flatten();
    }
    let held = stage_of(observer, contest::STAGE, 0, |progress| match unfinished {
        Some(entrants) => contest.go_on(entrants, progress),
        None => contest.hold(contest.entrants(tile), progress),
    });
    match held {
        Ok(standing) => Ok(Some(standing)),
        Err(error) if contest.wanted || error.kind() == Kind::Interrupted => Err(error),
        // Nothing could be measured here: no compiler, no memory. Who needs them will hear of it.
        Err(_) => Ok(None),
    }
}

/// Whether nothing is to be timed.
fn is_enough(known: &Standing, contest: &Contest<'_>, is_calm: impl FnOnce() -> bool) -> bool {
    // Whole runs show more than a final.
    let is_settled = known.is_calm && (known.is_over || contest.follows());
    is_settled || !contest.runs && !is_calm()
}

/// A choice as a tiling.
fn tiling_of(choice: &Choice) -> Tiling {
    Tiling { strategy: choice.strategy.to_owned(), tile: Some(choice.tile.clone()) }
}

/// By how much the best strategy is better than the next one, where there are several.
fn margin(solved: &[Tuned]) -> String {
    let [best, next, ..] = solved else { return String::new() };
    let times = next.certificate.value / best.certificate.value;
    format!(
        " among {} strategies: {} would take {times:.2} times as long",
        solved.len(),
        next.choice.strategy
    )
}

/// Who chose, where a model did.
fn by_model(machine: &str, threads: Option<i64>) -> String {
    let with = |threads: i64| format!(" with {}", text::count(threads as u64, "thread", "threads"));
    format!("chosen by the cost model for {machine}{}", threads.map(with).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::Evidence;
    use crate::cpu_model::usual_machine;

    #[test]
    fn what_others_disturb_waits_for_a_calm_moment_or_a_run() {
        let stencil = Stencil::of(polyhedral::shipped::load("heat1d").unwrap().into());
        let (size, steps) = ([3000], 20);
        let model = CpuModel::new(&stencil, &size, steps, usual_machine().unwrap(), Some(1)).unwrap();
        let contest = |runs: bool| Contest {
            model: &model,
            stencil: &stencil,
            strategy: strategy::preferred(),
            all_strategies: true,
            size: &size,
            steps,
            calls: 1,
            threads: 1,
            runs,
            patience_s: 1.0,
            wanted: false,
            company: None,
        };
        let known = |is_over: bool, was_calm: bool| {
            let (entrants, evidence) = (Vec::new(), Evidence::Contest);
            Standing { entrants, winner: 0, is_over, is_calm: was_calm, tiled: None, evidence }
        };
        let is_enough = |known: Standing, runs: bool, calm: bool| is_enough(&known, &contest(runs), || calm);
        for (is_over, was_calm, in_calm_now) in
            [(true, true, true), (false, true, false), (true, false, false)]
        {
            assert!(is_enough(known(is_over, was_calm), false, false));
            assert_eq!(is_enough(known(is_over, was_calm), false, true), in_calm_now);
            // Runs are the last round of a calm contest, and nothing rests on another one.
            assert_eq!(is_enough(known(is_over, was_calm), true, false), was_calm);
        }
    }
}
