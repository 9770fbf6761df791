//! The storages of a block, and who puts what into them.
//!
//! Rows of coefficients lie in shared memory once for all warps: the newest is the one that is loaded at a position `c`, the oldest
//! the one that the last warp reads for its last step,
//!
//! ```text
//! c + 1 + AHEAD  ..  c - skew*(warps - 1) - up*steps - down
//! ```

use super::moves::Move;
use super::strips::{AHEAD, BLOCK_NAMES, FIRST_COLUMN, LINK_ROWS, MEMBER, POSITION, Team};
use crate::int_expr::{IntExpr, int, var};
use crate::storage::{Axis, POINT_NAMES, Part, Place, Read, Storage, Supplier};
use crate::strategy::bands;
use polyhedral::program::{Access, FieldId};

/// Index of a storage: the rows that a warp keeps of each level, and those on their way to the next warp.
pub(super) const RING: usize = 0;

pub(super) const LINK: usize = 1;

/// Index of the first coefficient's.
const WEIGHTS: usize = 2;

impl Team<'_> {
    pub(super) fn ring(level: IntExpr) -> Place {
        Place::Copy(RING, vec![var(MEMBER), level])
    }

    pub(super) fn storages(&self) -> Vec<Storage> {
        let extent = self.sizes.columns();
        let storage = |name: &str, comment: &str, copies, axes| {
            Storage::of_level(self.field, (name, comment), copies, axes)
        };
        let ring = |first, extent| Axis::Ring { first, extent };
        let first = || var(FIRST_COLUMN);
        let shared = || Axis::Window { first: first(), extent };
        let lanes = Axis::Lanes { first: first(), extent, points: self.sizes.points };
        let weights = |(number, field): (usize, FieldId)| {
            let name = format!("weights{number}");
            let comment = format!("rows of {}", self.program.field(field).name);
            let axes = vec![ring(self.first_position(), self.rows_of_weights()), shared()];
            Storage::of_level(field, (&name, &comment), Vec::new(), axes)
        };
        let begin = self.first_position();
        let of_member = begin.clone() - var(MEMBER) * self.skew();
        let of_field = [
            storage(
                "ring",
                "a warp's newest rows of each level",
                vec![self.sizes.warps, self.sizes.steps + 1],
                vec![ring(of_member, self.down() + self.up() + 1), lanes],
            ),
            storage(
                "link",
                "rows on their way to each warp, and to the arrays",
                vec![self.sizes.warps + 1],
                vec![ring(begin, LINK_ROWS), shared()],
            ),
        ];
        of_field.into_iter().chain(self.coefficients().into_iter().enumerate().map(weights)).collect()
    }

    /// The coefficients that are read, in order.
    pub(super) fn coefficients(&self) -> Vec<FieldId> {
        let reads = &self.program.statements[0].reads;
        let mut fields: Vec<_> =
            reads.iter().map(|read| read.field).filter(|field| *field != self.field).collect();
        fields.sort_unstable_by_key(|field| field.0);
        fields.dedup();
        fields
    }

    /// Rows of a coefficient: a power of two, so that the cell of a row is found without a division.
    fn rows_of_weights(&self) -> i64 {
        let oldest = self.skew() * (self.sizes.warps - 1) + self.up() * self.sizes.steps + self.down();
        let rows = 1 + AHEAD + oldest + 1;
        (rows as u64).next_power_of_two() as i64
    }

    pub(super) fn weights(number: usize) -> Place {
        Place::Storage(WEIGHTS + number)
    }

    /// Where a coefficient is read, and that the first warp has loaded it.
    pub(super) fn coefficient(&self, access: &Access) -> Read {
        let number = self.coefficients().iter().position(|field| *field == access.field).unwrap_or_default();
        let loaded = [(POSITION, var(POINT_NAMES[0]) - (1 + AHEAD)), (MEMBER, int(0))];
        let suppliers = self.moved(Move::Weigh(number), &loaded).into_iter().collect();
        Read { place: Self::weights(number), suppliers }
    }

    /// Who puts a row of a level into a warp's ring, by the row: the step before, or who brings the first level.
    pub(super) fn suppliers(&self, level: &IntExpr) -> Vec<Supplier> {
        let row = var(POINT_NAMES[0]) + var(MEMBER) * self.skew();
        let at = [(POSITION, row.clone() + level.clone() * self.up()), (bands::ROW, level.clone() - 1)];
        let mut suppliers = vec![Supplier { kernel: None, part: Part::Row(0), at: at.to_vec() }];
        suppliers.extend(
            [Move::Left, Move::Right, Move::Edges, Move::On].into_iter().filter_map(|of| self.moved(of, &at)),
        );
        // What leaves a warp has been through all of its steps.
        if *level == Self::group() {
            let at = [(POSITION, row - 1), (bands::ROW, int(0))];
            suppliers.extend(self.moved(Move::Receive, &at));
        }
        suppliers
    }

    pub(super) fn out_of_ring(&self, level: &IntExpr) -> Read {
        Read { place: Self::ring(level.clone()), suppliers: self.suppliers(level) }
    }

    /// Who left a value in the arrays in the band before.
    pub(super) fn stored(&self, kernel: usize) -> Supplier {
        let own = |d: usize| match self.narrow && d == 1 {
            true => (BLOCK_NAMES[d], int(0)),
            false => (BLOCK_NAMES[d], (var(POINT_NAMES[d]) - self.origin(d)).floor_div(self.width(d))),
        };
        let last = self.sizes.warps - 1;
        let position = var(POINT_NAMES[0]) + self.stored_after();
        let at = vec![
            (bands::BAND, var(bands::BAND) - 1),
            own(0),
            own(1),
            (POSITION, position),
            (MEMBER, int(last)),
        ];
        let part = Part::transfer(&self.moves(), &Move::Store).unwrap_or(Part::Transfer(0));
        Supplier { kernel: Some(kernel), part, at }
    }
}
