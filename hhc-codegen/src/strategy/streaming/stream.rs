//! The kernel: a team of warps with slices of a plane, each with all steps of a band.
//!
//! ```text
//! for position c of the stream:
//!     forall w in 0 .. warps:
//!         for m in 0 .. steps:                     with z = c - lag*(m + 1), the plane that is computed
//!             the slice's edge rows                plane z + lag of level t0 + m, from ring[w][m] into before and behind
//!             the rows beside the slice            plane z + across of level t0 + m, from those of the next warps into ring[w][m]
//!             plane z of level t0 + m + 1          from ring[w][m] (planes z - down .. z + up) into ring[w][m + 1]
//!             its boundary                         columns and rows of plane z of ring[w][m], copied on
//!             behind the band or beside the domain plane z of ring[w][m], copied on, whole
//!             m = 0: plane c of the first level    from the feed into ring[w][0], before all that needs it
//!                    plane c + 1                     from the arrays into the feed
//!         plane c - lag*steps of the last level    from ring[w][steps] into the arrays
//! ```
//!
//! The newest plane in which a row is read across slices, `across` planes behind the one that is computed, must have been left
//! by the other warps one position before: `lag = max(up, across + 1)`.
//!
//! Along the innermost dimension a block is moved into the grid where it would begin or end beyond it. Then boundary columns
//! are its first ones, or its last ones. Grids narrower than that have a kernel that looks at each point. Rows beyond the grid
//! are junk.

use super::blocks::{BLOCK_NAMES, MEMBER, POSITION, Stream, both};
use super::sizes::Sizes;
use crate::int_expr::int;
use crate::plan::{Instance, Kernel, Loop, Range, Role, RowOrder, decides_nothing};
use crate::storage::{Memory, Place, Read, Slot, Supplier, Sync};
use crate::strategy::bands;
use polyhedral::program::{Access, FieldRole};

impl<'a> Stream<'a> {
    fn read(&self, access: &Access) -> Read {
        if self.program.field(access.field).role == FieldRole::Coefficient {
            return Read { place: Place::Arrays(Slot::OfLevel), suppliers: Vec::new() };
        }
        self.out_of_ring(&Self::group(), access.offset[1] != 0)
    }

    fn instance(&self) -> Instance {
        let next = Self::group() + 1;
        let plane = self.plane_after(&next);
        let steps = int(self.sizes.steps);
        let statement = &self.program.statements[0];
        let alone = statement.reads.iter().all(|read| read.field == statement.target);
        let mut owned: Vec<Range> = (0..3).map(|d| self.interval(&steps, d)).collect();
        owned[1] = both(owned[1].clone(), &self.slice());
        Instance {
            statement: 0,
            step: self.step(),
            ranges: self.of_plane(&next, &plane, &self.slice()),
            in_full_tiles: true,
            role: Role::Copies { owned },
            when: self.runs(&plane),
            junk: (alone && decides_nothing(self.program, 0)).then(|| self.lanes(&plane, &self.slice())),
            order: RowOrder::Parallel { repeats: true },
            reads: statement.reads.iter().map(|access| self.read(access)).collect(),
            writes: vec![Self::ring(next)],
            sync: Sync::Warp,
            joined: false,
        }
    }

    /// The kernel; `stored` are those who left the level before the band.
    pub(super) fn kernel(&self, name: &str, stored: &[Supplier]) -> Kernel {
        let block = |d: usize| {
            let (_, end) = self.domain(d);
            let high = match self.is_alone_along(d) {
                true => int(0),
                false => (end - 1 - self.origin(d)).floor_div(self.width(d)),
            };
            Loop { variable: BLOCK_NAMES[d], low: int(0), high }
        };
        let Sizes { steps, warps, rows, .. } = self.sizes;
        let last_plane = self.interval(&int(steps), 0).high.min(self.domain(0).1 - 1);
        let plural = |count: i64| if count == 1 { "" } else { "s" };
        Kernel {
            name: name.to_owned(),
            comment: format!(
                "up to {steps} time step{}: {warps} warp{} with slices of {rows} row{}{}",
                plural(steps),
                plural(warps),
                plural(rows),
                if self.narrow { ", on grids narrower than a block" } else { "" }
            ),
            blocks: (0..3).map(block).collect(),
            blocks_alike: true,
            bindings: self.bands.bindings().into_iter().chain(self.corner()).collect(),
            // To the last plane that is left.
            sub_tiles: vec![
                Loop {
                    variable: POSITION,
                    low: self.first_position(),
                    high: last_plane + self.lag() * steps,
                },
                Loop { variable: MEMBER, low: int(0), high: int(warps - 1) },
            ],
            team: true,
            rows: Loop { variable: bands::ROW, low: int(0), high: int(steps - 1) },
            instances: vec![self.instance()],
            memory: Memory::Storages,
            storages: self.storages(),
            transfers: self.moves().into_iter().map(|of| self.transfer(of, stored)).collect(),
            warps: Vec::new(),
            links: Vec::new(),
            full_when: Vec::new(),
        }
    }
}
