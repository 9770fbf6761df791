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
    /// The time of a point and step of the run, in seconds: the least that was measured, and by the model as much more or less as the
    /// tile takes on the run's grid than on the contest's. `None` before it ran.
    pub point_s: Option<f64>,
}

impl Entrant {
    fn is_same(&self, other: &Entrant) -> bool {
        (self.strategy, &self.tile) == (other.strategy, &other.tile)
    }
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
const BUDGET_S: f64 = 0.8;
const BUDGET_PART: f64 = 0.03;
const MOST_BUDGET_S: f64 = 20.0;
/// Who takes so many times as long as the best after a round drops out. Others' work may slow down a single run by half, so that
/// little is decided after the first one.
const BEHIND: [f64; 5] = [1.6, 1.25, 1.15, 1.08, 1.05];
/// So many rounds there are however long they take; behind the budget, of so many that are ahead.
const LEAST_ROUNDS: usize = 4;
const FINALISTS: usize = 3;
/// Processors that waited for the compiler need a while to come to speed: runs before anything counts go on until one is no faster
/// than this part of the one before, and for so long at most, in seconds.
const AT_SPEED: f64 = 0.97;
const WARM_UP_S: f64 = 0.4;
/// The model's choice stays where nobody is better than this part of its time; another strategy, for which edges of a small grid cost
/// something else, has to be better than the second.
const CLEARLY: [f64; 2] = [0.99, 0.96];
/// The part of the machine's time that others may use in a contest that is remembered.
const BUSY: f64 = 0.1;
/// One run of an entrant should take so long, in seconds, and no longer than this where that leaves the grid large.
const RUN_S: f64 = 0.06;
const LONG_RUN_S: f64 = 0.15;
/// Bytes of the grid of the contest at least. Which tiles are good is the same on a grid that memory holds as on one that only the last
/// cache does, as long as it is many times as large as the caches of the cores.
const LEAST_BYTES: f64 = 64e6;
const TIMES_NEAR_CACHE: f64 = 16.0;
/// The part of these bytes that is enough where points take long to compute: memory counts for less then.
const ENOUGH_OF_SLOW: f64 = 0.25;
/// Steps at least where the user has as many, and at most, by dimension: on a line the tiles that run at once on a diagonal are those
/// of different steps.
const STEPS: (i64, [i64; 3]) = (16, [256, 100, 100]);
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
        let scale = self.scales(&entrants, data.size(), steps)?;
        let parameters = default_parameters(program);
        let mut run = |native: &NativeProgram| -> Result<f64> {
            interrupt::check()?;
            native.library().set_threads(self.threads);
            let start = Instant::now();
            native.run(program, &parameters, &mut data, steps)?;
            Ok(start.elapsed().as_secs_f64() / updates)
        };
        // Memory is touched and threads are started before anything counts.
        if let Some(first) = tiled.first() {
            let (start, mut before) = (Instant::now(), run(&first.native)?);
            loop {
                let now = run(&first.native)?;
                if now > AT_SPEED * before || start.elapsed().as_secs_f64() > WARM_UP_S {
                    break;
                }
                before = now;
            }
        }
        let (start, watch) = (Instant::now(), Watch::start());
        let mut least = vec![f64::INFINITY; entrants.len()];
        for round in 0..=BEHIND.len() {
            let mut rest: Vec<usize> = (0..least.len()).collect();
            if round > 0 {
                rest.sort_by(|&a, &b| least[a].total_cmp(&least[b]));
                let most = BEHIND[round - 1] * least[rest[0]];
                rest.retain(|&at| least[at] <= most);
                // One round decides nothing alone.
                if round > 1 && start.elapsed().as_secs_f64() > budget {
                    rest.truncate(if round < LEAST_ROUNDS { FINALISTS } else { 0 });
                }
                if rest.len() < 2 {
                    break;
                }
            }
            for at in rest {
                least[at] = least[at].min(scale[at] * run(&tiled[at].native)?);
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
        let winner = winner(&entrants, 0, |one| self.may_win(one));
        Ok(Standing { winner, entrants, tiled: Some(tiled.swap_remove(winner)) })
    }

    /// Whether it may be taken, and is not only there to be compared with.
    fn may_win(&self, one: &Entrant) -> bool {
        self.all_strategies || one.strategy == self.strategy.id()
    }

    fn plan(&self, entrant: &Entrant) -> Result<KernelPlan> {
        let strategy = strategy::by_name(entrant.strategy)?;
        Ok(strategy::plan(strategy, &self.stencil.program, &self.model.analysis.cone, &entrant.tile)?)
    }

    /// So many steps that most tiles are whole, and no more than the user's.
    fn steps_to_run(&self, plans: &[KernelPlan]) -> i64 {
        let tallest = plans.iter().map(steps_of_tile).max().unwrap_or(1);
        let most = STEPS.1[self.stencil.program.dimension() - 1];
        self.steps.min((2 * tallest).clamp(STEPS.0, most)).max(1)
    }

    /// A grid like the user's, as large as it need be.
    fn grid(&self, steps: i64, predicted_s: f64) -> Result<ProgramData> {
        let program = &self.stencil.program;
        let mut size = self.size.to_vec();
        let level = Layout::padded(program, &size)?.level_stride();
        let whole = (level * program.bytes_of_a_point()) as f64;
        let near = self.model.model.time.near_cache_bytes() * self.threads as f64;
        let least = if near.is_finite() { LEAST_BYTES.max(TIMES_NEAR_CACHE * near) } else { LEAST_BYTES };
        let run_s = predicted_s * steps as f64 / self.steps.max(1) as f64;
        let that_run = |seconds: f64| whole * seconds / run_s.max(1e-9);
        let wanted = that_run(LONG_RUN_S).max(ENOUGH_OF_SLOW * least).min(least).max(that_run(RUN_S));
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

    /// How much longer a point takes in the user's run than in the contest's by the model, for each entrant: tiles at the edges of
    /// the grid and of time are a larger part of a smaller one. 1 where the model cannot say it.
    fn scales(&self, entrants: &[Entrant], size: &[i64], steps: i64) -> Result<Vec<f64>> {
        let (machine, threads) = (self.model.machine.clone(), self.threads as i64);
        let small = CpuModel::new(self.stencil, size, steps, machine, Some(threads))?;
        let updates =
            |size: &[i64], steps: i64| points_per_step(&self.stencil.program, size) as f64 * steps as f64;
        let parts = updates(size, steps) / updates(self.size, self.steps).max(1.0);
        let scale = |entrant: &Entrant| {
            let strategy = strategy::by_name(entrant.strategy).ok()?;
            let here = small.model.time.predict(strategy, &entrant.tile).ok()?.seconds;
            Some(entrant.predicted_s? * parts / here).filter(|scale| scale.is_finite() && *scale > 0.0)
        };
        let scales: Option<Vec<f64>> = entrants.iter().map(scale).collect();
        Ok(scales.unwrap_or_else(|| vec![1.0; entrants.len()]))
    }
}

/// This one, unless one of `may_win` is clearly better.
fn winner(entrants: &[Entrant], incumbent: usize, may_win: impl Fn(&Entrant) -> bool) -> usize {
    let time = |at: usize| entrants[at].point_s.unwrap_or(f64::INFINITY);
    let handicapped = |at: usize| {
        let other = entrants[at].strategy != entrants[incumbent].strategy;
        time(at) / if at == incumbent { 1.0 } else { CLEARLY[usize::from(other)] }
    };
    let others = (0..entrants.len()).filter(|&at| at != incumbent && may_win(&entrants[at]));
    // Of equal ones the first.
    [incumbent]
        .into_iter()
        .chain(others)
        .min_by(|&a, &b| handicapped(a).total_cmp(&handicapped(b)))
        .unwrap_or(0)
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
        let entrant = |strategy: &'static str, point_s: f64| Entrant {
            strategy,
            tile: TileSizes::default(),
            predicted_s: None,
            point_s: Some(point_s),
        };
        let own = |times: &[f64]| times.iter().map(|&time| entrant("hhc", time)).collect::<Vec<_>>();
        let winner_of = |times: &[f64]| winner(&own(times), 0, |_| true);
        assert_eq!(winner_of(&[1.0, 0.995, 1.2]), 0);
        assert_eq!(winner_of(&[1.0, 1.2, 0.9]), 2);
        assert_eq!(winner_of(&[f64::INFINITY, 2.0]), 1);
        let with_diamond = |time: f64| [own(&[1.0, 0.98]), vec![entrant("diamond", time)]].concat();
        assert_eq!(winner(&with_diamond(0.97), 0, |_| true), 1);
        assert_eq!(winner(&with_diamond(0.93), 0, |_| true), 2);
        assert_eq!(winner(&with_diamond(0.93), 0, |one| one.strategy == "hhc"), 1);
        assert_eq!(winner(&with_diamond(0.97), 2, |_| true), 2);
    }
}
