//! The columns of a file by their roles, with the reason for each.

use super::gathered::{Evidence, Role};
use super::own_format::{OWN_END, Own, SETTING};
use crate::formats::names::{Measured, Telling, telling};
use crate::formats::roles::{Named, Roles};

/// The columns of a file by their roles.
#[derive(Debug)]
pub struct Columns {
    pub parameters: Vec<usize>,
    pub metrics: Vec<usize>,
    /// What is minimised; `None` where nothing is.
    pub response: Option<usize>,
    /// The status, and whether its numbers mean yes and no.
    pub status: Option<(usize, bool)>,
    pub message: Option<usize>,
    pub when: Option<usize>,
    /// The columns of the setting, by the names of its fields.
    pub setting: Vec<(String, usize)>,
    pub roles: Roles,
}

impl Evidence<'_> {
    /// The columns, once all roles are known; `own` is where what is in a file as we write it.
    pub fn columns(&self, response: Option<usize>, own: Option<Own>) -> Columns {
        let mut metrics = self.with_role(|role| matches!(role, Role::Metric(..)));
        if let Some(response) = response {
            metrics.retain(|&column| column != response);
            metrics.insert(0, response);
        }
        let parameters = self.parameters();
        let named = |columns: &[usize]| -> Vec<Named> {
            let why = |column: usize| match &self.roles[column] {
                Role::Metric(Measured::Rate, why) if !why.contains("rate") => {
                    format!("{why}, a rate by its name: the greatest is best")
                }
                Role::Parameter(why)
                | Role::Metric(_, why)
                | Role::Status(why)
                | Role::Message(why)
                | Role::Ignored(why)
                | Role::Doubt(why) => why.clone(),
                Role::Open => String::new(),
            };
            columns.iter().map(|&column| Named::new(self.name(column), why(column))).collect()
        };
        let status = self.with_role(|role| matches!(role, Role::Status(_))).first().copied();
        let ignored = self.with_role(|role| matches!(role, Role::Ignored(_) | Role::Message(_)));
        Columns {
            roles: Roles {
                parameters: named(&parameters),
                metrics: named(&metrics),
                status: status.and_then(|column| named(&[column]).pop()),
                ignored: named(&ignored),
                repeated: if parameters.is_empty() {
                    0
                } else {
                    self.sheet.rows.len() - self.different(&parameters)
                },
            },
            parameters,
            metrics,
            response,
            status: status.map(|column| {
                (column, matches!(telling(self.name(column)), Telling::Status { yes_or_no: true }))
            }),
            message: self.with_role(|role| matches!(role, Role::Message(_))).first().copied(),
            when: own.map(|own| own.end + 1),
            setting: own.map(|own| self.setting_columns(own)).unwrap_or_default(),
        }
    }

    /// The columns of the setting in a file as we write it.
    fn setting_columns(&self, own: Own) -> Vec<(String, usize)> {
        let fields = self.sheet.header.iter().enumerate().skip(own.end + OWN_END.len());
        let fields = fields.filter_map(|(at, name)| Some((name.strip_prefix(SETTING)?.to_owned(), at)));
        [("machine".to_owned(), own.end + 2), ("by".to_owned(), own.end + 3)]
            .into_iter()
            .chain(fields)
            .collect()
    }
}
