//! What the threads of blocks decide: tuned for each tile, fixed to the lanes of each stencil's stated design, and fixed to one
//! number for all, as a control.

use crate::codesign::CodesignError;
use crate::codesign::design::Design;
use crate::codesign::setting::{Setting, Subject};
use crate::codesign::study::Study;
use crate::codesign::sweep::{Control, sweep};
use crate::codesign::threads::Threads;
use serde::Serialize;

/// The best designs under one rule for threads.
#[derive(Debug, Clone, Serialize)]
pub struct ThreadSetting {
    /// `tuned`, `fixed` (the lanes of the stated design) or `control`.
    pub name: &'static str,
    /// Stencil by stencil.
    pub stencils: Vec<UnderThreads>,
}

/// A stencil under one rule for threads.
#[derive(Debug, Clone, Serialize)]
pub struct UnderThreads {
    /// The stencil.
    pub stencil: String,
    /// Its dimension.
    pub dimension: usize,
    /// Threads of its blocks; `None` where they are tuned.
    pub threads: Option<i64>,
    /// The best design,
    pub best: Design,
    /// and its rate in GFLOP/s.
    pub gflops: f64,
    /// Shared memory from which on designs are within one per cent of it, kB.
    pub enough_m_sm_kb: f64,
    /// Best rate of a design with 24 kB or less, over the best of all; `None` where there is none.
    pub with_24_kb: Option<f64>,
    /// The stated design under this rule; `None` where none is stated, or the budget excludes it.
    pub stated: Option<StatedUnder>,
}

/// A stated design under one rule for threads.
#[derive(Debug, Clone, Serialize)]
pub struct StatedUnder {
    /// The design,
    pub design: Design,
    /// its rate here in GFLOP/s,
    pub gflops: f64,
    /// its rank among all designs, from 1,
    pub rank: usize,
    /// among those that are no larger,
    pub rank_among_no_larger: usize,
    /// and the share of the best design's rate that it lacks.
    pub loss: f64,
}

/// Threads of the control: none of the designs that the paper states has so many lanes.
const CONTROL: i64 = 512;

/// The study's own setting, the lanes of the stated designs as thread counts, and a control; empty where no design is stated,
/// or designs were left out.
///
/// # Errors
/// Those of a sweep.
pub fn threads(
    setting: &Setting,
    study: &Study,
    control: &Control<'_>,
) -> Result<Vec<ThreadSetting>, CodesignError> {
    let stated = |subject: &Subject| subject.fit.design.map(|design| design.n_v);
    if setting.subjects.iter().all(|subject| stated(subject).is_none())
        || study.certificate.designs_pruned > 0
        || setting.subjects.iter().any(|subject| subject.threads.only().is_some())
    {
        return Ok(Vec::new());
    }
    let mut all = vec![ThreadSetting { name: "tuned", stencils: under(setting, study) }];
    for name in ["fixed", "control"] {
        let mut changed = setting.clone();
        for subject in &mut changed.subjects {
            let rule = if name == "fixed" { stated(subject) } else { Some(CONTROL) };
            if let Some(threads) = rule {
                subject.threads = Threads::fixed(threads);
            }
        }
        let quiet = Control { journal: None, progress: &|_| {}, ..*control };
        let swept = sweep(&changed, setting.workload.budget.area_mm2, &quiet)?;
        if let Ok(study) = Study::new(&changed, &swept) {
            all.push(ThreadSetting { name, stencils: under(&changed, &study) });
        }
    }
    Ok(all)
}

fn under(setting: &Setting, study: &Study) -> Vec<UnderThreads> {
    let of = |(index, subject): (usize, &Subject)| {
        let best = &study.designs[study.best_for(index)];
        let top = best.stencils[index].cost;
        let share = |m_sm_kb: f64| {
            let within = study.designs.iter().filter(|weighed| weighed.design.m_sm_kb <= m_sm_kb);
            let least = within.map(|weighed| weighed.stencils[index].cost).fold(f64::INFINITY, f64::min);
            least.is_finite().then(|| top / least)
        };
        let enough = |m_sm_kb: &&f64| share(**m_sm_kb).is_some_and(|share| share >= 0.99);
        let sizes = &setting.workload.space.m_sm_kb;
        let stated = subject.fit.design.and_then(|design| {
            let same = study.designs.iter().find(|weighed| weighed.design == design)?;
            let cost = same.stencils[index].cost;
            let better = || study.designs.iter().filter(|other| other.stencils[index].cost < cost);
            let no_larger = better().filter(|other| other.area.total() <= same.area.total());
            Some(StatedUnder {
                design,
                gflops: same.stencils[index].gflops,
                rank: 1 + better().count(),
                rank_among_no_larger: 1 + no_larger.count(),
                loss: 1.0 - same.stencils[index].gflops / best.stencils[index].gflops,
            })
        });
        UnderThreads {
            stencil: subject.load.name.clone(),
            dimension: subject.problem.dimension(),
            threads: subject.threads.only(),
            best: best.design,
            gflops: best.stencils[index].gflops,
            enough_m_sm_kb: sizes.iter().find(enough).copied().unwrap_or(best.design.m_sm_kb),
            with_24_kb: share(24.0),
            stated,
        }
    };
    setting.subjects.iter().enumerate().map(of).collect()
}
