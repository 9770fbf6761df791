//! Tile sizes by a short contest on this computer, after a model has named the entrants: a model is wrong by some percent,
//! and now and then by much.
//!
//! All entrants are compiled as one object, and run in turn on a grid like the user's; who is clearly behind drops out. The
//! times are kept as trials in the [state folder](crate::state), so that a contest is held once for a stencil, a processor,
//! and a class of sizes.

mod entrants;
mod kept;

use crate::cpu_model::CpuModel;
use crate::error::Result;
use crate::load::Stencil;
use execution::grid::ProgramData;
use execution::initial;
use execution::layout::Layout;
use execution::native::NativeProgram;
use execution::reference::default_parameters;
use execution::tiled::{self, Tiled};
use hhc_codegen::plan_counts::{points_per_step, steps_of_tile};
use hhc_codegen::strategy::{self, Strategy};
use hhc_codegen::{KernelPlan, TileSizes};
use std::time::Instant;
use toolchain::interference::Watch;
use toolchain::interrupt;
use toolchain::machine::{MachineFacts, largest_cache};

/// What a contest is about.
pub struct Contest<'a> {
    /// The stencil on this computer.
    pub model: &'a CpuModel,
    /// The stencil.
    pub stencil: &'a Stencil,
    /// The strategy whose tiles run.
    pub strategy: &'static dyn Strategy,
    /// Whether the other strategies may take part with their own tiles.
    pub all_strategies: bool,
    /// Grid extents.
    pub size: &'a [i64],
    /// Time steps.
    pub steps: i64,
    /// Threads at work.
    pub threads: usize,
    /// Whether the run follows, so that a part of its time may go into the contest.
    pub runs: bool,
    /// Whether the user asked for it: it has more entrants, and is remembered however busy the machine is.
    pub wanted: bool,
}

/// One who takes part.
#[derive(Debug, Clone, PartialEq)]
pub struct Entrant {
    /// The strategy.
    pub strategy: &'static str,
    /// The tile.
    pub tile: TileSizes,
    /// What the model says of the whole run, in seconds.
    pub predicted_s: Option<f64>,
    /// The least measured time of a point and step, in seconds; `None` before it ran.
    pub point_s: Option<f64>,
}

/// What came out.
#[derive(Debug)]
pub struct Standing {
    /// All entrants, the model's choice first.
    pub entrants: Vec<Entrant>,
    /// The one that is taken.
    pub winner: usize,
    /// The winner's code; `None` where the contest was held before, and is remembered.
    pub tiled: Option<Tiled>,
}

/// Name of the stage.
pub const STAGE: &str = "timing the best tile sizes, once";
/// Runs whose predicted time is shorter are not worth a contest, in seconds.
pub const SHORTEST_S: f64 = 0.05;
/// Seconds that measuring may take where the run is short, the part of a long run, and the most.
const BUDGET_S: f64 = 0.6;
const BUDGET_PART: f64 = 0.03;
const MOST_BUDGET_S: f64 = 20.0;
/// Who takes this much longer than the best drops out.
const BEHIND: f64 = 1.12;
/// The model's choice stays where nobody is better than this part of its time.
const CLEARLY: f64 = 0.99;
/// The part of the machine's time that others may use in a contest that is remembered.
const BUSY: f64 = 0.1;
/// Rounds at most.
const ROUNDS: usize = 5;
/// One run of an entrant should take so long, in seconds.
const RUN_S: f64 = 0.08;
/// So many times as long it may take on a grid that no cache holds.
const MOST_RUNS: f64 = 4.0;
/// Bytes of the grid of the contest: several times the last cache, within these limits.
const BYTES: (f64, f64) = (64e6, 192e6);
const BEYOND_CACHE: f64 = 2.5;
/// Extents along the outer dimensions are not cut below this: wavefronts need tiles.
const LEAST_EXTENT: i64 = 128;

impl Contest<'_> {
    /// Holds the contest among these; the first is the model's choice.
    ///
    /// # Errors
    /// A compiler that is missing, memory, an interruption.
    pub fn hold(&self, mut entrants: Vec<Entrant>, progress: &dyn Fn(i64)) -> Result<Standing> {
        let predicted_s = entrants.first().and_then(|entrant| entrant.predicted_s).unwrap_or(0.0);
        let part = if self.runs { predicted_s * BUDGET_PART } else { 0.0 };
        let budget = part.clamp(BUDGET_S, MOST_BUDGET_S);
        let plans = entrants.iter().map(|entrant| self.plan(entrant)).collect::<Result<Vec<_>>>()?;
        let mut tiled = tiled::load_side_by_side(&plans, &|_| ())?;
        progress(1);
        let program = &self.stencil.program;
        let steps = self.steps_to_run(&plans);
        let mut data = self.grid(steps, predicted_s)?;
        let updates = (points_per_step(program, data.size()) as f64 * steps as f64).max(1.0);
        let parameters = default_parameters(program);
        let mut run = |native: &NativeProgram| -> Result<f64> {
            interrupt::check()?;
            native.library().set_threads(self.threads);
            let start = Instant::now();
            native.run(program, &parameters, &mut data, steps)?;
            Ok(start.elapsed().as_secs_f64() / updates)
        };
        // Memory is touched and threads are started before anything counts.
        tiled.first().map(|first| run(&first.native)).transpose()?;
        let (start, watch) = (Instant::now(), Watch::start());
        let mut least = vec![f64::INFINITY; entrants.len()];
        for round in 0..ROUNDS {
            let best = least.iter().copied().fold(f64::INFINITY, f64::min);
            let rest: Vec<usize> =
                (0..least.len()).filter(|&at| round == 0 || least[at] <= BEHIND * best).collect();
            if round > 0 && (rest.len() < 2 || start.elapsed().as_secs_f64() > budget) {
                break;
            }
            for at in rest {
                least[at] = least[at].min(run(&tiled[at].native)?);
            }
            progress(2 + round as i64);
        }
        for (entrant, point_s) in entrants.iter_mut().zip(&least) {
            entrant.point_s = Some(*point_s);
        }
        // Among others' work chance decides who is fast: the next run looks again.
        if self.wanted || watch.others().is_none_or(|others| others <= BUSY) {
            self.remember(&entrants);
        }
        let winner = winner(&entrants);
        Ok(Standing { winner, entrants, tiled: Some(tiled.swap_remove(winner)) })
    }

    fn plan(&self, entrant: &Entrant) -> Result<KernelPlan> {
        let strategy = strategy::by_name(entrant.strategy)?;
        Ok(strategy::plan(strategy, &self.stencil.program, &self.model.analysis.cone, &entrant.tile)?)
    }

    /// So many steps that tall tiles are whole, and no more than the user's.
    fn steps_to_run(&self, plans: &[KernelPlan]) -> i64 {
        let tallest = plans.iter().map(steps_of_tile).max().unwrap_or(1);
        self.steps.min((2 * tallest).clamp(16, 160)).max(1)
    }

    /// A grid like the user's, as large as it need be.
    fn grid(&self, steps: i64, predicted_s: f64) -> Result<ProgramData> {
        let program = &self.stencil.program;
        let mut size = self.size.to_vec();
        let level = Layout::padded(program, &size)?.level_stride();
        let whole = (level * program.bytes_of_a_point()) as f64;
        let last = largest_cache(&MachineFacts::collect(None).caches).unwrap_or(0) as f64;
        let least = (BEYOND_CACHE * last).clamp(BYTES.0, BYTES.1);
        let run_s = predicted_s * steps as f64 / self.steps.max(1) as f64;
        // Beyond the caches where that does not take too long.
        let timed = whole * RUN_S / run_s.max(1e-9);
        let wanted = least.clamp(timed, MOST_RUNS * timed);
        if wanted < 0.8 * whole {
            // Rows stay as they are; the outer dimensions shrink alike.
            let outer = size.len().max(2) - 1;
            let factor = (wanted / whole).powf(1.0 / outer as f64);
            for extent in &mut size[..outer] {
                *extent = ((*extent as f64 * factor) as i64).max(LEAST_EXTENT.min(*extent));
            }
        }
        Ok(initial::random(program, Layout::padded(program, &size)?, steps, 1)?)
    }
}

/// The first, unless somebody is clearly better.
fn winner(entrants: &[Entrant]) -> usize {
    let time = |at: usize| entrants[at].point_s.unwrap_or(f64::INFINITY);
    let best = (0..entrants.len()).min_by(|&a, &b| time(a).total_cmp(&time(b))).unwrap_or(0);
    if time(best) < CLEARLY * time(0) { best } else { 0 }
}

impl Standing {
    /// The one that is taken.
    pub fn taken(&self) -> &Entrant {
        &self.entrants[self.winner]
    }

    /// How the choice came about, for a report.
    pub fn words(&self) -> String {
        let when = if self.tiled.is_none() { " before" } else { "" };
        let all = format!("the fastest of {} that were timed on this computer{when}", self.entrants.len());
        match self.entrants[0].point_s.zip(self.taken().point_s) {
            Some((model, best)) if self.winner > 0 => {
                format!("{all}; the model's choice takes {:.0} % longer", 100.0 * (model / best - 1.0))
            }
            _ => format!("{all}, as the model says"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_overruled_where_it_is_clearly_wrong() {
        let entrant = |point_s: f64| Entrant {
            strategy: "hhc",
            tile: TileSizes::default(),
            predicted_s: None,
            point_s: Some(point_s),
        };
        let winner = |times: &[f64]| winner(&times.iter().map(|&time| entrant(time)).collect::<Vec<_>>());
        assert_eq!(winner(&[1.0, 0.995, 1.2]), 0);
        assert_eq!(winner(&[1.0, 1.2, 0.9]), 2);
        assert_eq!(winner(&[f64::INFINITY, 2.0]), 1);
    }
}
