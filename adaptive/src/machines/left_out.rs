//! What models for other machines are worth: each machine is left out in turn (Figures 3.4 and 3.5).

use super::fleet::Fleet;
use super::from_source::{DeviceFeatures, choose_features};
use super::multitask::train_for;
use super::select::{SelectOptions, mean, performance};
use crate::error::{AdaptiveError, Result};
use crate::model::Model;
use crate::table::Table;
use crate::train::{TrainOptions, train};
use serde::Serialize;

/// A machine that was left out: mean performances on its inputs, against exhaustive search there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    /// The machine.
    pub machine: String,
    /// Inputs that count.
    pub inputs: usize,
    /// A model trained on the machine itself, in cross-validation.
    pub own: f64,
    /// A model from the others with all features of machines.
    pub full: f64,
    /// With those that profiles of the variants select (P-DFS); null where the fleet has none.
    pub profiled: Option<f64>,
    /// With those that the search selects (CV-DFS), among what profiles leave where the fleet has some.
    pub selected: f64,
    /// Those.
    pub features: Vec<String>,
    /// Seconds that the profiles took, and that the search took (Table 3.7).
    pub seconds: [f64; 2],
    /// What most models of single other machines choose.
    pub majority: f64,
    /// A variant by chance: the mean over all that are allowed.
    pub random: f64,
}

/// Leaves each measured machine out in turn.
///
/// # Errors
/// Fewer than three machines with measurements; a table that cannot be trained on.
pub fn leave_out(fleet: &Fleet, options: &TrainOptions, selecting: &SelectOptions) -> Result<Vec<LeftOut>> {
    let measured = fleet.sources("");
    if measured.len() < 3 {
        let reason = format!("{} machines with a table, where leaving one out takes three", measured.len());
        return Err(AdaptiveError::infeasible(reason, "measure on more machines"));
    }
    let mut all = Vec::new();
    for target in measured {
        let Some(table) = &target.table else { continue };
        let others = fleet.sources(&target.name);
        let value = |model: &Model| performance(model, table).unwrap_or(0.0);
        let full = train_for(fleet, &others, target, &fleet.all_features(), options)?.model;
        let how = DeviceFeatures { by_profiles: fleet.profiles.is_some(), by_search: true };
        let found = choose_features(fleet, &others, how, selecting)?;
        let selected = train_for(fleet, &others, target, &found.features, options)?.model;
        let profiled = match &found.profiled {
            None => None,
            Some(own) => Some(value(&train_for(fleet, &others, target, &own.features, options)?.model)),
        };
        let rows: Vec<usize> = (0..table.rows.len()).collect();
        let inputs: Vec<usize> = (0..table.features.len()).collect();
        let own = train(table, &rows, &inputs, options)?.validated.performance;
        let judges: Vec<Model> = others
            .iter()
            .map(|other| Ok(train_for(fleet, &[other], target, &[], options)?.model))
            .collect::<Result<_>>()?;
        all.push(LeftOut {
            machine: target.name.clone(),
            inputs: table.trainable().len(),
            own,
            full: value(&full),
            profiled,
            selected: value(&selected),
            features: found.features.iter().map(|&at| fleet.features[at].clone()).collect(),
            seconds: [found.profile_time, found.search_time].map(|time| time.as_secs_f64()),
            majority: mean(table, |row| table.rows[row].performance(most(&judges, table, row), 0.0))
                .unwrap_or(0.0),
            random: mean(table, |row| by_chance(table, row)).unwrap_or(0.0),
        });
    }
    Ok(all)
}

/// The variant that most models choose; of equals, that of the first one.
fn most(judges: &[Model], table: &Table, row: usize) -> usize {
    let chosen: Vec<usize> = judges.iter().map(|model| model.best(&table.rows[row].features)).collect();
    let votes = |variant: usize| chosen.iter().filter(|&&own| own == variant).count();
    chosen.iter().copied().rev().max_by_key(|&variant| votes(variant)).unwrap_or(table.default)
}

/// Mean performance of the variants that are allowed.
fn by_chance(table: &Table, row: usize) -> Option<f64> {
    let own = &table.rows[row];
    let allowed: Vec<usize> =
        (0..table.variants.len()).filter(|variant| !own.forbidden.contains(variant)).collect();
    let values =
        allowed.iter().map(|&variant| own.performance(variant, 0.0)).collect::<Option<Vec<f64>>>()?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
