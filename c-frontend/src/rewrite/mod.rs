//! Stage 5: back into the C program. Its time loop is replaced by one that says where arrays lie, and calls the tiled
//! loops, which work on them in place or on copies; the loop as it was written stays as what runs where that is not
//! possible.

mod arrays;
mod boxes;
mod build;
mod decide;
mod extents;
mod glue;
mod glue_waves;
mod lines;
mod memory;
mod output;
mod own_arrays;
mod region;
mod shield;
mod sources;
mod steps;
mod waves;

pub use arrays::{ArrayUse, array_uses};
pub(crate) use arrays::{LEVELS, PLACE, moved_in_every_step};
pub(crate) use extents::least_sizes;
pub use output::{OutputFile, RewriteError, Target};
pub use sources::Sources;
pub(crate) use waves::runs_ahead;

use crate::{CProgram, Options};
use glue::Glue;
use handlebars::Handlebars;
use serde::Serialize;
use std::sync::LazyLock;

/// The program around the tiled loops `NAME.c` or `NAME.cu` with their header `NAME.h`, which the back end writes: the
/// user's file with its time loops replaced, its own headers and sources, `NAME_glue` for each loop, and build files.
///
/// # Errors
/// Files that cannot be read, names that a build file cannot hold.
pub fn rewrite(
    programs: &[&CProgram],
    options: &Options,
    target: Target,
) -> Result<Vec<OutputFile>, RewriteError> {
    let Some(first) = programs.first() else { return Ok(Vec::new()) };
    let sources = Sources::find(first, options)?;
    let glues: Vec<Glue> = programs.iter().map(|program| Glue::new(program, target)).collect();
    let text = |name: String, text: String| OutputFile { name: name.into(), bytes: text.into_bytes() };
    let extension = if target == Target::Cuda { "cu" } else { "c" };
    let mut files = vec![OutputFile {
        name: sources.main.clone(),
        bytes: first.preprocessed.encode(&region::program_text(programs, target)),
    }];
    for glue in &glues {
        files.push(text(format!("{}_glue.h", glue.name), render("glue.h", glue)?));
        files.push(text(format!("{}_glue.{extension}", glue.name), render("glue.c", glue)?));
    }
    let build = build::Build::new(&glues, &sources, options)?;
    files.push(text("Makefile".to_owned(), render("Makefile", &build)?));
    files.push(text("CMakeLists.txt".to_owned(), render("CMakeLists.txt", &build)?));
    files.extend(sources.copies);
    Ok(files)
}

/// Those of `glue.c` are parts of it: the parser counts the lines of a template before each of its tags anew.
const TEMPLATES: [(&str, &str); 13] = [
    ("glue.h", include_str!("../../templates/c_program/glue.h.hbs")),
    ("glue.c", include_str!("../../templates/c_program/glue.c.hbs")),
    ("glue_ranges.c", include_str!("../../templates/c_program/glue_ranges.c.hbs")),
    ("glue_memory.c", include_str!("../../templates/c_program/glue_memory.c.hbs")),
    ("glue_pace.c", include_str!("../../templates/c_program/glue_pace.c.hbs")),
    ("glue_fields.c", include_str!("../../templates/c_program/glue_fields.c.hbs")),
    ("glue_threads.c", include_str!("../../templates/c_program/glue_threads.c.hbs")),
    ("glue_kept.c", include_str!("../../templates/c_program/glue_kept.c.hbs")),
    ("glue_copies.c", include_str!("../../templates/c_program/glue_copies.c.hbs")),
    ("glue_call.c", include_str!("../../templates/c_program/glue_call.c.hbs")),
    ("glue_waves.c", include_str!("../../templates/c_program/glue_waves.c.hbs")),
    ("Makefile", include_str!("../../templates/c_program/Makefile.hbs")),
    ("CMakeLists.txt", include_str!("../../templates/c_program/CMakeLists.txt.hbs")),
];

/// The engine with every template, or why one is wrong.
static ENGINE: LazyLock<Result<Handlebars<'static>, String>> = LazyLock::new(|| {
    let mut engine = Handlebars::new();
    engine.set_strict_mode(true);
    engine.register_escape_fn(handlebars::no_escape);
    for (name, text) in TEMPLATES {
        engine.register_template_string(name, text).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(engine)
});

fn render(template: &str, data: &impl Serialize) -> Result<String, RewriteError> {
    let engine = ENGINE.as_ref().map_err(|error| RewriteError::Template(error.clone()))?;
    engine.render(template, data).map_err(|error| RewriteError::Template(format!("{template}: {error}")))
}
