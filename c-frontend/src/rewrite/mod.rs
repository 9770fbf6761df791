//! Stage 5: back into the C program. Its time loop is replaced by one that fills padded buffers, calls the tiled
//! loops, and takes the results back; the loop as it was written stays as what runs where that is not possible.

mod boxes;
mod build;
mod region;
mod shield;
mod sources;

pub use sources::Sources;

use crate::{CProgram, Options};
use handlebars::Handlebars;
use polyhedral::program::{ElementType, FieldRole};
use serde::Serialize;
use std::path::{Path, PathBuf};
use text_escape::comment;

/// The language of the tiled loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// C with OpenMP, `NAME.c`.
    OpenMp,
    /// CUDA C++, `NAME.cu`.
    Cuda,
}

/// A file of the rewritten program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Its path in the output folder.
    pub name: PathBuf,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// What cannot be rewritten.
#[derive(Debug, thiserror::Error)]
pub enum RewriteError {
    /// A header or source of the user's that could not be read.
    #[error("cannot read {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A name or a macro that a build file cannot hold.
    #[error("the {what} `{text}` cannot stand in a Makefile: {reason}")]
    Name {
        /// What it is.
        what: &'static str,
        /// Its text.
        text: String,
        /// Why not.
        reason: &'static str,
    },
    /// A template that is broken: an error of ours.
    #[error("template {0}")]
    Template(String),
}

/// The program around the tiled loops `NAME.c` or `NAME.cu` with their header `NAME.h`, which the back end writes: the
/// user's file with its time loop replaced, its own headers and sources, `NAME_glue` and build files.
///
/// # Errors
/// Files that cannot be read, names that a build file cannot hold.
pub fn rewrite(
    program: &CProgram,
    path: &Path,
    options: &Options,
    more_sources: &[PathBuf],
    target: Target,
) -> Result<Vec<OutputFile>, RewriteError> {
    let sources = Sources::find(program, path, options, more_sources)?;
    let glue = Glue::new(program, path, target);
    let text = |name: String, text: String| OutputFile { name: name.into(), bytes: text.into_bytes() };
    let extension = if target == Target::Cuda { "cu" } else { "c" };
    let name = &program.program.name;
    let mut files = vec![OutputFile {
        name: sources.main.clone(),
        bytes: program.preprocessed.encode(&region::program_text(program)),
    }];
    files.push(text(format!("{name}_glue.h"), render("glue.h", &glue)?));
    files.push(text(format!("{name}_glue.{extension}"), render("glue.c", &glue)?));
    let build = build::Build::new(&glue, &sources, options)?;
    files.push(text("Makefile".to_owned(), render("Makefile", &build)?));
    files.push(text("CMakeLists.txt".to_owned(), render("CMakeLists.txt", &build)?));
    files.extend(sources.copies);
    Ok(files)
}

const TEMPLATES: [(&str, &str); 4] = [
    ("glue.h", include_str!("../../../templates/c_program/glue.h.hbs")),
    ("glue.c", include_str!("../../../templates/c_program/glue.c.hbs")),
    ("Makefile", include_str!("../../../templates/c_program/Makefile.hbs")),
    ("CMakeLists.txt", include_str!("../../../templates/c_program/CMakeLists.txt.hbs")),
];

fn render(template: &str, data: &impl Serialize) -> Result<String, RewriteError> {
    let mut engine = Handlebars::new();
    engine.set_strict_mode(true);
    engine.register_escape_fn(handlebars::no_escape);
    let failed = |error: String| RewriteError::Template(format!("{template}: {error}"));
    for (name, text) in TEMPLATES {
        engine.register_template_string(name, text).map_err(|error| failed(error.to_string()))?;
    }
    engine.render(template, data).map_err(|error| failed(error.to_string()))
}

/// What the templates of the buffers need.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Glue {
    /// Name of the stencil.
    pub name: String,
    /// Name of the header.
    glue: String,
    /// Name of the user's file, for comments.
    pub file: String,
    version: &'static str,
    guard: String,
    /// How the options of the CMake file begin.
    option: String,
    pub cuda: bool,
    fields: Vec<Buffer>,
    series: Vec<Values>,
    sizes: Vec<usize>,
    strides: Vec<usize>,
    from_inner: Vec<Distance>,
    parameters: Vec<String>,
    /// Elements of the smallest type in a cache line.
    line: usize,
}

#[derive(Debug, Clone, Serialize)]
struct Buffer {
    name: String,
    c_type: &'static str,
    slots: usize,
    several: bool,
    state: bool,
}

#[derive(Debug, Clone, Serialize)]
struct Values {
    name: String,
    c_type: &'static str,
    length: String,
}

#[derive(Debug, Clone, Serialize)]
struct Distance {
    size: usize,
    stride: String,
}

impl Glue {
    fn new(source: &CProgram, path: &Path, target: Target) -> Self {
        let program = &source.program;
        let dimension = program.dimension();
        let buffer = |field: &polyhedral::program::Field| {
            let (state, slots) = match field.role {
                FieldRole::State { slots, .. } => (true, slots),
                FieldRole::Coefficient => (false, 1),
            };
            Buffer {
                name: field.name.clone(),
                c_type: field.element.c_name(),
                slots,
                several: slots > 1,
                state,
            }
        };
        let values = |series: &polyhedral::program::Series| Values {
            name: series.name.clone(),
            c_type: series.element.c_name(),
            length: "tw_steps".to_owned(),
        };
        let distance = |size: usize| Distance {
            size,
            stride: if size == 0 { "tw_level_stride".to_owned() } else { format!("tw_stride{}", size - 1) },
        };
        let least = program.fields.iter().map(|field| field.element.bytes()).min();
        Glue {
            name: program.name.clone(),
            glue: format!("{}_glue.h", program.name),
            file: path.file_name().map(|name| comment(&name.to_string_lossy())).unwrap_or_default(),
            version: env!("CARGO_PKG_VERSION"),
            guard: program.name.clone(),
            option: program.name.to_uppercase(),
            cuda: target == Target::Cuda,
            fields: program.fields.iter().map(buffer).collect(),
            series: program.series.iter().map(values).collect(),
            sizes: (0..dimension).collect(),
            strides: (0..dimension.saturating_sub(1)).collect(),
            from_inner: (0..dimension).rev().map(distance).collect(),
            parameters: program.parameters.iter().map(|parameter| parameter.name.clone()).collect(),
            line: 64 / least.unwrap_or(ElementType::F32.bytes()),
        }
    }
}
