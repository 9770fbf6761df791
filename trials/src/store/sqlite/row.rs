//! A trial as a row.

use crate::store::records::TrialRecord;
use crate::trial::Status;
use safe_io::checksum;

/// The columns of a trial: setting, configuration, status, metrics, message, when, round.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub texts: [String; 6],
    pub round: u32,
}

impl Row {
    /// The row of a record.
    ///
    /// # Errors
    /// What has no text: none.
    pub fn of(record: &TrialRecord) -> serde_json::Result<Row> {
        let texts = [
            record.of.clone(),
            serde_json::to_string(&record.configuration)?,
            record.status.name().to_owned(),
            serde_json::to_string(&record.metrics)?,
            record.message.clone(),
            record.when.clone(),
        ];
        Ok(Row { texts, round: record.round })
    }

    /// The record of the row.
    ///
    /// # Errors
    /// In words: a column that does not say what it should.
    pub fn record(self) -> Result<TrialRecord, String> {
        let [of, configuration, status, metrics, message, when] = self.texts;
        Ok(TrialRecord {
            of,
            configuration: serde_json::from_str(&configuration)
                .map_err(|error| format!("its configuration: {error}"))?,
            status: Status::named(&status).ok_or_else(|| format!("unknown status `{status}`"))?,
            metrics: serde_json::from_str(&metrics).map_err(|error| format!("its metrics: {error}"))?,
            message,
            when,
            round: self.round,
        })
    }

    /// Its checksum as trial of this number.
    pub fn sum(&self, number: i64) -> String {
        let (number, round) = (number.to_le_bytes(), self.round.to_le_bytes());
        let mut parts = vec![number.as_slice(), round.as_slice()];
        parts.extend(self.texts.iter().map(String::as_bytes));
        checksum::of(&parts)
    }
}
