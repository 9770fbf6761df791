//! The setting of trials: what ran, and where and by what it was measured. Trials of one measurement share one.

use crate::parameter::Parameter;
use safe_io::checksum;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// What a trial is of, and where it was measured. What is empty is not known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Setting {
    /// What was measured and how, in a few words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub job: String,
    /// The program: name of a stencil, a workload or a kernel, or a command.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// Hash of the program's source.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Strategy of the tiling.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub strategy: String,
    /// What ran it: `openmp`, `cuda`, `emulator`, `reference`, `model`, `command`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub backend: String,
    /// Grid extents, slowest dimension first, as in `512x512`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub size: String,
    /// Time steps.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub steps: String,
    /// Name of the processor or device.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub machine: String,
    /// Cores in use; empty on a device.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub threads: String,
    /// Compiler and flags that made the binary.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub compiler: String,
    /// Version of Tilewright.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The program that measured, and its command, as in `tilewright run`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// The metric that counts; it is to be minimised.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub response: String,
    /// The space that configurations are from; empty where they are from none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
}

/// The names of all fields but the parameters, in the order of [`Setting::texts`].
pub const FIELDS: [&str; 13] = [
    "job", "program", "source", "strategy", "backend", "size", "steps", "machine", "threads", "compiler",
    "version", "by", "response",
];

/// The fields by which trials of one file may be told apart in a tree or a condition, if they differ.
pub const FEATURES: [&str; 9] =
    ["program", "backend", "strategy", "size", "steps", "machine", "threads", "compiler", "version"];

impl Setting {
    /// The fields of [`FIELDS`].
    pub fn texts(&self) -> [&str; FIELDS.len()] {
        [
            &self.job,
            &self.program,
            &self.source,
            &self.strategy,
            &self.backend,
            &self.size,
            &self.steps,
            &self.machine,
            &self.threads,
            &self.compiler,
            &self.version,
            &self.by,
            &self.response,
        ]
    }

    /// The field of a name.
    pub fn field(&mut self, name: &str) -> Option<&mut String> {
        Some(match name {
            "job" => &mut self.job,
            "program" => &mut self.program,
            "source" => &mut self.source,
            "strategy" => &mut self.strategy,
            "backend" => &mut self.backend,
            "size" => &mut self.size,
            "steps" => &mut self.steps,
            "machine" => &mut self.machine,
            "threads" => &mut self.threads,
            "compiler" => &mut self.compiler,
            "version" => &mut self.version,
            "by" => &mut self.by,
            "response" => &mut self.response,
            _ => return None,
        })
    }

    /// The text of a field; empty for an unknown name.
    pub fn text(&self, name: &str) -> &str {
        FIELDS.iter().position(|field| *field == name).map_or("", |place| self.texts()[place])
    }

    /// The parameters as JSON; empty without any.
    pub fn parameters_text(&self) -> String {
        if self.parameters.is_empty() {
            return String::new();
        }
        // A list of names and values always has a text.
        serde_json::to_string(&self.parameters).unwrap_or_default()
    }

    /// Its name in a store: a checksum over all of it.
    pub fn id(&self) -> String {
        let parameters = self.parameters_text();
        let parts: Vec<&[u8]> =
            self.texts().iter().map(|text| text.as_bytes()).chain([parameters.as_bytes()]).collect();
        checksum::of(&parts)
    }

    /// Whether a trial of the other setting is one of this: wherever both say something, they say the same. So trials of
    /// stores that say less are used, and those of another machine, binary or version are not.
    pub fn agrees(&self, other: &Setting) -> bool {
        // A command is not made by us: our version does not change it.
        let counts = |name: &str| name != "version" || self.backend != COMMAND;
        let fields = FIELDS.iter().zip(self.texts()).zip(other.texts());
        fields
            .filter(|((name, _), _)| counts(name))
            .all(|((_, own), other)| own.is_empty() || other.is_empty() || own == other)
            && (self.parameters.is_empty()
                || other.parameters.is_empty()
                || self.parameters == other.parameters)
    }
}

/// Settings on the way from a file: equal ones are shared.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    known: HashMap<String, Arc<Setting>>,
    last: Option<Arc<Setting>>,
}

impl Settings {
    /// The setting, shared with all trials that have the same.
    pub fn shared(&mut self, setting: Setting) -> Arc<Setting> {
        if let Some(last) = self.last.as_ref().filter(|last| ***last == setting) {
            return Arc::clone(last);
        }
        let shared = self.known.entry(setting.id()).or_insert_with(|| Arc::new(setting));
        self.last = Some(Arc::clone(shared));
        Arc::clone(shared)
    }
}

/// The back end of trials that a command of the user measured.
pub const COMMAND: &str = "command";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_names_and_unknown_ones_agree() {
        let mut setting = Setting::default();
        for name in FIELDS {
            name.clone_into(setting.field(name).unwrap());
        }
        assert_eq!(setting.texts(), FIELDS);
        assert!(setting.agrees(&Setting::default()) && Setting::default().agrees(&setting));
        let other = Setting { machine: "other".to_owned(), ..setting.clone() };
        assert!(!setting.agrees(&other) && setting.id() != other.id());
        assert!(FEATURES.iter().all(|name| FIELDS.contains(name)));
    }
}
