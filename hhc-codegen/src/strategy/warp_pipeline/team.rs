//! The kernel: a team of warps, each with some steps of a band.
//!
//! ```text
//! for position c of the stream:
//!     forall w in 0 .. warps:                              with n = c - skew*w, the newest row of level t0 + steps*w
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
//! Row `n + 1` of warp `w + 1` at position `c` is what warp `w` left one position before if the skew is `up*steps + 2`. All
//! warps do the same but for two short parts, so that nearly all of the text has no branch.
//!
//! A strip is moved into the grid where it would begin or end beyond it. Then boundary columns are its first ones, or its
//! last ones, and all that it loads exists. Grids narrower than a strip have one, and look at each point.

use crate::geometry::WARP;
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Binding, Instance, Kernel, Loop, Range, Role, RowOrder, bound, decides_nothing};
use crate::storage::{
    Axis, Memory, Moment, POINT_NAMES, Part, Place, Read, Region, Slot, Storage, Supplier, Sync, Transfer,
};
use crate::strategy::bands::{self, Bands};
use polyhedral::program::{Access, FieldId, FieldRole, Program};

const BLOCK_NAMES: [&str; 2] = ["b0", "b1"];
/// The position of the stream.
const POSITION: &str = "c";
/// The warp.
const MEMBER: &str = "w";

/// Index of a storage: the rows that a warp keeps of each level, and those on their way to the next warp.
const RING: usize = 0;
const LINK: usize = 1;
/// The first column of a strip.
const FIRST_COLUMN: &str = "x0";

/// Rows that are loaded ahead of the one that enters the pipeline.
pub(super) const AHEAD: i64 = 2;

/// Rows of a link: the one that is taken, and those ahead of it.
const LINK_ROWS: i64 = 1 + AHEAD;

/// The tile sizes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// Neighbouring points of a lane.
    pub(super) points: i64,
    /// Steps of a warp.
    pub(super) steps: i64,
    /// Warps of a block.
    pub(super) warps: i64,
    /// Rows that a block leaves.
    pub(super) rows: i64,
}

impl Sizes {
    /// Steps of a band.
    pub(super) fn depth(&self) -> i64 {
        self.steps * self.warps
    }

    /// Columns of a strip, with those that it shares with its neighbours.
    pub(super) fn columns(&self) -> i64 {
        WARP * self.points
    }
}

/// A kernel for bands of up to [`Sizes::depth`] steps.
pub(super) struct Team<'a> {
    pub(super) program: &'a Program,
    pub(super) bands: Bands,
    pub(super) sizes: Sizes,
    /// How far the statement reads, per dimension: towards smaller and larger indices.
    pub(super) reach: Vec<(i64, i64)>,
    pub(super) field: FieldId,
    /// Whether it is for grids narrower than a strip.
    pub(super) narrow: bool,
}

/// The transfers of a kernel, which are there as far as they are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    /// Boundary columns: those at the left or the right end of a strip, or wherever they are.
    Left,
    Right,
    Edges,
    /// A row behind the end of the band, or beside the domain.
    On,
    /// From the arrays into the first link.
    Load,
    /// From the link before the warp into its ring, and back into the one behind it.
    Receive,
    Send,
    /// From the last link into the arrays.
    Store,
}

/// Whether lanes may compute points that nobody needs, from values that are none.
pub(super) fn computes_junk(program: &Program) -> bool {
    let statement = &program.statements[0];
    statement.reads.iter().all(|read| read.field == statement.target) && decides_nothing(program, 0)
}

impl Team<'_> {
    /// Its transfers, in order.
    fn moves(&self) -> Vec<Move> {
        let (left, right) = self.reach[1];
        let is_there = |of: &Move| match of {
            Move::Left => !self.narrow && left > 0,
            Move::Right => !self.narrow && right > 0,
            Move::Edges => self.narrow,
            Move::On | Move::Load | Move::Receive | Move::Send | Move::Store => true,
        };
        use Move::{Edges, Left, Load, On, Receive, Right, Send, Store};
        let all = [Load, Store, Left, Right, Edges, On, Receive, Send];
        all.into_iter().filter(is_there).collect()
    }

    fn index_of(&self, of: Move) -> Option<usize> {
        self.moves().iter().position(|&own| own == of)
    }

    /// The domain along a dimension: its first point, and the one after its last.
    fn domain(&self, d: usize) -> (IntExpr, IntExpr) {
        let interval = self.program.statements[0].domain[d];
        (bound(interval.low, d), bound(interval.high, d))
    }

    /// The columns of the domain and those that it reads beside it: the first one, and the one after the last.
    fn around(&self) -> (IntExpr, IntExpr) {
        let ((low, high), (left, right)) = (self.domain(1), self.reach[1]);
        (low - left, high + right)
    }

    /// By how much a grid is wider than a strip.
    pub(super) fn wider(&self) -> IntExpr {
        let (low, high) = self.around();
        high - low - self.sizes.columns()
    }

    /// Points of a block's own along a dimension.
    pub(super) fn width(&self, d: usize) -> i64 {
        if d == 0 {
            return self.sizes.rows;
        }
        let (low, high) = self.reach[d];
        let rest = self.sizes.columns() - self.sizes.depth() * (low + high);
        let beside = self.ghosts_on_the_left() - self.sizes.depth() * low;
        (rest - beside) / self.alignment() * self.alignment()
    }

    /// Columns of a strip before its own ones, so many that strips of a grid begin where accesses of several elements do.
    fn ghosts_on_the_left(&self) -> i64 {
        let ghosts = self.sizes.depth() * self.reach[1].0;
        (ghosts + self.alignment() - 1) / self.alignment() * self.alignment()
    }

    /// Of what strips begin at a multiple: elements of an access, where a strip has so many of its own.
    fn alignment(&self) -> i64 {
        let of_an_access = 16 / self.program.field(self.field).element.bytes() as i64;
        let (low, high) = self.reach[1];
        let own = self.sizes.columns() - self.sizes.depth() * (low + high);
        let useful = self.sizes.points % of_an_access == 0 && own >= 2 * of_an_access;
        if useful { of_an_access } else { 1 }
    }

    /// The first point of those that blocks share out.
    fn origin(&self, d: usize) -> IntExpr {
        if d == 0 { self.domain(0).0 } else { self.around().0 }
    }

    /// The first point of a block's own.
    fn own(&self, d: usize) -> IntExpr {
        if self.narrow && d == 1 {
            self.origin(1)
        } else {
            var(BLOCK_NAMES[d]) * self.width(d) + self.origin(d)
        }
    }

    fn down(&self) -> i64 {
        self.reach[0].0
    }

    fn up(&self) -> i64 {
        self.reach[0].1
    }

    /// Positions from one warp to the next one: as few as let it take what the one before has left one position before.
    /// One more, for which a link has room, where all warps then find a row in the same cell of their links, and registers, too,
    /// are where they were after so many positions.
    pub(super) fn skew(&self) -> i64 {
        let least = self.up() * self.sizes.steps + 2;
        let same = self.down() + self.up() + 1 == LINK_ROWS && (least + 1) % LINK_ROWS == 0;
        least + i64::from(same)
    }

    /// From the position at which a row is the newest of the first level to that at which the last warp stores it.
    pub(super) fn stored_after(&self) -> i64 {
        self.up() * self.sizes.steps + self.skew() * (self.sizes.warps - 1) + 1
    }

    /// What a block needs in dimension `d` of the level after so many stages; 0 is what is loaded.
    fn interval(&self, stage: &IntExpr, d: usize) -> Range {
        let (low, high) = self.reach[d];
        let (own, depth) = (self.own(d), self.sizes.depth());
        if d == 1 && self.narrow {
            let first = self.around().0;
            return Range { low: first.clone(), high: first + (self.sizes.columns() - 1) };
        }
        let needed = Range {
            low: own.clone() + stage.clone() * low - depth * low,
            high: own - stage.clone() * high + (self.width(d) - 1 + depth * high),
        };
        if d == 0 {
            return needed;
        }
        let (first, end) = self.around();
        Range { low: needed.low.max(first), high: needed.high.min(end - 1) }
    }

    /// A row and its columns, where it is one of those.
    fn row(&self, stage: &IntExpr, row: &IntExpr) -> Vec<Range> {
        let rows = self.interval(stage, 0);
        vec![
            Range { low: rows.low.max(row.clone()), high: rows.high.min(row.clone()) },
            self.interval(stage, 1),
        ]
    }

    /// So many columns of a row from one on, counted from that of the first lane.
    fn columns(row: &IntExpr, from: i64, count: i64) -> Vec<Range> {
        let first = var(FIRST_COLUMN) + from;
        let columns = Range { low: first.clone(), high: first + (count - 1) };
        vec![Range { low: row.clone(), high: row.clone() }, columns]
    }

    /// A row, as the lanes have it.
    fn lanes(&self, row: &IntExpr) -> Vec<Range> {
        Self::columns(row, 0, self.sizes.columns())
    }

    /// The first column of a strip, in the grid.
    fn first_column(&self) -> Binding {
        let (first, end) = self.around();
        let value = match self.narrow {
            true => first,
            false => (self.own(1) - self.ghosts_on_the_left()).max(first).min(end - self.sizes.columns()),
        };
        let comment = "first column of the strip".to_owned();
        Binding { name: FIRST_COLUMN, value, comment }
    }

    /// The first position: some later the first row that is loaded enters.
    fn first_position(&self) -> IntExpr {
        self.interval(&int(0), 0).low - (1 + AHEAD)
    }

    /// The newest row of the first level of a warp.
    fn newest(&self) -> IntExpr {
        var(POSITION) - var(MEMBER) * self.skew()
    }

    /// The row that a warp has computed of the level after so many of its steps.
    fn row_after(&self, steps: &IntExpr) -> IntExpr {
        self.newest() - steps.clone() * self.up()
    }

    /// The stage that a warp's first level is.
    fn first_stage(&self) -> IntExpr {
        var(MEMBER) * self.sizes.steps
    }

    fn group() -> IntExpr {
        var(bands::ROW)
    }

    fn ring(level: IntExpr) -> Place {
        Place::Copy(RING, vec![var(MEMBER), level])
    }

    pub(super) fn storages(&self) -> Vec<Storage> {
        let extent = self.sizes.columns();
        let storage = |name: &str, comment: &str, copies, axes| Storage {
            name: name.to_owned(),
            comment: comment.to_owned(),
            field: self.field,
            planes: 1,
            copies,
            axes,
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

    /// A transfer of the same kernel as a supplier.
    fn moved(&self, of: Move, at: &[(&'static str, IntExpr)]) -> Option<Supplier> {
        let part = Part::Transfer(self.index_of(of)?);
        Some(Supplier { kernel: None, part, at: at.to_vec() })
    }

    /// Who puts a row of a level into a warp's ring, by the row: the step before, or who brings the first level.
    fn suppliers(&self, level: &IntExpr) -> Vec<Supplier> {
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

    fn out_of_ring(&self, level: &IntExpr) -> Read {
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
        let store = self.index_of(Move::Store).unwrap_or_default();
        Supplier { kernel: Some(kernel), part: Part::Transfer(store), at }
    }

    /// The level after so many stages of a band, or its last one.
    fn level_after(&self, stage: &IntExpr) -> IntExpr {
        (self.bands.first() + stage.clone()).min(self.bands.last())
    }

    /// When a step of the band computes a row.
    fn runs(&self, row: &IntExpr) -> Vec<IntExpr> {
        let (low, high) = self.domain(0);
        vec![self.bands.last() - 1 - self.step(), row.clone() - low, high - 1 - row.clone()]
    }

    fn transfer(&self, of: Move, stored: &[Supplier]) -> Transfer {
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
            let here = self.out_of_ring(&Self::group());
            transfer(comment, level, (&computed, &new), here, Self::ring(next.clone()))
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
                    ..on("what the step leaves as it is", self.bands.last())
                }
            }
            Move::Load => {
                let name = &self.program.field(self.field).name;
                let comment = format!("a row of {name}, as the band before has left it");
                let from = Read { place: Place::Arrays(self.bands.input()), suppliers: stored.to_vec() };
                let to = Place::Copy(LINK, vec![int(0)]);
                Transfer {
                    when: vec![int(0) - member],
                    moment: Moment::Start,
                    ..transfer(&comment, self.bands.first(), (&int(0), &loaded), from, to)
                }
            }
            Move::Receive => {
                let row = var(POINT_NAMES[0]);
                let loaded = [(POSITION, row.clone() - (1 + AHEAD)), (MEMBER, int(0))];
                let sent = row + member.clone() * self.skew() + (self.up() * self.sizes.steps - self.skew());
                let sent = [(MEMBER, member.clone() - 1), (POSITION, sent)];
                let stage = self.first_stage();
                let suppliers = [self.moved(Move::Load, &loaded), self.moved(Move::Send, &sent)];
                let from = Read {
                    place: Place::Copy(LINK, vec![member]),
                    suppliers: suppliers.into_iter().flatten().collect(),
                };
                let level = self.level_after(&stage);
                Transfer {
                    when: vec![int(0) - Self::group()],
                    ..transfer("the next row", level, (&stage, &enters), from, Self::ring(int(0)))
                }
            }
            Move::Send => {
                let (from, to) = (self.out_of_ring(&steps), Place::Copy(LINK, vec![member + 1]));
                Transfer {
                    moment: Moment::End,
                    ..transfer("what leaves the warp", self.level_after(&leaves), (&leaves, &done), from, to)
                }
            }
            Move::Store => {
                let from = Read {
                    place: Place::Copy(LINK, vec![int(self.sizes.warps)]),
                    suppliers: self.moved(Move::Send, &[(POSITION, var(POSITION) - 1)]).into_iter().collect(),
                };
                let to = Place::Arrays(self.bands.output());
                let all = int(self.sizes.depth());
                Transfer {
                    region: Region::Domain(0),
                    when: vec![member - last],
                    junk: None,
                    moment: Moment::Start,
                    ..transfer("the block's own points", self.bands.last(), (&all, &(done - 1)), from, to)
                }
            }
        }
    }

    /// The step of a stage.
    fn step(&self) -> IntExpr {
        self.bands.first() + self.first_stage() + Self::group()
    }

    fn read(&self, access: &Access) -> Read {
        if self.program.field(access.field).role == FieldRole::Coefficient {
            return Read { place: Place::Arrays(Slot::OfLevel), suppliers: Vec::new() };
        }
        self.out_of_ring(&Self::group())
    }

    fn instance(&self) -> Instance {
        let next = Self::group() + 1;
        let row = self.row_after(&next);
        let owned = int(self.sizes.depth());
        let statement = &self.program.statements[0];
        Instance {
            statement: 0,
            step: self.step(),
            ranges: self.row(&(self.first_stage() + next.clone()), &row),
            in_full_tiles: true,
            role: Role::Copies { owned: vec![self.interval(&owned, 0), self.interval(&owned, 1)] },
            when: self.runs(&row),
            junk: computes_junk(self.program).then(|| self.lanes(&row)),
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
            let high = match self.narrow && d == 1 {
                true => int(0),
                false => (end - 1 - self.origin(d)).floor_div(self.width(d)),
            };
            Loop { variable: BLOCK_NAMES[d], low: int(0), high }
        };
        let Sizes { steps, warps, .. } = self.sizes;
        let last_row = self.interval(&int(self.sizes.depth()), 0).high.min(self.domain(0).1 - 1);
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
                Loop { variable: POSITION, low: self.first_position(), high: last_row + self.stored_after() },
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
