//! Stores of ours as recordings.

use super::joined::{Declared, Joined, joined};
use super::roles::Roles;
use crate::error::{Result, malformed};
use crate::parameter::{Parameter, ParameterKind};
use crate::recording::{Format, Recording};
use crate::setting::Setting;
use crate::store::{Content, PROCESSOR};
use crate::trial::Trial;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The trials of a store.
pub(super) fn recording(path: &Path, content: Content) -> Result<Recording> {
    let Content { trials, damage } = content;
    if trials.is_empty() {
        let reason = match damage.first() {
            Some(damage) => format!("no trial is whole; {}: {}", damage.place, damage.reason),
            None => "there is no trial in it".to_owned(),
        };
        return Err(malformed(path, "", reason, ""));
    }
    let settings = settings(&trials);
    let declared = declared(&settings);
    let response = most(&settings, |setting| &setting.response);
    let kernel = match settings.as_slice() {
        [(only, _)] if !only.job.is_empty() && !only.job.starts_with(PROCESSOR) => only.job.clone(),
        _ => most(&settings, |setting| &setting.program),
    };
    let device = one(&settings, |setting| &setting.machine).unwrap_or_default();
    let Joined { parameters, trials, mixed } = joined(path, declared, trials)?;
    Ok(Recording {
        path: path.to_owned(),
        damage,
        format: Format::Store,
        kernel,
        device,
        parameters,
        trials,
        problem: None,
        mixed,
        response,
        roles: Roles::default(),
    })
}

/// The settings in the order of the trials, and the number of trials of each.
fn settings(trials: &[Trial]) -> Vec<(Arc<Setting>, usize)> {
    let mut settings: Vec<(Arc<Setting>, usize)> = Vec::new();
    for trial in trials {
        match settings.iter_mut().rfind(|(known, _)| Arc::ptr_eq(known, &trial.setting)) {
            Some((_, count)) => *count += 1,
            None => settings.push((Arc::clone(&trial.setting), 1)),
        }
    }
    settings
}

/// The text of a field that most trials have.
fn most(settings: &[(Arc<Setting>, usize)], field: impl Fn(&Setting) -> &String) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (setting, count) in settings {
        *counts.entry(field(setting)).or_default() += count;
    }
    counts.remove("");
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(text, _)| text.to_owned()).unwrap_or_default()
}

/// The text of a field, where all that is known is the same.
fn one(settings: &[(Arc<Setting>, usize)], field: impl Fn(&Setting) -> &String) -> Option<String> {
    let mut known = settings.iter().map(|(setting, _)| field(setting)).filter(|text| !text.is_empty());
    let first = known.next()?;
    known.all(|text| text == first).then(|| first.clone())
}

/// The parameters of the spaces that configurations are from.
fn declared(settings: &[(Arc<Setting>, usize)]) -> Vec<Declared> {
    let mut declared: Vec<Declared> = Vec::new();
    for parameter in settings.iter().flat_map(|(setting, _)| &setting.parameters) {
        let categorical = parameter.kind() == ParameterKind::Categorical;
        match declared.iter_mut().find(|known| known.name == parameter.name()) {
            Some(known) => {
                known.categorical |= categorical;
                known.levels.extend(parameter.levels().iter().cloned());
            }
            None => declared.push(Declared {
                name: parameter.name().to_owned(),
                levels: Parameter::levels(parameter).to_vec(),
                categorical,
            }),
        }
    }
    declared
}
