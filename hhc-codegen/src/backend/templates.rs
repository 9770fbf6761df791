//! The template engine with every template of `templates/` registered.

use crate::PlanError;
use handlebars::Handlebars;
use serde::Serialize;
use std::sync::LazyLock;

/// Name and text of every template. Names are paths below `templates/`.
const TEMPLATES: [(&str, &str); 20] = [
    ("openmp/program.c", include_str!("../../templates/openmp/program.c.hbs")),
    ("openmp/padded", include_str!("../../templates/openmp/padded.h.hbs")),
    ("openmp/around", include_str!("../../templates/openmp/around.h.hbs")),
    ("ghosts", include_str!("../../templates/ghosts.h.hbs")),
    ("cuda/around", include_str!("../../templates/cuda/around.cuh.hbs")),
    ("openmp/program.h", include_str!("../../templates/openmp/program.h.hbs")),
    ("openmp/main.c", include_str!("../../templates/openmp/main.c.hbs")),
    ("openmp/CMakeLists.txt", include_str!("../../templates/openmp/CMakeLists.txt.hbs")),
    ("openmp/ranks.c", include_str!("../../templates/openmp/ranks.c.hbs")),
    ("openmp/ranks_files", include_str!("../../templates/openmp/ranks_files.c.hbs")),
    ("openmp/ranks_hdf5", include_str!("../../templates/openmp/ranks_hdf5.c.hbs")),
    ("openmp/ranks.h", include_str!("../../templates/openmp/ranks.h.hbs")),
    ("openmp/ranks_main.c", include_str!("../../templates/openmp/ranks_main.c.hbs")),
    ("openmp/ranks_loaded.c", include_str!("../../templates/openmp/ranks_loaded.c.hbs")),
    ("cuda/program.cu", include_str!("../../templates/cuda/program.cu.hbs")),
    ("cuda/lanes", include_str!("../../templates/cuda/lanes.cuh")),
    ("cuda/warp", include_str!("../../templates/cuda/warp.cuh")),
    ("cuda/program.h", include_str!("../../templates/cuda/program.h.hbs")),
    ("cuda/main.cu", include_str!("../../templates/cuda/main.cu.hbs")),
    ("cuda/CMakeLists.txt", include_str!("../../templates/cuda/CMakeLists.txt.hbs")),
];

/// The engine, or why a template is wrong.
static ENGINE: LazyLock<Result<Handlebars<'static>, String>> = LazyLock::new(|| {
    let mut engine = Handlebars::new();
    engine.set_strict_mode(true);
    engine.register_escape_fn(handlebars::no_escape);
    for (name, text) in TEMPLATES {
        engine.register_template_string(name, text).map_err(|error| error.to_string())?;
    }
    Ok(engine)
});

/// Renders one template.
///
/// # Errors
/// [`PlanError::Template`]: an error of ours.
pub(super) fn render(template: &str, data: &impl Serialize) -> Result<String, PlanError> {
    let failed = |reason: String| PlanError::Template { template: template.to_string(), reason };
    let engine = ENGINE.as_ref().map_err(|reason| failed(reason.clone()))?;
    engine.render(template, data).map_err(|error| failed(error.to_string()))
}
