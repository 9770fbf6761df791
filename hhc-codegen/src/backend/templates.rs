//! The template engine with every template of `templates/` registered.

use crate::PlanError;
use handlebars::Handlebars;
use serde::Serialize;

/// Name and text of every template. Names are paths below `templates/`.
const TEMPLATES: [(&str, &str); 16] = [
    ("openmp/program.c", include_str!("../../templates/openmp/program.c.hbs")),
    ("openmp/part", include_str!("../../templates/openmp/part.hbs")),
    ("openmp/program.h", include_str!("../../templates/openmp/program.h.hbs")),
    ("openmp/main.c", include_str!("../../templates/openmp/main.c.hbs")),
    ("openmp/CMakeLists.txt", include_str!("../../templates/openmp/CMakeLists.txt.hbs")),
    ("cuda/program.cu", include_str!("../../templates/cuda/program.cu.hbs")),
    ("cuda/tile", include_str!("../../templates/cuda/tile.hbs")),
    ("cuda/part", include_str!("../../templates/cuda/part.hbs")),
    ("cuda/lanes", include_str!("../../templates/cuda/lanes.cuh")),
    ("cuda/warp", include_str!("../../templates/cuda/warp.cuh")),
    ("cuda/host", include_str!("../../templates/cuda/host.hbs")),
    ("cuda/launch", include_str!("../../templates/cuda/launch.hbs")),
    ("cuda/program.h", include_str!("../../templates/cuda/program.h.hbs")),
    ("cuda/main.cu", include_str!("../../templates/cuda/main.cu.hbs")),
    ("cuda/CMakeLists.txt", include_str!("../../templates/cuda/CMakeLists.txt.hbs")),
    ("arguments", include_str!("../../templates/arguments.hbs")),
];

/// Renders one template.
///
/// # Errors
/// [`PlanError::Template`]: an error of ours.
pub(super) fn render(template: &str, data: &impl Serialize) -> Result<String, PlanError> {
    let failed = |reason: String| PlanError::Template { template: template.to_string(), reason };
    let mut engine = Handlebars::new();
    engine.set_strict_mode(true);
    engine.register_escape_fn(handlebars::no_escape);
    for (name, text) in TEMPLATES {
        engine.register_template_string(name, text).map_err(|error| failed(error.to_string()))?;
    }
    engine.render(template, data).map_err(|error| failed(error.to_string()))
}
