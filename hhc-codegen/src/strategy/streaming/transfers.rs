//! What each transfer brings from where to where, and when.

use super::blocks::{AHEAD, FIRST_COLUMN, MEMBER, POSITION, Stream, both};
use super::moves::Move;
use super::rings::{FEED, FIRST_ROWS};
use crate::int_expr::{IntExpr, int, var};
use crate::plan::Range;
use crate::storage::{Moment, POINT_NAMES, Place, Read, Region, Supplier, Sync, Transfer};
use crate::strategy::bands;

impl<'a> Stream<'a> {
    /// From one place of the block to another one: what a block needs of some rows of a plane of the level after so many stages.
    pub(super) fn within(
        &self,
        comment: &str,
        (stage, plane, rows): (&IntExpr, &IntExpr, &Range),
        from: Read,
        to: Place,
    ) -> Transfer {
        Transfer {
            comment: comment.to_owned(),
            field: self.field,
            level: self.level_after(stage),
            ranges: self.of_plane(stage, plane, rows),
            region: Region::Grid,
            when: Vec::new(),
            junk: Some(self.lanes(plane, rows)),
            from,
            to,
            moment: Moment::After(0),
            sync: Sync::Warp,
        }
    }

    /// Of what is loaded, all columns that the lanes have, which are in the grid; on narrow grids whole accesses of what is needed.
    pub(super) fn with_all_columns(&self, mut loaded: Transfer) -> Transfer {
        let lanes = loaded.junk.as_ref().and_then(|lanes| lanes.get(2)).filter(|_| !self.narrow);
        loaded.ranges[2] = lanes.cloned().unwrap_or_else(|| self.loaded(2));
        loaded
    }

    /// A plane of the ring, copied on to the next level.
    pub(super) fn on(&self, comment: &str, level: IntExpr) -> Transfer {
        let (here, next) = (Self::group(), Self::group() + 1);
        let plane = self.plane_after(&next);
        let from = self.out_of_ring(&here, false);
        let whole = self.within(comment, (&next, &plane, &self.slice()), from, Self::ring(next.clone()));
        Transfer { level, ..whole }
    }

    /// The boundary in a box.
    pub(super) fn boundary(&self, comment: &str, of: Vec<Range>, when: Vec<IntExpr>) -> Transfer {
        let whole = self.on(comment, self.step() + 1);
        let ranges = whole.ranges.into_iter().zip(&of).map(|(own, of)| both(own, of)).collect();
        let when = [self.runs(&self.plane_after(&(Self::group() + 1))), when].concat();
        Transfer { region: Region::Boundary, when, ranges, junk: Some(of), ..whole }
    }

    /// To where other warps find it, and from there.
    pub(super) fn beside(&self, of: Move) -> Transfer {
        let (level, rows) = (Self::group(), self.sizes.rows);
        let [_, (before, behind), _] = self.reach[..] else { return self.on("", int(0)) };
        let member = var(MEMBER);
        let greatest = self.across.map_or(0, |(_, greatest)| greatest);
        let newest = self.plane_after(&level);
        let taken = self.plane_after(&(level.clone() + 1)) + greatest;
        let gives = matches!(of, Move::GiveFirst | Move::GiveLast);
        // Either is there where somebody reads its rows.
        let last_rows_of = FIRST_ROWS + usize::from(behind > 0);
        // Copy `w` lies between warp `w - 1` and warp `w`: the outermost warps give rows that nobody takes, and take junk. What a register
        // keeps where nothing is taken, it keeps for long, and a test costs what is given.
        let (comment, rows, storage, copy, other) = match of {
            Move::GiveFirst => {
                ("the slice's first rows", self.rows(0, behind), FIRST_ROWS, member.clone(), 0)
            }
            Move::GiveLast => {
                let last_rows = self.rows(rows - before, before);
                ("the slice's last rows", last_rows, last_rows_of, member.clone() + 1, 0)
            }
            Move::TakeBehind => {
                ("the rows behind the slice", self.rows(rows, behind), FIRST_ROWS, member.clone() + 1, 1)
            }
            _ => ("the rows before the slice", self.rows(-before, before), last_rows_of, member.clone(), -1),
        };
        let edge = Place::Copy(storage, vec![copy, level.clone()]);
        let (plane, from, to) = if gives {
            (newest, self.out_of_ring(&level, false), edge)
        } else {
            let at = [(MEMBER, member + other), (POSITION, var(POINT_NAMES[0]) + level.clone() * self.lag())];
            let giver = if other > 0 { Move::GiveFirst } else { Move::GiveLast };
            let suppliers = self.moved(giver, &at).into_iter().collect();
            (taken, Read { place: edge, suppliers }, Self::ring(level.clone()))
        };
        Transfer { moment: Moment::Before(0), ..self.within(comment, (&level, &plane, &rows), from, to) }
    }

    pub(super) fn transfer(&self, of: Move, stored: &[Supplier]) -> Transfer {
        let next = Self::group() + 1;
        let plane = self.plane_after(&next);
        let slice = self.slice();
        let (first, end) = self.domain(1);
        let first_group = vec![int(0) - Self::group()];
        match of {
            Move::GiveFirst | Move::GiveLast | Move::TakeBefore | Move::TakeBehind => self.beside(of),
            Move::Left => {
                let columns = Self::columns(&plane, &slice, 0, self.reach[2].0);
                let some = vec![self.domain(2).0 - 1 - var(FIRST_COLUMN)];
                self.boundary("the boundary on the left", columns, some)
            }
            Move::Right => {
                let right = self.reach[2].1;
                let from = self.sizes.columns() - right;
                let columns = Self::columns(&plane, &slice, from, right);
                let some = vec![var(FIRST_COLUMN) + (self.sizes.columns() - 1) - self.domain(2).1];
                self.boundary("the boundary on the right", columns, some)
            }
            Move::Before => {
                let rows = Range { low: slice.low.clone(), high: slice.high.min(first.clone() - 1) };
                let some = vec![first - 1 - slice.low];
                self.boundary("boundary rows before the domain", self.lanes(&plane, &rows), some)
            }
            Move::Behind => {
                let rows = Range { low: slice.low.max(end.clone()), high: slice.high.clone() };
                let some = vec![slice.high - end];
                self.boundary("boundary rows behind the domain", self.lanes(&plane, &rows), some)
            }
            // Each point is looked at, so that there is no junk.
            Move::Edges => Transfer {
                junk: None,
                ..self.boundary("the boundary", self.lanes(&plane, &slice), Vec::new())
            },
            Move::On => {
                let not = |condition: &IntExpr| int(-1) - condition.clone();
                let whens = self.runs(&plane).iter().map(not).reduce(IntExpr::max);
                Transfer {
                    when: whens.into_iter().collect(),
                    ..self.on("what the step leaves as it is", self.bands.last())
                }
            }
            Move::Enter => {
                let at = [(POSITION, var(POINT_NAMES[0]) - AHEAD), (bands::ROW, int(0))];
                let suppliers = self.moved(Move::Load, &at).into_iter().collect();
                let from = Read { place: Place::Copy(FEED, vec![var(MEMBER)]), suppliers };
                let entering = var(POSITION);
                let enters =
                    self.within("from the feed", (&int(0), &entering, &slice), from, Self::ring(int(0)));
                let moment = Moment::Before(0);
                self.with_all_columns(Transfer { when: first_group, moment, ..enters })
            }
            Move::Load => {
                let comment = format!(
                    "a plane of {}, as the band before has left it",
                    self.program.field(self.field).name
                );
                let from = Read { place: Place::Arrays(self.bands.input(0)), suppliers: stored.to_vec() };
                let to = Place::Copy(FEED, vec![var(MEMBER)]);
                let loaded = var(POSITION) + AHEAD;
                let loads = self.within(&comment, (&int(0), &loaded, &slice), from, to);
                self.with_all_columns(Transfer { when: first_group, ..loads })
            }
            Move::Store => {
                let steps = int(self.sizes.steps);
                let from = self.out_of_ring(&steps, false);
                let to = Place::Arrays(self.bands.output(0));
                let done = self.plane_after(&steps);
                Transfer {
                    region: Region::Domain(0),
                    level: self.bands.last(),
                    junk: None,
                    moment: Moment::End,
                    ..self.within("the block's own points", (&steps, &done, &slice), from, to)
                }
            }
        }
    }
}
