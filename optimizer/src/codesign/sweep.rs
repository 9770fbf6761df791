//! The outer problem: all designs within the budget, in parallel, with a journal.
//!
//! Designs are worked on in groups that share tables ([`Key`]): within one, only `n_SM`, `M_SM` and caches vary. The
//! result of a group depends on nothing but the workload, so a group that a journal holds need not be computed again,
//! and the result is the same to the last bit, whichever [process](super::part) computed it.

use super::CodesignError;
use super::design::Design;
use super::fitting::Fitting;
use super::inner::{Effort, Outcome};
use super::journal::Journal;
use super::part::Part;
use super::ranked::Ranked;
use super::setting::{Key, Setting, Tables, fitting};
use super::verdict::GroupResult;
pub use super::verdict::Verdict;
use super::workload::Keep;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A sweep that is finished.
#[derive(Debug, Clone)]
pub struct Swept {
    /// The designs within the budget.
    pub designs: Vec<Design>,
    /// What is known about each.
    pub verdicts: Vec<Verdict>,
    /// What the searches looked at.
    pub effort: Effort,
    /// Groups, and those of them that came from the journal.
    pub groups: (usize, usize),
}

/// How a sweep is watched, stopped and resumed.
pub struct Control<'a> {
    /// Is told how many groups are done.
    pub progress: &'a (dyn Fn(usize) + Sync),
    /// Whether to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Where finished groups are kept.
    pub journal: Option<&'a Journal>,
}

impl Control<'_> {
    /// Nobody watches, nothing is kept.
    pub const NONE: Control<'static> = Control { progress: &|_| {}, stop: &|| false, journal: None };
}

/// The designs of a budget, by group.
pub fn groups(setting: &Setting, designs: &[Design]) -> Vec<(Key, Vec<usize>)> {
    let mut groups: Vec<(Key, Vec<usize>)> = Vec::new();
    let mut places: HashMap<[u64; 4], usize> = HashMap::new();
    for (index, design) in designs.iter().enumerate() {
        let key = setting.key(design);
        let place = *places.entry(key.bits()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, members)) => members.push(index),
            None => groups.push((key, vec![index])),
        }
    }
    groups
}

/// Sweeps over the designs whose area lies within `budget` (mm2).
///
/// # Errors
/// [`CodesignError::EmptyBudget`], [`CodesignError::Stopped`], and where the journal cannot be written.
pub fn sweep(setting: &Setting, budget: (f64, f64), control: &Control<'_>) -> Result<Swept, CodesignError> {
    let sweep = Sweep::new(setting, budget, control)?;
    let mut verdicts: Vec<Option<Verdict>> = vec![None; sweep.designs.len()];
    let mut effort = Effort::default();
    sweep.batches(true, |(members, of_group)| {
        effort += *of_group;
        for (index, verdict) in members {
            verdicts[*index] = Some(verdict.clone());
        }
    })?;
    // Each design is in a group.
    let verdicts = verdicts.into_iter().flatten().collect();
    let groups = (sweep.groups.len(), sweep.kept.len());
    Ok(Swept { designs: sweep.designs, verdicts, effort, groups })
}

/// The part of a sweep that is the journal's own, for a process that leaves the rest to others: the number of its groups.
///
/// # Errors
/// As for [`sweep`].
pub fn share(setting: &Setting, budget: (f64, f64), control: &Control<'_>) -> Result<usize, CodesignError> {
    let sweep = Sweep::new(setting, budget, control)?;
    sweep.batches(false, |_| ())?;
    Ok(sweep.done.load(Ordering::Relaxed))
}

/// A sweep under way.
struct Sweep<'a> {
    setting: &'a Setting,
    control: &'a Control<'a>,
    designs: Vec<Design>,
    groups: Vec<(Key, Vec<usize>)>,
    /// What the journals held at the beginning.
    kept: BTreeMap<usize, GroupResult>,
    part: Part,
    /// Groups that were finished here.
    done: AtomicUsize,
}

impl<'a> Sweep<'a> {
    fn new(
        setting: &'a Setting,
        budget: (f64, f64),
        control: &'a Control<'a>,
    ) -> Result<Sweep<'a>, CodesignError> {
        let workload = &setting.workload;
        let designs = workload.space.within(&workload.family.area, budget);
        if designs.is_empty() {
            let (least, most) = workload.space.areas(&workload.family.area).unwrap_or((0.0, 0.0));
            return Err(CodesignError::EmptyBudget { budget, least, most });
        }
        let groups = groups(setting, &designs);
        let kept = control.journal.map(Journal::groups).unwrap_or_default();
        let part = control.journal.map_or(Part::ALONE, Journal::part);
        Ok(Sweep { setting, control, designs, groups, kept, part, done: AtomicUsize::new(0) })
    }

    /// Works on all batches; `whole` says whether the others' groups of the last one are wanted, too.
    fn batches(&self, whole: bool, mut take: impl FnMut(&GroupResult)) -> Result<(), CodesignError> {
        let mut known: Vec<Known> = Vec::new();
        let batches = batches(self.groups.len(), self.setting.workload.keep);
        for (number, batch) in batches.iter().enumerate() {
            let places = batch.iter().enumerate();
            let (own, others): (Vec<_>, Vec<_>) = places.partition(|(place, _)| self.part.has(*place));
            let own = own.par_iter().with_max_len(1).map(|(_, index)| self.group(**index, &known));
            let mut results: Vec<GroupResult> = own.collect::<Result<_, _>>()?;
            if !whole && number + 1 == batches.len() {
                break;
            }
            results.extend(self.others(others.into_iter().map(|(_, index)| *index).collect(), &known)?);
            for result in results {
                take(&result);
                for (index, verdict) in result.0 {
                    if let Verdict::Evaluated(outcomes) = &verdict {
                        let [cost, joules] = costs(self.setting, outcomes);
                        let area_mm2 = self.setting.area_mm2(&self.designs[index]);
                        known.push(Known { area_mm2, cost, joules });
                    }
                }
            }
        }
        Ok(())
    }

    /// A group's result, if it is of the designs that are in that group now.
    fn fitting<'b>(&self, index: usize, found: &'b BTreeMap<usize, GroupResult>) -> Option<&'b GroupResult> {
        let (_, members) = &self.groups[index];
        found
            .get(&index)
            .filter(|(verdicts, _)| verdicts.iter().map(|(design, _)| *design).eq(members.iter().copied()))
    }

    fn group(&self, index: usize, known: &[Known]) -> Result<GroupResult, CodesignError> {
        if (self.control.stop)() {
            return Err(CodesignError::Stopped);
        }
        let result = match self.fitting(index, &self.kept) {
            Some(kept) => kept.clone(),
            None => {
                let (key, members) = &self.groups[index];
                let result = group(self.setting, key, members, &self.designs, known);
                if let Some(journal) = self.control.journal {
                    journal.append(index, &result)?;
                }
                result
            }
        };
        self.progress();
        Ok(result)
    }

    fn progress(&self) {
        (self.control.progress)(self.done.fetch_add(1, Ordering::Relaxed) + 1);
    }

    /// The groups of others, as they finish them; those that nobody finishes are computed here.
    fn others(&self, mut rest: Vec<usize>, known: &[Known]) -> Result<Vec<GroupResult>, CodesignError> {
        let mut results = Vec::new();
        let mut last = Instant::now();
        while !rest.is_empty() {
            if (self.control.stop)() {
                return Err(CodesignError::Stopped);
            }
            let start = Instant::now();
            let found = self.control.journal.map_or(Ok(BTreeMap::new()), Journal::of_others)?;
            let missing = rest.len();
            rest.retain(|&index| match self.fitting(index, &found) {
                Some(result) => {
                    results.push(result.clone());
                    self.progress();
                    false
                }
                None => true,
            });
            if rest.len() < missing {
                last = Instant::now();
            } else if last.elapsed() >= self.part.patience {
                // From the end: whoever is slow, and not dead, works from the beginning.
                results.extend(rest.pop().map(|index| self.group(index, known)).transpose()?);
                continue;
            }
            std::thread::sleep(
                (4 * start.elapsed()).clamp(Duration::from_millis(20), Duration::from_secs(1)),
            );
        }
        Ok(results)
    }
}

/// What is known about a design that was evaluated: enough to exclude others.
#[derive(Debug, Clone, Copy)]
struct Known {
    area_mm2: f64,
    cost: f64,
    joules: f64,
}

/// Groups that are worked on at a time. Bounds use what earlier batches found, never what another group of the same
/// batch did, so that the result does not depend on the number of threads. Batches grow, and the first ones are spread
/// over all groups, so that good designs are known early.
fn batches(groups: usize, keep: Keep) -> Vec<Vec<usize>> {
    if keep == Keep::All {
        return vec![(0..groups).collect()];
    }
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut taken = vec![false; groups];
    let mut stride = groups.div_ceil(4).max(1);
    loop {
        let batch: Vec<usize> = (stride / 2..groups).step_by(stride).filter(|&index| !taken[index]).collect();
        batch.iter().for_each(|&index| taken[index] = true);
        if !batch.is_empty() {
            batches.push(batch);
        }
        if stride == 1 {
            return batches;
        }
        stride = stride.div_ceil(2);
    }
}

/// Everything about one stencil that the designs of a group share.
struct Shared<'a> {
    tables: &'a Tables<'a>,
    ranked: Vec<Ranked<'a>>,
    /// By index of `M_SM`.
    fitting: Vec<Vec<Fitting>>,
}

fn group(
    setting: &Setting,
    key: &Key,
    members: &[usize],
    designs: &[Design],
    known: &[Known],
) -> GroupResult {
    let mut sizes: Vec<f64> = members.iter().map(|&index| designs[index].m_sm_kb).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let tables: Vec<Tables<'_>> =
        setting.subjects.iter().map(|subject| setting.tables(subject, key)).collect();
    let share = |tables| {
        let ranked = Tables::ranked(tables);
        let hardware = |m_sm_kb: &f64| {
            Design { n_sm: 1, n_v: key.n_v, m_sm_kb: *m_sm_kb, r_vu_kb: key.r_vu_kb, l1_kb: 0.0, l2_kb: 0.0 }
                .hardware(&setting.base)
        };
        let fitting = sizes.iter().map(|m_sm_kb| fitting(&ranked, &hardware(m_sm_kb))).collect();
        Shared { tables, ranked, fitting }
    };
    let shared: Vec<Shared<'_>> = tables.iter().map(share).collect();

    let mut effort = Effort::default();
    let mut order: Vec<usize> = members.to_vec();
    let area = |index: usize| setting.area_mm2(&designs[index]);
    order.sort_by(|&a, &b| area(a).total_cmp(&area(b)).then(a.cmp(&b)));
    let mut known = known.to_vec();
    let mut verdicts: Vec<(usize, Verdict)> = Vec::with_capacity(order.len());
    for index in order {
        let design = &designs[index];
        let of_size = sizes.partition_point(|size| *size < design.m_sm_kb);
        if setting.workload.keep == Keep::Front {
            let bound = bound(setting, design, &shared, of_size);
            let area_mm2 = area(index);
            let excludes = |known: &Known| {
                known.area_mm2 <= area_mm2 && known.cost < bound[0] && known.joules < bound[1]
            };
            if known.iter().any(excludes) {
                verdicts.push((index, Verdict::Pruned(bound[0])));
                continue;
            }
        }
        let verdict = evaluate(setting, design, &shared, of_size, &mut effort);
        if let Verdict::Evaluated(outcomes) = &verdict {
            let [cost, joules] = costs(setting, outcomes);
            known.push(Known { area_mm2: area(index), cost, joules });
        }
        verdicts.push((index, verdict));
    }
    verdicts.sort_by_key(|(index, _)| *index);
    (verdicts, effort)
}

fn evaluate(
    setting: &Setting,
    design: &Design,
    shared: &[Shared<'_>],
    of_size: usize,
    effort: &mut Effort,
) -> Verdict {
    let on = setting.on(design);
    let objective = setting.workload.objective;
    let mut outcomes = Vec::with_capacity(shared.len());
    for (index, shared) in shared.iter().enumerate() {
        match shared.tables.best(&shared.ranked, &shared.fitting[of_size], objective, &on, effort) {
            Some(best) => outcomes.push(best),
            None => return Verdict::Infeasible(index),
        }
    }
    Verdict::Evaluated(outcomes)
}

/// The weighted cost of a design, and its energy per operation.
fn costs(setting: &Setting, outcomes: &[Vec<Outcome>]) -> [f64; 2] {
    let mut sums = [0.0, 0.0];
    for (subject, outcomes) in setting.subjects.iter().zip(outcomes) {
        let share = subject.load.weight / outcomes.len() as f64;
        for (outcome, flops) in outcomes.iter().zip(&subject.flops) {
            sums[0] += share * setting.workload.objective.cost(outcome.seconds, outcome.joules, *flops);
            sums[1] += share * outcome.joules / flops;
        }
    }
    sums
}

/// Lower bounds of [`costs`], from the least densities of all candidates that fit.
fn bound(setting: &Setting, design: &Design, shared: &[Shared<'_>], of_size: usize) -> [f64; 2] {
    let on = setting.on(design);
    let mut sums = [0.0, 0.0];
    for (subject, shared) in setting.subjects.iter().zip(shared) {
        let share = subject.load.weight / subject.flops.len() as f64;
        let densities = shared.ranked.iter().zip(&shared.fitting[of_size]);
        let densities: Vec<_> = densities
            .filter_map(|(ranked, fitting)| Some((ranked, ranked.least_density(fitting)?)))
            .collect();
        for (run, flops) in subject.flops.iter().enumerate() {
            let serving = densities.iter().filter(|(ranked, _)| ranked.serves(run));
            let totals = serving.map(|(ranked, (seconds, joules))| {
                let iterations = ranked.iterations(run);
                (iterations * seconds, iterations * joules)
            });
            let Some((seconds, joules)) = totals.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1))) else {
                continue;
            };
            let seconds = seconds / design.n_sm as f64;
            let joules = joules + on.static_w * seconds;
            sums[0] += share * setting.workload.objective.cost(seconds, joules, *flops);
            sums[1] += share * joules / flops;
        }
    }
    sums.map(|sum| sum * (1.0 - 1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_every_group_once() {
        for groups in 0..70 {
            for keep in [Keep::All, Keep::Front] {
                let mut all = batches(groups, keep).concat();
                all.sort_unstable();
                assert_eq!(all, (0..groups).collect::<Vec<_>>());
            }
        }
    }
}
