//! Fields whose fixed boundary is copied from the newest initial level to the others, and where it lies.

use super::arguments::Arguments;
use super::points::end;
use c_tree::{Expr, any, var};
use polyhedral::program::{Boundary as Kind, FieldId, FieldRole, Statement};

/// The boundary of a field: all points but those of the domains of its statements, of which the largest one has bounds of
/// its own.
pub(super) struct Boundary {
    /// The field as the program calls it.
    pub(super) field: String,
    /// The array.
    pub(super) name: String,
    pub(super) element: &'static str,
    /// Slot of the newest initial level.
    pub(super) newest: i64,
    /// Stored levels.
    pub(super) slots: i64,
    /// The coordinates of a point: `i0`, `i1`, and `x`.
    pub(super) index: Vec<String>,
    /// That a line lies outside the largest domain.
    pub(super) outside: Expr,
    /// First point of the largest domain in a line, and the point after its last one.
    pub(super) low: Expr,
    pub(super) high: Expr,
    /// Points of a line.
    pub(super) size: Expr,
    /// That a point lies in the domain of another statement.
    pub(super) other_domains: Vec<Expr>,
}

/// The fields whose boundary is copied.
pub(super) fn copied(arguments: Arguments<'_>) -> Vec<Boundary> {
    let program = arguments.program;
    let several =
        |number: &usize| matches!(program.fields[*number].role, FieldRole::State { slots: 2.., .. });
    let fields =
        (0..program.fields.len()).filter(|number| program.boundary == Kind::Fixed && several(number));
    fields.filter_map(|number| of_field(arguments, number)).collect()
}

/// The boundary of a field that changes.
pub(super) fn of_field(arguments: Arguments<'_>, number: usize) -> Option<Boundary> {
    let program = arguments.program;
    let field = &program.fields[number];
    let FieldRole::State { levels, slots } = field.role else { return None };
    let inner = program.dimension() - 1;
    let index: Vec<String> = (0..inner).map(|d| format!("i{d}")).chain(["x".to_string()]).collect();
    let point: Vec<Expr> = index.iter().map(var).collect();
    let writers: Vec<(usize, &Statement)> = program.writers_of(FieldId(number)).collect();
    let largest = writers.iter().position(|(_, statement)| statement.is_interior()).unwrap_or(0);
    let domain = &writers.get(largest)?.1.domain;
    let size = |d: usize| var(format!("n{d}"));
    let ends = |d: usize| (end(domain[d].low, size(d)), end(domain[d].high, size(d)));
    let beside = |d: usize| point[d].clone().lt(ends(d).0).or(point[d].clone().ge(ends(d).1));
    let others = writers.iter().enumerate().filter(|(at, _)| *at != largest);
    Some(Boundary {
        field: field.name.clone(),
        name: arguments.names.fields[number].clone(),
        element: field.element.c_name(),
        newest: levels as i64 - 1,
        slots: slots as i64,
        index: index.clone(),
        outside: any((0..inner).map(beside)),
        low: ends(inner).0,
        high: ends(inner).1,
        size: size(inner),
        other_domains: others.map(|(_, (statement, _))| arguments.inside(*statement, &point)).collect(),
    })
}
