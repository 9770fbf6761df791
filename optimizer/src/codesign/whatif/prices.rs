//! What a little more of each resource is worth.

use crate::codesign::design::Design;
use crate::codesign::setting::{Setting, Subject};
use crate::codesign::study::{Rates, Study, evaluate};
use serde::Serialize;

/// What a little more of a resource is worth at the best design, all tiles chosen anew.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shadow {
    /// The resource: `n_sm`, `n_v`, `m_sm_kb`, `area_mm2`, or a constant of the machine.
    pub resource: &'static str,
    /// From this value
    pub from: f64,
    /// to this one.
    pub to: f64,
    /// Unit of both.
    pub unit: &'static str,
    /// Change of the area in mm2, the budget disregarded.
    pub area_change_mm2: f64,
    /// Relative change of the rate: 0.01 is one per cent more GFLOP/s.
    pub gain: f64,
    /// Relative fall of the objective's cost.
    pub cost_gain: f64,
    /// Relative change of the rate per mm2; `None` for constants, which take no area.
    pub gain_per_mm2: Option<f64>,
    /// Elasticity: relative change of the rate over relative change of the resource.
    pub elasticity: f64,
}

/// Shadow prices of all resources.
pub fn shadows(setting: &Setting, study: &Study) -> Vec<Shadow> {
    let best = study.best();
    let design = best.design;
    let space = &setting.workload.space;
    let mut shadows = Vec::new();
    let mut add = |resource, unit, from: f64, to: f64, area: f64, after: &Rates| {
        let gain = after.gflops / best.all.gflops - 1.0;
        let area_change_mm2 = area - best.area.total();
        shadows.push(Shadow {
            resource,
            from,
            to,
            unit,
            area_change_mm2,
            gain,
            cost_gain: 1.0 - after.cost / best.all.cost,
            gain_per_mm2: (area_change_mm2 != 0.0).then(|| gain / area_change_mm2),
            elasticity: gain / (to / from - 1.0),
        });
    };
    let step = |values: &[f64], value: f64| values.windows(2).map(|w| w[1] - w[0]).fold(value, f64::min);
    let whole = |values: &[i64]| values.iter().map(|&v| v as f64).collect::<Vec<_>>();
    let n_sm = design.n_sm + step(&whole(&space.n_sm), 1.0_f64.max(design.n_sm as f64)) as i64;
    let n_v = design.n_v + step(&whole(&space.n_v), setting.base.warp as f64) as i64;
    let m_sm_kb = design.m_sm_kb + step(&space.m_sm_kb, design.m_sm_kb);
    let changed = [
        ("n_sm", "SM", design.n_sm as f64, n_sm as f64, Design { n_sm, ..design }),
        ("n_v", "lanes", design.n_v as f64, n_v as f64, Design { n_v, ..design }),
        ("m_sm_kb", "kB", design.m_sm_kb, m_sm_kb, Design { m_sm_kb, ..design }),
    ];
    for (resource, unit, from, to, changed) in changed {
        if let Some(after) = evaluate(setting, &changed) {
            add(resource, unit, from, to, after.area.total(), &after.all);
        }
    }
    // The next larger design of the front, or the one before the best, where it is the last.
    let area = |index: &usize| study.designs[*index].area.total();
    let mut by_area = study.fronts.area_gflops.clone();
    by_area.sort_by(|a, b| area(a).total_cmp(&area(b)));
    if let [.., before, last] = by_area.as_slice() {
        let (before, last) = (&study.designs[*before], &study.designs[*last]);
        let gain = last.all.gflops / before.all.gflops - 1.0;
        let width = last.area.total() - before.area.total();
        shadows.push(Shadow {
            resource: "area_mm2",
            from: before.area.total(),
            to: last.area.total(),
            unit: "mm2",
            area_change_mm2: width,
            gain,
            cost_gain: 1.0 - last.all.cost / before.all.cost,
            gain_per_mm2: Some(gain / width),
            elasticity: gain / (width / before.area.total()),
        });
    }
    shadows.extend(constants(setting, study));
    shadows
}

/// One per cent less of each constant of the machine.
fn constants(setting: &Setting, study: &Study) -> Vec<Shadow> {
    let best = study.best();
    let change = |resource, unit, of: fn(&mut Subject) -> &mut f64| {
        let mut changed = setting.clone();
        let value = changed.subjects.first_mut().map(|subject| *of(subject))?;
        changed.subjects.iter_mut().for_each(|subject| *of(subject) *= 0.99);
        let after = evaluate(&changed, &best.design)?;
        let gain = after.all.gflops / best.all.gflops - 1.0;
        Some(Shadow {
            resource,
            from: value,
            to: value * 0.99,
            unit,
            area_change_mm2: 0.0,
            gain,
            cost_gain: 1.0 - after.all.cost / best.all.cost,
            gain_per_mm2: None,
            elasticity: gain / -0.01,
        })
    };
    let all = [
        change("c_iter_s", "s (first stencil)", |subject| &mut subject.time.c_iter_s),
        change("l_s_per_word", "s/word", |subject| &mut subject.time.l_s_per_word),
        change("tau_sync_s", "s", |subject| &mut subject.time.tau_sync_s),
        change("t_sync_s", "s", |subject| &mut subject.time.t_sync_s),
    ];
    all.into_iter().flatten().collect()
}
