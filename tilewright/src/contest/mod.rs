//! Tile sizes by a short contest on this computer, after a model has named the entrants: a model is wrong by some percent,
//! and now and then by much.
//!
//! All entrants are compiled as one object, and run in turn: in heats on a grid like the user's, of which who is clearly behind drops
//! out, and in a final of few on the user's own as far as that is not too large (`track.rs`). The times are kept as trials in the
//! [state folder](crate::state), so that a contest is held once for a stencil, a processor, and a class of sizes. Ranks of MPI that share a
//! computer run in it all at once (`company.rs`, `leading.rs`).

mod company;
mod entrants;
mod ground;
mod kept;
mod leading;
mod rounds;
mod track;
mod whole_runs;

pub use company::{Company, accompany, dismiss};
pub use whole_runs::WholeRuns;

use crate::cpu_model::CpuModel;
use crate::error::Result;
use crate::load::Stencil;
use execution::tiled::Tiled;
use hhc_codegen::strategy::{self, Strategy};
use hhc_codegen::{KernelPlan, TileSizes};

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
    /// Time steps of a call.
    pub steps: i64,
    /// Calls of the run.
    pub calls: i64,
    /// Threads at work.
    pub threads: usize,
    /// Whether the run follows, so that a part of its time may go into the contest.
    pub runs: bool,
    /// Seconds after which nothing more is begun that can be left out.
    pub patience_s: f64,
    /// Whether the user asked for it: it has more entrants, and is remembered however busy the machine is.
    pub wanted: bool,
    /// The ranks that run at the same time, of which this process is the first.
    pub company: Option<&'a dyn Company>,
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

/// What a choice rests on, beyond a contest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Evidence {
    /// Nothing.
    #[default]
    Contest,
    /// It is tried in the run that follows.
    Tried,
    /// It was the fastest in whole runs of so many.
    Runs(usize),
}

/// What came out.
#[derive(Debug)]
pub struct Standing {
    /// All entrants, the model's choice first.
    pub entrants: Vec<Entrant>,
    /// The one that is taken.
    pub winner: usize,
    /// Whether there was time for all of it; else the next run goes on with it.
    pub is_over: bool,
    /// Whether others let the computer do it; else it is held anew when they do, or before a run.
    pub is_calm: bool,
    /// The winner's code; `None` where the contest was held before, and is remembered.
    pub tiled: Option<Tiled>,
    /// What the choice rests on, beyond the contest.
    pub evidence: Evidence,
}

/// Name of the stage.
pub const STAGE: &str = "timing the best tile sizes, once";
/// Runs whose predicted time is shorter are not worth a contest, in seconds.
pub const SHORTEST_S: f64 = 0.05;
/// The part of the machine's time that others may use in a contest, or in a whole run, that is remembered.
pub const BUSY: f64 = 0.1;
/// The model's choice stays where nobody is better than this part of its time; another strategy, for which edges of a small grid cost
/// something else, has to be better than the second.
const CLEARLY: [f64; 2] = [0.99, 0.98];

impl Contest<'_> {
    /// Whether it may be taken, and is not only there to be compared with.
    fn may_win(&self, one: &Entrant) -> bool {
        self.all_strategies || one.strategy == self.strategy.id()
    }

    fn plan(&self, entrant: &Entrant) -> Result<KernelPlan> {
        let strategy = strategy::by_name(entrant.strategy)?;
        let plan = strategy::plan(strategy, &self.stencil.program, &self.model.analysis.cone, &entrant.tile)?;
        Ok(plan.with_witnesses(&self.stencil.witnesses))
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

    /// How the choice came about, for a report, where so many ranks ran at once.
    pub fn words(&self, ranks: usize) -> String {
        let when = if self.tiled.is_none() { " before" } else { "" };
        let at_once = company::at_once(ranks);
        let timed = format!("{} that were timed on this computer{when}{at_once}", self.entrants.len());
        match (self.evidence, self.entrants[0].point_s.zip(self.taken().point_s)) {
            (Evidence::Tried, _) => format!("tried in a whole run, as good as the fastest of {timed}"),
            (Evidence::Runs(runs), _) if runs > 1 => {
                format!("the fastest in whole runs of the best {runs} of {timed}")
            }
            (_, Some((model, best))) if self.winner > 0 => {
                format!(
                    "the fastest of {timed}; the model's choice takes {:.0} % longer",
                    100.0 * (model / best - 1.0)
                )
            }
            _ => format!("the fastest of {timed}, as the model says"),
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
        assert_eq!(winner(&with_diamond(0.975), 0, |_| true), 1);
        assert_eq!(winner(&with_diamond(0.93), 0, |_| true), 2);
        assert_eq!(winner(&with_diamond(0.93), 0, |one| one.strategy == "hhc"), 1);
        assert_eq!(winner(&with_diamond(0.97), 2, |_| true), 2);
    }
}
