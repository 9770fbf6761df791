//! Tile sizes by a short contest on this computer, after a model has named the entrants: a model is wrong by some percent,
//! and now and then by much.
//!
//! All entrants are compiled as one object, and run in turn: in heats on a grid like the user's, of which who is clearly behind drops
//! out, and in a final of few on the user's own as far as that is not too large ([`track`]). The times are kept as trials in the
//! [state folder](crate::state), so that a contest is held once for a stencil, a processor, and a class of sizes.

mod entrants;
mod kept;
mod track;

use crate::cpu_model::CpuModel;
use crate::error::{Error, Result};
use crate::load::Stencil;
use execution::tiled::{self, Tiled};
use hhc_codegen::strategy::{self, Strategy};
use hhc_codegen::{KernelPlan, TileSizes};
use std::time::Instant;
use toolchain::interference::Watch;
use track::Track;

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
/// Who takes so many times as long as the best after a heat has no other one. Others' work may slow down a single run by half, so that
/// little is decided after the first one.
const BEHIND: f64 = 1.4;
/// So many run again however long the first heat took.
const SECOND_HEAT: usize = 5;
/// Who takes so many times as long as the best of the heats is not in the final, and of the others so many are.
const FAR_BEHIND: f64 = 1.15;
const FINALISTS: usize = 3;
/// Who takes so many times as long as the best after a round of the final drops out; so many rounds there are behind the budget, too.
const BEHIND_IN_FINAL: [f64; 4] = [1.25, 1.1, 1.06, 1.04];
const LEAST_ROUNDS: usize = 2;
/// The model's choice stays where nobody is better than this part of its time; another strategy, for which edges of a small grid cost
/// something else, has to be better than the second.
const CLEARLY: [f64; 2] = [0.99, 0.98];
/// The part of the machine's time that others may use in a contest that is remembered.
const BUSY: f64 = 0.1;
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
        if plans.is_empty() {
            return Err(Error::internal("a contest without entrants"));
        }
        let mut tiled = tiled::load_side_by_side(&plans, &|_| ())?;
        progress(1);
        let (start, watch) = (Instant::now(), Watch::start());
        let mut track = Track::of_heats(self, &plans, &entrants, predicted_s)?;
        // Memory is touched and threads are started before anything counts; while processors that waited for the compiler come to
        // speed, all are as slow, and all of them that matter run again.
        track.run(0, &tiled[0].native)?;
        let mut least = vec![f64::INFINITY; entrants.len()];
        for (at, one) in tiled.iter().enumerate() {
            least[at] = track.run(at, &one.native)?;
        }
        progress(2);
        let short = self.wanted || start.elapsed().as_secs_f64() <= budget;
        for at in foremost(&least, BEHIND, if short { least.len() } else { SECOND_HEAT }) {
            least[at] = least[at].min(track.run(at, &tiled[at].native)?);
        }
        progress(3);
        let finalists = foremost(&least, FAR_BEHIND, if self.wanted { 2 * FINALISTS } else { FINALISTS });
        if let [fastest, _, ..] = finalists[..] {
            let heats = least.clone();
            let run_s = least[fastest] * self.updates(self.size, self.steps);
            if let Some(larger) = track.of_final(&plans, &entrants, run_s)? {
                track = larger;
                track.run(fastest, &tiled[fastest].native)?;
                finalists.iter().for_each(|&at| least[at] = f64::INFINITY);
            }
            let start = Instant::now();
            let mut rest = finalists.clone();
            for (round, behind) in BEHIND_IN_FINAL.iter().enumerate() {
                for &at in &rest {
                    least[at] = least[at].min(track.run(at, &tiled[at].native)?);
                }
                progress(4 + round as i64);
                let best = rest.iter().map(|&at| least[at]).fold(f64::INFINITY, f64::min);
                rest.retain(|&at| least[at] <= behind * best);
                if rest.len() < 2 || round + 1 >= LEAST_ROUNDS && start.elapsed().as_secs_f64() > budget {
                    break;
                }
            }
            // Of those who were not in the final nobody is better than who was.
            let carried = finalists.iter().map(|&at| least[at] / heats[at]).fold(0.0, f64::max);
            let others = (0..least.len()).filter(|at| !finalists.contains(at));
            others.for_each(|at| least[at] *= carried);
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
}

/// The places of the least times, the least first: no more than so many, and no more than `behind` times the least.
fn foremost(times: &[f64], behind: f64, most: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..times.len()).collect();
    all.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
    let least = all.first().map_or(0.0, |&first| times[first]);
    all.into_iter().take(most).take_while(|&at| times[at] <= behind * least).collect()
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
    fn who_is_behind_drops_out() {
        let times = [1.3, 1.0, 1.5, 1.1, f64::INFINITY];
        assert_eq!(foremost(&times, 1.4, 5), [1, 3, 0]);
        assert_eq!(foremost(&times, 1.4, 2), [1, 3]);
        assert!(foremost(&[], 1.4, 2).is_empty());
    }

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
        assert_eq!(winner(&with_diamond(0.975), 0, |_| true), 1);
        assert_eq!(winner(&with_diamond(0.93), 0, |_| true), 2);
        assert_eq!(winner(&with_diamond(0.93), 0, |one| one.strategy == "hhc"), 1);
        assert_eq!(winner(&with_diamond(0.97), 2, |_| true), 2);
    }
}
