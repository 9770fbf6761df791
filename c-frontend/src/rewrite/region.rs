//! The user's file with its time loop replaced.

use super::shield;
use crate::CProgram;
use crate::ast::CType;
use crate::polynomial::{Polynomial, Symbol};
use crate::recognise::{GridField, What};
use polyhedral::domain::{Bound, GridEnd};
use polyhedral::program::FieldRole;
use std::fmt::Write;

/// The text of the rewritten file.
pub fn program_text(program: &CProgram) -> String {
    let source = &program.preprocessed.source;
    let (text, span) = (&source.text, &program.nest.time.span);
    let name = &program.program.name;
    let (first_line, _) = source.line_column(span.start);
    let (last_line, _) = source.line_column(span.end);
    let (hidden, shown) =
        shield::around("struct double float int ptrdiff_t size_t", &program.preprocessed.macros);
    let mut result = format!("{hidden}#include \"{name}_glue.h\"\n{shown}#line 1\n");
    // A mark of the encoding belongs at the very start of a file only.
    result.push_str(text[..span.start].trim_start_matches('\u{feff}'));
    result.push_str(&replacement(program, &text[span.clone()], first_line, last_line));
    // What follows keeps its line numbers; the rest of the loop's last line stands on a line of its own.
    let _ = write!(result, "\n#line {last_line}\n");
    result.push_str(&text[span.end..]);
    result
}

/// Lines with a common indentation.
struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    fn line(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.text, "{}{}", "    ".repeat(self.depth), line.as_ref());
    }

    /// Runs within braces.
    fn block(&mut self, head: impl AsRef<str>, body: impl FnOnce(&mut Lines)) {
        self.line(format!("{} {{", head.as_ref()));
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.line("}");
    }
}

fn constant(symbol: &Symbol) -> String {
    match symbol {
        Symbol::Constant(text) => format!("(ptrdiff_t)({text})"),
        // Bounds and strides hold nothing else.
        Symbol::Index(_) | Symbol::Time | Symbol::TimeModulo { .. } => "0".to_owned(),
    }
}

fn c_bound(bound: &Polynomial) -> String {
    bound.to_c(&constant)
}

/// A bound in the coordinates of the arrays.
fn place(bound: Bound, dimension: usize) -> String {
    let end = match bound.from {
        GridEnd::Start => format!("tw_low{dimension}"),
        GridEnd::End => format!("tw_high{dimension}"),
    };
    match bound.offset {
        0 => end,
        offset if offset < 0 => format!("{end} - {}", -offset),
        offset => format!("{end} + {offset}"),
    }
}

fn replacement(program: &CProgram, original: &str, first_line: usize, last_line: usize) -> String {
    let (nest, stencil) = (&program.nest, &program.stencil);
    let name = &program.program.name;
    let mut lines = Lines { text: String::new(), depth: 1 };
    lines.text.push_str("{\n");
    lines.line(format!(
        "/* Lines {first_line} to {last_line}, the loop over `{}`, in tiles: buffers are filled, computed, and copied back. */",
        nest.time.name
    ));
    lines.line(format!("const ptrdiff_t tw_first = (ptrdiff_t)({});", nest.time.low));
    let distance = format!("(ptrdiff_t)({}) - tw_first", nest.time.high);
    lines.line(match nest.time.step {
        1 => format!("const ptrdiff_t tw_steps = {distance};"),
        step => format!("const ptrdiff_t tw_steps = ({distance} + {}) / {step};", step - 1),
    });
    let step = if nest.time.step == 1 { String::new() } else { format!(" * {}", nest.time.step) };
    for (d, (low, high)) in stencil.grid.iter().enumerate() {
        lines.line(format!("const ptrdiff_t tw_low{d} = {}, tw_high{d} = {};", c_bound(low), c_bound(high)));
    }
    lines.line("int tw_done = 0;");
    lines.line(format!("struct {name}_data tw = {{ 0 }};"));
    for d in 0..stencil.dimension {
        lines.line(format!("tw.tw_n{d} = tw_high{d} - tw_low{d};"));
    }
    lines.line("tw.tw_steps = tw_steps;");
    let mut conditions = vec!["tw_steps > 0".to_owned()];
    for statement in &stencil.statements {
        for (d, (low, high)) in statement.sides.iter().enumerate() {
            let condition = format!("{} < {}", place(*low, d), place(*high, d));
            if low.from != high.from && !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
    }
    for (d, least) in program.program.least_size.iter().enumerate().filter(|(_, least)| **least > 1) {
        conditions.push(format!("tw.tw_n{d} >= {least}"));
    }
    for (name, of) in &nest.counters {
        conditions.push(format!("0 <= {name} && {name} < {of}"));
    }
    for (high, low) in &stencil.assumed {
        conditions.push(format!("{} <= {}", c_bound(high), c_bound(low)));
    }
    for (a, b) in overlaps(program) {
        conditions.push(format!("({a} || {b})"));
    }
    conditions.push(format!("{name}_open(&tw) == 0"));
    lines.block(format!("if ({})", conditions.join("\n            && ")), |lines| {
        for number in 0..stencil.fields.len() {
            fill(program, number, lines);
        }
        for (number, series) in nest.series.iter().enumerate() {
            let target = &program.program.series[number].name;
            lines.block("for (ptrdiff_t tw_s = 0; tw_s < tw_steps; ++tw_s)", |lines| {
                lines.line(format!(
                    "const {} {} = ({})(tw_first + tw_s{step});",
                    nest.time.type_name, nest.time.name, nest.time.type_name
                ));
                lines.line(format!("tw.tw_{target}[tw_s] = {};", series.text));
            });
        }
        for (number, scalar) in nest.scalars.iter().enumerate() {
            let target = &program.program.parameters[number].name;
            lines.line(format!("tw.tw_{target} = (double)({});", scalar.text));
        }
        lines.block(format!("if ({name}_compute(&tw) == 0)"), |lines| {
            lines.line("tw_done = 1;");
            for number in 0..stencil.fields.len() {
                take_back(program, number, lines);
            }
        });
        lines.line(format!("{name}_close(&tw);"));
    });
    lines.block("if (tw_done)", |lines| {
        lines.line("/* The indices, as the loops leave them. */");
        for source in nest.loops.iter().filter(|source| !source.declared) {
            let (low, high) = (c_bound(&source.low), c_bound(&source.high));
            let value = if source.descending {
                format!("{low} < {high} ? {low} - 1 : {high} - 1")
            } else {
                format!("{low} < {high} ? {high} : {low}")
            };
            lines.line(format!("{} = {value};", source.name));
        }
        for (index, value) in &nest.unrolled {
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
    });
    lines.line("else");
    // The text above stands for what macros have been expanded in.
    let (hidden, shown) = shield::around(&lines.text, &program.preprocessed.macros);
    lines.text.insert_str("{\n".len(), &hidden);
    // As it was written, with its own line numbers.
    let _ = write!(lines.text, "{shown}#line {first_line}\n{original}\n}}");
    lines.text
}

/// The least common multiple.
fn lcm(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x.max(1) * b
}

/// Pairs of conditions of which one holds if two arrays do not overlap; only for arrays that pointers reach.
fn overlaps(program: &CProgram) -> Vec<(String, String)> {
    // The array, its first element, its last one, and whether it is computed.
    let ends = |field: &GridField| -> Vec<(String, String, String, bool)> {
        let (form, buffers, state) = match &field.what {
            What::State { form, buffers, .. } => (form, *buffers, true),
            What::Coefficient(form) => (form, 1, false),
            What::Place(_) => return Vec::new(),
        };
        let sides = hull(program, field, true);
        let between = |array: &String, low: i64, high: i64| {
            let first = form.text(&low.to_string(), &|d| sides[d].0.clone(), &constant);
            let last = form.text(&high.to_string(), &|d| format!("{} - 1", sides[d].1), &constant);
            (array.clone(), first, last, state)
        };
        match form.turns.as_slice() {
            [] => vec![between(&form.array, 0, buffers - 1)],
            pointers => (0..).zip(pointers).map(|(at, pointer)| between(pointer, at, at)).collect(),
        }
    };
    // A pointer to pointers may reach rows anywhere.
    let by_pointer =
        |array: &str| program.region.variables.get(array).is_some_and(|variable| is_block(&variable.ctype));
    let mut list = Vec::new();
    let all: Vec<_> = program.stencil.fields.iter().flat_map(ends).collect();
    for (number, (array, first, last, state)) in all.iter().enumerate() {
        for (other_array, other_first, other_last, other_state) in &all[number + 1..] {
            if array != other_array
                && (*state || *other_state)
                && by_pointer(array)
                && by_pointer(other_array)
            {
                list.push((
                    format!("(char *)&{last} < (char *)&{other_first}"),
                    format!("(char *)&{other_last} < (char *)&{first}"),
                ));
            }
        }
    }
    list
}

/// Whether an array lies in one piece.
fn is_block(ctype: &CType) -> bool {
    match ctype {
        CType::Pointer(inner) | CType::Array(inner, _) => {
            let mut at = &**inner;
            loop {
                match at {
                    CType::Array(inner, _) => at = inner,
                    CType::Pointer(_) => return false,
                    _ => return true,
                }
            }
        }
        _ => false,
    }
}

/// The box around everything that is read or written of a field, or only written.
fn hull(program: &CProgram, field: &GridField, reads: bool) -> Vec<(String, String)> {
    let own = program.stencil.fields.iter().position(|other| std::ptr::eq(other, field));
    (0..program.stencil.dimension)
        .map(|d| {
            let (mut low, mut high): (Option<Bound>, Option<Bound>) = (None, None);
            for (number, reach) in &field.touched {
                let statement = &program.stencil.statements[*number];
                if !reads && Some(statement.target) != own {
                    continue;
                }
                let (least, most) = if reads { reach[d] } else { (0, 0) };
                let (first, behind) =
                    (statement.sides[d].0.shifted(least), statement.sides[d].1.shifted(most));
                // The start of the grid comes before its end wherever both are used.
                low = Some(low.map_or(first, |low| match (low.from, first.from) {
                    (GridEnd::Start, GridEnd::End) => low,
                    (GridEnd::End, GridEnd::Start) => first,
                    _ => low.min(first),
                }));
                high = Some(high.map_or(behind, |high| match (high.from, behind.from) {
                    (GridEnd::End, GridEnd::Start) => high,
                    (GridEnd::Start, GridEnd::End) => behind,
                    _ => high.max(behind),
                }));
            }
            let text =
                |bound: Option<Bound>| bound.map_or_else(|| format!("tw_low{d}"), |bound| place(bound, d));
            (text(low), text(high))
        })
        .collect()
}

/// The element of a buffer at the point of the loops.
fn buffer(program: &CProgram, number: usize, slot: Option<&str>) -> String {
    let dimension = program.stencil.dimension;
    let mut index: Vec<String> =
        slot.map(|slot| format!("{slot} * tw.tw_level_stride")).into_iter().collect();
    for d in 0..dimension {
        let stride = if d + 1 < dimension { format!(" * tw.tw_stride{d}") } else { String::new() };
        index.push(format!("(tw_x{d} - tw_low{d}){stride}"));
    }
    format!("tw.tw_{}[{}]", program.program.fields[number].name, index.join(" + "))
}

/// Loops over a box.
fn over(sides: &[(String, String)], lines: &mut Lines, body: String) {
    let depth = lines.depth;
    for (d, (low, high)) in sides.iter().enumerate() {
        lines.line(format!("for (ptrdiff_t tw_x{d} = {low}; tw_x{d} < {high}; ++tw_x{d})"));
        lines.depth += 1;
    }
    lines.line(body);
    lines.depth = depth;
}

fn point(d: usize) -> String {
    format!("tw_x{d}")
}

/// Copies a field into its buffer.
fn fill(program: &CProgram, number: usize, lines: &mut Lines) {
    let field = &program.stencil.fields[number];
    let sides = hull(program, field, true);
    match &field.what {
        What::Place(text) => {
            over(&sides, lines, format!("{} = {text};", buffer(program, number, None)));
        }
        What::Coefficient(form) => {
            let value = form.text("0", &point, &constant);
            over(&sides, lines, format!("{} = {value};", buffer(program, number, None)));
        }
        What::State { form, buffers, .. } => {
            let (_, slots) = levels_and_slots(program, number);
            let value = form.text("tw_b", &point, &constant);
            lines.block(format!("for (ptrdiff_t tw_s = 0; tw_s < {slots}; ++tw_s)"), |lines| {
                if *buffers > 1 {
                    lines.line(format!("const ptrdiff_t tw_b = {};", buffer_of_slot(program, number)));
                }
                over(&sides, lines, format!("{} = {value};", buffer(program, number, Some("tw_s"))));
            });
        }
    }
}

/// Copies the results of a field back.
fn take_back(program: &CProgram, number: usize, lines: &mut Lines) {
    let field = &program.stencil.fields[number];
    let What::State { form, buffers, .. } = &field.what else { return };
    let sides = hull(program, field, false);
    let (levels, slots) = levels_and_slots(program, number);
    let target = form.text("tw_b", &point, &constant);
    if *buffers > 1 {
        lines.block(format!("for (ptrdiff_t tw_s = 0; tw_s < {slots}; ++tw_s)"), |lines| {
            lines.line(format!("const ptrdiff_t tw_b = {};", buffer_of_slot(program, number)));
            over(&sides, lines, format!("{target} = {};", buffer(program, number, Some("tw_s"))));
        });
    } else {
        // Level T lies in slot (T + levels - 1) mod slots.
        lines.block("", |lines| {
            lines.line(format!("const ptrdiff_t tw_s = (tw_steps + {}) % {slots};", levels - 1));
            over(&sides, lines, format!("{target} = {};", buffer(program, number, Some("tw_s"))));
        });
    }
}

fn levels_and_slots(program: &CProgram, number: usize) -> (usize, usize) {
    match program.program.fields[number].role {
        FieldRole::State { levels, slots } => (levels, slots),
        FieldRole::Coefficient => (1, 1),
    }
}

/// Slot s holds the levels l with l + levels - 1 = s (mod k); step tw_first + l - 1 writes level l into buffer
/// (tw_first + l - 1 + shift) mod k.
fn buffer_of_slot(program: &CProgram, number: usize) -> String {
    let (levels, _) = levels_and_slots(program, number);
    let What::State { form, buffers, shift } = &program.stencil.fields[number].what else {
        return "0".to_owned();
    };
    let constant = (shift - levels as i64).rem_euclid(*buffers);
    // Names that take turns are counted from the first step.
    if !form.turns.is_empty() || form.counter.is_some() {
        return format!("(tw_s + {constant}) % {buffers}");
    }
    format!("((tw_first + tw_s + {constant}) % {buffers} + {buffers}) % {buffers}")
}
