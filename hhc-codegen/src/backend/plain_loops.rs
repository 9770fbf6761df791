//! The program as it was written: every statement as loops over the whole grid, in C. A standalone main checks
//! the tiled code against them.

use super::expression::{ExpressionPrinter, parameters_used_as, series_element, series_used};
use super::names::Names;
use polyhedral::program::{
    Access, BinaryOp, ElementType, ExprKind, FieldRole, Function, ParameterId, Program, SeriesId, Statement,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// One statement as loops over its domain; the template adds `grid`, a structure of arrays and sizes.
#[derive(Serialize)]
pub(super) struct PlainLoops {
    /// Name of the statement.
    target: String,
    /// Name of the time index.
    time: String,
    /// Declarations of pointers to the time levels in use, and of constants.
    declarations: Vec<String>,
    loops: Vec<PlainLoop>,
    /// Statements executed for each point.
    body: Vec<String>,
}

#[derive(Serialize)]
struct PlainLoop {
    index: String,
    low: String,
    high: String,
}

/// All statements of a program as plain loops.
pub(super) fn plain_loops(program: &Program, names: &Names) -> Vec<PlainLoops> {
    (0..program.statements.len()).map(|index| of_statement(program, names, index)).collect()
}

fn of_statement(program: &Program, names: &Names, index: usize) -> PlainLoops {
    let statement = &program.statements[index];
    let dimension = program.dimension();
    let write = Access { field: statement.target, time: 1, offset: vec![0; dimension] };
    let read =
        |access: &Access| format!("{}[x{}]", names.plane(program, access), displacement(&access.offset));
    let printer = ExpressionPrinter { program, names, statement: index, copy: None, read: &read };

    let mut planes = BTreeMap::new();
    for access in statement.reads.iter().chain([&write]) {
        planes.insert(names.plane(program, access), plane(program, names, access));
    }
    let mut declarations: Vec<String> = planes.into_values().collect();
    declarations.extend(constants(names, statement, "grid->"));
    declarations.extend(series_values(program, names, statement, "grid->", &names.time));
    let place: Vec<String> = names
        .space
        .iter()
        .enumerate()
        .map(|(d, index)| if d + 1 < dimension { format!("{index} * stride{d}") } else { index.clone() })
        .collect();
    let mut body = vec![format!("const ptrdiff_t x = {};", place.join(" + "))];
    body.extend(printer.locals());
    body.push(format!("{}[x] = {};", names.plane(program, &write), printer.value()));
    PlainLoops {
        target: program.statement_name(index),
        time: names.time.clone(),
        declarations,
        loops: (0..dimension)
            .map(|d| PlainLoop {
                index: names.space[d].clone(),
                low: statement.domain[d].low.text(&format!("grid->n{d}")),
                high: statement.domain[d].high.text(&format!("grid->n{d}")),
            })
            .collect(),
        body,
    }
}

/// The declaration of a pointer to one time level of a field.
fn plane(program: &Program, names: &Names, access: &Access) -> String {
    let field = program.field(access.field);
    let member = &names.fields[access.field.0];
    let value = match field.role {
        FieldRole::Coefficient | FieldRole::State { slots: 1, .. } => format!("grid->{member}"),
        FieldRole::State { levels, slots } => {
            let shift = access.time + levels as i64 - 1;
            format!("grid->{member} + tw_modulo({} + {shift}, {slots}) * grid->level_stride", names.time)
        }
    };
    format!("{} *{} = {value};", field.element.c_name(), names.plane(program, access))
}

/// Declarations of the parameters that a statement uses, as constants of the types in which it uses them; `source`
/// is what stands before a parameter's name where its value is found.
pub(super) fn constants(names: &Names, statement: &Statement, source: &str) -> Vec<String> {
    let single = parameters_used_as(statement, ElementType::F32).into_iter().map(|id| {
        let name = names.parameter_f32(ParameterId(id));
        format!("const float {name} = (float){source}{};", names.parameters[id])
    });
    let double = parameters_used_as(statement, ElementType::F64).into_iter();
    let double = double
        .filter(|_| !source.is_empty())
        .map(|id| format!("const double {0} = {source}{0};", names.parameters[id]));
    single.chain(double).collect()
}

/// Declarations of the values of series that a statement uses in time step `time`; `source` is what stands before a
/// series' name where its elements are found.
pub(super) fn series_values(
    program: &Program,
    names: &Names,
    statement: &Statement,
    source: &str,
    time: &str,
) -> Vec<String> {
    let value = |(series, offset): (SeriesId, i64)| {
        format!(
            "const {} {} = {source}{}[{}];",
            program.series[series.0].element.c_name(),
            names.series_value(series, offset),
            names.series[series.0],
            series_element(program, time, (series, offset))
        )
    };
    series_used(statement).into_iter().map(value).collect()
}

/// The distance in memory of an offset: ` - stride0 + 1`.
pub(super) fn displacement(offset: &[i64]) -> String {
    let last = offset.len() - 1;
    let mut text = String::new();
    for (d, &distance) in offset.iter().enumerate().filter(|(_, distance)| **distance != 0) {
        let sign = if distance < 0 { '-' } else { '+' };
        let count = distance.abs();
        let term = match (d == last, count) {
            (true, _) => count.to_string(),
            (false, 1) => format!("stride{d}"),
            (false, _) => format!("{count} * stride{d}"),
        };
        text.push_str(&format!(" {sign} {term}"));
    }
    text
}

/// Whether some statement uses the exponential.
pub(super) fn uses_exp(program: &Program) -> bool {
    uses(program, |kind| matches!(kind, ExprKind::Call(Function::Exp, _)))
}

/// Whether some statement uses a square.
pub(super) fn uses_square(program: &Program) -> bool {
    uses(program, |kind| matches!(kind, ExprKind::Call(Function::Square, _)))
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
