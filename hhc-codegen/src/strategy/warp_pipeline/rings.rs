//! The storages of a block, and who puts what into them.
//!
//! Rows of coefficients lie in shared memory once for all warps: the newest is the one that is loaded at a position `c`, the oldest
//! the one that the last warp reads for its last step, for the statement that is most behind with what it reads,
//!
//! ```text
//! c + 1 + AHEAD  ..  c - skew*(warps - 1) - up*steps - d_k - down_k
//! ```

use super::lags::{Source, source};
use super::moves::Move;
use super::strips::{AHEAD, BLOCK_NAMES, FIRST_COLUMN, LINK_ROWS, MEMBER, POSITION, Team};
use crate::int_expr::{IntExpr, int, var};
use crate::storage::{Axis, POINT_NAMES, Part, Place, Read, Storage, Supplier};
use crate::strategy::bands;
use polyhedral::program::{Access, FieldId};

/// Those of a field; all fields have the same ones, kind by kind, and then come coefficients.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rows {
    /// The rows that a warp keeps of each level.
    Ring,
    /// Those on their way to the next warp.
    Link,
    /// Those of the level before, on their way, where steps read two levels.
    LinkBefore,
}

impl Team<'_> {
    /// The number of a storage of the field of a statement.
    fn storage(&self, of: Rows, statement: usize) -> usize {
        of as usize * self.statements() + statement
    }

    /// A copy of one.
    pub(super) fn copy(&self, of: Rows, statement: usize, copy: IntExpr) -> Place {
        Place::Copy(self.storage(of, statement), vec![copy])
    }

    /// The rows of a level, counted from the warp's first one; where steps read two levels, it has those of the one before, too.
    pub(super) fn ring(&self, statement: usize, level: IntExpr) -> Place {
        let copies = vec![var(MEMBER), level + (self.bands.levels - 1)];
        Place::Copy(self.storage(Rows::Ring, statement), copies)
    }

    /// What something is called, of which each field has one.
    fn name(&self, what: &str, statement: usize) -> String {
        if self.statements() > 1 { format!("{what}{statement}") } else { what.to_owned() }
    }

    /// A comment on something of which each field has one.
    pub(super) fn comment(&self, what: &str, statement: usize) -> String {
        match self.statements() {
            1 => what.to_owned(),
            _ => format!("{what}: {}", self.program.field(self.field(statement)).name),
        }
    }

    pub(super) fn storages(&self) -> Vec<Storage> {
        let extent = self.sizes.columns();
        let ring = |first, extent| Axis::Ring { first, extent };
        let first = || var(FIRST_COLUMN);
        let shared = || Axis::Window { first: first(), extent };
        let lanes = || Axis::Lanes { first: first(), extent, points: self.sizes.points };
        let weights = |(number, field): (usize, FieldId)| {
            let name = format!("weights{number}");
            let comment = format!("rows of {}", self.program.field(field).name);
            let axes = vec![ring(self.first_position(), self.rows_of_weights()), shared()];
            Storage::of_level(field, (&name, &comment), Vec::new(), axes)
        };
        let begin = self.first_position();
        let of_member = begin.clone() - var(MEMBER) * self.skew();
        let of_field = |of: Rows, statement: usize| {
            let storage = |name: &str, comment: &str, copies, axes| {
                let (name, comment) = (self.name(name, statement), self.comment(comment, statement));
                Storage::of_level(self.field(statement), (&name, &comment), copies, axes)
            };
            let on_the_way = |name, comment| {
                let axes = vec![ring(begin.clone(), LINK_ROWS), shared()];
                storage(name, comment, vec![self.sizes.warps + 1], axes)
            };
            match of {
                Rows::Ring => storage(
                    "ring",
                    "a warp's newest rows of each level",
                    vec![self.sizes.warps, self.sizes.steps + self.bands.levels],
                    vec![ring(of_member.clone(), self.rows_of_ring()), lanes()],
                ),
                Rows::Link => on_the_way("link", "rows on their way to each warp, and to the arrays"),
                Rows::LinkBefore => on_the_way("before", "rows of the level before, on their way"),
            }
        };
        let kinds = [Rows::Ring, Rows::Link].into_iter().chain(self.two_levels().then_some(Rows::LinkBefore));
        let of_fields = kinds.flat_map(|of| (0..self.statements()).map(move |statement| (of, statement)));
        let of_fields = of_fields.map(|(of, statement)| of_field(of, statement));
        of_fields.chain(self.coefficients().into_iter().enumerate().map(weights)).collect()
    }

    /// The coefficients that are read, in order.
    pub(super) fn coefficients(&self) -> Vec<FieldId> {
        let reads = self.program.statements.iter().flat_map(|statement| &statement.reads);
        let mut fields: Vec<_> = reads
            .filter_map(|read| match source(self.program, read) {
                Source::Coefficient(field) => Some(field),
                Source::Field(..) => None,
            })
            .collect();
        fields.sort_unstable_by_key(|field| field.0);
        fields.dedup();
        fields
    }

    /// Rows of a coefficient: a power of two, so that the cell of a row is found without a division.
    fn rows_of_weights(&self) -> i64 {
        let farthest = (self.program.statements.iter().enumerate()).map(|(number, statement)| {
            let down = statement.reads.iter().map(|read| -read.offset[0]).max().unwrap_or(0).max(0);
            self.behind(number) + down
        });
        let oldest = self.skew() * (self.sizes.warps - 1) + self.up() * self.sizes.steps;
        let rows = 1 + AHEAD + oldest + farthest.max().unwrap_or(0) + 1;
        (rows as u64).next_power_of_two() as i64
    }

    pub(super) fn weights(&self, number: usize) -> Place {
        let kinds = 2 + usize::from(self.two_levels());
        Place::Storage(kinds * self.statements() + number)
    }

    /// Where a coefficient is read, and that the first warp has loaded it.
    pub(super) fn coefficient(&self, access: &Access) -> Read {
        let number = self.coefficients().iter().position(|field| *field == access.field).unwrap_or_default();
        let loaded = [(POSITION, var(POINT_NAMES[0]) - (1 + AHEAD)), (MEMBER, int(0))];
        let suppliers = self.moved(Move::Weigh(number), &loaded).into_iter().collect();
        Read { place: self.weights(number), suppliers }
    }

    /// Who puts a row of a level of a field into a warp's ring, by the row: the step before, or who brings the first level.
    fn suppliers(&self, statement: usize, level: &IntExpr) -> Vec<Supplier> {
        let row = var(POINT_NAMES[0]) + var(MEMBER) * self.skew() + self.behind(statement);
        let at = [(POSITION, row.clone() + level.clone() * self.up()), (bands::ROW, level.clone() - 1)];
        let mut suppliers = vec![Supplier { kernel: None, part: Part::Row(statement), at: at.to_vec() }];
        let copied = [Move::Left, Move::Right, Move::Edges, Move::On];
        suppliers.extend(copied.into_iter().filter_map(|of| self.moved(of(statement), &at)));
        // What leaves a warp has been through all of its steps, and what is of the same step through that one.
        if !self.two_levels() && *level == Self::group() {
            let at = [(POSITION, row - 1), (bands::ROW, int(0))];
            suppliers.extend(self.moved(Move::Receive(statement), &at));
        } else if self.two_levels() {
            // The level before that of one step is what the warp has received.
            let at = [(POSITION, row - 1)];
            suppliers.extend(self.moved(Move::Receive(statement), &at));
            suppliers.extend(self.moved(Move::ReceiveBefore(statement), &at));
        }
        suppliers
    }

    pub(super) fn out_of_ring(&self, statement: usize, level: &IntExpr) -> Read {
        Read { place: self.ring(statement, level.clone()), suppliers: self.suppliers(statement, level) }
    }

    /// Where the next level is what one before was: of one level, that is the last one, of two, the one before it, so that both are
    /// left in turn.
    pub(super) fn left_as_it_is(&self, statement: usize) -> Read {
        self.out_of_ring(statement, &(Self::group() - (self.bands.levels - 1)))
    }

    /// Who left a value of a field in the arrays in the band before. A band that is shorter than others leaves its last two levels in either
    /// order.
    pub(super) fn stored(&self, statement: usize, kernel: usize) -> Vec<Supplier> {
        let stores = [Move::Store, Move::StoreBefore];
        stores.into_iter().filter_map(|of| self.stored_by(of(statement), statement, kernel)).collect()
    }

    fn stored_by(&self, of: Move, statement: usize, kernel: usize) -> Option<Supplier> {
        let own = |d: usize| match self.narrow && d == 1 {
            true => (BLOCK_NAMES[d], int(0)),
            false => (BLOCK_NAMES[d], (var(POINT_NAMES[d]) - self.origin(d)).floor_div(self.width(d))),
        };
        let last = self.sizes.warps - 1;
        let position = var(POINT_NAMES[0]) + self.stored_after(statement);
        let at = vec![
            (bands::BAND, var(bands::BAND) - 1),
            own(0),
            own(1),
            (POSITION, position),
            (MEMBER, int(last)),
        ];
        let part = Part::transfer(&self.moves(), &of)?;
        Some(Supplier { kernel: Some(kernel), part, at })
    }
}
