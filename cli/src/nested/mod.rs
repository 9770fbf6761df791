//! `tilewright nested`: nested data-parallel programs.

pub mod analyze;
pub mod arguments;
mod common;
pub mod compile;
pub mod format;
pub mod list;
pub mod run;
pub mod tune;

use crate::error::Result;
use crate::printed::Printed;
use crate::progress::Session;
use arguments::{NestedArguments, NestedCommand};

/// Does what is asked for.
///
/// # Errors
/// Those of the single commands.
pub fn nested(arguments: &NestedArguments, session: &Session) -> Result<Printed> {
    match &arguments.command {
        NestedCommand::List => Printed::of(&list::list(), session),
        NestedCommand::Format(arguments) => Printed::of(&format::format(arguments)?, session),
        NestedCommand::Analyze(arguments) => Printed::of(&analyze::analyze(arguments)?, session),
        NestedCommand::Compile(arguments) => Printed::of(&compile::compile(arguments, session)?, session),
        NestedCommand::Run(arguments) => Printed::of(&run::run(arguments, session)?, session),
        NestedCommand::Tune(arguments) => Printed::of(&tune::tune(arguments, session)?, session),
    }
}
