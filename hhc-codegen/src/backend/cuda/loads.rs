//! How the cells that enter a window are loaded.
//!
//! Cells lie on lines along the innermost dimension; a thread has one column and every so many lines. It first issues the
//! loads of many lines and then stores their values in shared memory, so that all of them wait for memory only once.

use super::super::points::{INT, max, min, plus};
use super::cells::{cell_index, cell_of};
use super::full_rows::OWN;
use super::printer::Printer;
use super::text::{here, thread, unrolled, unrolled_by};
use super::wanted::Known;
use super::ways;
use crate::window::Plane;
use c_tree::{BinaryOp, Block, Declaration, Expr, Stmt, all, int, name, var};
use polyhedral::domain::Bound;
use polyhedral::program::FieldRole;
use polyhedral::sweep::CellBox;

/// Registers that hold a batch in a full tile.
pub(super) const BATCH: i64 = 32;

/// Registers that hold a batch in a tile that may be partial: conditions need some, too.
const CLIPPED_BATCH: i64 = 4;

/// Points of a thread in a full sub-tile for which one more product of 64 bits is nothing.
const MANY_POINTS: i64 = 256;

/// The place in memory of a thread's own cell at its column, and the place of the line that it loads from.
const FIRST: &str = "tw_first";
const FROM: &str = "tw_from";

/// The cells of one box, as a thread sees them.
pub(super) struct Part<'a> {
    pub(super) plane: &'a Plane,
    pub(super) cells: &'a CellBox,
    /// Lines of a thread along each dimension that tells lines apart.
    pub(super) mine: Vec<i64>,
}

impl Part<'_> {
    /// Lines of a thread.
    pub(super) fn lines(&self) -> i64 {
        self.mine.iter().product()
    }
}

/// The thread's number among those that share the lines of a dimension, made anew for each sub-tile.
pub(super) fn lane(d: usize) -> String {
    format!("lane{d}")
}

impl Printer<'_> {
    /// The dimensions that tell lines apart.
    pub(super) fn line_dimensions(&self) -> usize {
        self.dimension() - usize::from(self.staging.window.slide.is_some())
    }

    /// The declarations of the numbers of a thread's first line, `lane0`, ..
    pub(super) fn lanes(&self) -> Vec<Stmt> {
        let threads = &self.staging.threads;
        let several = (0..self.line_dimensions()).filter(|&d| threads.per_dimension[d] > 1);
        several.map(|d| Stmt::constant("int", lane(d), here(thread(threads, d)))).collect()
    }

    fn part<'a>(&self, plane: &'a Plane, cells: &'a CellBox) -> Part<'a> {
        let threads = &self.staging.threads.per_dimension;
        let count = |(&(low, high), threads): (&(i64, i64), &i64)| (high - low + threads) / threads;
        Part { plane, cells, mine: cells.iter().zip(threads).map(count).collect() }
    }

    pub(super) fn element(&self, plane: &Plane) -> &'static str {
        self.program.fields[plane.field].element.c_name()
    }

    /// What is loaded in a full tile: exactly the cells that are live in.
    pub(super) fn live_in(&self) -> impl Iterator<Item = Part<'_>> {
        let planes = self.staging.window.planes.iter();
        planes.flat_map(move |plane| plane.live_in.iter().map(move |cells| self.part(plane, cells)))
    }

    /// What is loaded in other tiles: of these cells those that are wanted.
    pub(super) fn read_parts(&self) -> impl Iterator<Item = Part<'_>> {
        let planes = self.staging.window.planes.iter();
        planes.flat_map(move |plane| plane.read.iter().map(move |cells| self.part(plane, cells)))
    }

    /// Registers of a thread for the cells of a part.
    pub(super) fn registers(&self, part: &Part<'_>) -> i64 {
        part.lines() * self.program.fields[part.plane.field].element.bytes() as i64 / 4
    }

    /// What is not loaded ahead, in batches over all planes.
    fn batches(&self) -> Vec<Vec<Part<'_>>> {
        let mut batches: Vec<Vec<Part<'_>>> = Vec::new();
        let mut used = BATCH;
        for part in self.live_in().skip(self.parts_ahead()) {
            let registers = self.registers(&part);
            if used + registers > BATCH {
                batches.push(Vec::new());
                used = 0;
            }
            used += registers;
            if let Some(batch) = batches.last_mut() {
                batch.push(part);
            }
        }
        batches
    }

    /// The cells of a full tile: exactly those that are live in, but those that were loaded ahead.
    pub(super) fn exact_loads(&self) -> Block {
        let mut inner = Block::new();
        for batch in self.batches() {
            inner.comment(self.comment_of(&batch));
            let mut own = self.batch_registers(&batch);
            own.extend(self.batch_loads(&batch));
            own.extend(self.batch_stores(&batch));
            inner.push(Stmt::Block(self.columns(own)));
        }
        inner
    }

    /// What was loaded ahead goes to the window.
    pub(super) fn stores_ahead(&self) -> Block {
        let ahead = self.batch_ahead();
        let mut block = Block::new();
        block.comment(self.comment_of(&ahead));
        block.push(Stmt::Block(self.columns(self.batch_stores(&ahead))));
        block
    }

    fn comment_of(&self, batch: &[Part<'_>]) -> String {
        let lines = batch
            .iter()
            .map(|part| format!("{} of {}", self.lines_comment(part), self.plane_comment(part.plane)));
        lines.collect::<Vec<_>>().join("; ")
    }

    fn lines_comment(&self, part: &Part<'_>) -> String {
        let lines: Vec<String> = part
            .cells
            .iter()
            .map(|(low, high)| if low == high { low.to_string() } else { format!("{low} .. {high}") })
            .collect();
        format!("lines {}", lines.join(", "))
    }

    /// The column of a thread, `ahead` cells further.
    pub(super) fn column(&self, ahead: i64) -> Option<Stmt> {
        let (window, threads) = (self.staging.window, &self.staging.threads);
        let last = self.dimension() - 1;
        let entering = int(window.kept + ahead) + thread(threads, last);
        window.slide.map(|_| Stmt::constant("int", format!("w{last}"), entering))
    }

    /// `inner` for each column of a thread.
    fn columns(&self, mut inner: Block) -> Block {
        let (window, threads) = (self.staging.window, &self.staging.threads);
        let last = self.dimension() - 1;
        match window.slide {
            Some(slide) if slide == threads.per_dimension[last] => {
                inner.statements.splice(0..0, self.column(0));
                inner
            }
            Some(_) => {
                let condition = cell_index(last).lt(window.extent[last]);
                let entering = int(window.kept) + thread(threads, last);
                let step = threads.per_dimension[last];
                Stmt::each("int", format!("w{last}"), entering, condition, step, inner).into()
            }
            None => inner,
        }
    }

    /// The names of the registers of a part, in which plane and box tell them apart.
    pub(super) fn register_name(&self, part: &Part<'_>) -> String {
        let own = part.plane.live_in.iter().position(|cells| cells == part.cells).unwrap_or(0);
        format!("tw_{}{}_{own}", self.names.fields[part.plane.field], part.plane.number)
    }

    pub(super) fn register(&self, part: &Part<'_>) -> Expr {
        name(self.register_name(part))
    }

    pub(super) fn batch_registers(&self, batch: &[Part<'_>]) -> Block {
        let registers = |part: &Part<'_>| {
            Stmt::Declare(vec![Declaration::array(
                self.element(part.plane),
                self.register_name(part),
                part.lines(),
            )])
        };
        batch.iter().map(registers).collect()
    }

    pub(super) fn batch_loads(&self, batch: &[Part<'_>]) -> Block {
        let source = |part: &Part<'_>| self.source(part, self.exact_by_distances(part));
        let load = |part: &Part<'_>, k: Expr| Stmt::assign(self.register(part).at(k), source(part));
        if batch.is_empty() {
            return Block::new();
        }
        let mut block = Block::from(Stmt::constant(INT, FIRST, self.own_place()));
        block.extend(batch.iter().flat_map(|part| self.exact_lines(part, true, &|k| load(part, k))));
        block
    }

    fn batch_stores(&self, batch: &[Part<'_>]) -> Block {
        let store = |part: &Part<'_>, k: Expr| Stmt::assign(self.cell(part.plane), self.register(part).at(k));
        batch.iter().flat_map(|part| self.exact_lines(part, false, &|k| store(part, k))).collect()
    }

    /// A statement for each of a thread's lines, with the number of the line among them. `walks` says whether it needs the
    /// line's place in memory, which goes on from line to line.
    fn exact_lines(&self, part: &Part<'_>, walks: bool, statement: &dyn Fn(Expr) -> Stmt) -> Block {
        let counter = |d: usize| if part.mine[d] > 1 { var(format!("k{d}")) } else { int(0) };
        let number = (1..part.mine.len()).chain([0]).fold(int(0), |number, d| match part.mine[d] {
            1 => number,
            mine => number * mine + counter(d),
        });
        let mut inner: Block = statement(number).into();
        for d in 0..part.mine.len() {
            let condition = self.on_line(part, d);
            let needed = !walks || condition.is_some();
            inner = match condition {
                Some(condition) => Stmt::when(condition, inner).into(),
                None => inner,
            };
            inner.statements.splice(0..0, needed.then(|| self.line_coordinate(part, d, counter(d))));
            inner = match part.mine[d] {
                1 => inner,
                mine => {
                    let inner = if walks { self.walking(part, d, inner) } else { inner };
                    unrolled(Stmt::count("int", format!("k{d}"), 0, mine, inner))
                }
            };
        }
        if walks {
            inner.statements.insert(0, self.first_line(part, name(FIRST)));
        }
        Stmt::Block(inner).into()
    }

    /// Whether a thread that loads exactly goes from line to line by distances. In two dimensions, where these need more registers, it adds
    /// strides where its first line is the window's, which it finds without a product, and where it computes so many points of one field
    /// in between that a product does not matter.
    fn exact_by_distances(&self, part: &Part<'_>) -> bool {
        match self.dimension() {
            1 => false,
            2 => {
                let many = self.program.fields.len() == 1 && self.points_of_a_thread() >= MANY_POINTS;
                part.cells[0].0 != 0 && !many
            }
            _ => true,
        }
    }

    /// Points that a thread computes in a full sub-tile, about.
    fn points_of_a_thread(&self) -> i64 {
        let boxes = self.staging.local.rows.iter().filter(|row| row.in_full_tiles).flat_map(|row| &row.boxes);
        let points =
            |bounds: &Vec<(i64, i64)>| bounds.iter().map(|(low, high)| high - low + 1).product::<i64>();
        boxes.map(points).sum::<i64>() / self.staging.threads.count().max(1)
    }

    /// The same of a tile that may be partial. In two dimensions, where conditions need registers beside those of many lines, it finds
    /// each batch by strides.
    fn clipped_by_distances(&self) -> bool {
        self.dimension() == 3
    }

    /// The element that a thread loads from.
    fn source(&self, part: &Part<'_>, distances: bool) -> Expr {
        match distances {
            true => name(FROM).at(0),
            false => name(&self.names.fields[part.plane.field]).at(name(FROM)),
        }
    }

    /// The declaration of the place in memory of a thread's first line, from where its line 0 of a slot's beginning lies.
    fn first_line(&self, part: &Part<'_>, own: Expr) -> Stmt {
        let field = part.plane.field;
        let slot = (self.slots(field) > 1).then(|| var(self.slot_name(part.plane)));
        let mut lines: Vec<i64> = part.cells.iter().map(|(low, _)| *low).collect();
        // Where the window does not slide, lines are told apart along all dimensions.
        let outer = self.dimension() - 1;
        let cell = lines.get(outer).copied().unwrap_or(0);
        lines.resize(outer, 0);
        let cell = (cell != 0).then(|| int(cell));
        let line = (outer == 1 && lines[0] != 0 && !self.exact_by_distances(part))
            .then(|| int(lines[0]) * var("stride0"));
        let first = [own].into_iter().chain(slot).chain(line).chain(cell).reduce(plus).unwrap_or(int(0));
        if !self.exact_by_distances(part) {
            return Stmt::declare(INT, FROM, first);
        }
        let place = self.further(name(&self.names.fields[field]) + first, field, &lines);
        Stmt::declare(self.pointer(part), FROM, place)
    }

    /// The same of a batch of lines, each of which is found anew: in two dimensions registers are short there.
    fn first_clipped(&self, part: &Part<'_>, several: bool) -> Stmt {
        let threads = &self.staging.threads;
        let (last, step) = (self.dimension() - 1, threads.per_dimension[0]);
        let field = part.plane.field;
        let slot = (self.slots(field) > 1).then(|| var(self.slot_name(part.plane)));
        let first = int(part.cells[0].0);
        let first = if last > 0 && step > 1 { first + var(lane(0)) } else { first };
        let first = if several { plus(first, var("begin") * step) } else { first };
        // Where one field is loaded, batches are few, and products of 32 bits need more registers.
        let alike = matches!(first, Expr::Int(_)) || self.program.fields.len() == 1;
        let line = (first != int(0)).then(|| match last {
            0 => first,
            _ if alike => first * var("stride0"),
            _ => ways::lines_of_window(first, self.staging.window.extent[0]),
        });
        let column = (last > 0).then(|| cell_index(last) - thread(threads, last));
        let first = slot.into_iter().chain([var(OWN)]).chain(line).chain(column).reduce(plus);
        Stmt::declare(INT, FROM, first.unwrap_or(int(0)))
    }

    /// What is done on one of a thread's lines along a dimension, after which the place in memory goes on to the next one; it is
    /// where it was, whatever that did to it.
    fn walking(&self, part: &Part<'_>, d: usize, inner: Block) -> Block {
        let threads = &self.staging.threads.per_dimension;
        let own = format!("{FROM}{d}");
        let before = if d == 0 { FROM } else { own.as_str() };
        let next = self.lines_on(name(before), part, d, threads[d], self.exact_by_distances(part));
        let mut body = Block::new();
        if d > 0 {
            let kind = if self.exact_by_distances(part) { self.pointer(part) } else { INT.to_owned() };
            body.push(Stmt::declare(kind, &own, name(FROM)));
        }
        body.extend(inner);
        body.push(Stmt::assign(name(FROM), next));
        body
    }

    /// The place so many lines further along a dimension.
    fn lines_on(&self, place: Expr, part: &Part<'_>, d: usize, count: i64, distances: bool) -> Expr {
        let field = part.plane.field;
        match d + 1 < self.dimension() {
            true if !distances => place + int(count) * var(format!("stride{d}")),
            true => {
                let mut lines = vec![0; self.dimension() - 1];
                lines[d] = count;
                self.ways.steps_further(place, &lines, self.element_bytes(field))
            }
            false => place + count,
        }
    }

    /// Whether a thread's line is one of the box, along a dimension in which threads have different numbers of lines.
    pub(super) fn on_line(&self, part: &Part<'_>, d: usize) -> Option<Expr> {
        let (low, high) = part.cells[d];
        ((high - low + 1) % self.staging.threads.per_dimension[d] != 0).then(|| cell_index(d).le(high))
    }

    /// The window coordinate of a thread's line with this number along a dimension.
    fn line_coordinate(&self, part: &Part<'_>, d: usize, number: Expr) -> Stmt {
        let threads = &self.staging.threads.per_dimension;
        let low = int(part.cells[d].0);
        let first = if threads[d] > 1 { low + var(lane(d)) } else { low };
        let line = if part.mine[d] > 1 { plus(first, number * threads[d]) } else { first };
        Stmt::constant("int", format!("w{d}"), line)
    }

    /// The declarations of `start0`, `end0`, ..: the cells of the window at which the grid begins and ends, if they are
    /// near.
    pub(super) fn ends_of_the_grid(&self, size: &dyn Fn(String) -> Expr) -> Vec<Stmt> {
        let window = self.staging.window;
        let first = |d: usize| var(format!("corner{d}")) + window.low[d];
        let far = || var("TW_FAR");
        let ends = (0..self.dimension()).map(|d| {
            let start = max(-first(d), -far()).cast("int");
            let end = min(size(format!("n{d}")) - first(d), far()).cast("int");
            Stmt::constants("int", [(format!("start{d}"), start), (format!("end{d}"), end)])
        });
        ends.collect()
    }

    /// The loads of a tile that may be partial: cells on the grid that are read and wanted.
    pub(super) fn clipped_loads(&self) -> Block {
        let mut block = Block::new();
        if !self.staging.rows_of_all {
            // Here alone: the compiler would find them in all sub-tiles.
            block.extend(self.ends_of_the_grid(&|size| here(var(size))));
        }
        let loads: Block = self.read_parts().flat_map(|part| self.clipped_load(&part)).collect();
        match self.inside_loads() {
            Some((inside, simple)) => block.push(Stmt::choose(inside, simple, loads)),
            None => block.extend(loads),
        }
        block
    }

    /// Lines along dimension 0 come in batches.
    fn clipped_load(&self, part: &Part<'_>) -> Block {
        let (window, threads) = (self.staging.window, &self.staging.threads);
        let plane = part.plane;
        let last = self.dimension() - 1;
        let words = self.program.fields[plane.field].element.bytes() as i64 / 4;
        // Batches of equal length.
        let batches = (part.mine[0] * words + CLIPPED_BATCH - 1) / CLIPPED_BATCH;
        let batch = (part.mine[0] + batches - 1) / batches;
        let several = part.mine[0] > batch;
        let k = || if batch > 1 { var("k") } else { int(0) };
        let on_grid = |d: usize| {
            let [first, end] = [Bound::start(0), Bound::end(0)].map(|bound| cell_of(bound, d));
            cell_index(d).ge(first).and(cell_index(d).lt(end))
        };
        let uneven = part.mine[0] % batch != 0 || self.on_line(part, 0).is_some();
        let on_line = uneven.then(|| cell_index(0).le(part.cells[0].1));
        let number = |d: usize| match d {
            0 if several => var("begin") + k(),
            0 => k(),
            d => var(format!("k{d}")),
        };
        let each_line = |inner: Block| {
            let mut body = Block::from(self.line_coordinate(part, 0, number(0)));
            body.extend(inner);
            match batch {
                1 => Block::from(Stmt::Block(body)),
                _ => unrolled(Stmt::count("int", "k", 0, batch, body)),
            }
        };
        let step = threads.per_dimension[0];
        let conditions = all(on_line.into_iter().chain([on_grid(0), self.wanted(plane, Known::OnGrid)]));
        // All lines of a batch wait for memory at once.
        let source = self.source(part, self.clipped_by_distances());
        let value = name("tw_value").at(k());
        let bit = || Expr::binary(BinaryOp::Shl, int(1), k());
        let wanted = Stmt::Update(name("tw_wanted"), "|=", bit());
        let mut load = Block::from(Stmt::when(conditions, [wanted, Stmt::assign(value.clone(), source)]));
        if part.mine[0] > 1 {
            let next = self.lines_on(name(FROM), part, 0, step, self.clipped_by_distances());
            load.push(Stmt::assign(name(FROM), next));
        }
        let is_wanted = Expr::binary(BinaryOp::BitAnd, var("tw_wanted"), bit()).is_not(0);
        let store = Stmt::when(is_wanted, Stmt::assign(self.cell(plane), value));

        let mut body: Block = self.lanes().into_iter().take(1).filter(|_| step > 1).collect();
        if !self.clipped_by_distances() {
            body.push(self.first_clipped(part, several));
        }
        body.push(Stmt::Declare(vec![Declaration::array(self.element(plane), "tw_value", int(batch))]));
        body.push(Stmt::declare("int", "tw_wanted", 0));
        body.extend(each_line(load));
        body.extend(each_line(store.into()));
        let rolled = |statement: Stmt| unrolled_by(1, statement);
        body = match several {
            true => rolled(Stmt::each("int", "begin", 0, var("begin").lt(part.mine[0]), batch, body)),
            false => Block::from(Stmt::Block(body)),
        };
        for d in 1..part.cells.len() {
            let on_line = self.on_line(part, d).into_iter().chain([on_grid(d)]);
            body = Stmt::when(all(on_line), body).into();
            body.statements.insert(0, self.line_coordinate(part, d, number(d)));
            body = match part.mine[d] {
                1 => Stmt::Block(body).into(),
                mine => {
                    let body = if self.clipped_by_distances() { self.walking(part, d, body) } else { body };
                    rolled(Stmt::count("int", format!("k{d}"), 0, mine, body))
                }
            };
        }
        if self.clipped_by_distances() {
            body.statements.insert(0, self.first_line(part, self.own_place()));
        }
        if window.slide.is_none() {
            body = Stmt::Block(body).into();
        }
        if window.slide.is_some() {
            body = Stmt::when(on_grid(last), body).into();
            let first = var("entering") + thread(threads, last);
            let condition = cell_index(last).lt(window.extent[last]);
            let step = threads.per_dimension[last];
            body = rolled(Stmt::each("int", format!("w{last}"), first, condition, step, body));
        }
        let comment = format!("{} of {}", self.lines_comment(part), self.plane_comment(plane));
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
        self.cell_on_line(plane, cell_index(0))
    }

    /// The cell on this line along dimension 0, at `w1`, ..
    pub(super) fn cell_on_line(&self, plane: &Plane, line: Expr) -> Expr {
        let window = self.staging.window;
        let first = int(plane.number * window.cells());
        let along = |d: usize| if d == 0 { line.clone() } else { cell_index(d) };
        let terms = (0..self.dimension()).map(|d| along(d) * window.stride(d));
        name(self.array(plane.field)).at(terms.fold(first, plus))
    }
}
