//! The time levels that a program reads and stores.

use crate::domain::{Interval, apart, shifted};
use crate::program::{Access, ExprKind, FieldId, Program, SeriesId, Statement};

impl Program {
    /// How many initial levels the reads of a field need, at least 1.
    pub(super) fn levels_read(&self, field: FieldId) -> usize {
        let reads = self.statements.iter().flat_map(|statement| &statement.reads);
        let oldest = reads.filter(|read| read.field == field && read.time <= 0).map(|read| 1 - read.time);
        oldest.max().unwrap_or(1) as usize
    }

    /// The least number of time levels of a field that must be stored so that the time loop, executed in
    /// order, never overwrites a value that is still to be read; at least as many as there are initial levels.
    ///
    /// With `m` slots the write of level `t + 1` by statement `writer` overwrites level `t + 1 - m`. A read
    /// of level `t + o` in the same step by statement `reader`, of a point that `writer` computes, is safe if
    /// `o > 1 - m`, or if `o = 1 - m` and it happens before the write: `reader < writer`, or the same
    /// statement reading the very point it writes, or, in a sweep in order, a later one.
    pub fn slots_needed(&self, field: FieldId) -> usize {
        let mut needed = self.levels_read(field) as i64;
        for (reader, statement) in self.statements.iter().enumerate() {
            for access in statement.reads.iter().filter(|access| access.field == field) {
                let place = shifted(&statement.domain, &access.offset);
                for (writer, other) in self.writers_of(field) {
                    if never_meet(&place, &other.domain, &self.least_size) {
                        continue;
                    }
                    let own_point = reader == writer && access.offset.iter().all(|&offset| offset == 0);
                    let later = reader == writer && self.in_order(reader) && comes_later(&access.offset);
                    let before_write = reader < writer || own_point || later;
                    needed = needed.max(if before_write { 1 - access.time } else { 2 - access.time });
                }
            }
        }
        needed as usize
    }

    /// Whether a statement is a *sweep in order*: it reads level `t + 1` of points that it computes itself, so that its
    /// points follow each other in lexicographic order. The checked program says that all of these come earlier.
    pub fn in_order(&self, statement: usize) -> bool {
        let statement = &self.statements[statement];
        statement.reads.iter().any(|read| reads_itself(statement, read, &self.least_size))
    }

    /// The sweeps in order.
    pub fn sweeps_in_order(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.statements.len()).filter(|&statement| self.in_order(statement))
    }

    pub(super) fn find_series_reach(&mut self) {
        for statement in &self.statements {
            for value in statement.locals.iter().map(|local| &local.value).chain([&statement.value]) {
                value.walk(|expr| {
                    if let ExprKind::Series(SeriesId(number), offset) = expr.kind {
                        let series = &mut self.series[number];
                        series.first = series.first.min(offset);
                        series.last = series.last.max(offset);
                    }
                });
            }
        }
    }
}

/// Whether a statement reads level `t + 1` of points that it computes itself.
pub(super) fn reads_itself(statement: &Statement, read: &Access, least_size: &[i64]) -> bool {
    read.time == 1
        && read.field == statement.target
        && !never_meet(&shifted(&statement.domain, &read.offset), &statement.domain, least_size)
}

/// Whether the point at this offset comes later in lexicographic order.
pub fn comes_later(offset: &[i64]) -> bool {
    offset.iter().find(|&&distance| distance != 0).is_some_and(|&distance| distance > 0)
}

/// Whether the point at this offset comes earlier in lexicographic order.
pub fn comes_earlier(offset: &[i64]) -> bool {
    offset.iter().find(|&&distance| distance != 0).is_some_and(|&distance| distance < 0)
}

/// Whether two boxes have no common point on any grid of at least this size.
pub fn never_meet(first: &[Interval], second: &[Interval], least_size: &[i64]) -> bool {
    (0..first.len()).any(|d| {
        let least = apart(&first[d..=d], &second[d..=d]).map(|(_, least)| least);
        least.is_some_and(|least| least <= least_size[d])
    })
}
