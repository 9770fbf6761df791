//! What the block in the middle of a launch does, part by part.
//!
//! In a band of `L` steps, with `K` statements per step, row `m` of statement `k` has `R = (L - m)*K - 1 - k` logical rows after
//! it and is computed on the block's own box and `floor(u*R)` and `floor(l*R)` points more on either side, as far as its domain
//! goes; before the first row the block loads what that reads of the level before.

use super::zone::Zone;
use crate::plan::hull;
use crate::strategy::bands;
use crate::strategy::streams::{Closed, common, points};
use polyhedral::program::FieldId;

/// A box, both ends included; intervals may be empty.
pub(super) type Bounds = Vec<Closed>;

/// A part with points.
pub(super) enum Ran {
    /// Statement, box, and how many of its points are the block's own.
    Row(usize, Bounds, i64),
    /// A field's values into the block's storage.
    Load(FieldId, i64),
    /// And back.
    Store(FieldId, i64),
}

/// The block in the middle of a launch.
pub(super) struct Block<'a> {
    zone: &'a Zone<'a>,
    /// Blocks of a launch.
    pub(super) blocks: i64,
    /// Its own box.
    own: Bounds,
    grid: Bounds,
    /// By statement.
    domains: Vec<Bounds>,
}

/// Points of a box.
pub(super) fn volume(of: &[Closed]) -> i64 {
    of.iter().map(|&side| points(side)).product()
}

fn within(of: &[Closed], other: &[Closed]) -> Bounds {
    of.iter().zip(other).map(|(&a, &b)| common(a, b)).collect()
}

impl<'a> Block<'a> {
    pub(super) fn new(zone: &'a Zone<'a>, size: &[i64]) -> Self {
        let along = |d: usize| {
            let ((first, end), width) = (hull(zone.program, d), zone.widths[d]);
            (first.div_euclid(width), (size[d] - (end + 1)).div_euclid(width))
        };
        let own = |d: usize| {
            let (low, high) = along(d);
            let first = (low + (high - low).max(0) / 2) * zone.widths[d];
            (first, first + zone.widths[d] - 1)
        };
        let closed = |domain: Vec<(i64, i64)>| domain.into_iter().map(|(low, end)| (low, end - 1)).collect();
        Block {
            zone,
            blocks: (0..size.len()).map(|d| points(along(d))).product(),
            own: (0..size.len()).map(own).collect(),
            grid: size.iter().map(|&extent| (0, extent - 1)).collect(),
            domains: (0..zone.program.statements.len())
                .map(|k| closed(zone.program.domain(k, size)))
                .collect(),
        }
    }

    /// Visits the parts with points, in a band of so many steps.
    pub(super) fn for_each(&self, length: i64, visit: &mut dyn FnMut(&Ran)) {
        let zone = self.zone;
        let mut seen = |ran: Ran, points: i64| {
            if points > 0 {
                visit(&ran);
            }
        };
        let around = self.needed(length * zone.statements - 1, |d| zone.reach[d]);
        let in_grid = volume(&within(&around, &self.grid));
        for (field, k) in self.written() {
            let loaded = volume(&within(&around, &self.domains[k]));
            seen(Ran::Load(field, loaded), loaded);
            // The boundary, in both planes.
            for _ in 0..bands::SLOTS {
                seen(Ran::Load(field, in_grid - loaded), in_grid - loaded);
            }
        }
        for (m, k) in (0..length).flat_map(|m| (0..self.domains.len()).map(move |k| (m, k))) {
            let after = (length - m) * zone.statements - (1 + k as i64);
            let row = within(&self.needed(after, |_| (0, 0)), &self.domains[k]);
            let (all, own) = (volume(&row), volume(&within(&row, &self.own)));
            seen(Ran::Row(k, row, own), all);
        }
        for (field, k) in self.written() {
            let stored = volume(&within(&self.own, &self.domains[k]));
            seen(Ran::Store(field, stored), stored);
        }
    }

    /// Barriers between parts, but those behind the last load and the last store.
    pub(super) fn barriers(&self, length: i64) -> i64 {
        let fields = self.written().count() as i64;
        (1 + bands::SLOTS) * fields + length * self.zone.statements + fields - 2
    }

    fn needed(&self, after: i64, more: impl Fn(usize) -> (i64, i64)) -> Bounds {
        let side = |(d, &(low, high)): (usize, &Closed)| {
            let ((below, above), (before, behind)) = (self.zone.grown(d, after), more(d));
            (low - below - before, high + above + behind)
        };
        self.own.iter().enumerate().map(side).collect()
    }

    /// Fields that change, each with its statement.
    fn written(&self) -> impl Iterator<Item = (FieldId, usize)> + '_ {
        let zone = self.zone;
        zone.states().filter_map(|field| Some((field, zone.program.writers_of(field).next()?.0)))
    }
}
