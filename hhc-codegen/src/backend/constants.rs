//! What a statement needs of parameters and series, as constants of the types in which it needs them.

use super::expression::{parameters_used_as, series_element, series_used};
use super::names::Names;
use c_tree::{Expr, Stmt, name};
use polyhedral::program::{ElementType, ParameterId, Program, Statement};

/// A constant of a statement.
#[derive(Clone)]
pub(super) struct Constant {
    /// Its type in C.
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) value: Expr,
}

impl Constant {
    /// `const float a = value;`
    pub(super) fn declaration(&self) -> Stmt {
        Stmt::constant(self.kind, &self.name, &self.value)
    }
}

/// Where the values of parameters and series are found.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// Members of the grid.
    Grid,
    /// Arguments of their names.
    Arguments,
}

impl Source {
    fn of(self, member: &str) -> Expr {
        match self {
            Source::Grid => name("grid").arrow(member),
            Source::Arguments => name(member),
        }
    }
}

/// The parameters that a statement uses; those that an argument has already in the type that is needed are left out.
pub(super) fn parameters(names: &Names, statement: &Statement, source: Source) -> Vec<Constant> {
    let single = parameters_used_as(statement, ElementType::F32).into_iter().map(|id| Constant {
        kind: "float",
        name: names.parameter_f32(ParameterId(id)),
        value: source.of(&names.parameters[id]).cast("float"),
    });
    let double = parameters_used_as(statement, ElementType::F64).into_iter().map(|id| Constant {
        kind: "double",
        name: names.parameters[id].clone(),
        value: source.of(&names.parameters[id]),
    });
    single.chain(double.filter(|_| matches!(source, Source::Grid))).collect()
}

/// The values of series that a statement uses in time step `time`.
pub(super) fn series(
    program: &Program,
    names: &Names,
    statement: &Statement,
    source: Source,
    time: &str,
) -> Vec<Constant> {
    let used = series_used(statement).into_iter().map(|(id, offset)| Constant {
        kind: program.series[id.0].element.c_name(),
        name: names.series_value(id, offset),
        value: source.of(&names.series[id.0]).at(series_element(program, time, (id, offset))),
    });
    used.collect()
}

/// Both.
pub(super) fn all(
    program: &Program,
    names: &Names,
    statement: &Statement,
    source: Source,
    time: &str,
) -> Vec<Constant> {
    [parameters(names, statement, source), series(program, names, statement, source, time)].concat()
}
