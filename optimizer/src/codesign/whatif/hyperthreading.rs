//! What hyper-threading brings.

use crate::codesign::inner::Outcome;
use crate::codesign::setting::{Setting, Subject, of_first};
use crate::codesign::study::{Study, rates};
use serde::Serialize;

/// What hyper-threading brings a stencil on the best design.
#[derive(Debug, Clone, Serialize)]
pub struct Hyperthreading {
    /// The stencil.
    pub stencil: String,
    /// `k`, and the rate in GFLOP/s with the best tiles for that `k`; only those that fit every execution.
    pub by_k: Vec<(i64, f64)>,
    /// The `k` of the optima, and how many executions have it.
    pub chosen: Vec<(i64, usize)>,
    /// Loss, as a share of the rate, if `k` must be 1.
    pub loss_without: Option<f64>,
    /// Loss with the largest tile that fits half of the shared memory, k = 2: the conventional wisdom.
    pub loss_largest_tile: Option<f64>,
}

/// The effect of `k` on the best design.
pub fn hyperthreading(setting: &Setting, study: &Study) -> Vec<Hyperthreading> {
    let best = study.best();
    let on = setting.on(&best.design);
    let objective = setting.workload.objective;
    let of = |(index, subject): (usize, &Subject)| {
        let tables = setting.tables(subject, &setting.key(&best.design));
        let ranked = tables.ranked();
        let by_k = |run: usize| -> Vec<Option<Outcome>> {
            let all = of_first(&ranked, run).map(|own| own.by_k(run, objective, &own.model(&on, run)));
            let value = |own: &Option<Outcome>| own.map_or(f64::INFINITY, |own| own.value(objective));
            let better = |a, b| if value(&b) < value(&a) { b } else { a };
            let both = |a: Vec<_>, b: Vec<_>| a.into_iter().zip(b).map(|(a, b)| better(a, b)).collect();
            all.reduce(both).unwrap_or_default()
        };
        let runs: Vec<Vec<Option<Outcome>>> = (0..subject.load.runs.len()).map(by_k).collect();
        let of_k = |k: i64| {
            let outcomes: Option<Vec<Outcome>> = runs.iter().map(|by_k| *by_k.get(k as usize - 1)?).collect();
            Some((k, rates(setting, index, &outcomes?).gflops))
        };
        let by_k: Vec<(i64, f64)> = (1..=on.hardware.blocks_per_sm).filter_map(of_k).collect();
        let mut chosen: Vec<(i64, usize)> = Vec::new();
        for outcome in &best.outcomes[index] {
            match chosen.iter_mut().find(|(k, _)| *k == outcome.k) {
                Some((_, number)) => *number += 1,
                None => chosen.push((outcome.k, 1)),
            }
        }
        chosen.sort_unstable();
        let optimum: f64 = best.outcomes[index].iter().map(|outcome| outcome.seconds).sum();
        let largest = |run: usize| {
            let all = of_first(&ranked, run).filter_map(|own| own.largest_tile(run, &own.model(&on, run)));
            all.max_by_key(|(iterations, _)| *iterations).map(|(_, seconds)| seconds)
        };
        let largest: Option<f64> = (0..subject.load.runs.len()).map(largest).sum();
        let top = best.stencils[index].gflops;
        Some(Hyperthreading {
            stencil: subject.load.name.clone(),
            loss_without: by_k.first().filter(|(k, _)| *k == 1).map(|(_, gflops)| 1.0 - gflops / top),
            by_k,
            chosen,
            loss_largest_tile: largest.map(|seconds| 1.0 - optimum / seconds),
        })
    };
    setting.subjects.iter().enumerate().filter_map(of).collect()
}
