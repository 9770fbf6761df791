//! CSV with a header: one column per parameter, one or more with measured values. Which is which say the
//! options, the names, or the values; see [`super::evidence`].

use super::evidence::{Columns, columns};
use super::joined::{Joined, joined};
use super::roles::{ReadOptions, status_of_word};
use super::sheet::Sheet;
use crate::error::{Result, malformed};
use crate::recording::{Format, Recording};
use crate::setting::{Setting, Settings};
use crate::trial::{Configuration, Metric, Outcome, Status, Trial};
use crate::value::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

pub(super) fn read(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Recording> {
    let sheet = Sheet::parse(path, bytes)?;
    if sheet.header.len() < 2 {
        let hint = "it needs a column for every parameter and one for the response, separated by commas";
        return Err(malformed(path, "line 1", "the header has fewer than two columns", hint));
    }
    if sheet.rows.is_empty() {
        return Err(malformed(path, "", "there is no line behind the header", ""));
    }
    let columns = columns(path, &sheet, options)?;
    let names: Arc<[String]> =
        columns.parameters.iter().map(|&column| sheet.header[column].clone()).collect();
    let mut settings = Settings::default();
    let mut trials = Vec::with_capacity(sheet.rows.len());
    for (line, cells) in &sheet.rows {
        let values = columns.parameters.iter().map(|&column| Value::parse(&cells[column])).collect();
        let mut setting = Setting::default();
        // Where parameters are stated, nothing else is one.
        for (name, column) in columns.setting.iter().filter(|_| options.parameters.is_empty()) {
            if let Some(field) = setting.field(name) {
                cells[*column].clone_into(field);
            }
        }
        trials.push(Trial {
            configuration: Configuration::new(Arc::clone(&names), values),
            outcome: outcome(path, &columns, &sheet.header, *line, cells)?,
            setting: settings.shared(setting),
            round: 0,
        });
    }
    let Joined { parameters, trials, mixed } = joined(path, Vec::new(), trials)?;
    let mut roles = columns.roles;
    roles.add_mixed(&mixed);
    let kernel = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let kernel = kernel.split('.').next().unwrap_or("").to_owned();
    Ok(Recording {
        path: path.to_owned(),
        damage: Vec::new(),
        format: Format::Csv,
        kernel,
        device: String::new(),
        parameters,
        trials,
        problem: None,
        mixed,
        response: columns.response.map(|column| sheet.header[column].clone()).unwrap_or_default(),
        roles,
    })
}

fn outcome(
    path: &Path,
    columns: &Columns,
    header: &[String],
    line: u64,
    cells: &[String],
) -> Result<Outcome> {
    let mut metrics = BTreeMap::new();
    for &column in &columns.metrics {
        let cell = &cells[column];
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                metrics.insert(header[column].clone(), Metric { value, ..Metric::default() });
            }
            Ok(_) => {}
            // `1.5 ms` and `0,5` are no failures, and no numbers that can be compared with others.
            Err(_) if cell.trim_start_matches(['-', '+', '.']).starts_with(|c: char| c.is_ascii_digit()) => {
                let reason = format!("`{cell}` in the column `{}` is no number", header[column]);
                let hint = "write numbers only, with a point, and the unit in the name of the column";
                return Err(malformed(path, &format!("line {line}"), reason, hint));
            }
            Err(_) => {}
        }
    }
    let word = columns.status.and_then(|(column, yes_or_no)| status_of_word(&cells[column], yes_or_no));
    let text = |column: Option<usize>| column.map(|column| cells[column].clone()).unwrap_or_default();
    // Without a response of the file, any metric shows that it ran.
    let measured = match columns.response {
        Some(response) => metrics.contains_key(&header[response]),
        None => !metrics.is_empty(),
    };
    let response = columns.response.or(columns.metrics.first().copied());
    let response = text(response);
    let (status, message) = match word {
        Some(status) if status != Status::Ok => {
            let message = text(columns.message);
            let word = text(columns.status.map(|(column, _)| column));
            (status, if message.is_empty() && word != status.name() { word } else { message })
        }
        _ if measured => (Status::Ok, String::new()),
        _ if response.is_empty() => (Status::RunError, "nothing was recorded".to_owned()),
        _ => (super::kernel_tuner::status_of(&response), response),
    };
    Ok(Outcome { status, metrics, message, when: text(columns.when) })
}
