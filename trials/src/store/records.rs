//! Trials as records, and back: what both forms of a store write.

use crate::setting::Setting;
use crate::trial::{Configuration, Metric, Outcome, Status, Trial};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A trial. Its setting stands in a record of its own.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TrialRecord {
    /// The checksum of the setting.
    pub of: String,
    pub configuration: Configuration,
    pub status: Status,
    pub metrics: BTreeMap<String, Metric>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub when: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub round: u32,
}

fn is_zero(round: &u32) -> bool {
    *round == 0
}

impl TrialRecord {
    /// The record of a trial.
    pub fn of(trial: &Trial) -> TrialRecord {
        let Outcome { status, metrics, message, when } = trial.outcome.clone();
        let (of, configuration) = (trial.setting.id(), trial.configuration.clone());
        TrialRecord { of, configuration, status, metrics, message, when, round: trial.round }
    }
}

/// Records on the way to trials: names and settings are shared.
#[derive(Default)]
pub(crate) struct Reader {
    settings: HashMap<String, Arc<Setting>>,
    names: Vec<Arc<[String]>>,
}

impl Reader {
    /// Takes note of a setting.
    pub fn add(&mut self, setting: Setting) {
        self.settings.entry(setting.id()).or_insert_with(|| Arc::new(setting));
    }

    /// The trial of a record.
    ///
    /// # Errors
    /// In words: a setting that is not there.
    pub fn trial(&mut self, record: TrialRecord) -> Result<Trial, String> {
        let TrialRecord { of, configuration, status, metrics, message, when, round } = record;
        let setting = self.settings.get(&of).cloned();
        let setting = setting.ok_or("what it is of is missing; the trial is not used")?;
        let configuration = configuration.sharing(&mut self.names);
        Ok(Trial { configuration, outcome: Outcome { status, metrics, message, when }, setting, round })
    }
}
