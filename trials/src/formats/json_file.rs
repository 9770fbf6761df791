//! JSON files: which of the formats.

use super::cell::Cell;
use super::roles::ReadOptions;
use super::{kernel_tuner, t1, t4};
use crate::entries::Entries;
use crate::error::{Result, malformed};
use crate::recording::Recording;
use std::path::Path;

/// The keys that tell the formats apart; each has its own part of the document.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Document {
    // Kernel Tuner.
    #[serde(default)]
    pub kernel_name: Cell,
    #[serde(default)]
    pub device_name: Cell,
    #[serde(default)]
    pub objective: kernel_tuner::Objective,
    pub tune_params_keys: Option<Vec<String>>,
    pub tune_params: Option<Entries<Vec<Cell>>>,
    pub cache: Option<Entries<Entries<Cell>>>,
    // T4.
    pub results: Option<Vec<t4::Result4>>,
    #[serde(default)]
    pub metadata: Option<Entries<Cell>>,
    // T1.
    #[serde(rename = "General")]
    pub general: Option<Entries<Cell>>,
    #[serde(rename = "ConfigurationSpace")]
    pub configuration_space: Option<t1::ConfigurationSpace>,
}

/// Reads a document of any of the formats.
pub(super) fn read(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Recording> {
    let document = match serde_json::from_slice::<Document>(bytes) {
        Ok(document) => document,
        Err(error) if error.is_eof() => {
            // Kernel Tuner appends to its cache and closes the braces at the end; after an interrupted run they lack.
            let text = String::from_utf8_lossy(bytes);
            let closed = text.trim_end().trim_end_matches(',').to_owned() + "}}";
            serde_json::from_str(&closed).map_err(|_| {
                let reason = format!("the file ends in the middle ({error})");
                malformed(path, "", reason, "the copy or the run that wrote it was cut off")
            })?
        }
        Err(error) => {
            let place = format!("line {}, column {}", error.line(), error.column());
            let text = error.to_string();
            let reason = text.split(" at line ").next().unwrap_or(&text).to_owned();
            return Err(malformed(path, &place, reason, ""));
        }
    };
    if let Some(cache) = document.cache {
        let description = kernel_tuner::Description {
            kernel: document.kernel_name.text(),
            device: document.device_name.text(),
            objective: document.objective,
            names: document.tune_params_keys,
            levels: document.tune_params.unwrap_or_default(),
        };
        return kernel_tuner::read(path, description, cache, options);
    }
    if let Some(results) = document.results {
        return t4::read(path, document.metadata.unwrap_or_default(), results, options);
    }
    if let Some(space) = document.configuration_space {
        return t1::read(path, document.general.unwrap_or_default(), space);
    }
    let hint = "a Kernel Tuner cache has `cache`, a T4 file `results`, a T1 file `ConfigurationSpace`";
    Err(malformed(path, "", "the JSON document is none of the known formats", hint))
}
