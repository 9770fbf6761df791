//! The program as it was written: every statement as loops over the whole grid, in C. A standalone main checks
//! the tiled code against them.

use super::constants::{self, Source};
use super::expression::{Index, Values};
use super::names::Names;
use super::points::{INT, as_it_is, end, level_of_grid, moved, place};
use c_tree::{Block, Dialect, Expr, Function, Sort, Stmt, Type, name, var};
use polyhedral::arithmetic::Arithmetic;
use polyhedral::domain::Bound;
use polyhedral::program::{Access, BinaryOp, ExprKind, Program};
use serde::Serialize;
use std::collections::BTreeMap;

/// One statement as loops over its domain; the template declares `struct tw_grid`.
#[derive(Serialize)]
pub(super) struct PlainLoops {
    /// Name of the function.
    name: String,
    /// The function.
    text: String,
}

/// All statements of a program as plain loops, which compute what the program says.
pub(super) fn plain_loops(program: &Program, names: &Names) -> Vec<PlainLoops> {
    let exact = Program { arithmetic: Arithmetic::default(), ..program.clone() };
    (0..exact.statements.len()).map(|index| of_statement(&exact, names, index)).collect()
}

fn of_statement(program: &Program, names: &Names, index: usize) -> PlainLoops {
    let statement = &program.statements[index];
    let dimension = program.dimension();
    let write = Access { field: statement.target, time: 1, offset: vec![0; dimension] };
    let read = |access: &Access| {
        let around = (0..dimension).any(|d| program.periodic[d] && access.offset[d] != 0);
        let place =
            if around { around_the_ends(program, names, access) } else { moved(var("x"), &access.offset) };
        name(names.plane(program, access)).at(place)
    };
    let own = |index| match index {
        Index::Time => var(&names.time),
        Index::Space(d) => var(&names.space[d]),
    };
    let values =
        Values { program, names, statement: index, copy: None, locals: None, read: &read, index: &own };
    let grid = name("grid");
    let stride = |d: usize| Stmt::constant(INT, format!("stride{d}"), grid.arrow(format!("stride{d}")));

    let mut planes = BTreeMap::new();
    for access in statement.reads.iter().chain([&write]) {
        planes.insert(names.plane(program, access), plane(program, names, access));
    }
    let mut body: Block = (0..dimension - 1).map(stride).collect();
    body.extend(planes.into_values());
    let constants = constants::all(program, names, statement, Source::Grid, &names.time);
    body.extend(constants.iter().map(constants::Constant::declaration));
    body.push(Stmt::unused(&names.time));

    let point: Vec<_> = names.space.iter().map(var).collect();
    let mut inner = Block::from(Stmt::constant("ptrdiff_t", "x", place(&point, &as_it_is)));
    inner.extend(values.locals());
    inner.push(Stmt::assign(name(names.plane(program, &write)).at(var("x")), values.value()));
    let loops = (0..dimension).rev().fold(inner, |inner, d| {
        let extent = || grid.arrow(format!("n{d}")).integer();
        let (low, high) = match program.periodic[d] {
            true => (Bound::start(0), Bound::end(0)),
            false => (statement.domain[d].low, statement.domain[d].high),
        };
        Stmt::count(INT, &names.space[d], end(low, extent()), end(high, extent()), inner).into()
    });
    body.extend(loops);
    let target = program.statement_name(index);
    let function = Function::new(format!("reference_{target}"))
        .comment(format!("{target}, one time step, point by point"))
        .attribute("static")
        .parameter(Type::new("struct tw_grid").constant().pointer(), "grid")
        .parameter(INT, &names.time)
        .body(body);
    PlainLoops { name: format!("reference_{target}"), text: function.print(Dialect::C) }
}

/// The place of a point on a grid that wraps around.
fn around_the_ends(program: &Program, names: &Names, access: &Access) -> Expr {
    let index = (0..program.dimension()).map(|d| match (access.offset[d], program.periodic[d]) {
        (0, _) => var(&names.space[d]),
        (offset, false) => var(&names.space[d]) + offset,
        (offset, true) => {
            let extent = name("grid").arrow(format!("n{d}")).integer();
            Expr::call("tw_modulo", [var(&names.space[d]) + offset, extent], Sort::Integer)
        }
    });
    place(&index.collect::<Vec<_>>(), &as_it_is)
}

/// The declaration of a pointer to one time level of a field.
fn plane(program: &Program, names: &Names, access: &Access) -> Stmt {
    let element = Type::new(program.field(access.field).element.c_name());
    Stmt::declare(element.pointer(), names.plane(program, access), level_of_grid(program, names, access))
}

/// Whether some statement uses the exponential.
pub(super) fn uses_exp(program: &Program) -> bool {
    uses(program, |kind| matches!(kind, ExprKind::Call(polyhedral::program::Function::Exp, _)))
}

/// Whether some statement uses a square.
pub(super) fn uses_square(program: &Program) -> bool {
    uses(program, |kind| matches!(kind, ExprKind::Call(polyhedral::program::Function::Square, _)))
}

/// Whether some statement uses the smaller or the larger of two values.
pub(super) fn uses_extrema(program: &Program) -> bool {
    uses(program, |kind| matches!(kind, ExprKind::Binary(BinaryOp::Min | BinaryOp::Max, ..)))
}

fn uses(program: &Program, what: impl Fn(&ExprKind) -> bool) -> bool {
    program.statements.iter().any(|statement| {
        let mut found = false;
        for value in statement.locals.iter().map(|local| &local.value).chain([&statement.value]) {
            value.walk(|expr| found |= what(&expr.kind));
        }
        found
    })
}
