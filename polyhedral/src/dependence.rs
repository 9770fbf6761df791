//! Exact dependences of a program, over the storage that is really used.
//!
//! State field `f` keeps `slots` time levels; level `l` lives in slot `(l + levels - 1) mod slots`. Two
//! accesses touch the same memory cell if their slots and their points are equal. In the original order
//! `t`, then `k`, the instances of one sweep being unordered, isl finds for every access
//!
//! - **flow**: the last write of the cell before a read,
//! - **anti**: the first write of the cell after a read,
//! - **output**: the first write of the cell after a write.
//!
//! The instances of a sweep in order ([`Program::in_order`]) follow each other lexicographically; dependences between
//! them have a distance of no rows, and an offset that is lexicographically positive.
//!
//! Pairs further apart follow from these by transitivity: all writes of a cell are instances of one
//! statement (isl proves that domains of one target are disjoint) and form one chain of output dependences.
//!
//! With `[o]` the offset of an access as a free vector, all accesses of one statement to one time level
//! of one field share a single relation, so that a box of 125 reads costs isl as much as one read:
//!
//! ```text
//! { [t, s, o] -> [d] : 0 <= t < steps, 0 <= t + d < steps, s in D_this, s + o in D_writer,
//!                      (level of the write at t + d) - (level accessed at t)  =  0  mod slots }
//! ```
//!
//! The lexicographic minimum over `d >= 0` (or `-d` for flow) is the immediate dependence, and the
//! projection on `[o, d]` holds the distances of every offset.

pub use crate::isl::IslError;

use crate::domain::shifted;
use crate::draft::{comes_earlier, comes_later, never_meet};
use crate::isl::{Context, Map};
use crate::program::{Access, FieldId, Program};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// Budget of one program's dependence analysis, in isl operations; the largest shipped stencil needs
/// less than a sixtieth of it.
const BUDGET: u64 = 12_000_000;

/// Longest time of it, in seconds of the processor's time.
const MOST_SECONDS: u64 = 5;

/// Why two instances must stay in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DependenceKind {
    /// Read after write: the target reads the value that the source wrote.
    Flow,
    /// Write after read: the target overwrites what the source read.
    Anti,
    /// Write after write.
    Output,
}

impl fmt::Display for DependenceKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            DependenceKind::Flow => "flow",
            DependenceKind::Anti => "anti",
            DependenceKind::Output => "output",
        })
    }
}

/// A uniform dependence: whenever both instances exist, instance `s + offset` of the target statement,
/// `rows` logical rows later, depends on instance `s` of the source statement.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct Dependence {
    /// Why.
    pub kind: DependenceKind,
    /// Statement that must come first.
    pub source: usize,
    /// Statement that must come later.
    pub target: usize,
    /// The field whose cell they share; serialised as its index.
    #[serde(serialize_with = "field_index")]
    pub field: FieldId,
    /// Distance in logical time rows: statement `k` of time step `t` has row `K*t + k`, with `K` the
    /// number of statements.
    pub rows: i64,
    /// Target point minus source point, in grid points per dimension.
    pub offset: Vec<i64>,
}

fn field_index<S: serde::Serializer>(field: &FieldId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(field.0 as u64)
}

impl Dependence {
    /// Distance in time steps, given the program's number of statements.
    pub fn steps(&self, statements: usize) -> i64 {
        (self.rows + self.source as i64 - self.target as i64) / statements as i64
    }
}

impl fmt::Display for Dependence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Dependence { kind, source, target, rows, offset, .. } = self;
        let offset = offset.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        write!(
            formatter,
            "{kind} dependence of statement {target} on statement {source} at distance ({rows} rows; {offset})"
        )
    }
}

/// Why a program has no dependences that could be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DependenceError {
    /// A statement reads at one point the cell that the same sweep overwrites at another point.
    #[error(
        "statement {statement} overwrites, in the same sweep, cells of field {field} that other points of \
         the sweep still read: the field needs more than {slots} stored time levels"
    )]
    OverwrittenInSweep {
        /// The statement.
        statement: usize,
        /// Name of the field.
        field: String,
        /// Its number of stored levels.
        slots: usize,
    },
    /// The cell that a read finds was last written with another time level than the one asked for.
    #[error(
        "statement {statement} reads field {field} at time level t{time:+}, but with {slots} stored time \
         levels it finds a level {late} step(s) away"
    )]
    WrongLevel {
        /// The reading statement.
        statement: usize,
        /// Name of the field.
        field: String,
        /// Time level of the read, relative to `t`.
        time: i64,
        /// The field's number of stored levels.
        slots: usize,
        /// How many steps after the wanted level the found one was written.
        late: i64,
    },
    /// Two statements compute the same point of a field.
    #[error("statements {first} and {second} both compute points of field {field}")]
    Overlap {
        /// A statement.
        first: usize,
        /// Another.
        second: usize,
        /// Name of the field.
        field: String,
    },
    /// isl gave no answer.
    #[error(transparent)]
    Isl(#[from] IslError),
}

/// All immediate dependences of a program for all sizes and step counts, without duplicates, in order of
/// kind, source, target, field and distance.
///
/// # Errors
/// [`DependenceError`] where the stored time levels are too few for the accesses, or isl gives up.
pub fn dependences(program: &Program) -> Result<Vec<Dependence>, DependenceError> {
    let context = Context::new(BUDGET)?.within(MOST_SECONDS);
    disjoint(&context, program)?;
    let mut cells = Cells { context: &context, read: HashMap::new() };
    let mut found = BTreeSet::new();
    for (writer, statement) in program.statements.iter().enumerate() {
        let origin = [vec![0; program.dimension()]];
        let field = statement.target;
        let write = Group { program, writer, statement: writer, field, time: 1 };
        for (_, steps) in write.distances(&mut cells, Direction::Later, &origin)? {
            found.insert(write.dependence(DependenceKind::Output, &origin[0], steps));
        }
        for ((reader, time), offsets) in reads_of(program, field) {
            let read = Group { program, writer, statement: reader, field, time };
            read.check_sweep(&offsets)?;
            for (offset, steps) in read.distances(&mut cells, Direction::Earlier, &offsets)? {
                read.check_level(-steps)?;
                found.insert(read.dependence(DependenceKind::Flow, offset, steps));
            }
            let others = match read.overwrites_itself() {
                false => offsets,
                true if read.in_order() => offsets
                    .into_iter()
                    .filter(|offset| offset.iter().any(|&distance| distance != 0))
                    .collect(),
                true => continue,
            };
            for (offset, steps) in read.distances(&mut cells, Direction::Later, &others)? {
                found.insert(read.dependence(DependenceKind::Anti, offset, steps));
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// Shows that statements of one target compute different points, on all grids.
fn disjoint(context: &Context, program: &Program) -> Result<(), DependenceError> {
    for (second, statement) in program.statements.iter().enumerate() {
        for first in 0..second {
            if program.statements[first].target != statement.target {
                continue;
            }
            let names = |letter: &str| {
                (0..program.dimension()).map(|i| format!("{letter}{i}")).collect::<Vec<_>>().join(", ")
            };
            let inside = |k: usize| program.point_constraints(k, &|i| format!("s{i}"));
            let both = [inside(first), inside(second)].concat().join(" and ");
            if !context.set(&format!("[{}] -> {{ [{}] : {both} }}", names("n"), names("s")))?.is_empty()? {
                let field = program.field(statement.target).name.clone();
                return Err(DependenceError::Overlap { first, second, field });
            }
        }
    }
    Ok(())
}

/// The offsets at which a field is read, by reading statement and time level.
fn reads_of(program: &Program, field: FieldId) -> BTreeMap<(usize, i64), Vec<Vec<i64>>> {
    let mut groups: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (reader, statement) in program.statements.iter().enumerate() {
        for Access { time, offset, .. } in statement.reads.iter().filter(|read| read.field == field) {
            groups.entry((reader, *time)).or_default().insert(offset.clone());
        }
    }
    groups.into_iter().map(|(key, offsets)| (key, offsets.into_iter().collect())).collect()
}

/// Where to look for the write that depends on an access or on which it depends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Earlier,
    Later,
}

/// Relations that were read, by their texts: many have parts in common, and isl takes longer to read them than to intersect.
struct Cells<'c> {
    context: &'c Context,
    read: HashMap<String, Map<'c>>,
}

impl<'c> Cells<'c> {
    fn part(&mut self, text: &str) -> Result<Map<'c>, IslError> {
        if let Some(known) = self.read.get(text) {
            return known.copy();
        }
        let part = self.context.map(text)?;
        self.read.insert(text.to_owned(), part.copy()?);
        Ok(part)
    }

    /// The intersection of these.
    fn relation(&mut self, [first, second, third]: &[String; 3]) -> Result<Map<'c>, IslError> {
        self.part(first)?.intersect(&self.part(second)?)?.intersect(&self.part(third)?)
    }
}

/// Accesses of one statement to one time level of one field, and the statement that writes the field.
struct Group<'a> {
    program: &'a Program,
    writer: usize,
    statement: usize,
    field: FieldId,
    time: i64,
}

impl Group<'_> {
    fn slots(&self) -> usize {
        self.program.field(self.field).role.slots().max(1)
    }

    /// The pairs of an offset and the signed number of steps from the access to the nearest write of the same cell
    /// in this direction.
    fn distances<'o>(
        &self,
        cells: &mut Cells<'_>,
        direction: Direction,
        offsets: &'o [Vec<i64>],
    ) -> Result<Vec<(&'o [i64], i64)>, IslError> {
        let mut found = Vec::new();
        for from in [0, 1] {
            let begin_there = offsets.iter().filter(|offset| self.nearest_step(direction, offset) == from);
            let group: Vec<&'o [i64]> = begin_there.map(Vec::as_slice).collect();
            if !group.is_empty() {
                found.extend(self.distances_from(cells, direction, &group, from)?);
            }
        }
        Ok(found)
    }

    /// The least number of steps in this direction after which a write can come: 0 where the write of the same step is one
    /// in this direction.
    fn nearest_step(&self, direction: Direction, offset: &[i64]) -> i64 {
        // A statement's own write at its own point comes after its reads, but inside the same instance. Points of other
        // sweeps than those in order are not ordered.
        let same_step = match (direction, self.writer == self.statement) {
            (Direction::Earlier, true) => self.in_order() && comes_earlier(offset),
            (Direction::Later, true) => self.in_order() && comes_later(offset),
            (Direction::Earlier, false) => self.writer < self.statement,
            (Direction::Later, false) => self.writer > self.statement,
        };
        i64::from(!same_step)
    }

    fn distances_from<'o>(
        &self,
        cells: &mut Cells<'_>,
        direction: Direction,
        offsets: &[&'o [i64]],
        from: i64,
    ) -> Result<Vec<(&'o [i64], i64)>, IslError> {
        let dimension = self.program.dimension();
        let nearest = cells.relation(&self.relation(direction, from))?.lexmin()?.wrap()?.flatten()?;
        // [t, s.., o.., d] -> [o.., d]
        let distances = nearest.project_out(0, 1 + dimension)?.project_out_parameters()?.coalesce()?;
        let mut found = Vec::new();
        for &offset in offsets {
            let mut here = distances.copy()?;
            for (position, &value) in offset.iter().enumerate() {
                here = here.fix(position, value)?;
            }
            // Finite: at most `slots` values of d are congruent and nearest.
            while let Some(point) = here.sample()? {
                let steps = point.dimensions[dimension];
                found.push((offset, if direction == Direction::Later { steps } else { -steps }));
                let this = here.copy()?.fix(dimension, steps)?;
                here = here.subtract(&this)?;
            }
        }
        Ok(found)
    }

    /// `{ [t, s, o] -> [d] }`: `d` steps (at least `from`) from the access, in the direction, the cell is written; as parts
    /// whose intersection it is: what happens when, and where either statement computes points.
    fn relation(&self, direction: Direction, from: i64) -> [String; 3] {
        let dimension = self.program.dimension();
        let names =
            |letter: &str| (0..dimension).map(|i| format!("{letter}{i}")).collect::<Vec<_>>().join(", ");
        let sign = if direction == Direction::Earlier { "-" } else { "+" };
        let time = vec![
            "0 <= t < steps".to_owned(),
            format!("{from} <= d and 0 <= t {sign} d < steps"),
            // Level of the write: (t ± d) + 1. Level of the access: t + time.
            format!("exists e : 1 {sign} d - ({}) = {}e", self.time, self.slots()),
        ];
        let accessed = self.program.point_constraints(self.statement, &|i| format!("s{i}"));
        let written = self.program.point_constraints(self.writer, &|i| format!("s{i} + o{i}"));
        [time, accessed, written].map(|constraints| {
            format!(
                "[steps, {}] -> {{ [t, {}, {}] -> [d] : ({}) }}",
                names("n"),
                names("s"),
                names("o"),
                constraints.join(") and (")
            )
        })
    }

    /// The dependence between the access at offset `offset` and the write `steps` (signed) steps later.
    fn dependence(&self, kind: DependenceKind, offset: &[i64], steps: i64) -> Dependence {
        let statements = self.program.statements.len() as i64;
        let rows_to_write = statements * steps + self.writer as i64 - self.statement as i64;
        let forward = Dependence {
            kind,
            source: self.statement,
            target: self.writer,
            field: self.field,
            rows: rows_to_write,
            offset: offset.to_vec(),
        };
        match kind {
            DependenceKind::Anti | DependenceKind::Output => forward,
            DependenceKind::Flow => Dependence {
                source: self.writer,
                target: self.statement,
                rows: -rows_to_write,
                offset: offset.iter().map(|o| -o).collect(),
                ..forward
            },
        }
    }

    /// Whether the sweep writes the slot that it reads: `1 - time` is a multiple of `slots`. If it is none in order, by
    /// [`Group::check_sweep`] each instance then overwrites the very cell that it has read itself, so the
    /// first overwrite is no dependence, and later ones follow from the output dependences.
    fn overwrites_itself(&self) -> bool {
        self.writer == self.statement && (1 - self.time).rem_euclid(self.slots() as i64) == 0
    }

    /// Whether the reads are those of a sweep in order, of what it writes itself.
    fn in_order(&self) -> bool {
        self.writer == self.statement && self.program.in_order(self.statement)
    }

    /// If a sweep without an order writes the slot that it reads, only the very point may be read.
    fn check_sweep(&self, offsets: &[Vec<i64>]) -> Result<(), DependenceError> {
        let domain = &self.program.statements[self.statement].domain;
        let elsewhere = offsets.iter().any(|offset| {
            offset.iter().any(|&offset| offset != 0)
                && !never_meet(&shifted(domain, offset), domain, &self.program.least_size)
        });
        if self.overwrites_itself() && elsewhere && !self.in_order() {
            return Err(DependenceError::OverwrittenInSweep {
                statement: self.statement,
                field: self.program.field(self.field).name.clone(),
                slots: self.slots(),
            });
        }
        Ok(())
    }

    /// Level `t + time` is computed in step `t + time - 1`: `1 - time` steps before.
    fn check_level(&self, steps_before: i64) -> Result<(), DependenceError> {
        let late = 1 - self.time - steps_before;
        if late == 0 {
            return Ok(());
        }
        Err(DependenceError::WrongLevel {
            statement: self.statement,
            field: self.program.field(self.field).name.clone(),
            time: self.time,
            slots: self.slots(),
            late,
        })
    }
}
