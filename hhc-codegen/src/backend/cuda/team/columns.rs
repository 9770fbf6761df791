//! Points of a strip: which of them a part has, by their numbers in the strip.

use super::super::super::bounds::non_negative;
use super::super::super::points::{INT, max, min};
use super::facts::{implied, never_negative};
use super::sums::{constant, gathered_long};
use super::{LANE, Team};
use crate::geometry::WARP;
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Range, SIZE_NAMES, bound};
use crate::storage::{Axis, Place, Region};
use c_tree::{Block, Expr, Stmt, all};

/// A row that a part has.
pub(super) struct Row {
    /// Its coordinates, in all dimensions but the innermost.
    pub(super) at: Vec<IntExpr>,
    /// Those of the first row of the part.
    pub(super) first: Vec<IntExpr>,
    /// How many the part has.
    pub(super) of: i64,
}

/// Points of a strip that a part has: those of which all of these bounds are true, by their numbers in the strip.
#[derive(Default)]
pub(super) struct Columns {
    pub(super) low: Vec<IntExpr>,
    pub(super) high: Vec<IntExpr>,
    /// The first and the last of them that the plan's constants leave.
    pub(super) least: i64,
    pub(super) most: i64,
}

impl Columns {
    /// Leaves out the columns before one.
    fn begin(&mut self, low: IntExpr) {
        match constant(&low) {
            Some(low) => self.least = self.least.max(low),
            None => self.low.push(low),
        }
    }

    /// Leaves out the columns behind one.
    fn end(&mut self, high: IntExpr) {
        match constant(&high) {
            Some(high) => self.most = self.most.min(high),
            None => self.high.push(high),
        }
    }

    /// Whether they are all of a strip.
    pub(super) fn all(&self, strip: i64) -> bool {
        self.low.is_empty() && self.high.is_empty() && self.least <= 0 && self.most >= strip - 1
    }
}

/// `#pragma unroll for (int i = 0; i < count; ++i) { body }`
pub(super) fn unrolled(variable: &str, count: i64, body: impl Into<Block>) -> [Stmt; 2] {
    [Stmt::Pragma("unroll".into()), Stmt::count("int", variable, 0, count, body)]
}

/// A row at an offset from another one.
pub(super) fn beside(row: &[IntExpr], offset: &[i64]) -> Vec<IntExpr> {
    row.iter().zip(offset).map(|(coordinate, &offset)| coordinate.clone() + offset).collect()
}

/// Whether columns are bounded by something that mentions one of these variables.
pub(super) fn changes_with(columns: &Columns, variables: [&str; 2]) -> bool {
    let bounds = columns.low.iter().chain(&columns.high);
    bounds.into_iter().any(|bound| variables.iter().any(|name| bound.mentions(name)))
}

impl Team<'_> {
    pub(super) fn strip(&self) -> i64 {
        WARP * self.points
    }

    /// That the points of the strip from one number to another one are among some columns.
    pub(super) fn have(&self, columns: &Columns, first: &Expr, last: &Expr) -> Vec<Expr> {
        let strip = || c_tree::int(self.strip()).cast(INT).integer();
        let changing = [self.position.variable, self.kernel.rows.variable];
        let named = |wanted: &str, value: Expr| match changes_with(columns, changing) {
            true => value.cast("int").integer(),
            false => self.declared("int", wanted, value.cast("int")),
        };
        let low = columns.low.iter().map(gathered_long).reduce(max).map(|low| {
            let low = max(min(low, strip()), c_tree::int(columns.least));
            first.clone().ge(named("tw_low", low))
        });
        let high = columns.high.iter().map(gathered_long).reduce(min).map(|high| {
            let high = max(min(high, c_tree::int(columns.most).cast(INT).integer()), c_tree::int(-1));
            last.clone().le(named("tw_high", high))
        });
        let least = (columns.least > 0 && columns.low.is_empty()).then(|| first.clone().ge(columns.least));
        let most = columns.most < self.strip() - 1 && columns.high.is_empty();
        let most = most.then(|| last.clone().le(columns.most));
        least.into_iter().chain(most).chain(low).chain(high).collect()
    }

    pub(super) fn in_registers(&self, place: &Place) -> bool {
        place.storage().is_some_and(|storage| self.kernel.storages[storage].first_lane().is_some())
    }

    pub(super) fn storage_name(&self, place: &Place) -> &str {
        place.storage().map_or("", |storage| self.kernel.storages[storage].name.as_str())
    }

    /// The number in the strip of the lane's point with a number.
    pub(super) fn number(&self, point: Expr) -> Expr {
        c_tree::int(self.points) * c_tree::var(LANE) + point
    }

    /// The rows that a part has, by its plan; as many for all warps and positions. They are those of its junk, or of its box: one
    /// row, or neighbouring ones along one dimension, of a slice that registers hold.
    pub(super) fn rows_of(&self, ranges: &[Range], junk: Option<&Vec<Range>>) -> Option<Vec<Row>> {
        let (_, outer) = junk.map_or(ranges, Vec::as_slice).split_last()?;
        let ranges = outer.iter().enumerate().map(|(d, range)| self.neighbours(d, range));
        let ranges: Vec<(IntExpr, i64)> = ranges.collect::<Option<_>>()?;
        let first: Vec<IntExpr> = ranges.iter().map(|(first, _)| first.clone()).collect();
        let of = ranges.iter().map(|(_, count)| *count).max().unwrap_or(1);
        if ranges.iter().filter(|(_, count)| *count > 1).count() > 1 {
            return None;
        }
        let row = |number: i64| {
            let along = |(first, count): &(IntExpr, i64)| first.clone() + if *count > 1 { number } else { 0 };
            Row { at: ranges.iter().map(along).collect(), first: first.clone(), of }
        };
        Some((0..of).map(row).collect())
    }

    /// The first of the coordinates of a range, and how many there are, before the grid and the rest of the box clip them: those
    /// that a slice has in registers, or one.
    fn neighbours(&self, d: usize, range: &Range) -> Option<(IntExpr, i64)> {
        let (low, high) = (range.low.largest_of(), range.high.least_of());
        let in_registers = self.kernel.storages.iter().filter(|storage| storage.first_lane().is_some());
        let slices: Vec<&IntExpr> = in_registers
            .filter_map(|storage| match storage.axes.get(d) {
                Some(Axis::Window { first, .. }) => Some(first),
                _ => None,
            })
            .collect();
        if slices.is_empty() {
            return low.into_iter().find(|coordinate| high.contains(coordinate)).map(|one| (one, 1));
        }
        let of_slices = low.iter().filter(|low| slices.iter().any(|slice| low.minus(slice).is_some()));
        let counted = of_slices.flat_map(|low| high.iter().map(move |high| (low, high.minus(low))));
        let counted = counted.filter_map(|(low, last)| Some((low.clone(), last? + 1)));
        counted.filter(|(_, count)| *count > 0).min_by_key(|(_, count)| *count)
    }

    /// What must be true of a row, and its columns, for a box and a region, besides what is known.
    pub(super) fn tests(
        &self,
        ranges: &[Range],
        region: Region,
        row: &Row,
        known: &[IntExpr],
    ) -> (Vec<IntExpr>, Columns) {
        let ends = |d: usize| -> (IntExpr, IntExpr) {
            match region {
                Region::Domain(statement) => {
                    let interval = self.plan.program.statements[statement].domain[d];
                    (bound(interval.low, d), bound(interval.high, d) - 1)
                }
                Region::Grid | Region::Boundary => (int(0), var(SIZE_NAMES[d]) - 1),
            }
        };
        let innermost = row.at.len();
        let region = (0..innermost).map(ends).map(|(low, high)| Range { low, high });
        let mut of_row = self.of_box(ranges, row, known);
        of_row.extend(self.of_box(&region.collect::<Vec<_>>(), row, known));
        let (low, high) = ends(innermost);
        let mut columns = self.columns_of(ranges);
        columns.begin(low - self.first.clone());
        columns.end(high - self.first.clone());
        let strip = Columns { least: 0, most: self.strip() - 1, ..Columns::default() };
        (of_row, if self.are_all(&columns) { strip } else { columns })
    }

    /// What must be true of a row for a box, besides what is known.
    pub(super) fn of_box(&self, ranges: &[Range], row: &Row, known: &[IntExpr]) -> Vec<IntExpr> {
        let tests = row.at.iter().zip(ranges).flat_map(|(row, range)| {
            let low = range.low.largest_of().into_iter().map(|low| row.clone() - low);
            let high = range.high.least_of().into_iter().map(|high| high - row.clone());
            low.chain(high).collect::<Vec<_>>()
        });
        tests.filter(|test| !implied(test, known) && !self.always(test)).collect()
    }

    /// Whether an expression is never negative, by what the kernel computes before and when it is launched, and whichever warp it is.
    fn always(&self, of: &IntExpr) -> bool {
        let bindings = self.kernel.bindings.iter().rev();
        let of = bindings.fold(of.clone(), |of, binding| of.substitute(binding.name, &binding.value));
        let launched = self.launched();
        let mut ends = [&self.member.low, &self.member.high].into_iter();
        self.slope(&of, self.member.variable).is_some()
            && ends.all(|end| never_negative(&of.substitute(self.member.variable, end), &launched))
    }

    /// What is not negative where the kernel is launched.
    fn launched(&self) -> Vec<IntExpr> {
        let kernel = |of: usize| self.plan.kernels.get(of).is_some_and(|own| std::ptr::eq(own, self.kernel));
        let mut launches = self.plan.launches.iter().filter(|launch| kernel(launch.kernel));
        match (launches.next(), launches.next()) {
            (Some(launch), None) => launch.when.iter().flat_map(IntExpr::least_of).collect(),
            _ => Vec::new(),
        }
    }

    /// That none of these is negative for a row. Of one of several rows, what is the same at all positions is one truth.
    pub(super) fn held(&self, tests: &[IntExpr], row: &Row) -> Vec<Expr> {
        let changing = [self.position.variable, self.kernel.rows.variable];
        let changes = |test: &&IntExpr| row.of == 1 || changing.iter().any(|name| test.mentions(name));
        let (changing, fixed): (Vec<&IntExpr>, Vec<&IntExpr>) = tests.iter().partition(changes);
        let changing: Vec<IntExpr> = changing.into_iter().cloned().collect();
        let fixed = (!fixed.is_empty()).then(|| {
            let all_of_them = all(fixed.into_iter().map(non_negative));
            self.declared("bool", "tw_row", all_of_them)
        });
        self.hold(&changing).into_iter().chain(fixed).collect()
    }

    /// The columns of a box, whatever the grid is.
    pub(super) fn columns_of(&self, ranges: &[Range]) -> Columns {
        let mut columns = Columns { least: 0, most: self.strip() - 1, ..Columns::default() };
        let Some(range) = ranges.last() else { return columns };
        range.low.largest_of().into_iter().for_each(|low| columns.begin(low - self.first.clone()));
        range.high.least_of().into_iter().for_each(|high| columns.end(high - self.first.clone()));
        columns
    }

    /// Whether a strip has no others.
    fn are_all(&self, columns: &Columns) -> bool {
        let last = self.strip() - 1;
        columns.least <= 0
            && columns.most >= last
            && columns.low.iter().all(|low| self.always(&(int(0) - low.clone())))
            && columns.high.iter().all(|high| self.always(&(high.clone() - last)))
    }
}
