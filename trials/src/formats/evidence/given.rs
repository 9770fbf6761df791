//! What the options say of the columns.

use crate::error::{Result, TrialsError};
use crate::formats::roles::{ReadOptions, conflict, split_names};
use crate::formats::sheet::Sheet;

/// What the options say.
pub(super) struct Given {
    pub parameters: Option<Vec<usize>>,
    pub response: Option<usize>,
    /// Metrics by name, the response first.
    pub metrics: Vec<usize>,
    /// Columns in expressions over metrics.
    pub mentioned: Vec<usize>,
    pub status: Option<usize>,
}

impl Given {
    /// Finds the columns that are named.
    pub fn new(sheet: &Sheet, options: &ReadOptions) -> Result<Given> {
        let known: Vec<&str> = sheet.header.iter().map(String::as_str).collect();
        let place = |name: &str| {
            let mut places = (0..known.len()).filter(|&column| known[column] == name.trim());
            match (places.next(), places.next()) {
                (Some(column), None) => Ok(column),
                (Some(_), Some(_)) => Err(duplicate(name)),
                _ => Err(TrialsError::unknown("column", name, &known)),
            }
        };
        let parameters = match options.parameters.is_empty() {
            true => None,
            false => Some(
                split_names(&options.parameters, &known)?
                    .iter()
                    .map(|name| place(name))
                    .collect::<Result<Vec<usize>>>()?,
            ),
        };
        let response = options.response.as_deref().map(place).transpose()?;
        let mut metrics: Vec<usize> = response.into_iter().collect();
        let mut mentioned = Vec::new();
        for text in &options.metrics {
            let text = text.trim();
            let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
            if is_name || known.contains(&text) {
                let column = place(text)?;
                if !metrics.contains(&column) {
                    metrics.push(column);
                }
            } else {
                let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
                mentioned.extend(words.filter_map(|word| known.iter().position(|name| *name == word)));
            }
        }
        let status = options.status.as_deref().map(place).transpose()?;
        let is_parameter = |column: &usize| parameters.as_ref().is_some_and(|all| all.contains(column));
        if let Some(&column) = metrics.iter().find(|column| is_parameter(column)) {
            return Err(conflict(known[column], "--parameters", "named as a metric as well"));
        }
        if let Some(column) = status {
            if is_parameter(&column) {
                return Err(conflict(known[column], "--parameters", "named with --status as well"));
            }
            if metrics.contains(&column) {
                return Err(conflict(known[column], "--status", "named as a metric as well"));
            }
        }
        Ok(Given { parameters, response, metrics, mentioned, status })
    }
}

/// The error where a name does not tell which column is meant.
pub(super) fn duplicate(name: &str) -> TrialsError {
    TrialsError::Request {
        reason: format!("two columns have the name `{}`", name.trim()),
        hint: "give each column a name of its own in the first line".to_owned(),
    }
}
