//! Many machines, one model: features of the machine are appended to those of the input (section 3.2.1).

use super::fleet::{Fleet, Machine};
use crate::error::{AdaptiveError, Result};
use crate::table::{Row, Table};
use crate::train::{TrainOptions, Trained, train};

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
