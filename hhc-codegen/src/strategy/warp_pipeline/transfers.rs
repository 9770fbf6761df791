//! What each transfer brings from where to where, and when.

use super::moves::Move;
use super::rings::LINK;
use super::strips::{AHEAD, MEMBER, POSITION, Team};
use crate::int_expr::{IntExpr, int, var};
use crate::plan::Range;
use crate::storage::{Moment, POINT_NAMES, Place, Read, Region, Slot, Supplier, Sync, Transfer};

impl Team<'_> {
    pub(super) fn transfer(&self, of: Move, stored: &[Supplier]) -> Transfer {
        let last = self.sizes.warps - 1;
        let (steps, member) = (int(self.sizes.steps), var(MEMBER));
        let next = Self::group() + 1;
        let (new, done) = (self.row_after(&next), self.row_after(&steps));
        let enters = self.newest() + 1;
        let loaded = enters.clone() + AHEAD;
        let computed = self.first_stage() + next.clone();
        let leaves = self.first_stage() + steps.clone();
        let transfer = |comment: &str, level, (stage, row): (&IntExpr, &IntExpr), from, to| Transfer {
            comment: comment.to_owned(),
            field: self.field,
            level,
            ranges: self.row(stage, row),
            region: Region::Grid,
            when: Vec::new(),
            junk: Some(self.lanes(row)),
            from,
            to,
            moment: Moment::After(0),
            sync: Sync::Warp,
        };
        let on = |comment: &str, level| {
            let here = self.out_of_ring(&Self::group());
            transfer(comment, level, (&computed, &new), here, Self::ring(next.clone()))
        };
        let boundary = |comment: &str, columns: Vec<Range>| {
            let whole = on(comment, self.step() + 1);
            let both = |(a, b): (Range, &Range)| Range {
                low: a.low.max(b.low.clone()),
                high: a.high.min(b.high.clone()),
            };
            let ranges = whole.ranges.into_iter().zip(&columns).map(both).collect();
            Transfer { region: Region::Boundary, when: self.runs(&new), ranges, junk: Some(columns), ..whole }
        };
        match of {
            Move::Left => boundary("the boundary on the left", Self::columns(&new, 0, self.reach[1].0)),
            Move::Right => {
                let right = self.reach[1].1;
                let columns = Self::columns(&new, self.sizes.columns() - right, right);
                boundary("the boundary on the right", columns)
            }
            // Each point is looked at, so that there is no junk.
            Move::Edges => Transfer { junk: None, ..boundary("the boundary", self.lanes(&new)) },
            Move::On => {
                let not = |condition: &IntExpr| int(-1) - condition.clone();
                let whens = self.runs(&new).iter().map(not).reduce(IntExpr::max);
                Transfer {
                    when: whens.into_iter().collect(),
                    ..on("what the step leaves as it is", self.bands.last())
                }
            }
            Move::Load => {
                let name = &self.program.field(self.field).name;
                let comment = format!("a row of {name}, as the band before has left it");
                let from = Read { place: Place::Arrays(self.bands.input()), suppliers: stored.to_vec() };
                let to = Place::Copy(LINK, vec![int(0)]);
                Transfer {
                    when: vec![int(0) - member],
                    moment: Moment::Start,
                    ..transfer(&comment, self.bands.first(), (&int(0), &loaded), from, to)
                }
            }
            Move::Weigh(number) => {
                let field = self.coefficients()[number];
                let comment = format!("a row of {}", self.program.field(field).name);
                let from = Read { place: Place::Arrays(Slot::OfLevel), suppliers: Vec::new() };
                let to = Self::weights(number);
                Transfer {
                    field,
                    when: vec![int(0) - member],
                    junk: None,
                    moment: Moment::Start,
                    ..transfer(&comment, int(0), (&int(0), &loaded), from, to)
                }
            }
            Move::Receive => {
                let row = var(POINT_NAMES[0]);
                let loaded = [(POSITION, row.clone() - (1 + AHEAD)), (MEMBER, int(0))];
                let sent = row + member.clone() * self.skew() + (self.up() * self.sizes.steps - self.skew());
                let sent = [(MEMBER, member.clone() - 1), (POSITION, sent)];
                let stage = self.first_stage();
                let suppliers = [self.moved(Move::Load, &loaded), self.moved(Move::Send, &sent)];
                let from = Read {
                    place: Place::Copy(LINK, vec![member]),
                    suppliers: suppliers.into_iter().flatten().collect(),
                };
                let level = self.level_after(&stage);
                Transfer {
                    when: vec![int(0) - Self::group()],
                    ..transfer("the next row", level, (&stage, &enters), from, Self::ring(int(0)))
                }
            }
            Move::Send => {
                let (from, to) = (self.out_of_ring(&steps), Place::Copy(LINK, vec![member + 1]));
                Transfer {
                    moment: Moment::End,
                    ..transfer("what leaves the warp", self.level_after(&leaves), (&leaves, &done), from, to)
                }
            }
            Move::Store => {
                let from = Read {
                    place: Place::Copy(LINK, vec![int(self.sizes.warps)]),
                    suppliers: self.moved(Move::Send, &[(POSITION, var(POSITION) - 1)]).into_iter().collect(),
                };
                let to = Place::Arrays(self.bands.output());
                let all = int(self.sizes.depth());
                Transfer {
                    region: Region::Domain(0),
                    when: vec![member - last],
                    junk: None,
                    moment: Moment::Start,
                    ..transfer("the block's own points", self.bands.last(), (&all, &(done - 1)), from, to)
                }
            }
        }
    }
}
