//! The evidence while it is gathered: the looks at the columns, and what is known of each.

use super::given::Given;
use crate::error::{Result, malformed};
use crate::formats::look::{Look, is_missing};
use crate::formats::names::{Measured, Telling, telling};
use crate::formats::roles::{ReadOptions, status_of_word};
use crate::formats::sheet::Sheet;
use std::path::Path;

/// What is known of a column.
#[derive(Debug, Clone)]
pub(super) enum Role {
    Parameter(String),
    Metric(Measured, String),
    Status(String),
    Message(String),
    Ignored(String),
    /// Too little is known, and it could matter.
    Doubt(String),
    /// Not looked at yet.
    Open,
}

/// Everything that is looked at.
pub(super) struct Evidence<'a> {
    pub sheet: &'a Sheet,
    pub path: &'a Path,
    pub looks: Vec<Look>,
    pub roles: Vec<Role>,
    pub given: Given,
}

impl<'a> Evidence<'a> {
    /// What the options say, and a look at each column.
    pub fn new(path: &'a Path, sheet: &'a Sheet, options: &ReadOptions) -> Result<Evidence<'a>> {
        let given = Given::new(sheet, options)?;
        let looks: Vec<Look> = (0..sheet.header.len()).map(|column| Look::of(sheet, column)).collect();
        let mut roles = vec![Role::Open; looks.len()];
        for &column in given.parameters.iter().flatten() {
            roles[column] = Role::Parameter("named with --parameters".to_owned());
        }
        for &column in &given.metrics {
            let kind = match telling(&sheet.header[column]) {
                Telling::Measured(kind) => kind,
                _ => Measured::Other,
            };
            roles[column] = Role::Metric(kind, "named as a metric".to_owned());
        }
        if let Some(column) = given.status {
            check_words(path, sheet, column)?;
            roles[column] = Role::Status("named with --status".to_owned());
        }
        Ok(Evidence { sheet, path, looks, roles, given })
    }

    /// The name of a column.
    pub fn name(&self, column: usize) -> &str {
        &self.sheet.header[column]
    }

    fn is_open(&self, column: usize) -> bool {
        matches!(self.roles[column], Role::Open)
    }

    /// The columns that were not looked at yet.
    pub fn open(&self) -> Vec<usize> {
        (0..self.roles.len()).filter(|&column| self.is_open(column)).collect()
    }

    /// The columns of some role.
    pub fn with_role(&self, is: impl Fn(&Role) -> bool) -> Vec<usize> {
        (0..self.roles.len()).filter(|&column| is(&self.roles[column])).collect()
    }

    /// The parameters so far, in the order in which they are stated.
    pub fn parameters(&self) -> Vec<usize> {
        match &self.given.parameters {
            Some(parameters) => parameters.clone(),
            None => self.with_role(|role| matches!(role, Role::Parameter(_))),
        }
    }

    /// For each row a hash of its value in a column; sums of them are hashes of several.
    pub fn hashes(&self, column: usize) -> impl Iterator<Item = u64> {
        self.looks[column].codes.iter().map(move |code| mixed(u64::from(*code) | (column as u64) << 32))
    }

    /// For each row a hash of its values in some columns.
    pub fn tuples(&self, columns: &[usize]) -> Vec<u64> {
        let mut tuples = vec![0_u64; self.sheet.rows.len()];
        for &column in columns {
            tuples
                .iter_mut()
                .zip(self.hashes(column))
                .for_each(|(tuple, hash)| *tuple = tuple.wrapping_add(hash));
        }
        tuples
    }

    /// Number of different combinations of values of some columns.
    pub fn different(&self, columns: &[usize]) -> usize {
        different(self.tuples(columns))
    }
}

/// The words of a column that is the status must be known.
fn check_words(path: &Path, sheet: &Sheet, column: usize) -> Result<()> {
    let name = &sheet.header[column];
    let yes_or_no = matches!(telling(name), Telling::Status { yes_or_no: true });
    for (line, cells) in &sheet.rows {
        let word = &cells[column];
        if !is_missing(word) && status_of_word(word, yes_or_no).is_none() {
            let shown: String = word.chars().take(60).collect();
            let reason = format!("`{shown}` in the column `{name}` does not say whether the trial succeeded");
            let hint = "a status is ok, invalid, compile-error, run-error, wrong-result or timeout, or a word for one";
            return Err(malformed(path, &format!("line {line}"), reason, hint));
        }
    }
    Ok(())
}

/// Number of different values.
pub(super) fn different(mut tuples: Vec<u64>) -> usize {
    tuples.sort_unstable();
    tuples.dedup();
    tuples.len()
}

/// Splitmix64: equal sums of different sets are as rare as chance makes them.
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
