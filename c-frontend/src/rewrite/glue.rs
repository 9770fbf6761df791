//! What the templates of the buffers need.

use super::output::Target;
use crate::program::CProgram;
use polyhedral::program::{ElementType, Field, FieldRole, Series};
use serde::Serialize;
use std::path::Path;
use text_escape::comment;

/// What the templates of the buffers need.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Glue {
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
    pub fn new(source: &CProgram, path: &Path, target: Target) -> Self {
        let program = &source.program;
        let dimension = program.dimension();
        let buffer = |field: &Field| {
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
        let values = |series: &Series| Values {
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
