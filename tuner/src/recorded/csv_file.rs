//! CSV with a header: one column per parameter, one or more with measured values.
//!
//! Which is which: where there is a column `status`, as in files of our own, those before it are parameters and those
//! behind it are metrics. Else a column is a metric if it is named as the response, if its name is that of a measured
//! quantity (time, energy, ...), or if it holds numbers with a fraction; the rest are parameters. The response is the
//! first metric unless it is named.

use super::{Format, Recorded, Row, assemble, malformed};
use crate::error::{Result, TunerError};
use crate::space::Point;
use crate::trial::{Metric, Origin, Status, Trial};
use crate::value::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Names of measured quantities; `time` also as the start of a name, as in `time_per_pixel`.
const MEASURED: [&str; 12] = [
    "runtime", "seconds", "duration", "cost", "energy", "power", "watts", "joules", "gflops", "gflop/s",
    "edp", "cycles",
];

pub(super) fn read(path: &Path, bytes: &[u8], response: Option<&str>) -> Result<Recorded> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
    let broken = |error: csv::Error| {
        let place = error.position().map(|position| format!("line {}", position.line())).unwrap_or_default();
        let reason = match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("{len} cells where the header has {expected_len}")
            }
            csv::ErrorKind::Utf8 { .. } => "the text is not UTF-8".to_owned(),
            _ => error.to_string(),
        };
        malformed(path, &place, reason, "")
    };
    let header: Vec<String> = reader.headers().map_err(broken)?.iter().map(str::to_owned).collect();
    if header.len() < 2 {
        let hint = "it needs a column for every parameter and one for the response, separated by commas";
        return Err(malformed(path, "line 1", "the header has fewer than two columns", hint));
    }
    let mut cells: Vec<Vec<String>> = Vec::new();
    for record in reader.records() {
        cells.push(record.map_err(broken)?.iter().map(str::to_owned).collect());
        super::check_size(path, header.len(), cells.len())?;
    }
    if cells.is_empty() {
        return Err(malformed(path, "", "there is no line behind the header", ""));
    }
    let columns = Columns::of(path, &header, &cells, response)?;
    let names: Vec<String> = columns.parameters.iter().map(|&column| header[column].clone()).collect();
    let response = header[columns.response].clone();
    let rows = cells.iter().map(|cells| {
        let values = columns.parameters.iter().map(|&column| Value::parse(&cells[column])).collect();
        Row { values, trial: trial(&columns, &header, cells) }
    });
    let (space, trials) = assemble(path, &names, Vec::new(), rows.collect())?;
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
        response,
    })
}

fn trial(columns: &Columns, header: &[String], cells: &[String]) -> Trial {
    let mut metrics = BTreeMap::new();
    for &column in &columns.metrics {
        if let Some(value) = cells[column].parse::<f64>().ok().filter(|value| value.is_finite()) {
            metrics.insert(header[column].clone(), Metric { value, ..Metric::default() });
        }
    }
    let named = columns.status.map(|column| cells[column].as_str());
    let response = &cells[columns.response];
    let (status, message) = match named.and_then(Status::named) {
        Some(Status::Ok) | None if metrics.contains_key(&header[columns.response]) => {
            (Status::Ok, String::new())
        }
        Some(status) if status != Status::Ok => (status, columns.message(cells)),
        _ if response.is_empty() => (Status::RunError, "nothing was recorded".to_owned()),
        _ => (super::kernel_tuner::status_of(response), response.clone()),
    };
    let text = |column: Option<usize>| column.map(|column| cells[column].clone()).unwrap_or_default();
    let origin = Origin { when: text(columns.when), device: text(columns.device), by: text(columns.by) };
    Trial { point: Point::new(Vec::new()), status, metrics, message, origin }
}

/// What the columns are.
struct Columns {
    parameters: Vec<usize>,
    metrics: Vec<usize>,
    response: usize,
    status: Option<usize>,
    message: Option<usize>,
    when: Option<usize>,
    device: Option<usize>,
    by: Option<usize>,
}

impl Columns {
    fn of(path: &Path, header: &[String], cells: &[Vec<String>], response: Option<&str>) -> Result<Columns> {
        let find = |name: &str| header.iter().position(|column| column == name);
        let status = find("status");
        let named = match response {
            Some(name) => {
                let names: Vec<&str> = header.iter().map(String::as_str).collect();
                Some(find(name).ok_or_else(|| TunerError::unknown("column", name, &names))?)
            }
            None => None,
        };
        let behind = |column: usize| status.is_some_and(|status| column > status);
        let own = |name: &str| find(name).filter(|&column| behind(column));
        let (message, when, device, by) = (own("message"), own("when"), own("device"), own("by"));
        let special = [status, message, when, device, by];
        let is_metric = |column: usize| match status {
            Some(status) => column > status,
            None => Some(column) == named || is_measured(&header[column]) || has_fractions(cells, column),
        };
        let (metrics, parameters): (Vec<usize>, Vec<usize>) =
            (0..header.len()).filter(|&column| !special.contains(&Some(column))).partition(|&c| is_metric(c));
        let Some(response) = named.or(metrics.first().copied()) else {
            let hint = "name the column to minimise with --response";
            return Err(malformed(path, "line 1", "no column looks like a measured quantity", hint));
        };
        if parameters.is_empty() {
            return Err(malformed(path, "line 1", "no column looks like a parameter", ""));
        }
        Ok(Columns { parameters, metrics, response, status, message, when, device, by })
    }

    fn message(&self, cells: &[String]) -> String {
        self.message.map(|column| cells[column].clone()).unwrap_or_default()
    }
}

fn is_measured(name: &str) -> bool {
    let name = name.to_lowercase();
    name == "time"
        || name.starts_with("time_")
        || name.ends_with("_time")
        || MEASURED.contains(&name.as_str())
}

/// Whether the column holds a number with a fraction or an exponent.
fn has_fractions(cells: &[Vec<String>], column: usize) -> bool {
    cells.iter().any(|cells| matches!(Value::parse(&cells[column]), Value::Real(_)))
}
