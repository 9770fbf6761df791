//! The memory that the loops touch, range by range: named to who asks whether ranges overlap.

use super::boxes::{Boxes, Points, place};
use super::lines::{Lines, constant, point};
use crate::CProgram;
use crate::recognise::{Axis, Form, What};
use crate::text::array_of;

/// What is written of a range of an array: the first and the last element, its number, whether it is written.
type RangeLine<'a> = &'a dyn Fn(&str, &str, usize, i32) -> String;

/// Writes a line for each range of the arrays that the loops touch.
fn written(program: &CProgram, boxes: &[(Boxes, Boxes)], lines: &mut Lines, line: RangeLine<'_>) {
    let nest = &program.nest;
    let mut later = Vec::new();
    for (number, field) in program.stencil.fields.iter().enumerate() {
        let (form, buffers, written) = match &field.what {
            _ if program.is_seen(number) => continue,
            What::State { form, buffers, .. } => (form, *buffers, 1),
            What::Coefficient(form) => (form, 1, 0),
            What::Place(_) => continue,
        };
        // Numbers of buffers in memory, not in turn.
        let form = Form { counter: None, ..form.clone() };
        let touched = &boxes[number].0;
        let sides = |one: &Points, from: usize| -> Vec<(String, String)> {
            one.iter()
                .enumerate()
                .skip(from)
                .map(|(d, side)| (place(side.low, d), place(side.high, d)))
                .collect()
        };
        if nest.blocks.contains(&form.array) {
            let pointers: Vec<(&String, i64, i64)> = match form.turns.as_slice() {
                [] => vec![(&form.array, 0, buffers - 1)],
                pointers => pointers.iter().zip(0..).map(|(pointer, at)| (pointer, at, at)).collect(),
            };
            for (array, low, high) in pointers {
                let known = program.stencil.fields.iter().filter_map(|field| match &field.what {
                    What::State { form, .. } | What::Coefficient(form) => Some(form),
                    What::Place(_) => None,
                });
                // The same number for all components of an array.
                let id = known
                    .flat_map(|form| std::iter::once(&form.array).chain(&form.turns))
                    .position(|other| array_of(other) == array_of(array))
                    .map_or(1, |at| at + 1);
                for one in &touched.list {
                    let ends = sides(one, 0);
                    let first = form.text(&low.to_string(), &|d| ends[d].0.clone(), &constant);
                    let last = form.text(&high.to_string(), &|d| format!("{} - 1", ends[d].1), &constant);
                    lines.line(line(&first, &last, id, written));
                }
            }
        } else {
            later.push((number, form, buffers, written));
        }
    }
    for (number, form, buffers, written) in later {
        // Rows may lie anywhere; the last index runs within one.
        let inner = form.positions.last().and_then(|position| match position.axes.as_slice() {
            [(Axis::Space(d), stride)] if stride.constant() == Some(1) => Some(*d),
            _ => None,
        });
        for one in &boxes[number].0.list {
            let ends: Vec<(String, String)> =
                one.iter().enumerate().map(|(d, side)| (place(side.low, d), place(side.high, d))).collect();
            let at = |last: bool| {
                form.text(
                    "tw_b",
                    &|d| match (inner == Some(d), last) {
                        (false, _) => point(d),
                        (true, false) => ends[d].0.clone(),
                        (true, true) => format!("{} - 1", ends[d].1),
                    },
                    &constant,
                )
            };
            let (first, last) = (at(false), at(true));
            let body = line(&first, &last, 0, written);
            lines.block(format!("for (ptrdiff_t tw_b = 0; tw_b < {buffers}; ++tw_b)"), |lines| {
                lines.line("(void)tw_b;");
                let loops: Vec<(usize, &(String, String))> =
                    ends.iter().enumerate().filter(|(d, _)| inner != Some(*d)).collect();
                lines.loops(&loops, &body);
            });
        }
    }
}

/// Names all memory that the loops touch.
pub(super) fn touches(program: &CProgram, boxes: &[(Boxes, Boxes)], lines: &mut Lines) {
    let (nest, name) = (&program.nest, &program.program.name);
    written(program, boxes, lines, &|first, last, id, written| {
        format!("{name}_touches(&tw_data, &{first}, &{last}, sizeof {first}, {id}, {written});")
    });
    for own in &nest.reached {
        lines.line(format!("{name}_touches(&tw_data, &{own}, &{own}, sizeof {own}, 0, 1);"));
    }
    for (pointer, assigned) in
        nest.observed.iter().filter_map(|own| own.waves.as_ref()).flat_map(|waves| &waves.reached)
    {
        let written = i32::from(*assigned);
        lines.line(format!(
            "{name}_touches(&tw_data, {pointer}, {pointer}, sizeof *{pointer}, 0, {written});"
        ));
    }
    for address in &nest.memory {
        lines.line(data(name, address));
    }
    for series in nest.series.iter().filter(|series| !series.memory.is_empty()) {
        let body: Vec<String> = series.memory.iter().map(|address| data(name, address)).collect();
        lines.over_time(&program.nest.time, &body);
    }
    for (number, field) in program.stencil.fields.iter().enumerate() {
        for address in &field.memory {
            for one in &boxes[number].0.list {
                let ends: Vec<(String, String)> = one
                    .iter()
                    .enumerate()
                    .map(|(d, side)| (place(side.low, d), place(side.high, d)))
                    .collect();
                let used: Vec<(usize, &(String, String))> =
                    ends.iter().enumerate().filter(|(d, _)| address.contains(&format!("tw_x{d}"))).collect();
                lines.loops(&used, &data(name, address));
            }
        }
    }
}

/// A value in memory that is read, and does not change.
fn data(name: &str, address: &str) -> String {
    format!("{name}_reads(&tw_data, {address}, sizeof *({address}));")
}
