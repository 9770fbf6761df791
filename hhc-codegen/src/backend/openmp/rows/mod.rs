//! The functions of a statement, or of several whose rows are one: blocks of neighbouring points, rows made of whole blocks,
//! and boxes of rows. Several neighbouring rows of one statement are computed at once, because they share loads; several
//! statements at a point, because they share values.

mod shifted;

use super::below::Below;
use super::copy;
use super::grid::level_of_access;
use super::moving;
use crate::backend::constants::{self, Constant, Source};
use crate::backend::expression::{Index, Values, indices_used, together};
use crate::backend::names::Names;
use crate::backend::points::{INT, as_it_is, moved, place};
use crate::geometry::{asks_ahead, block_points, is_edge, rows_at_once};
use crate::plan::{KernelPlan, RowOrder, adds_numbers, joined_rows};
use c_tree::{Block, Dialect, Expr, Function, Sort, Stmt, Type, int, name, var};
use polyhedral::program::{Access, ElementType, Program};
use std::collections::{BTreeMap, BTreeSet};

/// So many rows at once are computed in blocks of one vector, a single one in whole cache lines. Compilers unroll a loop over
/// the vectors of a line only where its body is short; else they compute the addresses of all rows anew for each line.
const ROWS_IN_VECTORS: usize = 2;
/// So many rows at once have code for rows that are shorter than a block, too: they are few, and code for more takes the compiler long.
const ROWS_OF_SHORT_ONES: usize = 4;
/// So far ahead of a block are the lines that it asks for: four lines.
const AHEAD_BYTES: i64 = 256;
/// The place at which the last index is 0.
const LINE: &str = "tw_line";

/// The functions of all rows of these plans that are not printed part by part: the same for all tilings of a program.
pub(super) fn functions(plans: &[KernelPlan], names: &Names, below: Below) -> Vec<String> {
    in_one_file(of_plans(plans, names, "static", below))
}

/// Whether any of these functions shifts vectors.
pub(super) fn shift(functions: &[String]) -> bool {
    functions.iter().any(|text| text.contains("TW_SHIFTED_"))
}

/// The same for files of their own, with the names of their rows; those of edges, in one file; and the prototypes of what kernels call.
/// What takes a compiler long has a file for itself, which does not depend on what else there is: it is compiled once for all plans that
/// have such rows.
pub(super) fn functions_apart(plans: &[KernelPlan], names: &Names, below: Below) -> RowFiles {
    let rows = of_plans(plans, names, "TW_HIDDEN", below);
    let prototypes = rows.iter().map(|row| row.prototype.clone()).collect();
    let (edges, others): (Vec<RowText>, Vec<RowText>) = rows.into_iter().partition(|row| row.on_an_edge);
    let others = others.into_iter().map(|row| (row.label.clone(), in_one_file([row]))).collect();
    (others, in_one_file(edges), prototypes)
}

/// What [`functions_apart`] makes.
type RowFiles = (Vec<(String, Vec<String>)>, Vec<String>, Vec<String>);

/// The statements of each row of these plans, and whether no point of it may run twice: what its functions depend on.
pub fn forms(plans: &[KernelPlan]) -> BTreeMap<Vec<usize>, bool> {
    let mut all: BTreeMap<Vec<usize>, bool> = BTreeMap::new();
    for kernel in plans.iter().flat_map(|plan| &plan.kernels).filter(|kernel| !kernel.in_parts()) {
        for joined in joined_rows(kernel) {
            let once = joined.iter().any(|row| row.order != RowOrder::Parallel { repeats: true });
            *all.entry(joined.iter().map(|row| row.statement).collect()).or_default() |= once;
        }
    }
    all
}

/// The functions of one row.
struct RowText {
    label: String,
    on_an_edge: bool,
    /// What copies boundary values between steps, by statement.
    between: BTreeMap<usize, String>,
    texts: Vec<String>,
    /// Of the one that kernels call.
    prototype: String,
}

/// All of these in one file.
fn in_one_file(rows: impl IntoIterator<Item = RowText>) -> Vec<String> {
    let mut known: BTreeSet<usize> = BTreeSet::new();
    let of_row = |row: RowText| {
        let new = row.between.into_iter().filter(|(statement, _)| known.insert(*statement));
        new.map(|(_, text)| text).chain(row.texts).collect::<Vec<_>>()
    };
    rows.into_iter().flat_map(of_row).collect()
}

/// The functions; those that kernels call have this attribute.
fn of_plans(plans: &[KernelPlan], names: &Names, linkage: &'static str, below: Below) -> Vec<RowText> {
    let (has_copy, moving) = (copy::has_copy(&plans[0], below), below.moves());
    let of_row = |(statements, in_place): (Vec<usize>, bool)| {
        let program = &plans[0].program;
        let copied = statements.iter().filter(|_| has_copy);
        let between = copied.map(|&own| (own, copy::between_function(program, names, own))).collect();
        let label = row_label(program, &statements);
        let witness = statements.iter().any(|&own| plans[0].computes_witness(own));
        let update =
            Update { linkage, has_copy, moving, ..Update::new(&plans[0], names, statements, in_place) };
        let whole_box = if witness { update.witness_box() } else { update.whole_box() };
        let mut texts: Vec<String> = update.inner_functions().filter(|_| !witness).collect();
        texts.push(whole_box.print(Dialect::C));
        let prototype = whole_box.prototype(Dialect::C);
        RowText { label, on_an_edge: update.on_an_edge, between, texts, prototype }
    };
    forms(plans).into_iter().map(of_row).collect()
}

/// A name for a row of these statements: that of the first one, and how many there are.
fn row_label(program: &Program, statements: &[usize]) -> String {
    let mut label = program.statement_name(statements[0]);
    if statements.len() > 1 {
        label = format!("{label}_with_{}", statements.len() - 1);
        while (0..program.statements.len()).any(|other| program.statement_name(other) == label) {
            label.push('_');
        }
    }
    label
}

/// Name of the function that computes a box of a statement, or of several at each point.
pub(super) fn box_function(program: &Program, statements: &[usize]) -> String {
    format!("tw_update_{}", row_label(program, statements))
}

/// A pointer to one time level of a field.
pub(super) struct Plane {
    pub(super) name: String,
    /// What it points to.
    pub(super) element: Type,
    pub(super) value: Expr,
}

/// What a statement writes.
fn written(program: &Program, index: usize) -> Access {
    Access { field: program.statements[index].target, time: 1, offset: vec![0; program.dimension()] }
}

/// Pointers to the planes that statements touch, and the names of those that they write.
pub(super) fn planes(program: &Program, names: &Names, statements: &[usize]) -> (Vec<Plane>, Vec<String>) {
    let writes: Vec<Access> = statements.iter().map(|&index| written(program, index)).collect();
    let reads = statements.iter().flat_map(|&index| &program.statements[index].reads);
    let mut pointers: BTreeMap<String, Plane> = BTreeMap::new();
    for access in reads.chain(&writes) {
        let plane = names.plane(program, access);
        let value = level_of_access(&name("grid"), program, names, access);
        let element = Type::new(program.field(access.field).element.c_name());
        let is_written = writes.iter().any(|write| (write.field, write.time) == (access.field, access.time));
        let element = if is_written { element } else { element.constant() };
        pointers.insert(plane.clone(), Plane { name: plane, element, value });
    }
    let targets = writes.iter().map(|write| names.plane(program, write)).collect();
    (pointers.into_values().collect(), targets)
}

/// What the functions of a row have in common.
struct Update<'a> {
    program: &'a Program,
    names: &'a Names,
    /// The statements whose values it computes at each point.
    statements: Vec<usize>,
    /// The indices that their conditions ask for.
    indices: Vec<Index>,
    planes: Vec<Plane>,
    /// The planes that are written, by statement.
    targets: Vec<String>,
    constants: Vec<Constant>,
    /// Whether no point may run twice.
    in_place: bool,
    /// How many rows run at once: several, then fewer, at last one.
    rows: Vec<usize>,
    /// Points of a single row that are one block: whole cache lines.
    width: i64,
    /// Whether the points are few, those of an edge: rows are loops that a compiler vectorises as it likes.
    on_an_edge: bool,
    /// Whether grids may be copies of others.
    has_copy: bool,
    /// The attribute of the function that kernels call.
    linkage: &'static str,
    /// Whether bounds of the grid narrow each box.
    moving: bool,
}

impl<'a> Update<'a> {
    fn new(plan: &'a KernelPlan, names: &'a Names, statements: Vec<usize>, in_place: bool) -> Self {
        let program = &*plan.program;
        let all = || statements.iter().map(|&index| &program.statements[index]);
        let (planes, targets) = planes(program, names, &statements);
        let mut constants: Vec<Constant> = Vec::new();
        for constant in all().flat_map(|own| constants::all(program, names, own, Source::Grid, &names.time)) {
            if !constants.iter().any(|known| known.name == constant.name) {
                constants.push(constant);
            }
        }
        let mut indices: Vec<Index> = Vec::new();
        for index in all().flat_map(indices_used) {
            if !indices.contains(&index) {
                indices.push(index);
            }
        }
        let rows = match &statements[..] {
            &[alone] => rows_at_once(program, &program.statements[alone]),
            _ => vec![1],
        };
        let width = all().map(|own| block_points(program, own) as i64).min().unwrap_or(1);
        let on_an_edge = all().all(is_edge);
        Update {
            program,
            names,
            statements,
            indices,
            planes,
            targets,
            constants,
            in_place,
            rows,
            width,
            on_an_edge,
            has_copy: false,
            linkage: "static",
            moving: false,
        }
    }

    /// The functions that [`Self::whole_box`] calls.
    fn inner_functions(&self) -> impl Iterator<Item = String> {
        self.rows.iter().flat_map(|&rows| {
            let block = self.block(rows).print(Dialect::C);
            [Some(block), self.kept(rows), self.shifted(rows), Some(self.row(rows).print(Dialect::C))]
                .into_iter()
                .flatten()
        })
    }

    fn dimension(&self) -> usize {
        self.program.dimension()
    }

    fn strides(&self) -> impl Iterator<Item = String> {
        (0..self.dimension() - 1).map(|d| format!("stride{d}"))
    }

    fn row_name(&self, rows: usize) -> String {
        let many = if rows > 1 { format!("s{rows}") } else { String::new() };
        format!("tw_{}_row{many}", row_label(self.program, &self.statements))
    }

    fn comment(&self) -> String {
        let program = self.program;
        let place = format!("[{} + 1, {}]", program.time_index, program.space_indices.join(", "));
        let target = |&index: &usize| &program.field(program.statements[index].target).name;
        self.statements.iter().map(|index| format!("{}{place}", target(index))).collect::<Vec<_>>().join(", ")
    }

    /// The names of the indices that conditions ask for; instead of the last one, the place at which it is 0.
    fn places(&self) -> impl Iterator<Item = String> {
        let last = self.dimension() - 1;
        self.indices.iter().filter_map(move |index| match *index {
            Index::Time => Some(self.names.time.clone()),
            Index::Space(d) if d < last => Some(self.names.space[d].clone()),
            Index::Space(_) => (last > 0).then(|| LINE.to_owned()),
        })
    }

    /// A function of planes, strides, constants, and a part of a row.
    fn inner(&self, name: String) -> Function {
        let planes = self.planes.iter();
        let planes =
            planes.map(|plane| (plane.element.clone().pointer_alone(!self.in_place), plane.name.clone()));
        Function::new(name)
            .attribute("static TW_INLINE")
            .parameters(planes)
            .parameters(self.strides().map(|stride| (INT, stride)))
            .parameters(self.constants.iter().map(|constant| (constant.kind, constant.name.clone())))
            .parameters(self.places().map(|place| (INT, place)))
            .parameters([(INT, "first"), (INT, "last")])
    }

    /// A call of such a function, for a part of the present row.
    fn call(&self, function: &str, first: Expr, last: Expr) -> Stmt {
        self.call_in(function, var(LINE), first, last)
    }

    /// The same, in the row that begins at a place.
    fn call_in(&self, function: &str, line: Expr, first: Expr, last: Expr) -> Stmt {
        let places = self.places().map(|place| if place == LINE { line.clone() } else { var(place) });
        let planes = self.planes.iter().map(|plane| name(&plane.name));
        let constants = self.constants.iter().map(|constant| name(&constant.name));
        let arguments =
            planes.chain(self.strides().map(var)).chain(constants).chain(places).chain([first, last]);
        Stmt::call(function, arguments)
    }

    /// Several neighbouring rows at the points `first <= x < last`, as vectors.
    fn block(&self, rows: usize) -> Function {
        let program = self.program;
        let dimension = self.dimension();
        // Rows beside each other of one statement, or statements at one point.
        let mut points = Block::new();
        let mut results = Vec::new();
        for copy in 0..rows {
            let read = |access: &Access| {
                let mut offset = access.offset.clone();
                if dimension > 1 {
                    offset[0] += copy as i64;
                }
                name(self.names.plane(program, access)).at(moved(var("x"), &offset))
            };
            let own = |index| match index {
                Index::Time => var(&self.names.time),
                Index::Space(0) if dimension > 1 => var(&self.names.space[0]) + copy as i64,
                Index::Space(d) if d + 1 < dimension => var(&self.names.space[d]),
                Index::Space(_) if dimension > 1 => var("x") - var(LINE),
                Index::Space(_) => var("x"),
            };
            let copy = (rows > 1).then_some(copy);
            let values = |&statement: &usize| Values {
                program,
                names: self.names,
                statement,
                copy,
                locals: None,
                read: &read,
                index: &own,
            };
            let all: Vec<Values<'_>> = self.statements.iter().map(values).collect();
            let (locals, values) = match &all[..] {
                [alone] => (alone.locals(), vec![alone.value()]),
                all => together(all),
            };
            points.extend(locals);
            for (statement, value) in self.statements.iter().zip(values) {
                let element = program.field(program.statements[*statement].target).element.c_name();
                points.push(Stmt::constant(element, format!("tw_value{}", results.len()), value));
                results.push(copy.unwrap_or(0));
            }
        }
        for (number, copy) in results.into_iter().enumerate() {
            let mut offset = vec![0; dimension];
            offset[0] = copy as i64;
            let target = &self.targets[if rows > 1 { 0 } else { number }];
            let place = moved(var("x"), &offset);
            points.push(Stmt::assign(name(target).at(place), name(format!("tw_value{number}"))));
        }
        let unused = self.strides().filter(|stride| !points.mentions(stride));
        let mut body: Block = unused.map(Stmt::unused).collect();
        body.push(Stmt::Pragma("omp simd".into()));
        body.push(Stmt::count(INT, "x", var("first"), var("last"), points));
        let several = match rows {
            1 if self.statements.len() > 1 => ", which share values,".to_owned(),
            1 => String::new(),
            rows => format!(", {rows} neighbouring rows, which share loads,"),
        };
        self.inner(format!("{}_block", self.row_name(rows)))
            .comment(format!("{}{several} at the points first <= x < last", self.comment()))
            .body(body)
    }

    /// Points of a block of so many rows.
    fn block_width(&self, rows: usize) -> Expr {
        if rows < ROWS_IN_VECTORS || !self.narrowest() {
            return int(self.width);
        }
        let target = self.program.statements[self.statements[0]].target;
        var("TW_VECTOR") / self.program.field(target).element.bytes() as i64
    }

    /// The same in whole blocks. More rows than [`ROWS_OF_SHORT_ONES`] are no shorter than one, if their points may run twice.
    fn row(&self, rows: usize) -> Function {
        let row = self.row_name(rows);
        let block = format!("{row}_block");
        let vector = self.kept_name(rows).unwrap_or_else(|| block.clone());
        let (first, last, x) = (var("first"), var("last"), var("x"));
        let mut body = Block::new();
        if self.on_an_edge {
            body.push(self.call(&block, first, last));
            return self.inner(row).body(body);
        }
        let mut width = self.block_width(rows);
        if rows >= ROWS_IN_VECTORS && self.narrowest() {
            body.push(Stmt::constant(INT, "tw_width", width));
            width = var("tw_width");
        }
        let misaligned =
            Expr::call("TW_MISALIGNED", [name(&self.targets[0]) + &first, width.clone()], Sort::Integer);
        let next = &x + &width;
        let mut each: Block = self.ahead(rows).collect();
        let usual = self.call(&vector, x.clone(), next.clone());
        each.push(match self.shifted_name(rows) {
            Some(shifted) => {
                let is_inside = (&first + &width).le(&x).and((&next + &width).le(&last));
                // What registers keep is worth more.
                let shifts = match self.kept_name(rows) {
                    Some(_) => var("TW_SHIFTS").and(!var("TW_KEPT")),
                    None => var("TW_SHIFTS"),
                };
                let is_inside = shifts.and(is_inside);
                Stmt::choose(is_inside, [self.call(&shifted, x.clone(), next.clone())], [usual])
            }
            None => usual,
        });
        let whole = Stmt::go_on("x", next.le(&last), width.clone(), each);
        let is_short = (&last - &first).lt(width.clone());
        let end = var("tw_end");
        // One copy of the code serves both ends of a row: it is as long as that of whole blocks.
        let mut round = Block::new();
        if self.in_place {
            body.comment(
                "Whole blocks from an aligned place on; the ends by themselves, because no point may run twice.",
            );
            let aligned = &first + (width.clone() - misaligned) % width;
            body.push(Stmt::declare(INT, "x", first));
            body.push(Stmt::declare(INT, "tw_end", is_short.select(last.clone(), aligned)));
            round.push(self.call(&block, x.clone(), end.clone()));
            round.push(Stmt::when(end.clone().is(last.clone()), [Stmt::Return(None)]));
            round.push(Stmt::assign(x, end.clone()));
            round.push(whole);
            round.push(Stmt::assign(end, last));
        } else {
            if rows <= ROWS_OF_SHORT_ONES {
                let short = self.call(&block, first.clone(), last.clone());
                body.push(Stmt::when(is_short, [short, Stmt::Return(None)]));
            }
            body.comment(
                "Whole aligned blocks. The first and the last block may overlap them: those points run twice.",
            );
            body.push(Stmt::declare(INT, "tw_end", &first));
            round.push(self.call(&vector, end.clone(), &end + &width));
            round.push(Stmt::when((&end + &width).is(last.clone()), [Stmt::Return(None)]));
            round.push(Stmt::declare(INT, "x", &first + &width - misaligned));
            round.push(whole);
            round.push(Stmt::when(x.is(last.clone()), [Stmt::Return(None)]));
            round.push(Stmt::assign(end, &last - &width));
        }
        body.push(Stmt::While(int(1), round));
        self.inner(row).body(body)
    }

    /// Asks for the lines that blocks of so many rows will read, one of each row and plane. Of lines beside them, those behind
    /// were read by the rows before, and those ahead will be; along dimensions between the first and the last, where rows
    /// follow each other, the foremost line is the new one.
    fn ahead(&self, rows: usize) -> impl Iterator<Item = Stmt> {
        let program = self.program;
        let inner = self.dimension() - 1;
        let asking = |&&index: &&usize| asks_ahead(program, &program.statements[index]);
        let mut foremost: BTreeMap<String, (ElementType, Vec<i64>)> = BTreeMap::new();
        for read in self.statements.iter().filter(asking).flat_map(|&own| &program.statements[own].reads) {
            let none = || (program.field(read.field).element, vec![0; inner + 1]);
            let (_, line) = foremost.entry(self.names.plane(program, read)).or_insert_with(none);
            for (own, offset) in line.iter_mut().zip(&read.offset).take(inner).skip(1) {
                *own = (*own).max(*offset);
            }
        }
        foremost.into_iter().flat_map(move |(plane, (element, line))| {
            (0..rows as i64).map(move |row| {
                let mut line = line.clone();
                line[0] += row;
                let place = moved(var("x") + AHEAD_BYTES / element.bytes() as i64, &line);
                Stmt::call("TW_AHEAD", [name(&plane) + place])
            })
        })
    }

    /// Whether no value that is read takes fewer bytes than the one that is written: then a vector of those is one of
    /// the loop.
    fn narrowest(&self) -> bool {
        let statement = &self.program.statements[self.statements[0]];
        let bytes = |field| self.program.field(field).element.bytes();
        statement.reads.iter().all(|read| bytes(read.field) >= bytes(statement.target))
    }

    /// A box of points of a witness: whether any of them adds something in this step. Their sum says so, in any order, as nothing that
    /// is added is negative; it is no number where one of them is none.
    fn witness_box(&self) -> Function {
        let (program, names, dimension) = (self.program, self.names, self.dimension());
        let statement = self.statements[0];
        let target = program.statements[statement].target;
        let element = program.field(target).element;
        let zero = || if element == ElementType::F32 { Expr::f32(0.0) } else { Expr::f64(0.0) };
        let one = || if element == ElementType::F32 { Expr::f32(1.0) } else { Expr::f64(1.0) };
        let grid = name("grid");
        let kept = |number: i64| grid.arrow(&names.fields[target.0]).at(int(2) * var(&names.time) + number);
        let read = |access: &Access| match access.field == target {
            true => zero(),
            false => name(names.plane(program, access)).at(moved(var("x"), &access.offset)),
        };
        let own = |index| match index {
            Index::Time => var(&names.time),
            Index::Space(d) if d + 1 < dimension => var(&names.space[d]),
            Index::Space(_) if dimension > 1 => var("x") - var(LINE),
            Index::Space(_) => var("x"),
        };
        let values = Values { program, names, statement, copy: None, locals: None, read: &read, index: &own };
        let mut points: Block = values.locals().into_iter().collect();
        points.push(Stmt::assign(name("tw_sum"), name("tw_sum") + values.value()));
        let ends = |d: usize| (var(format!("low{d}")), var(format!("high{d}")));
        let at = |last: Expr| {
            let mut point: Vec<Expr> = names.space.iter().map(var).collect();
            point[dimension - 1] = last;
            place(&point, &as_it_is)
        };
        let (low, high) = ends(dimension - 1);
        let mut line = Block::new();
        if points.mentions(LINE) {
            line.push(Stmt::constant(INT, LINE, at(int(0))));
        }
        line.push(Stmt::constant(INT, "tw_first", at(low)));
        line.push(Stmt::constant(INT, "tw_last", at(high)));
        line.push(Stmt::Pragma("omp simd reduction(+ : tw_sum)".into()));
        line.push(Stmt::count(INT, "x", var("tw_first"), var("tw_last"), points));
        let nest = (0..dimension - 1).rev().fold(line, |inner, d| {
            let (low, high) = ends(d);
            Stmt::count(INT, &names.space[d], low, high, inner).into()
        });
        let mut inner = Block::new();
        inner.push(Stmt::declare(element.c_name(), "tw_sum", zero()));
        inner.extend(nest);
        let note = |number| [Stmt::Pragma("omp atomic write".into()), Stmt::assign(kept(number), one())];
        let none = name("tw_sum").is_not(name("tw_sum"));
        inner.push(Stmt::when(name("tw_sum").gt(zero()), note(0)));
        inner.push(Stmt::when(none, note(1)));
        let mut body = Block::new();
        if self.moving {
            body.push(moving::narrowed(dimension, statement, &names.time));
        }
        if adds_numbers(program, statement) {
            body.comment("One point is enough, of all tiles.");
            body.push(Stmt::uninitialised(element.c_name(), "tw_known"));
            body.push(Stmt::Pragma("omp atomic read".into()));
            body.push(Stmt::assign(name("tw_known"), kept(0)));
            body.push(Stmt::when(name("tw_known").gt(zero()), Stmt::Return(None)));
        }
        let strides = self.strides().filter(|stride| inner.mentions(stride));
        body.extend(strides.map(|stride| Stmt::constant(INT, &stride, grid.arrow(&stride))));
        let planes = self.planes.iter().filter(|plane| inner.mentions(&plane.name));
        body.extend(
            planes.map(|plane| Stmt::declare(plane.element.clone().pointer(), &plane.name, &plane.value)),
        );
        body.extend(self.constants.iter().map(Constant::declaration));
        body.extend(inner);
        self.of_box(body)
    }

    /// A box of points.
    fn whole_box(&self) -> Function {
        let (names, dimension) = (self.names, self.dimension());
        let grid = name("grid");
        let mut body = Block::new();
        if self.moving {
            body.push(moving::narrowed(dimension, self.statements[0], &names.time));
        }
        if self.has_copy {
            body.extend(copy::between(self.program, names, &self.statements));
        }
        body.extend(self.strides().map(|stride| Stmt::constant(INT, &stride, grid.arrow(&stride))));
        body.extend(
            self.planes
                .iter()
                .map(|plane| Stmt::declare(plane.element.clone().pointer(), &plane.name, &plane.value)),
        );
        body.extend(self.constants.iter().map(Constant::declaration));
        if !body.mentions(&names.time) {
            body.push(Stmt::unused(&names.time));
        }
        let ends = |d: usize| (var(format!("low{d}")), var(format!("high{d}")));
        let several = dimension > 1 && self.rows.len() > 1;
        if several {
            body.push(Stmt::declare(INT, &names.space[0], ends(0).0));
        }
        for &rows in &self.rows {
            let place = |last: Expr| {
                let mut point: Vec<Expr> = names.space.iter().map(var).collect();
                point[dimension - 1] = last;
                place(&point, &as_it_is)
            };
            let (low, high) = ends(dimension - 1);
            let line = place(int(0));
            let inner = Block::from(self.call_in(&self.row_name(rows), line, place(low), place(high)));
            let nest = (0..dimension - 1).rev().fold(inner, |inner, d| {
                let (index, (low, high)) = (&names.space[d], ends(d));
                if d > 0 || !several {
                    return Stmt::count(INT, index, low, high, inner).into();
                }
                let fits = (var(index) + (rows as i64 - 1)).lt(high);
                // Many rows at once evict each other from caches where they lie a multiple of a page apart.
                let fits = if rows > 2 { grid.arrow("spread").and(fits) } else { fits };
                let fits = if rows > ROWS_OF_SHORT_ONES && self.in_blocks() {
                    self.has_a_block(rows).and(fits)
                } else {
                    fits
                };
                Stmt::go_on(index, fits, rows as i64, inner).into()
            });
            body.extend(nest);
        }
        self.of_box(body)
    }

    /// Whether more rows than [`ROWS_OF_SHORT_ONES`] are made of whole blocks alone.
    fn in_blocks(&self) -> bool {
        !self.in_place && !self.on_an_edge
    }

    /// Whether the rows of a box have one block at least.
    fn has_a_block(&self, rows: usize) -> Expr {
        let last = self.dimension() - 1;
        (var(format!("high{last}")) - var(format!("low{last}"))).ge(self.block_width(rows))
    }

    /// The function of a box.
    fn of_box(&self, body: Block) -> Function {
        let (names, dimension) = (self.names, self.dimension());
        let spans: Vec<String> =
            (0..dimension).map(|d| format!("low{d} <= {} < high{d}", names.space[d])).collect();
        let ends = (0..dimension).flat_map(|d| [(INT, format!("low{d}")), (INT, format!("high{d}"))]);
        Function::new(box_function(self.program, &self.statements))
            .comment(format!("{} at {}", self.comment(), spans.join(", ")))
            .attribute(self.linkage)
            .parameter(Type::new("struct tw_grid").constant().pointer(), "grid")
            .parameter(INT, &names.time)
            .parameters(ends)
            .body(body)
    }
}
