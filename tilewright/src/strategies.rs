//! Strategies by name.

use crate::error::Result;
use hhc_codegen::strategy::{self, AUTO, Strategy};
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

/// The strategies to choose among: those that a choice considers for `auto`, else the one of this name. For programs that
/// none of those can tile, the one that can.
///
/// # Errors
/// As for [`named`].
pub fn among(name: &str, program: &Program) -> Result<Vec<&'static dyn Strategy>> {
    let preferred = strategy::preferred_for(program);
    if name == AUTO && preferred.in_auto() {
        Ok(strategy::in_auto().collect())
    } else {
        Ok(vec![named_for(name, program)?])
    }
}
