//! Roles that the names of columns tell.

use super::gathered::{Evidence, Role};
use crate::formats::look::{Kind, is_missing};
use crate::formats::names::{Measured, Telling, telling};
use crate::formats::roles::status_of_word;
use crate::formats::sheet::Sheet;

impl Evidence<'_> {
    /// Roles that names tell, and those that need no name.
    pub fn roles_by_name(&mut self) {
        let stated = self.given.parameters.is_some();
        let rows = self.sheet.rows.len();
        for column in self.open() {
            let look = &self.looks[column];
            let told = telling(self.name(column));
            let mentioned = stated && self.given.mentioned.contains(&column);
            self.roles[column] = match told {
                _ if look.kind == Kind::Empty => Role::Ignored("every cell is empty".to_owned()),
                Telling::Measured(kind) if look.has_numbers() => {
                    let rate = if kind == Measured::Rate { ", a rate: the greatest is best" } else { "" };
                    Role::Metric(kind, format!("its name is that of a measured quantity{rate}"))
                }
                _ if mentioned && look.has_numbers() => {
                    Role::Metric(Measured::Other, "in the expression of a metric".to_owned())
                }
                Telling::Status { yes_or_no } => match () {
                    () if self.given.status.is_some() => {
                        Role::Ignored("another column is the status".to_owned())
                    }
                    () if known_words(self.sheet, column, yes_or_no) => {
                        Role::Status("its name, and its values are known".to_owned())
                    }
                    () => Role::Doubt("named as a status, with values that may mean anything".to_owned()),
                },
                Telling::Remark if matches!(look.kind, Kind::Text | Kind::Mixed) => {
                    Role::Message("remarks".to_owned())
                }
                Telling::Row if look.all_different() || rows == 1 => {
                    Role::Ignored("it numbers the rows".to_owned())
                }
                Telling::Moment if 2 * look.distinct > rows => Role::Ignored("when it was".to_owned()),
                _ if stated => Role::Ignored("not among --parameters".to_owned()),
                Telling::Measured(_) => {
                    Role::Doubt("named as a measured quantity, and no cell is a number".to_owned())
                }
                _ if look.kind == Kind::DecimalCommas => {
                    Role::Doubt("numbers need a point, not a comma".to_owned())
                }
                _ if self.name(column).is_empty() => Role::Doubt("it has no name".to_owned()),
                Telling::Row => Role::Doubt("named as the number of a row, but values repeat".to_owned()),
                Telling::Moment => Role::Doubt("named as a moment, but values repeat".to_owned()),
                _ if look.distinct == 1 && look.missing == 0 => {
                    Role::Parameter("one value everywhere".to_owned())
                }
                Telling::Repetition => Role::Doubt("may count repetitions".to_owned()),
                Telling::Unclear => Role::Doubt("may be a parameter, or a result".to_owned()),
                Telling::Remark | Telling::Nothing => Role::Open,
            };
        }
        let statuses: Vec<usize> =
            (0..self.roles.len()).filter(|&c| matches!(self.roles[c], Role::Status(_))).collect();
        if statuses.len() > 1 {
            for column in statuses {
                self.roles[column] = Role::Doubt("one of several columns that may be the status".to_owned());
            }
        }
    }
}

/// Whether every cell says how a trial ended; empty ones leave it to the response.
fn known_words(sheet: &Sheet, column: usize, yes_or_no: bool) -> bool {
    sheet.column(column).all(|word| is_missing(word) || status_of_word(word, yes_or_no).is_some())
}
