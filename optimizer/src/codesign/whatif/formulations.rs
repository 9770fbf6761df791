//! The best designs of the paper's formulations.

use crate::codesign::design::Design;
use crate::codesign::setting::Setting;
use crate::codesign::study::{Rates, Study, Weighed};
use serde::Serialize;

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
