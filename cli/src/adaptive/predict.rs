//! `tilewright adaptive predict`: which variant a model chooses.

use super::arguments::PredictArguments;
use super::source::{open, told};
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::{self, Report};
use adaptive::note::Reason;
use adaptive::tune::Measured;
use adaptive::{AdaptiveError, Context, Selector, model_file};
use serde::Serialize;
use std::sync::{Arc, Mutex};

/// The report of `adaptive predict`.
#[derive(Debug, Serialize)]
pub struct PredictReport {
    /// The function.
    pub name: String,
    /// Names of the features that the model needs.
    pub features: Vec<String>,
    /// What is chosen.
    pub choices: Vec<Chosen>,
    /// What is to be said of the features, each once.
    pub notes: Vec<String>,
}

/// A choice.
#[derive(Debug, Serialize)]
pub struct Chosen {
    /// The input; empty where values were given.
    pub input: String,
    /// The variant.
    pub variant: String,
    /// Why: `model`, `next-best`, `no-features`, `none-allowed`, `forced`.
    pub reason: &'static str,
    /// Values of the features; null for one that could not be had.
    pub values: Vec<Option<f64>>,
}

/// Predicts.
///
/// # Errors
/// A file that is no model, features that are missing.
pub fn predict(arguments: &PredictArguments, session: &Session) -> Result<PredictReport> {
    let model = Arc::new(model_file::read(&arguments.file).map_err(told)?);
    let notes: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&notes);
    let context = Context::new().on_note(move |note| {
        if let Ok(mut notes) = heard.lock() {
            notes.push(note.text.to_owned());
        }
    });
    let features = model.feature_names();
    let selector = Selector::with_model(
        &context,
        &model.name,
        &model.variants,
        model.default,
        &features,
        Arc::clone(&model),
    )
    .map_err(told)?;
    let mut choices = Vec::new();
    let mut choose = |input: &str, values: &[f64], allowed: &dyn Fn(usize) -> bool| {
        let known = values.iter().all(|value| value.is_finite());
        let needed = if selector.needed().is_empty() { &[][..] } else { values };
        let choice = selector.choose(known.then_some(needed), allowed);
        let reason: Reason = choice.reason;
        choices.push(Chosen {
            input: input.to_owned(),
            variant: model.variants[choice.variant].clone(),
            reason: reason.name(),
            values: values.iter().map(|value| Some(*value).filter(|value| value.is_finite())).collect(),
        });
    };
    match &arguments.from {
        None => {
            let mut values = vec![f64::NAN; features.len()];
            for text in &arguments.values {
                let (name, value) = text.split_once('=').ok_or_else(|| {
                    Error::wrong_input(format!("--values: `{text}` is no NAME=VALUE"))
                        .hint("as in n=1000,rows=20")
                })?;
                let place = features.iter().position(|own| own == name.trim());
                let place =
                    place.ok_or_else(|| told(AdaptiveError::unknown("feature", name.trim(), &features)))?;
                let number = value.trim().parse::<f64>().ok().filter(|value| value.is_finite());
                values[place] = number
                    .ok_or_else(|| Error::wrong_input(format!("--values: `{value}` is no finite number")))?;
            }
            let missing: Vec<&String> = features
                .iter()
                .zip(&values)
                .filter(|(_, value)| value.is_nan())
                .map(|(name, _)| name)
                .collect();
            if let Some(first) = missing.first() {
                return Err(Error::wrong_input(format!("--values: `{first}` is missing"))
                    .hint(format!("the model needs {}", features.join(", "))));
            }
            choose("", &values, &|_| true);
        }
        Some(path) => {
            let mut opened = open(path, &arguments.source, &arguments.input)?;
            let named: Vec<usize> = {
                let inputs = opened.workload().inputs();
                arguments
                    .input
                    .iter()
                    .filter_map(|own| inputs.iter().position(|other| other == own))
                    .collect()
            };
            let inputs = match (named.is_empty(), opened.test.is_empty()) {
                (false, _) => named,
                (true, false) => opened.test.clone(),
                (true, true) => opened.training.clone(),
            };
            let own = opened.workload();
            own.adopt(&model.variants);
            let place = |list: &[String], name: &String, what: &str| {
                let place = list.iter().position(|own| own == name);
                place.ok_or_else(|| told(AdaptiveError::unknown(what, name, list)))
            };
            let places: Vec<usize> =
                features.iter().map(|name| place(own.features(), name, "feature")).collect::<Result<_>>()?;
            let variants: Vec<usize> = model
                .variants
                .iter()
                .map(|name| place(own.variants(), name, "variant"))
                .collect::<Result<_>>()?;
            let (objective, trials) = (opened.objective.clone(), opened.trials.clone());
            let mut rows = Vec::new();
            {
                let mut measured =
                    Measured::new(opened.workload(), objective, trials.as_deref()).map_err(told)?;
                session.stage("features", || -> Result<()> {
                    for &input in &inputs {
                        rows.push((input, measured.features(input).map_err(told)?.clone()));
                    }
                    Ok(())
                })?;
            }
            for (input, row) in rows {
                let values: Vec<f64> = places.iter().map(|&at| row.features[at]).collect();
                let mut forbidden = Vec::new();
                for (at, &variant) in variants.iter().enumerate() {
                    if !opened.workload().is_allowed(input, variant, &row.features).map_err(told)? {
                        forbidden.push(at);
                    }
                }
                choose(&row.input, &values, &|variant| !forbidden.contains(&variant));
            }
            opened.clean()?;
        }
    }
    let notes = notes.lock().map(|notes| notes.clone()).unwrap_or_default();
    Ok(PredictReport { name: model.name.clone(), features, choices, notes })
}

impl Report for PredictReport {
    const SCHEMA: &'static str = "tilewright.adaptive-predict/1";

    fn text(&self) -> String {
        let mut text = match &self.choices[..] {
            [one] if one.input.is_empty() => format!("{}\n", one.variant),
            all => {
                let rows: Vec<Vec<String>> = all
                    .iter()
                    .map(|own| vec![own.input.clone(), own.variant.clone(), own.reason.to_owned()])
                    .collect();
                report::table(&["input", "variant", "why"], &rows, &[])
            }
        };
        self.notes.iter().for_each(|note| text.push_str(&format!("note: {note}\n")));
        text
    }
}
