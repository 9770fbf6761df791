//! The kernel: a team of warps, each with some steps of a band.
//!
//! ```text
//! for position c of the stream:
//!     forall w in 0 .. warps:                              with n = c - skew*w, the newest row of level t0 + steps*w
//!         w = 0: row n + 3 of each coefficient             from the arrays into its rows, which all warps read
//!         w = 0: row n + 3                                 from the arrays into link[0]
//!         w = warps - 1: row n - 1 - up*steps of the last  from link[warps] into the arrays: it left the warp one position before
//!         for m in 0 .. steps:                             with y = n - up*(m + 1)
//!             row y of level t0 + steps*w + m + 1          from ring[w][m] (rows y - down .. y + up) into ring[w][m + 1]
//!             its boundary                                 columns of row y of ring[w][m], copied on
//!             behind the band or beside the domain         row y of ring[w][m], copied on, whole
//!             m = 0: row n + 1 of the first level          from link[w] into ring[w][0]
//!         row n - up*steps of the last level               from ring[w][steps] into link[w + 1]
//! ```
//!
//! Where steps read two levels, each warp has the rows of the level before its first one, too: `ring[w][m]` is one further, a row is
//! computed from row `y` of the level before as well, and all that is loaded, taken, left and stored is so of both levels; what is taken
//! comes last. What is copied on is that of two levels before, so that a band which ends early has its last two levels in turn, each
//! in its slot.
//!
//! Row `n + 1` of warp `w + 1` at position `c` is what warp `w` left one position before if the skew is `up*steps + 2`. All
//! warps do the same but for two short parts, so that nearly all of the text has no branch.
//!
//! Of several statements, each of which computes a field of its own, all of that is so of each field, one statement after the other. They
//! read what those before them have computed in the same step, so that the field of statement `k` is `d_k` rows behind
//! ([`lags`](super::lags)): its newest row of level `t0 + steps*w + m` is `n - up*m - d_k`. Warps take it, hand it on and store it so
//! many positions later.
//!
//! A strip is moved into the grid where it would begin or end beyond it. Then boundary columns are its first ones, or its
//! last ones, and all that it loads exists. Grids narrower than a strip have one, and look at each point.

use super::lags::{Source, source};
use super::strips::{BLOCK_NAMES, MEMBER, Needed, POSITION, Team};
use super::tile::Sizes;
use crate::int_expr::int;
use crate::plan::{Instance, Kernel, Loop, Role, RowOrder, decides_nothing};
use crate::storage::{Memory, Read, Supplier, Sync};
use crate::strategy::bands;
use polyhedral::program::{Access, Program};

/// Whether lanes may compute points that nobody needs, from values that are none.
pub(super) fn computes_junk(program: &Program) -> bool {
    (0..program.statements.len()).all(|statement| decides_nothing(program, statement))
}

impl Team<'_> {
    fn read(&self, access: &Access) -> Read {
        match source(self.program, access) {
            Source::Coefficient(_) => self.coefficient(access),
            Source::Field(statement, _) => self.out_of_ring(statement, &(Self::group() + access.time)),
        }
    }

    fn instance(&self, number: usize) -> Instance {
        let next = Self::group() + 1;
        let row = self.row_after(number, &next);
        let statement = &self.program.statements[number];
        let stage = self.first_stage() + next.clone();
        Instance {
            statement: number,
            step: self.step(),
            ranges: self.row(Needed::Field(number), &stage, &row),
            in_full_tiles: true,
            role: Role::Copies { owned: self.owned() },
            when: self.runs(number, &row),
            junk: computes_junk(self.program).then(|| self.lanes(&row)),
            order: RowOrder::Parallel { repeats: true },
            reads: statement.reads.iter().map(|access| self.read(access)).collect(),
            writes: vec![self.ring(number, next)],
            sync: Sync::Warp,
            joined: false,
        }
    }

    /// The kernel; `stored` are those who left the level before the band, by statement.
    pub(super) fn kernel(&self, name: &str, stored: &[Vec<Supplier>]) -> Kernel {
        let block = |d: usize| {
            let (_, end) = self.domain(d);
            let high = match self.narrow && d == 1 {
                true => int(0),
                false => (end - 1 - self.origin(d)).floor_div(self.width(d)),
            };
            Loop { variable: BLOCK_NAMES[d], low: int(0), high }
        };
        let Sizes { steps, warps, .. } = self.sizes;
        let plural = |count: i64| if count == 1 { "" } else { "s" };
        Kernel {
            name: name.to_owned(),
            comment: format!(
                "up to {} time step{}: {warps} warp{} with {steps} each{}",
                self.sizes.depth(),
                plural(self.sizes.depth()),
                plural(warps),
                if self.narrow { ", on grids narrower than a strip" } else { "" }
            ),
            blocks: (0..2).map(block).collect(),
            blocks_alike: true,
            bindings: self.bands.bindings().into_iter().chain([self.first_column()]).collect(),
            // To the last row that the last warp leaves.
            sub_tiles: vec![
                Loop { variable: POSITION, low: self.first_position(), high: self.last_position() },
                Loop { variable: MEMBER, low: int(0), high: int(warps - 1) },
            ],
            team: true,
            rows: Loop { variable: bands::ROW, low: int(0), high: int(steps - 1) },
            instances: (0..self.statements()).map(|statement| self.instance(statement)).collect(),
            memory: Memory::Storages,
            storages: self.storages(),
            transfers: self.moves().into_iter().map(|of| self.transfer(of, stored)).collect(),
            warps: Vec::new(),
            links: Vec::new(),
            full_when: Vec::new(),
        }
    }
}
