//! How the cells that enter a window are loaded.
//!
//! Cells lie on lines along the innermost dimension; a thread has one column and a part of the lines. It first issues
//! the loads of a batch of lines and then stores their values in shared memory, so that the batch waits for memory
//! only once.

use super::super::points::{INT, end, plus};
use super::printer::Printer;
use super::text::{here, thread};
use crate::geometry::Threads;
use crate::window::Plane;
use c_tree::{Block, Declaration, Expr, Stmt, all, any, flag, int, name, truth, var};
use polyhedral::domain::Bound;
use polyhedral::program::FieldRole;
use polyhedral::sweep::{CellBox, Live};

/// Registers that hold a batch in a full tile.
const BATCH: i64 = 16;

/// Lines in a batch of a tile that may be partial: their conditions need registers, too.
const CLIPPED_BATCH: i64 = 2;

/// The cells of one box, as a thread sees them.
struct Part<'a> {
    plane: &'a Plane,
    cells: &'a CellBox,
    /// Lines of the box, and of a thread.
    lines: i64,
    mine: i64,
}

/// The number of the thread among those that share the lines: all threads but those along the columns.
pub(super) fn lane(threads: &Threads, sliding: bool) -> Expr {
    (1..line_dimensions(threads, sliding))
        .fold(thread(threads, 0), |lane, d| lane * threads.per_dimension[d] + thread(threads, d))
}

/// The dimensions that tell lines apart.
fn line_dimensions(threads: &Threads, sliding: bool) -> usize {
    threads.per_dimension.len() - usize::from(sliding)
}

/// A coordinate in the window.
fn cell_index(d: usize) -> Expr {
    var(format!("w{d}"))
}

/// A point of the grid.
fn point(d: usize) -> Expr {
    var(format!("p{d}"))
}

impl Printer<'_> {
    fn lanes(&self) -> i64 {
        let threads = &self.staging.threads;
        threads.per_dimension[..line_dimensions(threads, self.staging.window.slide.is_some())]
            .iter()
            .product()
    }

    fn part<'a>(&self, plane: &'a Plane, cells: &'a CellBox) -> Part<'a> {
        let lines = cells.iter().map(|(low, high)| high - low + 1).product();
        Part { plane, cells, lines, mine: (lines + self.lanes() - 1) / self.lanes() }
    }

    fn registers(&self, plane: &Plane) -> i64 {
        self.program.fields[plane.field].element.bytes() as i64 / 4
    }

    fn element(&self, plane: &Plane) -> &'static str {
        self.program.fields[plane.field].element.c_name()
    }

    /// The loads of a full tile: exactly the cells that are live in, in batches over all planes.
    pub(super) fn exact_loads(&self) -> Block {
        let window = self.staging.window;
        let parts =
            window.planes.iter().flat_map(|plane| plane.live_in.iter().map(move |cells| (plane, cells)));
        let mut batches: Vec<Vec<Part<'_>>> = Vec::new();
        let mut used = BATCH;
        for (plane, cells) in parts {
            let part = self.part(plane, cells);
            let registers = part.mine * self.registers(plane);
            if used + registers > BATCH {
                batches.push(Vec::new());
                used = 0;
            }
            used += registers;
            if let Some(batch) = batches.last_mut() {
                batch.push(part);
            }
        }
        batches.iter().flat_map(|batch| self.exact_batch(batch)).collect()
    }

    fn exact_batch(&self, batch: &[Part<'_>]) -> Block {
        let (window, threads) = (self.staging.window, &self.staging.threads);
        let last = self.dimension() - 1;
        let next = |number: usize| name(format!("tw_next{number}"));
        let k = || var("k");
        let mut inner = Block::new();
        for (number, part) in batch.iter().enumerate() {
            let registers =
                Declaration::array(self.element(part.plane), format!("tw_next{number}"), part.mine);
            inner.push(Stmt::Declare(vec![registers]));
        }
        for (number, part) in batch.iter().enumerate() {
            let load = Stmt::assign(next(number).at(k()), self.source(part.plane));
            inner.extend(self.exact_loop(part, load));
        }
        for (number, part) in batch.iter().enumerate() {
            let store = Stmt::assign(self.cell(part.plane), next(number).at(k()));
            inner.extend(self.exact_loop(part, store));
        }
        let lines =
            batch.iter().map(|part| format!("{} line(s) of {}", part.lines, self.plane_comment(part.plane)));
        let mut block = Block::from(Stmt::Comment(lines.collect::<Vec<_>>().join("; ")));
        let entering = int(window.kept) + thread(threads, last);
        match window.slide {
            Some(slide) if slide == threads.per_dimension[last] => {
                inner.statements.insert(0, Stmt::constant("int", format!("w{last}"), entering));
                block.push(Stmt::Block(inner));
            }
            Some(_) => {
                let condition = cell_index(last).lt(window.extent[last]);
                let step = threads.per_dimension[last];
                block.push(Stmt::each("int", format!("w{last}"), entering, condition, step, inner));
            }
            None => block.push(Stmt::Block(inner)),
        }
        block
    }

    /// `statement` for each of a thread's lines.
    fn exact_loop(&self, part: &Part<'_>, statement: Stmt) -> [Stmt; 2] {
        let (k, line) = (var("k"), var("line"));
        let mut body = Block::from(Stmt::constant("int", "line", var("lane") + &k * self.lanes()));
        body.extend(self.line_coordinates(part.cells));
        body.push(match part.lines % self.lanes() {
            0 => statement,
            _ => Stmt::when(k.lt(part.mine - 1).or(line.lt(part.lines)), statement),
        });
        [Stmt::Pragma("unroll".into()), Stmt::count("int", "k", 0, part.mine, body)]
    }

    /// Window coordinates of line number `line` of a box.
    fn line_coordinates(&self, cells: &CellBox) -> Block {
        let mut below = 1;
        let mut body = Block::new();
        for (d, (low, high)) in cells.iter().enumerate().rev() {
            let count = high - low + 1;
            let quotient = var("line") / below;
            let number = match (d, count) {
                (0, _) => quotient,
                (_, 1) => int(0),
                _ => quotient % count,
            };
            body.push(Stmt::constant("int", format!("w{d}"), int(*low) + number));
            below *= count;
        }
        body
    }

    /// The loads of a tile that may be partial: cells on the grid that are read and wanted.
    pub(super) fn clipped_loads(&self) -> Block {
        let planes = self.staging.window.planes.iter();
        planes
            .flat_map(|plane| plane.read.iter().map(move |cells| self.clipped_load(&self.part(plane, cells))))
            .flatten()
            .collect()
    }

    fn clipped_load(&self, part: &Part<'_>) -> Block {
        let (window, threads) = (self.staging.window, &self.staging.threads);
        let plane = part.plane;
        let last = self.dimension() - 1;
        let batch = part.mine.min(CLIPPED_BATCH);
        let (k, line) = (var("k"), var("line"));
        let loaded = || Expr::Index(Box::new(flag("here")), Box::new(var("k")));
        let next = name("tw_next").at(&k);
        let on_grid = (0..=last).map(|d| point(d).ge(0).and(point(d).lt(var(format!("n{d}")))));
        let conditions = [line.lt(part.lines)].into_iter().chain(on_grid).chain([self.wanted(plane)]);
        let conditions = all(conditions);
        let lines = |inner: Block| {
            let number = var("first_line") + (var("begin") + var("k")) * self.lanes();
            let mut body = Block::from(Stmt::constant("int", "line", number));
            body.extend(self.line_coordinates(part.cells));
            body.extend(inner);
            [Stmt::Pragma("unroll".into()), Stmt::count("int", "k", 0, batch, body)]
        };
        let points = (0..=last).map(|d| {
            let corner = var(format!("corner{d}")) + cell_index(d) + window.low[d];
            Stmt::constant(INT, format!("p{d}"), corner)
        });
        let mut load: Block = points.collect();
        load.push(Stmt::assign(loaded(), conditions));
        load.push(Stmt::when(loaded(), Stmt::assign(next.clone(), self.source(plane))));
        let store = Stmt::when(loaded(), Stmt::assign(self.cell(plane), next));

        let mut inner = Block::from([
            Stmt::constant("int", "first_line", here(var("lane"))),
            Stmt::Declare(vec![Declaration::array(self.element(plane), "tw_next", batch)]),
            Stmt::Declare(vec![Declaration::array("bool", "here", batch)]),
        ]);
        inner.extend(lines(load));
        inner.extend(lines(store.into()));
        let mut body = Block::from(Stmt::Pragma("unroll 1".into()));
        body.push(Stmt::each("int", "begin", 0, var("begin").lt(part.mine), batch, inner));
        if window.slide.is_some() {
            let first = var("entering") + thread(threads, last);
            let condition = cell_index(last).lt(window.extent[last]);
            let step = threads.per_dimension[last];
            let columns = Stmt::each("int", format!("w{last}"), first, condition, step, body);
            body = Block::from([Stmt::Pragma("unroll 1".into()), columns]);
        }
        let comment = format!("{} line(s) of {}", part.lines, self.plane_comment(plane));
        let mut block = Block::from(Stmt::Comment(comment));
        block.extend(body);
        block
    }

    fn plane_comment(&self, plane: &Plane) -> String {
        let field = &self.program.fields[plane.field];
        match field.role {
            FieldRole::Coefficient => field.name.clone(),
            FieldRole::State { .. } => format!("{}, plane {}", field.name, plane.number),
        }
    }

    /// The cell at window coordinates `w0`, `w1`, ..
    fn cell(&self, plane: &Plane) -> Expr {
        let window = self.staging.window;
        let first = int(plane.number * window.cells());
        let terms = (0..self.dimension()).map(|d| cell_index(d) * window.stride(d));
        name(self.array(plane.field)).at(terms.fold(first, plus))
    }

    /// Its place in memory.
    fn source(&self, plane: &Plane) -> Expr {
        let last = self.dimension() - 1;
        let slot = (self.slots(plane.field) > 1).then(|| var(self.slot_name(plane)));
        let along = (0..=last).map(|d| match d == last {
            true => cell_index(d),
            false => cell_index(d) * var(format!("stride{d}")),
        });
        let place = slot.into_iter().chain([var("window")]).chain(along).reduce(plus);
        name(&self.names.fields[plane.field]).at(place.unwrap_or(int(0)))
    }

    /// Which of the cells that are read have to be loaded into a tile that may be partial.
    ///
    /// Cells of the fixed boundary, because no row writes them, and of the others those that are live in.
    fn wanted(&self, plane: &Plane) -> Expr {
        let inside = |cells: &CellBox| {
            let tests = cells.iter().enumerate();
            all(tests.map(|(d, (low, high))| cell_index(d).ge(*low).and(cell_index(d).le(*high))))
        };
        let live = |boxes: &[CellBox]| match boxes {
            boxes if !boxes.is_empty() && boxes == plane.read => truth(true),
            boxes => any(boxes.iter().map(inside)),
        };
        let condition = |cells: &Live| {
            let (early, usual) = (live(&cells.early), live(&cells.usual));
            if early == usual { usual } else { var("first_step").lt(0).select(early, usual) }
        };
        let conditions: Vec<Expr> = plane.clipped.iter().map(condition).collect();
        let Some(first) = conditions.first() else { return truth(true) };
        let alike = conditions.iter().all(|condition| condition == first);
        if alike && *first == truth(true) {
            return truth(true);
        }
        // Outside every domain, one after the other; each outside is a disjunction of sides.
        let outsides: Vec<Expr> = plane.clipped.iter().map(|cells| self.outside(cells.writer)).collect();
        let boundary = all(outsides.iter().cloned());
        if alike {
            return boundary.or(first.clone());
        }
        let own = conditions.iter().zip(&outsides);
        any([boundary].into_iter().chain(own.map(|(condition, outside)| (!outside.clone()).and(condition))))
    }

    /// The condition that the point `p0`, `p1`, .. lies outside the domain of a statement.
    fn outside(&self, statement: usize) -> Expr {
        let sides = self.program.statements[statement].domain.iter().enumerate().map(|(d, interval)| {
            let size = || var(format!("n{d}"));
            // The points that are asked about lie on the grid.
            let below = match interval.low == Bound::start(0) {
                true => truth(false),
                false => point(d).lt(end(interval.low, size())),
            };
            let above = match interval.high == Bound::end(0) {
                true => truth(false),
                false => point(d).ge(end(interval.high, size())),
            };
            below.or(above)
        });
        any(sides)
    }
}
