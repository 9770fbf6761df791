//! Points and their places in memory, as trees.

use super::names::Names;
use c_tree::{BinaryOp, Expr, Sort, int, name, var};
use polyhedral::domain::{Bound, GridEnd};
use polyhedral::program::{Access, FieldRole, Program};

/// The type of indices and sizes in generated text.
pub(super) const INT: &str = "tw_int";

/// The place of a point that lies at an offset from that at `place`: `x - stride0 + 1`.
pub(super) fn moved(place: Expr, offset: &[i64]) -> Expr {
    let last = offset.len() - 1;
    offset.iter().enumerate().filter(|(_, distance)| **distance != 0).fold(place, |place, (d, &distance)| {
        let count = int(distance.abs());
        let term = if d == last { count } else { count * var(format!("stride{d}")) };
        if distance < 0 { place - term } else { place + term }
    })
}

/// `sum + term`, where a term that is a sum itself has no parentheses.
pub(super) fn plus(sum: Expr, term: Expr) -> Expr {
    match term {
        Expr::Binary(operator @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
            Expr::binary(operator, plus(sum, *a), *b)
        }
        term => sum + term,
    }
}

/// The place of a point: `i * stride0 + j`. `own` makes an expression of a stride's name.
pub(super) fn place(point: &[Expr], own: &dyn Fn(&str) -> Expr) -> Expr {
    let along = |(d, index): (usize, &Expr)| match d + 1 < point.len() {
        true if *index == int(0) => int(0),
        true => index * own(&format!("stride{d}")).integer(),
        false => index.clone(),
    };
    point.iter().enumerate().map(along).reduce(plus).unwrap_or(int(0))
}

/// A name as it is.
pub(super) fn as_it_is(name: &str) -> Expr {
    var(name)
}

/// A bound of a domain, with the extent of its dimension.
pub(super) fn end(bound: Bound, extent: Expr) -> Expr {
    match bound.from {
        GridEnd::Start => int(bound.offset),
        GridEnd::End => extent + bound.offset,
    }
}

/// `tw_modulo(a, b)`
pub(super) fn modulo(a: Expr, b: i64) -> Expr {
    Expr::call("tw_modulo", [a, int(b)], Sort::Integer)
}

/// The least of two.
pub(super) fn min(a: Expr, b: Expr) -> Expr {
    Expr::call("tw_min", [a, b], Sort::Integer)
}

/// The greatest of two.
pub(super) fn max(a: Expr, b: Expr) -> Expr {
    Expr::call("tw_max", [a, b], Sort::Integer)
}

/// Where the grid keeps the time level of a field that is accessed.
pub(super) fn level_of_grid(program: &Program, names: &Names, access: &Access) -> Expr {
    let member = name("grid").arrow(&names.fields[access.field.0]);
    match program.field(access.field).role {
        FieldRole::Coefficient | FieldRole::State { slots: 1, .. } => member,
        FieldRole::State { levels, slots } => {
            let level = var(&names.time) + (access.time + levels as i64 - 1);
            member + modulo(level, slots as i64) * name("grid").arrow("level_stride")
        }
    }
}
