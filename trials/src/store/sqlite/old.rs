//! Stores of earlier versions, each of one search: `about` says of which, and the configuration of a trial is the list of
//! its values. The checksum of a trial covers what the store is of, its number and its columns; the first version had none.

use super::found::{Found, within};
use crate::limits::MOST_TRIALS;
use crate::parameter::Parameter;
use crate::setting::Setting;
use crate::trial::{Configuration, Metric, Outcome, Status, Trial};
use crate::value::Value;
use rusqlite::Connection;
use safe_io::{Damage, checksum};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What such a store is of.
struct About {
    parameters: String,
    measured: String,
    response: String,
}

impl About {
    fn sum(&self) -> String {
        checksum::of(&[self.parameters.as_bytes(), self.measured.as_bytes(), self.response.as_bytes()])
    }
}

/// Configuration, status, metrics, message, when, device, by what.
type Columns = [String; 7];

fn sum(about: &About, number: i64, columns: &Columns) -> String {
    let (about, number) = (about.sum(), number.to_le_bytes());
    let mut parts = vec![about.as_bytes(), number.as_slice()];
    parts.extend(columns.iter().map(String::as_bytes));
    checksum::of(&parts)
}

/// Reads such a store; returns the number of its last trial.
pub(super) fn trials(
    path: &Path,
    connection: &Connection,
    without_checksums: bool,
    found: &mut Found,
) -> rusqlite::Result<i64> {
    let mut about = pairs(connection)?;
    let own_sum = about.remove("sum");
    found.without_checksums = without_checksums && own_sum.is_none();
    let content = &mut found.content;
    let mut damaged = |place: String, reason: String| {
        content.damage.push(Damage { file: path.to_owned(), place, reason });
    };
    let mut take = |name: &str| about.remove(name);
    let (Some(parameters), Some(measured), Some(response)) =
        (take("parameters"), take("measured"), take("response"))
    else {
        damaged("description".to_owned(), "what the store is of is missing".to_owned());
        return Ok(0);
    };
    let about = About { parameters, measured, response };
    if !found.without_checksums && own_sum.is_none_or(|sum| sum != about.sum()) {
        let reason = "what the store is of is damaged; its trials are used as far as they fit";
        damaged("description".to_owned(), reason.to_owned());
    }
    if found.without_checksums {
        let text = "the store has no checksums; its trials are taken as they are";
        damaged("all trials".to_owned(), text.to_owned());
    }
    let parameters: Vec<Parameter> = match serde_json::from_str(&about.parameters) {
        Ok(parameters) => parameters,
        Err(error) => {
            damaged("description".to_owned(), format!("its parameters: {error}"));
            return Ok(0);
        }
    };
    let names: Arc<[String]> = parameters.iter().map(|parameter| parameter.name().to_owned()).collect();
    let mut settings: BTreeMap<(String, String), Arc<Setting>> = BTreeMap::new();
    let mut setting = |device: String, by: String| {
        let new = || {
            Arc::new(Setting {
                job: about.measured.clone(),
                // It said no more of the machine than that it is a processor.
                machine: if device == "cpu" { String::new() } else { device.clone() },
                response: about.response.clone(),
                parameters: parameters.clone(),
                ..Setting::default()
            })
        };
        let _ = &by;
        Arc::clone(settings.entry((device.clone(), by.clone())).or_insert_with(new))
    };
    let (mut last, mut length, mut good) = (0, 0, Vec::new());
    let column = if found.without_checksums { "''" } else { "sum" };
    let query = format!(
        "SELECT number, configuration, status, metrics, message, measured_at, device, measured_by, {column}
         FROM trial NOT INDEXED ORDER BY number"
    );
    let mut ended = || -> rusqlite::Result<()> {
        let mut statement = connection.prepare(&query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let number: i64 = row.get(0)?;
            let text = |column: usize| row.get::<_, String>(column).ok();
            let columns: Option<Vec<String>> = (1..=7).map(text).collect();
            within(&mut length, columns.iter().flatten().map(String::len).sum())?;
            let columns: Option<Columns> = columns.and_then(|columns| columns.try_into().ok());
            let place = format!("trial {number}");
            if !found.without_checksums && number > last + 1 {
                damaged(place.clone(), format!("trials are missing in front of trial {number}"));
            }
            last = number;
            let whole = columns.filter(|columns| {
                found.without_checksums || text(8).is_some_and(|found| found == sum(&about, number, columns))
            });
            let trial = whole
                .ok_or_else(|| "the checksum does not fit; the trial is not used".to_owned())
                .and_then(|columns| trial(columns, &names, &mut setting));
            match trial {
                Ok(trial) => good.push(trial),
                Err(reason) => damaged(place, reason),
            }
            if good.len() > MOST_TRIALS {
                break;
            }
        }
        Ok(())
    };
    if let Err(error) = ended() {
        damaged("file".to_owned(), format!("it cannot be read to its end ({error})"));
    }
    content.trials = good;
    Ok(last)
}

fn trial(
    columns: Columns,
    names: &Arc<[String]>,
    setting: &mut dyn FnMut(String, String) -> Arc<Setting>,
) -> Result<Trial, String> {
    let [configuration, status, metrics, message, when, device, by] = columns;
    let values: Vec<Value> =
        serde_json::from_str(&configuration).map_err(|error| format!("its configuration: {error}"))?;
    if values.len() != names.len() {
        return Err(format!("its configuration: {} values for {} parameters", values.len(), names.len()));
    }
    let status = Status::named(&status).ok_or_else(|| format!("unknown status `{status}`"))?;
    let metrics: BTreeMap<String, Metric> =
        serde_json::from_str(&metrics).map_err(|error| format!("its metrics: {error}"))?;
    let configuration = Configuration::new(Arc::clone(names), values);
    let outcome = Outcome { status, metrics, message, when };
    Ok(Trial { configuration, outcome, setting: setting(device, by), round: 0 })
}

fn pairs(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let mut statement = connection.prepare("SELECT name, value FROM about NOT INDEXED LIMIT 100")?;
    let pair = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0).ok(), row.get::<_, String>(1).ok()));
    let pairs: Vec<_> = statement.query_map([], pair)?.collect::<rusqlite::Result<_>>()?;
    Ok(pairs.into_iter().filter_map(|(name, value)| Some((name?, value?))).collect())
}
