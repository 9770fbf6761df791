//! How many steps run together: what decides about it is run on copies of the scalars that it counts in.

use super::lines::Lines;
use crate::nest::{Control, Observed, Test};

/// More steps than these are not taken together. Where the test reads a variable of the loop through a pointer, steps are counted
/// up to here before it turns out that the loop runs as it was written: within some milliseconds, also where nothing is optimised.
const MOST_STEPS: i64 = 1 << 20;

/// How a variable is declared that keeps its value: for each thread, where those of the program may run the loop at once.
pub(super) fn lasting(threads: bool) -> &'static str {
    if threads { "static __thread" } else { "static" }
}

/// Finds `tw_steps`, and what the scalars hold behind them. `lasting`: how variables are declared that keep their values.
pub(super) fn count(observed: &Observed, lasting: &str, lines: &mut Lines) {
    if observed.alone {
        lines.line("/* Something happens between every two steps. */");
        lines.line(format!("const ptrdiff_t tw_first = (ptrdiff_t)({});", observed.first));
        lines.line("const ptrdiff_t tw_steps = 1;");
        lines.line("(void)tw_first;");
        return;
    }
    lines.line("/* How many steps run before something else happens between them. */");
    lines.line("ptrdiff_t tw_quiet = 0;");
    let most = match observed.tests.iter().map(|test| test.most).min() {
        None => MOST_STEPS.to_string(),
        // Steps run for nothing where a test ends the loop: fewer then, more again as long as they do not.
        Some(most) => {
            let first = if observed.tests.iter().any(|test| test.sum) { 4 } else { 16 };
            lines.line(format!("{lasting} ptrdiff_t tw_most = {first};"));
            lines.line(format!("tw_most = tw_most < 1 ? 1 : tw_most > {most} ? {most} : tw_most;"));
            lines.line("/* Where no point says that the loop goes on, it is asked again only after more and more steps. */");
            lines.line(format!("{lasting} long tw_pause = 0, tw_paused = 0;"));
            lines.line("if (tw_paused > 0) --tw_paused;");
            "(tw_paused > 0 ? 0 : tw_most)".to_owned()
        }
    };
    for (name, ctype) in &observed.scalars {
        lines.line(format!("const {ctype} tw_in_{name} = {name};"));
        lines.line(format!("{ctype} tw_out_{name} = {name};"));
    }
    lines.block("", |lines| {
        copies(observed, lines);
        lines.block(format!("while (tw_quiet < {most})"), |lines| {
            for control in &observed.round {
                match control {
                    Control::Count(text) => lines.line(text),
                    Control::Let(ctype, name, value) => {
                        lines.line(format!("const {ctype} {name} = {value};"))
                    }
                    Control::Stop(condition) => lines.line(format!("if ({condition}) break;")),
                    Control::Say(_) => {}
                }
            }
            lines.line("++tw_quiet;");
            for (name, _) in &observed.scalars {
                lines.line(format!("tw_out_{name} = {name};"));
            }
        });
    });
    lines.line(format!("const ptrdiff_t tw_first = (ptrdiff_t)({});", observed.first));
    let own = if observed.last_as_written { "" } else { " + 1" };
    let constant = if observed.tests.is_empty() { "const " } else { "" };
    lines.line(format!("{constant}ptrdiff_t tw_steps = tw_quiet{own};"));
    lines.line("(void)tw_first;");
}

fn copies(observed: &Observed, lines: &mut Lines) {
    for (name, ctype) in &observed.scalars {
        lines.line(format!("{ctype} {name} = tw_in_{name};"));
        lines.line(format!("(void){name};"));
    }
}

/// Lets the scalars hold what the steps leave in them.
pub(super) fn commit(observed: &Observed, lines: &mut Lines) {
    let again = !observed.tests.is_empty();
    if again || observed.round.iter().any(|control| matches!(control, Control::Say(_))) {
        lines.block("", |lines| {
            copies(observed, lines);
            lines.block("for (ptrdiff_t tw_s = 0; tw_s < tw_quiet; ++tw_s)", |lines| {
                for control in &observed.round {
                    match control {
                        Control::Count(text) | Control::Say(text) => lines.line(text),
                        Control::Let(ctype, name, value) => {
                            lines.line(format!("const {ctype} {name} = {value};"))
                        }
                        Control::Stop(_) => {}
                    }
                }
                // Fewer rounds than were asked for, after a test.
                observed.scalars.iter().filter(|_| again).for_each(|(name, _)| {
                    lines.line(format!("tw_out_{name} = {name};"));
                });
            });
        });
        if again {
            lines.block("if (tw_quiet == 0)", |lines| {
                observed
                    .scalars
                    .iter()
                    .for_each(|(name, _)| lines.line(format!("tw_out_{name} = tw_in_{name};")));
            });
        }
    }
    for (name, _) in &observed.scalars {
        lines.line(format!("{name} = tw_out_{name};"));
    }
}

/// Runs steps with tests: those before the first one that may end the loop.
pub(super) fn tested(name: &str, tests: &[Test], lines: &mut Lines, attempt: &dyn Fn(&mut Lines)) {
    for Test { bits, ctype, most, .. } in tests {
        lines.line(format!("{ctype} {bits}[{most}];"));
        lines.line(format!(
            "for (int tw_s = 0; tw_s < {most}; ++tw_s) {bits}[tw_s] = ({ctype})(1ull << tw_s);"
        ));
    }
    lines.line("/* Whether all of the steps are known to go on. */");
    lines.line("int tw_certain = 0;");
    lines.block("while (tw_steps > 0)", |lines| {
        lines.line(format!("tw_reason = {name}_nothing;"));
        attempt(lines);
        lines.block("if (!tw_done)", |lines| {
            lines.line(format!("{name}_close(&tw_data);"));
            lines.line("break;");
        });
        lines.line("/* Steps of which some point says that the loop goes on. */");
        lines.line("ptrdiff_t tw_passed = tw_certain ? tw_steps : 0;");
        lines.block("if (!tw_certain)", |lines| {
            lines.line(format!("const unsigned long long tw_sure = {name}_sure(&tw_data);"));
            lines.line("while (tw_passed < tw_steps && (tw_sure >> tw_passed & 1)) ++tw_passed;");
            lines.line("tw_most = tw_passed < tw_steps ? tw_passed : 2 * tw_steps;");
            lines.line("if (tw_passed > 0) tw_pause = 0;");
            lines.line("else tw_paused = tw_pause = tw_pause < 512 ? 2 * tw_pause + 2 : tw_pause;");
        });
        lines.line(format!("{name}_settle(&tw_data, tw_passed == tw_steps);"));
        lines.line(format!("{name}_close(&tw_data);"));
        lines.line("if (tw_passed == tw_steps) break;");
        lines.line("/* Back to the first step, and only so far as is sure. */");
        lines.line("tw_done = 0;");
        lines.line("tw_certain = 1;");
        lines.line("tw_quiet = tw_steps = tw_passed;");
    });
}
