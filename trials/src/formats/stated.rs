//! Roles that a format states itself.

use super::roles::{Named, ReadOptions, Roles, conflict, split_names};
use crate::error::{Result, TrialsError};
use crate::recording::{Format, Recording};

/// The roles that a format states itself. Checks what the options say against them.
pub(super) fn stated_by(recorded: &Recording, options: &ReadOptions) -> Result<Roles> {
    let (of_parameters, of_metrics, status) = match recorded.format {
        Format::KernelTuner => (
            "in `tune_params_keys`",
            "in the records",
            Some(Named::new(&recorded.response, "the name of an error stands there in place of a number")),
        ),
        Format::T1 => ("in `TuningParameters`", "", None),
        Format::T4 => (
            "in `configuration`",
            "in `measurements` or `times`",
            Some(Named::new("invalidity", "the format says so")),
        ),
        Format::Csv => ("", "", None),
        Format::Store => {
            ("kept in the store", "kept in the store", Some(Named::new("status", "kept in the store")))
        }
    };
    let parameters = recorded.names();
    let metrics = recorded.metrics();
    let given = split_names(&options.parameters, &parameters)?;
    for name in &given {
        if !parameters.contains(&name.as_str()) {
            if metrics.contains(&name.as_str()) {
                return Err(conflict(name, "--parameters", "a metric of the file"));
            }
            return Err(TrialsError::unknown("parameter", name, &parameters));
        }
    }
    let format = recorded.format.name();
    if let Some(left) = parameters.iter().find(|name| !given.iter().any(|other| other == *name))
        && !given.is_empty()
    {
        return Err(TrialsError::Request {
            reason: format!(
                "{}: `{left}` is a parameter of the file, and --parameters lacks it",
                shown(recorded)
            ),
            hint: format!("leave --parameters away: a {format} says itself what its parameters are"),
        });
    }
    if let Some(name) = &options.status {
        return Err(TrialsError::Request {
            reason: format!("{}: there is no column `{name}` in a {format}", shown(recorded)),
            hint: "leave --status away: the format says itself how trials ended".to_owned(),
        });
    }
    let mut roles = Roles {
        parameters: parameters.iter().map(|name| Named::new(*name, of_parameters)).collect(),
        metrics: metrics.iter().map(|name| Named::new(*name, of_metrics)).collect(),
        status,
        ignored: Vec::new(),
        repeated: 0,
    };
    roles.add_mixed(&recorded.mixed);
    Ok(roles)
}

fn shown(recorded: &Recording) -> String {
    recorded.path.display().to_string()
}
