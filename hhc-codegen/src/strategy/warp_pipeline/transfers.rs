//! What each transfer brings from where to where, and when.

use super::moves::Move;
use super::rings::{LINK, LINK_BEFORE};
use super::strips::{AHEAD, MEMBER, POSITION, Team};
use crate::int_expr::{IntExpr, int, var};
use crate::plan::Range;
use crate::storage::{Moment, POINT_NAMES, Place, Read, Region, Slot, Supplier, Sync, Transfer};

impl Team<'_> {
    /// The level that a stage has which the band does not reach, or ends with.
    fn left_level(&self, stage: &IntExpr) -> IntExpr {
        if self.two_levels() { self.level_after(stage) } else { self.bands.last() }
    }

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
            let here = self.left_as_it_is();
            transfer(comment, level, (&computed, &new), here, self.ring(next.clone()))
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
                    ..on("what the step leaves as it is", self.left_level(&computed))
                }
            }
            Move::Load | Move::LoadBefore => {
                let age = i64::from(of == Move::LoadBefore);
                let name = &self.program.field(self.field).name;
                let comment = match age {
                    0 => format!("a row of {name}, as the band before has left it"),
                    _ => format!("a row of {name}, one level before"),
                };
                let from = Read { place: Place::Arrays(self.bands.input(age)), suppliers: stored.to_vec() };
                let to = Place::Copy(if age == 0 { LINK } else { LINK_BEFORE }, vec![int(0)]);
                Transfer {
                    when: vec![int(0) - member],
                    moment: Moment::Start,
                    ..transfer(&comment, self.bands.first() - age, (&int(0), &loaded), from, to)
                }
            }
            Move::Weigh(number) => {
                let field = self.coefficients()[number];
                let comment = format!("a row of {}", self.program.field(field).name);
                let from = Read { place: Place::Arrays(Slot::OfLevel), suppliers: Vec::new() };
                let to = self.weights(number);
                Transfer {
                    field,
                    when: vec![int(0) - member],
                    junk: None,
                    moment: Moment::Start,
                    ..transfer(&comment, int(0), (&int(0), &loaded), from, to)
                }
            }
            Move::Receive | Move::ReceiveBefore => {
                let before = of == Move::ReceiveBefore;
                let (link, loads, sends, age) = match before {
                    false => (LINK, Move::Load, Move::Send, 0),
                    true => (LINK_BEFORE, Move::LoadBefore, Move::SendBefore, 1),
                };
                let row = var(POINT_NAMES[0]);
                let loaded = [(POSITION, row.clone() - (1 + AHEAD)), (MEMBER, int(0))];
                let sent = row + member.clone() * self.skew() + (self.up() * self.sizes.steps - self.skew());
                let sent = [(MEMBER, member.clone() - 1), (POSITION, sent)];
                let stage = self.first_stage();
                let suppliers = [self.moved(loads, &loaded), self.moved(sends, &sent)];
                let from = Read {
                    place: Place::Copy(link, vec![member]),
                    suppliers: suppliers.into_iter().flatten().collect(),
                };
                let level = self.level_after(&(stage.clone() - age));
                let comment = if before { "the next row of the level before" } else { "the next row" };
                let received = transfer(comment, level, (&stage, &enters), from, self.ring(int(-age)));
                // Rows of two levels are kept until the last step of the warp has read them.
                match self.two_levels() {
                    true => Transfer { moment: Moment::End, ..received },
                    false => Transfer { when: vec![int(0) - Self::group()], ..received },
                }
            }
            Move::Send | Move::SendBefore => {
                let (comment, link, age) = match of {
                    Move::Send => ("what leaves the warp", LINK, 0),
                    _ => ("the level before", LINK_BEFORE, 1),
                };
                let (from, to) =
                    (self.out_of_ring(&(steps.clone() - age)), Place::Copy(link, vec![member + 1]));
                let level = self.level_after(&(leaves.clone() - age));
                Transfer { moment: Moment::End, ..transfer(comment, level, (&leaves, &done), from, to) }
            }
            Move::Store | Move::StoreBefore => {
                let (comment, link, sends, age) = match of {
                    Move::Store => ("the block's own points", LINK, Move::Send, 0),
                    _ => ("its own points, one level before", LINK_BEFORE, Move::SendBefore, 1),
                };
                let from = Read {
                    place: Place::Copy(link, vec![int(self.sizes.warps)]),
                    suppliers: self.moved(sends, &[(POSITION, var(POSITION) - 1)]).into_iter().collect(),
                };
                let to = Place::Arrays(self.bands.output(self.sizes.depth() - age));
                let all = int(self.sizes.depth());
                Transfer {
                    region: Region::Domain(0),
                    when: vec![member - last],
                    junk: None,
                    moment: Moment::Start,
                    ..transfer(comment, self.left_level(&(all.clone() - age)), (&all, &(done - 1)), from, to)
                }
            }
        }
    }
}
