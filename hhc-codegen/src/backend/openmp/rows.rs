//! The functions of a statement: blocks of neighbouring points, rows made of whole blocks, and boxes of rows. Several
//! neighbouring rows are computed at once, because they share loads.

use super::super::constants::{self, Constant, Source};
use super::super::expression::{Index, Values, indices_used};
use super::super::names::Names;
use super::super::points::{INT, as_it_is, moved, place};
use super::copy;
use super::grid::level_of_access;
use crate::geometry::{block_points, rows_at_once};
use crate::plan::{KernelPlan, RowOrder};
use c_tree::{Block, Dialect, Expr, Function, Sort, Stmt, Type, int, name, var};
use polyhedral::program::{Access, Program};
use std::collections::BTreeMap;

/// So many rows at once are computed in blocks of one vector, a single one in whole cache lines. Compilers unroll a loop over
/// the vectors of a line only where its body is short; else they compute the addresses of all rows anew for each line.
const ROWS_IN_VECTORS: usize = 2;
/// The place at which the last index is 0.
const LINE: &str = "tw_line";

/// The functions of a statement, where some kernel has rows of it that it does not print part by part.
pub(super) fn functions(plan: &KernelPlan, names: &Names, index: usize) -> Vec<String> {
    let program = &*plan.program;
    let statement = &program.statements[index];
    let kernels = plan.kernels.iter().filter(|kernel| !kernel.in_parts());
    let rows = kernels.flat_map(|kernel| &kernel.instances).filter(|row| row.statement == index);
    let orders: Vec<&RowOrder> = rows.map(|row| &row.order).collect();
    if orders.is_empty() {
        return Vec::new();
    }
    let (planes, target) = planes(program, names, index);
    let update = Update {
        program,
        names,
        index,
        indices: indices_used(statement),
        planes,
        target,
        constants: constants::all(program, names, statement, Source::Grid, &names.time),
        in_place: orders.iter().any(|order| **order != RowOrder::Parallel { repeats: true }),
        rows: rows_at_once(program, statement),
        width: block_points(program, statement) as i64,
        has_copy: copy::has_copy(plan),
    };
    let variants = update.rows.iter().flat_map(|&rows| [update.block(rows), update.row(rows)]);
    let all: Vec<Function> = variants.chain([update.whole_box()]).collect();
    let between = update.has_copy.then(|| copy::between_function(program, names, index));
    between.into_iter().chain(all.iter().map(|function| function.print(Dialect::C))).collect()
}

/// Name of the function that computes a box of a statement.
pub(super) fn box_function(program: &Program, statement: usize) -> String {
    format!("tw_update_{}", program.statement_name(statement))
}

/// A pointer to one time level of a field.
pub(super) struct Plane {
    pub(super) name: String,
    /// What it points to.
    pub(super) element: Type,
    pub(super) value: Expr,
}

/// Pointers to the planes that a statement touches, and the name of the one that it writes.
pub(super) fn planes(program: &Program, names: &Names, index: usize) -> (Vec<Plane>, String) {
    let statement = &program.statements[index];
    let write = Access { field: statement.target, time: 1, offset: vec![0; program.dimension()] };
    let mut pointers: BTreeMap<String, Plane> = BTreeMap::new();
    for access in statement.reads.iter().chain([&write]) {
        let plane = names.plane(program, access);
        let value = level_of_access(&name("grid"), program, names, access);
        let element = Type::new(program.field(access.field).element.c_name());
        let element = if *access == write { element } else { element.constant() };
        pointers.insert(plane.clone(), Plane { name: plane, element, value });
    }
    (pointers.into_values().collect(), names.plane(program, &write))
}

/// What the functions of a statement have in common.
struct Update<'a> {
    program: &'a Program,
    names: &'a Names,
    index: usize,
    /// The indices that its conditions ask for.
    indices: Vec<Index>,
    planes: Vec<Plane>,
    /// The plane that is written.
    target: String,
    constants: Vec<Constant>,
    /// Whether no point may run twice.
    in_place: bool,
    /// How many rows run at once: several, then fewer, at last one.
    rows: Vec<usize>,
    /// Points of a single row that are one block: whole cache lines.
    width: i64,
    /// Whether grids may be copies of others.
    has_copy: bool,
}

impl Update<'_> {
    fn dimension(&self) -> usize {
        self.program.dimension()
    }

    fn strides(&self) -> impl Iterator<Item = String> {
        (0..self.dimension() - 1).map(|d| format!("stride{d}"))
    }

    fn row_name(&self, rows: usize) -> String {
        let many = if rows > 1 { format!("s{rows}") } else { String::new() };
        format!("tw_{}_row{many}", self.program.statement_name(self.index))
    }

    fn comment(&self) -> String {
        let program = self.program;
        let target = &program.field(program.statements[self.index].target).name;
        format!("{target}[{} + 1, {}]", program.time_index, program.space_indices.join(", "))
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
        let statement = &program.statements[self.index];
        let element = program.field(statement.target).element.c_name();
        let mut points = Block::new();
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
            let values =
                Values { program, names: self.names, statement: self.index, copy, read: &read, index: &own };
            points.extend(values.locals());
            points.push(Stmt::constant(element, format!("tw_value{}", copy.unwrap_or(0)), values.value()));
        }
        for copy in 0..rows {
            let mut offset = vec![0; dimension];
            offset[0] = copy as i64;
            let place = moved(var("x"), &offset);
            points.push(Stmt::assign(name(&self.target).at(place), name(format!("tw_value{copy}"))));
        }
        let unused = self.strides().filter(|stride| !points.mentions(stride));
        let mut body: Block = unused.map(Stmt::unused).collect();
        body.push(Stmt::Pragma("omp simd".into()));
        body.push(Stmt::count(INT, "x", var("first"), var("last"), points));
        let several = match rows {
            1 => String::new(),
            rows => format!(", {rows} neighbouring rows, which share loads,"),
        };
        self.inner(format!("{}_block", self.row_name(rows)))
            .comment(format!("{}{several} at the points first <= x < last", self.comment()))
            .body(body)
    }

    /// The same in whole blocks.
    fn row(&self, rows: usize) -> Function {
        let row = self.row_name(rows);
        let block = format!("{row}_block");
        let (first, last, x) = (var("first"), var("last"), var("x"));
        let mut body = Block::new();
        let width = if rows >= ROWS_IN_VECTORS && self.narrowest() {
            let bytes = self.program.field(self.program.statements[self.index].target).element.bytes();
            body.push(Stmt::constant(INT, "tw_width", var("TW_VECTOR") / bytes as i64));
            var("tw_width")
        } else {
            int(self.width)
        };
        let misaligned =
            Expr::call("TW_MISALIGNED", [name(&self.target) + &first, width.clone()], Sort::Integer);
        body.push(Stmt::when(
            (&last - &first).lt(width.clone()),
            [self.call(&block, first.clone(), last.clone()), Stmt::Return(None)],
        ));
        let next = &x + &width;
        let whole =
            Stmt::go_on("x", next.clone().le(&last), width.clone(), self.call(&block, x.clone(), next));
        if self.in_place {
            body.comment(
                "Whole blocks from an aligned place on; the ends by themselves, because no point may run twice.",
            );
            let begin = &first + (width.clone() - misaligned) % width;
            body.push(Stmt::declare(INT, "x", begin));
            body.push(self.call(&block, first, x.clone()));
            body.push(whole);
            body.push(self.call(&block, x, last));
        } else {
            body.comment(
                "Whole aligned blocks. The first and the last block may overlap them: those points run twice.",
            );
            body.push(self.call(&block, first.clone(), &first + &width));
            body.push(Stmt::declare(INT, "x", &first + &width - misaligned));
            body.push(whole);
            body.push(Stmt::when(x.lt(&last), self.call(&block, &last - &width, last)));
        }
        self.inner(row).body(body)
    }

    /// Whether no value that is read takes fewer bytes than the one that is written: then a vector of those is one of
    /// the loop.
    fn narrowest(&self) -> bool {
        let statement = &self.program.statements[self.index];
        let bytes = |field| self.program.field(field).element.bytes();
        statement.reads.iter().all(|read| bytes(read.field) >= bytes(statement.target))
    }

    /// A box of points.
    fn whole_box(&self) -> Function {
        let (names, dimension) = (self.names, self.dimension());
        let grid = name("grid");
        let mut body = Block::new();
        if self.has_copy {
            body.extend(copy::between(self.program, names, self.index));
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
                Stmt::go_on(index, fits, rows as i64, inner).into()
            });
            body.extend(nest);
        }
        let spans: Vec<String> =
            (0..dimension).map(|d| format!("low{d} <= {} < high{d}", names.space[d])).collect();
        let ends = (0..dimension).flat_map(|d| [(INT, format!("low{d}")), (INT, format!("high{d}"))]);
        Function::new(box_function(self.program, self.index))
            .comment(format!("{} at {}", self.comment(), spans.join(", ")))
            .attribute("static")
            .parameter(Type::new("struct tw_grid").constant().pointer(), "grid")
            .parameter(INT, &names.time)
            .parameters(ends)
            .body(body)
    }
}
