//! The stencil of a command's arguments.

use crate::arguments::{CArguments, ElementTypeName, PlanArguments};
use crate::error::Result;
use tilewright::Stencil;
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
