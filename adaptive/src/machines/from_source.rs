//! A model for one machine of a fleet: features of machines are selected, and a model of the others' measurements is trained with them
//! (section 3.3).

use super::fleet::{Fleet, Machine};
use super::multitask::train_for;
use super::profiled::{Profiled, select_by_profiles};
use super::select::{SelectOptions, select};
use crate::error::Result;
use crate::train::{TrainOptions, Trained};
use std::time::{Duration, Instant};

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
