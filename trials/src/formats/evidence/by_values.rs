//! Roles that values prove.

use super::gathered::{Evidence, Role, different};
use crate::formats::look::Kind;
use std::collections::HashMap;

/// A column of a few values that tells no trials apart is a parameter if it has so many trials for each
/// value.
pub(super) const TRIALS_PER_VALUE: usize = 8;

impl Evidence<'_> {
    /// Roles of the columns whose names tell nothing.
    pub fn roles_by_values(&mut self) {
        let open = self.open();
        let rows = self.sheet.rows.len();
        let sure = self.roles.iter().any(|role| matches!(role, Role::Doubt(_)));
        if let ([only], false) = (open.as_slice(), sure)
            && matches!(self.looks[*only].kind, Kind::Whole | Kind::Real | Kind::Boolean | Kind::Text)
        {
            self.roles[*only] = Role::Parameter("the only column that can be one".to_owned());
            return;
        }
        let discrete =
            |column: &usize| matches!(self.looks[*column].kind, Kind::Whole | Kind::Boolean | Kind::Text);
        let (discrete, others): (Vec<usize>, Vec<usize>) = open.into_iter().partition(discrete);
        // A column that tells all rows apart by itself would make every other one look superfluous.
        let (unique, base): (Vec<usize>, Vec<usize>) =
            discrete.into_iter().partition(|&column| self.looks[column].all_different());
        let tuples = self.tuples(&base);
        let apart = different(tuples.clone());
        let needed: Vec<usize> =
            base.iter().copied().filter(|&column| self.different_without(&tuples, column) < apart).collect();
        let complete = self.different(&needed) == apart;
        let mut roles: Vec<(usize, Role)> = Vec::new();
        for &column in &base {
            let look = &self.looks[column];
            let few = match look.kind {
                Kind::Whole => look.distinct * TRIALS_PER_VALUE <= rows,
                _ => look.distinct * 2 <= rows,
            };
            let role = match () {
                () if look.missing > 0 && look.kind == Kind::Whole => {
                    Role::Doubt("some cells have no value, as where a measurement failed".to_owned())
                }
                () if needed.binary_search(&column).is_ok() => {
                    Role::Parameter("its values tell trials apart".to_owned())
                }
                () if !complete && few => Role::Parameter("few values, each in many trials".to_owned()),
                () if complete => Role::Doubt(
                    "other columns tell all trials apart: a parameter, or a result of them".to_owned(),
                ),
                () => Role::Doubt("many values: may be a parameter, or a result".to_owned()),
            };
            roles.push((column, role));
        }
        for &column in &unique {
            let role = if unique.len() == 1
                && others.is_empty()
                && apart < rows
                && self.looks[column].missing == 0
            {
                Role::Parameter("its values tell trials apart".to_owned())
            } else {
                Role::Doubt(
                    "every row has another value: a parameter, a result, or a number of the row".to_owned(),
                )
            };
            roles.push((column, role));
        }
        let levels: Vec<usize> = others
            .iter()
            .copied()
            .filter(|&column| {
                let look = &self.looks[column];
                look.kind == Kind::Real && look.missing == 0 && look.distinct * 2 <= rows
            })
            .collect();
        let grid: Vec<usize> = base.iter().chain(&levels).copied().collect();
        let combinations = grid.iter().map(|&column| self.looks[column].distinct as f64).product::<f64>();
        let tuples = self.tuples(&grid);
        let found = different(tuples.clone());
        let dense = !levels.is_empty() && unique.is_empty() && found as f64 >= 0.75 * combinations;
        for column in others {
            let level = levels.binary_search(&column).is_ok();
            let role = if dense && level && self.different_without(&tuples, column) < found {
                Role::Parameter("its values are combined with all others".to_owned())
            } else {
                Role::Doubt("may be a parameter, or something measured".to_owned())
            };
            roles.push((column, role));
        }
        for (column, role) in roles {
            self.roles[column] = role;
        }
    }

    /// The same without a column, from the hashes with it.
    fn different_without(&self, tuples: &[u64], column: usize) -> usize {
        different(
            tuples.iter().zip(self.hashes(column)).map(|(tuple, hash)| tuple.wrapping_sub(hash)).collect(),
        )
    }

    /// Columns that are no parameters by their names, but whose values explain why equal configurations have
    /// different responses: a limit of power that was varied, say.
    pub fn look_for_hidden_parameters(&mut self, response: usize) {
        let tuples = self.tuples(&self.parameters());
        if !self.contradicts(tuples.iter().copied(), response) {
            return;
        }
        let left_out =
            self.with_role(|role| matches!(role, Role::Metric(..) | Role::Ignored(_) | Role::Message(_)));
        for column in left_out {
            let given = column == response || self.given.metrics.contains(&column);
            let look = &self.looks[column];
            if given || look.kind == Kind::Empty || look.distinct * 2 > look.rows() {
                continue;
            }
            let more = tuples.iter().zip(self.hashes(column)).map(|(tuple, hash)| tuple.wrapping_add(hash));
            if !self.contradicts(more, response) {
                self.roles[column] = Role::Doubt(
                    "its name is not that of a parameter, but configurations that look equal differ in it and in \
                     their results"
                        .to_owned(),
                );
            }
        }
    }

    /// Whether equal configurations have different numbers in a column.
    fn contradicts(&self, tuples: impl Iterator<Item = u64>, response: usize) -> bool {
        let mut seen: HashMap<u64, u32> = HashMap::new();
        let cells = self.sheet.column(response).zip(&self.looks[response].codes);
        tuples.zip(cells).any(|(tuple, (cell, &code))| {
            cell.parse::<f64>().is_ok() && *seen.entry(tuple).or_insert(code) != code
        })
    }
}
