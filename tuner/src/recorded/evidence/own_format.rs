//! Files as we write them.

use super::gathered::{Evidence, Role};
use crate::recorded::names::{Measured, Telling, telling};
use crate::trial::Status;

/// The last columns of files that we write, in this order.
pub(super) const OWN_END: [&str; 4] = ["message", "when", "device", "by"];

impl Evidence<'_> {
    /// The column of the status, if this is a file as `write_csv` writes it.
    pub fn own_format(&self) -> Option<usize> {
        let header = &self.sheet.header;
        let status = header.iter().position(|name| name == "status")?;
        let end = header.len().checked_sub(OWN_END.len())?;
        let words = || self.sheet.column(status).all(|word| Status::named(word).is_some());
        (status > 0 && status + 1 < end && header[end..] == OWN_END && words()).then_some(status)
    }

    /// The roles in a file as `write_csv` writes it, by the place of the status.
    pub fn roles_of_own(&mut self, status: usize) {
        let end = self.roles.len() - OWN_END.len();
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
                _ if column < end => {
                    let kind = match telling(self.name(column)) {
                        Telling::Measured(kind) => kind,
                        _ => Measured::Other,
                    };
                    Role::Metric(kind, written("behind"))
                }
                _ if column == end => Role::Message("why trials failed".to_owned()),
                _ => Role::Ignored("when, where and by what it was measured".to_owned()),
            };
        }
    }
}
