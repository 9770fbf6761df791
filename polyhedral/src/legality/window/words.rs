//! What is said of positions, groups, points and rows, as constraints of sets.

use super::proof::{ENTERING, WRITING, WindowProof};
use crate::legality::flow::text::{all, any, renamed};
use crate::program::{Access, FieldId, FieldRole};
use crate::sweep::{CellBox, Row, Sweep};

impl<'a> WindowProof<'a> {
    /// The dimensions along which the window does not slide.
    pub(super) fn fixed_dimensions(&self) -> impl Iterator<Item = usize> {
        let sliding = self.sliding;
        (0..self.dimension()).filter(move |&d| Some(d) != sliding)
    }

    pub(super) fn levels(&self, field: FieldId) -> (i64, i64) {
        match self.program.field(field).role {
            FieldRole::State { levels, slots } => (levels as i64, slots as i64),
            FieldRole::Coefficient => (1, 1),
        }
    }

    /// A text about another position.
    pub(super) fn at(&self, text: &str, mark: &str) -> String {
        self.moved(text, &|name| format!("{name}{mark}"))
    }

    pub(super) fn moved(&self, text: &str, to: &dyn Fn(&str) -> String) -> String {
        let Some(positions) = &self.sweep.positions else { return text.to_owned() };
        renamed(text, &|name| (name == positions.variable).then(|| to(name)))
    }

    /// A text about another group.
    pub(super) fn in_group(&self, text: &str, mark: &str) -> String {
        renamed(text, &|name| (name == self.sweep.group).then(|| format!("{name}{mark}")))
    }

    /// A text about the point `p`, for `q`.
    pub(super) fn of_point_read(&self, text: &str) -> String {
        let point: Vec<String> = (0..self.dimension()).map(|d| format!("p{d}")).collect();
        renamed(text, &|name| point.iter().position(|own| own == name).map(|d| format!("q{d}")))
    }

    /// The name of the position, with a mark.
    pub(super) fn position(&self, mark: &str) -> String {
        self.sweep.positions.as_ref().map_or("0".to_owned(), |own| format!("{}{mark}", own.variable))
    }

    /// That a position is one of the sweep.
    pub(super) fn in_sweep(&self, mark: &str) -> String {
        let bounds = self.sweep.positions.iter().flat_map(|own| own.from.iter().chain(&own.until));
        all(bounds.map(|text| self.at(text, mark)))
    }

    /// That the position before is one of the sweep: this one is not the first.
    pub(super) fn not_first(&self, mark: &str) -> String {
        let bounds = self.sweep.positions.iter().flat_map(|own| &own.from);
        all(bounds.map(|text| self.moved(text, &|name| format!("({name}{mark} - 1)"))))
    }

    pub(super) fn in_groups(&self, mark: &str) -> String {
        let (first, last) = self.sweep.groups;
        format!("{first} <= {}{mark} <= {last}", self.sweep.group)
    }

    pub(super) fn in_domain(&self, statement: usize, point: &str) -> String {
        all(self.program.point_constraints(statement, &|d| format!("{point}{d}")))
    }

    /// Along one dimension, the column of a point in the window.
    pub(super) fn column(&self, d: usize, point: &str, mark: &str) -> String {
        format!("{point}{d} - ({})", self.at(&self.sweep.window.first[d], mark))
    }

    pub(super) fn in_columns(&self, d: usize, point: &str, mark: &str, (low, end): (i64, i64)) -> String {
        format!("{low} <= {} < {end}", self.column(d, point, mark))
    }

    /// That a point is in the window, along one dimension.
    pub(super) fn in_window(&self, d: usize, point: &str, mark: &str) -> String {
        self.in_columns(d, point, mark, (0, self.sweep.window.extent[d]))
    }

    /// That a point is in one of the boxes, along the dimensions along which the window does not slide.
    pub(super) fn in_boxes(&self, boxes: &[CellBox], point: &str) -> String {
        let sides = |cells: &CellBox| {
            let pairs = self.fixed_dimensions().zip(cells);
            all(pairs.map(|(d, (low, high))| self.in_columns(d, point, "", (*low, high + 1))))
        };
        any(boxes.iter().map(sides))
    }

    /// That the point `q` enters the window at a position that brings what is live in alone.
    pub(super) fn loads_exactly(&self) -> String {
        let conditions = self.sweep.full.iter().chain(&self.sweep.exact).map(|text| self.at(text, ENTERING));
        let window = &self.sweep.window;
        let enters = self.sliding.map(|d| self.in_columns(d, "q", ENTERING, (window.kept, window.extent[d])));
        all(conditions.chain([self.in_sweep(ENTERING), self.not_first(ENTERING)]).chain(enters))
    }

    /// The bounds of a row along one dimension, for the point `p`.
    pub(super) fn sides(row: &Row, d: usize) -> impl Iterator<Item = &String> {
        row.lows[d].iter().chain(&row.highs[d])
    }

    /// That a row executes the point `p`.
    pub(super) fn executes(&self, row: &Row) -> String {
        let sides = (0..self.dimension()).flat_map(|d| Self::sides(row, d)).cloned();
        all(sides.chain([
            self.in_sweep(""),
            self.in_groups(""),
            format!("0 <= {} < steps", row.step),
            self.in_domain(row.statement, "p"),
        ]))
    }

    /// Reads of a statement with their planes, and what it writes as the last one.
    pub(super) fn accesses(&self, row: &Row) -> Vec<(Access, i64)> {
        let statement = &self.program.statements[row.statement];
        let write = Access { field: statement.target, time: 1, offset: vec![0; self.dimension()] };
        let accesses = statement.reads.iter().cloned().chain([write]);
        accesses.zip(row.reads.iter().copied().chain([row.writes])).collect()
    }

    /// The rows of the kernel that compute a statement.
    pub(super) fn rows_of(&self, statement: usize) -> impl Iterator<Item = (usize, &'a Row)> {
        let sweep: &'a Sweep = self.sweep;
        sweep.rows.iter().enumerate().filter(move |(_, row)| row.statement == statement)
    }

    /// That the row of the same point `q` which makes the value that is read belongs to a group of the tile: its group,
    /// and the conditions that it belongs to the sweep, each by itself.
    pub(super) fn supplier(&self, reader: &Row, access: &Access, writer: &Row) -> (String, Vec<String>) {
        let step = self.in_group(&writer.step, WRITING);
        let makes = format!("({step}) + 1 = ({}) + {}", reader.step, access.time);
        let bounds = self.fixed_dimensions().flat_map(|d| Self::sides(writer, d));
        let sides = bounds.map(|text| self.of_point_read(&self.in_group(text, WRITING)));
        let exists = [self.in_groups(WRITING), format!("0 <= {step} < steps")];
        (makes, exists.into_iter().chain(sides).collect())
    }
}

/// Along one dimension, `q` is the point and one of these offsets, or one between them.
pub(super) fn around(accesses: &[Access], d: usize) -> String {
    let offsets = || accesses.iter().map(|access| access.offset[d]);
    match (offsets().min().unwrap_or(0), offsets().max().unwrap_or(0)) {
        (low, high) if low == high => format!("q{d} = p{d} + {low}"),
        (low, high) => format!("p{d} + {low} <= q{d} <= p{d} + {high}"),
    }
}
