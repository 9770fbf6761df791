//! How chips that exist, and chips with caches, compare with the best designs of their area.

use crate::codesign::CodesignError;
use crate::codesign::design::Design;
use crate::codesign::setting::{Setting, Subject};
use crate::codesign::study::{Study, Weighed, evaluate, together};
use crate::codesign::sweep::{Control, sweep};
use cost_models::machine;
use serde::Serialize;

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
/// the workload's budget is wide). Chips have their caches, and what these save.
///
/// # Errors
/// Those of a sweep.
pub fn chips(setting: &Setting, control: &Control<'_>) -> Result<Vec<Comparison>, CodesignError> {
    let family = &setting.workload.family;
    let names = [Some(family.calibrated.die.clone()), family.validation.as_ref().map(|v| v.die.clone())];
    let mut comparisons = Vec::new();
    for name in names.into_iter().flatten() {
        let of_base = (family.base.name == name).then(|| family.base.clone());
        let Some(machine) = of_base.or_else(|| machine::base(&name)?.ok()) else { continue };
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
