//! The function of a kernel: the rows of one tile, in order.

use super::super::bounds::{bindings, expr, loops, non_negative, step_exists};
use super::super::names::Names;
use super::super::points::INT;
use super::super::storages;
use super::parts;
use super::rows::box_function;
use crate::plan::{Instance, Kernel, KernelPlan, Loop, SIZE_NAMES, bound, joined_rows};
use c_tree::{Block, Dialect, Function, Stmt, Type, all, name, var};
use std::collections::BTreeSet;

/// The function of a kernel.
pub(super) fn function(plan: &KernelPlan, names: &Names, kernel: &Kernel) -> String {
    let work = if kernel.in_parts() { parts::block(plan, names, kernel) } else { rows(plan, kernel) };
    let mut inner = bindings(kernel, &work);
    inner.extend(work);
    let members = SIZE_NAMES[..plan.program.dimension()].iter().chain(&["steps"]);
    let used = members.filter(|member| inner.mentions(member));
    let mut body: Block =
        used.map(|member| Stmt::constant(INT, *member, name("grid").arrow(*member))).collect();
    body.extend(inner);
    let arguments = ["grid", plan.outer.variable];
    let arguments = arguments.into_iter().chain(kernel.blocks.iter().map(|block| block.variable));
    let unused: Vec<&str> = arguments.filter(|argument| !body.mentions(argument)).collect();
    body.extend(unused.into_iter().map(Stmt::unused));
    Function::new(format!("tw_{}", kernel.name))
        .comment(kernel.comment.as_str())
        .attribute("static")
        .parameter(Type::new("struct tw_grid").constant().pointer(), "grid")
        .parameter(INT, plan.outer.variable)
        .parameters(kernel.blocks.iter().map(|block| (INT, block.variable)))
        .body(body)
        .print(Dialect::C)
}

/// The time steps of rows that may not exist.
fn guarded_steps(plan: &KernelPlan, kernel: &Kernel) -> BTreeSet<String> {
    let guarded = kernel.instances.iter().filter(|instance| !storages::steps_exist(plan, instance));
    guarded.map(|instance| instance.step.to_string()).collect()
}

/// The rows of all sub-tiles: of full ones as they are, of the others clipped.
fn rows(plan: &KernelPlan, kernel: &Kernel) -> Block {
    let guarded = |instance: &Instance| !storages::steps_exist(plan, instance);
    let same_step = kernel.instances.iter().all(guarded) && guarded_steps(plan, kernel).len() == 1;
    let has_rows = storages::has_groups(kernel) || same_step;
    let group = |inner: Block| if has_rows { loops([&kernel.rows], inner) } else { inner };

    let mut inner = Block::new();
    if let Some(instance) = kernel.instances.first().filter(|_| same_step) {
        let step = expr(&instance.step);
        inner.push(Stmt::when(step.clone().lt(0).or(step.ge(var("steps"))), Stmt::Continue));
    }
    inner.extend(joined_rows(kernel).map(|joined| {
        let call = row(plan, kernel, joined, true);
        match guarded(&joined[0]) && !same_step {
            true => Stmt::when(step_exists(&joined[0].step), call),
            false => call,
        }
    }));
    let rows_of_partial = group(inner);
    // Whether a tile is full is asked outside the loops of which that does not depend.
    let decides = |tile: &Loop| kernel.full_when.iter().any(|condition| condition.mentions(tile.variable));
    let deciding = match kernel.full_when.is_empty() {
        true => kernel.sub_tiles.len(),
        false => kernel.sub_tiles.iter().rposition(decides).map_or(0, |last| last + 1),
    };
    let (outer, inner) = kernel.sub_tiles.split_at(deciding);
    let mut partial = Block::from(Stmt::Comment(
        "Partial tile: rows outside the time loop are left out, boxes are clipped to the domain.".into(),
    ));
    partial.extend(loops(inner, rows_of_partial));
    if kernel.full_when.is_empty() {
        return loops(outer, partial);
    }
    let mut full =
        Block::from(Stmt::Comment("Full tile: every row exists and lies inside the domain.".into()));
    let in_full = joined_rows(kernel).filter(|joined| joined[0].in_full_tiles);
    let in_full = in_full.map(|joined| row(plan, kernel, joined, false)).collect();
    full.extend(loops(inner, group(in_full)));
    let is_full = all(kernel.full_when.iter().map(non_negative));
    loops(outer, Stmt::choose(is_full, full, partial).into())
}

/// The call for one row, or for rows that are one.
fn row(plan: &KernelPlan, kernel: &Kernel, joined: &[Instance], clip: bool) -> Stmt {
    let program = &plan.program;
    let instance = &joined[0];
    let statement = &program.statements[instance.statement];
    let bounds = instance.ranges.iter().enumerate().flat_map(|(d, range)| {
        let (mut low, mut high) = (range.low.clone(), range.high.clone() + 1);
        if clip {
            low = low.max(bound(statement.domain[d].low, d));
            high = high.min(bound(statement.domain[d].high, d));
        }
        [expr(&low), expr(&high)]
    });
    let arguments = [name("grid"), expr(&instance.step)].into_iter().chain(bounds);
    let statements: Vec<usize> = joined.iter().map(|row| row.statement).collect();
    let targets: Vec<String> = statements.iter().map(|&own| program.statement_name(own)).collect();
    let target = targets.join(", ");
    let (rows, variable) = (kernel.instances.len(), kernel.rows.variable);
    let call = Stmt::call(box_function(program, &statements), arguments);
    match (rows, instance.statement) {
        (1, _) => call,
        (rows, 0) => call.note(format!("row {rows}*{variable}: {target}")),
        (rows, number) => call.note(format!("row {rows}*{variable} + {number}: {target}")),
    }
}
