//! Strategies by name.

use crate::error::Result;
use hhc_codegen::strategy::{self, AUTO, Strategy, Target};
use polyhedral::program::Program;

/// The strategy of this name; for `auto` the preferred one.
///
/// # Errors
/// That there is none, with the nearest name and all names.
pub fn named(name: &str) -> Result<&'static dyn Strategy> {
    Ok(strategy::by_name(name)?)
}

/// The strategy of this name; for `auto` the one that is preferred for the program.
///
/// # Errors
/// As for [`named`].
pub fn named_for(name: &str, program: &Program) -> Result<&'static dyn Strategy> {
    if name == AUTO { Ok(strategy::preferred_for(program)) } else { named(name) }
}

/// The strategies to choose among for a target: those that a choice considers for `auto`, else the one of this name. For
/// programs that only one can tile, that one.
///
/// # Errors
/// As for [`named`].
pub fn among(name: &str, program: &Program, target: Target) -> Result<Vec<&'static dyn Strategy>> {
    if name == AUTO && strategy::preferred_for(program) == strategy::preferred() {
        Ok(strategy::in_auto(target).collect())
    } else {
        Ok(vec![named_for(name, program)?])
    }
}
