//! The user's file with its time loop replaced.

use super::boxes::{Boxes, place};
use super::decide::decide;
use super::extents::all_boxes;
use super::lines::{Lines, c_bound};
use super::output::Target;
use super::{own_arrays, shield, steps, waves};
use crate::CProgram;
use crate::nest::{Ahead, Chosen, Counter, Left, Observed, SpaceLoop, TimeLoop};
use crate::recognise::What;
use std::fmt::Write;

/// The text of the rewritten file, all of whose time loops are given.
pub fn program_text(programs: &[&CProgram], target: Target) -> String {
    let Some(first) = programs.first() else { return String::new() };
    let source = &first.preprocessed.source;
    let text = |part| first.preprocessed.source_text(part);
    let (hidden, shown) =
        shield::around("struct double float int ptrdiff_t size_t", &first.preprocessed.macros);
    let includes: String =
        programs.iter().map(|program| format!("#include \"{}_glue.h\"\n", program.program.name)).collect();
    let mut result = format!("{hidden}{includes}{shown}#line 1\n");
    let mut sorted = programs.to_vec();
    sorted.sort_by_key(|program| program.nest.cut().start);
    // What is put around time loops, in the order of its places.
    let mut around: Vec<(usize, String)> = Vec::new();
    for program in &sorted {
        if let Some(waves) = waves::of(program, target) {
            around.push((waves.span.start, waves::head(program)));
            around.push((waves.span.end, waves::tail(program)));
        }
    }
    around.sort_by_key(|(place, _)| *place);
    let plain = |from: usize, to: usize| {
        let mut result = String::new();
        let mut at = from;
        for (place, own) in
            around.iter().filter(|(place, _)| from <= *place && (*place < to || to == source.text.len()))
        {
            result.push_str(&text(at..*place));
            result.push_str(own);
            at = *place;
        }
        result + &text(at..to)
    };
    let mut from = 0;
    for program in sorted {
        let span = &program.nest.cut();
        let (first_line, _) = source.line_column(span.start);
        let (last_line, _) = source.line_column(span.end);
        // A mark of the encoding belongs at the very start of a file only.
        result.push_str(plain(from, span.start).trim_start_matches('\u{feff}'));
        result.push_str(&replacement(program, target, &text(span.clone()), (first_line, last_line)));
        // What follows keeps its line numbers; the rest of the loop's last line stands on a line of its own.
        let _ = write!(result, "\n#line {last_line}\n");
        from = span.end;
    }
    result.push_str(&plain(from, source.text.len()));
    result
}

/// How often it is looked whether rows have one distance, where they had none.
const MOST_LOOKS: u32 = 3;

fn replacement(program: &CProgram, target: Target, original: &str, lines_of: (usize, usize)) -> String {
    let (first_line, last_line) = lines_of;
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
        Some(observed) => steps::count(observed, steps::lasting(program.has_pragmas()), &mut lines),
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
    own_arrays::declare(program, &mut lines);
    let boxes = all_boxes(program);
    let tests = nest.observed.as_ref().map_or(&[][..], |observed| observed.tests.as_slice());
    let paced = nest.observed.as_ref().is_some_and(Observed::is_paced);
    if paced {
        pace(program, &mut lines);
    }
    let in_waves = waves::of(program, target);
    if let Some(waves) = in_waves {
        waves::ask(program, waves, &mut lines);
    }
    if nest.observed.as_ref().is_some_and(|observed| observed.alone) {
        lines.line(
            "/* Rows that lie anywhere are looked at a few times: steps stay as they are written then. */",
        );
        lines.line(format!("{} int tw_scattered = 0;", steps::lasting(program.has_pragmas())));
        if in_waves.is_some() {
            lines.block("if (tw_taken)", |lines| {
                lines.line("tw_reason = 0;");
                lines.line("tw_done = 1;");
            });
        }
        let otherwise = if in_waves.is_some() { "else " } else { "" };
        lines.line(format!("{otherwise}if (tw_scattered > {MOST_LOOKS}) tw_reason = {name}_scattered;"));
        if paced {
            lines.line(format!("else if (!{name}_turn(&tw_pace)) tw_reason = {name}_slower;"));
        }
        lines.block("else", |lines| {
            let ahead = nest.observed.as_ref().map(|observed| &observed.ahead);
            ahead_of_tiles(ahead, lines, &|lines, before| attempt(program, &boxes, lines, before));
            lines.line(format!("if (tw_reason == {name}_scattered) ++tw_scattered;"));
        });
    } else if tests.is_empty() {
        lines.block("if (tw_steps > 0)", |lines| attempt(program, &boxes, lines, &|_| {}));
    } else {
        steps::tested(name, tests, &mut lines, &|lines| {
            attempt(program, &boxes, lines, &|lines| {
                lines.line(format!("if (!tw_reason && !tw_certain) tw_reason = {name}_keep(&tw_data);"));
            });
        });
    }
    let last_as_written = nest.observed.as_ref().is_some_and(|observed| observed.last_as_written);
    // The last step runs in any case: there may be nothing before it.
    let tried = if last_as_written { "if (tw_steps > 0) " } else { "" };
    lines.line(format!("{tried}{name}_count(tw_reason);"));
    if !program.own_arrays().is_empty() {
        lines.block("if (!tw_done)", |lines| own_arrays::drop(program, lines));
    }
    lines.block("if (tw_done)", |lines| {
        if let Some(observed) = &nest.observed {
            steps::commit(observed, lines);
        }
        lines.line("/* The indices, as the loops leave them. */");
        for (number, left) in nest.left.iter().enumerate().filter(|_| !last_as_written) {
            // Segments of a loop leave the same: the last one counts.
            if nest.left[number + 1..].contains(left) {
                continue;
            }
            match left {
                Left::Number(index, value) => lines.line(format!("{index} = {value};")),
                Left::Loop(at) => leave(&nest.loops[*at], lines),
            }
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
        for Counter { name, of, .. } in &nest.counters {
            lines.line(format!("{name} = ({name} + tw_steps % {of}) % {of};"));
        }
        if !nest.chosen.is_empty() {
            lines.line("/* The pointers, as the last step has chosen them. */");
            lines.block("", |lines| {
                let TimeLoop { name, type_name, .. } = &nest.time;
                lines.line(format!(
                    "const {type_name} {name} = ({type_name})(tw_first + (tw_steps - 1){step});"
                ));
                lines.line(format!("(void){name};"));
                for Chosen { name, text } in &nest.chosen {
                    lines.line(format!("{name} = {text};"));
                }
            });
        }
        if !nest.time.declared {
            lines.line(format!("{} = tw_first + tw_steps{step};", nest.time.name));
        }
        if let Some(observed) = &nest.observed
            && (in_waves.is_some() || !observed.residue.is_empty())
        {
            lines.line("/* What the loops leave in scalars, in their order. */");
            match in_waves {
                None => lines.line(observed.residue.trim_end()),
                Some(waves) => {
                    lines.block("if (tw_taken)", |lines| {
                        for (number, (result, ..)) in waves.results.iter().enumerate() {
                            lines.line(format!("{result} = tw_step.result{number};"));
                        }
                        if !waves.behind.is_empty() {
                            lines.line(waves.behind.trim_end());
                        }
                    });
                    lines.block("else", |lines| lines.line(observed.residue.trim_end()));
                }
            }
        }
        own_arrays::drop(program, lines);
    });
    // The text above stands for what macros have been expanded in; what follows is as it was written, with its own line
    // numbers.
    let (hidden, shown) = shield::around(&lines.text, &program.preprocessed.macros);
    lines.text.insert_str("{\n".len(), &hidden);
    let told = match in_waves {
        None => format!("\n}}\n{name}_paced(&tw_pace, tw_done, tw_points, tw_begin);\n}}"),
        Some(_) => format!(
            "\n}}\nif (!tw_taken) {{\nif (tw_done) {name}_proved(&{name}_own);\n\
             {name}_paced(&tw_pace, tw_done, tw_points, tw_begin);\n}}\n}}"
        ),
    };
    let (head, tail) = match &nest.observed {
        None => ("    else\n", "\n}"),
        Some(_) if paced => ("    else {\n", told.as_str()),
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

/// What decides whether a step runs in tiles or as it was written: seconds of a point, either way.
fn pace(program: &CProgram, lines: &mut Lines) {
    let name = &program.program.name;
    let extents = program
        .stencil
        .grid
        .iter()
        .map(|(low, high)| format!("((double)({}) - (double)({}))", c_bound(high), c_bound(low)));
    lines.line("/* In tiles and as they were written in turn, and then whichever are faster. */");
    lines.line(format!("{} struct {name}_pace tw_pace;", steps::lasting(program.has_pragmas())));
    lines.line(format!("const double tw_points = {};", extents.collect::<Vec<_>>().join(" * ")));
    lines.line(format!("const double tw_begin = {name}_now();"));
}

/// Lets an index hold what its loop leaves in it.
fn leave(source: &SpaceLoop, lines: &mut Lines) {
    let (low, high) = (c_bound(&source.low), c_bound(&source.high));
    let value = match source.descending {
        true => format!("{low} < {high} ? {low} - 1 : {high} - 1"),
        false => format!("{low} < {high} ? {high} : {low}"),
    };
    lines.line(format!("{} = {value};", source.name));
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
    lines.line(format!("struct {name}_data tw_data = {{ 0 }};"));
    for d in 0..stencil.dimension {
        lines.line(format!("tw_data.own_n[{d}] = tw_high{d} - tw_low{d};"));
    }
    match &nest.colours {
        // Each pass over the points of a colour is a step.
        Some(colours) => lines.line(format!("tw_data.own_steps = {} * tw_steps;", colours.passes.len())),
        None => lines.line("tw_data.own_steps = tw_steps;"),
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
            let body = match nest.colours.as_ref().map(|colours| colours.passes.len()) {
                None => format!("tw_data.tw_{target}[tw_s] = {};", series.text),
                Some(passes) => format!(
                    "for (int tw_c = 0; tw_c < {passes}; ++tw_c) tw_data.tw_{target}[{passes} * tw_s + tw_c] = {};",
                    series.text
                ),
            };
            lines.over_time(&nest.time, &[body]);
        }
        for (number, scalar) in nest.scalars.iter().enumerate() {
            let target = &program.program.parameters[number].name;
            lines.line(format!("tw_data.tw_{target} = (double)({});", scalar.text));
        }
        lines.line(format!("tw_reason = {name}_compute(&tw_data);"));
        lines.line("tw_done = !tw_reason;");
        // What tests decide about is closed by them.
        if nest.observed.as_ref().is_none_or(|observed| observed.tests.is_empty()) {
            lines.line(format!("{name}_close(&tw_data);"));
        }
    });
}

/// The least common multiple.
fn lcm(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x.max(1) * b
}

/// The element of a buffer of values of the place at the point of the loops.
fn buffer(program: &CProgram, number: usize) -> String {
    let dimension = program.stencil.dimension;
    let index = (0..dimension).map(|d| {
        let stride = if d + 1 < dimension { format!(" * tw_data.own_stride[{d}]") } else { String::new() };
        format!("(tw_x{d} - tw_low{d}){stride}")
    });
    format!("tw_data.tw_{}[{}]", program.program.fields[number].name, index.collect::<Vec<_>>().join(" + "))
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
