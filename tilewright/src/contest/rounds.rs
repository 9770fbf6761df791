//! Heats and a final: who is clearly behind drops out, and of few who are not the fastest on the user's own grid is taken.

use super::track::Track;
use super::{BUSY, Contest, Entrant, Evidence, Standing, winner};
use crate::error::{Error, Result};
use execution::tiled::{self, Tiled};
use hhc_codegen::KernelPlan;
use std::time::Instant;
use toolchain::interference::Watch;

/// Seconds that measuring may take where the run is short, the part of a long run, and the most.
const BUDGET_S: f64 = 0.8;
const BUDGET_PART: f64 = 0.03;
const MOST_BUDGET_S: f64 = 20.0;
/// Seconds of all threads together that runs may take where no run of the user's follows, and the least of each thread: who compiles a
/// program waits for it, and the next use goes on.
const BRIEF_CPU_S: f64 = 0.28;
const LEAST_BRIEF_S: f64 = 0.1;
/// So many are seen there whatever it takes.
const LEAST_SEEN: usize = 3;
/// The part of the time that is left after compiling in which all run once, and the shortest run of which its time says something.
const FIRST_HEAT: f64 = 0.4;
const SHORTEST_RUN_S: f64 = 0.03;
/// What it takes to fill the grid of a final, in seconds.
const FILLING_S: f64 = 0.12;
/// What the next run has for a final that found no time, in seconds.
const REST_S: f64 = 1.2;
/// Who takes so many times as long as the best after a heat has no other one. Others' work may slow down a single run by half, so that
/// little is decided after the first one.
const BEHIND: f64 = 1.4;
/// So many run again however long the first heat took.
const SECOND_HEAT: usize = 5;
/// Who takes so many times as long as the best of the heats is not in the final, and of the others so many are: after one heat, of which
/// times are less certain, and after two.
const FAR_BEHIND: [f64; 2] = [1.25, 1.15];
const FINALISTS: usize = 3;
/// The most where the next run holds the final.
const MORE_FINALISTS: usize = 5;
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
/// How long it goes on.
struct Clock {
    begin: Instant,
    patience_s: f64,
    /// What measuring may take by the length of the run.
    budget_s: f64,
}

impl Clock {
    fn start(patience_s: f64, budget_s: f64) -> Clock {
        Clock { begin: Instant::now(), patience_s, budget_s }
    }

    /// How many of so many can take part in a round of the final on the user's own grid, two at least where there are two, and the seconds
    /// that each of them may take, no more than these.
    fn seats(&self, run_s: f64, final_s: f64, most: usize) -> (usize, f64) {
        let left_s = (self.left_s() - FILLING_S).max(0.0);
        let fit = (left_s / run_s.min(final_s)) as usize;
        let seats = fit.max(2).min(most);
        (seats, (left_s / seats.max(1) as f64).min(final_s))
    }

    fn left_s(&self) -> f64 {
        self.patience_s - self.begin.elapsed().as_secs_f64()
    }
}

/// Who runs, on what, and the least seconds of a point and step that each has taken.
struct Field<'a> {
    contest: &'a Contest<'a>,
    tiled: &'a [Tiled],
    track: Track<'a>,
    least: Vec<f64>,
    /// Seconds of one run.
    each_s: f64,
}

impl Contest<'_> {
    /// Holds the contest among these; the first is the model's choice.
    ///
    /// # Errors
    /// A compiler that is missing, memory, an interruption.
    pub fn hold(&self, entrants: Vec<Entrant>, progress: &dyn Fn(i64)) -> Result<Standing> {
        let predicted_s = entrants.first().and_then(|entrant| entrant.predicted_s).unwrap_or(0.0);
        let part = if self.runs { predicted_s * self.calls as f64 * BUDGET_PART } else { 0.0 };
        let clock = Clock::start(self.patience_s, part.clamp(BUDGET_S, MOST_BUDGET_S));
        let entrants = if self.is_brief() { self.promising(entrants) } else { entrants };
        self.run_among(entrants, progress, |plans, entrants, tiled| {
            let clock = self.of_runs(clock);
            let run_s = (FIRST_HEAT * clock.left_s() / (1 + plans.len()) as f64).max(SHORTEST_RUN_S);
            let track = Track::of_heats(self, plans, entrants, (predicted_s, run_s))?;
            let least = vec![f64::INFINITY; plans.len()];
            let mut field = Field { contest: self, tiled, track, least, each_s: 0.0 };
            let mut finalists = field.heats(&clock, progress)?;
            let heats = field.least.clone();
            let mut is_over = heats.iter().all(|point_s| point_s.is_finite());
            if let [fastest, _, ..] = finalists[..] {
                let run_s = heats[fastest] * self.updates(self.size, self.steps);
                let final_s = self.final_s(run_s)?;
                let (seats, time_s) = clock.seats(run_s, final_s, finalists.len());
                finalists.truncate(seats);
                let is_worth_it = time_s >= field.each_s.min(final_s);
                let heats_were_on = Some(&field.track);
                let larger = match is_worth_it {
                    true => Track::of_final(self, plans, entrants, (run_s, time_s), heats_were_on)?,
                    false => None,
                };
                let is_larger = larger.is_some();
                if let Some(larger) = larger {
                    field.move_to(larger, (run_s, time_s), &finalists)?;
                }
                is_over &= field.decide(&finalists, &heats, is_larger, &clock, progress)?;
            }
            Ok((field.least, is_over))
        })
    }

    /// Goes on with a contest that a run before had no time to end: with its final.
    ///
    /// # Errors
    /// As for [`Contest::hold`].
    pub fn go_on(&self, entrants: Vec<Entrant>, progress: &dyn Fn(i64)) -> Result<Standing> {
        let clock = Clock::start(self.patience_s.max(REST_S), BUDGET_S);
        self.run_among(entrants, progress, |plans, entrants, tiled| {
            let clock = self.of_runs(clock);
            let before: Vec<f64> = entrants.iter().map(|one| one.point_s.unwrap_or(f64::INFINITY)).collect();
            let mut finalists = foremost(&before, FAR_BEHIND[0], MORE_FINALISTS);
            let Some(&fastest) = finalists.first() else { return Ok((before, true)) };
            let run_s = before[fastest] * self.updates(self.size, self.steps);
            let (seats, time_s) = clock.seats(run_s, self.final_s(run_s)?, finalists.len());
            finalists.truncate(seats);
            let track = Track::of_final(self, plans, entrants, (run_s, time_s), None)?;
            let Some(track) = track else { return Ok((before, true)) };
            let mut field = Field { contest: self, tiled, track, least: before.clone(), each_s: time_s };
            field.begin(run_s, &finalists)?;
            field.decide(&finalists, &before, true, &clock, progress)?;
            Ok((field.least, true))
        })
    }

    /// Whether somebody waits who runs nothing: what finds no time is left to the next use.
    pub(super) fn is_brief(&self) -> bool {
        !self.runs && !self.wanted
    }

    /// The clock once all is compiled.
    fn of_runs(&self, clock: Clock) -> Clock {
        if !self.is_brief() {
            return clock;
        }
        let brief_s = (BRIEF_CPU_S / self.threads.max(1) as f64).max(LEAST_BRIEF_S);
        Clock::start(brief_s.min(clock.left_s()), clock.budget_s)
    }

    /// Compiles the entrants, has them run, and keeps what came out: the least time of a point and step of each, and whether the contest
    /// is over.
    fn run_among(
        &self,
        mut entrants: Vec<Entrant>,
        progress: &dyn Fn(i64),
        run: impl FnOnce(&[KernelPlan], &[Entrant], &[Tiled]) -> Result<(Vec<f64>, bool)>,
    ) -> Result<Standing> {
        let plans = entrants.iter().map(|entrant| self.plan(entrant)).collect::<Result<Vec<_>>>()?;
        if plans.is_empty() {
            return Err(Error::internal("a contest without entrants"));
        }
        let tiled = tiled::load_side_by_side(&plans, self.is_brief(), &|_| ())?;
        self.share(&tiled)?;
        progress(1);
        let watch = Watch::start();
        let (least, is_over) = run(&plans, &entrants, &tiled)?;
        for (entrant, point_s) in entrants.iter_mut().zip(&least) {
            entrant.point_s = Some(*point_s);
        }
        // Who was not seen did not take part.
        let seen = entrants.into_iter().zip(tiled).zip(least).filter(|(_, point_s)| point_s.is_finite());
        let (entrants, mut tiled): (Vec<Entrant>, Vec<Tiled>) = seen.map(|(one, _)| one).unzip();
        if entrants.is_empty() {
            return Err(Error::internal("a contest in which nobody ran"));
        }
        // Among others' work chance decides who is fast: it is held anew when they are gone.
        let strangers = self.strangers(&watch)?;
        let is_calm = self.wanted || strangers.is_none_or(|strangers| strangers <= BUSY);
        self.remember(&entrants, is_over, is_calm);
        let winner = winner(&entrants, 0, |one| self.may_win(one));
        let evidence = Evidence::Contest;
        let tiled = Some(tiled.swap_remove(winner));
        Ok(Standing { winner, entrants, is_over, is_calm, tiled, evidence })
    }
}

impl<'a> Field<'a> {
    /// One run of this one. What it took counts if it is the least.
    fn run(&mut self, at: usize) -> Result<f64> {
        let point_s = self.track.run(at, &self.tiled[at].native)?;
        self.least[at] = self.least[at].min(point_s);
        Ok(point_s)
    }

    /// The places of those who are in the final, the fastest first.
    fn heats(&mut self, clock: &Clock, progress: &dyn Fn(i64)) -> Result<Vec<usize>> {
        let start = Instant::now();
        // Memory is touched and threads are started before anything counts; while processors that waited for the compiler come to
        // speed, all are as slow, and all of them that matter run again.
        let cold = self.track.run(0, &self.tiled[0].native)?;
        let (cold_s, is_brief) = (start.elapsed().as_secs_f64(), self.contest.is_brief());
        let first = Instant::now();
        // A long one needs no other one before it.
        let counts = is_brief && cold_s >= WARM_S;
        if counts {
            self.least[0] = cold;
        }
        let begin = usize::from(counts);
        let mut seen = begin;
        while seen < self.tiled.len() && !(is_brief && seen >= LEAST_SEEN && cold_s > clock.left_s()) {
            self.run(seen)?;
            seen += 1;
        }
        self.each_s = first.elapsed().as_secs_f64() / (seen - begin).max(1) as f64;
        progress(2);
        let wanted = self.contest.wanted;
        let short = wanted || start.elapsed().as_secs_f64() <= clock.budget_s;
        let again = foremost(&self.least, BEHIND, if short { self.least.len() } else { SECOND_HEAT });
        // Where there is no time for both, the final is worth more than a second heat.
        let contest = self.contest;
        let fastest_s = self.least.iter().fold(f64::INFINITY, |least, &own| least.min(own));
        let final_s = contest.final_s(fastest_s * contest.updates(contest.size, contest.steps))?;
        let both_s = again.len() as f64 * self.each_s + FINALISTS as f64 * final_s + FILLING_S;
        let twice = both_s <= clock.left_s();
        again.into_iter().filter(|_| twice).try_for_each(|at| self.run(at).map(|_| ()))?;
        progress(3);
        Ok(foremost(
            &self.least,
            FAR_BEHIND[usize::from(twice)],
            if wanted { 2 * FINALISTS } else { FINALISTS },
        ))
    }

    /// Runs on this from now on, as the final begins: what others took elsewhere no longer counts.
    fn move_to(&mut self, track: Track<'a>, (run_s, each_s): (f64, f64), finalists: &[usize]) -> Result<()> {
        (self.track, self.each_s) = (track, each_s);
        self.begin(run_s, finalists)
    }

    fn begin(&mut self, run_s: f64, finalists: &[usize]) -> Result<()> {
        if run_s < WARM_S {
            self.track.run(finalists[0], &self.tiled[finalists[0]].native)?;
        }
        finalists.iter().for_each(|&at| self.least[at] = f64::INFINITY);
        Ok(())
    }

    /// The final, as far as there is time for it, and at least one round where it `is_due`; whether it came to its end.
    fn decide(
        &mut self,
        finalists: &[usize],
        heats: &[f64],
        mut is_due: bool,
        clock: &Clock,
        progress: &dyn Fn(i64),
    ) -> Result<bool> {
        let start = Instant::now();
        let mut rest = finalists.to_vec();
        let mut second = vec![f64::INFINITY; self.least.len()];
        let mut is_over = true;
        for (round, behind) in BEHIND_IN_FINAL.iter().enumerate() {
            if !is_due && self.each_s * rest.len() as f64 > clock.left_s() {
                is_over = false;
                break;
            }
            is_due = false;
            let began = Instant::now();
            for &at in &rest {
                let before = self.least[at];
                second[at] = second[at].min(self.run(at)?.max(before));
            }
            self.each_s = began.elapsed().as_secs_f64() / rest.len() as f64;
            progress(4 + round as i64);
            let clear = round == 0 && is_clear(&self.least, finalists) && is_clear(heats, finalists);
            let best = rest.iter().map(|&at| self.least[at]).fold(f64::INFINITY, f64::min);
            rest.retain(|&at| self.least[at] <= behind * best);
            let settled = rest.iter().all(|&at| second[at] <= SETTLED * self.least[at]);
            let spent = start.elapsed().as_secs_f64() > BUDGETS_OF_FINAL * clock.budget_s;
            if rest.len() < 2 || clear && !self.contest.wanted || round > 0 && (settled || spent) {
                break;
            }
        }
        // Of those who were not in the final nobody is better than who was.
        let carried = finalists.iter().map(|&at| self.least[at] / heats[at]).fold(0.0, f64::max);
        let others = (0..heats.len()).filter(|at| !finalists.contains(at));
        others.for_each(|at| self.least[at] *= carried);
        Ok(is_over)
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
