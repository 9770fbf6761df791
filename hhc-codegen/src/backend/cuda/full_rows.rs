//! The function with the rows of a sub-tile, one after the other: which points a thread has, what it stores and where it
//! lies in the window are constants.
//!
//! Along dimension 0 the threads of a column share a row in parts; each part has code of its own, which the warps of
//! that part run.
//!
//! Where all rows have such code, it does for sub-tiles that are not full, too: dimension 0 and time clip rows, which all
//! threads ask alike, once a row, and the other dimensions whole columns. Only a row that the grid cuts goes point by
//! point, from the first one on the grid to the last.

use super::super::constants::{self, Constant, Source};
use super::super::points::{INT, plus};
use super::printer::Printer;
use super::staging::Staging;
use super::text::{
    barrier, ends_of_space, ends_of_time, here, parameters, suffixed, thread, thread_declarations, used,
};
use super::ways;
use crate::geometry::LocalRow;
use crate::int_expr::{self, IntExpr};
use crate::window::{Plane, WindowRow};
use c_tree::{Block, Expr, Function, Stmt, Type, all, flag, int, name, truth, var};

/// The place in memory of the window's cell with the thread's numbers along all dimensions but dimension 0.
pub(super) const OWN: &str = "tw_own";

/// The name of the function.
pub(super) fn name_of(index: usize) -> String {
    suffixed("tw_full_rows", index)
}

/// A row of a group, in window coordinates, and the points of it that a later row computes again.
pub(super) struct FullRow<'a> {
    pub(super) row: &'a LocalRow,
    pub(super) moves: &'a WindowRow,
    pub(super) group: i64,
    /// Points of a thread at once, at most.
    pub(super) most: i64,
    /// Per dimension: the first and last cell.
    pub(super) cells: Vec<(i64, i64)>,
    /// Per dimension the cells that are computed again; none where there is no such row. `None` of a dimension: all.
    pub(super) again: Option<Vec<Option<(i64, i64)>>>,
}

impl FullRow<'_> {
    /// Points of each part of the row, at most.
    pub(super) fn part(&self, parts: i64) -> i64 {
        let (first, last) = self.cells[0];
        (last - first + 1 + parts - 1) / parts
    }
}

/// The function.
pub(super) fn function(printer: &Printer<'_>) -> Function {
    let Staging { local, window, threads, points, .. } = printer.staging;
    let mut all_rows = Vec::new();
    for (index, group) in (local.groups.0..=local.groups.1).enumerate() {
        for ((row, moves), &most) in local.rows.iter().zip(&window.rows).zip(points) {
            if row.in_full_tiles {
                all_rows.push(FullRow {
                    row,
                    moves,
                    group,
                    most,
                    cells: printer.cells_of(&row.boxes[index]),
                    again: printer.computed_again(row, moves, group),
                });
            }
        }
    }
    let loads = printer.loads_by_row(all_rows.len());
    let rows: Block = all_rows
        .iter()
        .zip(loads)
        .enumerate()
        .flat_map(|(number, (row, loads))| [loads, printer.full_row(number, row)])
        .flatten()
        .collect();
    let statements = local.rows.iter().filter(|row| row.in_full_tiles).map(|row| row.statement);
    let mut constants: Vec<Constant> = Vec::new();
    for statement in statements {
        let statement = &printer.program.statements[statement];
        for constant in constants::parameters(printer.names, statement, Source::Arguments) {
            if constants.iter().all(|known| known.name != constant.name) {
                constants.push(constant);
            }
        }
    }
    // Where a sweep has lines of its own, they are given.
    let given: Vec<(Type, String)> = match printer.has_line() {
        true => printer.column_parameters().collect(),
        false => {
            let slots = printer.stored_slots().into_iter().map(|slot| (Type::new(INT), slot));
            slots.chain([(Type::new(INT), OWN.to_owned())]).collect()
        }
    };
    let columns = if printer.has_line() { Vec::new() } else { printer.own_columns() };
    let own: Vec<Stmt> = used(columns, &rows);
    let mut all: Block = own.iter().cloned().collect();
    all.extend(rows.clone());
    let mut body: Block = used(thread_declarations(threads), &all).into_iter().collect();
    body.extend(own);
    body.extend(constants.iter().map(Constant::declaration));
    if printer.staging.rows_of_all {
        body.extend(printer.unclipped_rows(&all_rows));
    }
    body.extend(rows);
    let passed = printer.staging.rows_of_all && !printer.staging.rows_twice;
    let function = Function::new(name_of(printer.index));
    let function = match printer.staging.rows_twice {
        true => function.template("bool", "whole"),
        false => function,
    };
    let (function, ends) = match printer.staging.rows_of_all {
        true => (
            function.comment(
                "The rows of one sub-tile, whose window is in shared memory. In a `whole` one every row exists and lies \
                 inside the domain; otherwise rows are clipped, in time as in space.",
            ),
            ends_of_time().into_iter().chain(ends_of_space(printer.dimension())).collect(),
        ),
        false => (
            function.comment(
                "The rows of one full sub-tile, whose window is in shared memory: every row exists and lies inside the \
                 domain.",
            ),
            Vec::<String>::new(),
        ),
    };
    let function = function.attribute("TW_DEVICE").parameters(parameters(printer.arguments()));
    ways::parameter(function, printer.has_ways())
        .parameter(INT, "first_step")
        .parameters(given)
        .parameters(printer.corners_asked().into_iter().map(|corner| (INT, corner)))
        .parameters(passed.then_some(("bool", "whole")))
        .parameters(ends.into_iter().map(|end| ("int", end)))
        .parameters(printer.ahead_parameters())
        .body(body)
}

impl Printer<'_> {
    /// The corner of the window, where conditions ask for coordinates.
    pub(super) fn corners_asked(&self) -> Vec<String> {
        if self.program.has_congruences() { self.corners() } else { Vec::new() }
    }

    /// The names of the slots' places in memory to which rows write, for fields with several.
    pub(super) fn stored_slots(&self) -> Vec<String> {
        let several = |field: usize| self.slots(field) > 1 && self.is_stored(field);
        let planes = self.staging.window.planes.iter().filter(|plane| several(plane.field));
        planes.map(|plane| self.slot_name(plane)).collect()
    }

    /// Whether some row writes to a field.
    pub(super) fn is_stored(&self, field: usize) -> bool {
        let rows = &self.staging.local.rows;
        rows.iter().any(|row| self.program.statements[row.statement].target.0 == field)
    }

    /// A box of points as cells of the window.
    fn cells_of(&self, points: &[(i64, i64)]) -> Vec<(i64, i64)> {
        let low = &self.staging.window.low;
        points.iter().zip(low).map(|((first, last), low)| (first - low, last - low)).collect()
    }

    /// The cells of a row that a later row of the sweep computes again.
    fn computed_again(
        &self,
        row: &LocalRow,
        moves: &WindowRow,
        group: i64,
    ) -> Option<Vec<Option<(i64, i64)>>> {
        let left_out = &moves.left_out;
        if group + left_out.groups > self.staging.local.groups.1 {
            return None;
        }
        let low = &self.staging.window.low;
        let value =
            |bound: &IntExpr| bound.substitute(self.kernel.rows.variable, &int_expr::int(group)).constant();
        let mut again = Vec::new();
        for (d, range) in left_out.ranges.iter().enumerate() {
            // Along dimension 0 all points are those of the row.
            let range = range.as_ref().or((d == 0).then_some(&row.ranges[0]));
            again.push(match range {
                Some((first, last)) => Some((value(first)? - low[d], value(last)? - low[d])),
                None => None,
            });
        }
        Some(again)
    }

    /// Whether a thread has one column of the row at most, that with its own number.
    fn has_own_column(&self, of: &FullRow<'_>) -> bool {
        let threads = &self.staging.threads.per_dimension;
        (1..self.dimension()).all(|d| of.cells[d].1 - of.cells[d].0 < threads[d])
    }

    /// The place in memory of the window's cell with the thread's numbers, of each plane to which rows write: the rows have them
    /// in common.
    fn own_columns(&self) -> Vec<Stmt> {
        let columns = self.stored_planes().map(|(kind, plane)| {
            let slot = (self.slots(plane.field) > 1).then(|| var(self.slot_name(plane)));
            let place = slot.into_iter().fold(var(OWN), |own, slot| slot + own);
            let first = name(&self.names.fields[plane.field]) + here(place);
            Stmt::declare(kind, self.column_name(plane.field, plane.number), first)
        });
        columns.collect()
    }

    /// The planes to which rows write, with the types of pointers to their elements.
    pub(super) fn stored_planes(&self) -> impl Iterator<Item = (Type, &Plane)> {
        let stored = self.staging.window.planes.iter().filter(|plane| self.is_stored(plane.field));
        stored.map(|plane| (Type::new(format!("TW_GLOBAL({})", self.element(plane))), plane))
    }

    /// The parameters for the thread's own columns.
    fn column_parameters(&self) -> impl Iterator<Item = (Type, String)> {
        self.stored_planes().map(|(kind, plane)| (kind, self.column_name(plane.field, plane.number)))
    }

    /// The name of the thread's own column in memory, of one plane.
    pub(super) fn column_name(&self, field: usize, plane: i64) -> String {
        let number = if self.slots(field) > 1 { plane.to_string() } else { String::new() };
        format!("tw_{}_at{number}", self.names.fields[field])
    }

    /// Where a row goes in memory at a line of the window: a number along dimension 0, and what is not known before.
    pub(super) fn goes_to(&self, of: &FullRow<'_>, line: i64, further: Option<Expr>) -> Expr {
        let FullRow { row, moves, group, .. } = of;
        let last = self.dimension() - 1;
        let target = self.program.statements[row.statement].target.0;
        let mut lines = vec![line];
        if !self.has_own_column(of) {
            lines.resize(last, 0);
            let first = name(&self.names.fields[target]) + further.into_iter().fold(var("place"), plus);
            return self.further(first, target, &lines);
        }
        lines.extend((1..last).map(|d| of.cells[d].0));
        let plane = (group + moves.writes).rem_euclid(self.slots(target));
        let first = self.further(name(self.column_name(target, plane)), target, &lines);
        match further.into_iter().chain([int(of.cells[last].0)]).reduce(plus) {
            Some(cells) if cells != int(0) => first + cells,
            _ => first,
        }
    }

    fn full_row(&self, number: usize, of: &FullRow<'_>) -> Block {
        let Staging { threads, window, .. } = self.staging;
        let dimension = self.dimension();
        let FullRow { row, moves, group, .. } = of;
        let statement = &self.program.statements[row.statement];
        let target = statement.target.0;
        let parts = threads.per_dimension[0];

        let mut column: Option<Expr> = None;
        let mut place: Vec<Expr> = Vec::new();
        let mut tests = Vec::new();
        for d in 1..dimension {
            let cell = var(format!("i{d}")) + of.cells[d].0;
            let term = &cell * window.stride(d);
            column = Some(column.map_or(term.clone(), |sum| plus(sum, term)));
            let cells = &cell - thread(threads, d);
            place.push(if d + 1 == dimension { cells } else { cells * var(format!("stride{d}")) });
            if let Some(Some((first, last))) = of.again.as_ref().map(|again| again[d]) {
                let (first, last) = (first - of.cells[d].0, last - of.cells[d].0);
                let index = || var(format!("i{d}"));
                if first > 0 {
                    tests.push(index().ge(first));
                }
                if last < of.cells[d].1 - of.cells[d].0 {
                    tests.push(index().le(last));
                }
            }
        }
        let level = (group + moves.writes).rem_euclid(self.slots(target));
        let slot = window.planes.iter().find(|plane| plane.field == target && plane.number == level);
        let slot = slot.filter(|_| self.slots(target) > 1).map(|plane| var(self.slot_name(plane)));

        // Values of the row's step: where it may not exist, there may be none.
        let mut series = Block::new();
        let asks = self.indices_of(row.statement).iter().any(|(_, dimension)| dimension.is_none());
        if asks || !self.series_of(row.statement).is_empty() {
            series.push(Stmt::constant(INT, "step", plus(var("first_step"), int(*group) + row.step)));
            series.extend(self.series_of(row.statement).iter().map(Constant::declaration));
        }
        let mut placed = if self.staging.rows_of_all { series.clone() } else { Block::new() };
        placed.push(Stmt::constant("int", "column", column.unwrap_or(int(0))));
        if !self.has_own_column(of) {
            let place = slot.into_iter().chain([var(OWN)]).chain(place).reduce(plus);
            placed.push(Stmt::constant(INT, "place", place.unwrap_or(int(0))));
        }
        let uncertain = !tests.is_empty();
        let mut points = placed.clone();
        if uncertain {
            points.push(Stmt::constant("bool", "again", all(tests.clone())));
        }
        let again = || if uncertain { flag("again") } else { truth(true) };
        let (first, last) = of.cells[0];
        let part = of.part(parts);
        let of_part = |number: i64| {
            let begin = first + number * part;
            self.chunks(of, (begin, last.min(begin + part - 1)), &again)
        };
        let mut chosen = of_part(parts - 1);
        for number in (0..parts - 1).rev() {
            let condition = thread(threads, 0).is(number);
            chosen = Stmt::choose(condition, of_part(number), chosen).into();
        }
        points.extend(chosen);
        if self.staging.rows_of_all {
            if !self.columns_alone() {
                points = Stmt::when(flag("whole").or(self.column_is_there(of, &var)), points).into();
            }
            let clipped = self.clipped_row(of, all(tests), placed);
            points = Stmt::choose(self.is_unclipped(number), points, clipped).into();
        }

        let mut body = Block::new();
        if !self.staging.rows_of_all {
            body.extend(series);
        }
        body.extend((1..dimension).rev().fold(points, |inner, d| {
            let (count, width) = (threads.per_dimension[d], of.cells[d].1 - of.cells[d].0 + 1);
            let index = format!("i{d}");
            if count == width {
                let mut block = Block::from(Stmt::constant("int", index, thread(threads, d)));
                block.extend(inner);
                return block;
            }
            let condition = var(&index).lt(width);
            if count > width {
                let mut block = Block::from(Stmt::constant("int", &index, thread(threads, d)));
                block.push(Stmt::when(condition, inner));
                return block;
            }
            Stmt::each("int", index, thread(threads, d), condition, count, inner).into()
        }));
        let bounds = row.boxes[(group - self.staging.local.groups.0) as usize].iter();
        let points: Vec<String> = bounds.map(|(first, last)| format!("{first} .. {last}")).collect();
        let name = self.program.statement_name(row.statement);
        let number = match self.staging.local.rows.len() as i64 {
            1 => *group,
            rows => rows * group + row.statement as i64,
        };
        Block::from([
            Stmt::Block(body).note(format!("row {number} of the tile: {name} at {}", points.join(", "))),
            barrier(),
        ])
    }

    /// What the function of a statement is given in all places of a row.
    pub(super) fn given(&self, of: &FullRow<'_>) -> Vec<Expr> {
        let FullRow { row, moves, group, .. } = of;
        let mut given: Vec<Expr> = self.ways_argument().into_iter().collect();
        given.extend(self.constants_of(row.statement).into_iter().map(|(_, constant)| name(constant)));
        given.extend(self.planes(row, moves).into_iter().map(|(_, shift, slots)| {
            let number = (group + shift).rem_euclid(slots);
            int(number * self.staging.window.cells())
        }));
        given.extend(self.series_of(row.statement).into_iter().map(|constant| name(constant.name)));
        given
    }

    /// The indices that the statement's conditions ask for, at the thread's point in a cell along dimension 0.
    pub(super) fn indices_at(&self, of: &FullRow<'_>, cell: Expr) -> Vec<Expr> {
        let low = &self.staging.window.low;
        let index = |(_, dimension): (String, Option<usize>)| match dimension {
            None => var("step"),
            Some(0) => var("corner0") + (cell.clone() + low[0]),
            Some(d) => var(format!("corner{d}")) + (var(format!("i{d}")) + (of.cells[d].0 + low[d])),
        };
        self.indices_of(of.row.statement).into_iter().map(index).collect()
    }

    /// The points of a thread: cells `first ..= last` along dimension 0, some at once.
    fn chunks(&self, of: &FullRow<'_>, (first, last): (i64, i64), again: &dyn Fn() -> Expr) -> Block {
        let window = self.staging.window;
        let FullRow { row, .. } = of;
        let given = self.given(of);
        let covered = of.again.as_ref().and_then(|again| again[0]);

        let mut body = Block::new();
        let mut at = first;
        let mut chunks = (last - first + 1 + of.most - 1) / of.most;
        while at <= last {
            let count = (last - at + 1 + chunks - 1) / chunks;
            let within = covered.map(|(first, last)| (0.max(first - at), (count - 1).min(last - at)));
            let ends = match within.filter(|(first, last)| first <= last) {
                Some((first, last)) => [again(), int(first), int(last)],
                None => [truth(false), int(0), int(0)],
            };
            let cell = var("column") + at * window.stride(0);
            let indices = self.indices_at(of, int(at));
            let to = self.goes_to(of, at, None);
            let arguments = given.iter().cloned().chain(indices).chain([cell, to]).chain(ends);
            body.push(Stmt::Expr(Expr::instance(self.update_name(row.statement), [int(count)], arguments)));
            at += count;
            chunks -= 1;
        }
        body
    }
}
