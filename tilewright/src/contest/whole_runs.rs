//! Whole runs: what a tile takes in the user's own run is worth more than what it took in a contest, on a part of the grid and in a
//! fraction of a second, and costs nothing. The first runs after a contest take one of those each that it found alike; then the one is taken
//! whose runs were the fastest.

use super::kept::{KEPT, RESPONSE, WHOLE_RUN};
use super::{Contest, Entrant, Evidence, SHORTEST_S, Standing};
use crate::{record, state};
use hhc_codegen::TileSizes;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use trials::{Configuration, Outcome, Setting, Store, Trial};

/// Who took so many times as long as the winner of a contest is tried in a whole run, as contests were wrong by that; at most so many,
/// the winner among them.
const ALIKE: f64 = 1.2;
const TRIED: usize = 4;
/// Who is behind in whole runs by no more than those of the fastest differ is tried again, up to so many times in all.
const ENOUGH: usize = 3;
/// Differences beyond this part are those of a computer that is not calm: nobody is tried for them, but who was no slower in the contest,
/// and is behind by more after a single run, has another one.
const CALM: f64 = 0.15;
/// Runs of a tile that are kept, and the last ones of them of which the median counts.
const MOST: usize = 12;
const LAST: usize = 5;

/// The whole runs of a tile, in seconds of a point and step, in the order in which they were.
pub(super) struct Runs {
    strategy: String,
    tile: TileSizes,
    point_s: Vec<f64>,
}

impl Runs {
    /// Those among these trials.
    pub(super) fn among<'a>(trials: impl Iterator<Item = &'a Trial>) -> Vec<Runs> {
        let mut all: Vec<Runs> = Vec::new();
        for trial in trials.filter(|trial| trial.outcome.metrics.contains_key(WHOLE_RUN)) {
            let Some(tile) = record::tile(&trial.configuration) else { continue };
            let Some(point_s) = trial.outcome.response(RESPONSE).filter(|point_s| *point_s > 0.0) else {
                continue;
            };
            let strategy = &trial.setting.strategy;
            match all.iter_mut().find(|known| known.strategy == *strategy && known.tile == tile) {
                Some(known) => known.point_s.push(point_s),
                None => all.push(Runs { strategy: strategy.clone(), tile, point_s: vec![point_s] }),
            }
        }
        all
    }

    fn are_of(&self, entrant: &Entrant) -> bool {
        self.strategy == entrant.strategy && self.tile == entrant.tile
    }

    /// The last ones, the fastest first.
    fn last(&self) -> Vec<f64> {
        let mut last = self.point_s[self.point_s.len().saturating_sub(LAST)..].to_vec();
        last.sort_by(f64::total_cmp);
        last
    }

    /// The median of the last ones, the lesser of two in the middle.
    fn median_s(&self) -> f64 {
        let last = self.last();
        last.get(last.len().saturating_sub(1) / 2).copied().unwrap_or(f64::INFINITY)
    }

    /// How many times as long as the fastest of the last ones the slowest took.
    fn spread(&self) -> f64 {
        let last = self.last();
        last.first().zip(last.last()).map_or(1.0, |(least, most)| most / least)
    }
}

/// The contest's winner, or who was faster in whole runs; where another one `follows`, who was as good as the winner and never had one.
pub(super) fn heed(
    standing: &mut Standing,
    runs: &[Runs],
    follows: bool,
    may_win: &dyn Fn(&Entrant) -> bool,
) {
    let of = |entrant: &Entrant| runs.iter().find(|runs| runs.are_of(entrant));
    let entrants = &standing.entrants;
    let time = |at: usize| entrants[at].point_s.unwrap_or(f64::INFINITY);
    // The winner may have been lucky in the contest, which its whole runs tell.
    let its = of(&entrants[standing.winner]).map_or(0.0, Runs::median_s);
    let most = ALIKE * time(standing.winner).max(its);
    let mut alike: Vec<usize> = (0..entrants.len())
        .filter(|&at| at != standing.winner && time(at) <= most && may_win(&entrants[at]))
        .collect();
    alike.sort_by(|&a, &b| time(a).total_cmp(&time(b)));
    alike.insert(0, standing.winner);
    alike.truncate(TRIED);
    let next = alike.iter().copied().find(|&at| of(&entrants[at]).is_none());
    if let Some(next) = next.filter(|_| follows) {
        (standing.winner, standing.evidence) = (next, Evidence::Tried);
        return;
    }
    let known: Vec<(usize, &Runs)> = alike.iter().filter_map(|&at| Some((at, of(&entrants[at])?))).collect();
    let fastest = known.iter().min_by(|a, b| a.1.median_s().total_cmp(&b.1.median_s()));
    let Some(&(fastest, its)) = fastest.filter(|_| known[0].0 == standing.winner) else { return };
    // One slow moment must not decide against a tile for ever.
    let near = its.median_s() * its.spread().min(1.0 + CALM);
    let far = its.median_s() * (1.0 + CALM);
    let is_due = |(at, runs): &&(usize, &Runs)| {
        let belied = runs.point_s.len() == 1 && runs.median_s() > far && time(*at) <= time(fastest);
        *at != fastest && (runs.point_s.len() < ENOUGH && runs.median_s() <= near || belied)
    };
    let again = known.iter().filter(is_due);
    let again = again.min_by_key(|(_, runs)| runs.point_s.len()).filter(|_| follows);
    (standing.winner, standing.evidence) = match again {
        Some(&(again, _)) => (again, Evidence::Tried),
        None => (fastest, Evidence::Runs(known.len())),
    };
}

/// Where the whole run of a choice is kept.
pub struct WholeRuns {
    setting: Setting,
    configuration: Configuration,
    /// The grid and the steps that the choice is for.
    size: Vec<i64>,
    steps: i64,
    updates: f64,
    /// How many more are kept.
    left: AtomicUsize,
}

impl Contest<'_> {
    /// The result of a contest that was held before, and of the whole runs since then.
    pub fn remembered(&self) -> Option<Standing> {
        let trials = self.trials();
        let mut standing = self.held_before(&trials)?;
        heed(&mut standing, &Runs::among(trials.iter()), self.follows(), &|one| self.may_win(one));
        Some(standing)
    }

    /// Whether a whole run follows, here alone.
    pub fn follows(&self) -> bool {
        self.runs && self.calls == 1 && self.company.is_none()
    }

    /// Where a whole run of this one is kept, if it follows.
    pub fn whole_runs(&self, entrant: &Entrant) -> Option<WholeRuns> {
        if !self.follows() {
            return None;
        }
        let known = Runs::among(self.trials().iter());
        let known = known.iter().find(|runs| runs.are_of(entrant)).map_or(0, |runs| runs.point_s.len());
        Some(WholeRuns {
            setting: Setting { strategy: entrant.strategy.to_owned(), ..self.setting() },
            configuration: record::configuration(&entrant.tile),
            size: self.size.to_vec(),
            steps: self.steps,
            updates: self.updates(self.size, self.steps),
            left: AtomicUsize::new(MOST.saturating_sub(known)),
        })
    }
}

impl WholeRuns {
    /// Keeps what one took, in seconds, as far as it can be kept, if it was a run of what the choice is for, and long enough.
    pub fn keep(&self, size: &[i64], steps: i64, seconds: f64) {
        let is_own = size == self.size && steps == self.steps && seconds >= SHORTEST_S;
        let less = |left: usize| left.checked_sub(1);
        if !is_own || self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err() {
            return;
        }
        let Ok(path) = state::trials_to_write(Path::new(KEPT)) else { return };
        let Ok(mut store) = Store::open(&path) else { return };
        let point_s = seconds / self.updates;
        // Without it the next run tries the same.
        let _ = record::append(
            &mut store,
            self.setting.clone(),
            self.configuration.clone(),
            outcome(point_s).now(),
        );
    }
}

fn outcome(point_s: f64) -> Outcome {
    Outcome::measured(RESPONSE, point_s).with(RESPONSE, point_s, "s").with(WHOLE_RUN, 1.0, "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entrant(st: i64, point_s: f64) -> Entrant {
        let tile = TileSizes::new([("st", st)]);
        Entrant { strategy: "hhc", tile, predicted_s: None, point_s: Some(point_s) }
    }

    fn runs(st: i64, point_s: &[f64]) -> Runs {
        Runs { strategy: "hhc".to_owned(), tile: TileSizes::new([("st", st)]), point_s: point_s.to_vec() }
    }

    /// Whose turn it is after a contest of three, of which the second won.
    fn taken(runs: &[Runs], follows: bool) -> (usize, Evidence) {
        let entrants = vec![entrant(1, 1.03), entrant(2, 1.0), entrant(3, 1.3)];
        let evidence = Evidence::default();
        let (is_over, is_calm) = (true, true);
        let mut standing = Standing { entrants, winner: 1, is_over, is_calm, tiled: None, evidence };
        heed(&mut standing, runs, follows, &|_| true);
        (standing.winner, standing.evidence)
    }

    #[test]
    fn who_is_as_good_as_the_winner_has_a_whole_run_and_the_fastest_is_taken() {
        assert_eq!(taken(&[], true), (1, Evidence::Tried));
        assert_eq!(taken(&[], false), (1, Evidence::Contest));
        assert_eq!(taken(&[runs(2, &[1.08])], true), (0, Evidence::Tried));
        assert_eq!(taken(&[runs(2, &[1.08])], false), (1, Evidence::Runs(1)));
        let both = |second: &[f64]| [runs(2, second), runs(1, &[1.05])];
        assert_eq!(taken(&both(&[1.08]), true), (0, Evidence::Runs(2)));
        assert_eq!(taken(&both(&[1.0]), true), (1, Evidence::Runs(2)));
        // Who was slower by less than runs of the fastest differ has another one, three in all.
        let unsteady = |first: &[f64]| [runs(2, &[1.0, 1.08]), runs(1, first)];
        assert_eq!(taken(&unsteady(&[1.05]), true), (0, Evidence::Tried));
        assert_eq!(taken(&unsteady(&[1.05]), false), (1, Evidence::Runs(2)));
        assert_eq!(taken(&unsteady(&[1.09]), true), (1, Evidence::Runs(2)));
        assert_eq!(taken(&unsteady(&[1.05, 1.05, 1.05]), true), (1, Evidence::Runs(2)));
        let wild = [runs(2, &[1.0, 1.9]), runs(1, &[1.2])];
        assert_eq!(taken(&wild, true), (1, Evidence::Runs(2)));
        // A single run that belies the contest is not the last word.
        let three = |second: &[f64]| [runs(2, second), runs(1, &[1.05]), runs(3, &[1.6])];
        assert_eq!(taken(&three(&[1.5]), true), (1, Evidence::Tried));
        assert_eq!(taken(&three(&[1.5, 1.5]), true), (0, Evidence::Runs(3)));
        // The winner was as lucky in the contest as its whole run says, which leaves room for the third.
        assert_eq!(taken(&[runs(2, &[1.1]), runs(1, &[1.2])], true), (2, Evidence::Tried));
        // One lucky run is outweighed by those after it.
        assert_eq!(taken(&both(&[0.9, 1.08, 1.08]), true), (0, Evidence::Runs(2)));
        // Who was far behind in the contest is not tried, and a run of another contest's winner does not count.
        assert_eq!(
            taken(&[runs(2, &[1.05]), runs(1, &[1.2]), runs(3, &[1.0])], true),
            (1, Evidence::Runs(2))
        );
        assert_eq!(taken(&[runs(1, &[1.0])], false), (1, Evidence::Contest));
    }

    #[test]
    fn trials_of_a_tile_are_its_runs() {
        let trial = |strategy: &str, st: i64, outcome: Outcome| Trial {
            setting: Setting { strategy: strategy.to_owned(), ..Setting::default() }.into(),
            configuration: record::configuration(&TileSizes::new([("st", st)])),
            outcome,
            round: 0,
        };
        let in_contest = Outcome::measured(RESPONSE, 0.5).with(RESPONSE, 0.5, "s");
        let trials = [
            trial("hhc", 1, outcome(1.0)),
            trial("hhc", 1, in_contest),
            trial("diamond", 1, outcome(3.0)),
            trial("hhc", 1, outcome(2.0)),
            trial("hhc", 2, outcome(0.0)),
        ];
        let found = Runs::among(trials.iter());
        let runs: Vec<_> = found.iter().map(|runs| (&*runs.strategy, runs.point_s.clone())).collect();
        assert_eq!(runs, [("hhc", vec![1.0, 2.0]), ("diamond", vec![3.0])]);
        assert!(found[0].are_of(&entrant(1, 1.0)) && !found[1].are_of(&entrant(1, 1.0)));
    }

    #[test]
    fn old_runs_are_forgotten() {
        assert!((runs(1, &[9.0, 9.0, 9.0, 1.0, 2.0, 3.0, 4.0, 5.0]).median_s() - 3.0).abs() < 1e-12);
        assert!((runs(1, &[2.0, 1.0]).median_s() - 1.0).abs() < 1e-12);
    }
}
