//! Designs as trials: what a study has found for each, by the models.

use crate::error::Result;
use optimizer::codesign::setting::Setting as StudySetting;
use optimizer::codesign::study::{Study, Weighed};
use std::sync::Arc;
use trials::{Configuration, Outcome, Setting, Store, Trial, Value};

/// Adds the designs of a study that are not in the store. `identity` tells the study from others.
///
/// # Errors
/// A store that cannot be written.
pub(super) fn append(
    store: &mut Store,
    study_of: &StudySetting,
    study: &Study,
    identity: &str,
) -> Result<()> {
    let workload = &study_of.workload;
    let setting = Arc::new(Setting {
        job: format!("codesign of {}, {}", workload.name, workload.objective.name()),
        program: workload.name.clone(),
        source: identity.chars().take(16).collect(),
        backend: "model".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        by: "tilewright codesign".to_owned(),
        response: "cost".to_owned(),
        ..Setting::default()
    });
    let known = store.trials().iter().filter(|trial| *trial.setting == *setting);
    let known: Vec<Configuration> = known.map(|trial| trial.configuration.clone()).collect();
    for weighed in &study.designs {
        let configuration = configuration(weighed);
        if !known.contains(&configuration) {
            let outcome = outcome(study_of, weighed);
            store.append_once(&Trial { configuration, outcome, setting: Arc::clone(&setting), round: 0 })?;
        }
    }
    Ok(())
}

/// The parts of a chip, named as in designs.csv.
fn configuration(weighed: &Weighed) -> Configuration {
    let design = &weighed.design;
    let real = |value: f64| match value as i64 {
        whole if whole as f64 == value => Value::Integer(whole),
        _ => Value::Real(value),
    };
    let pairs = [
        ("n_sm", Value::Integer(design.n_sm)),
        ("n_v", Value::Integer(design.n_v)),
        ("m_sm_kb", real(design.m_sm_kb)),
        ("r_vu_kb", real(design.r_vu_kb)),
        ("l1_kb", real(design.l1_kb)),
        ("l2_kb", real(design.l2_kb)),
    ];
    Configuration::of(pairs.map(|(name, value)| (name.to_owned(), value)))
}

fn outcome(study_of: &StudySetting, weighed: &Weighed) -> Outcome {
    let all = &weighed.all;
    let outcome = Outcome::measured("cost", all.cost)
        .with("area_mm2", weighed.area.total(), "mm2")
        .with("gflops", all.gflops, "GFLOP/s")
        .with("gflops_per_watt", all.gflops_per_watt, "GFLOP/J")
        .with("seconds", all.seconds, "s")
        .with("joules", all.joules, "J")
        .with("watts", all.watts(), "W");
    let stencils = study_of.subjects.iter().zip(&weighed.stencils);
    stencils
        .fold(outcome, |outcome, (subject, rates)| {
            outcome.with(&format!("{}_gflops", subject.load.name), rates.gflops, "GFLOP/s")
        })
        .now()
}
