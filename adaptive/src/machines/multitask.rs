//! Many machines, one model: features of the machine are appended to those of the input (section 3.2.1).

use super::fleet::{Fleet, Machine};
use super::profiled::{Profiled, select_by_profiles};
use super::select::{SelectOptions, select};
use crate::error::{AdaptiveError, Result};
use crate::table::{Row, Table};
use crate::train::{TrainOptions, Trained, train};
use std::time::{Duration, Instant};

/// The measurements of all sources as one table, in which these features of machines, by their places in the fleet, follow those of
/// inputs.
///
/// # Errors
/// No source.
pub fn concatenated(fleet: &Fleet, sources: &[&Machine], features: &[usize]) -> Result<Table> {
    let mut whole: Option<Table> = None;
    for machine in sources {
        let Some(table) = &machine.table else { continue };
        let names = features.iter().map(|&at| fleet.features[at].clone());
        let whole = whole.get_or_insert_with(|| Table {
            features: table.features.iter().cloned().chain(names).collect(),
            rows: Vec::new(),
            ..table.clone()
        });
        let own: Vec<f64> = features.iter().map(|&at| machine.features[at]).collect();
        whole.rows.extend(table.rows.iter().map(|row| Row {
            features: [row.features.as_slice(), &own].concat(),
            feature_costs: [row.feature_costs.as_slice(), &vec![0.0; own.len()]].concat(),
            ..row.clone()
        }));
    }
    whole.ok_or_else(|| {
        AdaptiveError::infeasible(
            "nothing was measured on any other machine",
            "name the table of at least one of them",
        )
    })
}

/// A model for a machine, made of what was measured on the sources: its features of machines are constants.
///
/// # Errors
/// No source; no input that a variant solves.
pub fn train_for(
    fleet: &Fleet,
    sources: &[&Machine],
    target: &Machine,
    features: &[usize],
    options: &TrainOptions,
) -> Result<Trained> {
    let table = concatenated(fleet, sources, features)?;
    let rows: Vec<usize> = (0..table.rows.len()).collect();
    let all: Vec<usize> = (0..table.features.len()).collect();
    let mut trained = train(&table, &rows, &all, options)?;
    let model = &mut trained.model;
    model.features.truncate(table.features.len() - features.len());
    model.constants = features.iter().map(|&at| target.features[at]).collect();
    let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    model.training.machine = format!("{}, from measurements on {}", target.name, names.join(", "));
    Ok(trained)
}

/// How features of machines are selected: the knobs `profiling_based_dfs` and `search_based_dfs`. With neither, all are taken; with
/// both, the search is among those that profiles leave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceFeatures {
    /// By what the variants' code issues (P-DFS).
    pub by_profiles: bool,
    /// By how the measured machines serve each other (CV-DFS).
    pub by_search: bool,
}

/// Which features of machines are taken, and what it took to find them.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// Their places in the fleet.
    pub features: Vec<usize>,
    /// What the profiles said, where they were asked.
    pub profiled: Option<Profiled>,
    /// Time that the profiles took (Table 3.7).
    pub profile_time: Duration,
    /// Time that the search took.
    pub search_time: Duration,
}

/// Selects features of machines.
///
/// # Errors
/// As [`select_by_profiles`] and [`select`].
pub fn choose_features(
    fleet: &Fleet,
    sources: &[&Machine],
    how: DeviceFeatures,
    selecting: &SelectOptions,
) -> Result<Chosen> {
    let start = Instant::now();
    let profiled = if how.by_profiles { Some(select_by_profiles(fleet)?) } else { None };
    let profile_time = start.elapsed();
    let mut features = profiled.as_ref().map_or_else(|| fleet.all_features(), |own| own.features.clone());
    let start = Instant::now();
    if how.by_search {
        features = select(fleet, sources, &features, selecting)?.features;
    }
    Ok(Chosen { features, profiled, profile_time, search_time: start.elapsed() })
}

/// A model for a machine on which nothing need have been measured, from all others of the fleet (`tune_from_source`).
///
/// # Errors
/// As [`choose_features`] and [`train_for`]; an unknown machine.
pub fn tune_from_source(
    fleet: &Fleet,
    target: &str,
    how: DeviceFeatures,
    options: &TrainOptions,
    selecting: &SelectOptions,
) -> Result<(Trained, Chosen)> {
    let machine = fleet.machine(target)?;
    let sources = fleet.sources(target);
    let chosen = choose_features(fleet, &sources, how, selecting)?;
    Ok((train_for(fleet, &sources, machine, &chosen.features, options)?, chosen))
}
