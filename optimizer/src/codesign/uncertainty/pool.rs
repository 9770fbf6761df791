//! The pool of tiles that executions choose from in a sample, and what they cost there.

use super::factors::Factors;
use super::ranges::{AREAS, Constant, Ranges};
use crate::codesign::CodesignError;
use crate::codesign::inner::Outcome;
use crate::codesign::ranked::Ranked;
use crate::codesign::setting::{Key, Setting, counted};
use crate::codesign::study::{Study, evaluate};
use crate::codesign::sweep::{Control, Verdict, sweep};
use crate::codesign::workload::Keep;
use cost_models::constants::EnergyConstants;
use cost_models::energy::dynamic;
use cost_models::gpu::{GpuTime, Kernels};
use hhc_codegen::counts::TileCounts;
use rayon::prelude::*;
use std::collections::HashMap;

/// Samples on which the pool of tiles is compared with an exact search.
const CHECKED: usize = 4;

/// A tile of the pool of an execution on a design.
pub(super) struct Candidate {
    tiles: Kernels<TileCounts>,
    k: i64,
    time: GpuTime,
    energy: EnergyConstants,
}

/// Of a sweep, by design: the best tiles of each stencil's executions.
pub(super) type Pilot = HashMap<usize, Vec<Vec<Outcome>>>;

/// Of a design, by stencil and execution: the pool.
pub(super) type Pools = Vec<Vec<Vec<Candidate>>>;

/// Best tiles of all designs where computing is slow and moving and waiting are fast, and the other way round.
pub(super) fn pilots(
    setting: &Setting,
    study: &Study,
    ranges: &Ranges,
    control: &Control<'_>,
) -> Result<Vec<Pilot>, CodesignError> {
    let (mut pilots, mut seen) = (Vec::new(), Vec::new());
    for (moving, computing) in [(0.05, 0.95), (0.95, 0.05)] {
        let mut factors = Factors::none(setting.subjects.len());
        for (constant, spread) in &ranges.0 {
            match constant {
                Constant::L | Constant::TauSync | Constant::TSync => {
                    factors.set(*constant, spread.at(moving))
                }
                Constant::CIter(_) => factors.set(*constant, spread.at(computing)),
                Constant::Energy(_) | Constant::Area(_) => {}
            }
        }
        if factors == Factors::none(setting.subjects.len()) || seen.contains(&factors) {
            continue;
        }
        seen.push(factors.clone());
        let mut changed = factors.setting(setting);
        changed.workload.keep = Keep::All;
        let control = Control { journal: None, progress: &|_| {}, stop: control.stop };
        let swept = sweep(&changed, setting.workload.budget.area_mm2, &control)?;
        let own = swept.designs.iter().zip(swept.verdicts).filter_map(|(design, verdict)| {
            let index = study.designs.iter().position(|weighed| weighed.design == *design)?;
            match verdict {
                Verdict::Evaluated(outcomes) => Some((index, outcomes)),
                _ => None,
            }
        });
        pilots.push(own.collect());
    }
    Ok(pilots)
}

/// The pools of all designs. Designs with the same tables are worked on together.
pub(super) fn pools(setting: &Setting, study: &Study, pilots: &[Pilot]) -> Vec<Pools> {
    let mut groups: Vec<(Key, Vec<usize>)> = Vec::new();
    for (index, weighed) in study.designs.iter().enumerate() {
        let key = setting.key(&weighed.design);
        match groups.iter_mut().find(|(own, _)| *own == key) {
            Some((_, members)) => members.push(index),
            None => groups.push((key, vec![index])),
        }
    }
    let of_group = |(key, members): &(Key, Vec<usize>)| {
        let mut pools: Vec<(usize, Pools)> = members.iter().map(|&index| (index, Vec::new())).collect();
        for (stencil, subject) in setting.subjects.iter().enumerate() {
            let tables = setting.tables(subject, key);
            let ranked = tables.ranked();
            // Many designs have the same best tiles.
            let mut known: HashMap<_, Option<Kernels<TileCounts>>> = HashMap::new();
            for (index, own) in &mut pools {
                let weighed = &study.designs[*index];
                let on = setting.on(&weighed.design);
                let runs = (0..subject.load.runs.len()).map(|run| {
                    let outcomes = std::iter::once(&weighed.outcomes[stencil][run])
                        .chain(pilots.iter().filter_map(|pilot| Some(&pilot.get(index)?[stencil][run])));
                    let mut pool: Vec<(&Outcome, Candidate)> = Vec::new();
                    for outcome in outcomes {
                        if pool.iter().any(|(same, _)| {
                            (same.strategy, same.sizes, same.k, same.threads)
                                == (outcome.strategy, outcome.sizes, outcome.k, outcome.threads)
                        }) {
                            continue;
                        }
                        let serves =
                            |own: &&Ranked<'_>| own.serves(run) && own.strategy() == outcome.strategy;
                        let Some(of) = ranked.iter().find(serves) else { continue };
                        let place = (outcome.strategy.id(), run, outcome.sizes, outcome.threads);
                        let tiles = || counted(&ranked, run, outcome).map(|(_, tiles)| tiles);
                        let tiles = known.entry(place).or_insert_with(tiles);
                        // Spaces of a strategy have the same constants.
                        let model = of.model(&on, run);
                        if let (Some(tiles), Some(energy)) = (tiles.clone(), model.energy) {
                            let (time, k) = (model.time, outcome.k);
                            pool.push((outcome, Candidate { tiles, k, time, energy }));
                        }
                    }
                    pool.into_iter().map(|(_, candidate)| candidate).collect()
                });
                own.push(runs.collect());
            }
        }
        pools
    };
    let mut all: Vec<(usize, Pools)> = groups.par_iter().flat_map_iter(of_group).collect();
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, pools)| pools).collect()
}

/// Costs of all designs with these factors, and whether their areas keep the budget.
pub(super) fn costs(
    setting: &Setting,
    study: &Study,
    pools: &[Pools],
    factors: &Factors,
) -> (Vec<f64>, Vec<bool>) {
    let area = factors.area(&setting.workload.family.area);
    let objective = setting.workload.objective;
    let all: f64 = study.weights.iter().sum();
    let of = |(index, pools): (usize, &Pools)| {
        let design = &study.designs[index].design;
        let own_area = area.total(design);
        let static_w = setting.static_w_per_mm2 * own_area;
        let stencils = pools.iter().enumerate().map(|(stencil, runs)| {
            let flops = &setting.subjects[stencil].flops;
            let costs = runs.iter().zip(flops).map(|(pool, flops)| {
                let each = pool.iter().map(|own| {
                    let time = factors.time(stencil, &own.time);
                    let seconds: f64 = own.tiles.iter().map(|counts| time.seconds(counts, own.k)).sum();
                    let mut energy = EnergyConstants { p_static_w: static_w, ..own.energy };
                    energy = factors.energy(&energy);
                    let joules: f64 = own.tiles.iter().map(|counts| dynamic(counts, &energy).sum()).sum();
                    objective.cost(seconds, joules + energy.p_static_w * seconds, *flops)
                });
                each.fold(f64::INFINITY, f64::min)
            });
            study.weights[stencil] * costs.sum::<f64>() / runs.len() as f64
        });
        (stencils.sum::<f64>() / all, own_area <= setting.workload.budget.area_mm2.1)
    };
    pools.iter().enumerate().map(of).unzip()
}

/// What an exact search gains over the pool, on the best design of the study and some samples.
pub(super) fn pool_gap(
    setting: &Setting,
    study: &Study,
    pools: &[Pools],
    drawn: &[(Factors, Vec<f64>)],
) -> f64 {
    let gap = |(factors, _): &(Factors, Vec<f64>)| {
        // Areas stay: static power is compared with the same.
        let factors = Factors { area: [1.0; AREAS.len()], ..factors.clone() };
        let pool = costs(setting, study, pools, &factors).0[study.best];
        let exact = evaluate(&factors.setting(setting), &study.best().design);
        exact.map_or(0.0, |exact| (pool / exact.all.cost - 1.0).max(0.0))
    };
    drawn.par_iter().take(CHECKED).map(gap).reduce(|| 0.0, f64::max)
}
