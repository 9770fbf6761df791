//! Steps that run ahead of the program in waves: what stands around and in its time loop.

use super::lines::Lines;
use super::output::Target;
use crate::CProgram;
use crate::nest::Waves;
use crate::preprocess::words;

/// How the steps of a loop run ahead, if they do.
pub(super) fn of(program: &CProgram, target: Target) -> Option<&Waves> {
    let observed = program.nest.observed.as_ref().filter(|observed| observed.is_paced())?;
    let waves = observed.waves.as_ref().filter(|_| target != Target::Cuda)?;
    let source = &program.preprocessed.source;
    let text = source.text.get(waves.span.clone())?;
    // As it is written, all of it, without a pragma before it.
    let whole = ["for", "while", "do"].iter().any(|word| {
        let rest = text.strip_prefix(word);
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next == '_' || next.is_alphanumeric()))
    });
    let ends = text.ends_with('}') || text.ends_with(';');
    let before = source.text.get(..waves.span.start)?.trim_end();
    let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
    let macros = &program.preprocessed.macros;
    let hidden =
        words(&head(program)).into_iter().chain(words(&tail(program))).any(|word| macros.contains(word));
    let cut = program.nest.cut();
    let around = waves.span.start < cut.start && cut.end <= waves.span.end;
    // Steps that the program does not come to may set flags.
    let flags = program.preprocessed.text.contains("fetestexcept");
    (whole && ends && !flags && around && !hidden && !line.starts_with('#') && !before.ends_with('\\'))
        .then_some(waves)
}

/// Whether steps run ahead of the program, on processors.
pub(crate) fn runs_ahead(program: &CProgram) -> bool {
    of(program, Target::OpenMp).is_some()
}

/// What stands before the time loop.
pub(super) fn head(program: &CProgram) -> String {
    let name = &program.program.name;
    format!("{{ struct {name}_ahead {name}_own = {{ 0 }}; ")
}

/// What stands behind it.
pub(super) fn tail(program: &CProgram) -> String {
    let name = &program.program.name;
    format!(" {name}_settled(&{name}_own); }}")
}

/// Asks whether the step has run ahead.
pub(super) fn ask(program: &CProgram, waves: &Waves, lines: &mut Lines) {
    let name = &program.program.name;
    lines.line("/* What the loops find; whether they have run ahead. */");
    lines.line(format!("struct {name}_step tw_step = {{ 0 }};"));
    for (number, array) in waves.arrays.iter().enumerate() {
        lines.line(format!("tw_step.arrays[{number}] = (void *)({});", array.name));
    }
    for (number, (value, _)) in waves.numbers.iter().enumerate() {
        lines.line(format!("tw_step.number{number} = {value};"));
    }
    for (number, (value, ..)) in waves.results.iter().enumerate().filter(|(_, (_, _, carried))| *carried) {
        lines.line(format!("tw_step.result{number} = {value};"));
    }
    lines.line(format!("tw_step.left = {};", waves.left.as_deref().unwrap_or("-1")));
    lines.line(match waves.fits.as_slice() {
        [] => "tw_step.fits = 1;".to_owned(),
        fits => format!("tw_step.fits = {};", fits.join(" && ")),
    });
    lines.line(format!("const int tw_taken = {name}_taken(&{name}_own, &tw_step, &tw_pace, tw_points);"));
}
