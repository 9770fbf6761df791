//! Kernels without shared memory: every point of a block is computed once, its operands come from memory through
//! the caches.

use super::super::bounds::expr;
use super::super::constants::{self, Constant, Source};
use super::super::expression::Values;
use super::super::names::Names;
use super::super::points::{INT, as_it_is, modulo, moved, place};
use super::text::{thread, thread_declarations};
use crate::geometry::Threads;
use crate::plan::{Kernel, KernelPlan, bound};
use c_tree::{Block, Expr, Stmt, name, var};
use polyhedral::program::{Access, FieldRole, Program};
use std::collections::BTreeMap;

/// The body of a kernel.
pub(super) fn block(plan: &KernelPlan, names: &Names, kernel: &Kernel, threads: &Threads) -> Block {
    let program = &*plan.program;
    let instance = &kernel.instances[0];
    let statement = &program.statements[instance.statement];
    let dimension = program.dimension();
    let write = Access { field: statement.target, time: 1, offset: vec![0; dimension] };

    let mut levels = BTreeMap::new();
    for access in statement.reads.iter().chain([&write]) {
        if let FieldRole::State { levels: initial, slots: slots @ 2.. } = program.field(access.field).role {
            let level = var("now") + (access.time + initial as i64 - 1);
            let plane = names.plane(program, access);
            let value = modulo(level, slots as i64) * var("level_stride");
            levels.insert(plane.clone(), Stmt::constant(INT, plane, value));
        }
    }
    let now = var("now");
    let mut body = Block::from([
        Stmt::constant(INT, "now", expr(&instance.step)),
        Stmt::when(now.clone().lt(0).or(now.ge(var("steps"))), Stmt::Return(None)),
    ]);
    body.extend(thread_declarations(threads));
    let constants = constants::all(program, names, statement, Source::Arguments, "now");
    body.extend(constants.iter().map(Constant::declaration));
    body.extend(levels.into_values());
    let target = &program.field(statement.target).name;
    body.comment(format!(
        "{target}[{} + 1, {}] at the points of the block's box that lie in the domain",
        program.time_index,
        program.space_indices.join(", ")
    ));
    let names_of = |d: usize| (format!("low{d}"), format!("high{d}"));
    for (d, range) in instance.ranges.iter().enumerate() {
        let low = range.low.clone().max(bound(statement.domain[d].low, d));
        let high = range.high.clone().min(bound(statement.domain[d].high, d) - 1);
        let (first, last) = names_of(d);
        body.push(Stmt::constants(INT, [(first, expr(&low)), (last, expr(&high))]));
    }

    let read = |access: &Access| cell(program, names, access);
    let values = Values { program, names, statement: instance.statement, copy: None, read: &read };
    let point: Vec<Expr> = (0..dimension).map(|d| var(format!("i{d}"))).collect();
    let mut inner = Block::from(Stmt::constant(INT, "x", place(&point, &as_it_is)));
    inner.extend(values.locals());
    inner.push(Stmt::assign(cell(program, names, &write), values.value()));
    body.extend((0..dimension).rev().fold(inner, |inner, d| {
        let (low, high) = names_of(d);
        let index = format!("i{d}");
        let first = var(low) + thread(threads, d);
        let condition = var(&index).le(var(high));
        Stmt::each(INT, index, first, condition, threads.per_dimension[d], inner).into()
    }));
    body
}

/// An element in memory, relative to the point `x`.
fn cell(program: &Program, names: &Names, access: &Access) -> Expr {
    let field = name(&names.fields[access.field.0]);
    let place = match program.field(access.field).role {
        FieldRole::State { slots: 2.., .. } => var(names.plane(program, access)) + var("x"),
        _ => var("x"),
    };
    field.at(moved(place, &access.offset))
}
