//! Text that whole rows and single parts have in common: loops, constants, and conditions.

use super::super::expression::{parameters_used_as, series_element, series_used};
use super::super::names::Names;
use crate::int_expr::IntExpr;
use crate::plan::Loop;
use polyhedral::program::{ElementType, ParameterId, Program};
use serde::Serialize;

#[derive(Serialize, Clone)]
pub(super) struct LoopText {
    variable: &'static str,
    low: String,
    high: String,
}

pub(super) fn loop_text(source: &Loop) -> LoopText {
    LoopText { variable: source.variable, low: source.low.to_c(), high: source.high.to_c() }
}

/// The parameters that a statement uses, each in the type in which it is used, and the values of series: type, name,
/// and value.
pub(super) fn constants(
    program: &Program,
    names: &Names,
    index: usize,
) -> Vec<(ElementType, String, String)> {
    let statement = &program.statements[index];
    let single = parameters_used_as(statement, ElementType::F32).into_iter().map(|id| {
        let name = names.parameter_f32(ParameterId(id));
        (ElementType::F32, name, format!("(float)grid->{}", names.parameters[id]))
    });
    let double = parameters_used_as(statement, ElementType::F64).into_iter().map(|id| {
        let name = names.parameters[id].clone();
        (ElementType::F64, name.clone(), format!("grid->{name}"))
    });
    let series = series_used(statement).into_iter().map(|(id, offset)| {
        let element = series_element(program, &names.time, (id, offset));
        let value = format!("grid->{}[{element}]", names.series[id.0]);
        (program.series[id.0].element, names.series_value(id, offset), value)
    });
    single.chain(double).chain(series).collect()
}

pub(super) fn constant_declarations(constants: &[(ElementType, String, String)]) -> Vec<String> {
    let declare = |(element, name, value): &(ElementType, String, String)| {
        format!("const {} {name} = {value};", element.c_name())
    };
    constants.iter().map(declare).collect()
}

/// Whether a time step exists.
pub(super) fn step_exists(step: &IntExpr) -> String {
    format!("{0} >= 0 && {0} < steps", step.to_c())
}
