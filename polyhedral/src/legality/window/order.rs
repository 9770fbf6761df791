//! A row that makes what another one reads in the same sweep comes before it (5).

use super::error::WindowKind;
use super::proof::{Finding, WRITING, WindowProof};
use super::words::around;
use crate::legality::LegalityError;
use crate::legality::flow::text::{all, later_or_equal};
use crate::program::{Access, FieldId};
use crate::sweep::Row;
use std::collections::BTreeMap;

impl<'a> WindowProof<'a> {
    /// The parts of a row at the positions of a sweep leave no point of its domain out: the first one begins with
    /// the domain or before it, each following one where the one before ends or earlier, and the last one ends with the
    /// domain or after it.
    pub(super) fn without_gaps(&self, row: &Row) -> Result<(), LegalityError> {
        let (Some(d), Some(positions)) = (self.sliding, &self.sweep.positions) else { return Ok(()) };
        let not = |texts: &[String], mark: &str| {
            format!("not ({})", all(texts.iter().map(|text| self.at(text, mark))))
        };
        let beside = |texts: &[String], by: &str| {
            let moved = texts.iter().map(|text| self.moved(text, &|name| format!("({name} {by})")));
            format!("not ({})", all(moved))
        };
        let own = |texts: &[String]| all(texts.iter().cloned());
        let (lows, highs) = (&row.lows[d], &row.highs[d]);
        let next = format!("{} = {} + 1", self.position(WRITING), self.position(""));
        let domain = self.in_domain(row.statement, "p");
        let gaps = [
            [own(&positions.from), beside(&positions.from, "- 1"), domain.clone(), not(lows, "")],
            [self.in_sweep(""), all([self.in_sweep(WRITING), next]), not(highs, ""), not(lows, WRITING)],
            [own(&positions.until), beside(&positions.until, "+ 1"), domain, not(highs, "")],
        ];
        let rows = self.space.within(&self.sweeps, &self.in_groups(""))?;
        let access =
            self.accesses(row).pop().map_or(String::new(), |(write, _)| self.program.access_source(&write));
        for gap in gaps {
            let finding = Finding { kind: WindowKind::Gap, row: Some(row), access: &access };
            self.none(self.space.within(&rows, &all(gap))?, &finding)?;
        }
        Ok(())
    }

    /// A row of the sweep that makes what a row reads comes before it.
    pub(super) fn in_order(&self, at: usize, row: &Row) -> Result<(), LegalityError> {
        let mut reads: BTreeMap<(FieldId, i64), Vec<Access>> = BTreeMap::new();
        for access in &self.program.statements[row.statement].reads {
            reads.entry((access.field, access.time)).or_default().push(access.clone());
        }
        let group = &self.sweep.group;
        for ((field, _), accesses) in reads {
            for (statement, _) in self.program.writers_of(field) {
                for (index, writer) in self.rows_of(statement) {
                    let (makes, exists) = self.supplier(row, &accesses[0], writer);
                    let place = |mark: &str, row: usize| {
                        [self.position(mark), format!("{group}{mark}"), row.to_string()]
                    };
                    let late = later_or_equal(&place(WRITING, index), &place("", at));
                    let along = |d: usize| {
                        let own = Self::sides(row, d).cloned();
                        let there = Self::sides(writer, d).map(|text| self.in_group(text, WRITING));
                        let there = there.map(|text| self.of_point_read(&self.at(&text, WRITING)));
                        all(own.chain(there))
                    };
                    let sliding = self.sliding.map_or("1 = 1".to_owned(), along);
                    let both = all([
                        self.in_sweep(""),
                        self.in_sweep(WRITING),
                        self.in_groups(""),
                        self.in_groups(WRITING),
                        makes.clone(),
                        sliding,
                        late,
                    ]);
                    // All reads at once, along the dimension in which the window slides; then each by itself.
                    let hull = self.sliding.map_or("1 = 1".to_owned(), |d| around(&accesses, d));
                    let set = self.space.within(&self.sweeps, &all([both.clone(), hull]))?;
                    if self.space.not_empty(set)?.is_empty() {
                        continue;
                    }
                    for access in &accesses {
                        let own = std::slice::from_ref(access);
                        let points = (0..self.dimension()).map(|d| around(own, d));
                        let exact = all(points.chain(exists.clone()).chain([
                            both.clone(),
                            self.executes(row),
                            self.in_domain(statement, "q"),
                        ]));
                        let read = self.program.access_source(access);
                        let finding =
                            Finding { kind: WindowKind::WrittenLate, row: Some(row), access: &read };
                        self.none(self.space.within(&self.sweeps, &exact)?, &finding)?;
                    }
                }
            }
        }
        Ok(())
    }
}
