//! What each transfer brings from where to where, and when.

use super::moves::Move;
use super::rings::Rows;
use super::strips::{AHEAD, MEMBER, Needed, POSITION, Team};
use crate::int_expr::{IntExpr, int, var};
use crate::plan::Range;
use crate::storage::{Moment, POINT_NAMES, Place, Read, Region, Slot, Supplier, Sync, Transfer};

impl Team<'_> {
    /// The level that a stage has which the band does not reach, or ends with.
    fn left_level(&self, stage: &IntExpr) -> IntExpr {
        if self.two_levels() { self.level_after(stage) } else { self.bands.last() }
    }

    /// What all transfers have in common: a row of the field of a statement at a stage, its columns of all lanes junk at most.
    fn moved_row(
        &self,
        (comment, statement): (&str, usize),
        level: IntExpr,
        (stage, row): (&IntExpr, &IntExpr),
        (from, to): (Read, Place),
    ) -> Transfer {
        Transfer {
            comment: self.comment(comment, statement),
            field: self.field(statement),
            level,
            ranges: self.row(Needed::Field(statement), stage, row),
            region: Region::Grid,
            when: Vec::new(),
            junk: Some(self.lanes(row)),
            from,
            to,
            moment: Moment::After(statement),
            sync: Sync::Warp,
        }
    }

    /// A row of a step that no statement computes: what it was.
    fn on(&self, comment: &str, statement: usize, level: IntExpr) -> Transfer {
        let next = Self::group() + 1;
        let (stage, row) = (self.first_stage() + next.clone(), self.row_after(statement, &next));
        let ends = (self.left_as_it_is(statement), self.ring(statement, next));
        self.moved_row((comment, statement), level, (&stage, &row), ends)
    }

    /// Boundary columns of a row of a step, among some columns.
    fn boundary_columns(&self, comment: &str, statement: usize, columns: Vec<Range>) -> Transfer {
        let row = self.row_after(statement, &(Self::group() + 1));
        let whole = self.on(comment, statement, self.step() + 1);
        let both = |(a, b): (Range, &Range)| Range {
            low: a.low.max(b.low.clone()),
            high: a.high.min(b.high.clone()),
        };
        let ranges = whole.ranges.into_iter().zip(&columns).map(both).collect();
        let when = self.runs(statement, &row);
        Transfer { region: Region::Boundary, when, ranges, junk: Some(columns), ..whole }
    }

    /// A transfer; `stored` are those who left the level before the band, by statement.
    pub(super) fn transfer(&self, of: Move, stored: &[Vec<Supplier>]) -> Transfer {
        let last = self.sizes.warps - 1;
        let (steps, member) = (int(self.sizes.steps), var(MEMBER));
        let next = Self::group() + 1;
        let enters = |statement: usize| self.row_after(statement, &int(0)) + 1;
        let leaves = self.first_stage() + steps.clone();
        match of {
            Move::Left(statement) => {
                let row = self.row_after(statement, &next);
                let columns = Self::columns(&row, 0, self.boundary(statement).0);
                self.boundary_columns("the boundary on the left", statement, columns)
            }
            Move::Right(statement) => {
                let (row, right) = (self.row_after(statement, &next), self.boundary(statement).1);
                let columns = Self::columns(&row, self.sizes.columns() - right, right);
                self.boundary_columns("the boundary on the right", statement, columns)
            }
            // Each point is looked at, so that there is no junk.
            Move::Edges(statement) => {
                let columns = self.lanes(&self.row_after(statement, &next));
                Transfer { junk: None, ..self.boundary_columns("the boundary", statement, columns) }
            }
            Move::On(statement) => {
                let not = |condition: &IntExpr| int(-1) - condition.clone();
                let row = self.row_after(statement, &next);
                let whens = self.runs(statement, &row).iter().map(not).reduce(IntExpr::max);
                let level = self.left_level(&(self.first_stage() + next));
                Transfer {
                    when: whens.into_iter().collect(),
                    ..self.on("what the step leaves as it is", statement, level)
                }
            }
            Move::Load(statement) | Move::LoadBefore(statement) => {
                let age = i64::from(matches!(of, Move::LoadBefore(_)));
                let name = &self.program.field(self.field(statement)).name;
                let comment = match age {
                    0 => format!("a row of {name}, as the band before has left it"),
                    _ => format!("a row of {name}, one level before"),
                };
                let suppliers = stored.get(statement).cloned().unwrap_or_default();
                let from = Read { place: Place::Arrays(self.bands.input(age)), suppliers };
                let link = if age == 0 { Rows::Link } else { Rows::LinkBefore };
                let ends = (from, self.copy(link, statement, int(0)));
                let row = enters(statement) + AHEAD;
                Transfer {
                    comment,
                    when: vec![int(0) - member],
                    moment: Moment::Start,
                    ..self.moved_row(("", statement), self.bands.first() - age, (&int(0), &row), ends)
                }
            }
            Move::Weigh(number) => {
                let field = self.coefficients()[number];
                let row = self.newest() + (1 + AHEAD);
                Transfer {
                    comment: format!("a row of {}", self.program.field(field).name),
                    field,
                    level: int(0),
                    ranges: self.row(Needed::Coefficient, &int(0), &row),
                    region: Region::Grid,
                    when: vec![int(0) - member],
                    junk: None,
                    from: Read { place: Place::Arrays(Slot::OfLevel), suppliers: Vec::new() },
                    to: self.weights(number),
                    moment: Moment::Start,
                    sync: Sync::Warp,
                }
            }
            Move::Receive(statement) | Move::ReceiveBefore(statement) => {
                let before = matches!(of, Move::ReceiveBefore(_));
                let (link, loads, sends, age) = match before {
                    false => (Rows::Link, Move::Load(statement), Move::Send(statement), 0),
                    true => (Rows::LinkBefore, Move::LoadBefore(statement), Move::SendBefore(statement), 1),
                };
                let row = var(POINT_NAMES[0]) + self.behind(statement);
                let loaded = [(POSITION, row.clone() - (1 + AHEAD)), (MEMBER, int(0))];
                let sent = row + member.clone() * self.skew() + (self.up() * self.sizes.steps - self.skew());
                let sent = [(MEMBER, member.clone() - 1), (POSITION, sent)];
                let stage = self.first_stage();
                let suppliers = [self.moved(loads, &loaded), self.moved(sends, &sent)];
                let from = Read {
                    place: self.copy(link, statement, member),
                    suppliers: suppliers.into_iter().flatten().collect(),
                };
                let level = self.level_after(&(stage.clone() - age));
                let comment = if before { "the next row of the level before" } else { "the next row" };
                let ends = (from, self.ring(statement, int(-age)));
                let received =
                    self.moved_row((comment, statement), level, (&stage, &enters(statement)), ends);
                // Rows of two levels are kept until the last step of the warp has read them; one that no statement reads any more gives
                // way to this one behind the last statement of the first step.
                match self.two_levels() {
                    true => Transfer { moment: Moment::End, ..received },
                    false => Transfer {
                        when: vec![int(0) - Self::group()],
                        moment: Moment::After(self.statements() - 1),
                        ..received
                    },
                }
            }
            Move::Send(statement) | Move::SendBefore(statement) => {
                let (comment, link, age) = match of {
                    Move::Send(_) => ("what leaves the warp", Rows::Link, 0),
                    _ => ("the level before", Rows::LinkBefore, 1),
                };
                let from = self.out_of_ring(statement, &(steps.clone() - age));
                let to = self.copy(link, statement, member + 1);
                let level = self.level_after(&(leaves.clone() - age));
                let row = (&leaves, &self.row_after(statement, &steps));
                Transfer {
                    moment: Moment::End,
                    ..self.moved_row((comment, statement), level, row, (from, to))
                }
            }
            Move::Store(statement) | Move::StoreBefore(statement) => {
                let (comment, link, sends, age) = match of {
                    Move::Store(_) => ("the block's own points", Rows::Link, Move::Send(statement), 0),
                    _ => {
                        ("its own points, one level before", Rows::LinkBefore, Move::SendBefore(statement), 1)
                    }
                };
                let from = Read {
                    place: self.copy(link, statement, int(self.sizes.warps)),
                    suppliers: self.moved(sends, &[(POSITION, var(POSITION) - 1)]).into_iter().collect(),
                };
                let to = Place::Arrays(self.bands.output(self.sizes.depth() - age));
                let all = int(self.sizes.depth());
                let row = self.row_after(statement, &steps) - 1;
                Transfer {
                    ranges: self.row(Needed::Own, &all, &row),
                    region: Region::Domain(statement),
                    when: vec![member - last],
                    junk: None,
                    moment: Moment::Start,
                    ..self.moved_row(
                        (comment, statement),
                        self.left_level(&(all.clone() - age)),
                        (&all, &row),
                        (from, to),
                    )
                }
            }
        }
    }
}
