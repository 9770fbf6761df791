//! The storages of a block, and who puts what into them.

use super::blocks::{AHEAD, BLOCK_NAMES, FIRST_COLUMN, FIRST_ROW, MEMBER, POSITION, Stream};
use super::moves::Move;
use super::sizes::Sizes;
use crate::int_expr::{IntExpr, int, var};
use crate::storage::{Axis, POINT_NAMES, Part, Place, Read, Storage, Supplier};
use crate::strategy::bands;

/// Index of a storage: the planes that a warp keeps of each level, those on their way from the arrays, and the first and the
/// last rows of slices, for the warp before and the one behind.
pub(super) const RING: usize = 0;

pub(super) const FEED: usize = 1;

pub(super) const FIRST_ROWS: usize = 2;

/// Shared memory that a block may have on every device.
const SHARED_BYTES: i64 = 95 << 10;

impl<'a> Stream<'a> {
    pub(super) fn ring(level: IntExpr) -> Place {
        Place::Copy(RING, vec![var(MEMBER), level])
    }

    /// Planes of the ring in registers.
    fn planes(&self) -> i64 {
        self.reach[0].0 + self.lag() + 1
    }

    /// Planes in shared memory: of the feed, and of edge rows. They are one more than are needed where that makes cells constants of text
    /// which is unrolled until registers are where they were, and where all of them fit every device.
    fn shared_planes(&self) -> (i64, i64) {
        let greatest = self.across.map_or(0, |(_, greatest)| greatest);
        let (feed, edges) = (1 + AHEAD, self.lag() - greatest + 1);
        let more =
            |needed: i64| (needed..=needed + 1).find(|planes| self.planes() % planes == 0).unwrap_or(needed);
        let Sizes { rows, steps, warps, .. } = self.sizes;
        let beside = if self.across.is_some() { self.reach[1].0 + self.reach[1].1 } else { 0 };
        let element = self.program.field(self.field).element.bytes() as i64;
        let bytes = |feed: i64, edges: i64| {
            self.sizes.columns() * element * (warps * feed * rows + (warps + 1) * edges * steps * beside)
        };
        let most = (more(feed), more(edges));
        if bytes(most.0, most.1) <= SHARED_BYTES { most } else { (feed, edges) }
    }

    pub(super) fn storages(&self) -> Vec<Storage> {
        let Sizes { points, rows, steps, warps, .. } = self.sizes;
        let [_, (before, behind), _] = self.reach[..] else { return Vec::new() };
        let extent = self.sizes.columns();
        let (feed, edges) = self.shared_planes();
        let storage = |name: &str, comment: &str, copies, axes| {
            Storage::of_level(self.field, (name, comment), copies, axes)
        };
        let begin = self.first_position();
        let planes = |extent| Axis::Ring { first: begin.clone(), extent };
        let first = || var(FIRST_COLUMN);
        let shared = || Axis::Window { first: first(), extent };
        let lanes = Axis::Lanes { first: first(), extent, points };
        let with_beside = Axis::Window { first: self.first_row() - before, extent: before + rows + behind };
        let slice = Axis::Window { first: self.first_row(), extent: rows };
        let mut storages = vec![
            storage(
                "ring",
                "a warp's newest planes of each level, with the rows beside its slice",
                vec![warps, steps + 1],
                vec![planes(self.planes()), with_beside, lanes],
            ),
            storage(
                "feed",
                "planes on their way from the arrays",
                vec![warps],
                vec![planes(feed), slice, shared()],
            ),
        ];
        if self.across.is_some() {
            let edge = |name: &str, comment: &str, rows: i64| {
                let rows = Axis::Ring { first: var(FIRST_ROW), extent: rows };
                let axes = vec![planes(edges), rows, shared()];
                storage(name, comment, vec![warps + 1, steps], axes)
            };
            if behind > 0 {
                storages.push(edge("first_rows", "the first rows of slices, for the warp before", behind));
            }
            if before > 0 {
                storages.push(edge("last_rows", "the last rows of slices, for the warp behind", before));
            }
        }
        storages
    }

    /// Who puts a value of a level into a warp's ring, by its plane: the step before, or who brings the first level; and, if
    /// rows beside the slice are read, who takes them there.
    pub(super) fn suppliers(&self, level: &IntExpr, beside: bool) -> Vec<Supplier> {
        let plane = || var(POINT_NAMES[0]);
        let at = [(POSITION, plane() + level.clone() * self.lag()), (bands::ROW, level.clone() - 1)];
        let mut suppliers = vec![Supplier { kernel: None, part: Part::Row(0), at: at.to_vec() }];
        let boundary = [Move::Left, Move::Right, Move::Before, Move::Behind, Move::Edges, Move::On];
        suppliers.extend(boundary.into_iter().filter_map(|of| self.moved(of, &at)));
        // What leaves the ring has been through all steps.
        if *level == Self::group() {
            let at = [(POSITION, plane()), (bands::ROW, int(0))];
            suppliers.extend(self.moved(Move::Enter, &at));
        }
        if let Some((_, greatest)) = self.across.filter(|_| beside) {
            let taken = plane() + (level.clone() + 1) * self.lag() - greatest;
            let at = [(POSITION, taken)];
            suppliers.extend(
                [Move::TakeBefore, Move::TakeBehind].into_iter().filter_map(|of| self.moved(of, &at)),
            );
        }
        suppliers
    }

    pub(super) fn out_of_ring(&self, level: &IntExpr, beside: bool) -> Read {
        Read { place: Self::ring(level.clone()), suppliers: self.suppliers(level, beside) }
    }

    /// Who left a value in the arrays in the band before.
    pub(super) fn stored(&self, kernel: usize) -> Supplier {
        let block = |d: usize| match self.is_alone_along(d) {
            true => int(0),
            false => (var(POINT_NAMES[d]) - self.origin(d)).floor_div(self.width(d)),
        };
        let own_row = block(1) * self.width(1) + self.origin(1) - self.ghosts(1).0;
        let member = (var(POINT_NAMES[1]) - own_row).floor_div(self.sizes.rows);
        let at = vec![
            (bands::BAND, var(bands::BAND) - 1),
            (BLOCK_NAMES[0], block(0)),
            (BLOCK_NAMES[1], block(1)),
            (BLOCK_NAMES[2], block(2)),
            (POSITION, var(POINT_NAMES[0]) + self.lag() * self.sizes.steps),
            (MEMBER, member),
        ];
        let part = Part::transfer(&self.moves(), &Move::Store).unwrap_or(Part::Transfer(0));
        Supplier { kernel: Some(kernel), part, at }
    }
}
