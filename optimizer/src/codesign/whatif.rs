//! Questions about a study (paper, chapters 5 and 6): what is each resource worth, what do caches cost, how do chips that
//! exist compare, how much shared memory do stencils want, where does the time go, what does hyper-threading bring.

use super::CodesignError;
use super::design::Design;
use super::inner::{Effort, Outcome};
use super::setting::{Setting, Subject};
use super::study::{Rates, Study, Weighed, rates, together, weighed};
use super::sweep::{Control, sweep};
use super::workload::Keep;
use cost_models::machine;
use cost_models::time::{GpuTime, Terms, TimeModel};
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

/// A design with all tiles chosen anew; `None` where it cannot execute the workload.
pub fn evaluate(setting: &Setting, design: &Design) -> Option<Weighed> {
    let outcomes: Option<Vec<Vec<Outcome>>> =
        setting.evaluate(design, &mut Effort::default()).into_iter().collect();
    let weights: Vec<f64> = setting.subjects.iter().map(|subject| subject.load.weight).collect();
    Some(weighed(setting, design, outcomes?, &weights))
}

/// A chip beside the best designs of its area.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The chip: a machine, or `with caches`.
    pub name: String,
    /// What was compared: its design.
    pub design: Design,
    /// Its area in the model, mm2.
    pub area_mm2: f64,
    /// The area that designs may have, mm2.
    pub budget_mm2: (f64, f64),
    /// Group by group.
    pub groups: Vec<Improvement>,
}

/// How much better than a chip the best design of the same area is.
#[derive(Debug, Clone, Serialize)]
pub struct Improvement {
    /// What is executed: `all`, `1D`, `2D`, `3D`, or a stencil.
    pub group: String,
    /// Rate of the chip in GFLOP/s.
    pub chip_gflops: f64,
    /// The best design for this group.
    pub best: Design,
    /// Its area in mm2.
    pub best_area_mm2: f64,
    /// Its rate in GFLOP/s.
    pub best_gflops: f64,
    /// Relative gain: 1.04 for 104 %.
    pub gain: f64,
}

/// Groups of stencils: all, by dimension where there are several, each alone; with weights.
fn groups(setting: &Setting) -> Vec<(String, Vec<f64>)> {
    let weights = |wanted: &dyn Fn(usize, &Subject) -> bool| {
        let subjects = setting.subjects.iter().enumerate();
        subjects.map(|(i, s)| if wanted(i, s) { s.load.weight } else { 0.0 }).collect::<Vec<f64>>()
    };
    let mut groups = vec![("all".to_string(), weights(&|_, _| true))];
    for dimension in 1..=3 {
        let own = weights(&|_, subject| subject.problem.dimension() == dimension);
        let members = own.iter().filter(|weight| **weight > 0.0).count();
        if members > 0 && members < setting.subjects.len() {
            groups.push((format!("{dimension}D"), own));
        }
    }
    if setting.subjects.len() > 1 {
        let each = setting.subjects.iter().enumerate();
        groups.extend(each.map(|(index, s)| (s.load.name.clone(), weights(&|i, _| i == index))));
    }
    groups
}

fn improvements(setting: &Setting, chip: &Weighed, study: &Study) -> Vec<Improvement> {
    let of = |(group, weights): (String, Vec<f64>)| {
        let best = &study.designs[study.best_with(&weights)];
        let chip_gflops = together(&chip.stencils, &weights).gflops;
        let best_gflops = together(&best.stencils, &weights).gflops;
        Improvement {
            group,
            chip_gflops,
            best: best.design,
            best_area_mm2: best.area.total(),
            best_gflops,
            gain: best_gflops / chip_gflops - 1.0,
        }
    };
    groups(setting).into_iter().map(of).collect()
}

/// Chips that exist, of the workload's family, against the best designs that are no larger (and no smaller by more than
/// the workload's budget is wide). The time model gives caches no use, on either side.
///
/// # Errors
/// Those of a sweep.
pub fn chips(setting: &Setting, control: &Control<'_>) -> Result<Vec<Comparison>, CodesignError> {
    let family = &setting.workload.family;
    let names = [Some(family.calibrated.die.clone()), family.validation.as_ref().map(|v| v.die.clone())];
    let mut comparisons = Vec::new();
    for name in names.into_iter().flatten() {
        let Some(Ok(machine)) = machine::shipped(&name) else { continue };
        let Some(facts) = machine.gpu() else { continue };
        let design = Design::from(facts);
        let Some(chip) = evaluate(setting, &design) else { continue };
        let (low, high) = setting.workload.budget.area_mm2;
        let area_mm2 = family.area.total(&design);
        let budget_mm2 = (area_mm2 - (high - low).min(area_mm2), area_mm2);
        let Some(study) = best_within(setting, budget_mm2, control)? else { continue };
        let groups = improvements(setting, &chip, &study);
        comparisons.push(Comparison {
            name: machine.description.clone(),
            design,
            area_mm2,
            budget_mm2,
            groups,
        });
    }
    Ok(comparisons)
}

/// The best designs if every multiprocessor and the chip had the caches of the base machine, against those of the
/// workload's own space at the same budget. `None` where the space has caches itself, or the base machine has none.
///
/// # Errors
/// Those of a sweep.
pub fn caches(
    setting: &Setting,
    study: &Study,
    control: &Control<'_>,
) -> Result<Option<Comparison>, CodesignError> {
    let space = &setting.workload.space;
    let (l1_kb, l2_kb) = (setting.base.l1_kb, setting.base.l2_kb);
    let has_caches = space.l1_kb.iter().chain(&space.l2_kb).any(|kb| *kb > 0.0);
    if has_caches || (l1_kb <= 0.0 && l2_kb <= 0.0) {
        return Ok(None);
    }
    let mut with = setting.clone();
    with.workload.space.l1_kb = vec![l1_kb];
    with.workload.space.l2_kb = vec![l2_kb];
    let budget_mm2 = setting.workload.budget.area_mm2;
    let Some(cached) = best_within(&with, budget_mm2, control)? else { return Ok(None) };
    let chip = cached.best();
    let mut groups = improvements(setting, chip, study);
    // Each group against its own best design with caches.
    for (improvement, (_, weights)) in groups.iter_mut().zip(self::groups(setting)) {
        let own = &cached.designs[cached.best_with(&weights)];
        improvement.chip_gflops = together(&own.stencils, &weights).gflops;
        improvement.gain = improvement.best_gflops / improvement.chip_gflops - 1.0;
    }
    Ok(Some(Comparison {
        name: format!("best design with caches ({l1_kb} kB per SM and {l2_kb} kB)"),
        design: chip.design,
        area_mm2: chip.area.total(),
        budget_mm2,
        groups,
    }))
}

/// The study of another budget; `None` where no design lies within it.
fn best_within(
    setting: &Setting,
    budget: (f64, f64),
    control: &Control<'_>,
) -> Result<Option<Study>, CodesignError> {
    let quiet = Control { journal: None, ..*control };
    match sweep(setting, budget, &quiet) {
        Ok(swept) => Ok(Study::new(setting, &swept).ok()),
        Err(CodesignError::EmptyBudget { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// How much shared memory a stencil wants.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryWish {
    /// The stencil.
    pub stencil: String,
    /// Its dimension.
    pub dimension: usize,
    /// `M_SM` of its best design in kB.
    pub best_m_sm_kb: f64,
    /// The least `M_SM` of a design that is within one per cent of it, kB.
    pub enough_m_sm_kb: f64,
    /// `M_SM` in kB, and the best rate of any evaluated design that has it, relative to the best of all.
    pub by_m_sm: Vec<(f64, f64)>,
}

/// Shared-memory requirements of all stencils, from the designs of a study that kept all.
pub fn memory(setting: &Setting, study: &Study) -> Vec<MemoryWish> {
    let of = |(index, subject): (usize, &Subject)| {
        let best = &study.designs[study.best_for(index)];
        let top = best.stencils[index].cost;
        let by_m_sm: Vec<(f64, f64)> = (setting.workload.space.m_sm_kb.iter())
            .filter_map(|&m_sm_kb| {
                let of_size = study.designs.iter().filter(|weighed| weighed.design.m_sm_kb == m_sm_kb);
                let least = of_size.map(|weighed| weighed.stencils[index].cost).fold(f64::INFINITY, f64::min);
                least.is_finite().then_some((m_sm_kb, top / least))
            })
            .collect();
        let enough =
            by_m_sm.iter().find(|(_, share)| *share >= 0.99).map_or(best.design.m_sm_kb, |(kb, _)| *kb);
        MemoryWish {
            stencil: subject.load.name.clone(),
            dimension: subject.problem.dimension(),
            best_m_sm_kb: best.design.m_sm_kb,
            enough_m_sm_kb: enough,
            by_m_sm,
        }
    };
    setting.subjects.iter().enumerate().map(of).collect()
}

/// Where the time of a stencil goes on the best design, over all its executions.
#[derive(Debug, Clone, Serialize)]
pub struct Overhead {
    /// The stencil.
    pub stencil: String,
    /// Shares of the time: iterations, transfers, barriers, launches. They add up to 1.
    pub shares: Terms,
    /// `T_ideal / T_alg` (paper, eq. 6.3): what an ideal machine would need.
    pub ideal: f64,
    /// `T_overhead / T_alg` (eq. 6.4).
    pub overhead: f64,
    /// Relative loss with the tiles of the closed-form rule (eq. 6.5: the largest tS1 + tT/2 of compute-bound tiles, with
    /// the best k); `None` where no tile is compute-bound.
    pub closed_form_loss: Option<f64>,
}

/// Overhead analysis of the best design.
pub fn overheads(setting: &Setting, study: &Study) -> Vec<Overhead> {
    let best = study.best();
    let design = best.design;
    let hardware = setting.hardware(&design);
    let of = |(index, subject): (usize, &Subject)| {
        let tables = setting.tables(subject, &setting.key(&design));
        let ranked = tables.ranked();
        let model = GpuTime { n_sm: design.n_sm, n_v: design.n_v, constants: tables.time() };
        let (mut terms, mut ideal, mut total) = (Terms::default(), 0.0, 0.0);
        for (run, outcome) in best.outcomes[index].iter().enumerate() {
            let own = ranked.iter().find(|ranked| ranked.strategy() == outcome.strategy);
            let details = own.and_then(|ranked| ranked.details(run, &outcome.sizes)).unwrap_or_default();
            for counts in &details {
                let prediction = model.predict(counts, outcome.k);
                terms.compute += prediction.terms.compute;
                terms.transfer += prediction.terms.transfer;
                terms.barrier += prediction.terms.barrier;
                terms.launch += prediction.terms.launch;
                ideal += prediction.ideal_s;
                total += prediction.seconds;
            }
        }
        let shares = Terms {
            compute: terms.compute / total,
            transfer: terms.transfer / total,
            barrier: terms.barrier / total,
            launch: terms.launch / total,
        };
        let on = setting.on(&design);
        let optimum: f64 = best.outcomes[index].iter().map(|outcome| outcome.seconds).sum();
        let closed_form = ranked.first().and_then(|ranked| {
            let runs = 0..subject.load.runs.len();
            runs.map(|run| ranked.closed_form(run, &on, &hardware)).sum::<Option<f64>>()
        });
        Overhead {
            stencil: subject.load.name.clone(),
            shares,
            ideal: ideal / total,
            overhead: 1.0 - ideal / total,
            closed_form_loss: closed_form.map(|seconds| seconds / optimum - 1.0),
        }
    };
    setting.subjects.iter().enumerate().map(of).collect()
}

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
    let (hardware, on) = (setting.hardware(&best.design), setting.on(&best.design));
    let objective = setting.workload.objective;
    let of = |(index, subject): (usize, &Subject)| {
        let tables = setting.tables(subject, &setting.key(&best.design));
        let ranked = tables.ranked();
        let ranked = ranked.first()?;
        let runs: Vec<Vec<Option<Outcome>>> =
            (0..subject.load.runs.len()).map(|run| ranked.by_k(run, objective, &on, &hardware)).collect();
        let of_k = |k: i64| {
            let outcomes: Option<Vec<Outcome>> = runs.iter().map(|by_k| by_k[k as usize - 1]).collect();
            Some((k, rates(setting, index, &outcomes?).gflops))
        };
        let by_k: Vec<(i64, f64)> = (1..=hardware.blocks_per_sm).filter_map(of_k).collect();
        let mut chosen: Vec<(i64, usize)> = Vec::new();
        for outcome in &best.outcomes[index] {
            match chosen.iter_mut().find(|(k, _)| *k == outcome.k) {
                Some((_, number)) => *number += 1,
                None => chosen.push((outcome.k, 1)),
            }
        }
        chosen.sort_unstable();
        let optimum: f64 = best.outcomes[index].iter().map(|outcome| outcome.seconds).sum();
        let largest = (0..subject.load.runs.len()).map(|run| ranked.largest_tile(run, &on, &hardware));
        let largest: Option<f64> = largest.sum();
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

/// The paper's formulations (section 2.3.3) of one workload: plain and super, one metric and two, for each application
/// and for the system.
#[derive(Debug, Clone, Serialize)]
pub struct Formulation {
    /// Its name: `multi-metric super system codesign`.
    pub name: String,
    /// `system`, or the stencil.
    pub subject: String,
    /// The best design.
    pub design: Design,
    /// Its area in mm2.
    pub area_mm2: f64,
    /// Cost in the objective's unit.
    pub cost: f64,
    /// Unit of the cost.
    pub unit: &'static str,
    /// Rate in GFLOP/s.
    pub gflops: f64,
    /// GFLOP/s per watt.
    pub gflops_per_watt: f64,
}

/// The best designs of one study under both codesigns: each application alone, and the system.
pub fn formulations(setting: &Setting, study: &Study) -> Vec<Formulation> {
    let workload = &setting.workload;
    let of = |system: bool, subject: String, weighed: &Weighed, rates: &Rates| Formulation {
        name: workload.formulation(system),
        subject,
        design: weighed.design,
        area_mm2: weighed.area.total(),
        cost: rates.cost,
        unit: workload.objective.unit(),
        gflops: rates.gflops,
        gflops_per_watt: rates.gflops_per_watt,
    };
    let mut all = vec![of(true, "system".to_string(), study.best(), &study.best().all)];
    for (index, subject) in setting.subjects.iter().enumerate() {
        let best = &study.designs[study.best_for(index)];
        all.push(of(false, subject.load.name.clone(), best, &best.stencils[index]));
    }
    all
}

/// Whether a study says something about all designs of its budget.
pub fn is_complete(setting: &Setting) -> bool {
    setting.workload.keep == Keep::All
}

/// The tiles of the best design: execution by execution.
#[derive(Debug, Clone, Serialize)]
pub struct Tiles {
    /// The stencil.
    pub stencil: String,
    /// Grid extents.
    pub size: Vec<i64>,
    /// Time steps.
    pub steps: i64,
    /// The strategy.
    pub strategy: &'static str,
    /// Tile sizes, as on the command line.
    pub tile: String,
    /// Tiles resident on a multiprocessor together.
    pub k: i64,
    /// `T` in seconds.
    pub seconds: f64,
    /// `E` in joules.
    pub joules: f64,
    /// Rate in GFLOP/s.
    pub gflops: f64,
}

/// The tiles of a design.
pub fn tiles(setting: &Setting, weighed: &Weighed) -> Vec<Tiles> {
    let mut all = Vec::new();
    for (subject, outcomes) in setting.subjects.iter().zip(&weighed.outcomes) {
        for ((run, outcome), flops) in subject.load.runs.iter().zip(outcomes).zip(&subject.flops) {
            let space = subject.spaces.iter().find(|space| space.strategy == outcome.strategy);
            all.push(Tiles {
                stencil: subject.load.name.clone(),
                size: run.size.clone(),
                steps: run.steps,
                strategy: outcome.strategy.id(),
                tile: space.map(|space| space.text(&outcome.sizes)).unwrap_or_default(),
                k: outcome.k,
                seconds: outcome.seconds,
                joules: outcome.joules,
                gflops: flops / outcome.seconds / 1e9,
            });
        }
    }
    all
}
