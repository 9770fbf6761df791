//! CSV with a header: one column per parameter, one or more with measured values. Which is which say the
//! options, the names, or the values; see [`super::evidence`].

use super::assemble::{Row, assemble};
use super::evidence::{Columns, columns};
use super::recording::{Format, Recorded};
use super::roles::{ReadOptions, status_of_word};
use super::sheet::Sheet;
use crate::error::{Result, malformed};
use crate::space::Point;
use crate::trial::{Metric, Origin, Status, Trial};
use crate::value::Value;
use std::collections::BTreeMap;
use std::path::Path;

pub(super) fn read(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Recorded> {
    let sheet = Sheet::parse(path, bytes)?;
    if sheet.header.len() < 2 {
        let hint = "it needs a column for every parameter and one for the response, separated by commas";
        return Err(malformed(path, "line 1", "the header has fewer than two columns", hint));
    }
    if sheet.rows.is_empty() {
        return Err(malformed(path, "", "there is no line behind the header", ""));
    }
    let columns = columns(path, &sheet, options)?;
    let names: Vec<String> = columns.parameters.iter().map(|&column| sheet.header[column].clone()).collect();
    let rows = sheet.rows.iter().map(|(line, cells)| {
        let values = columns.parameters.iter().map(|&column| Value::parse(&cells[column])).collect();
        Ok(Row { values, trial: trial(path, &columns, &sheet.header, *line, cells)? })
    });
    let (space, trials) = assemble(path, &names, Vec::new(), rows.collect::<Result<_>>()?)?;
    let kernel = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let kernel = kernel.split('.').next().unwrap_or("").to_owned();
    Ok(Recorded {
        path: path.to_owned(),
        damage: Vec::new(),
        format: Format::Csv,
        kernel,
        device: String::new(),
        space,
        trials,
        response: columns.response.map(|column| sheet.header[column].clone()).unwrap_or_default(),
        roles: columns.roles,
    })
}

fn trial(path: &Path, columns: &Columns, header: &[String], line: u64, cells: &[String]) -> Result<Trial> {
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
    let origin = Origin { when: text(columns.when), device: text(columns.device), by: text(columns.by) };
    Ok(Trial { point: Point::new(Vec::new()), status, metrics, message, origin })
}
