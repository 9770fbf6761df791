//! Grids whose rows collide in the caches: many time steps are computed in a copy with padded rows.
//!
//! Nothing is copied but points that no statement computes, and coefficients. The first levels are read, and the last ones
//! written, where the caller has them, by the statements themselves: level `l` of a field of `k` slots lies in the copy
//! for `0 < l <= steps - k`, else in the caller's arrays. So each cell of either holds some of the levels that the cell of
//! the one grid would hold, in the same order: every dependence over the storage of two grids is one over that of one grid,
//! and an order that is legal for one is legal for two.

use super::super::arguments::Arguments;
use super::super::boundary::of_field;
use super::super::constants::{self, Constant, Source};
use super::super::expression::{Index, Values};
use super::super::names::Names;
use super::super::points::{INT, as_it_is, place};
use super::below::Below;
use super::boundary::{lines, over_points};
use super::grid::{self, LAUNCHES};
use crate::geometry::rows_at_once;
use crate::plan::KernelPlan;
use c_tree::{Block, Dialect, Expr, Function, Sort, Stmt, Type, any, call, int, name, truth, var};
use polyhedral::program::{Access, FieldId, FieldRole, Program, Statement};
use serde::Serialize;
use std::collections::BTreeMap;

/// Steps and points from which on a grid is computed in a copy: fewer steps gain less than the pages of the copy cost.
#[derive(Serialize)]
pub(super) struct CopiedFrom {
    steps: i64,
    points: i64,
}

/// What the emitted code takes where its user says nothing else.
pub(super) const COPIED_FROM: CopiedFrom = CopiedFrom { steps: 64, points: 1 << 18 };

/// Whether emitted code that has copies computes a dense grid in one, if there is memory for it.
pub fn runs_in_copy(program: &Program, extents: &[i64], steps: i64) -> bool {
    let stride: i64 = extents.iter().skip(1).product();
    let points = extents.iter().product::<i64>();
    grid::rows_collide(program, stride) && steps >= COPIED_FROM.steps && points >= COPIED_FROM.points
}

/// Whether a plan has code for it: rows that collide cost time where several are computed at once on the arrays. Who times code has arrays
/// whose rows do not.
pub(super) fn has_copy(plan: &KernelPlan, below: Below) -> bool {
    let program = &*plan.program;
    let several = |statement: &Statement| rows_at_once(program, statement)[0] > 2;
    let all_written = program.fields.iter().enumerate().all(|(number, field)| {
        field.role == FieldRole::Coefficient || program.writers_of(FieldId(number)).next().is_some()
    });
    // A periodic grid is copied anyway.
    // Numbers of steps are no grid.
    below != Below::Timing
        && program.dimension() > 1
        && !program.is_periodic()
        && plan.witnesses.is_empty()
        && all_written
        && program.statements.iter().any(several)
        && !plan.kernels.iter().any(crate::plan::Kernel::in_parts)
}

/// The accesses of a statement, with the one that it writes.
fn accesses(program: &Program, index: usize) -> Vec<Access> {
    let statement = &program.statements[index];
    let write = Access { field: statement.target, time: 1, offset: vec![0; program.dimension()] };
    statement.reads.iter().cloned().chain([write]).collect()
}

/// Name of the function that computes a box of a statement with levels in both grids.
fn function_name(program: &Program, index: usize) -> String {
    format!("tw_between_{}", program.statement_name(index))
}

/// In a copy: the grid to go on with where all levels of some statements lie in the caller's, and the calls of the functions
/// for points between both where only some do.
pub(super) fn between(program: &Program, names: &Names, statements: &[usize]) -> [Stmt; 2] {
    let (mut first, mut last, mut all) = (i64::MAX, i64::MIN, i64::MAX);
    for access in statements.iter().flat_map(|&index| accesses(program, index)) {
        if let FieldRole::State { slots, .. } = program.field(access.field).role {
            first = first.min(access.time);
            last = last.max(access.time + slots as i64);
            all = all.min(access.time + slots as i64);
        }
    }
    let (grid, time) = (name("grid"), var(&names.time));
    let beyond = |by: i64| (time.clone() + by).gt(grid.arrow("steps").integer());
    let outside = (time.clone() + first).le(0).or(beyond(last));
    let call = |&index: &usize| {
        let ends = (0..program.dimension()).flat_map(|d| [format!("low{d}"), format!("high{d}")]).map(var);
        let arguments = [grid.clone(), var(&names.time)].into_iter().chain(ends);
        Stmt::call(function_name(program, index), arguments)
    };
    let calls: Block = statements.iter().map(call).chain([Stmt::Return(None)]).collect();
    [
        Stmt::when(grid.arrow("outer").and(beyond(all)), Stmt::assign(grid.clone(), grid.arrow("outer"))),
        Stmt::when(grid.arrow("outer").and(outside), calls),
    ]
}

/// The function that computes a box of a statement with levels in both grids.
pub(super) fn between_function(program: &Program, names: &Names, index: usize) -> String {
    let statement = &program.statements[index];
    let dimension = program.dimension();
    let strides = || (0..dimension - 1).map(|d| format!("stride{d}"));
    let write = Access { field: statement.target, time: 1, offset: vec![0; dimension] };
    let mut planes = BTreeMap::new();
    for access in accesses(program, index) {
        planes.insert(names.plane(program, &access), access);
    }
    let mut body = Block::new();
    for (number, (plane, access)) in planes.iter().enumerate() {
        let field = program.field(access.field);
        let home = match field.role {
            FieldRole::State { slots, .. } => {
                let level = var(&names.time) + access.time;
                let home = format!("tw_home{number}");
                let kind = Type::new("struct tw_grid").constant().pointer();
                let of = call("tw_home", [name("grid"), level, int(slots as i64)]);
                body.push(Stmt::declare(kind, &home, of));
                name(home)
            }
            FieldRole::Coefficient => name("grid"),
        };
        let element = Type::new(field.element.c_name());
        let element = if *access == write { element } else { element.constant() };
        let value = grid::level_of_access(&home, program, names, access);
        body.push(Stmt::declare(element.pointer(), plane, value));
        body.extend(
            strides().map(|stride| Stmt::constant(INT, format!("{plane}_{stride}"), home.arrow(&stride))),
        );
    }
    let constants = constants::all(program, names, statement, Source::Grid, &names.time);
    body.extend(constants.iter().map(Constant::declaration));
    let element = |access: &Access| {
        let plane = names.plane(program, access);
        let index = |d: usize| match d + 1 < dimension {
            true => (var(&names.space[d]) + access.offset[d]) * var(format!("{plane}_stride{d}")),
            false => var("x") + access.offset[d],
        };
        let place = (0..dimension).map(index).reduce(|sum, term| sum + term).unwrap_or(int(0));
        name(&plane).at(place)
    };
    let own = |index| match index {
        Index::Time => var(&names.time),
        Index::Space(d) if d + 1 < dimension => var(&names.space[d]),
        Index::Space(_) => var("x"),
    };
    let values =
        Values { program, names, statement: index, copy: None, locals: None, read: &element, index: &own };
    let mut inner = Block::from(values.locals());
    inner.push(Stmt::assign(element(&write), values.value()));
    let ends = |d: usize| (var(format!("low{d}")), var(format!("high{d}")));
    let (low, high) = ends(dimension - 1);
    let row = Block::from([Stmt::Pragma("omp simd".into()), Stmt::count(INT, "x", low, high, inner)]);
    let nest = (0..dimension - 1).rev().fold(row, |inner, d| {
        let (low, high) = ends(d);
        Stmt::count(INT, &names.space[d], low, high, inner).into()
    });
    body.extend(nest);
    if !body.mentions(&names.time) {
        body.push(Stmt::unused(&names.time));
    }
    let ends = (0..dimension).flat_map(|d| [(INT, format!("low{d}")), (INT, format!("high{d}"))]);
    Function::new(function_name(program, index))
        .comment("The same where first or last levels lie in the grid of the caller.")
        .attribute("static")
        .parameter(Type::new("struct tw_grid").constant().pointer(), "grid")
        .parameter(INT, &names.time)
        .parameters(ends)
        .body(body)
        .print(Dialect::C)
}

/// The functions that fill a copy, and the one that computes in it.
pub(super) fn functions(arguments: Arguments<'_>) -> Vec<String> {
    let program = arguments.program;
    let fill = (0..program.fields.len()).map(|number| fill(arguments, number).print(Dialect::C));
    fill.chain([in_copy(arguments).print(Dialect::C)]).collect()
}

fn fill_name(arguments: Arguments<'_>, number: usize) -> String {
    format!("tw_fill_{}", arguments.names.fields[number])
}

/// Fills a field of the copy: of one that changes, what no statement computes.
fn fill(arguments: Arguments<'_>, number: usize) -> Function {
    let (program, names) = (arguments.program, arguments.names);
    let (copy, from) = (name("copy"), name("copy").arrow("outer"));
    let own = |member: &String| Stmt::constant(INT, member, name("grid").arrow(member));
    let mut body =
        Block::from([Stmt::declare(Type::new("struct tw_grid").constant().pointer(), "grid", from)]);
    body.extend(arguments.sizes().iter().chain(&arguments.strides()).map(own));
    let element = Type::new(program.fields[number].element.c_name());
    let to_stride = |stride: &str| name("copy").arrow(stride).integer();
    let field = FieldId(number);
    let level = |grid: &Expr, slot: Expr| grid::level(grid, program, names, field, slot);
    let slots = grid::slots(program, number);
    let of_slot = |slot: Expr| {
        let grid = name("grid");
        let from = Stmt::declare(element.clone().constant().pointer(), "from", level(&grid, slot.clone()));
        let to = match program.fields[number].role {
            // Written here alone.
            FieldRole::Coefficient => level(&copy, slot).cast(element.clone().pointer()),
            FieldRole::State { .. } => level(&copy, slot),
        };
        let mut inner = Block::from([from, Stmt::declare(element.clone().pointer(), "to", to)]);
        match of_field(arguments, number) {
            Some(rim) => inner.extend(lines(&rim, &truth(false), Some(&to_stride))),
            None => inner.extend(all_points(arguments, &to_stride)),
        }
        inner
    };
    match slots {
        2.. => {
            let inner = of_slot(var("slot"));
            body.push(Stmt::count(INT, "slot", 0, slots, inner));
        }
        _ => body.extend(of_slot(int(0))),
    }
    let what = match program.fields[number].role {
        FieldRole::Coefficient => "all points",
        FieldRole::State { .. } => "the points that no statement computes",
    };
    Function::new(fill_name(arguments, number))
        .comment(format!("Copies {what} of {} from the caller's grid.", program.fields[number].name))
        .attribute("static")
        .parameter(Type::new("struct tw_grid").constant().pointer(), "copy")
        .body(body)
}

/// Loops that copy a level after `from` to one after `to`.
fn all_points(arguments: Arguments<'_>, to_stride: &dyn Fn(&str) -> Expr) -> Block {
    let dimension = arguments.program.dimension();
    let index: Vec<Expr> = (0..dimension - 1).map(|d| var(format!("i{d}"))).chain([var("x")]).collect();
    let from = place(&index, &as_it_is);
    let to = place(&index, to_stride);
    let mut inner = Block::from(Stmt::assign(name("to").at(to), name("from").at(from)));
    for d in (0..dimension).rev() {
        let index = if d + 1 == dimension { "x".to_string() } else { format!("i{d}") };
        inner = Stmt::count(INT, index, 0, var(format!("n{d}")), inner).into();
    }
    [over_points(dimension)].into_iter().chain(inner).collect()
}

/// `int tw_in_copy(const struct tw_grid *outer)`
fn in_copy(arguments: Arguments<'_>) -> Function {
    let (program, names) = (arguments.program, arguments.names);
    let outer = name("outer");
    let own = |member: &String| Stmt::constant(INT, member, outer.arrow(member));
    let mut body: Block = arguments.sizes().iter().chain(&["steps".to_string()]).map(own).collect();
    let few = arguments.points().lt(var("TW_COPY_POINTS"));
    body.push(Stmt::when(any([var("steps").lt(var("TW_COPY_STEPS")), few]), Stmt::Return(Some(int(0)))));
    let integer = |function: &str, argument: Expr| Expr::call(function, [argument], Sort::Integer);
    // Strides from the innermost on.
    let mut within = var(format!("n{}", program.dimension() - 1));
    for d in (0..program.dimension() - 1).rev() {
        let stride = format!("stride{d}");
        body.push(Stmt::constant(INT, &stride, integer("tw_padded", within)));
        within = var(format!("n{d}")) * var(stride);
    }
    body.push(Stmt::constant(INT, "level", integer("tw_padded", within)));
    let bytes = (0..program.fields.len()).map(|number| {
        let element = program.fields[number].element.bytes() as i64;
        element * grid::slots(program, number)
    });
    let bytes: i64 = bytes.sum();
    let most = name("PTRDIFF_MAX") / (2 * bytes);
    body.push(Stmt::when(var("level").gt(most), Stmt::Return(Some(int(0)))));
    let bytes = var("level") * bytes;
    body.push(Stmt::declare(Type::new("void").pointer(), "memory", name("NULL")));
    let take = call("tw_take", [bytes.cast("size_t"), name("memory").address()]);
    body.push(Stmt::declare(Type::new("char").pointer(), "place", take));
    body.push(Stmt::when(!name("place"), Stmt::Return(Some(int(0)))));
    body.push(Stmt::declare("struct tw_grid", "copy", outer.clone().deref()));
    let copy = name("copy");
    let set = |member: &str, value: Expr| Stmt::assign(copy.dot(member), value);
    body.push(set("outer", outer.clone()));
    body.push(set("spread", int(1)));
    body.extend(arguments.strides().iter().map(|stride| set(stride, var(stride))));
    for (number, field) in program.fields.iter().enumerate() {
        let element = Type::new(field.element.c_name());
        let slots = grid::slots(program, number);
        for slot in 0..slots {
            let member = copy.dot(&names.fields[number]);
            let member = if slots > 1 { member.at(slot) } else { member };
            let pointer = name("place").cast(Type::new("void").pointer());
            body.push(Stmt::assign(member, pointer.cast(element.clone().pointer())));
            let bytes = var("level") * field.element.bytes() as i64;
            body.push(Stmt::assign(name("place"), name("place") + bytes));
        }
    }
    for number in 0..program.fields.len() {
        body.push(Stmt::call(fill_name(arguments, number), [copy.clone().address()]));
    }
    body.push(Stmt::call(LAUNCHES, [copy.address()]));
    body.push(Stmt::call("free", [name("memory")]));
    body.push(Stmt::Return(Some(int(1))));
    Function::new(IN_COPY)
        .comment(
            "Computes in a copy of the grid whose rows do not collide, where that pays and there is memory for it; \
             whether it was done.",
        )
        .attribute("static")
        .result("int")
        .parameter(Type::new("struct tw_grid").constant().pointer(), "outer")
        .body(body)
}

/// The function that computes in a copy.
pub(super) const IN_COPY: &str = "tw_in_copy";
