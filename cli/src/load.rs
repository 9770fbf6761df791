//! The stencil of a command's arguments.

use crate::arguments::{CArguments, ElementTypeName, PlanArguments};
use crate::error::Result;
use hhc_codegen::strategy::Target;
use std::path::PathBuf;
use tilewright::Stencil;
use tilewright::c_program::COptions;
use tilewright::load::{LoadOptions, load_with};

/// The stencil that `spec` names, with all fields of type `dtype` where given, read with these macros and folders if
/// it is C.
///
/// # Errors
/// As for [`load_with`].
pub fn load(spec: &str, dtype: Option<ElementTypeName>, c: &CArguments) -> Result<Stencil> {
    load_with(spec, &LoadOptions { element: dtype.map(ElementTypeName::element), c: c.options() })
}

/// The stencil of a command that plans.
///
/// # Errors
/// As for [`load`].
pub fn of_plan(arguments: &PlanArguments) -> Result<Stencil> {
    load(&arguments.spec, arguments.dtype, &arguments.c)
}

/// The same for code of a target, of a program with other sources if it is C.
///
/// # Errors
/// As for [`load`].
pub fn for_target(arguments: &PlanArguments, with: &[PathBuf], target: Target) -> Result<Stencil> {
    let with = if arguments.spec.ends_with(".c") { with.to_vec() } else { Vec::new() };
    let c = COptions { with, processor: target == Target::OpenMp, ..arguments.c.options() };
    load_with(&arguments.spec, &LoadOptions { element: arguments.dtype.map(ElementTypeName::element), c })
}
