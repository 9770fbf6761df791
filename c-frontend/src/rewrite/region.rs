//! The user's file with its time loop replaced.

use super::arrays;
use super::boxes::{Boxes, Points, place};
use super::lines::{Lines, constant, point};
use super::shield;
use super::steps;
use crate::CProgram;
use crate::nest::Ahead;
use crate::polynomial::Polynomial;
use crate::recognise::{Axis, Form, What};
use crate::text::array_of;
use polyhedral::domain::Interval;
use std::fmt::Write;

/// The text of the rewritten file, all of whose time loops are given.
pub fn program_text(programs: &[&CProgram]) -> String {
    let Some(first) = programs.first() else { return String::new() };
    let source = &first.preprocessed.source;
    let text = &source.text;
    let (hidden, shown) =
        shield::around("struct double float int ptrdiff_t size_t", &first.preprocessed.macros);
    let includes: String =
        programs.iter().map(|program| format!("#include \"{}_glue.h\"\n", program.program.name)).collect();
    let mut result = format!("{hidden}{includes}{shown}#line 1\n");
    let mut sorted = programs.to_vec();
    sorted.sort_by_key(|program| program.nest.cut().start);
    let mut from = 0;
    for program in sorted {
        let span = &program.nest.cut();
        let (first_line, _) = source.line_column(span.start);
        let (last_line, _) = source.line_column(span.end);
        // A mark of the encoding belongs at the very start of a file only.
        result.push_str(text[from..span.start].trim_start_matches('\u{feff}'));
        result.push_str(&replacement(program, &text[span.clone()], first_line, last_line));
        // What follows keeps its line numbers; the rest of the loop's last line stands on a line of its own.
        let _ = write!(result, "\n#line {last_line}\n");
        from = span.end;
    }
    result.push_str(&text[from..]);
    result
}

/// How often it is looked whether rows have one distance, where they had none.
const MOST_LOOKS: u32 = 3;

fn c_bound(bound: &Polynomial) -> String {
    bound.to_c(&constant)
}

fn replacement(program: &CProgram, original: &str, first_line: usize, last_line: usize) -> String {
    let nest = &program.nest;
    let name = &program.program.name;
    let mut lines = Lines { text: String::new(), depth: 1 };
    lines.text.push_str("{\n");
    lines.line(format!(
        "/* Lines {first_line} to {last_line}, the loop over `{}`, in tiles. */",
        nest.time.name
    ));
    let step = if nest.time.step == 1 { String::new() } else { format!(" * {}", nest.time.step) };
    lines.line("int tw_done = 0;");
    lines.line(format!("const char *tw_reason = {name}_nothing;"));
    match &nest.observed {
        Some(observed) => steps::count(observed, &mut lines),
        None => {
            lines.line(format!("const ptrdiff_t tw_first = (ptrdiff_t)({});", nest.time.low));
            let distance = format!("(ptrdiff_t)({}) - tw_first", nest.time.high);
            lines.line(match nest.time.step {
                1 => format!("const ptrdiff_t tw_steps = {distance};"),
                step @ ..=-1 => {
                    format!("const ptrdiff_t tw_steps = (-({distance}) + {}) / {};", -step - 1, -step)
                }
                step => format!("const ptrdiff_t tw_steps = ({distance} + {}) / {step};", step - 1),
            });
        }
    }
    let boxes = all_boxes(program);
    let tests = nest.observed.as_ref().map_or(&[][..], |observed| observed.tests.as_slice());
    if nest.observed.as_ref().is_some_and(|observed| observed.alone) {
        lines.line(
            "/* Rows that lie anywhere are looked at a few times: steps stay as they are written then. */",
        );
        lines.line("static int tw_scattered = 0;");
        lines.line(format!("if (tw_scattered > {MOST_LOOKS}) tw_reason = {name}_scattered;"));
        lines.block("else", |lines| {
            let ahead = nest.observed.as_ref().map(|observed| &observed.ahead);
            ahead_of_tiles(ahead, lines, &|lines, before| attempt(program, &boxes, lines, before));
            lines.line(format!("if (tw_reason == {name}_scattered) ++tw_scattered;"));
        });
    } else if tests.is_empty() {
        lines.block("if (tw_steps > 0)", |lines| attempt(program, &boxes, lines, &|_| {}));
    } else {
        steps::tested(&program.program.name, tests, &mut lines, &|lines| {
            attempt(program, &boxes, lines, &|lines| {
                lines.block("if (!tw_reason && !tw_saved)", |lines| saves(program, &boxes, lines));
            });
        });
    }
    let last_as_written = nest.observed.as_ref().is_some_and(|observed| observed.last_as_written);
    // The last step runs in any case: there may be nothing before it.
    let tried = if last_as_written { "if (tw_steps > 0) " } else { "" };
    lines.line(format!("{tried}{name}_count(tw_reason);"));
    lines.block("if (tw_done)", |lines| {
        if let Some(observed) = &nest.observed {
            steps::commit(observed, lines);
        }
        lines.line("/* The indices, as the loops leave them. */");
        for source in nest.loops.iter().filter(|source| !source.declared && !last_as_written) {
            let (low, high) = (c_bound(&source.low), c_bound(&source.high));
            let value = if source.descending {
                format!("{low} < {high} ? {low} - 1 : {high} - 1")
            } else {
                format!("{low} < {high} ? {high} : {low}")
            };
            lines.line(format!("{} = {value};", source.name));
        }
        for (index, value) in nest.unrolled.iter().filter(|_| !last_as_written) {
            lines.line(format!("{index} = {value};"));
        }
        if nest.exchange.is_some() {
            let rounds = nest.turns.iter().fold(1, |rounds, circle| lcm(rounds, circle.len()));
            lines.line("/* The pointers, as so many exchanges leave them. */");
            lines.block(
                format!("for (ptrdiff_t tw_s = (tw_steps - 1) % {rounds}; tw_s >= 0; --tw_s)"),
                |lines| {
                    for (number, (_, held)) in nest.moves.iter().enumerate() {
                        lines.line(format!("void *tw_held{number} = (void *){held};"));
                    }
                    for (number, (pointer, _)) in nest.moves.iter().enumerate() {
                        lines.line(format!("{pointer} = tw_held{number};"));
                    }
                },
            );
        }
        for (name, of) in &nest.counters {
            lines.line(format!("{name} = ({name} + tw_steps % {of}) % {of};"));
        }
        if !nest.time.declared {
            lines.line(format!("{} = tw_first + tw_steps{step};", nest.time.name));
        }
        if let Some(observed) = nest.observed.as_ref().filter(|observed| !observed.residue.is_empty()) {
            lines.line("/* What the loops leave in scalars, in their order. */");
            lines.line(observed.residue.trim_end());
        }
    });
    // The text above stands for what macros have been expanded in; what follows is as it was written, with its own line
    // numbers.
    let (hidden, shown) = shield::around(&lines.text, &program.preprocessed.macros);
    lines.text.insert_str("{\n".len(), &hidden);
    let (head, tail) = match &nest.observed {
        None => ("    else\n", "\n}"),
        Some(observed) if !observed.last_as_written => ("    else {\n", "\n}}"),
        Some(observed) if observed.in_braces => ("}\n", ""),
        Some(_) => {
            lines.text.insert_str(0, "{\n");
            ("}\n", "\n}")
        }
    };
    let _ = write!(lines.text, "{head}{shown}#line {first_line}\n{original}{tail}");
    lines.text
}

/// What writes lines.
type Text<'a> = &'a dyn Fn(&mut Lines);

/// Tiled loops with what is computed before them; where they do not run, scalars are what they were.
fn ahead_of_tiles(ahead: Option<&Ahead>, lines: &mut Lines, tiles: &dyn Fn(&mut Lines, Text<'_>)) {
    let Some(Ahead { text, moved }) = ahead.filter(|ahead| !ahead.text.is_empty()) else {
        return tiles(lines, &|_| {});
    };
    lines.line("/* What the loops leave in scalars, of what they find. */");
    for (number, (name, kind)) in moved.iter().enumerate() {
        lines.line(format!("const {kind} tw_was{number} = {name};"));
    }
    tiles(lines, &|lines| {
        lines.block("if (!tw_reason)", |lines| lines.line(text.trim_end()));
    });
    lines.block("if (!tw_done)", |lines| {
        for (number, (name, _)) in moved.iter().enumerate() {
            lines.line(format!("{name} = tw_was{number};"));
        }
    });
}

/// Runs the tiled loops, if they can: `tw_done` says so. What stands before them runs where they can.
fn attempt(program: &CProgram, boxes: &[(Boxes, Boxes)], lines: &mut Lines, before: &dyn Fn(&mut Lines)) {
    let (nest, stencil, name) = (&program.nest, &program.stencil, &program.program.name);
    for (d, (low, high)) in stencil.grid.iter().enumerate() {
        lines.line(format!("const ptrdiff_t tw_low{d} = {}, tw_high{d} = {};", c_bound(low), c_bound(high)));
    }
    lines.line(format!("struct {name}_data tw = {{ 0 }};"));
    for d in 0..stencil.dimension {
        lines.line(format!("tw.tw_n[{d}] = tw_high{d} - tw_low{d};"));
    }
    match &nest.colours {
        // Each pass over the points of a colour is a step.
        Some(colours) => lines.line(format!("tw.tw_steps = {} * tw_steps;", colours.passes.len())),
        None => lines.line("tw.tw_steps = tw_steps;"),
    }
    decide(program, boxes, lines);
    before(lines);
    lines.block("if (!tw_reason)", |lines| {
        for (number, (touched, _)) in boxes.iter().enumerate() {
            if let What::Place(text) = &stencil.fields[number].what {
                over(touched, lines, &format!("{} = {text};", buffer(program, number)));
            }
        }
        for (number, series) in nest.series.iter().enumerate() {
            let target = &program.program.series[number].name;
            over_time(program, lines, &[format!("tw.tw_{target}[tw_s] = {};", series.text)]);
        }
        for (number, scalar) in nest.scalars.iter().enumerate() {
            let target = &program.program.parameters[number].name;
            lines.line(format!("tw.tw_{target} = (double)({});", scalar.text));
        }
        lines.line(format!("tw_reason = {name}_compute(&tw);"));
        lines.line("tw_done = !tw_reason;");
        lines.line(format!("{name}_close(&tw);"));
    });
}

/// Keeps what the loops write, to put it back.
fn saves(program: &CProgram, boxes: &[(Boxes, Boxes)], lines: &mut Lines) {
    let name = &program.program.name;
    lines.line("int tw_kept = 1;");
    let tests = program.nest.observed.iter().flat_map(|observed| &observed.tests);
    let arrays: Vec<&String> = tests.map(|test| &test.array).collect();
    written(program, boxes, lines, &|array, first, last, _, written| {
        (written == 1 && !arrays.iter().any(|own| *own == array)).then(|| {
            format!("tw_kept = tw_kept && {name}_save(&tw_saved, &{first}, &{last}, sizeof {first});")
        })
    });
    lines.line(format!("if (!tw_kept) {name}_close(&tw);"));
    lines.line("if (!tw_kept) tw_reason = \"not enough memory for buffers\";");
}

/// The least common multiple.
fn lcm(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x.max(1) * b
}

/// Runs statements at every time step.
fn over_time(program: &CProgram, lines: &mut Lines, body: &[String]) {
    let time = &program.nest.time;
    let step = if time.step == 1 { String::new() } else { format!(" * {}", time.step) };
    lines.block("for (ptrdiff_t tw_s = 0; tw_s < tw_steps; ++tw_s)", |lines| {
        lines.line(format!(
            "const {} {} = ({})(tw_first + tw_s{step});",
            time.type_name, time.name, time.type_name
        ));
        lines.line(format!("(void){};", time.name));
        body.iter().for_each(|line| lines.line(line));
    });
}

/// Finds out whether the tiled loops can run: `tw_reason` says why they cannot.
fn decide(program: &CProgram, boxes: &[(Boxes, Boxes)], lines: &mut Lines) {
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
    let mut sizes: Vec<String> = Vec::new();
    for own in computes.iter().flatten() {
        if !sizes.contains(own) {
            sizes.push(own.clone());
        }
    }
    for d in 0..stencil.dimension {
        let least = least_size(program, boxes, d);
        if least > 1 {
            sizes.push(format!("tw.tw_n[{d}] >= {least}"));
        }
    }
    for (high, low) in &stencil.assumed {
        let condition = format!("{} <= {}", c_bound(high), c_bound(low));
        if !sizes.contains(&condition) {
            sizes.push(condition);
        }
    }
    for (counter, of) in &nest.counters {
        sizes.push(format!("0 <= {counter} && {counter} < {of}"));
    }
    if !sizes.is_empty() {
        lines.line(format!("if (!tw_reason && !({})) tw_reason = {name}_small;", all(&sizes)));
    }
    if !nest.pointers.is_empty() {
        let pointers: Vec<String> = nest.pointers.iter().map(|pointer| format!("({pointer}) != 0")).collect();
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
        lines.line(format!("tw_reason = {name}_open(&tw);"));
    });
}

/// The least extent of a dimension for which pieces and statements are apart that are apart on large grids.
fn least_size(program: &CProgram, boxes: &[(Boxes, Boxes)], d: usize) -> i64 {
    let touched = boxes.iter().flat_map(|(touched, computed)| [touched.least[d], computed.least[d]]);
    touched.chain([program.program.least_size[d]]).max().unwrap_or(0)
}

/// The least extents of a grid on which the tiled loops run.
pub fn least_sizes(program: &CProgram) -> Vec<i64> {
    let boxes = all_boxes(program);
    (0..program.stencil.dimension).map(|d| least_size(program, &boxes, d)).collect()
}

/// What is touched of each array, and what is computed.
fn all_boxes(program: &CProgram) -> Vec<(Boxes, Boxes)> {
    let fields = 0..program.stencil.fields.len();
    fields.map(|number| (touched(program, number), computed(program, number))).collect()
}

/// What keeps the rows of flattened arrays apart: an inner dimension ends before the next row begins.
fn rows_apart(program: &CProgram, boxes: &[(Boxes, Boxes)]) -> Vec<String> {
    let mut conditions = Vec::new();
    for (field, (touched, _)) in program.stencil.fields.iter().zip(boxes) {
        let What::State { form, buffers, .. } = &field.what else { continue };
        let sides = extremes(touched);
        for position in form.positions.iter().filter(|position| position.axes.len() > 1) {
            for outer in 0..position.axes.len() - 1 {
                let inner: Vec<String> = position.axes[outer + 1..]
                    .iter()
                    .map(|(axis, stride)| match axis {
                        Axis::Buffer => format!("{} * ({})", buffers - 1, stride.to_c(&constant)),
                        Axis::Space(d) => format!(
                            "({} - ({}) - 1) * ({})",
                            place(sides[*d].high, *d),
                            place(sides[*d].low, *d),
                            stride.to_c(&constant)
                        ),
                    })
                    .collect();
                let condition =
                    format!("{} < ({})", inner.join(" + "), position.axes[outer].1.to_c(&constant));
                if !conditions.contains(&condition) {
                    conditions.push(condition);
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

/// The first and the last points of boxes in each dimension.
fn extremes(boxes: &Boxes) -> Vec<Interval> {
    let mut found = boxes.list.first().cloned().unwrap_or_default();
    for one in &boxes.list {
        for (side, other) in found.iter_mut().zip(one) {
            if side.low.reaches(other.low).is_some() {
                side.low = other.low;
            }
            if other.high.reaches(side.high).is_some() {
                side.high = other.high;
            }
        }
    }
    found
}

/// What is written of a range of an array: its name, the first and the last element, its number, whether it is written.
type RangeLine<'a> = &'a dyn Fn(&str, &str, &str, usize, i32) -> Option<String>;

/// Writes a line for each range of the arrays that the loops touch.
fn written(program: &CProgram, boxes: &[(Boxes, Boxes)], lines: &mut Lines, line: RangeLine<'_>) {
    let nest = &program.nest;
    let mut later = Vec::new();
    for (number, field) in program.stencil.fields.iter().enumerate() {
        let (form, buffers, written) = match &field.what {
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
                    line(array, &first, &last, id, written).into_iter().for_each(|text| lines.line(text));
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
            let Some(body) = line(&form.array, &first, &last, 0, written) else { continue };
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
fn touches(program: &CProgram, boxes: &[(Boxes, Boxes)], lines: &mut Lines) {
    let (nest, name) = (&program.nest, &program.program.name);
    written(program, boxes, lines, &|_, first, last, id, written| {
        Some(format!("{name}_touches(&tw, &{first}, &{last}, sizeof {first}, {id}, {written});"))
    });
    for address in &nest.memory {
        lines.line(data(name, address));
    }
    for series in nest.series.iter().filter(|series| !series.memory.is_empty()) {
        let body: Vec<String> = series.memory.iter().map(|address| data(name, address)).collect();
        over_time(program, lines, &body);
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
    format!("{name}_reads(&tw, {address}, sizeof *({address}));")
}

/// Everything that is read or written of a field.
fn touched(program: &CProgram, number: usize) -> Boxes {
    let stencil = &program.stencil;
    let boxes = stencil.fields[number].touched.iter().map(|(statement, offset)| {
        let sides = stencil.statements[*statement].sides.iter().zip(offset);
        sides.map(|((low, high), by)| Interval { low: low.shifted(*by), high: high.shifted(*by) }).collect()
    });
    Boxes::union(boxes.collect(), stencil.dimension)
}

/// Everything that is computed of a field.
fn computed(program: &CProgram, number: usize) -> Boxes {
    let stencil = &program.stencil;
    let own = stencil.statements.iter().filter(|statement| statement.target == number);
    let boxes = own.map(|statement| {
        statement.sides.iter().map(|(low, high)| Interval { low: *low, high: *high }).collect()
    });
    Boxes::union(boxes.collect(), stencil.dimension)
}

/// The element of a buffer of values of the place at the point of the loops.
fn buffer(program: &CProgram, number: usize) -> String {
    let dimension = program.stencil.dimension;
    let index = (0..dimension).map(|d| {
        let stride = if d + 1 < dimension { format!(" * tw.tw_stride[{d}]") } else { String::new() };
        format!("(tw_x{d} - tw_low{d}){stride}")
    });
    format!("tw.tw_{}[{}]", program.program.fields[number].name, index.collect::<Vec<_>>().join(" + "))
}

/// Loops over boxes.
fn over(boxes: &Boxes, lines: &mut Lines, body: &str) {
    for one in &boxes.list {
        let sides: Vec<(String, String)> =
            one.iter().enumerate().map(|(d, side)| (place(side.low, d), place(side.high, d))).collect();
        let sides: Vec<(usize, &(String, String))> = sides.iter().enumerate().collect();
        lines.loops(&sides, body);
    }
}
