//! Which role each column of a sheet has: what the user says, what its name says, or what its values prove.
//! Where none of them does, nothing is guessed: the error lists the columns and the options that say it.
//!
//! A column without a telling name is a parameter if its values tell trials apart that nothing else tells
//! apart: without it, one configuration would stand there with several results. A column that adds nothing to
//! columns which identify every trial may be a result of them as well as a parameter, so it is in doubt; so
//! are numbers with fractions, unless the rows are (nearly) all combinations of their values with the others.

mod by_name;
mod by_values;
mod columns;
mod doubts;
mod gathered;
mod given;
mod own_format;
mod response;

pub(super) use columns::Columns;
pub(super) use own_format::{OWN_END, SETTING};

use super::names::{Telling, telling};
use super::roles::{ReadOptions, Roles, status_of_word};
use super::sheet::Sheet;
use crate::error::{Result, malformed};
use crate::trial::Status;
use gathered::{Evidence, Role};
use given::duplicate;
use std::collections::HashSet;
use std::path::Path;

/// The columns of a sheet of trials.
///
/// # Errors
/// Names that no column or two columns have, names in two roles, and columns whose role would be a guess.
pub(super) fn columns(path: &Path, sheet: &Sheet, options: &ReadOptions) -> Result<Columns> {
    let mut seen = HashSet::new();
    if let Some(name) = sheet.header.iter().find(|name| !name.is_empty() && !seen.insert(name.as_str())) {
        let error = duplicate(name);
        return Err(malformed(path, "", error.to_string(), &error.hint()));
    }
    let mut evidence = Evidence::new(path, sheet, options)?;
    let own = evidence.own_format();
    match own {
        Some(own) => evidence.roles_of_own(own),
        None if evidence.is_of_designs() => evidence.roles_of_designs(),
        None => {
            evidence.roles_by_name();
            evidence.roles_by_values();
        }
    }
    let response = evidence.response(options, own.is_some());
    if let Ok(Some(response)) = response
        && own.is_none()
        && evidence.given.parameters.is_none()
    {
        evidence.look_for_hidden_parameters(response);
    }
    evidence.refuse_doubts(response.as_ref().err().map(String::as_str))?;
    let response = response.ok().flatten();
    evidence.check_parameters()?;
    Ok(evidence.columns(response, own))
}

/// The roles for a front of a sheet, whose metrics are named, and how each row ended: rows that failed are
/// not on it. Other columns than these and the status cannot change the front; what they are is only said.
///
/// # Errors
/// Unknown names, names in two roles, and a column that may be the status but has values that nobody knows.
pub fn of_front(path: &Path, sheet: &Sheet, options: &ReadOptions) -> Result<(Roles, Vec<Option<Status>>)> {
    let mut evidence = Evidence::new(path, sheet, options)?;
    match evidence.own_format() {
        Some(own) => evidence.roles_of_own(own),
        None if evidence.is_of_designs() => evidence.roles_of_designs(),
        None => {
            evidence.roles_by_name();
            evidence.roles_by_values();
        }
    }
    for column in 0..evidence.roles.len() {
        let is_status = matches!(telling(&sheet.header[column]), Telling::Status { .. });
        match &evidence.roles[column] {
            Role::Doubt(_) if !is_status => {
                evidence.roles[column] =
                    Role::Ignored("no objective; the front does not depend on it".to_owned());
            }
            Role::Metric(_, why) if !evidence.given.metrics.contains(&column) => {
                let why = format!("{why}, but no objective");
                evidence.roles[column] = Role::Ignored(why);
            }
            _ => {}
        }
    }
    // A front needs no parameter, only what failed must be known.
    if !evidence.with_role(|role| matches!(role, Role::Doubt(_) | Role::Open)).is_empty() {
        evidence.refuse_doubts(None)?;
    }
    let columns = evidence.columns(None, None);
    let status = |(_, cells): &(u64, Vec<String>)| {
        let (column, yes_or_no) = columns.status?;
        status_of_word(&cells[column], yes_or_no)
    };
    let statuses = sheet.rows.iter().map(status).collect();
    Ok((columns.roles, statuses))
}
