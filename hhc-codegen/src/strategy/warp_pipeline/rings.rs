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

/// Index of the rows of the level before, on their way, where steps read two levels.
pub(super) const LINK_BEFORE: usize = 2;

impl Team<'_> {
    /// The rows of a level, counted from the warp's first one; where steps read two levels, it has those of the one before, too.
    pub(super) fn ring(&self, level: IntExpr) -> Place {
        Place::Copy(RING, vec![var(MEMBER), level + (self.bands.levels - 1)])
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
                vec![self.sizes.warps, self.sizes.steps + self.bands.levels],
                vec![ring(of_member, self.rows_of_ring()), lanes],
            ),
            storage(
                "link",
                "rows on their way to each warp, and to the arrays",
                vec![self.sizes.warps + 1],
                vec![ring(begin.clone(), LINK_ROWS), shared()],
            ),
        ];
        let before = self.two_levels().then(|| {
            storage(
                "before",
                "rows of the level before, on their way",
                vec![self.sizes.warps + 1],
                vec![ring(begin, LINK_ROWS), shared()],
            )
        });
        of_field
            .into_iter()
            .chain(before)
            .chain(self.coefficients().into_iter().enumerate().map(weights))
            .collect()
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

    pub(super) fn weights(&self, number: usize) -> Place {
        Place::Storage(LINK_BEFORE + usize::from(self.two_levels()) + number)
    }

    /// Where a coefficient is read, and that the first warp has loaded it.
    pub(super) fn coefficient(&self, access: &Access) -> Read {
        let number = self.coefficients().iter().position(|field| *field == access.field).unwrap_or_default();
        let loaded = [(POSITION, var(POINT_NAMES[0]) - (1 + AHEAD)), (MEMBER, int(0))];
        let suppliers = self.moved(Move::Weigh(number), &loaded).into_iter().collect();
        Read { place: self.weights(number), suppliers }
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
        if !self.two_levels() && *level == Self::group() {
            let at = [(POSITION, row - 1), (bands::ROW, int(0))];
            suppliers.extend(self.moved(Move::Receive, &at));
        } else if self.two_levels() {
            // The level before that of one step is what the warp has received.
            let at = [(POSITION, row - 1)];
            suppliers.extend(self.moved(Move::Receive, &at));
            suppliers.extend(self.moved(Move::ReceiveBefore, &at));
        }
        suppliers
    }

    pub(super) fn out_of_ring(&self, level: &IntExpr) -> Read {
        Read { place: self.ring(level.clone()), suppliers: self.suppliers(level) }
    }

    /// Where the next level is what one before was: of one level, that is the last one, of two, the one before it, so that both are
    /// left in turn.
    pub(super) fn left_as_it_is(&self) -> Read {
        self.out_of_ring(&(Self::group() - (self.bands.levels - 1)))
    }

    /// Who left a value in the arrays in the band before. A band that is shorter than others leaves its last two levels in either order.
    pub(super) fn stored(&self, kernel: usize) -> Vec<Supplier> {
        [Move::Store, Move::StoreBefore].into_iter().filter_map(|of| self.stored_by(of, kernel)).collect()
    }

    fn stored_by(&self, of: Move, kernel: usize) -> Option<Supplier> {
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
        let part = Part::transfer(&self.moves(), &of)?;
        Some(Supplier { kernel: Some(kernel), part, at })
    }
}
