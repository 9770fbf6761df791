//! The function that walks the rows of one sub-tile, whose window is in shared memory.

use super::super::bounds::expr;
use super::super::constants::{self, Constant, Source};
use super::super::points::{INT, max, min, plus};
use super::full_rows::OWN;
use super::printer::Printer;
use super::staging::Staging;
use super::text::{
    barrier, here, parameters, suffixed, thread, thread_declarations, thread_index, unrolled, unrolled_by,
    used,
};
use super::ways::{self, MOST_LINES};
use crate::geometry::LocalRow;
use crate::int_expr;
use crate::plan::bound;
use crate::window::WindowRow;
use c_tree::{Block, Expr, Function, Stmt, flag, int, name, truth, var};
use polyhedral::program::Access;
use std::cmp::Ordering;

/// Rows of a partial tile that are unrolled at most, so that their slots are constants.
const MOST_UNROLLED: i64 = 16;

/// Where the thread's next point of a row goes in memory.
const AT: &str = "tw_at";

/// The name of the function.
pub(super) fn name_of(index: usize) -> String {
    suffixed("tw_rows", index)
}

/// The function: in a full sub-tile every row exists and lies inside the domain; otherwise rows are clipped.
pub(super) fn function(printer: &Printer<'_>) -> Function {
    let Staging { local, threads, window, points, .. } = printer.staging;
    let (first_group, last_group) = local.groups;
    let period = printer.program.cycle().min(MOST_UNROLLED);
    let explicit = printer.staging.explicit_rows;
    let unroll = if printer.staging.unrolled { last_group - first_group + 1 } else { period };
    let rows = local.rows.iter().zip(&window.rows).zip(points);
    let group: Block = rows.map(|((row, moves), &points)| printer.row(row, moves, points)).collect();
    let variable = printer.kernel.rows.variable;

    let mut constants: Vec<Constant> = Vec::new();
    for statement in &printer.program.statements {
        for constant in constants::parameters(printer.names, statement, Source::Arguments) {
            if constants.iter().all(|known| known.name != constant.name) {
                constants.push(constant);
            }
        }
    }
    // In several dimensions each row has its own number along dimension 0.
    let shared_threads = thread_declarations(threads).into_iter().filter(|statement| {
        printer.dimension() == 1 || !matches!(statement, Stmt::Declare(names) if names[0].name == "thread0")
    });
    let mut body: Block = used(shared_threads.collect(), &group).into_iter().collect();
    body.extend(constants.iter().map(Constant::declaration));
    if explicit {
        let mut targets: Vec<usize> =
            local.rows.iter().map(|row| printer.program.statements[row.statement].target.0).collect();
        targets.sort_unstable();
        targets.dedup();
        body.extend(targets.into_iter().map(|field| printer.array_declaration(field)));
    }
    body.push(match explicit {
        true => Stmt::Pragma("unroll 1".into()),
        false => Stmt::PragmaOf("unroll".into(), flag("full").select(unroll, 1)),
    });
    body.push(Stmt::range("int", variable, first_group, last_group, group));
    let function = Function::new(name_of(printer.index));
    let function = match explicit {
        true => function.comment(
            "The rows of one sub-tile that is not full: they are clipped, in time as in space.",
        ),
        false => function
            .comment(
                "The rows of one sub-tile, whose window is in shared memory. In a full one every row exists and lies \
                 inside the domain; otherwise rows are clipped, in time as in space.",
            )
            .template("bool", "full"),
    };
    let function = function.attribute("TW_DEVICE").parameters(parameters(printer.arguments()));
    ways::parameter(function, printer.has_ways())
        .parameter(INT, "first_step")
        .parameters(printer.stored_slots().into_iter().map(|slot| (INT, slot)))
        .parameters(printer.corners().into_iter().map(|corner| (INT, corner)))
        .parameters(printer.rows_walk_lines().then_some((INT, OWN)))
        .body(body)
}

/// A block unless a condition holds.
fn unless(condition: Expr, block: Block) -> Block {
    match condition {
        Expr::Bool(false) => block,
        condition => Stmt::when(!condition, block).into(),
    }
}

/// The dimensions of a row but dimension 0: point `low_d + i_d` belongs to thread `i_d`.
struct Across {
    /// The first points.
    lows: Vec<Stmt>,
    /// Whether the point lies inside the domain.
    inside: Expr,
    /// The cell of the column.
    column: Option<Expr>,
    /// Whether the point is computed again.
    covered: Expr,
}

impl Printer<'_> {
    /// Whether a thread finds the points of a row in memory from its own place, each a line further than the one before.
    pub(super) fn rows_walk_lines(&self) -> bool {
        self.dimension() > 1
    }

    /// Whether the sub-tile is full: never, where full ones have a function of their own.
    fn full(&self) -> Expr {
        if self.staging.explicit_rows { truth(false) } else { flag("full") }
    }

    fn row(&self, row: &LocalRow, moves: &WindowRow, most: i64) -> Stmt {
        let Staging { local, window, threads, .. } = self.staging;
        let dimension = self.dimension();
        let statement = &self.program.statements[row.statement];
        let variable = self.kernel.rows.variable;
        let left_out = &moves.left_out;
        let (first, last, step, steps) = (var("first"), var("last"), var("step"), var("steps"));
        let (last_group, cells) = (local.groups.1, window.cells());

        let mut inner = Block::from(Stmt::Declare(vec![
            c_tree::Declaration::new("int", "first", expr(&row.ranges[0].0)),
            c_tree::Declaration::new("int", "last", expr(&row.ranges[0].1)),
        ]));
        let corner = int_expr::var("corner0");
        let clip_first = expr(&(bound(statement.domain[0].low, 0) - corner.clone()));
        let clip_last = expr(&(bound(statement.domain[0].high, 0) - 1 - corner));
        inner.extend(unless(
            self.full(),
            Block::from([
                Stmt::assign(name("first"), max(first.clone().cast(INT), clip_first).cast("int")),
                Stmt::assign(name("last"), min(last.clone().cast(INT), clip_last).cast("int")),
            ]),
        ));
        inner.comment("what the next row of the same stored level computes again");
        let later = self.full().or((&step + left_out.groups).lt(&steps));
        let covered = (var(variable) + left_out.groups).le(last_group).and(later);
        inner.push(Stmt::constant("bool", "covered", covered));
        let again = left_out.ranges[0].as_ref().unwrap_or(&row.ranges[0]);
        let again = [("again_first", &again.0), ("again_last", &again.1)];
        inner.push(Stmt::constants("int", again.map(|(name, bound)| (name.to_string(), expr(bound)))));
        inner.extend(self.planes(row, moves).into_iter().map(|(plane, shift, slots)| {
            let level = (var(variable) + shift).cast("unsigned int");
            let number = (level % Expr::Literal(format!("{slots}u"))).cast("int");
            Stmt::constant("int", plane, number * cells)
        }));
        inner.extend(self.series_of(row.statement).iter().map(Constant::declaration));

        let across = self.across(row, moves);
        let mut points = Block::new();
        points.push(Stmt::constant(INT, "place", self.place(row)));
        points.push(Stmt::constant("bool", "again", flag("covered").and(across.covered.clone())));
        points.extend(self.neighbours(row, moves, most, across.column.as_ref()));
        inner.extend(across.lows.iter().cloned());
        let inside = match across.inside {
            Expr::Bool(true) => points,
            inside => Stmt::when(self.full().or(inside), points).into(),
        };
        inner.extend(self.around(row, inside));

        let mut body = Block::new();
        // Made anew for each row, so that the places of the parts in all rows do not fill the registers.
        if dimension > 1 && threads.per_dimension[0] > 1 {
            body.push(Stmt::constant("int", "thread0", here(thread_index(dimension, 0))));
        }
        body.push(Stmt::constant(INT, "step", plus(var("first_step"), var(variable) + row.step)));
        let exists = self.full().or(step.clone().ge(0).and(step.lt(steps)));
        body.push(Stmt::when(exists, inner));
        body.push(barrier());
        let statement_name = self.program.statement_name(row.statement);
        let number = match (local.rows.len(), row.statement) {
            (1, _) => variable.to_string(),
            (rows, 0) => format!("{rows}*{variable}"),
            (rows, number) => format!("{rows}*{variable} + {number}"),
        };
        let comment = format!("row {number} of the tile: {statement_name}");
        if row.in_full_tiles {
            Stmt::Block(body).note(comment)
        } else {
            let comment = format!("{comment}; no full tile meets its domain");
            match self.full() {
                Expr::Bool(false) => Stmt::Block(body).note(comment),
                full => Stmt::when(!full, body).note(comment),
            }
        }
    }

    /// The dimensions but dimension 0.
    fn across(&self, row: &LocalRow, moves: &WindowRow) -> Across {
        let window = self.staging.window;
        let statement = &self.program.statements[row.statement];
        let mut across = Across { lows: Vec::new(), inside: truth(true), column: None, covered: truth(true) };
        for d in 1..self.dimension() {
            across.lows.push(Stmt::constant("int", format!("low{d}"), expr(&row.ranges[d].0)));
            let (first, end) = (bound(statement.domain[d].low, d), bound(statement.domain[d].high, d));
            let local = var(format!("low{d}")) + var(format!("i{d}"));
            let point = self.point(d);
            let inside = point.clone().ge(expr(&first)).and(point.lt(expr(&end)));
            across.inside = across.inside.and(inside);
            let cell = (&local - window.low[d]) * window.stride(d);
            across.column = Some(across.column.map_or(cell.clone(), |column| plus(column, cell)));
            if let Some((first, last)) = &moves.left_out.ranges[d] {
                across.covered = across.covered.and(local.clone().ge(expr(first)).and(local.le(expr(last))));
            }
        }
        across
    }

    /// The point of a thread.
    fn point(&self, d: usize) -> Expr {
        var(format!("corner{d}")) + var(format!("low{d}")) + var(format!("i{d}"))
    }

    /// The place in memory of the tile's column at the thread's point; where rows walk, seen from the thread's own
    /// place, on the window's first line.
    fn place(&self, row: &LocalRow) -> Expr {
        let dimension = self.dimension();
        let mut terms = Vec::new();
        let write = self.write(row);
        if let Some(plane) = self.plane_name(&write) {
            let cells = self.staging.window.cells();
            let planes = self.staging.window.planes.iter().filter(|plane| plane.field == write.field.0);
            let slots: Vec<(i64, Expr)> =
                planes.map(|plane| (plane.number, var(self.slot_name(plane)))).collect();
            let of_plane = |other: Option<Expr>, (number, slot): &(i64, Expr)| match other {
                None => Some(slot.clone()),
                Some(other) => Some(var(&plane).is(number * cells).select(slot.clone(), other)),
            };
            terms.extend(slots.iter().rev().fold(None, of_plane));
        }
        if self.rows_walk_lines() {
            let own = thread(&self.staging.threads, dimension - 1);
            terms.extend([var(OWN), self.cell_along(dimension - 1) - own]);
        } else {
            terms.push(plus(var("corner0"), int(self.staging.window.low[0])));
        }
        terms.into_iter().reduce(plus).unwrap_or(int(0))
    }

    /// The cell of the thread's point along a dimension but dimension 0.
    fn cell_along(&self, d: usize) -> Expr {
        var(format!("low{d}")) + var(format!("i{d}")) - self.staging.window.low[d]
    }

    /// The pointer to where the thread's first point of a row goes in memory, which begins at `begin` along dimension 0.
    fn first_place(&self, kind: &str, target: usize, begin: &Expr) -> Block {
        let (window, element) = (self.staging.window, self.element_bytes(target));
        // Of a full sub-tile all lines of the window are on the grid.
        let near = |d: usize| if window.extent[d] <= MOST_LINES { self.full() } else { truth(false) };
        let further = |pointer: Expr, d: usize, cell: Expr| {
            self.ways.some_lines_further(pointer, cell, d, element, near(d))
        };
        let first = further(name(&self.names.fields[target]) + var("place"), 0, begin - window.low[0]);
        let mut block = Block::from(Stmt::declare(kind, AT, first));
        for d in 1..self.dimension() - 1 {
            let cell = self.cell_along(d) - thread(&self.staging.threads, d);
            block.push(Stmt::assign(name(AT), further(name(AT), d, cell)));
        }
        block
    }

    /// The pointer to where a point of a row goes in memory, in one dimension. Its distance from the window's first cell is a number
    /// of 32 bits, so that it is no product of 64 bits; most points go nowhere.
    fn place_on_line(&self, target: usize, point: &Expr) -> Expr {
        let field = &self.program.fields[target];
        let cell = (point - self.staging.window.low[0]).cast("unsigned int");
        let bytes = (cell * field.element.bytes() as i64).cast(INT);
        ways::further(name(&self.names.fields[target]) + var("place"), bytes)
    }

    /// Loops over the points of dimensions 1 and 2 that are the thread's.
    fn around(&self, row: &LocalRow, inner: Block) -> Block {
        let threads = &self.staging.threads;
        (1..self.dimension()).rev().fold(inner, |inner, d| {
            let widths = row.boxes.iter().map(|bounds| bounds[d].1 - bounds[d].0 + 1);
            let width = widths.clone().max().unwrap_or(1);
            let constant = widths.clone().all(|other| other == width);
            let (count, index) = (threads.per_dimension[d], format!("i{d}"));
            if constant && count.cmp(&width) == Ordering::Equal {
                let mut block = Block::from(Stmt::constant("int", index, thread(threads, d)));
                block.extend(inner);
                return Stmt::Block(block).into();
            }
            let low = int_expr::var(["low0", "low1", "low2"][d]);
            let width = if constant { int(width) } else { expr(&(row.ranges[d].1.clone() - low + 1)) };
            let condition = var(&index).lt(width);
            Stmt::each("int", index, thread(threads, d), condition, count, inner).into()
        })
    }

    /// The points of the thread, some neighbours at once.
    fn neighbours(&self, row: &LocalRow, moves: &WindowRow, most: i64, column: Option<&Expr>) -> Block {
        let Staging { window, threads, .. } = self.staging;
        let statement = &self.program.statements[row.statement];
        let target = statement.target.0;
        let parts = threads.per_dimension[0];
        let (first, last, at) = (var("first"), var("last"), var("at"));
        let mut given: Vec<Expr> = self.ways_argument().into_iter().collect();
        given.extend(self.constants_of(row.statement).into_iter().map(|(_, constant)| name(constant)));
        given.extend(self.planes(row, moves).into_iter().map(|(plane, ..)| var(plane)));
        given.extend(self.series_of(row.statement).into_iter().map(|constant| name(constant.name)));
        let explicit = self.staging.explicit_rows;
        // `own` is the first of the points, seen from the corner.
        let update = |count: i64, own: Expr, cell: Expr, to: Expr, less: &dyn Fn(Expr) -> Expr| {
            let ends = match explicit {
                // Memory gets them later.
                true => [truth(true), int(0), int(count - 1)],
                false => [flag("again"), less(var("again_first")), less(var("again_last"))],
            };
            let indices = self.indices_of(row.statement).into_iter().map(|(_, dimension)| match dimension {
                None => var("step"),
                Some(0) => var("corner0") + own.clone(),
                Some(d) => self.point(d),
            });
            let arguments = given.iter().cloned().chain(indices).chain([cell, to]).chain(ends);
            Stmt::Expr(Expr::instance(self.update_name(row.statement), [int(count)], arguments))
        };
        let mut body = Block::new();
        let Some(column) = column else {
            let cell = &at - window.low[0];
            let to = self.place_on_line(target, &at);
            let one = update(1, at.clone(), cell, to, &|bound| bound - &at);
            let begin = first + thread(threads, 0);
            body.push(Stmt::each("int", "at", begin, at.clone().le(last), parts, one));
            return body;
        };
        body.push(Stmt::constant("int", "column", column));
        body.push(Stmt::constant("int", "width", &last - &first + 1));
        let (width, begin, mine) = (var("width"), var("begin"), var("mine"));
        if parts == 1 {
            body.push(Stmt::constants("int", [("begin".into(), first), ("mine".into(), width)]));
        } else {
            body.comment(format!("{parts} parts of the row, the last of them no larger than the others"));
            let (part, thread0) = (var("part"), var("thread0"));
            body.push(Stmt::constants(
                "int",
                [("part".into(), (&width + (parts - 1)) / parts), ("begin".into(), first + &thread0 * &part)],
            ));
            let rest = min(part.clone(), &width - &thread0 * &part);
            let own = (&width % parts).is(0).select(part, rest);
            body.push(Stmt::constant("int", "mine", own));
        }
        body.push(Stmt::declare("int", "at", 0));
        let kind = format!("TW_GLOBAL({})", self.program.fields[target].element.c_name());
        if !explicit {
            body.extend(self.first_place(&kind, target, &begin));
        }
        let mut on = vec![0; self.dimension() - 1];
        let mut some = |count: i64| {
            let cell = (&begin + &at - window.low[0]) * window.stride(0);
            let to = if explicit { name(&self.names.fields[target]) } else { name(AT) };
            let update = update(count, &begin + &at, var("column") + cell, to, &|bound| bound - &begin - &at);
            on[0] = count;
            let walk = || Stmt::assign(name(AT), self.further(name(AT), target, &on));
            [update].into_iter().chain((!explicit).then(walk)).collect::<Block>()
        };
        let fit = |count: i64| (&at + count).le(&mine);
        body.extend(unrolled(Stmt::go_on("at", fit(most), most, some(most))));
        let mut count = most / 2;
        while count >= 1 {
            let mut points = some(count);
            points.push(Stmt::Update(name("at"), "+=", int(count)));
            body.push(Stmt::when(fit(count), points));
            count /= 2;
        }
        if explicit {
            body.extend(self.stores(row));
        }
        body
    }

    /// Stores the points of the thread that no later row computes again, from the window.
    fn stores(&self, row: &LocalRow) -> Block {
        let window = self.staging.window;
        let write = self.write(row);
        let target = write.field.0;
        let point = || var("point");
        let cell = var("column") + (point() - window.low[0]) * window.stride(0);
        let cell = self.plane_name(&write).map_or(cell.clone(), |plane| plus(var(plane), cell));
        let kind = format!("TW_GLOBAL({})", self.program.fields[target].element.c_name());
        let mut on = vec![0; self.dimension() - 1];
        on[0] = 1;
        let store = || {
            let own = Stmt::assign(name(AT).at(0), name(self.array(target)).at(cell.clone()));
            Block::from([own, Stmt::assign(name(AT), self.further(name(AT), target, &on))])
        };
        let mut body = Block::new();
        body.comment("what no later row computes again goes to memory");
        let (begin, end, again) = (var("begin"), var("end"), flag("again"));
        body.push(Stmt::constant("int", "end", &begin + var("mine")));
        let ends = [
            ("below".to_string(), again.clone().select(min(var("again_first"), end.clone()), end.clone())),
            ("above".to_string(), again.select(max(var("again_last") + 1, begin.clone()), end.clone())),
        ];
        body.push(Stmt::constants("int", ends));
        for (first, end) in [(begin, var("below")), (var("above"), end)] {
            let mut run = self.first_place(&kind, target, &first);
            run.extend(unrolled_by(4, Stmt::each("int", "point", first, point().lt(end), 1, store())));
            body.push(Stmt::Block(run));
        }
        body
    }

    /// What a row writes.
    fn write(&self, row: &LocalRow) -> Access {
        let target = self.program.statements[row.statement].target;
        Access { field: target, time: 1, offset: vec![0; self.dimension()] }
    }
}
