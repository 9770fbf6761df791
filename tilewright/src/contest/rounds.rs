//! Heats and a final: who is clearly behind drops out, and of few who are not the fastest on the user's own grid is taken.

use super::track::Track;
use super::{Contest, Entrant, Standing, winner};
use crate::error::{Error, Result};
use execution::tiled;
use std::time::Instant;
use toolchain::interference::Watch;

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
/// Who takes so many times as long as the best after a round of the final drops out.
const BEHIND_IN_FINAL: [f64; 8] = [1.3, 1.15, 1.1, 1.06, 1.04, 1.04, 1.04, 1.04];
/// The final is over where everybody who is left has been so near to its least time twice, or this many budgets are spent: where others
/// change the processor's speed, the least of two runs may be off by a fifth.
const SETTLED: f64 = 1.03;
const BUDGETS_OF_FINAL: f64 = 3.0;
/// The final is over after one round where the first of the heats is the first in it, too, and all others are behind by so much in both.
const CLEAR: f64 = 1.03;
/// A run that takes longer, in seconds, needs no other one before it: its grid was filled just now, and what is cold then is a small part.
const WARM_S: f64 = 0.1;
/// The part of the machine's time that others may use in a contest that is remembered.
const BUSY: f64 = 0.1;

impl Contest<'_> {
    /// Holds the contest among these; the first is the model's choice.
    ///
    /// # Errors
    /// A compiler that is missing, memory, an interruption.
    pub fn hold(&self, mut entrants: Vec<Entrant>, progress: &dyn Fn(i64)) -> Result<Standing> {
        let predicted_s = entrants.first().and_then(|entrant| entrant.predicted_s).unwrap_or(0.0);
        let part = if self.runs { predicted_s * self.calls as f64 * BUDGET_PART } else { 0.0 };
        let budget = part.clamp(BUDGET_S, MOST_BUDGET_S);
        let plans = entrants.iter().map(|entrant| self.plan(entrant)).collect::<Result<Vec<_>>>()?;
        if plans.is_empty() {
            return Err(Error::internal("a contest without entrants"));
        }
        let mut tiled = tiled::load_side_by_side(&plans, &|_| ())?;
        self.share(&tiled)?;
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
                if run_s < WARM_S {
                    track.run(fastest, &tiled[fastest].native)?;
                }
                finalists.iter().for_each(|&at| least[at] = f64::INFINITY);
            }
            let start = Instant::now();
            let mut rest = finalists.clone();
            let mut second = vec![f64::INFINITY; least.len()];
            for (round, behind) in BEHIND_IN_FINAL.iter().enumerate() {
                for &at in &rest {
                    let point_s = track.run(at, &tiled[at].native)?;
                    second[at] = second[at].min(point_s.max(least[at]));
                    least[at] = least[at].min(point_s);
                }
                progress(4 + round as i64);
                let clear = round == 0 && is_clear(&least, &finalists) && is_clear(&heats, &finalists);
                let best = rest.iter().map(|&at| least[at]).fold(f64::INFINITY, f64::min);
                rest.retain(|&at| least[at] <= behind * best);
                let settled = rest.iter().all(|&at| second[at] <= SETTLED * least[at]);
                let spent = start.elapsed().as_secs_f64() > BUDGETS_OF_FINAL * budget;
                if rest.len() < 2 || clear && !self.wanted || round > 0 && (settled || spent) {
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
        let strangers = self.strangers(&watch)?;
        if self.wanted || strangers.is_none_or(|strangers| strangers <= BUSY) {
            self.remember(&entrants);
        }
        let winner = winner(&entrants, 0, |one| self.may_win(one));
        Ok(Standing { winner, entrants, tiled: Some(tiled.swap_remove(winner)) })
    }
}

/// Whether the first of these is faster than all the others by [`CLEAR`].
fn is_clear(times: &[f64], places: &[usize]) -> bool {
    let Some((&first, others)) = places.split_first() else { return true };
    others.iter().all(|&other| times[other] >= CLEAR * times[first])
}

/// The places of the least times, the least first: no more than so many, and no more than `behind` times the least.
fn foremost(times: &[f64], behind: f64, most: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..times.len()).collect();
    all.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
    let least = all.first().map_or(0.0, |&first| times[first]);
    all.into_iter().take(most).take_while(|&at| times[at] <= behind * least).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lead_is_clear_where_all_others_are_behind() {
        let times = [1.04, 1.0, 1.5, 1.02];
        assert!(is_clear(&times, &[1, 0, 2]) && is_clear(&times, &[1]) && is_clear(&times, &[]));
        assert!(!is_clear(&times, &[1, 0, 3]) && !is_clear(&times, &[0, 1]));
    }

    #[test]
    fn who_is_behind_drops_out() {
        let times = [1.3, 1.0, 1.5, 1.1, f64::INFINITY];
        assert_eq!(foremost(&times, 1.4, 5), [1, 3, 0]);
        assert_eq!(foremost(&times, 1.4, 2), [1, 3]);
        assert!(foremost(&[], 1.4, 2).is_empty());
    }
}
