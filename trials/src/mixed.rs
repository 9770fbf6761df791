//! In what the settings of the trials of one file differ.

use serde::Serialize;

/// A part of the setting in which trials of one file differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mixed {
    /// The parameter that tells the trials apart: the field of the [setting](crate::Setting), or this with `_` behind it
    /// where the trials have a parameter of that name.
    pub parameter: String,
    /// Its values and the number of trials of each, the most frequent one first.
    pub values: Vec<(String, usize)>,
}
