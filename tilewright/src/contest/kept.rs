//! Results that are kept as trials in the state folder, in `@choices`: what each entrant took, and by how much the model
//! was wrong about it.

use super::company::at_once;
use super::{Contest, Entrant, Evidence, Standing, winner};
use crate::{record, state};
use hhc_codegen::strategy;
use std::path::Path;
use toolchain::compiler::{Compiler, Language};
use toolchain::machine::processor_id;
use trials::{Outcome, Setting, Store, Trial};

/// The name of the store.
pub(super) const KEPT: &str = "@choices";
/// The response: seconds per point and step.
pub(super) const RESPONSE: &str = "point_s";
/// What the model said of the whole run, in seconds, and its error as a part of what was measured.
const PREDICTED: &str = "predicted_s";
const MODEL_ERROR: &str = "model_error";
/// 1 where the contest had no time for its end.
const UNFINISHED: &str = "unfinished";
/// 1 where others were at work in the contest.
const AMONG_OTHERS: &str = "among_others";
/// 1 where a trial is a whole run and no part of a contest.
pub(super) const WHOLE_RUN: &str = "whole_run";

/// A contest that was held before.
#[derive(Clone)]
struct Held {
    job: String,
    /// Those who took part, the model's choice first.
    entrants: Vec<Entrant>,
    is_over: bool,
    is_calm: bool,
}

impl Contest<'_> {
    /// Where it is held, with which all jobs end.
    fn place(&self) -> String {
        format!(", on {}{}", processor_id(), at_once(self.ranks()))
    }

    /// What the contest is about, in a form that is the same for all runs of its class: extents within a quarter of a power
    /// of two, steps within two powers.
    pub(super) fn setting(&self) -> Setting {
        let class = |value: i64, parts: f64| {
            let number = ((value.max(1) as f64).log2() * parts).round();
            (number / parts).exp2().round() as i64
        };
        let extents: Vec<i64> = self.size.iter().map(|&extent| class(extent, 4.0)).collect();
        let steps = class(self.steps.min(256), 0.5);
        let program = &self.stencil.program;
        let setting = record::setting(program, self.strategy.id(), "openmp", &extents, steps, "choice");
        let compiler = Compiler::find(Language::C).map(|found| found.version().to_owned());
        let among = if self.all_strategies { " among strategies" } else { "" };
        Setting {
            job: format!("{}{among}{}", setting.job, self.place()),
            compiler: compiler.unwrap_or_default(),
            threads: self.threads.to_string(),
            machine: self.model.machine.description.clone(),
            response: RESPONSE.to_owned(),
            ..setting
        }
    }

    /// The result of a contest that was held before, as these [`trials`](Contest::trials) have it.
    pub(super) fn held_before(&self, trials: &[Trial]) -> Option<Standing> {
        settled(&self.setting().job, &held(trials), &|one| self.may_win(one))
    }

    /// The entrants of the contest that was held before, where it had no time for its end.
    pub fn unfinished(&self) -> Option<Vec<Entrant>> {
        let job = self.setting().job;
        let own = held(&self.trials()).into_iter().find(|held| held.job == job && !held.is_over)?;
        Some(own.entrants)
    }

    /// The winner of the contest among all strategies, as far as one is remembered, and the best of each other contest for
    /// such grids.
    pub(super) fn champions(&self) -> (Option<Entrant>, Vec<Entrant>) {
        let all = Contest { strategy: strategy::preferred(), all_strategies: true, ..*self };
        let trials = self.trials();
        let first = all.held_before(&trials).filter(|standing| standing.is_calm);
        let first = first.map(|standing| standing.taken().clone());
        let best = |held: &Held| held.entrants[winner(&held.entrants, 0, |_| true)].clone();
        (first, held(&trials).iter().filter(|held| held.is_calm).map(best).collect())
    }

    /// What is kept for grids and steps of this class on this processor.
    pub(super) fn trials(&self) -> Vec<Trial> {
        let Ok(path) = state::trials_to_read(Path::new(KEPT)) else { return Vec::new() };
        let Ok(content) = trials::store::read(&path) else { return Vec::new() };
        let own = self.setting();
        let here = self.place();
        let is_alike = |other: &Setting| {
            let class = |of: &Setting| {
                [&of.source, &of.compiler, &of.threads, &of.version, &of.size, &of.steps].map(Clone::clone)
            };
            other.job.ends_with(&here) && class(other) == class(&own)
        };
        content.trials.into_iter().filter(|trial| is_alike(&trial.setting)).collect()
    }

    /// Keeps the result as far as it can be kept: without it, the next run measures again. Of contests in which others were at work
    /// the first one is kept, until one is held that is calm.
    pub(super) fn remember(&self, entrants: &[Entrant], is_over: bool, is_calm: bool) {
        if !is_calm && self.held_before(&self.trials()).is_some() {
            return;
        }
        let Ok(path) = state::trials_to_write(Path::new(KEPT)) else { return };
        let Ok(mut store) = Store::open(&path) else { return };
        let setting = self.setting();
        let updates = self.updates(self.size, self.steps);
        for entrant in entrants {
            let Some(point_s) = entrant.point_s.filter(|seconds| seconds.is_finite()) else { continue };
            let outcome = outcome(point_s, entrant.predicted_s, updates, [is_over, is_calm]);
            let setting = Setting { strategy: entrant.strategy.to_owned(), ..setting.clone() };
            let configuration = record::configuration(&entrant.tile);
            if record::append(&mut store, setting, configuration, outcome.now()).is_err() {
                return;
            }
        }
    }
}

/// What is kept of an entrant: the seconds of a point and step, what the model said of a run of so many of them, and whether the contest
/// had time for its end, and was calm: what others disturbed says nothing of the model.
fn outcome(point_s: f64, predicted_s: Option<f64>, updates: f64, [is_over, is_calm]: [bool; 2]) -> Outcome {
    let mut outcome = Outcome::measured(RESPONSE, point_s).with(RESPONSE, point_s, "s");
    if let Some(predicted_s) = predicted_s {
        let error = predicted_s / updates / point_s - 1.0;
        outcome = outcome.with(PREDICTED, predicted_s, "s");
        if is_calm {
            outcome = outcome.with(MODEL_ERROR, error, "1");
        }
    }
    for (mark, _) in [(UNFINISHED, is_over), (AMONG_OTHERS, is_calm)].iter().filter(|(_, fine)| !fine) {
        outcome = outcome.with(mark, 1.0, "1");
    }
    outcome
}

/// The contests among trials, which whole runs are not, by their jobs; of each job the last one.
fn held(trials: &[Trial]) -> Vec<Held> {
    arranged(trials.iter().filter(|trial| !trial.outcome.metrics.contains_key(WHOLE_RUN)))
}

/// The last contest of each job among these.
fn arranged<'a>(trials: impl Iterator<Item = &'a Trial>) -> Vec<Held> {
    let entrant = |trial: &Trial| {
        let value = |name: &str| trial.outcome.metrics.get(name).map(|metric| metric.value);
        Some(Entrant {
            strategy: strategy::by_name(&trial.setting.strategy).ok()?.id(),
            tile: record::tile(&trial.configuration)?,
            predicted_s: value(PREDICTED),
            point_s: Some(value(RESPONSE)?),
        })
    };
    let mut held: Vec<Held> = Vec::new();
    for trial in trials {
        let Some(entrant) = entrant(trial) else { continue };
        let job = &trial.setting.job;
        let is_over = !trial.outcome.metrics.contains_key(UNFINISHED);
        let is_calm = !trial.outcome.metrics.contains_key(AMONG_OTHERS);
        match held.iter_mut().find(|known| known.job == *job) {
            // Whoever takes part once more is in another contest.
            Some(known)
                if known.is_calm != is_calm || known.entrants.iter().any(|one| one.is_same(&entrant)) =>
            {
                *known = Held { job: job.clone(), entrants: vec![entrant], is_over, is_calm };
            }
            Some(known) => known.entrants.push(entrant),
            None => held.push(Held { job: job.clone(), entrants: vec![entrant], is_over, is_calm }),
        }
    }
    held
}

/// The result of a contest among those that were held for the same grids. Where its winner took part in another one, and was beaten there
/// by somebody who may be taken, that one's; who met in both is as fast as both together say. One in which others were at work has no say
/// about another one.
fn settled(job: &str, held: &[Held], may_win: &dyn Fn(&Entrant) -> bool) -> Option<Standing> {
    let own = held.iter().find(|own| own.job == job)?;
    let (is_over, is_calm) = (own.is_over, own.is_calm);
    let standing = |entrants: &[Entrant], incumbent: usize| {
        let winner = winner(entrants, incumbent, may_win);
        let evidence = Evidence::Contest;
        Standing { winner, entrants: entrants.to_vec(), is_over, is_calm, tiled: None, evidence }
    };
    let mut last = standing(&own.entrants, 0);
    for other in held.iter().filter(|other| other.job != job && other.is_calm) {
        let entrants = &other.entrants;
        let Some(place) = entrants.iter().position(|one| one.is_same(last.taken())) else { continue };
        let found = standing(&with_both(entrants, place, &last), place);
        if found.winner != place {
            last = found;
        }
    }
    Some(last)
}

/// The entrants of a contest, with times by that and by another one whose winner is at this place: of those who met that winner in both, the
/// geometric mean of the two ratios, as minutes differ and nothing else makes one of them worth more.
fn with_both(entrants: &[Entrant], place: usize, other: &Standing) -> Vec<Entrant> {
    let time = |one: &Entrant| one.point_s.filter(|seconds| *seconds > 0.0 && seconds.is_finite());
    let both = |one: &Entrant| {
        let met = other.entrants.iter().find(|known| known.is_same(one))?;
        let ratio = time(met)? / time(other.taken())?;
        let reference = time(&entrants[place])?;
        Some((time(one)? * ratio * reference).sqrt())
    };
    let with = |one: &Entrant| Entrant { point_s: both(one).or(one.point_s), ..one.clone() };
    entrants.iter().map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hhc_codegen::TileSizes;

    /// What has no end yet is unfinished until somebody goes on with it; trials of before say nothing of that.
    #[test]
    fn an_unfinished_contest_is_one_until_it_is_over() {
        let trial = |st: i64, point_s: f64, is_over: bool| trial("all", st, point_s, [is_over, true]);
        let first = [trial(1, 1.0, false), trial(2, 0.9, false)];
        let then = [trial(1, 0.8, true), trial(2, 0.9, true)];
        let known = |trials: &[Trial]| {
            let held = arranged(trials.iter());
            let standing = settled("all", &held, &|_| true).unwrap();
            (standing.taken().tile.get("st").unwrap(), standing.entrants.len(), standing.is_over)
        };
        assert_eq!(known(&first), (2, 2, false));
        assert_eq!(known(&[first, then].concat()), (1, 2, true));
    }

    fn trial(job: &str, st: i64, point_s: f64, is_over_and_calm: [bool; 2]) -> Trial {
        Trial {
            setting: Setting { job: job.to_owned(), strategy: "hhc".to_owned(), ..Setting::default() }.into(),
            configuration: record::configuration(&TileSizes::new([("st", st)])),
            outcome: outcome(point_s, Some(0.5), 100.0, is_over_and_calm),
            round: 0,
        }
    }

    /// It is kept as what it is, has no say about others, is no evidence against the model, and goes when a calm one was held.
    #[test]
    fn a_contest_among_others_work_counts_until_a_calm_one_is_held() {
        let at_first = [trial("all", 1, 1.0, [true, false]), trial("all", 2, 0.5, [true, false])];
        let known = |job: &str, trials: &[Trial]| {
            let standing = settled(job, &arranged(trials.iter()), &|_| true).unwrap();
            (standing.taken().tile.get("st").unwrap(), standing.entrants.len(), standing.is_calm)
        };
        assert_eq!(known("all", &at_first), (2, 2, false));
        assert!(at_first.iter().all(|trial| !trial.outcome.metrics.contains_key(MODEL_ERROR)));
        // The entrants of the calm one may all be others.
        let calm = [trial("all", 3, 0.9, [true, true]), trial("all", 1, 0.8, [true, true])];
        assert_eq!(known("all", &[at_first.as_slice(), &calm].concat()), (1, 2, true));
        assert!(calm.iter().all(|trial| trial.outcome.metrics.contains_key(MODEL_ERROR)));
        // Who won a calm contest stays, whatever a disturbed one says of both.
        let hhc = [trial("hhc", 1, 0.8, [true, true]), trial("hhc", 2, 0.9, [true, true])];
        assert_eq!(known("hhc", &[at_first.as_slice(), &hhc].concat()), (1, 2, true));
    }

    #[test]
    fn no_two_contests_contradict_each_other() {
        let contest = |job: &str, entrants: &[(&'static str, i64, f64)]| {
            let entrant = |&(strategy, st, point_s): &(&'static str, i64, f64)| Entrant {
                strategy,
                tile: TileSizes::new([("st", st)]),
                predicted_s: None,
                point_s: Some(point_s),
            };
            Held {
                job: job.to_owned(),
                entrants: entrants.iter().map(entrant).collect(),
                is_over: true,
                is_calm: true,
            }
        };
        let all = contest("all", &[("hhc", 1, 1.0), ("hhc", 2, 0.9), ("diamond", 1, 0.95)]);
        let taken = |job: &str, held: &[Held], only: Option<&str>| {
            let may_win = |one: &Entrant| only.is_none_or(|only| one.strategy == only);
            let found = settled(job, held, &may_win).unwrap();
            let taken = found.taken();
            (taken.strategy, taken.tile.get("st").unwrap())
        };
        assert_eq!(taken("all", std::slice::from_ref(&all), None), ("hhc", 2));
        // In a minute in which the machine is slow, one of those who meet is the better one.
        let hhc = contest("hhc", &[("hhc", 1, 1.5), ("hhc", 2, 1.6), ("hhc", 3, 1.4)]);
        assert_eq!(taken("all", &[all.clone(), hhc.clone()], None), ("hhc", 3));
        assert_eq!(taken("hhc", &[all.clone(), hhc.clone()], Some("hhc")), ("hhc", 3));
        // Of two who met twice, both contests count.
        let alone = contest("hhc", &[("hhc", 1, 0.97), ("hhc", 2, 1.0)]);
        assert_eq!(taken("all", &[all.clone(), alone], None), ("hhc", 2));
        let clearly = contest("hhc", &[("hhc", 1, 0.8), ("hhc", 2, 1.0)]);
        assert_eq!(taken("all", &[all.clone(), clearly], None), ("hhc", 1));
        // Who was not met is no better for a fast minute; who was, is.
        let apart = contest("diamond", &[("diamond", 1, 0.5), ("diamond", 2, 0.4)]);
        assert_eq!(taken("all", &[all.clone(), apart], None), ("hhc", 2));
        let met = contest("diamond", &[("diamond", 1, 0.5), ("diamond", 2, 0.4), ("hhc", 3, 0.45)]);
        assert_eq!(taken("all", &[all.clone(), hhc, met.clone()], None), ("diamond", 2));
        assert_eq!(taken("diamond", &[all, met], Some("diamond")), ("diamond", 2));
    }
}
