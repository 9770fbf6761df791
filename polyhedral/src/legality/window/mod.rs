//! Windows hold what the arrays would hold, for kernels whose blocks keep a window of the arrays ([`crate::sweep`]).
//!
//! The schedule's proof shows that the rows are right if they work on the arrays: whatever a row reads, the last write
//! to that cell of the arrays in the order of execution made the value, and blocks of one launch neither write what
//! another one reads or writes. What is left to show is that a read of the window sees the cell of the arrays: a cell is
//! `(field, slot, point)`. With a sweep of positions `c = C .. C'`, `F(c)` the first point of the window, `E` its extents,
//! `s` its slide along the last dimension, and `k` the number of columns that stay:
//!
//! 1. **Places.** `|x_d| < E_d` and `sum of strides_d * x_d = 0` imply `x = 0`: two points of a plane have two cells. Group
//!    `m` uses plane `(m + shift) mod slots` for level `l`, and `first step + m + shift = l + levels - 1 (mod slots)`: so
//!    planes are slots, `(first step + plane) mod slots`, one for one.
//! 2. **Stays.** `F(c + 1) = F(c) + s` along the last dimension, `F(c + 1) = F(c)` along the others. A point that is in the
//!    window at `c` and `c + 1` lies at `c` in one of the columns `s .. s + k`, which move to `0 .. k`; and whatever lies
//!    in `0 .. k` at `c + 1` was in the window at `c`. By induction a point that is in the window at `c` has entered
//!    it at the least `e >= C` where it lies before its end, there in a column that is loaded (all of them at `C`, those
//!    from `k` on later), and has been in its cell ever since.
//! 3. **Inside.** The points that a row reads or writes are in the window.
//! 4. **Loads first.** No point that is in the window at `c` lies in a column that is loaded at a later position. So no load
//!    comes after a write of its cell in the sweep, or twice; and by 6 the arrays have, between sweeps, the last
//!    value of every cell. What is loaded is therefore what the arrays held when the sweep began, and what they
//!    should hold until the sweep writes. Loaded cells exist, and their points are on the grid.
//! 5. **Found.** If the last write to the cell that a row reads is of this sweep, its instance is known: that of the statement
//!    in whose domain the point is, one step before the level. It is of this sweep if its group exists, its time step exists,
//!    and its row has the point along all dimensions but the last (along the last one, the positions' parts of a row follow
//!    each other without gaps from one end of the domain to the other); then it is shown to come before the reader. For
//!    every read where it is not, the point is in a box that is loaded, on whichever way the position `e` loads: no pair
//!    `(read, e)` has neither.
//! 6. **Stored.** For every value that is left out, the same statement's row of the later group has the point, its time
//!    step exists, the group and a position of the sweep exist, and it writes to the same slot. Groups ascend, so
//!    that the last write to each cell in a sweep is stored.
//!
//! Full and clipped tiles are one: rows are clipped to the domains and to existing time steps, and the proof of full tiles
//! shows that this changes nothing there.
//!
//! Each statement is the emptiness of its negation. Sizes, numbers of steps, of blocks and of positions are unknown; windows
//! and boxes are constant relative to the position.

mod error;

use super::flow::text::{all, any, later_or_equal, renamed};
use super::space::{Space, Union};
use super::{LegalityError, Problem};
use crate::isl::{Context, IslError};
use crate::program::{Access, FieldId, FieldRole, Program};
use crate::sweep::{CellBox, Plane, Row, Sweep};
pub use error::{WindowError, WindowKind};
use std::collections::{BTreeMap, BTreeSet};

/// Proves all of the above; returns how many sets were shown to be empty.
pub fn proved(context: &Context, program: &Program, sweep: &Sweep) -> Result<usize, LegalityError> {
    well_formed(program, sweep)?;
    let proof = WindowProof::new(context, program, sweep)?;
    proof.places()?;
    for row in &sweep.rows {
        proof.planes(row)?;
        proof.inside(row)?;
    }
    proof.stays()?;
    proof.loads_first()?;
    for (at, row) in sweep.rows.iter().enumerate() {
        proof.without_gaps(row)?;
        proof.in_order(at, row)?;
        proof.found(row)?;
        proof.stored(row)?;
    }
    Ok(proof.space.shown_empty())
}

/// Whether everything has as many entries as the program says.
fn well_formed(program: &Program, sweep: &Sweep) -> Result<(), LegalityError> {
    let dimension = program.dimension();
    let window = &sweep.window;
    let of_boxes = dimension - usize::from(sweep.positions.is_some());
    let boxes = sweep.planes.iter().flat_map(|plane| {
        let clipped = plane.clipped.iter().flat_map(|live| live.usual.iter().chain(&live.early));
        plane.live_in.iter().chain(&plane.read).chain(clipped)
    });
    let fits = [window.first.len(), window.extent.len(), window.strides.len()] == [dimension; 3]
        && boxes.into_iter().all(|cells| cells.len() == of_boxes)
        && window.slide.is_some() == sweep.positions.is_some();
    let malformed =
        |piece: usize, message: &str| LegalityError::Malformed { piece, message: message.to_owned() };
    if !fits {
        return Err(malformed(0, &format!("the window of kernel {} has the wrong dimension", sweep.kernel)));
    }
    for (at, row) in sweep.rows.iter().enumerate() {
        let statement = program.statements.get(row.statement);
        let reads = statement.map(|statement| statement.reads.len());
        if reads != Some(row.reads.len()) || [row.lows.len(), row.highs.len()] != [dimension; 2] {
            return Err(malformed(at, "it does not say of every read in which plane of the window it is"));
        }
    }
    Ok(())
}

struct WindowProof<'a> {
    program: &'a Program,
    sweep: &'a Sweep,
    space: Space<'a>,
    /// The dimension along which the window slides.
    sliding: Option<usize>,
    /// All sweeps, and more.
    sweeps: Union<'a>,
}

/// What an error is about.
struct Finding<'a> {
    kind: WindowKind,
    row: Option<&'a Row>,
    access: &'a str,
}

/// Marks of the position at which a cell enters, and of a row that writes it.
const ENTERING: &str = "_e";
const WRITING: &str = "_w";

impl<'a> WindowProof<'a> {
    fn new(context: &'a Context, program: &'a Program, sweep: &'a Sweep) -> Result<Self, IslError> {
        let dimension = program.dimension();
        let mut coordinates = sweep.fixed.clone();
        for name in sweep.positions.iter().map(|positions| &positions.variable) {
            coordinates.extend(["", ENTERING, WRITING].map(|mark| format!("{name}{mark}")));
        }
        coordinates.extend(["", WRITING].map(|mark| format!("{}{mark}", sweep.group)));
        coordinates
            .extend(["p", "q"].iter().flat_map(|name| (0..dimension).map(move |d| format!("{name}{d}"))));
        let space = Space::new(context, dimension, coordinates);
        let sweeps =
            space.set(&all(["steps >= 1".to_owned()].into_iter().chain(sweep.facts.iter().cloned())))?;
        let sliding = sweep.positions.is_some().then_some(dimension - 1);
        Ok(WindowProof { program, sweep, space, sliding, sweeps })
    }

    /// Shows that a set is empty, without or with the constraints that are seldom needed.
    fn none(&self, set: Union<'a>, finding: &Finding) -> Result<(), LegalityError> {
        let rest = self.space.not_empty(set)?;
        if rest.is_empty() {
            return Ok(());
        }
        let rest = self.space.within(&rest, &all(self.sweep.definitions.iter().cloned()))?;
        match self.space.not_empty(rest)?.first() {
            None => Ok(()),
            Some(part) => Err(self.error(&part.to_set()?, finding)?),
        }
    }

    fn error(&self, set: &crate::isl::Set<'a>, finding: &Finding) -> Result<LegalityError, IslError> {
        let Some(sample) = set.sample()? else {
            return Err(IslError::Failed { message: "no sample of a set that is not empty".to_owned() });
        };
        let value = |name: &str| {
            sample.parameters.iter().find(|(parameter, _)| parameter == name).map_or(0, |(_, value)| *value)
        };
        let at = self.space.coordinates.iter().cloned().zip(sample.dimensions.iter().copied());
        Ok(LegalityError::Window(Box::new(WindowError {
            kind: finding.kind,
            kernel: self.sweep.kernel.clone(),
            statement: finding.row.map(|row| self.program.statement_name(row.statement)),
            access: finding.access.to_owned(),
            at: at.collect(),
            problem: Problem {
                steps: value("steps"),
                size: (0..self.dimension()).map(|d| value(&format!("n{d}"))).collect(),
            },
        })))
    }

    fn dimension(&self) -> usize {
        self.program.dimension()
    }

    /// The dimensions along which the window does not slide.
    fn fixed_dimensions(&self) -> impl Iterator<Item = usize> {
        let sliding = self.sliding;
        (0..self.dimension()).filter(move |&d| Some(d) != sliding)
    }

    fn levels(&self, field: FieldId) -> (i64, i64) {
        match self.program.field(field).role {
            FieldRole::State { levels, slots } => (levels as i64, slots as i64),
            FieldRole::Coefficient => (1, 1),
        }
    }

    /// A text about another position.
    fn at(&self, text: &str, mark: &str) -> String {
        self.moved(text, &|name| format!("{name}{mark}"))
    }

    fn moved(&self, text: &str, to: &dyn Fn(&str) -> String) -> String {
        let Some(positions) = &self.sweep.positions else { return text.to_owned() };
        renamed(text, &|name| (name == positions.variable).then(|| to(name)))
    }

    /// A text about another group.
    fn in_group(&self, text: &str, mark: &str) -> String {
        renamed(text, &|name| (name == self.sweep.group).then(|| format!("{name}{mark}")))
    }

    /// A text about the point `p`, for `q`.
    fn of_point_read(&self, text: &str) -> String {
        let point: Vec<String> = (0..self.dimension()).map(|d| format!("p{d}")).collect();
        renamed(text, &|name| point.iter().position(|own| own == name).map(|d| format!("q{d}")))
    }

    /// The name of the position, with a mark.
    fn position(&self, mark: &str) -> String {
        self.sweep.positions.as_ref().map_or("0".to_owned(), |own| format!("{}{mark}", own.variable))
    }

    /// That a position is one of the sweep.
    fn in_sweep(&self, mark: &str) -> String {
        let bounds = self.sweep.positions.iter().flat_map(|own| own.from.iter().chain(&own.until));
        all(bounds.map(|text| self.at(text, mark)))
    }

    /// That the position before is one of the sweep: this one is not the first.
    fn not_first(&self, mark: &str) -> String {
        let bounds = self.sweep.positions.iter().flat_map(|own| &own.from);
        all(bounds.map(|text| self.moved(text, &|name| format!("({name}{mark} - 1)"))))
    }

    fn in_groups(&self, mark: &str) -> String {
        let (first, last) = self.sweep.groups;
        format!("{first} <= {}{mark} <= {last}", self.sweep.group)
    }

    fn in_domain(&self, statement: usize, point: &str) -> String {
        all(self.program.point_constraints(statement, &|d| format!("{point}{d}")))
    }

    /// Along one dimension, the column of a point in the window.
    fn column(&self, d: usize, point: &str, mark: &str) -> String {
        format!("{point}{d} - ({})", self.at(&self.sweep.window.first[d], mark))
    }

    fn in_columns(&self, d: usize, point: &str, mark: &str, (low, end): (i64, i64)) -> String {
        format!("{low} <= {} < {end}", self.column(d, point, mark))
    }

    /// That a point is in the window, along one dimension.
    fn in_window(&self, d: usize, point: &str, mark: &str) -> String {
        self.in_columns(d, point, mark, (0, self.sweep.window.extent[d]))
    }

    /// That a point is in one of the boxes, along the dimensions along which the window does not slide.
    fn in_boxes(&self, boxes: &[CellBox], point: &str) -> String {
        let sides = |cells: &CellBox| {
            let pairs = self.fixed_dimensions().zip(cells);
            all(pairs.map(|(d, (low, high))| self.in_columns(d, point, "", (*low, high + 1))))
        };
        any(boxes.iter().map(sides))
    }

    /// The bounds of a row along one dimension, for the point `p`.
    fn sides(row: &Row, d: usize) -> impl Iterator<Item = &String> {
        row.lows[d].iter().chain(&row.highs[d])
    }

    /// That a row executes the point `p`.
    fn executes(&self, row: &Row) -> String {
        let sides = (0..self.dimension()).flat_map(|d| Self::sides(row, d)).cloned();
        all(sides.chain([
            self.in_sweep(""),
            self.in_groups(""),
            format!("0 <= {} < steps", row.step),
            self.in_domain(row.statement, "p"),
        ]))
    }

    /// Reads of a statement with their planes, and what it writes as the last one.
    fn accesses(&self, row: &Row) -> Vec<(Access, i64)> {
        let statement = &self.program.statements[row.statement];
        let write = Access { field: statement.target, time: 1, offset: vec![0; self.dimension()] };
        let accesses = statement.reads.iter().cloned().chain([write]);
        accesses.zip(row.reads.iter().copied().chain([row.writes])).collect()
    }

    /// Two points of a plane have two cells.
    fn places(&self) -> Result<(), LegalityError> {
        let window = &self.sweep.window;
        let distance = |d: usize| format!("p{d} - q{d}");
        let near = (0..self.dimension()).map(|d| format!("-{0} < {1} < {0}", window.extent[d], distance(d)));
        let address = (0..self.dimension()).map(|d| format!("{}*({})", window.strides[d], distance(d)));
        let address = format!("{} = 0", address.collect::<Vec<_>>().join(" + "));
        let apart = any((0..self.dimension()).map(|d| format!("p{d} != q{d}")));
        let set = self.space.within(&self.sweeps, &all(near.chain([address, apart])))?;
        let finding = Finding { kind: WindowKind::OneCell, row: None, access: "a point" };
        self.none(set, &finding)
    }

    /// Groups are time steps, and planes the slots of their levels.
    fn planes(&self, row: &Row) -> Result<(), LegalityError> {
        let (group, step) = (&self.sweep.group, &row.step);
        let advance = [
            format!("{group}{WRITING} = {group} + 1"),
            format!("{} != ({step}) + 1", self.in_group(step, WRITING)),
        ];
        let kind = WindowKind::WrongPlane;
        let finding = Finding { kind, row: Some(row), access: "the time step" };
        self.none(self.space.within(&self.sweeps, &all(advance))?, &finding)?;
        for (access, shift) in self.accesses(row) {
            let (levels, slots) = self.levels(access.field);
            if slots == 1 {
                continue;
            }
            let slot = format!("({step}) + {}", access.time + levels - 1);
            let plane = format!("({}) + {group} + {shift}", self.sweep.first_step);
            let differ = format!("(({slot}) - ({plane})) mod {slots} >= 1");
            let set = self.space.within(&self.sweeps, &all([self.in_groups(""), differ]))?;
            let access = self.program.access_source(&access);
            self.none(set, &Finding { kind, row: Some(row), access: &access })?;
        }
        Ok(())
    }

    /// What a row reads and writes is in the window.
    fn inside(&self, row: &Row) -> Result<(), LegalityError> {
        let executed = self.space.within(&self.sweeps, &self.executes(row))?;
        for d in 0..self.dimension() {
            // The first and the last point along each dimension decide.
            let accesses = self.accesses(row);
            let ends = [
                accesses.iter().min_by_key(|(access, _)| access.offset[d]),
                accesses.iter().max_by_key(|(access, _)| access.offset[d]),
            ];
            for (access, _) in ends.into_iter().flatten() {
                let point = format!("q{d} = p{d} + {}", access.offset[d]);
                for side in ["< 0".to_owned(), format!(">= {}", self.sweep.window.extent[d])] {
                    let beyond = format!("{} {side}", self.column(d, "q", ""));
                    let set = self.space.within(&executed, &all([point.clone(), beyond]))?;
                    let access = self.program.access_source(access);
                    self.none(set, &Finding { kind: WindowKind::Outside, row: Some(row), access: &access })?;
                }
            }
        }
        Ok(())
    }

    /// Cells that are kept stay the same points'.
    fn stays(&self) -> Result<(), LegalityError> {
        let Some(sliding) = self.sliding else { return Ok(()) };
        let window = &self.sweep.window;
        let (slide, kept) = (window.slide.unwrap_or(0), window.kept);
        let first = |d: usize, mark: &str| self.at(&window.first[d], mark);
        let next = format!("{} = {} + 1", self.position(WRITING), self.position(""));
        let next =
            self.space.within(&self.sweeps, &all([self.in_sweep(""), self.in_sweep(WRITING), next]))?;
        // That one does not slide backwards is needed to say when a point enters.
        let slides = format!("{} != ({}) + {slide}", first(sliding, WRITING), first(sliding, ""));
        let slides = if slide > 0 { slides } else { "1 = 1".to_owned() };
        let others = self.fixed_dimensions().map(|d| format!("{} != ({})", first(d, WRITING), first(d, "")));
        let not_moved = [
            self.in_window(sliding, "q", ""),
            self.in_window(sliding, "q", WRITING),
            format!("not ({})", self.in_columns(sliding, "q", "", (slide, slide + kept))),
        ];
        let not_there = [
            self.in_columns(sliding, "q", WRITING, (0, kept)),
            format!("not ({})", self.in_window(sliding, "q", "")),
        ];
        // A read as an example.
        let row = self.sweep.rows.first();
        let read = row
            .and_then(|row| self.accesses(row).first().map(|(access, _)| self.program.access_source(access)));
        let finding =
            Finding { kind: WindowKind::NotKept, row, access: read.as_deref().unwrap_or("a point") };
        for wrong in others.chain([slides, all(not_moved), all(not_there)]) {
            self.none(self.space.within(&next, &wrong)?, &finding)?;
        }
        Ok(())
    }

    /// No load comes after a write of its cell; loaded cells exist, and their points are on the grid.
    fn loads_first(&self) -> Result<(), LegalityError> {
        let window = &self.sweep.window;
        if let Some(sliding) = self.sliding {
            let late = all([
                self.in_sweep(""),
                self.in_sweep(ENTERING),
                format!("{} < {}", self.position(""), self.position(ENTERING)),
                self.in_window(sliding, "q", ""),
                self.in_columns(sliding, "q", ENTERING, (window.kept, window.extent[sliding])),
            ]);
            let finding = Finding { kind: WindowKind::LoadedLate, row: None, access: "a load" };
            self.none(self.space.within(&self.sweeps, &late)?, &finding)?;
        }
        let exact = self.space.within(&self.sweeps, &self.loads_exactly())?;
        for plane in &self.sweep.planes {
            let load = self.load_name(plane);
            for cells in plane.live_in.iter().chain(&plane.read) {
                let beyond = self.fixed_dimensions().zip(cells);
                let beyond = any(
                    beyond.map(|(d, (low, high))| format!("{low} < 0 or {high} >= {}", window.extent[d]))
                );
                let finding = Finding { kind: WindowKind::Outside, row: None, access: &load };
                self.none(self.space.set(&beyond)?, &finding)?;
            }
            let cells = self.space.within(&exact, &self.in_boxes(&plane.live_in, "q"))?;
            let finding = Finding { kind: WindowKind::OffGrid, row: None, access: &load };
            for side in (0..self.dimension()).flat_map(|d| [format!("q{d} < 0"), format!("q{d} >= n{d}")]) {
                self.none(self.space.within(&cells, &side)?, &finding)?;
            }
        }
        Ok(())
    }

    fn load_name(&self, plane: &Plane) -> String {
        format!("a load of {}, plane {},", self.program.field(plane.field).name, plane.number)
    }

    /// That the point `q` enters the window at a position that brings what is live in alone.
    fn loads_exactly(&self) -> String {
        let conditions = self.sweep.full.iter().chain(&self.sweep.exact).map(|text| self.at(text, ENTERING));
        let window = &self.sweep.window;
        let enters = self.sliding.map(|d| self.in_columns(d, "q", ENTERING, (window.kept, window.extent[d])));
        all(conditions.chain([self.in_sweep(ENTERING), self.not_first(ENTERING)]).chain(enters))
    }

    /// The parts of a row at the positions of a sweep leave no point of its domain out: the first one begins with
    /// the domain or before it, each following one where the one before ends or earlier, and the last one ends with the
    /// domain or after it.
    fn without_gaps(&self, row: &Row) -> Result<(), LegalityError> {
        let (Some(d), Some(positions)) = (self.sliding, &self.sweep.positions) else { return Ok(()) };
        let not = |texts: &[String], mark: &str| {
            format!("not ({})", all(texts.iter().map(|text| self.at(text, mark))))
        };
        let beside = |texts: &[String], by: &str| {
            let moved = texts.iter().map(|text| self.moved(text, &|name| format!("({name} {by})")));
            format!("not ({})", all(moved))
        };
        let own = |texts: &[String]| all(texts.iter().cloned());
        let (lows, highs) = (&row.lows[d], &row.highs[d]);
        let next = format!("{} = {} + 1", self.position(WRITING), self.position(""));
        let domain = self.in_domain(row.statement, "p");
        let gaps = [
            [own(&positions.from), beside(&positions.from, "- 1"), domain.clone(), not(lows, "")],
            [self.in_sweep(""), all([self.in_sweep(WRITING), next]), not(highs, ""), not(lows, WRITING)],
            [own(&positions.until), beside(&positions.until, "+ 1"), domain, not(highs, "")],
        ];
        let rows = self.space.within(&self.sweeps, &self.in_groups(""))?;
        let access =
            self.accesses(row).pop().map_or(String::new(), |(write, _)| self.program.access_source(&write));
        for gap in gaps {
            let finding = Finding { kind: WindowKind::Gap, row: Some(row), access: &access };
            self.none(self.space.within(&rows, &all(gap))?, &finding)?;
        }
        Ok(())
    }

    /// That the row of the same point `q` which makes the value that is read belongs to a group of the tile: its group,
    /// and the conditions that it belongs to the sweep, each by itself.
    fn supplier(&self, reader: &Row, access: &Access, writer: &Row) -> (String, Vec<String>) {
        let step = self.in_group(&writer.step, WRITING);
        let makes = format!("({step}) + 1 = ({}) + {}", reader.step, access.time);
        let bounds = self.fixed_dimensions().flat_map(|d| Self::sides(writer, d));
        let sides = bounds.map(|text| self.of_point_read(&self.in_group(text, WRITING)));
        let exists = [self.in_groups(WRITING), format!("0 <= {step} < steps")];
        (makes, exists.into_iter().chain(sides).collect())
    }

    /// The rows of the kernel that compute a statement.
    fn rows_of(&self, statement: usize) -> impl Iterator<Item = (usize, &'a Row)> {
        let sweep: &'a Sweep = self.sweep;
        sweep.rows.iter().enumerate().filter(move |(_, row)| row.statement == statement)
    }

    /// A row of the sweep that makes what a row reads comes before it.
    fn in_order(&self, at: usize, row: &Row) -> Result<(), LegalityError> {
        let mut reads: BTreeMap<(FieldId, i64), Vec<Access>> = BTreeMap::new();
        for access in &self.program.statements[row.statement].reads {
            reads.entry((access.field, access.time)).or_default().push(access.clone());
        }
        let group = &self.sweep.group;
        for ((field, _), accesses) in reads {
            for (statement, _) in self.program.writers_of(field) {
                for (index, writer) in self.rows_of(statement) {
                    let (makes, exists) = self.supplier(row, &accesses[0], writer);
                    let place = |mark: &str, row: usize| {
                        [self.position(mark), format!("{group}{mark}"), row.to_string()]
                    };
                    let late = later_or_equal(&place(WRITING, index), &place("", at));
                    let along = |d: usize| {
                        let own = Self::sides(row, d).cloned();
                        let there = Self::sides(writer, d).map(|text| self.in_group(text, WRITING));
                        let there = there.map(|text| self.of_point_read(&self.at(&text, WRITING)));
                        all(own.chain(there))
                    };
                    let sliding = self.sliding.map_or("1 = 1".to_owned(), along);
                    let both = all([
                        self.in_sweep(""),
                        self.in_sweep(WRITING),
                        self.in_groups(""),
                        self.in_groups(WRITING),
                        makes.clone(),
                        sliding,
                        late,
                    ]);
                    // All reads at once, along the dimension in which the window slides; then each by itself.
                    let hull = self.sliding.map_or("1 = 1".to_owned(), |d| around(&accesses, d));
                    let set = self.space.within(&self.sweeps, &all([both.clone(), hull]))?;
                    if self.space.not_empty(set)?.is_empty() {
                        continue;
                    }
                    for access in &accesses {
                        let own = std::slice::from_ref(access);
                        let points = (0..self.dimension()).map(|d| around(own, d));
                        let exact = all(points.chain(exists.clone()).chain([
                            both.clone(),
                            self.executes(row),
                            self.in_domain(statement, "q"),
                        ]));
                        let read = self.program.access_source(access);
                        let finding =
                            Finding { kind: WindowKind::WrittenLate, row: Some(row), access: &read };
                        self.none(self.space.within(&self.sweeps, &exact)?, &finding)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Every read finds its cell: it was loaded, or a row of the sweep has written it.
    fn found(&self, row: &Row) -> Result<(), LegalityError> {
        let executed = self.space.within(&self.sweeps, &self.executes(row))?;
        let mut reads: BTreeMap<(FieldId, i64), Vec<(Access, i64)>> = BTreeMap::new();
        let mut accesses = self.accesses(row);
        accesses.pop();
        for (access, shift) in accesses {
            reads.entry((access.field, access.time)).or_default().push((access, shift));
        }
        let dimensions: Vec<usize> = self.fixed_dimensions().collect();
        for together in reads.into_values().flat_map(|reads| in_boxes(reads, &dimensions)) {
            match self.found_at(row, &executed, &together) {
                Err(LegalityError::Window(_)) if together.len() > 1 => {
                    for access in &together {
                        self.found_at(row, &executed, std::slice::from_ref(access))?;
                    }
                }
                other => other?,
            }
        }
        Ok(())
    }

    fn found_at(
        &self,
        row: &Row,
        executed: &Union<'a>,
        accesses: &[(Access, i64)],
    ) -> Result<(), LegalityError> {
        let (access, shift) = &accesses[0];
        let same: Vec<Access> = accesses.iter().map(|(access, _)| access.clone()).collect();
        let points = all((0..self.dimension()).map(|d| around(&same, d)));
        let reading = self.space.within(executed, &points)?;
        let (_, slots) = self.levels(access.field);
        let name = self.program.access_source(access);
        let finding = Finding { kind: WindowKind::NotFound, row: Some(row), access: &name };
        for number in 0..slots {
            let group = &self.sweep.group;
            let of_plane = format!("({group} + {shift} - {number}) mod {slots} = 0");
            let of_plane = if slots == 1 { "1 = 1".to_owned() } else { of_plane };
            let reading = self.space.not_empty(self.space.within(&reading, &of_plane)?)?;
            if reading.is_empty() {
                continue;
            }
            let own = |plane: &&Plane| plane.field == access.field && plane.number == number;
            let none = Plane {
                field: access.field,
                number,
                live_in: Vec::new(),
                read: Vec::new(),
                clipped: Vec::new(),
            };
            let plane = self.sweep.planes.iter().find(own).unwrap_or(&none);
            self.none(self.not_loaded(&reading, &plane.read)?, &finding)?;
            for (writer, _) in self.program.writers_of(access.field) {
                let live = plane.clipped.iter().find(|live| live.writer == writer);
                let (usual, early) =
                    live.map_or((&[][..], &[][..]), |live| (&live.usual[..], &live.early[..]));
                let first_step = &self.sweep.first_step;
                let ways = [(format!("({first_step}) >= 0"), usual), (format!("({first_step}) < 0"), early)];
                let ways = if usual == early { vec![("1 = 1".to_owned(), usual)] } else { ways.to_vec() };
                for (when, boxes) in ways {
                    let rest = self.not_loaded(&self.space.within(&reading, &when)?, boxes)?;
                    self.written((row, access), rest, writer, &finding)?;
                }
            }
            let exact = self.space.within(&reading, &self.loads_exactly())?;
            let order = format!("{} <= {}", self.position(ENTERING), self.position(""));
            let exact = self.space.not_empty(self.space.within(&exact, &order)?)?;
            let rest = self.not_loaded(&exact, &plane.live_in)?;
            for (writer, _) in self.program.writers_of(access.field) {
                self.written((row, access), self.copy(&rest)?, writer, &finding)?;
            }
            let beyond = self.program.writers_of(access.field);
            let beyond = all(beyond.map(|(writer, _)| any(self.program.beyond_constraints(writer, "q"))));
            self.none(self.space.within(&rest, &beyond)?, &finding)?;
        }
        Ok(())
    }

    fn copy(&self, union: &Union<'a>) -> Result<Union<'a>, IslError> {
        union.iter().map(|part| part.copy()).collect()
    }

    /// The parts of a set whose point `q` is in none of the boxes.
    fn not_loaded(&self, set: &Union<'a>, boxes: &[CellBox]) -> Result<Union<'a>, IslError> {
        if boxes.is_empty() {
            return self.copy(set);
        }
        self.space.not_empty(self.space.within(set, &format!("not ({})", self.in_boxes(boxes, "q")))?)
    }

    /// The points `q` of a set which are in the domain of a statement are written by a row of the sweep.
    fn written(
        &self,
        (row, access): (&Row, &Access),
        set: Union<'a>,
        statement: usize,
        finding: &Finding,
    ) -> Result<(), LegalityError> {
        let computed = self.space.not_empty(self.space.within(&set, &self.in_domain(statement, "q"))?)?;
        if computed.is_empty() {
            return Ok(());
        }
        // Statements have one row; of several, the first has to be the one.
        let Some((_, writer)) = self.rows_of(statement).next() else { return self.none(computed, finding) };
        let (makes, exists) = self.supplier(row, access, writer);
        let computed = self.space.within(&computed, &makes)?;
        for condition in exists {
            self.none(self.space.within(&computed, &format!("not ({condition})"))?, finding)?;
        }
        Ok(())
    }

    /// What is left out, a later row of the sweep stores.
    fn stored(&self, row: &Row) -> Result<(), LegalityError> {
        let group = &self.sweep.group;
        let groups = row.left_out.groups;
        let target = self.program.statements[row.statement].target;
        let (_, slots) = self.levels(target);
        let later = |text: &str| self.in_group(text, WRITING);
        let left_out = row.left_out.constraints.iter().cloned();
        let left_out = all(left_out.chain([
            self.executes(row),
            format!("{group}{WRITING} = {group} + {groups}"),
            format!("{group}{WRITING} <= {}", self.sweep.groups.1),
        ]));
        let left_out = self.space.within(&self.sweeps, &left_out)?;
        let access =
            self.accesses(row).pop().map_or(String::new(), |(write, _)| self.program.access_source(&write));
        let finding = Finding { kind: WindowKind::NotStored, row: Some(row), access: &access };
        let sides = self.fixed_dimensions().flat_map(|d| Self::sides(row, d));
        let again = [
            self.in_groups(WRITING),
            format!("{group}{WRITING} > {group}"),
            format!("({group}{WRITING} - {group}) mod {slots} = 0"),
        ];
        for condition in again.into_iter().chain(sides.map(|text| later(text))) {
            self.none(self.space.within(&left_out, &format!("not ({condition})"))?, &finding)?;
        }
        let full = all(self.sweep.full.iter().cloned());
        for when in [full, format!("({}) + {groups} < steps", row.step)] {
            let missing = all([when, format!("({}) >= steps", later(&row.step))]);
            self.none(self.space.within(&left_out, &missing)?, &finding)?;
        }
        let Some(d) = self.sliding else { return Ok(()) };
        let before = Self::sides(row, d).map(|text| self.at(&later(text), WRITING));
        let before = all(before
            .chain([self.in_sweep(WRITING), format!("{} < {}", self.position(WRITING), self.position(""))]));
        self.none(self.space.within(&left_out, &before)?, &finding)
    }
}

/// Reads of one level in few parts, whose offsets along these dimensions fill a box each: all of them, if they do;
/// otherwise those that follow each other along the first one. Along the other dimensions, any offsets are together.
fn in_boxes(reads: Vec<(Access, i64)>, dimensions: &[usize]) -> Vec<Vec<(Access, i64)>> {
    let place = |access: &Access| dimensions.iter().map(|&d| access.offset[d]).collect::<Vec<_>>();
    let places: BTreeSet<Vec<i64>> = reads.iter().map(|(access, _)| place(access)).collect();
    let along = |at: usize| {
        let offsets = || places.iter().map(|place| place[at]);
        offsets().max().unwrap_or(0) - offsets().min().unwrap_or(0) + 1
    };
    if (0..dimensions.len()).map(along).product::<i64>() == places.len() as i64 {
        return vec![reads];
    }
    let mut lines: BTreeMap<Vec<i64>, Vec<(Access, i64)>> = BTreeMap::new();
    for read in reads {
        lines.entry(place(&read.0).split_off(1)).or_default().push(read);
    }
    let mut parts: Vec<Vec<(Access, i64)>> = Vec::new();
    for mut line in lines.into_values() {
        line.sort_by_key(|(access, _)| access.offset[dimensions[0]]);
        let ends = |part: &[(Access, i64)], next: &(Access, i64)| {
            let last = part.last().map(|(access, _)| access.offset[dimensions[0]]);
            last.is_some_and(|last| next.0.offset[dimensions[0]] > last + 1)
        };
        let mut part = Vec::new();
        for read in line {
            if ends(&part, &read) {
                parts.push(std::mem::take(&mut part));
            }
            part.push(read);
        }
        parts.push(part);
    }
    parts
}

/// Along one dimension, `q` is the point and one of these offsets, or one between them.
fn around(accesses: &[Access], d: usize) -> String {
    let offsets = || accesses.iter().map(|access| access.offset[d]);
    match (offsets().min().unwrap_or(0), offsets().max().unwrap_or(0)) {
        (low, high) if low == high => format!("q{d} = p{d} + {low}"),
        (low, high) => format!("p{d} + {low} <= q{d} <= p{d} + {high}"),
    }
}
