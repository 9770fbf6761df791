//! What the rewritten program finds out before it calls the tiled loops: whether they can run.

use super::arrays;
use super::boxes::{Boxes, place};
use super::extents::{extremes, least_size};
use super::lines::{Lines, c_bound, constant};
use super::memory::touches;
use crate::CProgram;
use crate::nest::Counter;
use crate::recognise::{Axis, Form, What};
use polyhedral::domain::Interval;

/// Finds out whether the tiled loops can run: `tw_reason` says why they cannot.
pub(super) fn decide(program: &CProgram, boxes: &[(Boxes, Boxes)], lines: &mut Lines) {
    let (nest, stencil, name) = (&program.nest, &program.stencil, &program.program.name);
    let all = |conditions: &[String]| conditions.join("\n            && ");
    // What grows with the grid has points.
    let mut computes: Vec<Vec<String>> = Vec::new();
    for statement in &stencil.statements {
        let own: Vec<String> = statement
            .sides
            .iter()
            .enumerate()
            .filter(|(_, (low, high))| low.from != high.from)
            .map(|(d, (low, high))| format!("{} < {}", place(*low, d), place(*high, d)))
            .collect();
        if !computes.contains(&own) {
            computes.push(own);
        }
    }
    if computes.iter().all(|own| !own.is_empty()) {
        let any: Vec<String> = computes.iter().map(|own| format!("({})", own.join(" && "))).collect();
        lines.line(format!("if ({}) tw_reason = 0;", any.join("\n            || ")));
    } else {
        lines.line("tw_reason = 0;");
    }
    if program.has_pragmas() {
        // Each thread of a team runs the loop then, or its part of it.
        lines.line(format!("if (!tw_reason && {name}_in_parallel()) tw_reason = {name}_team;"));
    }
    let mut sizes: Vec<String> = Vec::new();
    for own in computes.iter().flatten() {
        if !sizes.contains(own) {
            sizes.push(own.clone());
        }
    }
    for d in 0..stencil.dimension {
        let least = least_size(program, boxes, d);
        if least > 1 {
            sizes.push(format!("tw_data.own_n[{d}] >= {least}"));
        }
    }
    for (high, low) in &stencil.assumed {
        let condition = format!("{} <= {}", c_bound(high), c_bound(low));
        if !sizes.contains(&condition) {
            sizes.push(condition);
        }
    }
    for Counter { name, of, ahead_of } in &nest.counters {
        sizes.push(format!("0 <= {name} && {name} < {of}"));
        if let Some((first, by)) = ahead_of {
            sizes.push(format!("({first} + {by}) % {of} == {name}"));
        }
    }
    if !sizes.is_empty() {
        lines.line(format!("if (!tw_reason && !({})) tw_reason = {name}_small;", all(&sizes)));
    }
    let own = program.own_arrays().into_iter().map(|one| &one.name);
    let pointers: Vec<String> =
        nest.pointers.iter().chain(own).map(|pointer| format!("({pointer}) != 0")).collect();
    if !pointers.is_empty() {
        lines.line(format!("if (!tw_reason && !({})) tw_reason = {name}_null;", all(&pointers)));
    }
    if !nest.ends.is_empty() {
        let ends: Vec<String> = nest.ends.iter().map(|condition| format!("({condition})")).collect();
        lines.line(format!("if (!tw_reason && ({})) tw_reason = {name}_ends;", ends.join(" || ")));
    }
    let apart = [rows_apart(program, boxes), levels_apart(program, boxes)].concat();
    if !apart.is_empty() {
        lines.line(format!("if (!tw_reason && !({})) tw_reason = {name}_overlap;", all(&apart)));
    }
    lines.block("if (!tw_reason)", |lines| {
        touches(program, boxes, lines);
        arrays::places(program, boxes, lines);
        lines.line(format!("tw_reason = {name}_open(&tw_data);"));
    });
}

/// What keeps the rows of flattened arrays apart: no point that is computed is a point of another row, too. In arrays whose
/// rows are a point too short for what is read (`u[i * n + j]` up to `j = n`), the columns that rows share are only read:
/// with `distance * outer` between rows, the elements `p` of one and `q` of another are two as long as `|p - q| < distance`.
fn rows_apart(program: &CProgram, boxes: &[(Boxes, Boxes)]) -> Vec<String> {
    // Rows that are shared are copied, which steps that run one at a time would do in each of them.
    let alone = program.nest.observed.as_ref().is_some_and(|observed| observed.alone);
    let mut conditions = Vec::new();
    let fields = program.stencil.fields.iter().zip(boxes).enumerate();
    for (_, (field, (touched, computed))) in fields.filter(|(number, _)| !program.is_seen(*number)) {
        let What::State { form, buffers, .. } = &field.what else { continue };
        let touched = extremes(touched);
        let computed = if alone || computed.list.is_empty() { touched.clone() } else { extremes(computed) };
        for position in form.positions.iter().filter(|position| position.axes.len() > 1) {
            for outer in 0..position.axes.len() - 1 {
                // The largest distance in each direction, in all combinations of directions.
                let mut sums: Vec<Vec<String>> = vec![Vec::new()];
                for (axis, stride) in &position.axes[outer + 1..] {
                    let stride = stride.to_c(&constant);
                    let mut ways = match axis {
                        Axis::Buffer => vec![format!("{} * ({stride})", buffers - 1)],
                        Axis::Space(d) => {
                            [(touched[*d].high, computed[*d].low), (computed[*d].high, touched[*d].low)]
                                .map(|(high, low)| {
                                    format!("({} - ({}) - 1) * ({stride})", place(high, *d), place(low, *d))
                                })
                                .to_vec()
                        }
                    };
                    ways.dedup();
                    sums = sums
                        .iter()
                        .flat_map(|sum| {
                            ways.iter().map(move |way| [sum.as_slice(), std::slice::from_ref(way)].concat())
                        })
                        .collect();
                }
                for sum in sums {
                    let condition =
                        format!("{} < ({})", sum.join(" + "), position.axes[outer].1.to_c(&constant));
                    if !conditions.contains(&condition) {
                        conditions.push(condition);
                    }
                }
            }
        }
    }
    conditions
}

/// What keeps the levels apart that an array holds one behind the other: each ends before the next one begins.
fn levels_apart(program: &CProgram, boxes: &[(Boxes, Boxes)]) -> Vec<String> {
    let fields = || {
        program.stencil.fields.iter().zip(boxes).filter_map(|(field, (touched, _))| match &field.what {
            What::State { form, .. } | What::Coefficient(form) => Some((form, touched)),
            What::Place(_) => None,
        })
    };
    let mut conditions = Vec::new();
    for (form, _) in fields() {
        for (number, position) in form.positions.iter().enumerate() {
            let Some(levels) = &position.levels else { continue };
            let own = fields().filter(|(other, _)| other.array == form.array);
            // Of all that is touched of the array, whatever the level.
            let firsts: Vec<String> = own
                .clone()
                .flat_map(|(form, touched)| ends(form, number, &extremes(touched), false))
                .collect();
            let lasts: Vec<String> =
                own.flat_map(|(form, touched)| ends(form, number, &extremes(touched), true)).collect();
            for first in &firsts {
                for last in &lasts {
                    let condition = format!("({last}) - ({first}) < ({})", levels.to_c(&constant));
                    if !conditions.contains(&condition) {
                        conditions.push(condition);
                    }
                }
            }
        }
    }
    conditions
}

/// The first or the last element of a level, counted from the level's own first one.
fn ends(form: &Form, position: usize, sides: &[Interval], last: bool) -> Option<String> {
    let parts = form.positions.get(position)?.axes.iter().filter_map(|(axis, stride)| {
        let Axis::Space(d) = axis else { return None };
        let at = match last {
            true => format!("{} - 1", place(sides[*d].high, *d)),
            false => place(sides[*d].low, *d),
        };
        Some(format!("({at}) * ({})", stride.to_c(&constant)))
    });
    let sum = parts.collect::<Vec<_>>().join(" + ");
    Some(if sum.is_empty() { "0".to_owned() } else { sum })
}
