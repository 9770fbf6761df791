//! The storages of a block, and who puts what into them.

use super::moves::Move;
use super::strips::{BLOCK_NAMES, FIRST_COLUMN, LINK_ROWS, MEMBER, POSITION, Team};
use crate::int_expr::{IntExpr, int, var};
use crate::storage::{Axis, POINT_NAMES, Part, Place, Read, Storage, Supplier};
use crate::strategy::bands;

/// Index of a storage: the rows that a warp keeps of each level, and those on their way to the next warp.
pub(super) const RING: usize = 0;

pub(super) const LINK: usize = 1;

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
        let begin = self.first_position();
        let of_member = begin.clone() - var(MEMBER) * self.skew();
        vec![
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
        ]
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
