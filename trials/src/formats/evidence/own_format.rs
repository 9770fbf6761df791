//! Files as we write them: trials, and the designs of a study.

use super::gathered::{Evidence, Role};
use crate::formats::names::{Measured, Telling, telling};
use crate::trial::Status;

/// The columns behind the metrics in files of trials, in this order; parts of the setting follow.
pub const OWN_END: [&str; 4] = ["message", "when", "device", "by"];

/// How the names of the columns of the setting begin.
pub const SETTING: &str = "setting.";

/// How a file of designs begins; what a chip consists of stands between its name and its area.
const DESIGNS: [&str; 8] = ["design", "n_sm", "n_v", "m_sm_kb", "r_vu_kb", "l1_kb", "l2_kb", "area_mm2"];

/// Where what is in a file of trials.
#[derive(Debug, Clone, Copy)]
pub struct Own {
    /// The column of the status.
    pub status: usize,
    /// The column of the message.
    pub end: usize,
}

impl Evidence<'_> {
    /// Where what is, if this is a file as `write_csv` writes it.
    pub fn own_format(&self) -> Option<Own> {
        let header = &self.sheet.header;
        let status = header.iter().position(|name| name == "status")?;
        let settings = header.iter().rev().take_while(|name| name.starts_with(SETTING)).count();
        let end = header.len().checked_sub(OWN_END.len() + settings)?;
        let words = || self.sheet.column(status).all(|word| Status::named(word).is_some());
        let own = status > 0 && status + 1 < end && header[end..end + OWN_END.len()] == OWN_END && words();
        own.then_some(Own { status, end })
    }

    /// The roles in a file as `write_csv` writes it, by the place of the status.
    pub fn roles_of_own(&mut self, Own { status, end }: Own) {
        let written = |place: &str| format!("{place} the status, as Tilewright writes trials");
        for column in self.open() {
            self.roles[column] = match column {
                _ if column < status && self.given.parameters.is_some() => {
                    Role::Ignored("not among --parameters".to_owned())
                }
                _ if column < status => Role::Parameter(written("in front of")),
                _ if column == status && self.given.status.is_some() => {
                    Role::Ignored("another column is the status".to_owned())
                }
                _ if column == status => Role::Status("as Tilewright writes trials".to_owned()),
                _ if column < end => Role::Metric(self.kind(column), written("behind")),
                _ if column == end => Role::Message("why trials failed".to_owned()),
                _ => Role::Ignored("when, where and by what it was measured".to_owned()),
            };
        }
    }

    /// Whether this is a file of designs as `codesign` writes it.
    pub fn is_of_designs(&self) -> bool {
        self.sheet.header.starts_with(&DESIGNS.map(str::to_owned))
    }

    /// The roles in a file of designs.
    pub fn roles_of_designs(&mut self) {
        let parts = 1..DESIGNS.len() - 1;
        for column in self.open() {
            self.roles[column] = match column {
                _ if parts.contains(&column) && self.given.parameters.is_none() => {
                    Role::Parameter("a part of the chip, as codesign writes designs".to_owned())
                }
                _ if parts.contains(&column) => Role::Ignored("not among --parameters".to_owned()),
                0 => Role::Ignored("the name of the design".to_owned()),
                _ if self.looks[column].has_numbers() => {
                    Role::Metric(self.kind(column), "of the design, as codesign writes them".to_owned())
                }
                _ => Role::Ignored("whether it is on a front".to_owned()),
            };
        }
    }

    fn kind(&self, column: usize) -> Measured {
        match telling(self.name(column)) {
            Telling::Measured(kind) => kind,
            _ => Measured::Other,
        }
    }
}
