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

use crate::geometry::{WARP, elements_at_once};
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Binding, Instance, Kernel, Loop, Range, Role, RowOrder, bound, decides_nothing};
use crate::storage::{
    Axis, Memory, Moment, POINT_NAMES, Part, Place, Read, Region, Slot, Storage, Supplier, Sync, Transfer,
};
use crate::strategy::bands::{self, Bands};
use polyhedral::program::{Access, FieldId, FieldRole, Program};

const BLOCK_NAMES: [&str; 3] = ["b0", "b1", "b2"];
/// The position of the stream.
const POSITION: &str = "c";
/// The warp.
const MEMBER: &str = "w";
/// The first row and the first column of a block.
const FIRST_ROW: &str = "y0";
const FIRST_COLUMN: &str = "x0";

/// Index of a storage: the planes that a warp keeps of each level, those on their way from the arrays, and the first and the
/// last rows of slices, for the warp before and the one behind.
const RING: usize = 0;
const FEED: usize = 1;
const FIRST_ROWS: usize = 2;

/// Planes that are loaded ahead of the one that enters the pipeline.
pub(super) const AHEAD: i64 = 1;

/// The tile sizes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// Neighbouring points of a row in a lane.
    pub(super) points: i64,
    /// Neighbouring rows of a lane.
    pub(super) rows: i64,
    /// Steps of a band.
    pub(super) steps: i64,
    /// Warps of a block.
    pub(super) warps: i64,
    /// Planes that a block leaves.
    pub(super) planes: i64,
}

impl Sizes {
    /// Columns of a block, with those that it shares with its neighbours.
    pub(super) fn columns(&self) -> i64 {
        WARP * self.points
    }

    /// Points that a block shares with its neighbours along a dimension, along which the statement reads so far. Columns are so
    /// many that blocks begin where accesses do.
    pub(super) fn ghosts(&self, program: &Program, (low, high): (i64, i64), d: usize) -> (i64, i64) {
        let element = program.field(program.statements[0].target).element;
        let whole = if d == 2 { elements_at_once(self.points, element.bytes()) } else { 1 };
        let of = |reach: i64| (self.steps * reach + whole - 1) / whole * whole;
        (of(low), of(high))
    }

    /// Rows of a block, with those that it shares with its neighbours.
    pub(super) fn all_rows(&self) -> i64 {
        self.warps * self.rows
    }
}

/// A kernel for bands of up to [`Sizes::steps`] steps.
pub(super) struct Stream<'a> {
    pub(super) program: &'a Program,
    bands: Bands,
    pub(super) sizes: Sizes,
    /// How far the statement reads, per dimension: towards smaller and larger indices.
    pub(super) reach: Vec<(i64, i64)>,
    /// Of the reads in other rows, how far along the stream: the least and the greatest; none where there are no such reads, or
    /// one warp alone.
    pub(super) across: Option<(i64, i64)>,
    pub(super) field: FieldId,
    /// Whether it is for grids narrower than a block.
    pub(super) narrow: bool,
}

/// The transfers of a kernel, which are there as far as they are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    /// The first rows of a slice, and the last ones, to where other warps find them.
    GiveFirst,
    GiveLast,
    /// The rows before a slice, and those behind it, from where other warps left them.
    TakeBefore,
    TakeBehind,
    /// Boundary columns: those at the left or the right end of a block.
    Left,
    Right,
    /// Boundary rows.
    Before,
    Behind,
    /// The boundary, wherever it is.
    Edges,
    /// A plane behind the end of the band, or beside the domain.
    On,
    /// From the feed into the ring.
    Enter,
    /// From the arrays into the feed.
    Load,
    Store,
}

impl<'a> Stream<'a> {
    pub(super) fn new(program: &'a Program, bands: Bands, sizes: Sizes, narrow: bool) -> Self {
        let statement = &program.statements[0];
        let (field, reach) = (statement.target, bands::reach(program));
        let reads = statement.reads.iter().filter(|read| read.field == field && read.offset[1] != 0);
        let along: Vec<i64> = reads.map(|read| read.offset[0]).collect();
        let across = along.iter().min().copied().zip(along.iter().max().copied()).filter(|_| sizes.warps > 1);
        Stream { program, bands, sizes, reach, across, field, narrow }
    }

    /// Its transfers, in order.
    fn moves(&self) -> Vec<Move> {
        let [_, (before, behind), (left, right)] = self.reach[..] else { return Vec::new() };
        let is_there = |of: &Move| match of {
            Move::TakeBefore | Move::GiveLast => self.across.is_some() && before > 0,
            Move::TakeBehind | Move::GiveFirst => self.across.is_some() && behind > 0,
            Move::Left => !self.narrow && left > 0,
            Move::Right => !self.narrow && right > 0,
            Move::Before => !self.narrow && before > 0,
            Move::Behind => !self.narrow && behind > 0,
            Move::Edges => self.narrow,
            Move::On | Move::Enter | Move::Load | Move::Store => true,
        };
        use Move::{
            Before, Behind, Edges, Enter, GiveFirst, GiveLast, Left, Load, On, Right, Store, TakeBefore,
            TakeBehind,
        };
        let all = [
            TakeBefore, TakeBehind, Enter, GiveFirst, GiveLast, Left, Right, Before, Behind, Edges, On, Load,
            Store,
        ];
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

    /// The points of the domain along a dimension and those that it reads beside them: the first one, and the one after the last.
    fn around(&self, d: usize) -> (IntExpr, IntExpr) {
        let ((low, high), (before, after)) = (self.domain(d), self.reach[d]);
        (low - before, high + after)
    }

    /// By how much a grid is wider than a block.
    pub(super) fn wider(&self) -> IntExpr {
        let (low, high) = self.around(2);
        high - low - self.sizes.columns()
    }

    /// Points that a block shares with its neighbours along a dimension: before its own, and behind them.
    pub(super) fn ghosts(&self, d: usize) -> (i64, i64) {
        self.sizes.ghosts(self.program, self.reach[d], d)
    }

    /// Points of a block's own along a dimension.
    pub(super) fn width(&self, d: usize) -> i64 {
        let (before, behind) = self.ghosts(d);
        match d {
            0 => self.sizes.planes,
            1 => self.sizes.all_rows() - before - behind,
            _ => self.sizes.columns() - before - behind,
        }
    }

    /// The first point of those that blocks share out.
    fn origin(&self, d: usize) -> IntExpr {
        if d == 2 { self.around(2).0 } else { self.domain(d).0 }
    }

    fn is_alone_along(&self, d: usize) -> bool {
        self.narrow && d == 2
    }

    /// The first point of a block's own.
    fn own(&self, d: usize) -> IntExpr {
        if self.is_alone_along(d) {
            self.origin(d)
        } else {
            var(BLOCK_NAMES[d]) * self.width(d) + self.origin(d)
        }
    }

    /// Planes from one level to the next one.
    pub(super) fn lag(&self) -> i64 {
        let up = self.reach[0].1;
        self.across.map_or(up, |(_, greatest)| up.max(greatest + 1))
    }

    /// What a block needs in dimension `d` of the level after so many stages.
    fn interval(&self, stage: &IntExpr, d: usize) -> Range {
        let (low, high) = self.reach[d];
        let steps = self.sizes.steps;
        self.clipped(d, stage.clone() * low - steps * low, stage.clone() * high - steps * high)
    }

    /// What a block loads in dimension `d`.
    fn loaded(&self, d: usize) -> Range {
        let (before, behind) = self.ghosts(d);
        self.clipped(d, int(-before), int(-behind))
    }

    /// A block's own points in dimension `d` without so many at both ends, as far as there is something to know.
    fn clipped(&self, d: usize, before: IntExpr, behind: IntExpr) -> Range {
        if self.is_alone_along(d) {
            let first = self.around(d).0;
            return Range { low: first.clone(), high: first + (self.sizes.columns() - 1) };
        }
        let needed = Range { low: self.own(d) + before, high: self.own(d) - behind + (self.width(d) - 1) };
        if d == 0 {
            return needed;
        }
        let (first, end) = self.around(d);
        Range { low: needed.low.max(first), high: needed.high.min(end - 1) }
    }

    /// What a block needs of some rows of a plane.
    fn of_plane(&self, stage: &IntExpr, plane: &IntExpr, rows: &Range) -> Vec<Range> {
        let one = Range { low: plane.clone(), high: plane.clone() };
        let needed = |d: usize| self.interval(stage, d);
        vec![both(needed(0), &one), both(needed(1), rows), needed(2)]
    }

    /// So many rows of a slice from one on, counted from its first one.
    fn rows(&self, from: i64, count: i64) -> Range {
        let first = self.first_row() + from;
        Range { low: first.clone(), high: first + (count - 1) }
    }

    fn slice(&self) -> Range {
        self.rows(0, self.sizes.rows)
    }

    /// The first row of a warp's slice.
    fn first_row(&self) -> IntExpr {
        var(FIRST_ROW) + var(MEMBER) * self.sizes.rows
    }

    /// So many columns of some rows of a plane from one on, counted from that of the first lane.
    fn columns(plane: &IntExpr, rows: &Range, from: i64, count: i64) -> Vec<Range> {
        let first = var(FIRST_COLUMN) + from;
        let columns = Range { low: first.clone(), high: first + (count - 1) };
        vec![Range { low: plane.clone(), high: plane.clone() }, rows.clone(), columns]
    }

    /// Some rows of a plane, as the lanes have them.
    fn lanes(&self, plane: &IntExpr, rows: &Range) -> Vec<Range> {
        Self::columns(plane, rows, 0, self.sizes.columns())
    }

    /// The first row of a block, and its first column, in the grid.
    fn corner(&self) -> [Binding; 2] {
        let row = self.own(1) - self.ghosts(1).0;
        let (first, end) = self.around(2);
        let column = match self.narrow {
            true => first,
            false => (self.own(2) - self.ghosts(2).0).max(first).min(end - self.sizes.columns()),
        };
        let binding = |name, value, comment: &str| Binding { name, value, comment: comment.to_owned() };
        [
            binding(FIRST_ROW, row, "first row of the block"),
            binding(FIRST_COLUMN, column, "first column of the block"),
        ]
    }

    /// The first position: some later the first plane that is loaded enters.
    fn first_position(&self) -> IntExpr {
        self.interval(&int(0), 0).low - AHEAD
    }

    /// The plane of the level after so many steps that is computed at a position.
    fn plane_after(&self, steps: &IntExpr) -> IntExpr {
        var(POSITION) - steps.clone() * self.lag()
    }

    fn group() -> IntExpr {
        var(bands::ROW)
    }

    fn ring(level: IntExpr) -> Place {
        Place::Copy(RING, vec![var(MEMBER), level])
    }

    pub(super) fn storages(&self) -> Vec<Storage> {
        let Sizes { points, rows, steps, warps, .. } = self.sizes;
        let [(down, _), (before, behind), _] = self.reach[..] else { return Vec::new() };
        let extent = self.sizes.columns();
        let storage = |name: &str, comment: &str, copies, axes| Storage {
            name: name.to_owned(),
            comment: comment.to_owned(),
            field: self.field,
            planes: 1,
            copies,
            axes,
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
                vec![planes(down + self.lag() + 1), with_beside, lanes],
            ),
            storage(
                "feed",
                "planes on their way from the arrays",
                vec![warps],
                vec![planes(1 + AHEAD), slice, shared()],
            ),
        ];
        if let Some((_, greatest)) = self.across {
            let edge = |name: &str, comment: &str, rows: i64| {
                let rows = Axis::Ring { first: var(FIRST_ROW), extent: rows };
                let axes = vec![planes(self.lag() - greatest + 1), rows, shared()];
                storage(name, comment, vec![warps, steps], axes)
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

    /// A transfer of the same kernel as a supplier.
    fn moved(&self, of: Move, at: &[(&'static str, IntExpr)]) -> Option<Supplier> {
        let part = Part::Transfer(self.index_of(of)?);
        Some(Supplier { kernel: None, part, at: at.to_vec() })
    }

    /// Who puts a value of a level into a warp's ring, by its plane: the step before, or who brings the first level; and, if
    /// rows beside the slice are read, who takes them there.
    fn suppliers(&self, level: &IntExpr, beside: bool) -> Vec<Supplier> {
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

    fn out_of_ring(&self, level: &IntExpr, beside: bool) -> Read {
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
        let store = self.index_of(Move::Store).unwrap_or_default();
        Supplier { kernel: Some(kernel), part: Part::Transfer(store), at }
    }

    /// The level after so many stages of a band, or its last one.
    fn level_after(&self, stage: &IntExpr) -> IntExpr {
        (self.bands.first() + stage.clone()).min(self.bands.last())
    }

    /// When a step of the band computes a plane.
    fn runs(&self, plane: &IntExpr) -> Vec<IntExpr> {
        let (low, high) = self.domain(0);
        vec![self.bands.last() - 1 - self.step(), plane.clone() - low, high - 1 - plane.clone()]
    }

    /// From one place of the block to another one: what a block needs of some rows of a plane of the level after so many stages.
    fn within(
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
    fn with_all_columns(&self, mut loaded: Transfer) -> Transfer {
        let lanes = loaded.junk.as_ref().and_then(|lanes| lanes.get(2)).filter(|_| !self.narrow);
        loaded.ranges[2] = lanes.cloned().unwrap_or_else(|| self.loaded(2));
        loaded
    }

    /// A plane of the ring, copied on to the next level.
    fn on(&self, comment: &str, level: IntExpr) -> Transfer {
        let (here, next) = (Self::group(), Self::group() + 1);
        let plane = self.plane_after(&next);
        let from = self.out_of_ring(&here, false);
        let whole = self.within(comment, (&next, &plane, &self.slice()), from, Self::ring(next.clone()));
        Transfer { level, ..whole }
    }

    /// The boundary in a box.
    fn boundary(&self, comment: &str, of: Vec<Range>, when: Vec<IntExpr>) -> Transfer {
        let whole = self.on(comment, self.step() + 1);
        let ranges = whole.ranges.into_iter().zip(&of).map(|(own, of)| both(own, of)).collect();
        let when = [self.runs(&self.plane_after(&(Self::group() + 1))), when].concat();
        Transfer { region: Region::Boundary, when, ranges, junk: Some(of), ..whole }
    }

    /// To where other warps find it, and from there.
    fn beside(&self, of: Move) -> Transfer {
        let (level, rows) = (Self::group(), self.sizes.rows);
        let [_, (before, behind), _] = self.reach[..] else { return self.on("", int(0)) };
        let (member, last) = (var(MEMBER), self.sizes.warps - 1);
        let greatest = self.across.map_or(0, |(_, greatest)| greatest);
        let newest = self.plane_after(&level);
        let taken = self.plane_after(&(level.clone() + 1)) + greatest;
        let gives = matches!(of, Move::GiveFirst | Move::GiveLast);
        // Either is there where somebody reads its rows.
        let last_rows_of = FIRST_ROWS + usize::from(behind > 0);
        // Copies belong to those who take them.
        let (comment, rows, storage, copy, other) = match of {
            Move::GiveFirst => {
                ("the slice's first rows", self.rows(0, behind), FIRST_ROWS, member.clone() - 1, 0)
            }
            Move::GiveLast => {
                let last_rows = self.rows(rows - before, before);
                ("the slice's last rows", last_rows, last_rows_of, member.clone() + 1, 0)
            }
            Move::TakeBehind => {
                ("the rows behind the slice", self.rows(rows, behind), FIRST_ROWS, member.clone(), 1)
            }
            _ => ("the rows before the slice", self.rows(-before, before), last_rows_of, member.clone(), -1),
        };
        // The first warp and the last one take junk: what a register keeps where nothing is taken, it keeps for long.
        let when = match of {
            Move::GiveFirst => vec![member.clone() - 1],
            Move::GiveLast => vec![int(last - 1) - member.clone()],
            _ => Vec::new(),
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
        Transfer {
            when,
            moment: Moment::Before(0),
            ..self.within(comment, (&level, &plane, &rows), from, to)
        }
    }

    fn transfer(&self, of: Move, stored: &[Supplier]) -> Transfer {
        let next = Self::group() + 1;
        let plane = self.plane_after(&next);
        let slice = self.slice();
        let (first, end) = self.domain(1);
        let first_group = vec![int(0) - Self::group()];
        match of {
            Move::GiveFirst | Move::GiveLast | Move::TakeBefore | Move::TakeBehind => self.beside(of),
            Move::Left => {
                let columns = Self::columns(&plane, &slice, 0, self.reach[2].0);
                self.boundary("the boundary on the left", columns, Vec::new())
            }
            Move::Right => {
                let right = self.reach[2].1;
                let columns = Self::columns(&plane, &slice, self.sizes.columns() - right, right);
                self.boundary("the boundary on the right", columns, Vec::new())
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
                let from = Read { place: Place::Arrays(self.bands.input()), suppliers: stored.to_vec() };
                let to = Place::Copy(FEED, vec![var(MEMBER)]);
                let loaded = var(POSITION) + AHEAD;
                let loads = self.within(&comment, (&int(0), &loaded, &slice), from, to);
                self.with_all_columns(Transfer { when: first_group, ..loads })
            }
            Move::Store => {
                let steps = int(self.sizes.steps);
                let from = self.out_of_ring(&steps, false);
                let to = Place::Arrays(self.bands.output());
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

    /// The step of a stage.
    fn step(&self) -> IntExpr {
        self.bands.first() + Self::group()
    }

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

/// What two intervals have in common.
fn both(a: Range, b: &Range) -> Range {
    Range { low: a.low.max(b.low.clone()), high: a.high.min(b.high.clone()) }
}
