//! Kernels without shared memory: every point of a block is computed once, its operands come from memory through
//! the caches.

use super::super::expression::ExpressionPrinter;
use super::super::names::Names;
use super::super::plain_loops::{constants, displacement, series_values};
use super::text::{shifted, thread_declarations};
use crate::geometry::Threads;
use crate::plan::{Kernel, KernelPlan, bound};
use polyhedral::program::{Access, FieldRole, Program};
use serde::Serialize;
use std::collections::BTreeMap;

/// The body of a kernel.
#[derive(Serialize)]
pub(super) struct DirectText {
    comment: String,
    declarations: Vec<String>,
    step: String,
    /// One loop per dimension, slowest first.
    loops: Vec<DirectLoop>,
    body: Vec<String>,
}

#[derive(Serialize)]
struct DirectLoop {
    index: String,
    thread: String,
    threads: i64,
    low: String,
    high: String,
}

/// The text of a kernel.
pub(super) fn text(plan: &KernelPlan, names: &Names, kernel: &Kernel, threads: &Threads) -> DirectText {
    let program = &plan.program;
    let instance = &kernel.instances[0];
    let statement = &program.statements[instance.statement];
    let dimension = program.dimension();
    let write = Access { field: statement.target, time: 1, offset: vec![0; dimension] };

    let mut levels = BTreeMap::new();
    for access in statement.reads.iter().chain([&write]) {
        if let FieldRole::State { levels: initial, slots: slots @ 2.. } = program.field(access.field).role {
            let level = shifted("now", access.time + initial as i64 - 1);
            let plane = names.plane(program, access);
            levels.insert(
                plane.clone(),
                format!("const tw_int {plane} = tw_modulo({level}, {slots}) * level_stride;"),
            );
        }
    }
    let mut declarations = thread_declarations(threads);
    declarations.extend(constants(names, statement, ""));
    declarations.extend(series_values(program, names, statement, "", "now"));
    declarations.extend(levels.into_values());

    let read = |access: &Access| cell(program, names, access);
    let printer =
        ExpressionPrinter { program, names, statement: instance.statement, copy: None, read: &read };
    let place: Vec<String> = (0..dimension)
        .map(|d| if d + 1 < dimension { format!("i{d} * stride{d}") } else { format!("i{d}") })
        .collect();
    let mut body = vec![format!("const tw_int x = {};", place.join(" + "))];
    body.extend(printer.locals());
    body.push(format!("{} = {};", cell(program, names, &write), printer.value()));

    let loops = (0..dimension).map(|d| {
        let range = &instance.ranges[d];
        DirectLoop {
            index: format!("i{d}"),
            thread: format!("thread{d}"),
            threads: threads.per_dimension[d],
            low: range.low.clone().max(bound(statement.domain[d].low, d)).to_c(),
            high: range.high.clone().min(bound(statement.domain[d].high, d) - 1).to_c(),
        }
    });
    let target = &program.field(statement.target).name;
    DirectText {
        comment: format!(
            "{target}[{} + 1, {}] at the points of the block's box that lie in the domain",
            program.time_index,
            program.space_indices.join(", ")
        ),
        declarations,
        step: instance.step.to_c(),
        loops: loops.collect(),
        body,
    }
}

/// An element in memory, relative to the point `x`.
fn cell(program: &Program, names: &Names, access: &Access) -> String {
    let field = &names.fields[access.field.0];
    let offset = displacement(&access.offset);
    match program.field(access.field).role {
        FieldRole::State { slots: 2.., .. } => {
            format!("{field}[{} + x{offset}]", names.plane(program, access))
        }
        _ => format!("{field}[x{offset}]"),
    }
}
