//! Files of machines: their features, and what was measured on them. `docs/adaptive.md` is the manual.

use crate::csv_table::{self, Columns};
use crate::error::{AdaptiveError, Result};
use crate::table::Table;
use safe_io::input;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Largest file.
const MOST_BYTES: u64 = 1 << 24;

/// A machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// Its features, in the order of the fleet's.
    pub features: Vec<f64>,
    /// What was measured on it; `None` where nothing was.
    pub table: Option<Table>,
}

/// Machines that one function with variants runs on.
#[derive(Debug, Clone, PartialEq)]
pub struct Fleet {
    /// The function.
    pub name: String,
    /// Names of the features of machines, in alphabetical order.
    pub features: Vec<String>,
    /// The machines.
    pub machines: Vec<Machine>,
    /// The files of their tables.
    pub files: Vec<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default)]
    maximize: bool,
    default: Option<String>,
    machines: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    table: Option<PathBuf>,
    features: BTreeMap<String, f64>,
}

impl Fleet {
    /// Reads a file and the tables that it names, which lie beside it.
    ///
    /// # Errors
    /// Files that cannot be read; machines without features, of one name, or with other features than the first one; tables that
    /// differ in variants or features.
    pub fn read(path: &Path) -> Result<Fleet> {
        let text =
            input::read_text(path, MOST_BYTES).map_err(|error| AdaptiveError::unreadable(path, error))?;
        Fleet::parse(path, &text)
    }

    /// Reads the text of a file; `path` is where it lies.
    ///
    /// # Errors
    /// As [`Fleet::read`].
    pub fn parse(path: &Path, text: &str) -> Result<Fleet> {
        let wrong = |reason: String, hint: &str| AdaptiveError::malformed(path, "", reason, hint);
        let file: File = toml::from_str(text).map_err(|error| wrong(error.to_string(), ""))?;
        let Some(first) = file.machines.first() else {
            return Err(wrong("there is no machine".to_owned(), "add [[machines]]"));
        };
        let features: Vec<String> = first.features.keys().cloned().collect();
        if features.is_empty() {
            let hint = "say in `features` what tells it from others: bandwidth, cores, caches";
            return Err(wrong(format!("machine `{}` has no features", first.name), hint));
        }
        let columns =
            Columns { maximize: file.maximize, default: file.default.clone(), ..Columns::default() };
        let (mut machines, mut files): (Vec<Machine>, Vec<PathBuf>) = (Vec::new(), Vec::new());
        for entry in file.machines {
            if machines.iter().any(|other| other.name == entry.name) {
                return Err(wrong(format!("two machines are named `{}`", entry.name), "rename one of them"));
            }
            if !entry.features.keys().eq(features.iter()) {
                let names: Vec<&str> = entry.features.keys().map(String::as_str).collect();
                let reason = format!(
                    "machine `{}` has the features {} in place of {}",
                    entry.name,
                    names.join(", "),
                    features.join(", ")
                );
                return Err(wrong(reason, "give all machines the same features"));
            }
            if let Some((name, value)) = entry.features.iter().find(|(_, value)| !value.is_finite()) {
                let reason = format!("feature `{name}` of machine `{}` is {value}", entry.name);
                return Err(wrong(reason, "give it a finite number"));
            }
            let table = match &entry.table {
                None => None,
                Some(table) => {
                    let place = path.parent().unwrap_or(Path::new("")).join(table);
                    let read = csv_table::read(&place, &columns)?;
                    files.push(place);
                    Some(Table { name: file.name.clone(), ..read })
                }
            };
            machines.push(Machine {
                name: entry.name,
                features: entry.features.into_values().collect(),
                table,
            });
        }
        let mut tables = machines.iter().filter_map(|machine| Some((machine, machine.table.as_ref()?)));
        if let Some((first, one)) = tables.next()
            && let Some((machine, _)) =
                tables.find(|(_, own)| (&own.variants, &own.features) != (&one.variants, &one.features))
        {
            let reason =
                format!("the table of `{}` has other columns than that of `{}`", machine.name, first.name);
            return Err(wrong(reason, "measure the same variants and features on all machines"));
        }
        if let Some(name) = tables_features(&machines).find(|name| features.contains(name)) {
            let reason = format!("`{name}` is a feature of inputs and of machines");
            return Err(wrong(reason, "rename one of them"));
        }
        Ok(Fleet { name: file.name, features, machines, files })
    }

    /// The machine of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn machine(&self, name: &str) -> Result<&Machine> {
        let names: Vec<&str> = self.machines.iter().map(|machine| machine.name.as_str()).collect();
        let found = self.machines.iter().find(|machine| machine.name == name);
        found.ok_or_else(|| AdaptiveError::unknown("machine", name, &names))
    }

    /// The machines on which something was measured, other than one.
    pub fn sources(&self, other_than: &str) -> Vec<&Machine> {
        let all = self.machines.iter();
        all.filter(|machine| machine.table.is_some() && machine.name != other_than).collect()
    }

    /// All features of machines, by their places.
    pub fn all_features(&self) -> Vec<usize> {
        (0..self.features.len()).collect()
    }
}

fn tables_features(machines: &[Machine]) -> impl Iterator<Item = &String> {
    machines.iter().filter_map(|machine| machine.table.as_ref()).flat_map(|table| &table.features)
}
