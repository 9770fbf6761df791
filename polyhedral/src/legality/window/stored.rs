//! What is left out, a later row of the sweep stores (6).

use super::error::WindowKind;
use super::proof::{Finding, WRITING, WindowProof};
use crate::legality::LegalityError;
use crate::legality::flow::text::all;
use crate::sweep::Row;

impl<'a> WindowProof<'a> {
    /// What is left out, a later row of the sweep stores.
    pub(super) fn stored(&self, row: &Row) -> Result<(), LegalityError> {
        let group = &self.sweep.group;
        let groups = row.left_out.groups;
        let target = self.program.statements[row.statement].target;
        let (_, slots) = self.levels(target);
        let later = |text: &str| self.in_group(text, WRITING);
        let left_out = row.left_out.constraints.iter().cloned();
        let left_out = all(left_out.chain([
            self.executes(row),
            format!("{group}{WRITING} = {group} + {groups}"),
            format!("{group}{WRITING} <= {}", self.sweep.groups.1),
        ]));
        let left_out = self.space.within(&self.sweeps, &left_out)?;
        let access =
            self.accesses(row).pop().map_or(String::new(), |(write, _)| self.program.access_source(&write));
        let finding = Finding { kind: WindowKind::NotStored, row: Some(row), access: &access };
        let sides = self.fixed_dimensions().flat_map(|d| Self::sides(row, d));
        let again = [
            self.in_groups(WRITING),
            format!("{group}{WRITING} > {group}"),
            format!("({group}{WRITING} - {group}) mod {slots} = 0"),
        ];
        for condition in again.into_iter().chain(sides.map(|text| later(text))) {
            self.none(self.space.within(&left_out, &format!("not ({condition})"))?, &finding)?;
        }
        let full = all(self.sweep.full.iter().cloned());
        for when in [full, format!("({}) + {groups} < steps", row.step)] {
            let missing = all([when, format!("({}) >= steps", later(&row.step))]);
            self.none(self.space.within(&left_out, &missing)?, &finding)?;
        }
        let Some(d) = self.sliding else { return Ok(()) };
        let before = Self::sides(row, d).map(|text| self.at(&later(text), WRITING));
        let before = all(before
            .chain([self.in_sweep(WRITING), format!("{} < {}", self.position(WRITING), self.position(""))]));
        self.none(self.space.within(&left_out, &before)?, &finding)
    }
}
