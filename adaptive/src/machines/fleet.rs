//! Files of machines: their features, and what was measured on them. `docs/adaptive.md` is the manual.

use super::profiles::Profiles;
use super::proxies::{self, PROXIES};
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
    /// What it is one of, as in `kepler`; empty where nothing is known.
    pub generation: String,
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
    /// What the code of the variants issues; `None` where nobody has profiled it.
    pub profiles: Option<ProfileSources>,
    /// The files that it names.
    pub files: Vec<PathBuf>,
}

/// What features of machines are selected by.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileSources {
    /// Profiles of the variants.
    pub variants: Profiles,
    /// Profiles of the proxies, with the same metrics.
    pub proxies: Profiles,
    /// Names of the features that each proxy stands for, in the order of [`PROXIES`].
    pub features: Vec<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default)]
    maximize: bool,
    default: Option<String>,
    profiles: Option<ProfileEntry>,
    machines: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileEntry {
    variants: PathBuf,
    proxies: Option<PathBuf>,
    #[serde(default)]
    features: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    #[serde(default)]
    generation: String,
    table: Option<PathBuf>,
    /// A machine file, whose features these are, too.
    machine: Option<PathBuf>,
    #[serde(default)]
    features: BTreeMap<String, f64>,
}

/// What counts of a machine file.
#[derive(Deserialize)]
struct MachineFile {
    #[serde(default)]
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
        let mut file: File = toml::from_str(text).map_err(|error| wrong(error.to_string(), ""))?;
        let mut files: Vec<PathBuf> = Vec::new();
        for entry in &mut file.machines {
            let Some(machine) = &entry.machine else { continue };
            let place = path.parent().unwrap_or(Path::new("")).join(machine);
            let text = input::read_text(&place, MOST_BYTES)
                .map_err(|error| AdaptiveError::unreadable(&place, error))?;
            let own: MachineFile = toml::from_str(&text)
                .map_err(|error| AdaptiveError::malformed(&place, "", error.to_string(), ""))?;
            if own.features.is_empty() && entry.features.is_empty() {
                let hint = "`tilewright adaptive machine -o FILE` measures them there";
                return Err(AdaptiveError::malformed(&place, "", "it has no [features]", hint));
            }
            // What the fleet says itself counts.
            for (name, value) in own.features {
                entry.features.entry(name).or_insert(value);
            }
            files.push(place);
        }
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
        let mut machines: Vec<Machine> = Vec::new();
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
                generation: entry.generation,
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
        let profiles = match file.profiles {
            None => None,
            Some(entry) => Some(profile_sources(path, entry, &machines, &features, &mut files)?),
        };
        Ok(Fleet { name: file.name, features, machines, profiles, files })
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

/// Reads the profiles that a fleet names; proxies stand for features as in Table 3.3 where nothing else is said.
fn profile_sources(
    path: &Path,
    entry: ProfileEntry,
    machines: &[Machine],
    features: &[String],
    files: &mut Vec<PathBuf>,
) -> Result<ProfileSources> {
    let mut read = |name: &Path| {
        let place = path.parent().unwrap_or(Path::new("")).join(name);
        let read = Profiles::read(&place)?;
        files.push(place);
        Ok::<Profiles, AdaptiveError>(read)
    };
    let variants = read(&entry.variants)?;
    let own = entry.proxies.as_deref().map(&mut read).transpose()?;
    let proxies = match own {
        Some(own) => own,
        None => proxies::shipped(&variants)?,
    };
    let known: Vec<&str> = PROXIES.iter().map(|proxy| proxy.name).collect();
    for (proxy, stands) in &entry.features {
        if !known.contains(&proxy.as_str()) {
            return Err(AdaptiveError::unknown("proxy", proxy, &known));
        }
        if let Some(feature) = stands.iter().find(|own| !features.contains(own)) {
            return Err(AdaptiveError::unknown("feature of machines", feature, features));
        }
    }
    if let Some(table) = machines.iter().find_map(|machine| machine.table.as_ref())
        && let Some(row) = variants.rows.iter().find(|row| !table.variants.contains(&row.variant))
    {
        return Err(AdaptiveError::unknown("variant", &row.variant, &table.variants));
    }
    let of = |proxy: &proxies::Proxy| match entry.features.get(proxy.name) {
        Some(own) => own.clone(),
        None => proxy.features.iter().map(|&name| name.to_owned()).collect(),
    };
    Ok(ProfileSources { variants, proxies, features: PROXIES.iter().map(of).collect() })
}

fn tables_features(machines: &[Machine]) -> impl Iterator<Item = &String> {
    machines.iter().filter_map(|machine| machine.table.as_ref()).flat_map(|table| &table.features)
}
