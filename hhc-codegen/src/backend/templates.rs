//! The template engine with the templates of `templates/`.

use crate::PlanError;
use handlebars::Handlebars;
use serde::Serialize;
use std::sync::{LazyLock, PoisonError, RwLock};

/// Name and text of every template. Names are paths below `templates/`.
const TEMPLATES: [(&str, &str); 26] = [
    ("openmp/program.c", include_str!("../../templates/openmp/program.c.hbs")),
    ("openmp/padded", include_str!("../../templates/openmp/padded.h.hbs")),
    ("openmp/around", include_str!("../../templates/openmp/around.h.hbs")),
    ("ghosts", include_str!("../../templates/ghosts.h.hbs")),
    ("cuda/around", include_str!("../../templates/cuda/around.cuh.hbs")),
    ("openmp/program.h", include_str!("../../templates/openmp/program.h.hbs")),
    ("openmp/main.c", include_str!("../../templates/openmp/main.c.hbs")),
    ("openmp/CMakeLists.txt", include_str!("../../templates/openmp/CMakeLists.txt.hbs")),
    ("openmp/ranks.c", include_str!("../../templates/openmp/ranks.c.hbs")),
    ("openmp/ranks_moving", include_str!("../../templates/openmp/ranks_moving.c.hbs")),
    ("openmp/ranks_copied", include_str!("../../templates/openmp/ranks_copied.c.hbs")),
    ("openmp/ranks_files", include_str!("../../templates/openmp/ranks_files.c.hbs")),
    ("openmp/ranks_hdf5", include_str!("../../templates/openmp/ranks_hdf5.c.hbs")),
    ("openmp/ranks.h", include_str!("../../templates/openmp/ranks.h.hbs")),
    ("openmp/ranks_main.c", include_str!("../../templates/openmp/ranks_main.c.hbs")),
    ("openmp/ranks_loaded.c", include_str!("../../templates/openmp/ranks_loaded.c.hbs")),
    ("cuda/program.cu", include_str!("../../templates/cuda/program.cu.hbs")),
    ("cuda/lanes", include_str!("../../templates/cuda/lanes.cuh")),
    ("cuda/approximate", include_str!("../../templates/cuda/approximate.cuh")),
    ("cuda/warp", include_str!("../../templates/cuda/warp.cuh")),
    ("cuda/program.h", include_str!("../../templates/cuda/program.h.hbs")),
    ("cuda/main.cu", include_str!("../../templates/cuda/main.cu.hbs")),
    ("cuda/ranks_device.h", include_str!("../../templates/cuda/ranks_device.h.hbs")),
    ("cuda/ranks_device.cu", include_str!("../../templates/cuda/ranks_device.cu.hbs")),
    ("cuda/ranks_cmake", include_str!("../../templates/cuda/ranks_cmake.txt.hbs")),
    ("cuda/CMakeLists.txt", include_str!("../../templates/cuda/CMakeLists.txt.hbs")),
];

/// The engine with the templates that were rendered so far: the parser counts the lines before each tag anew, so that long
/// templates which nobody wants are dear.
static ENGINE: LazyLock<RwLock<Handlebars<'static>>> = LazyLock::new(|| {
    let mut engine = Handlebars::new();
    engine.set_strict_mode(true);
    engine.register_escape_fn(handlebars::no_escape);
    RwLock::new(engine)
});

/// Registers a template and what it includes.
fn register(engine: &mut Handlebars<'static>, name: &str) -> Result<(), String> {
    if engine.has_template(name) {
        return Ok(());
    }
    let (name, text) = TEMPLATES.iter().find(|known| known.0 == name).ok_or("there is no such template")?;
    engine.register_template_string(name, text).map_err(|error| error.to_string())?;
    included(text).try_for_each(|part| register(engine, part))
}

/// The names in `{{> NAME}}`.
fn included(text: &str) -> impl Iterator<Item = &str> {
    text.split("{{> ").skip(1).filter_map(|rest| rest.split_once("}}")).map(|(name, _)| name.trim())
}

/// Renders one template.
///
/// # Errors
/// [`PlanError::Template`]: an error of ours.
pub(super) fn render(template: &str, data: &impl Serialize) -> Result<String, PlanError> {
    let failed = |reason: String| PlanError::Template { template: template.to_string(), reason };
    // Where a thread ended in the middle, templates are there or not, and nothing between.
    let known = ENGINE.read().unwrap_or_else(PoisonError::into_inner).has_template(template);
    if !known {
        register(&mut ENGINE.write().unwrap_or_else(PoisonError::into_inner), template).map_err(failed)?;
    }
    let engine = ENGINE.read().unwrap_or_else(PoisonError::into_inner);
    engine.render(template, data).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What no test renders is parsed here at least, and every template is a file that stands here or in one of these.
    #[test]
    fn all_templates_are_right() {
        for (name, _) in TEMPLATES {
            let mut engine = ENGINE.write().unwrap();
            register(&mut engine, name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(engine.has_template(name));
        }
    }
}
