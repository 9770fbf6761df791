//! Strategies by name.

use crate::error::Result;
use hhc_codegen::strategy::{self, AUTO, Strategy};

/// The strategy of this name; for `auto` the preferred one.
///
/// # Errors
/// That there is none, with the nearest name and all names.
pub fn named(name: &str) -> Result<&'static dyn Strategy> {
    Ok(strategy::by_name(name)?)
}

/// The strategies to choose among: those that a choice considers for `auto`, else the one of this name.
///
/// # Errors
/// As for [`named`].
pub fn among(name: &str) -> Result<Vec<&'static dyn Strategy>> {
    if name == AUTO { Ok(strategy::in_auto().collect()) } else { Ok(vec![named(name)?]) }
}
